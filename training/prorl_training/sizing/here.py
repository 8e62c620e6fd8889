"""The memory that is there, beside what a run is reckoned to take: before it starts, and for ``prorl doctor``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.sizing.estimate import GB, Fit
from prorl_training.sizing.fit import changed, gigabytes, misfit, reckon
from prorl_training.sizing.known import model_shape

CLOSE = 0.9
"""From this part of the memory on a run that fits is said to be close."""


def planned(config: TrainConfig, memory: int | None = None) -> Fit:
    """Return the reckoning of a run that is planned: for ``memory`` bytes of a GPU, else of one that is here, else of
    the GPU that the config names; with ``model.device=cpu`` for this machine's main memory.

    Raises UserError for a model whose sizes are not known here.
    """
    found = memory_here(config)
    wants_cpu = config.model.device == "cpu" and config.engine == "local"
    if found is None or (found[0] == "cpu" and not wants_cpu):
        found = ("cpu" if wants_cpu else "cuda", int(config.model.gpu_gb * GB))
    device = found[0]
    shape = model_shape(config.model.path)
    return reckon(for_samplers_here(config, device), shape, device, memory or found[1])


def memory_here(config: TrainConfig) -> tuple[str, int] | None:
    """Return the device that the run would take here and its bytes; None without torch, or where none is here.

    Of several GPUs of the OpenRLHF engine the smallest counts.
    """
    from prorl_training.engine.openrlhf.launch.requirements import visible_gpus

    if importlib.util.find_spec("torch") is None:
        return None
    gpus = visible_gpus()
    if config.engine == "openrlhf" or config.model.device == "auto":
        if gpus:
            return "cuda", min(gpus) if config.engine == "openrlhf" else gpus[0]
        if config.engine == "openrlhf":
            return None
    if config.model.device.startswith("cuda"):
        number = int(config.model.device.partition(":")[2] or 0)
        return ("cuda", gpus[number]) if number < len(gpus) else None
    memory = main_memory()
    return None if memory is None else ("cpu", memory)


def for_samplers_here(config: TrainConfig, device: str) -> TrainConfig:
    """Return the config with ``rollout.backend=auto`` as what it comes to on this machine's GPU."""
    from prorl_inference import BACKENDS
    from prorl_training.engine.openrlhf.launch.requirements import visible_gpus

    is_auto = config.engine == "local" and config.rollout.backend == "auto" and device == "cuda"
    if is_auto and visible_gpus() and not BACKENDS.get("vllm").is_installed:
        return changed(config, [("rollout.backend", "transformers")])
    return config


def main_memory(
    meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Return the bytes of main memory, under the control group's limit; None where Linux does not say."""
    try:
        lines = meminfo.read_text().splitlines()
        total = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal"))
    except (OSError, StopIteration):
        return None
    try:
        limit = (cgroup / "memory.max").read_text().strip()
    except OSError:  # no control group v2: no limit to look at
        limit = "max"
    return total if limit == "max" else min(total, int(limit))


def check_fit(config: TrainConfig, found: tuple[str, int] | None) -> str | None:
    """Return what is worth saying of a run's memory before it starts, None where nothing is.

    ``found`` is ``memory_here``'s. Raises UserError, one line with the settings that help, for a run that does not fit
    it; without it (a cluster elsewhere) a misfit with the GPU that the config names is said, not refused.
    """
    if not config.model.check_fit:
        return None
    try:
        shape = model_shape(config.model.path)
    except UserError as error:
        return f"not reckoned: {error}"
    device, memory = found or ("cuda", int(config.model.gpu_gb * GB))
    fit = reckon(for_samplers_here(config, device), shape, device, memory)
    if fit.fits:
        close = fit.needed > CLOSE * memory
        return f"{usage(fit)} reckoned with: see prorl train fit" if close else None
    if found is None:
        return misfit(fit, shape)
    raise UserError(f"{misfit(fit, shape)} (start anyway: --set model.check_fit=false)")


def usage(fit: Fit) -> str:
    """Return how much of the memory a run takes, in words."""
    return f"{gigabytes(fit.needed)} of {gigabytes(fit.memory)}"
