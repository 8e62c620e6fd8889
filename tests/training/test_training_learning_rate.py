from __future__ import annotations

import math

import pytest

from prorl_training.config import OptimizerConfig, TrainConfig


def rates(count: int = 10, **over: object) -> list[float]:
    config = OptimizerConfig.model_validate({"lr": 1.0, **over})
    return [config.lr_at(update, count) for update in range(1, count + 1)]


def test_constant_schedule_holds_from_the_first_update() -> None:
    assert rates() == [1.0] * 10


def test_warm_up_rises_linearly_and_reaches_lr_at_its_last_update() -> None:
    assert rates(warmup_updates=4)[:6] == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]


def test_linear_fall_takes_what_the_warm_up_leaves_of_the_run() -> None:
    falling = rates(warmup_updates=2, schedule="linear")
    assert falling[1] == 1.0
    assert falling[2:] == pytest.approx([1 - i / 8 for i in range(1, 9)])


def test_cosine_is_half_way_at_half_time_and_ends_at_min_ratio() -> None:
    falling = rates(schedule="cosine", min_ratio=0.1)
    assert falling[4] == pytest.approx(0.55)
    assert falling[-1] == pytest.approx(0.1)
    assert falling[0] == pytest.approx(0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi / 10)))


def test_after_decay_updates_the_rate_stays_at_the_bottom() -> None:
    falling = rates(schedule="linear", decay_updates=4, min_ratio=0.2)
    assert falling[3:] == pytest.approx([0.2] * 7)


def test_scale_multiplies_every_rate_and_nothing_else() -> None:
    config = OptimizerConfig(lr=2e-6, warmup_updates=3, schedule="cosine")
    for update in (1, 3, 7, 20):
        assert config.lr_at(update, 20, 0.5) == 0.5 * config.lr_at(update, 20, 1.0)


def test_a_warm_up_longer_than_the_run_never_divides_by_zero() -> None:
    assert rates(3, warmup_updates=5, schedule="linear") == pytest.approx([0.2, 0.4, 0.6])


def test_updates_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="counted from 1"):
        OptimizerConfig().lr_at(0, 10)


def test_planned_updates_follow_the_mini_batches_of_each_phase() -> None:
    phases = [
        {"name": "one", "steps": 3, "set": {"loss": {"mini_batches": 4}}},
        {"name": "two", "steps": 2, "set": {}},
        {"name": "rest", "steps": 1, "set": {"loss": {"mini_batches": 1}}},
    ]
    plain = {"steps": 10, "rollout": {"prompts": 8}, "loss": {"mini_batches": 2}}
    assert TrainConfig.model_validate(plain).planned_updates == 20
    config = TrainConfig.model_validate({**plain, "phases": phases})
    assert config.planned_updates == 3 * 4 + 2 * 2 + 5 * 1
    assert config.model_copy(update={"steps": 4}).planned_updates == 3 * 4 + 1 * 2
