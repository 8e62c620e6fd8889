"""Mistakes reported before a run begins, broken components, and phases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from doubles import ByText

from prorl_common import UserError
from prorl_inference import TransformersGenerator, load_model
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.policy.files import restore_checkpoint
from prorl_training.policy.update import Policy
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.scoring import Scoring
from prorl_training.rollout.staleness import still_fitting
from prorl_training.run.checkpoint import open_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_training.run.metrics import validation_metrics
from prorl_training.schedule.validation import validate
from prorl_training.testing import EchoGenerator, named_sample, untimed_metrics
from prorl_training.types import Carried, Group, LateGroup
from prorl_verifiers import Task, Verdict

MakeConfig = Callable[..., TrainConfig]
MakeEngine = Callable[..., TrainingLoop]


def source(lengths: Sequence[int], context: int | None = 64) -> PromptSource:
    samples = [named_sample(f"{i}") for i in range(len(lengths))]
    return PromptSource(samples, lambda s: [0] * lengths[int(s.id)], context)


def phases(*sets: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": f"p{i}", "steps": 2, "set": s} for i, s in enumerate(sets)]


def test_prompts_that_no_phase_could_draw_are_refused_before_the_run(
    make_config: MakeConfig,
) -> None:
    source([60, 10]).check(make_config())
    with pytest.raises(UserError, match=r"leaves room for rollout\.max_tokens=12"):
        source([60, 53]).check(make_config())
    later = make_config(phases=phases({}, {"rollout": {"max_tokens": 60}}))
    with pytest.raises(UserError, match=r"leaves room for rollout\.max_tokens=60"):
        source([10, 10]).check(later)
    with pytest.raises(UserError, match="prompt 1 has 60 tokens"):
        source([10, 60]).check(make_config(rollout={"overlong_prompts": "error"}))
    with pytest.raises(UserError, match=r"longer than rollout\.max_prompt_tokens=5: raise it"):
        source([10, 10]).check(make_config(rollout={"max_prompt_tokens": 5}))


def test_a_domain_that_a_later_phase_names_and_the_data_lacks_is_refused_before_the_run(
    make_config: MakeConfig,
) -> None:
    weights = {"math": 1, "mth": 2}
    later = make_config(phases=phases({}, {"data": {"domain_weights": weights}}))
    with pytest.raises(UserError, match=r"names 'mth'.*mean 'math'.*Set its weight to 0"):
        source([10]).check(later)
    source([10]).check(make_config(data={"domain_weights": {"math": 1, "code": 0}}))


def test_groups_that_wait_are_dropped_by_a_phase_that_samples_otherwise_or_leaves_them_out(
    make_config: MakeConfig,
) -> None:
    waiting = Carried(
        [Group(named_sample("a"), (), 1), Group(named_sample("b", "code"), (), 1)],
        [LateGroup(named_sample("c"), (), 1, ()), LateGroup(named_sample("d", "code"), (), 1, ())],
    )
    before, nothing = make_config(), Carried([], [])
    same = make_config(optimizer={"lr": 1e-4})
    assert still_fitting(waiting, before, same) == (waiting, nothing)
    assert still_fitting(waiting, before, make_config(rollout={"samples": 8})) == (nothing, waiting)
    assert still_fitting(waiting, before, make_config(rollout={"max_tokens": 8}))[0] == nothing
    mix = make_config(data={"domain_weights": {"math": 1, "code": 0}})
    assert still_fitting(waiting, before, mix) == (
        Carried(waiting.groups[:1], waiting.late[:1]),
        Carried(waiting.groups[1:], waiting.late[1:]),
    )


class Scripted:
    """Give the verdicts ``rule(call number, item number)``; None is an infra error."""

    def __init__(self, rule: Callable[[int, int], float | None]) -> None:
        self.rule = rule
        self.calls = 0

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.calls += 1
        found = [self.rule(self.calls, i) for i in range(len(items))]
        return [
            Verdict(None, "infra_error", "down") if r is None else Verdict(r, "scored", "rule")
            for r in found
        ]


def test_a_validation_that_mostly_got_no_verdict_measures_nothing(make_config: MakeConfig) -> None:
    problems = [named_sample(f"{i}") for i in range(4)]
    beats: list[int] = []
    found = validate(
        problems,
        make_config(validation={"samples": 1}),
        EchoGenerator(),
        Scripted(lambda call, i: 1.0 if i < 2 else None),
        lambda: beats.append(1),
    )
    assert found.result is None and beats
    row = validation_metrics(found)
    assert row["validation_infra_errors"] == 2 and "validation_reward" not in row
    result = validate(
        problems,
        make_config(validation={"samples": 1}),
        EchoGenerator(),
        Scripted(lambda call, i: 1.0 if i < 3 else None),
    ).result
    assert result is not None and (result.mean, result.problems) == (1.0, 3)


class Slow:
    """Score nothing before a signal; count the requested items."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.asked = 0

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.begun.set()
        self.go.wait(30)
        self.asked += len(items)
        return [Verdict(1.0, "scored", "rule")] * len(items)


