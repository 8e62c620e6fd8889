"""Check whether a run fits this machine's memory, suggest settings that make it fit, and estimate GPU hours."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, assert_never

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.planning.engine_memory import cluster_phases, local_phases
from prorl_training.planning.memory import GB, Fit, Precision, Stage
from prorl_training.planning.model_shape import ModelShape, model_shape

LEAST_PASS = 2048
"""Minimum tokens per pass that ``advice`` suggests."""
LEAST_SHARE, MOST_SHARE = 9, 91
"""``advice`` suggests shares of GPU memory for vLLM strictly between these, in percent."""
ADAPTER_RANK = 64
"""Rank of the adapters that ``advice`` suggests if training all weights does not fit."""
GPUS_OF_A_NODE = 8

Change = tuple[str, Any]
Engine = Literal["local", "openrlhf"]


def reckon(config: TrainConfig, shape: ModelShape, device: str, memory: int) -> Fit:
    """Estimate the memory of a run on a ``cuda`` or ``cpu`` device of ``memory`` bytes.

    On a GPU ``rollout.backend=auto`` counts as vLLM. Engine ``openrlhf`` is always on GPUs.
    """
    match config.engine:
        case "local":
            phases = local_phases(config, shape, device, memory, _precision(config, device))
        case "openrlhf":
            phases, device = cluster_phases(config, shape, memory), "cuda"
        case _:
            assert_never(config.engine)
    return Fit(config, device, memory, gpus_of(config), shape.parameters, phases)


def gpus_of(config: TrainConfig) -> int:
    o = config.openrlhf
    return config.model.gpus if config.engine == "local" else o.nodes * o.gpus_per_node


def _precision(config: TrainConfig, device: str) -> Precision:
    from prorl_inference.models.loading import cpu_has_fast_bf16

    dtype = config.model.dtype
    plain = dtype == "fp32" or (dtype == "auto" and device == "cpu" and not cpu_has_fast_bf16())
    return Precision.FLOAT32 if plain else Precision.AUTOCAST


def advice(fit: Fit, shape: ModelShape) -> list[str] | None:
    """Return settings (``key=value``) that make the run fit: [] if it fits already, None if no settings help.

    A single setting is preferred. Otherwise settings are added, starting with those that change the run least.
    """

    def fits(changes: Sequence[Change]) -> bool:
        return _refit(fit, shape, changes).fits

    if fit.fits:
        return []
    for change in _candidates(fit):
        if fits([change]):
            return [_format(change)]
    taken: list[Change] = []
    for change in _candidates(fit):
        before, after = _refit(fit, shape, taken), _refit(fit, shape, [*taken, change])
        if _load(after) < _load(before):
            taken = [c for c in taken if c[0] != change[0]] + [change]
        if after.fits:
            for change in reversed(taken):
                others = [other for other in taken if other != change]
                taken = others if fits(others) else taken
            return [_format(c) for c in taken]
    return None


def _load(fit: Fit) -> tuple[int, int]:
    stages = [stage for phase in fit.phases for stage in phase.stages]
    over = sum(max(0, stage.total - fit.memory) for stage in stages)
    return sum(len(phase.troubles) for phase in fit.phases), over


def _refit(fit: Fit, shape: ModelShape, changes: Sequence[Change]) -> Fit:
    return reckon(changed(fit.config, changes), shape, fit.device, fit.memory)


def changed(config: TrainConfig, changes: Sequence[Change]) -> TrainConfig:
    values = config.model_dump()
    for key, value in changes:
        *sections, name = key.split(".")
        place = values
        for section in sections:
            place = place[section]
        place[name] = value
    return TrainConfig.model_validate(values)


def _candidates(fit: Fit) -> Iterator[Change]:
    c, r = fit.config, fit.config.rollout
    short = any(phase.troubles for phase in fit.phases)
    longest = max(p.sizes["prompt tokens"] + p.sizes["response tokens"] for p in fit.phases)
    if not c.model.gradient_checkpointing:
        yield "model.gradient_checkpointing", True
    match c.engine:
        case "local":
            for tokens in _halves(c.loss.pack_tokens, max(LEAST_PASS, longest)):
                yield "loss.pack_tokens", tokens
            if fit.device == "cpu" or r.backend == "transformers":
                for rows in _halves(r.batch_rows, 1):
                    yield "rollout.batch_rows", rows
            else:
                if not r.vllm_context:
                    yield "rollout.vllm_context", longest
                for share in _shares(r.vllm_memory, short):
                    yield "rollout.vllm_memory", share
            if c.kl.measure_share_every:
                yield "kl.measure_share_every", 0
            if c.model.gpus > 1 and not c.model.lora.rank:
                yield "model.sharding", "fsdp"
            if not c.model.lora.rank and c.model.sharding == "none":
                yield "model.lora.rank", ADAPTER_RANK
        case "openrlhf":
            o = c.openrlhf
            if o.colocate and not o.vllm_sleep:
                yield "openrlhf.vllm_sleep", True
            for share in _shares(o.vllm_memory, short):
                yield "openrlhf.vllm_memory", share
            least = max(LEAST_PASS, longest)
            for tokens in _halves(o.train_tokens_per_gpu, least):
                yield "openrlhf.train_tokens_per_gpu", tokens
            for tokens in _halves(o.rollout_tokens_per_gpu, least):
                yield "openrlhf.rollout_tokens_per_gpu", tokens
            if o.zero_stage == 2:
                yield "openrlhf.zero_stage", 3
            if not o.adam_offload:
                yield "openrlhf.adam_offload", True
            if o.gpus_per_node < GPUS_OF_A_NODE:
                yield "openrlhf.gpus_per_node", GPUS_OF_A_NODE
        case _:
            assert_never(c.engine)


def _halves(value: int, least: int) -> Iterator[int]:
    while value // 2 >= least:
        value //= 2
        yield value
    if value > least:
        yield least


def _shares(share: float, short: bool) -> Iterator[float]:
    now = round(100 * share)
    steps = range(now + 5, MOST_SHARE, 5) if short else range(now - 5, LEAST_SHARE, -5)
    yield from (hundredths / 100 for hundredths in steps)


def _format(change: Change) -> str:
    key, value = change
    return f"{key}={str(value).lower() if isinstance(value, bool) else value}"


def misfit(fit: Fit, shape: ModelShape) -> str:
    phase, machine = fit.worst, "GPU" if fit.device == "cuda" else "machine"
    where = f" in phase {phase.name}" if len(fit.phases) > 1 else ""
    stage = phase.worst
    line = f"{fit.config.preset} does not fit a {machine} of {gigabytes(fit.memory)}{where}: "
    if stage.total > fit.memory:
        line += f"its {stage.name} needs {gigabytes(stage.total)} ({largest(stage)})"
    else:
        line += phase.troubles[0]
    helps = advice(fit, shape)
    if helps is None:
        return (
            f"{line}; use a larger {machine}, more GPUs with --engine openrlhf, or a smaller model"
        )
    return f"{line}; it fits with --set {' --set '.join(helps)}"


def largest(stage: Stage, count: int = 3) -> str:
    items = sorted(stage.items.items(), key=lambda item: -item[1])[:count]
    return ", ".join(f"{name} {gigabytes(value)}" for name, value in items if value)


def gigabytes(value: int) -> str:
    size = value / GB
    return f"{size:.0f} GB" if size >= 100 else f"{size:.3g} GB"


CLOSE = 0.9
"""A run that needs more than this fraction of the memory gets a note, even if it fits."""


def planned(config: TrainConfig, memory: int | None = None) -> Fit:
    """Estimate the memory of a planned run.

    The available memory is ``memory`` bytes, else that of this machine's device for the run, else ``model.gpu_gb``.
    Raises UserError if the model's sizes are unknown.
    """
    machine = memory_here(config)
    wants_cpu = config.model.device == "cpu" and config.engine == "local"
    if machine is None or (machine[0] == "cpu" and not wants_cpu):
        machine = ("cpu" if wants_cpu else "cuda", int(config.model.gpu_gb * GB))
    device, available = machine
    shape = model_shape(config.model.path)
    return reckon(for_samplers_here(config, device), shape, device, memory or available)


def memory_here(config: TrainConfig) -> tuple[str, int] | None:
    """Return (device, bytes of memory) for the run on this machine (OpenRLHF: of the smallest GPU); None if unknown."""
    from prorl_training.planning.gpus import visible_gpus

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
    return None if memory is None else ("cpu", memory // config.model.gpus)


def for_samplers_here(config: TrainConfig, device: str) -> TrainConfig:
    """Return the config, with ``rollout.backend=auto`` replaced by Transformers on a GPU machine without vLLM."""
    from prorl_inference import BACKENDS
    from prorl_training.planning.gpus import visible_gpus

    is_auto = config.engine == "local" and config.rollout.backend == "auto" and device == "cuda"
    if is_auto and visible_gpus() and not BACKENDS.get("vllm").is_installed:
        return changed(config, [("rollout.backend", "transformers")])
    return config


def main_memory(
    meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Return the bytes of main memory, at most the cgroup's limit. None if Linux does not report them."""
    try:
        lines = meminfo.read_text().splitlines()
        total = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemTotal"))
    except (OSError, StopIteration):
        return None
    try:
        limit = (cgroup / "memory.max").read_text().strip()
    except OSError:  # no cgroup v2
        limit = "max"
    return total if limit == "max" else min(total, int(limit))


