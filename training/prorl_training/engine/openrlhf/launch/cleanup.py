"""End the processes that a launch left behind, on this machine and on every Ray node."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from prorl_training.engine.openrlhf.spec import VARIABLE

PATIENCE = 5.0
"""Seconds to wait for processes to end by themselves, and again after killing."""
POLL = 0.2


def end_orphan_processes(spec: Path, session: int, patience: float = PATIENCE) -> int:
    """Wait for a launch's processes to end, kill the others, and return the number killed.

    ``session`` is the launch's pid. Workers of a running Ray and processes of other users are left alone.
    """
    by_themselves = time.monotonic() + patience
    killed: set[int] = set()
    while (
        orphans := orphan_processes(spec, session)
    ) and time.monotonic() < by_themselves + PATIENCE:
        if time.monotonic() >= by_themselves:
            killed |= _kill(orphans, spec, session)
        time.sleep(POLL)
    return len(killed)


def orphan_processes(spec: Path, session: int) -> list[int]:
    """Return the pids of the launch's processes, except this process and the workers of a running Ray."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if pid != os.getpid() and _belongs(pid, spec, session)]


def _belongs(pid: int, spec: Path, session: int) -> bool:
    mark = f"{VARIABLE}={spec}".encode()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        if not words:  # a zombie
            return False
        if os.getsid(pid) == session:  # setting a title may have overwritten its environment
            return True
        marked = mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has just ended or belongs to another user
        return False
    if not marked or not words.startswith(b"ray::"):
        return marked
    try:  # the worker of a running Ray is the child of a raylet
        status = Path(f"/proc/{pid}/status").read_text()
        parent = status.partition("\nPPid:\t")[2].partition("\n")[0]
        return b"raylet" not in Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return True


def _kill(pids: list[int], spec: Path, session: int) -> set[int]:
    """Kill those of ``pids`` that belong to the launch, the raylet last; return the pids killed."""
    killed: set[int] = set()
    with contextlib.ExitStack() as stack:
        handles: list[tuple[int, int]] = []
        for pid in sorted(pids, key=_killing_order):
            with contextlib.suppress(ProcessLookupError):
                handles.append((pid, os.pidfd_open(pid)))
                stack.callback(os.close, handles[-1][1])
        members = [(pid, handle) for pid, handle in handles if _belongs(pid, spec, session)]
        for pid, handle in members:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                killed.add(pid)
    return killed


def _killing_order(pid: int) -> tuple[bool, int]:
    try:
        raylet = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].endswith(b"/raylet")
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:  # it has just ended
        return False, 0
    return raylet, -int(fields[19])


NO_SESSION = -1
SECONDS = 90.0
"""Maximum seconds of the clean-up on all nodes."""


def sweep_cluster(spec: Path, address: str) -> dict[str, int]:
    """End a launch's processes on every node of the cluster; return {node address: number killed}.

    The result is empty if the cluster is unreachable.
    """
    command = [sys.executable, "-m", "prorl_training.engine.openrlhf.launch.cleanup"]
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
    killed: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return killed


def sweep(ray: Any, spec: Path, patience: float = PATIENCE) -> dict[str, int]:
    strategies: Any = importlib.import_module("ray.util.scheduling_strategies")
    task = ray.remote(end_orphan_processes)
    tasks = {
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
    done, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=SECONDS)
    killed_by_node: dict[str, int] = {}
    for reference in done:
        try:
            killed = int(ray.get(reference))
        except ray.exceptions.RayError:  # the node has just died with all its processes
            continue
        if killed:
            name = str(tasks[reference]["NodeManagerAddress"])
            killed_by_node[name] = killed_by_node.get(name, 0) + killed
    return killed_by_node


def main(argv: list[str]) -> None:
    ray: Any = importlib.import_module("ray")
    ray.init(address=argv[1], log_to_driver=False, logging_level="ERROR")
    print(json.dumps(sweep(ray, Path(argv[0]))), flush=True)
    ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
