"""Ends what a launch has left on the nodes of a Ray cluster that lives on.

    python -m prorl_training.engine.openrlhf.launch.sweep RUN/openrlhf/spec.json ADDRESS

A process of its own, so that the command stays without Ray, and a Ray job of its own: the launch's is over, and Ray
has ended its actors; what those had started is found on every node by the variable that names the launch
(``orphan_processes``). Leaves out: nodes that have left the cluster; they are swept when they are back, before the
run's next launch.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from prorl_training.engine.openrlhf.launch.orphan_processes import PATIENCE, end_orphan_processes
from prorl_training.engine.openrlhf.spec import VARIABLE

NO_SESSION = -1
SECONDS = 90.0
"""For all nodes together."""


def sweep_cluster(spec: Path, address: str) -> dict[str, int]:
    """End the orphans of the launches of ``spec`` on every node of the cluster at ``address``.

    Returns the node's address -> how many were killed there, nodes without any left out. A cluster that cannot be
    asked has no entry: the next launch says so in its own words.
    """
    command = [sys.executable, "-m", "prorl_training.engine.openrlhf.launch.sweep"]
    environment = {k: v for k, v in os.environ.items() if k not in (VARIABLE, "RAY_ADDRESS")}
    try:
        done = subprocess.run(
            [*command, str(spec), address],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
            timeout=SECONDS + 30,
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


def sweep(ray: Any, spec: Path, patience: float = PATIENCE) -> dict[str, int]:
    """Do what ``sweep_cluster`` says on the nodes that ``ray``, which is connected, knows to be alive."""
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    task = ray.remote(end_orphan_processes)
    asked = {
        task.options(
            num_cpus=0,
            max_retries=0,
            scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(
                node["NodeID"], soft=False
            ),
        ).remote(spec, NO_SESSION, patience): node
        for node in ray.nodes()
        if node["Alive"]
    }
    done, _ = ray.wait(list(asked), num_returns=len(asked), timeout=SECONDS)
    found: dict[str, int] = {}
    for reference in done:
        try:
            killed = int(ray.get(reference))
        except ray.exceptions.RayError:  # the node has just died: there is nothing left on it
            continue
        if killed:
            name = str(asked[reference]["NodeManagerAddress"])
            found[name] = found.get(name, 0) + killed
    return found


def main(argv: list[str]) -> None:
    """Sweep, and print the result as one line of JSON."""
    ray: Any = importlib.import_module("ray")
    ray.init(address=argv[1], log_to_driver=False, logging_level="ERROR")
    print(json.dumps(sweep(ray, Path(argv[0]))), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