def check_fit(config: TrainConfig, machine: tuple[str, int] | None) -> str | None:
    """Return a note for the user about the memory of a run, or None. ``machine`` is the result of ``memory_here``.

    If the run does not fit, raises UserError, or returns a note if ``machine`` is None.
    """
    if not config.model.check_fit:
        return None
    try:
        shape = model_shape(config.model.path)
    except UserError as error:
        return f"not estimated: {error}"
    device, memory = machine or ("cuda", int(config.model.gpu_gb * GB))
    fit = reckon(for_samplers_here(config, device), shape, device, memory)
    if fit.fits:
        close = fit.needed > CLOSE * memory
        return f"{usage(fit)} estimated: see prorl train fit" if close else None
    if machine is None:
        return misfit(fit, shape)
    raise UserError(f"{misfit(fit, shape)} (start anyway: --set model.check_fit=false)")


def usage(fit: Fit) -> str:
    return f"{gigabytes(fit.needed)} of {gigabytes(fit.memory)}"


H100_TFLOPS = 989.0
"""Peak of an H100 or H200 in 10^12 operations per second: dense bf16 (NVIDIA's data sheets)."""
PUBLISHED_SHARES = (0.029, 0.106)
"""Fractions of peak speed that two published runs reached, counted as in ``gpu_hours``: ProRL v1 (16,000 H100 hours,
arXiv 2505.24864, section 3.3) and DeepScaleR (3,800 A100 hours, its report)."""
USABLE = 0.41
"""Fraction of groups with both correct and wrong responses at 16 samples (BroRL, arXiv 2510.01180, ProRL baseline)."""


