"""The environment variables of a run, the same for its driver, Ray's workers and vLLM's processes.

On a CPU they switch on the CPU layer (``cpu``) and keep threads and memory in bounds; on GPUs there are few.
Ray hands them on when they are given as ``runtime_env={"env_vars": ...}`` too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.cpu.float32 import FLOAT32
from prorl_training.engine.openrlhf.cpu.hook import SWITCH
from prorl_training.planning.gpus import Device

STARTUP = Path(__file__).resolve().parents[1] / "cpu" / "startup"
"""The folder whose ``sitecustomize`` installs the CPU layer; goes first on ``PYTHONPATH``."""

_ALWAYS = {
    "HF_HUB_OFFLINE": "1",  # the model lies on disk: nobody asks the hub
    "TOKENIZERS_PARALLELISM": "false",  # its threads do not survive a fork
}

_HABITS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_DEDUP_LOGS": "0",  # every line of a log is wanted when a run breaks
}
"""Only where the user has not said otherwise."""

_CPU_ALWAYS = {
    SWITCH: "1",
    "DS_ACCELERATOR": "cpu",  # DeepSpeed: gloo, and no search for a GPU
    "VLLM_TARGET_DEVICE": "cpu",  # vLLM 0.29.0, platforms/__init__.py: named, it is not guessed
    # vLLM, platforms/cpu.py:272, turns the executor "uni" into "mp" (one more process) unless this is off.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # On a GPU `.to(device)` copies what comes through Ray's object store. On a CPU it does not, and the tensors
    # would be read-only views of the store.
    "RAY_ENABLE_ZERO_COPY_TORCH_TENSORS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}

_CPU_HABITS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # whole GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # vLLM would pin its threads to the cores the trainer uses
    "THP_MEM_ALLOC_ENABLE": "1",  # torch: huge pages; 27 times fewer page faults in a forward and backward pass
    "RAY_worker_niceness": "0",  # Ray starts workers at 15
    "RAY_memory_monitor_refresh_ms": "0",  # it ends an actor at 95% memory, whoever takes it
}


def environment(
    device: Device, threads: int, given: Mapping[str, str] = os.environ, *, float32: bool = False
) -> dict[str, str]:
    """Return the variables to set for a run on ``device``; on a CPU every process uses ``threads`` threads.

    ``float32``: on a CPU, weights and arithmetic are float32 (module ``cpu.float32``), not bfloat16.
    ``given`` is the environment they are laid over: what the user has set there wins over habits (sizes, logs)
    but not over what a run needs to be right. ``PYTHONPATH`` and ``PATH`` are extended, never replaced.
    """
    if threads < 1:
        raise UserError(f"{threads} threads: at least 1 is needed")
    found = {name: value for name, value in _HABITS.items() if not given.get(name)}
    found |= _ALWAYS
    found["PATH"] = _first(str(Path(sys.executable).parent), given.get("PATH", os.defpath))
    if device == "cuda":
        return found
    found |= {name: value for name, value in _CPU_HABITS.items() if not given.get(name)}
    found |= _CPU_ALWAYS
    found |= {FLOAT32: "1"} if float32 else {}
    found["OMP_NUM_THREADS"] = str(threads)
    found["PYTHONPATH"] = _first(str(STARTUP), given.get("PYTHONPATH", ""))
    return found


def run_environment(config: TrainConfig, device: Device) -> dict[str, str]:
    """Return ``environment`` for a run on this machine: float32 unless it asks for bf16, ranks share the threads."""
    threads = max((os.cpu_count() or 1) // config.openrlhf.cpu_ranks, 1)
    return environment(device, threads, float32=config.model.dtype != "bf16")


def _first(folder: str, path: str) -> str:
    """Put ``folder`` first on a path of folders, once."""
    rest = [place for place in path.split(os.pathsep) if place and place != folder]
    return os.pathsep.join([folder, *rest])
