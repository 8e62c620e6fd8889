"""Troubles of a step that were once silent are decisions or numbers now."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import ByText, Messages

from prorl_inference.tokens import encode_prompt
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.rollout.prompts import PromptSource
from prorl_training.schedule.validation import validate
from prorl_training.testing import EchoGenerator, named_sample
from prorl_training.types import Carried
from prorl_verifiers import Task, Verdict

MakeConfig = Callable[..., TrainConfig]
MakeEngine = Callable[..., TrainingLoop]
COLD: dict[str, Any] = {"warm_start": {"examples": 0}, "checkpoint": {"every": 99}}


class AwayFor(ByText):
    """Give no verdict for problems with one of these answers."""

    def __init__(self, *answers: str) -> None:
        self.answers = answers

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        away = Verdict(None, "infra_error", "down")
        return [
            away if task.reference["answer"] in self.answers else verdict
            for verdict, (_, task) in zip(super().score(items), items, strict=True)
        ]


def kinds(engine: TrainingLoop) -> list[str]:
    return [d["kind"] for d in engine.parts.folder.decisions()]


@pytest.fixture
def before_reset(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> Callable[..., TrainingLoop]:
    """An engine after step 1, whose validation stays the best; a reset to it is due after step 2."""

    def build(reset_to: str = "best") -> TrainingLoop:
        config = make_config(
            **COLD, controller={"reset_to": reset_to, "reset_interval": 2}, validation={"every": 1}
        )
        engine = make_engine(config, tmp_path / "run", ByText())
        engine.step(1)
        engine.controller.state.best_mean = 9.0
        return engine

    return build


def remove(checkpoint: Path) -> None:
    shutil.rmtree(checkpoint)


def damage(checkpoint: Path) -> None:
    with (checkpoint / "policy" / "model.safetensors").open("r+b") as file:
        file.seek(-4, 2)
        file.write(b"\x7f\x7f\x7f\x7f")


@pytest.mark.parametrize(("lose", "why"), [(remove, "incomplete"), (damage, "its hash differs")])
def test_reset_to_a_best_checkpoint_that_is_lost_is_recorded_as_one_to_the_current_policy(
    before_reset: Callable[[], TrainingLoop], lose: Callable[[Path], None], why: str
) -> None:
    engine = before_reset()
    lose(engine.parts.folder.checkpoints / "step_000001")
    engine.step(2)
    reset, lost = engine.parts.folder.decisions()[-2:]
    assert (reset["kind"], reset["evidence"]["reset_to"]) == ("reference_reset", "current")
    assert (lost["kind"], lost["step"], lost["evidence"]["best_step"]) == (
        "best_checkpoint_lost",
        2,
        1,
    )
    assert why in lost["reason"] and why in lost["evidence"]["trouble"]
    assert reset["evidence"]["weights"] == "the reference takes the policy's own"


def test_reset_to_a_best_checkpoint_that_is_there_goes_back_to_its_weights(
    before_reset: Callable[[], TrainingLoop],
) -> None:
    engine = before_reset()
    best = [p.clone() for p in engine.parts.policy.model.parameters()]
    engine.step(2)
    (reset,) = [d for d in engine.parts.folder.decisions() if d["kind"] == "reference_reset"]
    assert reset["evidence"]["reset_to"] == "best" and "best_checkpoint_lost" not in kinds(engine)
    now = engine.parts.policy.model.parameters()
    assert all(torch.equal(a, b) for a, b in zip(best, now, strict=True))
    assert engine.controller.validations.steps == []


def test_reset_of_the_reference_alone_takes_the_best_weights_and_leaves_the_policy(
    before_reset: Callable[..., TrainingLoop],
) -> None:
    engine = before_reset("best_reference")
    policy: Any = engine.parts.policy
    best = {n: p.clone() for n, p in policy.model.named_parameters()}
    engine.step(2)
    (reset,) = [d for d in engine.parts.folder.decisions() if d["kind"] == "reference_reset"]
    assert reset["evidence"]["weights"] == (
        "the reference takes those of best_step, the policy keeps its own"
    )
    reference = policy.reference_tensors()
    assert all(torch.equal(best[name], tensor) for name, tensor in reference.items())
    assert any(not torch.equal(best[n], p) for n, p in policy.model.named_parameters())
    assert len(engine.controller.validations.steps) == 2  # the policy did not change


def test_batch_that_infra_errors_shorten_without_dynamic_sampling_is_a_decision_said_once(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    config = make_config(
        **COLD,
        rollout={"prompts": 16},
        dynamic_sampling={"enabled": False},
        safety={"infra_rate": 1.0},
        validation={"every": 0},
    )
    engine = make_engine(config, tmp_path / "run", AwayFor("1", "4"))
    told = Messages()
    engine.parts = replace(engine.parts, progress=told)
    rows = [engine.step(1), engine.step(2)]
    short = [d for d in engine.parts.folder.decisions() if d["kind"] == "short_batch"]
    assert [d["step"] for d in short] == [1, 2]
    for row, decision in zip(rows, short, strict=True):
        assert 0 < row["groups_infra"] < 16
        assert decision["evidence"]["groups_infra"] == row["groups_infra"]
        assert decision["evidence"]["groups_kept"] == 16 - row["groups_infra"]
    assert len([line for line in told.lines if "short batch" in line]) == 1


def test_whole_batch_without_dynamic_sampling_is_no_decision(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    config = make_config(**COLD, dynamic_sampling={"enabled": False})
    engine = make_engine(config, tmp_path / "run", ByText())
    engine.step(1)
    assert "short_batch" not in kinds(engine)


def test_surplus_that_is_dropped_is_counted_as_discarded_and_not_as_carried(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    drop = {"surplus": "drop", "oversample": 3.0, "late": "wait"}
    engine = make_engine(make_config(**COLD, dynamic_sampling=drop), tmp_path / "run", ByText())
    row = engine.step(1)
    usable = round(row["groups"] * (1 - row["filter_rate"]))
    assert row["groups_discarded"] == usable - row["groups_kept"] > 0
    assert row["groups_carried_out"] == 0 and not engine.carried
    trained = row["tokens"] - row["tokens_dropped"] - row["tokens_discarded"]
    assert row["tokens_discarded"] > 0 and trained > 0
    for key in ("groups_discarded", "tokens_discarded"):
        assert row["domains"]["math"][key] == row[key]


def test_groups_that_a_new_phase_cannot_use_are_counted_as_discarded(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    second = {"name": "b", "steps": 9, "set": {"rollout": {"samples": 6}}}
    config = make_config(
        **COLD,
        phases=[{"name": "a", "steps": 1}, second],
        dynamic_sampling={"oversample": 3.0, "late": "wait"},
    )
    engine = make_engine(config, tmp_path / "run", ByText())
    first = engine.step(1)
    waiting = sum(g.tokens for g in engine.carried.groups)
    second_row = engine.step(2)
    assert first["groups_discarded"] == 0 and first["groups_carried_out"] > 0
    assert second_row["groups_discarded"] == first["groups_carried_out"]
    assert second_row["tokens_discarded"] == waiting > 0
    assert second_row["groups_carried_in"] == 0


def test_validation_without_verdicts_is_a_decision_and_measures_nothing(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    config = make_config(**COLD, validation={"every": 1, "problems": 8, "samples": 2})
    engine = make_engine(config, tmp_path / "run", ByText())
    scorer, away = engine.parts.scorer, AwayFor(*"01234567")
    engine.parts = replace(engine.parts, scorer=away)
    row = engine.step(1)
    (decision,) = [d for d in engine.parts.folder.decisions() if d["kind"] == "validation_outage"]
    assert decision["evidence"] == {"responses": 16, "without_verdict": 16, "infra_rate": 0.5}
    assert "validation_reward" not in row and "validation_reward" not in row["domains"]["math"]
    engine.parts = replace(engine.parts, scorer=scorer)
    row = engine.step(2)
    assert kinds(engine).count("validation_outage") == 1
    assert row["domains"]["math"]["validation_reward"] == row["validation_reward"]
    assert row["domains"]["math"]["validation_pass_rate"] == row["validation_pass_rate"]
    assert row["domains"]["math"]["groups"] == row["groups"]


def test_validation_is_measured_for_each_domain_that_got_a_verdict(make_config: MakeConfig) -> None:
    class ByPrompt:
        def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
            found = {"a": 1.0, "b": 0.5, "c": 0.0}
            return [
                Verdict(found[text[0]], "scored", "rule")
                if text[0] in found
                else Verdict(None, "infra_error", "down")
                for text, _ in items
            ]

    problems = [named_sample("a"), named_sample("b", "logic"), named_sample("c")]
    problems.append(named_sample("x", "code"))
    config = make_config(validation={"samples": 2})
    found = validate(problems, config, EchoGenerator(), ByPrompt())
    assert found.domains == {"logic": (0.5, 0.0), "math": (0.5, 0.5)}  # mean reward, pass rate


def test_prompts_passed_over_as_too_long_are_in_the_step_metrics(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    engine = make_engine(make_config(**COLD, rollout={"prompts": 32}), tmp_path / "run", ByText())
    p = engine.parts
    assert engine.step(1)["prompts_too_long"] == 0

    def encode(sample: Any) -> list[int]:
        long = sample.prompt[0]["content"] in ("6?", "7?")
        return [0] * 501 if long else encode_prompt(p.tokenizer, sample.prompt)

    engine.parts = replace(p, prompts=PromptSource(p.prompts.samples, encode, 512))
    engine.carried = Carried()
    row = engine.step(2)
    assert 0 < row["prompts_too_long"] == engine.parts.prompts.passed_over <= 16


def test_entropy_under_the_floor_is_recorded_with_the_lower_learning_rate(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    safety = {"entropy_floor": 50.0, "entropy_steps": 2}  # any entropy is lower
    engine = make_engine(make_config(**COLD, safety=safety), tmp_path / "run", ByText())
    rows = [engine.step(n) for n in (1, 2, 3)]
    found = [d for d in engine.parts.folder.decisions() if d["step"] == 2]
    low, backed_off = [d for d in found if d["kind"].startswith(("entropy", "learning"))]
    assert low["evidence"]["entropy"] == backed_off["evidence"]["entropy"] == rows[1]["entropy"]
    assert (low["evidence"]["reaction"], backed_off["evidence"]["back_off"]) == ("back_off", 0.5)
    assert rows[2]["lr"] == pytest.approx(rows[1]["lr"] * 0.5)
