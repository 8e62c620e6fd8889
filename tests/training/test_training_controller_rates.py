"""The controller under noise: state round trips, false alarms and power, by simulation with fixed seeds."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from prorl_training.config import TrainConfig
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.decisions import Decision
from prorl_training.schedule.rules import ValidationResult, dunnett_p, mann_kendall_p
from prorl_training.schedule.safety import Guard
from prorl_training.schedule.simulate import simulate, simulate_step

SE = 0.03


def noisy_rows(seed: int, steps: int) -> dict[int, dict[str, Any]]:
    """Lines of metrics.jsonl with trouble of every kind in them."""
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
            row |= {"validation_reward": level + rng.gauss(0, 0.02), "validation_se": 0.02}
            row["validation_problems"] = 100
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
@pytest.mark.parametrize("reset_to", ["current", "best"])
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


def runs(
    level: Callable[[int], float], count: int, noise: float = SE, steps: int = 3000
) -> list[list[tuple[int, str]]]:
    """Resets by validation in ``count`` runs of the default rules, validated every 20 steps."""
    config = TrainConfig()
    out = []
    for seed in range(count):
        rng, controller, found = random.Random(seed), Controller(config), []
        for step in range(20, steps + 1, 20):
            result = ValidationResult(level(step) + rng.gauss(0, noise), SE, 250)
            for d in controller.end_step(step, Measured(None, None, result)):
                found += [(step, r) for r in (d.evidence["rule"], *d.evidence.get("also", []))]
        out.append(found)
    return out


def share(found: list[list[tuple[int, str]]], rule: str, first: int = 0, last: int = 3000) -> float:
    """Share of runs in which the rule held between two steps."""
    return sum(any(r == rule and first < s <= last for s, r in run) for run in found) / len(found)


def count(found: list[list[tuple[int, str]]], rule: str) -> float:
    return sum(r == rule for run in found for _, r in run) / len(found)


def test_flat_validation_is_called_degraded_in_at_most_a_test_in_a_hundred() -> None:
    found = runs(lambda step: 0.4, 20)
    assert count(found, "degraded_validation") / 29 <= 0.02  # 29 tests a run, level 0.01


def test_noise_of_half_the_stated_error_is_never_called_degraded() -> None:
    assert share(runs(lambda step: 0.4, 10, noise=SE / 2), "degraded_validation") == 0


def test_real_drop_is_found_within_two_blocks() -> None:
    found = runs(lambda step: 0.4 if step <= 500 else 0.25, 40, steps=800)
    assert share(found, "degraded_validation", 500, 700) >= 0.95


def test_flat_validation_stalls_and_a_clear_climb_does_not() -> None:
    assert share(runs(lambda step: 0.4, 20, steps=1000), "stalled_validation") >= 0.95
    climb = runs(lambda step: 0.2 + 0.6 * step / 3000, 20, noise=SE / 2)
    assert count(climb, "stalled_validation") <= 0.2


def test_dunnett_p_of_one_block_is_the_two_sample_z_test() -> None:
    # z = 0.05 / sqrt(0.02^2 + 0.02^2) = 1.7678; 1 - Phi(z) = 0.03855
    p = dunnett_p([0.35, 0.02, 0], [[0.40, 0.02, 0]])
    assert p == pytest.approx(
        0.5 * math.erfc(0.05 / math.hypot(0.02, 0.02) / math.sqrt(2)), abs=1e-6
    )


def test_dunnett_p_has_its_level_however_many_blocks_there_are() -> None:
    rng = random.Random(7)
    for blocks in (1, 5, 20):
        ps = [
            dunnett_p([rng.gauss(0, 1), 1.0], [[rng.gauss(0, 1), 1.0] for _ in range(blocks)])
            for _ in range(300)
        ]
        assert sum(p < 0.1 for p in ps) / 300 == pytest.approx(0.1, abs=0.05)


def test_mann_kendall_p_is_small_for_a_climb_and_large_for_a_fall() -> None:
    # n = 5 all rising: S = 10, variance 50/3, z = 9 / sqrt(50/3) = 2.2045, p = 0.01374
    assert mann_kendall_p([1, 2, 3, 4, 5]) == pytest.approx(0.01374, abs=1e-4)
    assert mann_kendall_p([5, 4, 3, 2, 1]) > 0.97
    assert mann_kendall_p([1, 1, 1]) == 1
