from __future__ import annotations

import io
import random

import pytest
from doubles import Clock

from prorl_common import PlainProgress
from prorl_common.progress import Stage


def test_each_line_holds_count_and_facts_and_no_eta_that_one_item_cannot_tell() -> None:
    stream = io.StringIO()
    progress = PlainProgress(every_seconds=0.0, stream=stream)
    progress.start("train", 4)
    progress.advance(1, reward="0.5")
    progress.message("a decision")
    progress.finish()
    first, message, last = stream.getvalue().splitlines()
    assert first.startswith("train: 1/4 · reward 0.5 · elapsed ")
    assert message == "a decision"
    assert last.startswith("train: 1/4")


@pytest.mark.parametrize("spread", [1.0, 3.0, 30.0])
def test_an_eta_is_right_to_a_factor_of_two_and_comes_for_steady_work(spread: float) -> None:
    for seed in range(50):
        clock, draw = Clock(), random.Random(seed)
        takes = [60.0] + [draw.uniform(1, spread) for _ in range(199)]  # the first item warms up
        stage = Stage("work", 200, clock=clock)
        given, wrong = [], 0
        for number, seconds in enumerate(takes[:180], 1):
            clock.now += seconds
            stage.advance(1, {})
            left, true = stage.seconds_left(), sum(takes[number:])
            if left is not None:
                given.append(number)
                wrong += not true / 2 <= left <= 2 * true
        assert given and given[0] >= 5
        assert wrong <= 0.02 * len(given)


def test_no_eta_while_the_warm_up_is_part_of_what_was_seen_nor_once_work_stalls() -> None:
    clock = Clock()
    stage = Stage("work", 100, clock=clock)
    for seconds in (60, 1, 1, 1):
        clock.now += seconds
        stage.advance(1, {})
    assert stage.eta() == ""
    clock.now += 1
    stage.advance(1, {})
    assert stage.eta() == "ETA 1m 35s"
    clock.now += 1.5
    assert stage.eta() == "ETA 1m 34s"
    clock.now += 60
    assert stage.eta() == ""


def test_a_resumed_stage_does_not_take_what_was_done_before_for_speed() -> None:
    clock = Clock()
    stage = Stage("train", 1000, 900, clock)
    for _ in range(8):
        clock.now += 10
        stage.advance(1, {})
    assert (stage.count(), stage.eta()) == ("908/1000", "ETA 15m 20s")


def test_a_count_never_exceeds_its_total() -> None:
    stage = Stage("verdicts", 841)
    stage.advance(840, {})
    assert stage.count() == "840/841"
    stage.advance(319, {})
    assert (stage.count(), stage.eta()) == ("1159", "")
