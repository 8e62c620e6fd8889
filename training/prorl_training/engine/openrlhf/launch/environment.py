"""Environment variables of a cluster run's processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.cpu.float32 import FLOAT32
from prorl_training.engine.openrlhf.cpu.hook import SDPA, SWITCH
from prorl_training.engine.openrlhf.versions import installed_version
from prorl_training.planning.gpus import Device

STARTUP = Path(__file__).resolve().parents[1] / "cpu" / "startup"
"""Folder of the ``sitecustomize`` that installs the patches; must be first on ``PYTHONPATH``."""

_ALWAYS = {
    "HF_HUB_OFFLINE": "1",  # the model is on disk
    "TOKENIZERS_PARALLELISM": "false",  # tokenizer threads do not survive a fork
}

_DEFAULTS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_DEDUP_LOGS": "0",  # keep every log line for debugging
}
"""Defaults that the user's environment overrides."""

_CPU_ALWAYS = {
    SWITCH: "1",
    "DS_ACCELERATOR": "cpu",  # DeepSpeed: gloo, and no search for a GPU
    "VLLM_TARGET_DEVICE": "cpu",  # vLLM 0.29.0, platforms/__init__.py: do not guess
    # vLLM, platforms/cpu.py:272, turns the executor "uni" into "mp" (one more process) unless this is off.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    # On a GPU `.to(device)` copies tensors from Ray's object store. On a CPU it does not, and they
    # would be read-only views of the store.
    "RAY_ENABLE_ZERO_COPY_TORCH_TENSORS": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}

_CPU_DEFAULTS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # whole GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # vLLM would pin its threads to the trainer's cores
    "THP_MEM_ALLOC_ENABLE": "1",  # huge pages in torch: 27 times fewer page faults per pass
    "RAY_worker_niceness": "0",  # Ray's default is 15
    "RAY_memory_monitor_refresh_ms": "0",  # or Ray kills actors if other programs fill the memory
}


def environment(
    device: Device, threads: int, given: Mapping[str, str] = os.environ, *, float32: bool = False
) -> dict[str, str]:
    """Return the variables for a run on ``device`` with ``threads`` threads per CPU process.

    ``given`` (the user's environment) overrides sizes and log settings, but not variables needed for correctness.
    ``PYTHONPATH`` and ``PATH`` are extended.
    """
    if threads < 1:
        raise UserError(f"threads is {threads}, but must be at least 1")
    variables = {name: value for name, value in _DEFAULTS.items() if not given.get(name)}
    variables |= _ALWAYS
    variables["PATH"] = _first(str(Path(sys.executable).parent), given.get("PATH", os.defpath))
    path = _first(str(STARTUP), given.get("PYTHONPATH", ""))
    if device == "cuda":
        flash = installed_version("flash-attn") is not None
        return variables | ({} if flash else {SWITCH: SDPA, "PYTHONPATH": path})
    variables |= {name: value for name, value in _CPU_DEFAULTS.items() if not given.get(name)}
    variables |= _CPU_ALWAYS
    variables |= {FLOAT32: "1"} if float32 else {}
    variables["OMP_NUM_THREADS"] = str(threads)
    variables["PYTHONPATH"] = path
    return variables


def run_environment(config: TrainConfig, device: Device) -> dict[str, str]:
    """Return the variables for a run on this machine, with its threads divided among ranks."""
    threads = max((os.cpu_count() or 1) // config.openrlhf.cpu_ranks, 1)
    return environment(device, threads, float32=config.model.dtype != "bf16")


def _first(folder: str, path: str) -> str:
    folders = [place for place in path.split(os.pathsep) if place and place != folder]
    return os.pathsep.join([folder, *folders])