@dataclass(frozen=True, slots=True)
class GpuHours:
    """Estimated GPU hours (``low`` to ``high``) of a run with one engine on ``gpus`` GPUs."""

    engine: Engine
    gpus: int
    low: float
    high: float


def gpu_hours(
    config: TrainConfig, shape: ModelShape, peak_tflops: float = H100_TFLOPS
) -> list[GpuHours]:
    """Estimate the GPU hours of a run on one GPU, and with each engine on several (the config's number, or 8).

    Assumes published fractions of the peak speed, 2 operations per token and parameter forward and 4 backward, and
    responses half as long as ``rollout.max_tokens``.
    """
    gpus = gpus_of(config) if gpus_of(config) > 1 else GPUS_OF_A_NODE
    paths: list[tuple[Engine, int]] = [("local", 1), ("local", gpus), ("openrlhf", gpus)]
    an_hour = [share * peak_tflops * 1e12 * 3600 for share in reversed(PUBLISHED_SHARES)]
    return [
        GpuHours(engine, count, *(_operations(config, shape, engine) / n for n in an_hour))
        for engine, count in paths
    ]


def _operations(config: TrainConfig, shape: ModelShape, engine: Engine) -> float:
    operations, left = 0.0, config.steps
    phases = [(config.in_phase(i), phase.steps) for i, phase in enumerate(config.phases)]
    for number, (phase, planned) in enumerate(phases or [(config, left)], start=1):
        steps = (
            left if number == len(phases) else min(planned, left)
        )  # the last phase runs to the end
        left -= steps
        trained = phase.rollout.prompts * phase.rollout.samples * phase.rollout.max_tokens / 2
        sampled = trained / USABLE if phase.dynamic_sampling.enabled else trained
        # the local engine takes the old log-probs of the first mini-batch from the pass with gradient
        old = 1 if engine == "openrlhf" else 1 - 1 / phase.loss.mini_batches
        forward_passes = 1 + old + (phase.kl.coefficient > 0) + phase.model.gradient_checkpointing
        token_passes = sampled + trained * (forward_passes + 2)
        operations += steps * token_passes * 2 * shape.parameters
    return operations
