"""A whole run of a tiny model on the real stack without a GPU: five domains, resets, penalty, kill and resume."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

import pytest
from cluster_runs import (
    alive,
    children_of,
    finish,
    output_of,
    recorded_mismatch,
    rows_of,
    start,
    wait_for,
)

from prorl_common.rollout_files import read_rollouts, rollout_files

pytestmark = pytest.mark.usefixtures("openrlhf_stack")
STEPS = 10
"""More steps than the killed run can do, at less than a second each."""


def test_a_run_that_is_killed_goes_on_with_everything_it_had(place: Path) -> None:
    run = place / "runs" / "one"
    process = start(place, "--config", "config.yaml", "--name", "one", "--steps", str(STEPS))
    wait_for(run / "checkpoints" / "step_000005", process, place)
    family = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 60
    while left := alive(family):
        assert time.monotonic() < until, f"outlive the command that started them: {left}"
        time.sleep(0.2)
    again = start(place, "--resume", "one")
    assert finish(again, place) == 0, output_of(place)
    assert re.search(r"resuming one after step [5-9]\b", output_of(place))
    check_steps(run)
    check_resets(run)
    check_rollouts(run)


def check_steps(run: Path) -> None:
    """Assert that every step ran once, with all domains, no infra error, and the penalty in its window."""
    rows = rows_of(run / "metrics.jsonl")
    assert [row["step"] for row in rows] == list(range(1, STEPS + 1))
    assert {name for row in rows for name in row["domains"]} == {
        "math",
        "stem",
        "code",
        "logic",
        "instruction",
    }
    assert all(row["infra_errors"] == 0 for row in rows)
    assert any(0 < row["domains"].get("instruction", {}).get("pass_rate", 0) < 1 for row in rows)
    assert all(row["groups_kept"] > 0 and row["grad_norm"] > 0 for row in rows)
    assert all(
        0 <= row["mismatch_kl"] < 0.02 and row["mismatch_ess"] > 0.9 for row in rows
    )  # vLLM's kernels differ from the trainer's
    assert [row["length_penalty_active"] for row in rows] == [
        s % 4 in (2, 3) for s in range(1, STEPS + 1)
    ]


def check_rollouts(run: Path) -> None:
    """Assert that the mismatch can be recomputed from each step's rollout file."""
    files = rollout_files(run)
    assert list(files) == list(range(1, STEPS + 1))
    for row in rows_of(run / "metrics.jsonl"):
        rows = read_rollouts(files[row["step"]], carried=True).to_pylist()
        trained = [r for r in rows if r["kept"]]
        assert all(r["advantage"] is not None and r["trainer_logprobs"] for r in trained)
        assert all(r["advantage"] is None for r in rows if not r["kept"])
        assert all(len(r["token_ids"]) == len(r["sampler_logprobs"]) == r["tokens"] for r in rows)
        assert {r["policy_last"] for r in rows if not r["carried"]} == {row["step"] - 1}
        assert recorded_mismatch(files[row["step"]]) == pytest.approx(
            (row["mismatch_kl"], row["mismatch_ess"]), rel=1e-3, abs=1e-16
        )


def check_resets(run: Path) -> None:
    """Assert that the reference is the policy after each reset and then stays unchanged until the next."""
    decisions = [(d["step"], d["kind"]) for d in rows_of(run / "decisions.jsonl")]
    assert [step for step, kind in decisions if kind == "reference_reset"] == [2, 4, 6, 8, 10]
    states = {
        step: json.loads((run / "checkpoints" / f"step_{step:06d}" / "state.json").read_text())
        for step in (2, 4, 5, 6)
    }
    assert [states[s]["reference"] for s in (2, 4, 5, 6)] == ["policy", "policy", "own", "policy"]
    for step in (2, 4, 6):
        assert states[step]["checksums"]["policy"] == states[step]["checksums"]["reference"]
    assert states[5]["checksums"]["reference"] == states[4]["checksums"]["policy"]
    assert states[6]["updates"] == 12
    assert states[6]["controller"]["last_reset"] == 6
    assert states[5]["controller"]["last_reset"] == 4


def test_groups_that_are_late_are_gone_on_with_in_the_next_step(place: Path) -> None:
    settings = ["rollout.prompts=3", "dynamic_sampling.max_batches=8", "loss.mini_batches=1"]
    options = [word for setting in settings for word in ("--set", setting)]
    process = start(place, "--config", "config.yaml", "--name", "late", "--steps", "3", *options)
    assert finish(process, place) == 0, output_of(place)
    rows = rows_of(place / "runs" / "late" / "metrics.jsonl")
    assert all(row["groups_kept"] == 3 and row["infra_errors"] == 0 for row in rows)
    late = [row["groups_late_out"] for row in rows]
    assert late[0] > 0
    assert [row["groups_late_in"] for row in rows] == [0, *late[:-1]]
