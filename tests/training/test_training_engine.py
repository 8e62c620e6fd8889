from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from doubles import Messages

from prorl_common import use_plugins
from prorl_training.engine.loop import TrainingLoop
from prorl_training.run.checkpoint import best_step, open_checkpoint
from prorl_training.run.folder import RunFolder
from prorl_verifiers import Verdict

LEARN: dict[str, Any] = {
    "steps": 130,
    "rollout": {"prompts": 16, "samples": 12},
    "dynamic_sampling": {"max_batches": 2},
    "length_penalty": {"weight": 0},
    "controller": {"reset_interval": 15},
    "optimizer": {"lr": 1.5e-3},
    "validation": {"every": 0},
    "checkpoint": {"every": 1000},
    "warm_start": {"examples": 64, "epochs": 12, "lr": 5e-3, "batch": 20},
}


FLIPPED = """
from prorl_training import AdvantageSpec
from prorl_training.algorithm.advantages import reinforce_baseline

SPEC = AdvantageSpec(name="flipped", advantages=lambda *given: -reinforce_baseline(*given))
"""


def learned(engine: Any) -> tuple[float, float]:
    """Return the mean reward of the first and of the last five steps."""
    engine.run()
    curve = [row["reward_mean"] for row in engine.parts.folder.metrics()]
    return sum(curve[:5]) / 5, sum(curve[-5:]) / 5


@pytest.mark.slow
def test_tiny_decoder_learns_the_task(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], math_pool: Any, tmp_path: Path
) -> None:
    engine = make_engine(make_config(**LEARN), tmp_path / "run", math_pool, hidden=64)
    assert sum(p.numel() for p in engine.parts.policy.model.parameters()) < 1_000_000
    first, last = learned(engine)
    assert first < 0.2  # chance is 1/8
    assert last > 0.8


@pytest.mark.slow
def test_with_the_advantage_sign_flipped_it_does_not_learn(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], math_pool: Any, tmp_path: Path
) -> None:
    plugin = tmp_path / "flipped.py"
    plugin.write_text(FLIPPED)
    use_plugins([plugin])
    config = make_config(**LEARN, advantage={"estimator": "flipped"})
    _, last = learned(make_engine(config, tmp_path / "run", math_pool, hidden=64))
    assert last < 0.2


def test_each_step_is_recorded_with_rates_windows_and_domains(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    engine = make_engine(make_config(), tmp_path / "run")
    assert engine.run() == 4
    rows = engine.parts.folder.metrics()
    assert [r["step"] for r in rows] == [1, 2, 3, 4]
    assert [r["length_penalty_active"] for r in rows] == [False, True, False, False]
    assert all(set(r["domains"]) == {"math"} for r in rows)
    assert [r["step"] for r in rows if "validation_reward" in r] == [2, 4]
    kinds = [(d["step"], d["kind"]) for d in engine.parts.folder.decisions()]
    assert (0, "warm_start") in kinds
    assert (2, "penalty_window_opened") in kinds
    assert (3, "penalty_window_closed") in kinds
    assert (3, "reference_reset") in kinds


def test_kl_is_zero_on_the_step_after_a_reset(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(loss={"mini_batches": 1}, dynamic_sampling={"enabled": False})
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, 0.0))
    engine.run()
    kl = {r["step"]: r["kl"] for r in engine.parts.folder.metrics()}
    assert kl[3] > 1e-6
    assert kl[4] == pytest.approx(0.0, abs=1e-9)  # the reset follows step 3


class ScriptedScorer:
    """Give the listed rewards in order of responses; None is an infra error."""

    def __init__(self, *rewards: float | None) -> None:
        self.rewards = rewards

    def score(self, items: Any) -> list[Verdict]:
        return [self._verdict(self.rewards[i % len(self.rewards)]) for i in range(len(items))]

    def _verdict(self, reward: float | None) -> Verdict:
        if reward is None:
            return Verdict(None, "infra_error", "box broke")
        return Verdict(reward, "scored", "scripted")


