from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.config.loading import load_config
from prorl_training.engine.loop import TrainingLoop
from prorl_training.schedule.controller import Controller, Measured
from prorl_training.schedule.decisions import differences, lanes_text
from prorl_training.schedule.simulate import rules_at, simulate
from prorl_training.types import Decision, ValidationResult

STALL = 12
"""Number of flat validations that are a stall with the K below."""


def config_of(*on_stall: str, phases: list[dict[str, Any]] | None = None, **controller: Any) -> Any:
    values: dict[str, Any] = {
        "steps": 60,
        "rollout": {"prompts": 4, "samples": 8},
        "loss": {"mini_batches": 1},
        "length_penalty": {"weight": 0},
        "data": {"levels": "ladder", "sampling": "posterior"},
        "controller": {
            "reset_interval": 0,
            "kl_zscore": 0,
            "stall_validations": 3,
            "stall_gain": 20,
            "on_stall": list(on_stall),
            **controller,
        },
        "phases": phases or [],
    }
    return TrainConfig.model_validate(values)


def flat(levels_closed: int | None = None) -> Measured:
    return Measured(None, None, ValidationResult(0.4, 0.02, (0.4,) * 50), levels_closed)


def through(controller: Controller, steps: int, levels_closed: int | None = None) -> list[Decision]:
    found: list[Decision] = []
    for step in range(1, steps + 1):
        found += controller.begin_step(step)
        found += controller.end_step(step, flat(levels_closed))
        if controller.ended:
            break
    return found


def kinds(decisions: list[Decision]) -> list[tuple[int, str]]:
    return [(d.step, d.kind) for d in decisions]


def test_each_stall_leads_to_the_next_action_and_the_last_again() -> None:
    controller = Controller(config_of("reset", "raise_samples"))
    assert kinds(through(controller, 40)) == [
        (STALL, "reference_reset"),
        (2 * STALL + 1, "samples_raised"),
        (3 * STALL + 1, "samples_raised"),
    ]
    assert controller.settings.rollout.samples == 32


def test_raised_samples_take_effect_at_the_step_after_the_stall_with_the_evidence() -> None:
    controller = Controller(config_of("raise_samples"))
    through(controller, STALL)
    assert controller.settings.rollout.samples == 8
    (raised,) = controller.begin_step(STALL + 1)
    assert controller.settings.rollout.samples == 16
    assert raised.evidence["rule"] == "stalled_validation"
    assert (raised.evidence["samples_before"], raised.evidence["samples"]) == (8, 16)
    assert raised.evidence["p"] < raised.evidence["alpha"]


def test_an_action_with_nothing_left_is_passed_over_and_a_reset_is_what_remains() -> None:
    controller = Controller(config_of("raise_samples", "raise_difficulty", samples_most=16))
    found = through(controller, 4 * STALL + 1, levels_closed=0)
    assert [d.kind for d in found] == ["samples_raised", *["reference_reset"] * 3]
    ready = Controller(config_of("raise_samples", "rerate", samples_most=8))
    (rerated,) = through(ready, STALL + 1)
    assert rerated.kind == "items_rerated"
    assert rerated.evidence["passed_over"] == ["raise_samples"]


def test_a_stall_may_end_the_run_and_a_resumed_one_goes_on() -> None:
    config = config_of("end")
    controller = Controller(config)
    (ended,) = through(controller, 40)
    assert (ended.step, ended.kind) == (STALL, "run_ended")
    again = Controller(config)
    again.restore(json.loads(json.dumps(controller.to_json())))
    assert not again.ended


def test_difficulty_is_raised_a_level_at_a_time_while_levels_are_closed() -> None:
    controller = Controller(config_of("raise_difficulty"))
    through(controller, 2 * STALL + 1, levels_closed=3)
    assert controller.settings.data.levels_ahead == 2


def test_a_restored_controller_goes_on_as_the_unbroken_one_between_stall_and_effect() -> None:
    config = config_of("raise_samples", "end")
    unbroken, broken = Controller(config), Controller(config)
    through(unbroken, STALL)
    through(broken, STALL)
    again = Controller(config)
    again.restore(json.loads(json.dumps(broken.to_json())))
    for step in range(STALL + 1, 3 * STALL):
        assert again.begin_step(step) == unbroken.begin_step(step)
        assert again.settings == unbroken.settings
        assert again.end_step(step, flat()) == unbroken.end_step(step, flat())


def test_a_checkpoint_from_before_there_was_a_plateau_is_taken() -> None:
    controller = Controller(config_of("raise_samples"))
    state = controller.to_json()
    del state["plateau"]
    controller.restore(state)
    assert controller.settings.rollout.samples == 8


def test_raised_samples_hold_in_the_phases_that_follow_where_they_have_no_more() -> None:
    phases = [
        {"name": "one", "steps": STALL + 2},
        {"name": "two", "steps": 2, "set": {"rollout": {"samples": 12}}},
        {"name": "three", "steps": 2, "set": {"rollout": {"samples": 24}}},
    ]
    controller = Controller(config_of("raise_samples", phases=phases))
    seen = []
    for step in range(1, STALL + 6):
        controller.begin_step(step)
        seen.append(controller.settings.rollout.samples)
        controller.end_step(step, flat())
    assert seen == [8] * STALL + [16, 16, 16, 16, 24]