def test_when_sampling_breaks_the_scoring_thread_ends_without_scoring_what_waits() -> None:
    scorer = Slow()
    answer = [("1", named_sample("a").task)]
    with pytest.raises(RuntimeError, match="the sampler broke"):  # noqa: SIM117
        with Scoring(scorer, overlap=True) as scoring:
            scoring.add(0, answer)
            assert scorer.begun.wait(30)
            scoring.add(1, answer)
            threading.Timer(0.2, scorer.go.set).start()
            raise RuntimeError("the sampler broke")
    assert scorer.asked == 1
    assert "prorl-scoring" not in [t.name for t in threading.enumerate()]


def test_a_run_whose_sampler_breaks_in_a_step_raises_and_leaves_no_thread(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig
) -> None:
    engine = make_engine(make_config(), tmp_path / "run")
    engine.collector.generator = EchoGenerator(breaks=True)
    with pytest.raises(RuntimeError, match="the sampler broke"):
        engine.run()
    assert "prorl-scoring" not in [t.name for t in threading.enumerate()]


def weights_of(engine: TrainingLoop) -> list[torch.Tensor]:
    return [p.detach().clone() for p in engine.parts.policy.model.parameters()]


def gone_on(config: TrainConfig, run: Path, like: TrainingLoop) -> TrainingLoop:
    """Return the engine that ``--resume`` builds from a folder, with ``like``'s other parts."""
    folder = RunFolder(run)
    path, state, _ = open_checkpoint(folder.checkpoints)
    model, tokenizer = load_model(path / "policy", "cpu", torch.float32)
    policy = Policy(model, config, torch.float32)
    restore_checkpoint(path, policy, state)
    folder.truncate_after(state["step"])
    generator = TransformersGenerator(policy.model, tokenizer, batch_size=256)
    parts = replace(like.parts, policy=policy, folder=folder, generator=generator, scorer=ByText())
    engine = TrainingLoop(config, parts, state["step"])
    engine.restore(state, path)
    return engine


@pytest.mark.parametrize("reset_to", ["current", "best_reference", "best"])
def test_a_step_given_up_where_a_phase_begins_with_a_reset_is_done_whole_on_resuming(
    tmp_path: Path, make_engine: MakeEngine, make_config: MakeConfig, reset_to: str
) -> None:
    second = {"name": "b", "steps": 9, "reset": True, "set": {"rollout": {"samples": 6}}}
    config = make_config(
        steps=5,
        phases=[{"name": "a", "steps": 3}, second],
        dynamic_sampling={"oversample": 1.5},
        controller={"reset_to": reset_to, "optimizer": "clear", "reset_interval": 0},
        validation={"every": 1, "problems": 8},
        safety={"outage_retries": 0},
        checkpoint={"every": 9, "keep": 1},
    )
    whole = make_engine(config, tmp_path / "whole", ByText())
    whole.run()
    for saved in (True, False):
        run = tmp_path / f"broken-{saved}"
        scorer = ByText()
        broken = make_engine(config, run, scorer)
        for step in (1, 2, 3):
            broken.step(step)
            broken.last_step = step
        if saved:
            broken.checkpoint(3)
        scorer.away = True
        assert broken.run() == 3
        assert "no verdict" in str(broken.stop_reason)
        again = gone_on(config, run, whole)
        assert again.run() == 5
        assert untimed_metrics(again.parts.folder) == untimed_metrics(whole.parts.folder)
        assert all(
            torch.equal(a, b) for a, b in zip(weights_of(whole), weights_of(again), strict=True)
        )
        decided = [(d["step"], d["kind"]) for d in again.parts.folder.decisions()]
        assert decided.count((4, "phase_started")) == decided.count((4, "reference_reset")) == 1
        assert (3, "run_stopped") in decided
