"""Does a run fit its GPUs, and which settings make it fit where it does not.

From the config and the model's sizes alone: nothing is loaded, no torch is needed. Used by ``prorl train fit``, by
``prorl train`` before it starts and by ``prorl doctor``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from prorl_common import UserError
from prorl_training.config import TrainConfig
from prorl_training.sizing.cluster import cluster_phases
from prorl_training.sizing.estimate import GB, Fit, PhaseFit, Stage
from prorl_training.sizing.local import local_phases
from prorl_training.sizing.passes import Precision
from prorl_training.sizing.shape import ModelShape

LEAST_PASS = 2048
"""Passes are not advised to be shorter than so many tokens."""
LEAST_SHARE = 0.1
"""Nor vLLM's share of a GPU to be less."""
ADAPTER_RANK = 64
"""Of the adapters that are advised where all weights do not fit."""
GPUS_OF_A_NODE = 8

Change = tuple[str, Any]


def reckon(config: TrainConfig, shape: ModelShape, device: str, memory: int) -> Fit:
    """Return what the run holds on a ``device`` (``cuda`` or ``cpu``) of ``memory`` bytes, phase by phase.

    ``rollout.backend=auto`` stands for vLLM on a GPU. Engine ``openrlhf`` is reckoned on GPUs whatever ``device`` says.
    """
    match config.engine:
        case "local":
            phases = local_phases(config, shape, device, memory, _precision(config, device))
            gpus = 1
        case "openrlhf":
            phases = cluster_phases(config, shape, memory)
            device, gpus = "cuda", config.openrlhf.nodes * config.openrlhf.gpus_per_node
        case _:
            assert_never(config.engine)
    return Fit(config, device, memory, gpus, shape.parameters, phases)


def _precision(config: TrainConfig, device: str) -> Precision:
    """Return how the local engine computes; ``auto`` on a CPU depends on what that can do."""
    from prorl_inference.models.loading import cpu_has_fast_bf16

    dtype = config.model.dtype
    plain = dtype == "fp32" or (dtype == "auto" and device == "cpu" and not cpu_has_fast_bf16())
    return Precision.FLOAT32 if plain else Precision.AUTOCAST


def advice(fit: Fit, shape: ModelShape) -> list[str] | None:
    """Return the fewest settings found that make the run fit, as ``key=value``; None where none of ours do.

    Empty where it fits already. The first single setting that is enough, else settings one upon the other, in the
    order of what they cost in time or meaning; those that turn out not to be needed are left out again.
    """

    def fits(changes: Sequence[Change]) -> bool:
        return _again(fit, shape, changes).fits

    if fit.fits:
        return []
    found: list[Change] = []
    for change in _candidates(fit):
        if fits([change]):
            return [_shown(change)]
    for change in _candidates(fit):
        before, after = _again(fit, shape, found), _again(fit, shape, [*found, change])
        if _load(after) < _load(before):
            found = [c for c in found if c[0] != change[0]] + [change]
        if after.fits:
            needed = [c for c in found if not fits([other for other in found if other != c])]
            return [_shown(c) for c in needed]
    return None


def _load(fit: Fit) -> tuple[int, int]:
    """Return by how much a run does not fit, to be compared: troubles first."""
    return sum(len(phase.troubles) for phase in fit.phases), fit.needed


def _again(fit: Fit, shape: ModelShape, changes: Sequence[Change]) -> Fit:
    return reckon(changed(fit.config, changes), shape, fit.device, fit.memory)


def changed(config: TrainConfig, changes: Sequence[Change]) -> TrainConfig:
    """Return the config with ``changes`` (dotted key, value) in the run's own settings."""
    values = config.model_dump()
    for key, value in changes:
        *sections, name = key.split(".")
        place = values
        for section in sections:
            place = place[section]
        place[name] = value
    return TrainConfig.model_validate(values)


