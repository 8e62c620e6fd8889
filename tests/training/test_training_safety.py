from __future__ import annotations

import math
from typing import Any

import pytest

from prorl_training.config import SafetyConfig
from prorl_training.schedule.safety import Guard
from prorl_training.types import Decision

NAN, INF = math.nan, math.inf


def step(guard: Guard, number: int, *updates: tuple[float, float], **end: Any) -> list[Decision]:
    guard.begin_step(number)
    for loss, norm in updates:
        guard.accept_update(loss, norm)
    return guard.end_step(end.get("entropy"), end.get("empty", False), end.get("evidence"))


def kinds(decisions: list[Decision]) -> list[str]:
    return [d.kind for d in decisions]


@pytest.mark.parametrize(("loss", "norm"), [(NAN, 1.0), (1.0, NAN), (INF, 1.0), (1.0, INF)])
def test_update_that_is_not_finite_is_skipped_and_recorded(loss: float, norm: float) -> None:
    guard = Guard(SafetyConfig())
    guard.begin_step(4)
    assert guard.accept_update(0.1, 1.0) and not guard.accept_update(loss, norm)
    (decision,) = guard.end_step(0.5, empty=False)
    assert (decision.step, decision.reason) == (4, "1 update skipped: not finite")
    assert decision.evidence["updates"][0]["why"] == "not finite"
    assert guard.stop_reason is None


def test_bad_updates_in_a_row_stop_the_run_across_steps() -> None:
    guard = Guard(SafetyConfig(bad_updates=3))
    step(guard, 1, (NAN, 1.0), (NAN, 1.0))
    assert guard.stop_reason is None
    got = step(guard, 2, (NAN, 1.0))
    assert kinds(got) == ["update_skipped", "run_stopped"]
    assert guard.stop_reason == "3 updates in a row were not finite"


def test_one_good_update_between_bad_ones_keeps_the_run() -> None:
    guard = Guard(SafetyConfig(bad_updates=2))
    step(guard, 1, (NAN, 1.0), (0.1, 1.0), (NAN, 1.0))
    assert guard.stop_reason is None


def calm(guard: Guard, count: int) -> None:
    guard.begin_step(1)
    assert all(guard.accept_update(0.1, 1.0) for _ in range(count))
    assert guard.end_step(0.5, empty=False) == []


def test_exploding_norm_is_skipped_and_the_learning_rate_backs_off_for_its_steps() -> None:
    guard = Guard(SafetyConfig(explode_window=5, explode_factor=20, back_off=0.5, back_off_steps=3))
    calm(guard, 5)
    assert kinds(step(guard, 2, (0.1, 19.0))) == []
    got = step(guard, 3, (0.1, 21.0))
    assert kinds(got) == ["update_skipped", "learning_rate_backed_off"]
    assert (got[1].evidence["median"], got[1].evidence["until"]) == (1.0, 6)
    scales = []
    for number in range(4, 8):
        guard.begin_step(number)
        scales.append(guard.lr_scale())
        last = guard.end_step(0.5, empty=False)
    assert scales == [0.5, 0.5, 0.5, 1.0]
    assert kinds(last) == ["learning_rate_restored"]


def test_nothing_explodes_before_the_window_is_full() -> None:
    guard = Guard(SafetyConfig(explode_window=5))
    calm(guard, 4)
    guard.begin_step(2)
    assert guard.accept_update(0.1, 1e6)


def test_lasting_change_of_scale_is_accepted_after_half_a_window() -> None:
    guard = Guard(SafetyConfig(explode_window=6))
    calm(guard, 6)
    guard.begin_step(2)
    verdicts = [guard.accept_update(0.1, 100.0) for _ in range(6)]
    assert verdicts == [False, False, False, True, True, True]


def test_zero_gradients_leave_no_median_that_everything_exceeds() -> None:
    guard = Guard(SafetyConfig(explode_window=5))
    guard.begin_step(1)
    assert all(guard.accept_update(0.0, 0.0) for _ in range(9))
    assert guard.accept_update(0.1, 1.0)


