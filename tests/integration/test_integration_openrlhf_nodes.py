"""A Ray cluster of two nodes on one machine: if one dies, no answer is lost and no process is left."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cluster_runs import alive

from prorl_training.config.runtime import RewardConfig
from prorl_training.engine.openrlhf.launch.cleanup import sweep_cluster
from prorl_training.engine.openrlhf.rewards import Place, start_replicas
from prorl_training.engine.openrlhf.spec import VARIABLE
from prorl_verifiers import Task
from prorl_verifiers.replicas import ReplicaPool

pytestmark = [
    pytest.mark.usefixtures("openrlhf_stack"),
    # raised in the process that starts Ray's nodes
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

MATH = (r"\boxed{4}", Task("math", {"answer": "4"}))
CODE = ("```python\nprint(2)\n```", Task("code", {"tests": [{"stdin": "", "stdout": "2"}]}))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two nodes; ``second`` is the one without the head."""
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")
    ray: Any = importlib.import_module("ray")
    utils: Any = importlib.import_module("ray.cluster_utils")
    head = {"num_cpus": 2, "num_gpus": 0, "include_dashboard": False}
    found = utils.Cluster(initialize_head=True, head_node_args=head)
    found.second = found.add_node(num_cpus=2, num_gpus=0)
    ray.init(address=found.address, log_to_driver=False)
    found.ray = ray
    try:
        yield found
    finally:
        ray.shutdown()
        found.shutdown()


def test_a_node_dies_under_the_reward_replicas_and_a_launch_leaves_nothing_on_any_node(
    cluster: Any, tmp_path: Path
) -> None:
    ray, said = cluster.ray, list[str]()
    nodes = [node["NodeID"] for node in ray.nodes()]
    replicas = start_replicas(ray, RewardConfig(), [Place(node, 1) for node in nodes])
    replicas.prepare([MATH[1], CODE[1]])
    pool = ReplicaPool(replicas, said.append)
    assert sum(v.reward or 0 for v in pool.score([MATH, CODE] * 8)) == 16
    orphans = orphans_of(ray, nodes, tmp_path / "spec.json")
    others = orphans_of(ray, nodes[:1], tmp_path / "another.json")
    try:
        killer = threading.Timer(
            0.2, lambda: cluster.remove_node(cluster.second, allow_graceful=False)
        )
        killer.start()
        verdicts = pool.score([MATH, MATH, CODE] * 200)
        killer.join()
        assert [verdict.reward for verdict in verdicts] == [1.0] * 600
        assert sum(v.reward or 0 for v in pool.score([MATH] * 8)) == 8
        assert len(alive(orphans)) == 2  # Ray leaves them
        swept = sweep_cluster(tmp_path / "spec.json", cluster.address)
        assert sum(swept.values()) == 2
        assert not alive(orphans) and len(alive(others)) == 1
    finally:
        pool.close()
        for pid in [*alive(orphans), *alive(others)]:
            os.kill(pid, signal.SIGKILL)
    print(said)


def orphans_of(ray: Any, nodes: list[str], spec: Path) -> list[int]:
    """Start a process on each node by an actor, kill the actors, and return the processes' pids."""

    class Engine:  # local, so it is sent by value: workers cannot import the tests
        """An actor that starts a process which outlives it, as vLLM's engine does."""

        def start(self) -> tuple[int, int]:
            environment = os.environ | {VARIABLE: str(spec)}
            sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
            return os.getpid(), subprocess.Popen(sleep, env=environment, start_new_session=True).pid

    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    pids = []
    for node in nodes:
        where = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ray.remote(Engine).options(num_cpus=0, scheduling_strategy=where).remote()
        worker, engine = ray.get(actor.start.remote())
        os.kill(worker, signal.SIGKILL)  # a regular exit would end its children
        pids.append(engine)
    return pids