def test_samples_stay_below_their_most_where_a_larger_phase_begins_before_they_are_raised() -> None:
    phases = [
        {"name": "one", "steps": STALL},
        {"name": "two", "steps": 2, "set": {"rollout": {"samples": 16}}},
    ]
    controller = Controller(config_of("raise_samples", phases=phases, samples_most=16))
    found = through(controller, STALL + 1)
    assert [d.kind for d in found] == ["phase_started", "phase_started"]
    assert controller.settings.rollout.samples == 16


def test_a_phase_until_stall_ends_with_it_and_nothing_is_raised() -> None:
    phases = [{"name": "one", "steps": 50, "until": "stall"}, {"name": "two", "steps": 9}]
    controller = Controller(config_of("raise_samples", phases=phases))
    found = through(controller, STALL + 2)
    assert [d.kind for d in found] == ["phase_started", "phase_started"]
    assert controller.settings.rollout.samples == 8


def test_the_default_is_the_reset_that_it_always_was() -> None:
    controller = Controller(config_of())
    assert kinds(through(controller, 2 * STALL)) == [
        (STALL, "reference_reset"),
        (2 * STALL, "reference_reset"),
    ]


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["controller.on_stall=[raise_difficulty]"], r"set data\.levels=ladder"),
        (["controller.on_stall=[rerate]"], r"set data\.sampling=posterior"),
        (["controller.on_stall=[pray]"], "on_stall"),
        (["controller.on_stall=[end]", "validation.every=0"], r"set validation\.every above 0, or"),
        (
            ["controller.on_stall=[end]", "controller.stall_validations=0"],
            r"set controller\.stall_validations above 0, or",
        ),
        (
            ["controller.on_stall=[reset]", "controller.end_gain=0.01"],
            r"does not contain: add end",
        ),
        (["controller.end_gain=0.01"], r"does not contain: add end"),
        (["logging.forecast=1", "validation.every=0"], r"or logging\.forecast=0"),
    ],
)
def test_an_action_that_could_do_nothing_is_refused_with_the_cure(
    words: list[str], cure: str
) -> None:
    with pytest.raises(UserError, match=cure):
        load_config("prorl-v2", None, words)


def rows_of_a_plateau() -> dict[int, dict[str, Any]]:
    return {
        step: {"step": step, "validation_reward": 0.4, "validation_rewards": [0.4] * 50}
        for step in range(1, 61)
    }


def test_a_simulation_takes_every_action_and_ends_where_the_run_would() -> None:
    config, rows = (
        config_of("raise_samples", "raise_difficulty", "rerate", "end"),
        rows_of_a_plateau(),
    )
    found = simulate(config, 60, rows)
    assert kinds(found) == [
        (STALL + 1, "samples_raised"),
        (2 * STALL + 1, "difficulty_raised"),
        (3 * STALL + 1, "items_rerated"),
        (4 * STALL, "run_ended"),
    ]
    assert any(line.startswith("plateau") and "P" in line for line in lanes_text(found, 60))
    other = simulate(config_of("raise_samples", "end"), 60, rows)
    assert next(d.kind for d in differences(found, other, 60)) == "run_ended"


def test_a_simulation_goes_on_past_an_end_after_which_the_run_was_resumed() -> None:
    found = simulate(config_of("end"), 60, rows_of_a_plateau(), [STALL])
    assert kinds(found) == [(STALL, "run_ended"), (2 * STALL, "run_ended")]


def test_explain_shows_what_the_next_stall_would_lead_to() -> None:
    config = config_of("raise_samples", "end")
    before = rules_at(config, rows_of_a_plateau(), STALL)
    assert (before["next_on_stall"], before["samples"]) == ("raise_samples", 8)
    after = rules_at(config, rows_of_a_plateau(), STALL + 2)
    assert (after["next_on_stall"], after["samples"]) == ("end", 16)


def test_a_run_that_stalls_samples_more_and_then_ends_early_and_well(
    make_engine: Callable[..., TrainingLoop], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    stall = {"stall_validations": 1, "stall_gain": 1000, "reset_interval": 0, "kl_zscore": 0}
    config = make_config(
        steps=30,
        controller=stall | {"on_stall": ["raise_samples", "end"]},
        validation={"every": 1, "problems": 4},
        dynamic_sampling={"enabled": False},  # or a run whose answers are all wrong fails
    )
    engine = make_engine(config, tmp_path / "run")
    last = engine.run()
    kinds = [d["kind"] for d in engine.parts.folder.decisions()]
    assert kinds.count("samples_raised") == kinds.count("run_ended") == 1
    assert last < 30
    assert engine.stop_reason is None
    rows = {r["step"]: r for r in engine.parts.folder.metrics()}
    raised = next(d for d in engine.parts.folder.decisions() if d["kind"] == "samples_raised")
    assert engine.controller.settings.rollout.samples == 8
    step = raised["step"]
    assert rows[step]["tokens"] / rows[step]["groups"] > 1.3 * (
        rows[step - 1]["tokens"] / rows[step - 1]["groups"]
    )