def test_groups_without_spread_are_dropped_and_the_step_is_skipped_with_the_reason(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(dynamic_sampling={"max_batches": 3}, warm_start={"examples": 0})
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0))
    before = [p.clone() for p in engine.parts.policy.model.parameters()]
    row = engine.step(1)
    assert (row["groups_kept"], row["prompts_drawn"], row["filter_rate"]) == (0, 12, 1.0)
    (decision,) = engine.parts.folder.decisions()
    assert decision["kind"] == "step_skipped"
    assert (row["groups"], row["oversampling"]) == (12, 3.0)  # three batches of four
    assert decision["evidence"]["prompts_drawn"] == 12
    assert "entropy" not in row and row["rollout_entropy"] > 0.0
    after = engine.parts.policy.model.parameters()
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))


def test_length_penalty_gives_no_spread_to_a_group_that_is_all_wrong(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(
        length_penalty={"start_step": 1},
        dynamic_sampling={"max_batches": 1},
        warm_start={"examples": 0},
    )
    row = make_engine(config, tmp_path / "run", ScriptedScorer(0.0)).step(1)
    assert row["length_penalty_active"]
    assert row["groups_kept"] == 0


def test_infra_errors_are_masked_out_of_their_group_and_counted(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(dynamic_sampling={"max_batches": 1}, warm_start={"examples": 0})
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, None, 0.0, 1.0))
    row = engine.step(1)
    assert row["infra_errors"] == 4  # 4 groups of 4, with a quarter of the verdicts missing
    assert row["reward_mean"] == pytest.approx(2 / 3)  # missing verdicts do not count as zeros
    prompts = engine.parts.prompts.draw(2, config)
    group = engine.collector.collect(prompts, 2, config).kept[0]
    assert [t.sample_index for t in group.scored] == [0, 2, 3]


def test_a_reward_service_that_stays_away_stops_the_run_before_the_step_with_a_checkpoint(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    class GoesAway(ScriptedScorer):
        calls = 0

        def score(self, items: Any) -> list[Verdict]:
            self.calls += 1
            self.rewards = (1.0, 0.0) if self.calls == 1 else (None,)
            return super().score(items)

    config = make_config(
        warm_start={"examples": 0}, validation={"every": 0}, reward={"overlap": False}
    )
    engine = make_engine(config, tmp_path / "run", GoesAway())
    assert engine.run() == 1
    assert "no verdict for 16 of 16 responses" in engine.stop_reason
    path, _, _ = open_checkpoint(engine.parts.folder.checkpoints)
    assert path.name == "step_000001"
    kinds = [d["kind"] for d in engine.parts.folder.decisions()]
    assert kinds.count("outage") == 6
    assert kinds[-1] == "run_stopped"
    assert [r["step"] for r in engine.parts.folder.metrics()] == [1]


@pytest.mark.parametrize(
    ("reward", "why"),
    [
        (0.0, "16 groups was usable (16 all wrong): no response earned reward"),
        (1.0, "16 groups was usable (16 all right): every response was right"),
        (0.5, "16 groups was usable (16 flat): all responses"),
    ],
)
def test_a_run_in_which_no_group_was_ever_usable_fails_and_shows_its_first_response(
    make_engine: Callable[..., Any],
    make_config: Callable[..., Any],
    tmp_path: Path,
    reward: float,
    why: str,
) -> None:
    sampling = {"max_batches": 2}
    config = make_config(steps=2, warm_start={"examples": 0}, dynamic_sampling=sampling)
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(reward))
    progress = Messages()
    engine.parts = replace(engine.parts, progress=progress)
    assert engine.run() == 2
    assert why in engine.stop_reason
    kinds = [d["kind"] for d in engine.parts.folder.decisions()]
    assert kinds.count("run_stopped") == 1 and kinds[-1] == "run_stopped"
    prompt, response, verdict = progress.lines[-3:]
    assert re.fullmatch(r"first prompt: \d\?", prompt)
    assert response.startswith("first response: ")
    assert verdict.startswith(f"its verdict by math: reward {reward:.3g}, scored")