def _candidates(fit: Fit) -> Iterator[Change]:
    """Yield changes that may help, the cheap ones first; of one key the smaller change first."""
    c, r = fit.config, fit.config.rollout
    longest = max(p.sizes["prompt tokens"] + p.sizes["response tokens"] for p in fit.phases)
    if not c.model.gradient_checkpointing:
        yield "model.gradient_checkpointing", True
    match c.engine:
        case "local":
            if fit.device == "cpu" or r.backend == "transformers":
                for rows in _halves(r.batch_rows, 1):
                    yield "rollout.batch_rows", rows
            else:
                if not r.vllm_context:
                    yield "rollout.vllm_context", longest
                for share in _shares(r.vllm_memory):
                    yield "rollout.vllm_memory", share
            for tokens in _halves(c.loss.pack_tokens, max(LEAST_PASS, longest)):
                yield "loss.pack_tokens", tokens
            if c.kl.measure_share_every:
                yield "kl.measure_share_every", 0
            if not c.model.lora.rank:
                yield "model.lora.rank", ADAPTER_RANK
        case "openrlhf":
            o = c.openrlhf
            if o.colocate and not o.vllm_sleep:
                yield "openrlhf.vllm_sleep", True
            for share in _shares(o.vllm_memory):
                yield "openrlhf.vllm_memory", share
            least = max(LEAST_PASS, longest)
            for tokens in _halves(o.train_tokens_per_gpu, least):
                yield "openrlhf.train_tokens_per_gpu", tokens
            for tokens in _halves(o.rollout_tokens_per_gpu, least):
                yield "openrlhf.rollout_tokens_per_gpu", tokens
            if o.gpus_per_node < GPUS_OF_A_NODE:
                yield "openrlhf.gpus_per_node", GPUS_OF_A_NODE
            if o.zero_stage == 2:
                yield "openrlhf.zero_stage", 3
            if not o.adam_offload:
                yield "openrlhf.adam_offload", True
        case _:
            assert_never(c.engine)


def _halves(value: int, least: int) -> Iterator[int]:
    while value // 2 >= least:
        value //= 2
        yield value
    if value > least:
        yield least


def _shares(share: float) -> Iterator[float]:
    hundredths = round(100 * share) - 5
    while hundredths >= 100 * LEAST_SHARE:
        yield hundredths / 100
        hundredths -= 5


def _shown(change: Change) -> str:
    key, value = change
    return f"{key}={str(value).lower() if isinstance(value, bool) else value}"


def refuse(fit: Fit, shape: ModelShape) -> None:
    """Raise UserError, one line with the settings that help, for a run that does not fit."""
    if not fit.fits:
        raise UserError(misfit(fit, shape))


def misfit(fit: Fit, shape: ModelShape) -> str:
    """Return the line that says what does not fit, by how much, and what helps."""
    phase = fit.worst
    where = f" in phase {phase.name}" if len(fit.phases) > 1 else ""
    what = "GPU" if fit.device == "cuda" else "machine"
    if phase.troubles:
        return f"{fit.config.preset} does not fit a {what} of {gigabytes(fit.memory)}{where}: {phase.troubles[0]}"
    stage = phase.worst
    line = (
        f"{fit.config.preset} needs {gigabytes(stage.total)} of a {what}'s {gigabytes(fit.memory)} in its "
        f"{stage.name}{where} ({largest(stage)})"
    )
    helps = advice(fit, shape)
    if helps is None:
        return f"{line}: take a larger {what}, more GPUs with --engine openrlhf, or a smaller model"
    return f"{line}: --set {' --set '.join(helps)}"


def largest(stage: Stage, count: int = 3) -> str:
    """Return a stage's largest items in words."""
    items = sorted(stage.items.items(), key=lambda item: -item[1])[:count]
    return ", ".join(f"{name} {gigabytes(value)}" for name, value in items if value)


def gigabytes(value: int) -> str:
    """Return bytes in GB (10^9), to be read."""
    size = value / GB
    return f"{size:.0f} GB" if size >= 100 else f"{size:.3g} GB"


def notes(fit: Fit) -> list[str]:
    """Return what is worth saying of a run that fits, a line each: how close it is, and short passes."""
    found = [] if not _is_close(fit.worst, fit.memory) else [
        f"memory   {gigabytes(fit.needed)} of {gigabytes(fit.memory)} are reckoned with: close; "
        "prorl train fit shows what for"
    ]  # fmt: skip
    return found


def _is_close(phase: PhaseFit, memory: int) -> bool:
    return phase.worst.total > 0.9 * memory
