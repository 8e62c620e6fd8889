from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from prorl_training.config import TrainConfig
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.simulate import simulate, simulate_step
from prorl_training.types import Decision, ValidationResult


def noisy_rows(seed: int, steps: int) -> dict[int, dict[str, Any]]:
    """Return lines of metrics.jsonl with every kind of trouble."""
    rng = random.Random(seed)
    rows: dict[int, dict[str, Any]] = {}
    for step in range(1, steps + 1):
        row: dict[str, Any] = {"step": step, "groups_kept": rng.choice([0, 4, 4, 4, 4])}
        if row["groups_kept"]:
            row["kl"] = 1e-3 * math.exp(rng.gauss(0, 0.3)) * rng.choice([1] * 30 + [40])
            row["loss"] = rng.choice([0.1] * 30 + [math.nan])
            row["grad_norm"] = math.exp(rng.gauss(0, 0.3)) * rng.choice([1] * 40 + [100])
            row["entropy"] = rng.uniform(0.0, 0.5)
        if step % 3 == 0:
            level = 0.5 if (step // 60) % 2 else 0.3
            rewards = [float(rng.random() < level) for _ in range(100)]
            row |= {"validation_reward": sum(rewards) / 100, "validation_rewards": rewards}
            row["validation_rewards"][rng.randrange(100)] = None
        rows[step] = row
    return rows


def eventful(reset_to: str) -> TrainConfig:
    own = {"length_penalty": {"start_step": 2, "steps_on": 5, "steps_off": 7, "weight": 0.3}}
    return TrainConfig.model_validate(
        {
            "controller": {
                "reset_interval": 40,
                "kl_window": 10,
                "cool_down": 5,
                "stall_validations": 3,
                "reset_to": reset_to,
            },
            "length_penalty": {"start_step": 5, "steps_on": 10, "steps_off": 20},
            "safety": {
                "explode_window": 10,
                "empty_steps": 20,
                "entropy_floor": 0.2,
                "entropy_steps": 2,
                "entropy_reaction": "back_off",
                "back_off_steps": 7,
            },
            "phases": [
                {"name": "a", "steps": 60, "until": "stall"},
                {"name": "b", "steps": 70, "reset": True, "set": own},
                {"name": "c", "steps": 60, "set": {"rollout": {"max_tokens": 4096}}},
            ],
        }
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("reset_to", ["current", "best_reference", "best"])
def test_json_round_trips_at_random_steps_change_no_decision(seed: int, reset_to: str) -> None:
    config, rows = eventful(reset_to), noisy_rows(seed, 240)
    straight = simulate(config, 240, rows)
    assert len({d.kind for d in straight}) >= 8
    rng = random.Random(1000 + seed)
    controller, guard = Controller(config), Guard(config.safety)
    got: list[Decision] = []
    for step in range(1, 241):
        got += simulate_step(controller, guard, step, rows[step])
        if guard.stop_reason is not None:
            break
        if rng.random() < 0.2:
            state = json.dumps([controller.to_json(), guard.to_json()])
            controller, guard = Controller(config), Guard(config.safety)
            controller.restore(json.loads(state)[0])
            guard.restore(json.loads(state)[1])
            assert json.dumps([controller.to_json(), guard.to_json()]) == state
    assert got == straight


def test_same_config_and_metrics_give_the_same_decisions() -> None:
    rows = noisy_rows(5, 120)
    assert simulate(eventful("best"), 120, rows) == simulate(eventful("best"), 120, rows)


def test_every_decision_survives_strict_json() -> None:
    for decision in simulate(eventful("best"), 240, noisy_rows(3, 240)):
        text = json.dumps(decision.to_json(), allow_nan=False)
        assert Decision(**json.loads(text)) == decision


def decided(level: Callable[[int], float], seed: int, steps: int = 3000) -> list[tuple[int, str]]:
    """Return resets by validation on 250 problems under the default rules; see ``benchmarks/stall_rule.py``."""
    rng, controller, found = random.Random(seed), Controller(TrainConfig()), []
    easy = [rng.random() for _ in range(250)]
    for step in range(20, steps + 1, 20):
        chances = [min(max(0.5 + 3.4 * (level(step) - x), 0.0), 1.0) for x in easy]
        rewards = tuple(float(rng.random() < chance) for chance in chances)
        result = ValidationResult(sum(rewards) / 250, 0.03, rewards)
        for d in controller.end_step(step, Measured(None, None, result)):
            found += [(step, r) for r in (d.evidence["rule"], *d.evidence.get("also", []))]
    return [(step, rule) for step, rule in found if rule != "interval"]


def test_healthy_climb_is_left_alone() -> None:
    found = [decided(lambda step: 0.4 + 0.2 * step / 3000, seed) for seed in range(10)]
    assert sum(map(len, found)) <= 3


def test_real_drop_of_five_points_is_found_within_200_steps() -> None:
    found = [decided(lambda s: 0.5 if s <= 600 else 0.45, seed, steps=800) for seed in range(20)]
    in_time = [any(r == "degraded_validation" and s > 600 for s, r in run) for run in found]
    assert sum(in_time) >= 17


def test_flat_validation_stalls_in_the_end() -> None:
    found = [decided(lambda step: 0.4, seed, steps=2000) for seed in range(8)]
    assert sum(any(r == "stalled_validation" for _, r in run) for run in found) >= 7
