"""Kill each kind of process of a cluster run; slow tests (``MARK=slow make integration-openrlhf``)."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import (
    alive,
    children_of,
    finish,
    give_up,
    output_of,
    pids_of,
    rows_of,
    start,
    wait_for,
)

pytestmark = pytest.mark.usefixtures("openrlhf_stack")


KINDS = {
    "vLLM engine": "VLLM::EngineCore",
    "rollout actor": "ray::Rollout",
    "policy": "ray::Policy",
    "reference": "ray::Reference",
    "trainer": "Trainer",
    "Ray": "raylet/raylet",
    "starter": "prorl_training.engine.openrlhf.launch.process",
}
"""Processes that a run does not survive, with parts of their command lines. Ray names an actor's process by its class or
by its requested name in turn; these words occur in both.
"""


def launch_short_run(place: Path, name: str, *more: str) -> subprocess.Popen[bytes]:
    """Start a run of three steps, with a reset after the second and a checkpoint after each."""
    options = ["--config", "config.yaml", "--name", name, "--steps", "3", *more]
    return start(place, *options, "--set", "validation.every=0")


def kill_one(process: subprocess.Popen[bytes], mark: str, place: Path) -> None:
    """Kill the first of the run's processes whose command line contains ``mark``."""
    victims = pids_of(process.pid, mark)
    if not victims:
        give_up(process, place, f"no process is called {mark}")
    os.kill(victims[0], signal.SIGKILL)


def all_gone_soon(pids: list[int]) -> bool:
    """Return whether all end within half a minute, as Ray checks its workers only now and then."""
    until = time.monotonic() + 30
    while alive(pids) and time.monotonic() < until:
        time.sleep(0.5)
    return not alive(pids)


def nearly(value: Any) -> Any:
    """Return ``value`` with floats rounded, as other thread counts change sums."""
    if isinstance(value, dict):
        return {key: nearly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [nearly(item) for item in value]
    return pytest.approx(value, rel=1e-4) if isinstance(value, float) else value


def where_it_ended(run: Path) -> dict[str, Any]:
    """Return what must not depend on a kill: last checkpoint, rounded weights, and outcomes of steps."""
    state = json.loads((run / "checkpoints" / "step_000003" / "state.json").read_text())
    rows = rows_of(run / "metrics.jsonl")
    measured = ("step", "tokens", "groups_kept", "reward_mean", "length_penalty_active")
    resets = [d["step"] for d in rows_of(run / "decisions.jsonl") if d["kind"] == "reference_reset"]
    return {
        "state": {
            key: nearly(state[key])
            for key in ("updates", "reference", "controller", "tokens_total")
        },
        "weights": nearly(state["checksums"]),
        "rows": [{key: row[key] for key in measured} for row in rows],
        "resets": resets,
    }


@pytest.fixture(scope="module")
def undisturbed(place: Path) -> dict[str, Any]:
    """The end of the short run without a kill."""
    assert finish(launch_short_run(place, "whole"), place) == 0, output_of(place)
    return where_it_ended(place / "runs" / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_process_ends_the_run_as_a_failed_service_and_resume_ends_in_the_same_place(
    place: Path, undisturbed: dict[str, Any], kind: str
) -> None:
    name = kind.replace(" ", "-")
    process = launch_short_run(place, name)
    wait_for(place / "runs" / name / "checkpoints" / "step_000001", process, place)
    started = children_of(process.pid)
    kill_one(process, KINDS[kind], place)
    killed = time.monotonic()
    code = finish(process, place)
    print(f"{kind}: exit code {code} after {time.monotonic() - killed:.1f} s")
    print((place / "terminal.txt").read_text()[-1500:])
    assert code == 1, output_of(place)
    assert all_gone_soon(started), "processes of the run are left"
    assert finish(start(place, "--resume", name), place) == 0, output_of(place)
    assert where_it_ended(place / "runs" / name) == undisturbed


@pytest.mark.slow
def test_a_killed_reward_replica_costs_nothing_and_the_run_goes_on(
    place: Path, undisturbed: dict[str, Any]
) -> None:
    process = launch_short_run(place, "reward")
    wait_for(place / "runs" / "reward" / "checkpoints" / "step_000001", process, place)
    kill_one(process, "ray::RewardReplica", place)
    assert finish(process, place) == 0, output_of(place)
    assert where_it_ended(place / "runs" / "reward") == undisturbed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # from Ray, which starts the nodes here
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_dead_node_costs_a_restart_and_the_run_ends_in_the_same_place(
    place: Path, undisturbed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # these nodes do not belong to the run, which turns this off: Ray ends workers if memory is short
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")
    utils: Any = importlib.import_module("ray.cluster_utils")
    head = {"num_cpus": 8, "num_gpus": 0, "include_dashboard": False}
    cluster = utils.Cluster(initialize_head=True, head_node_args=head)
    try:
        node = cluster.add_node(num_cpus=8, num_gpus=3)
        options = ["--set", f"openrlhf.ray_address={cluster.address}", "--restarts", "1"]
        process = launch_short_run(place, "node", *options)
        wait_for(place / "runs" / "node" / "checkpoints" / "step_000001", process, place)
        cluster.remove_node(node, allow_graceful=False)
        cluster.add_node(num_cpus=8, num_gpus=3)  # a replacement node
        assert finish(process, place) == 0, output_of(place)
    finally:
        cluster.shutdown()
    assert "starting again after step" in output_of(place)
    assert where_it_ended(place / "runs" / "node") == undisturbed