def test_a_resumed_run_that_once_had_a_usable_group_ends_well_though_it_learns_nothing_more(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(steps=1, warm_start={"examples": 0}, dynamic_sampling={"max_batches": 1})
    scorer = ScriptedScorer(0.0, 1.0)
    engine = make_engine(config, tmp_path / "run", scorer)
    engine.run()
    scorer.rewards = (0.0,)
    resumed = TrainingLoop(config.model_copy(update={"steps": 3}), engine.parts, last_step=1)
    assert resumed.run() == 3
    assert resumed.stop_reason is None
    assert [row["groups_kept"] for row in engine.parts.folder.metrics()] == [4, 0, 0]


def test_a_token_budget_ends_the_run_after_the_step_that_spends_it(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(warm_start={"examples": 0}, token_budget=300, steps=50)
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, 0.0))
    last = engine.run()
    totals = [r["tokens_total"] for r in engine.parts.folder.metrics()]
    assert len(totals) == last < 50
    assert totals[-1] >= 300 > totals[-2]
    assert engine.stop_reason is None


def test_a_run_ends_with_a_checkpoint_after_the_step_that_is_called_the_last(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(warm_start={"examples": 0}, steps=50, checkpoint={"every": 40})
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, 0.0))
    engine.after_step = lambda row: row["step"] < 3
    assert engine.run() == 3
    path, _, _ = open_checkpoint(engine.parts.folder.checkpoints)
    assert path.name == "step_000003" and engine.stop_reason is None


def test_a_phase_changes_samples_and_mix_at_its_first_step(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    phases = [
        {"name": "short", "steps": 2},
        {"name": "wide", "steps": 2, "reset": True, "set": {"rollout": {"samples": 6}}},
    ]
    config = make_config(phases=phases, warm_start={"examples": 0})
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, 0.0))
    engine.run()
    tokens_of = {}
    for row in engine.parts.folder.metrics():
        tokens_of[row["step"]] = (row["phase"], row["groups"])
    assert [tokens_of[s][0] for s in (1, 2, 3, 4)] == [0, 0, 1, 1]
    decisions = engine.parts.folder.decisions()
    assert [(d["step"], d["kind"]) for d in decisions if d["kind"] == "phase_started"][-1][0] == 3
    widths = pq.read_table(tmp_path / "run" / "rollouts" / "step_000003.parquet")
    assert max(widths["sample_index"].to_pylist()) == 5


def test_bf16_compute_trains_float32_master_weights(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(model={"dtype": "bf16"}, steps=2)
    engine = make_engine(config, tmp_path / "run", ScriptedScorer(1.0, 0.0))
    engine.run()
    rows = engine.parts.folder.metrics()
    assert all(p.dtype == torch.float32 for p in engine.parts.policy.model.parameters())
    assert all(0 < row["grad_norm"] < 1e3 for row in rows)
    assert 0 < rows[0]["mismatch_kl"] < 0.01  # bf16 rounding only
    assert 0.98 < rows[0]["mismatch_ess"] < 1 + 1e-9


def test_a_best_checkpoint_that_a_kill_left_unmarked_is_marked_on_resuming(
    tmp_path: Path, make_engine: Callable[..., Any], make_config: Callable[..., Any]
) -> None:
    engine = make_engine(make_config(steps=2), tmp_path / "run")
    engine.run()
    store = RunFolder(tmp_path / "run").checkpoints
    assert engine.controller.best_step == best_step(store) == 2
    (store / "best").unlink()
    path, state, _ = open_checkpoint(store)
    engine.restore(state, path)
    assert best_step(store) == 2