def test_empty_batches_in_a_row_stop_the_run_and_a_full_one_begins_the_count_anew() -> None:
    guard = Guard(SafetyConfig(empty_steps=2))
    got = step(guard, 1, empty=True, evidence={"groups_kept": 0})
    assert kinds(got) == ["step_skipped"]
    assert (got[0].evidence["groups_kept"], got[0].evidence["empty_in_a_row"]) == (0, 1)
    step(guard, 2, (0.1, 1.0), entropy=0.5)
    assert kinds(step(guard, 3, empty=True)) == ["step_skipped"]
    assert kinds(step(guard, 4, empty=True)) == ["step_skipped", "run_stopped"]


@pytest.mark.parametrize(
    ("reaction", "expected"),
    [
        ("log", ["entropy_low"]),
        ("back_off", ["entropy_low", "learning_rate_backed_off"]),
        ("stop", ["entropy_low", "run_stopped"]),
    ],
)
def test_entropy_below_its_floor_for_so_many_steps_gets_its_reaction(
    reaction: Any, expected: list[str]
) -> None:
    guard = Guard(SafetyConfig(entropy_floor=0.1, entropy_steps=3, entropy_reaction=reaction))
    assert [kinds(step(guard, n, entropy=0.05)) for n in (1, 2)] == [[], []]
    assert kinds(step(guard, 3, entropy=0.05)) == expected


def test_entropy_collapse_lowers_the_learning_rate_by_default() -> None:
    guard = Guard(SafetyConfig())
    assert [kinds(step(guard, n, entropy=0.009)) for n in range(1, 20)] == [[]] * 19
    low, backed_off = step(guard, 20, entropy=0.009)
    assert (low.kind, backed_off.kind) == ("entropy_low", "learning_rate_backed_off")
    seen = {"entropy": 0.009, "floor": 0.01, "steps": 20, "reaction": "back_off"}
    assert low.evidence == seen
    assert backed_off.evidence == {
        "rule": "entropy",
        "entropy": 0.009,
        "back_off": 0.5,
        "until": 70,
    }
    guard.begin_step(21)
    assert guard.lr_scale() == 0.5


def test_entropy_at_the_default_floor_is_no_collapse() -> None:
    guard = Guard(SafetyConfig())
    assert [kinds(step(guard, n, entropy=0.01)) for n in range(1, 60)] == [[]] * 59


def test_one_step_above_the_entropy_floor_begins_the_count_anew() -> None:
    guard = Guard(SafetyConfig(entropy_floor=0.1, entropy_steps=2))
    got = [kinds(step(guard, n, entropy=e)) for n, e in enumerate([0.05, 0.2, 0.05], start=1)]
    assert got == [[], [], []]


def test_outage_is_retried_with_growing_waits_and_then_stops_the_run() -> None:
    guard = Guard(SafetyConfig(infra_rate=0.5, outage_retries=2))
    guard.begin_step(9)
    assert guard.check_round(10, 4, 0) == "ok"
    assert [guard.check_round(10, 5, n) for n in range(3)] == ["retry", "retry", "stop"]
    got = guard.end_step(None, empty=False)
    assert kinds(got) == ["outage", "outage", "outage", "run_stopped"]
    assert [guard.outage_wait(n) for n in (0, 1, 2, 5, 6, 50)] == [1, 2, 4, 32, 60, 60]


def test_stopped_run_that_is_gone_on_with_is_not_stopped_by_the_old_count() -> None:
    guard = Guard(SafetyConfig(bad_updates=2))
    step(guard, 1, (NAN, 1.0), (NAN, 1.0))
    again = Guard(SafetyConfig(bad_updates=2))
    again.restore(guard.to_json())
    assert again.stop_reason is None
    step(again, 2, (NAN, 1.0))
    assert again.stop_reason is None
