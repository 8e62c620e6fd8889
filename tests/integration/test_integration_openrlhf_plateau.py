"""Posterior sampling, levels that open, and stall actions on the real stack without a GPU, with one resume."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import finish, output_of, rows_of, start

from prorl_common.rollout_files import read_rollouts, rollout_files

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

SETTINGS = (
    "steps=12",
    "data.sampling=posterior",
    "data.levels=ladder",
    "data.open_at=0.2",
    "rollout.prompts=4",
    "rollout.samples=2",
    "rollout.max_tokens=48",
    "loss.mini_batches=1",
    "dynamic_sampling.late=wait",
    "controller.reset_interval=0",
    "controller.kl_zscore=0",
    "controller.stall_validations=1",
    "controller.stall_gain=1000",
    "controller.degrade_alpha=1.0e-30",
    "controller.on_stall=[raise_samples, end]",
    "length_penalty.weight=0",
    "validation.every=1",
    "openrlhf.cpu_ranks=1",
)
"""Any four validations count as a stall: after step 4 it raises n from step 5 on, after step 8 it ends the run."""


@pytest.fixture(scope="module")
def stalled(place: Path) -> Path:
    """The folder of a run that stalls twice."""
    options = [word for setting in SETTINGS for word in ("--set", setting)]
    process = start(place, "--config", "config.yaml", "--name", "stalls", *options)
    assert finish(process, place) == 0, output_of(place)
    return place / "runs" / "stalls"


def test_a_run_that_stalls_samples_more_and_then_ends(stalled: Path) -> None:
    check_decisions(stalled)
    check_draws(stalled)


@pytest.mark.slow
def test_a_stalled_run_gone_on_with_decides_and_draws_the_same(place: Path, stalled: Path) -> None:
    again = place / "runs" / "again"
    shutil.copytree(stalled, again, symlinks=True)
    for step in range(5, 9):
        shutil.rmtree(again / "checkpoints" / f"step_{step:06d}")
    assert finish(start(place, "--resume", "again"), place) == 0, output_of(place)
    assert "resuming again after step 4" in output_of(place)
    assert where_it_ended(again) == where_it_ended(stalled)


def check_decisions(run: Path) -> None:
    """Assert that the first stall raised n at the next step and the second ended the run, with their evidence."""
    decisions = {d["kind"]: d for d in rows_of(run / "decisions.jsonl")}
    raised, ended = decisions["samples_raised"], decisions["run_ended"]
    assert (raised["step"], ended["step"]) == (5, 8)
    assert [raised["evidence"][key] for key in ("samples_before", "samples")] == [2, 4]
    for evidence in (raised["evidence"], ended["evidence"]):
        assert evidence["rule"] == "stalled_validation" and evidence["p"] < evidence["alpha"]
    assert [row["step"] for row in rows_of(run / "metrics.jsonl")] == list(range(1, 9))


def check_draws(run: Path) -> None:
    """Assert that a group has the n of its step, and no item is drawn from a level that was closed at the step's start."""
    rows = {row["step"]: row for row in rows_of(run / "metrics.jsonl")}
    opened = {1: 1} | {step + 1: row["levels_open"] for step, row in rows.items()}
    for step, file in rollout_files(run).items():
        names = read_rollouts(file, ["sample_id"]).column("sample_id").to_pylist()
        assert {names.count(name) for name in names} == {2 if step < 5 else 4}
        levels = [1 + int(name.split("-")[1]) // 4 for name in set(names)]
        assert max([level for level in levels if level <= 3], default=1) <= opened[step]
    assert opened[9] > 1
    changed = [d for d in rows_of(run / "decisions.jsonl") if d["kind"] == "levels_changed"]
    assert changed[0]["evidence"]["changes"][0]["ladder"] == "instruction/test"


def where_it_ended(run: Path) -> dict[str, Any]:
    """Return what must not depend on a stop: decisions, draws, records, state, and rounded weights."""
    checkpoint = run / "checkpoints" / "step_000008"
    state = json.loads((checkpoint / "state.json").read_text())
    measured = ("step", "tokens", "groups", "reward_mean", "validation_reward", "levels_open")
    return {
        "rows": [{k: row[k] for k in measured} for row in rows_of(run / "metrics.jsonl")],
        "draws": [
            read_rollouts(file, ["sample_id", "reward"]).to_pylist()
            for file in rollout_files(run).values()
        ],
        "decisions": [
            (d["step"], d["kind"], d["evidence"])
            for d in rows_of(run / "decisions.jsonl")
            if d["kind"] in ("samples_raised", "run_ended", "levels_changed")
        ],
        "records": json.loads((checkpoint / "items.json").read_text()),
        "plateau": state["controller"]["plateau"],
        "validations": state["controller"]["validations"],
        "weights": {
            of: {key: pytest.approx(value, rel=1e-4) for key, value in sums.items()}
            for of, sums in state["checksums"].items()
        },
    }
