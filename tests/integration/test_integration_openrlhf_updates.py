"""An update on the real stack does not depend on ranks or passes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import finish, output_of, rows_of, start

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

MEASURED = ("loss", "policy_loss", "kl", "entropy", "grad_norm")


def run_once(place: Path, name: str, *settings: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train two steps; return the last one's metrics and the weights after it by name."""
    from safetensors.torch import load_file

    given = ("validation.every=0", "controller.reset_interval=0", *settings)
    words = [word for setting in given for word in ("--set", setting)]
    options = ["--config", "config.yaml", "--name", name, "--steps", "2", *words]
    assert finish(start(place, *options), place) == 0, output_of(place)
    run = place / "runs" / name
    policy = run / "checkpoints" / "step_000002" / "policy"
    return rows_of(run / "metrics.jsonl")[-1], load_file(policy / "model.safetensors")


@pytest.fixture(scope="module")
def whole(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of two steps on one rank with one vLLM engine, in ZeRO-2 and with one pass per mini-batch."""
    return run_once(place, "whole", "openrlhf.cpu_ranks=1")


def test_two_ranks_and_two_engines_in_many_passes_end_with_the_weights_of_one_rank_in_one_pass(
    place: Path, whole: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    settings = ("openrlhf.zero_stage=3", "openrlhf.train_tokens_per_gpu=256")
    row, weights = run_once(place, "zero-3", *settings)
    for name in MEASURED:
        assert row[name] == pytest.approx(whole[0][name], rel=1e-3, abs=1e-5), name
    assert weights.keys() == whole[1].keys()
    gaps = {name: float((weights[name] - whole[1][name]).abs().max()) for name in weights}
    assert max(gaps.values()) < 1e-5, gaps


def test_the_optimiser_is_cleared_and_the_best_policy_comes_back_on_a_reset(place: Path) -> None:
    settings = ("controller.reset_interval=1", "controller.reset_to=best", "validation.every=1")
    kept = ("controller.optimizer=clear", "checkpoint.best=true", "openrlhf.cpu_ranks=1")
    row, _ = run_once(place, "best", *settings, *kept)
    assert row["updates_skipped"] == 0
    decisions = rows_of(place / "runs" / "best" / "decisions.jsonl")
    resets = [d["evidence"] for d in decisions if d["kind"] == "reference_reset"]
    assert [reset["optimizer"] for reset in resets] == ["clear", "clear"]
    assert [reset["reset_to"] for reset in resets] == ["current", "best"], "at first there is none"


def test_the_reference_alone_takes_the_best_policy_with_sharded_weights(place: Path) -> None:
    settings = ("controller.reset_interval=1", "controller.reset_to=best_reference")
    more = ("validation.every=1", "openrlhf.zero_stage=3", "checkpoint.every=1")
    run_once(place, "reference", *settings, *more, "checkpoint.best=true")
    run = place / "runs" / "reference"
    resets = [
        d["evidence"] for d in rows_of(run / "decisions.jsonl") if d["kind"] == "reference_reset"
    ]
    assert [reset["reset_to"] for reset in resets] == ["current", "best_reference"]
    best, last = (
        json.loads((run / "checkpoints" / f"step_{step:06d}" / "state.json").read_text())
        for step in (resets[1]["best_step"], 2)
    )
    assert last["reference"] == "own"
    assert last["checksums"]["reference"] == pytest.approx(best["checksums"]["policy"], rel=1e-9)
    assert last["checksums"]["policy"]["sum"] != best["checksums"]["policy"]["sum"]
