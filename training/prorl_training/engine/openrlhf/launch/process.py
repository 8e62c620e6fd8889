"""The process that starts Ray, replaces four classes of OpenRLHF and runs its script."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from prorl_common import ServiceError, plugin_environment
from prorl_training.engine.openrlhf import events
from prorl_training.engine.openrlhf.launch.cleanup import end_orphan_processes
from prorl_training.engine.openrlhf.launch.environment import run_environment
from prorl_training.engine.openrlhf.spec import VARIABLE, Spec, read_spec
from prorl_training.engine.openrlhf.versions import require_stack

SCRIPT = "openrlhf.cli.train_ppo_ray"
PR_SET_PDEATHSIG = 1
PARENT_POLL = 0.2
"""Seconds between checks that prorl is alive."""
CPU_COUNT = 8
"""Number of CPUs to declare to Ray in CPU mode, plus one per rank."""
NODE_POLL, NODE_NEWS = 5.0, 60.0
"""Seconds between checks of the cluster's nodes, and between messages about missing nodes."""
TOKENS = ("PRORL_TOKEN",)
"""Secret variables, passed on only when joining a running Ray, because passing them shows them on command lines."""
HANDED_ON = (
    "PRORL_ALLOW_WEAK",
    "PRORL_BACKEND",
    "HF_HOME",
    "HF_HUB_OFFLINE",
    "TOKENIZERS_PARALLELISM",
)
"""Variables passed on to processes on other machines."""

PLACES = (
    ("openrlhf.trainer.ray.launcher", "ReferenceModelActor", "reference", "ReferenceActor", 1),
    ("openrlhf.trainer.ray.ppo_actor", "PolicyModelActor", "policy", "PolicyActor", 1),
    ("openrlhf.trainer.ppo_trainer", "PPOTrainer", "trainer", "Trainer", 0),
    ("openrlhf.trainer.ray.vllm_engine", "RolloutRayActor", "rollout", "RolloutActor", 0),
)
"""Each class of OpenRLHF to replace (module, name), prorl's class (module, name), and GPUs of the Ray actor."""


def main(argv: list[str]) -> int:
    die_with_parent()
    path = Path(argv[0]).resolve()
    os.environ[VARIABLE] = str(path)
    spec = read_spec(path)
    with nothing_left_behind(path), report_failures(spec), running_ray(spec):
        install()
        sys.argv = [SCRIPT, *spec.arguments]
        runpy.run_module(SCRIPT, run_name="__main__", alter_sys=True)
    return 0


def die_with_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")


@contextlib.contextmanager
def nothing_left_behind(spec: Path) -> Iterator[None]:
    """Kill every process of the launch if the parent process is killed during the block.

    A thread watches the parent, because Python handles no signals while the main thread waits in Ray.
    """
    parent = os.getppid()

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL)
        end_orphan_processes(spec, os.getpid(), patience=0.0)
        os._exit(128 + signal.SIGTERM)

    watch = threading.Thread(target=end_with_parent, daemon=True)
    watch.start()
    try:
        yield
    finally:
        if os.getppid() != parent:
            watch.join()


@contextlib.contextmanager
def report_failures(spec: Spec) -> Iterator[None]:
    try:
        yield
    except ServiceError as error:
        events.write_outcome(spec, events.Outcome(0, error=str(error), fault="service"))
        raise


@contextlib.contextmanager
def running_ray(spec: Spec) -> Iterator[None]:
    """Start Ray, or join the cluster of ``openrlhf.ray_address``, during the block."""
    parent = os.getppid()  # before Ray starts, because prorl may be killed during the start
    ray: Any = importlib.import_module("ray")
    ray.init(**ray_options(spec))
    wait_for_nodes(ray, spec)

    def end(number: int, frame: object) -> None:
        if os.getppid() == parent:  # else ``nothing_left_behind`` ends all processes
            sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        ray.shutdown()


def wait_for_nodes(ray: Any, spec: Spec, sleep: Callable[[float], None] = time.sleep) -> None:
    if spec.device == "cpu":
        return
    o, waited = spec.config().openrlhf, 0.0
    while True:
        gpus = [node["Resources"].get("GPU", 0) for node in ray.nodes() if node["Alive"]]
        ready = sum(count >= o.gpus_per_node for count in gpus)
        if ready >= o.nodes:
            return
        status = f"{ready} of {o.nodes} nodes with {o.gpus_per_node} GPUs are in the Ray cluster"
        if waited >= o.node_wait_seconds:
            raise ServiceError(
                f"{status} after {waited:.0f} s: start the missing nodes, or raise openrlhf.node_wait_seconds"
            )
        if waited % NODE_NEWS == 0:
            events.write_message(spec, f"{status}: waiting for the missing nodes")
        sleep(NODE_POLL)
        waited += NODE_POLL


def install() -> None:
    """Replace four classes of OpenRLHF by prorl's. Raises UserError for an unsupported OpenRLHF."""
    require_stack()
    ray: Any = importlib.import_module("ray")
    for module, name, actor_module, cls, gpus in PLACES:
        place = importlib.import_module(module)
        replacement = getattr(
            importlib.import_module(f"prorl_training.engine.openrlhf.actors.{actor_module}"), cls
        )
        wrap = ray.remote(num_gpus=gpus) if gpus else ray.remote
        setattr(place, name, wrap(replacement))


def ray_options(spec: Spec) -> dict[str, Any]:
    o = spec.config().openrlhf
    handed = {name: os.environ[name] for name in HANDED_ON if name in os.environ}
    handed |= plugin_environment() | {VARIABLE: os.environ[VARIABLE]}
    options: dict[str, Any] = {"runtime_env": {"env_vars": handed}}
    address = o.ray_address or os.environ.get("RAY_ADDRESS", "")
    if address:
        handed |= {name: os.environ[name] for name in TOKENS if name in os.environ}
        if spec.device == "cpu":  # workers of a running Ray do not inherit our environment
            handed |= run_environment(spec.config(), spec.device)
        return options | {"address": address}
    # "local", since ray.init otherwise joins a Ray that `ray start` began on this machine
    options |= {"address": "local", "include_dashboard": False}
    if o.object_store_gib:
        options["object_store_memory"] = round(o.object_store_gib * 2**30)
    if spec.device == "cpu":
        options |= {"num_cpus": CPU_COUNT + o.cpu_ranks, "num_gpus": o.cpu_ranks}
    return options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
