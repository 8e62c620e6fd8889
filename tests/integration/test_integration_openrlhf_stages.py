"""A run of two stages: the local engine, then the real stack without a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cluster_runs import finish, output_of, rows_of, start

pytestmark = pytest.mark.usefixtures("openrlhf_stack")

STAGES = "stages=[{preset: prorl-v2, name: here, steps: 2, engine: local}, {preset: prorl-v2, name: there}]"


def test_a_stage_on_the_cluster_goes_on_with_the_weights_of_a_local_one(place: Path) -> None:
    run = place / "runs" / "two"
    settings = ("--set", STAGES, "--set", "steps=4", "--set", "phases.there.steps=2")
    process = start(place, "--config", "config.yaml", "--name", "two", *settings)
    assert finish(process, place) == 0, output_of(place)
    assert "stage there: from step_000002, engine openrlhf" in output_of(place)
    assert [row["step"] for row in rows_of(run / "metrics.jsonl")] == [1, 2, 3, 4]
    local, cluster = (
        json.loads((run / "checkpoints" / f"step_{step:06d}" / "state.json").read_text())
        for step in (2, 4)
    )
    assert "threads" in local["environment"] and "ranks" in cluster["environment"]
    assert [leg["engine"] for leg in cluster["lineage"]] == ["local", "openrlhf"]
    resets = [d for d in rows_of(run / "decisions.jsonl") if d["kind"] == "reference_reset"]
    assert resets[0]["step"] == 3 and resets[0]["evidence"]["rule"] == "stage"
