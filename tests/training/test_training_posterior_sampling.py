from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.rollout.prompts import PromptSource, chance_to_teach, weights_by_chance
from prorl_training.run.folder import RunFolder
from prorl_training.testing import ByLength, untimed_metrics
from prorl_verifiers import Task


def items(domains: Sequence[str]) -> list[Sample]:
    prompt = ({"role": "user", "content": "x"},)
    task = Task("math", {"answer": "1"})
    return [
        Sample(f"s{i}", d, prompt, task, "test", "none", "train") for i, d in enumerate(domains)
    ]


def config_of(**data: Any) -> TrainConfig:
    values = {
        "rollout": {"prompts": 4, "samples": 8, "max_tokens": 10},
        "loss": {"mini_batches": 1},
        "data": {"sampling": "posterior", **data},
    }
    return TrainConfig.model_validate(values)


def source_with(
    right: list[float], wrong: list[float], domains: Sequence[str] = ()
) -> PromptSource:
    source = PromptSource(items(domains or ["math"] * len(right)), lambda s: [0], None)
    source.records.right[:], source.records.wrong[:] = right, wrong
    return source


@pytest.mark.parametrize(("right", "wrong", "n"), [(0, 0, 2), (3, 1, 4), (0.5, 12.25, 16)])
def test_the_chance_to_teach_is_the_integral_over_the_posterior(
    right: float, wrong: float, n: int
) -> None:
    p = (np.arange(400_000) + 0.5) / 400_000
    density = p**right * (1 - p) ** wrong
    by_sum = float((density * (1 - p**n - (1 - p) ** n)).sum() / density.sum())
    got = chance_to_teach(np.array([float(right)]), np.array([float(wrong)]), n)
    assert float(got[0]) == pytest.approx(by_sum, rel=1e-5)


def test_an_item_never_tried_is_worth_a_look_and_a_settled_one_is_not() -> None:
    right, wrong = np.array([0.0, 64.0, 0.0, 32.0]), np.array([0.0, 0.0, 64.0, 32.0])
    untried, solved, hopeless, even = chance_to_teach(right, wrong, 8)
    assert untried == pytest.approx(1 - 2 / 9)
    assert solved == pytest.approx(hopeless)
    assert solved < 0.15 < untried < even


def test_no_item_has_less_than_its_floor_of_every_draw() -> None:
    rng = np.random.default_rng(1)
    chance = np.where(rng.random(500) < 0.9, 0.0, rng.random(500))
    weights = weights_by_chance(np.ones(500), chance, floor=0.2)
    shares = weights / weights.sum()
    assert shares.min() >= 0.2 / 500 * (1 - 1e-12)
    assert weights.sum() == pytest.approx(500)


def test_an_item_that_teaches_nothing_is_drawn_at_least_every_items_over_floor_draws() -> None:
    source = source_with([1e6] * 3 + [50.0] * 37, [0.0] * 3 + [50.0] * 37)
    config, steps = config_of(floor=0.25), 2000
    batch = config.rollout.prompts
    drawn: Counter[str] = Counter()
    for step in range(1, steps + 1):
        first = [s.id for _, s in zip(range(batch), source.draw(step, config), strict=False)]
        drawn.update(first)
    expected = steps * batch * 0.25 / 40  # 50 draws each
    for name in ("s0", "s1", "s2"):
        assert drawn[name] > expected - 4 * math.sqrt(expected)
        assert drawn[name] < drawn["s20"] / 2


def test_the_share_of_items_that_teach_rises_above_the_even_share() -> None:
    right, wrong = [60.0] * 40 + [0.0] * 40 + [8.0] * 20, [0.0] * 40 + [60.0] * 40 + [8.0] * 20
    source, config = source_with(right, wrong), config_of()
    firsts = [next(source.draw(step, config)).id for step in range(1, 401)]
    teaching = sum(int(name[1:]) >= 80 for name in firsts) / len(firsts)
    assert teaching > 0.45  # of 20 items in 100


def test_domains_keep_their_weight_whatever_their_items_teach() -> None:
    domains = ["math"] * 30 + ["code"] * 10
    source = source_with([1e6] * 30 + [9.0] * 10, [0.0] * 30 + [9.0] * 10, domains)
    config = config_of(domain_weights={"math": 3, "code": 1})
    weights = np.array(source.drawing_weights(config))
    assert weights[:30].sum() == pytest.approx(3)
    assert weights[30:].sum() == pytest.approx(1)


def test_a_domain_of_weight_0_stays_out() -> None:
    source = source_with([1.0] * 4, [1.0] * 4, ["math", "math", "code", "code"])
    config = config_of(domain_weights={"math": 1, "code": 0})
    assert {s.domain for s in source.draw(1, config)} == {"math"}


def test_without_the_option_the_records_change_nothing() -> None:
    config = config_of(sampling="uniform")
    with_records = source_with([1e6, 0, 5, 5], [0, 1e6, 5, 5])
    without = source_with([0] * 4, [0] * 4)
    for step in (1, 2, 3):
        assert list(with_records.draw(step, config)) == list(without.draw(step, config))


def test_a_run_gone_on_with_posterior_sampling_is_the_unbroken_one_bit_for_bit(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., Any],
    go_on: Callable[..., TrainingLoop],
) -> None:
    config = make_config(steps=8, data={"sampling": "posterior", "half_life": 3.0})
    run = tmp_path / "run"
    unbroken = make_engine(config, run, ByLength(3))
    unbroken.run()
    whole = untimed_metrics(RunFolder(run))
    assert whole[-1]["items_solved"] > 0
    weights = unbroken.parts.prompts.drawing_weights(config)
    assert len(set(weights)) > 2
    again = go_on(unbroken, 6)
    assert untimed_metrics(RunFolder(run)) == whole
    assert list(again.parts.prompts.drawing_weights(config)) == list(weights)
    before, after = (e.parts.policy.model.state_dict() for e in (unbroken, again))
    assert all(torch.equal(before[name], after[name]) for name in before)
