"""Estimates the bytes of memory that a GPU holds in each stage of a step.

Counts the tensors that Transformers and ``policy.logprobs`` keep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from prorl_training.config import TrainConfig
from prorl_training.planning.model_shape import ModelShape
from prorl_training.types import BLOCK_BYTES

ITEMS = (
    "weights",
    "gradients",
    "optimiser",
    "reference",
    "sampler weights",
    "KV cache",
    "logits",
    "activations",
    "reserve",
)
"""Uses of memory. ``reserve`` is assumed, not computed: device contexts and allocator waste."""
GB = 10**9
PROMPT_ROOM = 2048
"""Prompt length assumed if the config gives no limit; at most ``PROMPT_SHARE`` times the response limit."""
PROMPT_SHARE = 4
CONTEXT_BYTES = 750_000_000
"""Bytes assumed per process on a GPU: CUDA context, library workspaces, NCCL buffers."""
WASTE = 0.05
"""Assumed fraction of a pass's memory that the allocator loses to fragmentation."""
TORCH_BYTES = 700_000_000
"""Bytes assumed for a process without a GPU that has loaded torch and Transformers."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Memory in one stage of a step: bytes by item (``ITEMS``), on ``policy`` or ``sampler`` GPUs ("": on all)."""

    name: str
    items: Mapping[str, int]
    where: str = ""

    @property
    def total(self) -> int:
        return sum(self.items.values())


@dataclass(frozen=True, slots=True)
class PhaseFit:
    """The memory of each stage of a step in one phase, assuming ``sizes`` (numbers of prompts, samples, tokens)."""

    name: str
    sizes: Mapping[str, int]
    stages: tuple[Stage, ...]
    troubles: tuple[str, ...] = ()
    """Problems other than the total memory, such as a cache that is too small."""

    @property
    def worst(self) -> Stage:
        return max(self.stages, key=lambda stage: stage.total)


@dataclass(frozen=True, slots=True)
class Fit:
    """The memory that a run needs, and the ``memory`` in bytes of each of ``gpus`` devices."""

    config: TrainConfig
    device: str
    memory: int
    gpus: int
    parameters: int
    phases: tuple[PhaseFit, ...]

    @property
    def worst(self) -> PhaseFit:
        """The phase that needs the most memory, preferring phases with problems."""
        return max(self.phases, key=lambda phase: (bool(phase.troubles), phase.worst.total))

    @property
    def needed(self) -> int:
        return max(phase.worst.total for phase in self.phases)

    @property
    def fits(self) -> bool:
        return self.needed <= self.memory and not any(phase.troubles for phase in self.phases)

    def to_json(self) -> dict[str, Any]:
        return {
            "preset": self.config.preset,
            "engine": self.config.engine,
            "model": self.config.model.path,
            "parameters": self.parameters,
            "device": self.device,
            "gpus": self.gpus,
            "memory": self.memory,
            "needed": self.needed,
            "fits": self.fits,
            "phases": [
                {
                    "phase": phase.name,
                    "sizes": dict(phase.sizes),
                    "stages": [
                        {
                            "stage": s.name,
                            "where": s.where,
                            "total": s.total,
                            "bytes": dict(s.items),
                        }
                        for s in phase.stages
                    ],
                    "troubles": list(phase.troubles),
                }
                for phase in self.phases
            ],
        }


def longest_prompt(config: TrainConfig, context: int) -> int:
    """Return the maximum prompt length (in tokens) to assume for a model with a context of ``context`` tokens."""
    r = config.rollout
    limit = r.vllm_context or context
    room = max(limit - r.max_tokens, 1) if limit else PROMPT_ROOM
    return min(r.max_prompt_tokens or min(PROMPT_ROOM, PROMPT_SHARE * r.max_tokens), room)


def reserve(processes: int, pass_bytes: int) -> int:
    """Return the bytes assumed for CUDA contexts and for memory lost to fragmentation. ``pass_bytes``: memory of a pass."""
    return processes * CONTEXT_BYTES + int(WASTE * pass_bytes)


def named(config: TrainConfig) -> tuple[tuple[str, TrainConfig], ...]:
    """Return the name and config of each phase, or of the whole run if it has no phases."""
    names = [phase.name for phase in config.phases] or [config.preset]
    return tuple(zip(names, config.phase_configs, strict=True))


class Precision(Enum):
    FLOAT32 = "float32"
    """Everything in float32: the local engine on a CPU without fast bf16."""
    AUTOCAST = "autocast"
    """Float32 weights and residual stream, products in bf16: the local engine on a GPU."""
    BF16 = "bf16"
    """Everything in bf16, except the norms' inputs: the OpenRLHF engine."""

    @property
    def product(self) -> int:
        """Bytes per element of the inputs and outputs of matrix products."""
        return 4 if self is Precision.FLOAT32 else 2

    @property
    def residual(self) -> int:
        """Bytes per element of the weights and the residual stream."""
        return 2 if self is Precision.BF16 else 4

    @property
    def casts(self) -> bool:
        """Whether products use converted copies of the weights."""
        return self.product != self.residual


@dataclass(frozen=True, slots=True)
class PassSize:
    """A pass of ``tokens`` tokens that predicts ``targets`` of them.

    - packed: whether responses share their prompt, whose keys and values are copied for each response.
    - block_bytes, chunk_bytes: bytes of float32 logits, and of their exponentials, computed at a time (0: all).
    - tables_trained: whether embedding and output layer get gradients.
    """

    tokens: int
    targets: int
    precision: Precision
    checkpointing: bool
    packed: bool
    block_bytes: int = BLOCK_BYTES
    chunk_bytes: int = 0
    tables_trained: bool = True


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes that a pass holds at one moment. ``weights`` are converted copies."""

    weights: int
    activations: int
    logits: int

    @property
    def total(self) -> int:
        return self.weights + self.activations + self.logits


def layer_activations(shape: ModelShape, size: PassSize) -> int:
    """Return the bytes of activations that one layer keeps for its backward pass."""
    h, m, q, kv = shape.hidden, shape.intermediate, shape.query_width, shape.kv_width
    c = size.precision.product
    match size.precision:
        case (
            Precision.FLOAT32
        ):  # a norm keeps input, normalised and weighted values; products read the last
            norm, reads, qk = 4 * 3, 0, 4 * 2
        case (
            Precision.AUTOCAST
        ):  # input and normalised values in float32; every product has its own bf16 copy
            norm, reads, qk = 4 * 2, c * 5, 4 + c
        case Precision.BF16:  # input in float32, normalised and weighted values in bf16
            norm, reads, qk = 4 + c * 2, 0, 4 + c
    hidden = h * (2 * norm + reads)
    attention = c * (3 * q + 4 * kv if size.packed else 2 * q + 2 * kv) + 4 * shape.heads
    heads = shape.qk_norm * (qk * (q + kv) + 4 * (shape.heads + shape.kv_heads))
    mlp = c * 4 * m
    return size.tokens * (hidden + attention + heads + mlp + 2 * 4)  # and a scale for each norm


def held_for_backward(shape: ModelShape, size: PassSize) -> Held:
    """Return the memory held between the forward and backward pass, besides parameters."""
    h, p, n = shape.hidden, size.precision, size.tokens
    layers = shape.layers * (
        n * h * p.residual if size.checkpointing else layer_activations(shape, size)
    )
    norm = n * (h * (4 + p.residual) + 4)
    positions = 2 * n * shape.head_dim * p.residual
    targets = size.targets * (h * p.residual + 4 * 4)
    copies = 0 if size.checkpointing else shape.layers * _copies(shape, size)
    rows = _rows(shape, size)
    last_block = 4 * shape.vocab * (size.targets % rows or rows)
    return Held(copies, layers + norm + positions + targets, last_block)


def peak(shape: ModelShape, size: PassSize) -> Held:
    """Return the peak memory of a forward and backward pass, besides parameters and gradients of earlier passes."""
    h, m, p, n = shape.hidden, shape.intermediate, size.precision, size.tokens
    c, table = p.product, shape.embedding_parameters if size.tables_trained else 0
    between = held_for_backward(shape, size)
    block, copies = _blocks(shape, size), shape.layers * _copies(shape, size)
    inputs = shape.layers * n * h * p.residual if size.checkpointing else between.activations
    output_copy = 2 * shape.embedding_parameters if p.casts else 0
    # forward: converted weights stay until the pass ends
    layers = Held(copies, inputs + n * (3 * m * c + 2 * h * p.residual), 0)
    head = Held(copies, between.activations, _making(shape, size) + output_copy)
    # backward: the output layer's float32 gradient, the term added to it, and one block
    several = block < size.targets * shape.vocab
    slope = block * c
    if c == 4:
        gradient = 4 * table + 4 * block
    else:
        gradient = max(6 * table + slope, block * (4 + c) + (4 * table if several else 0))
    back = Held(
        between.weights, between.activations + size.targets * h * p.residual, gradient + output_copy
    )
    held_gradient = p.residual * table if shape.tied else 0  # until the embedding has its own
    recomputed = layer_activations(shape, size) - n * h * p.residual if size.checkpointing else 0
    through = Held(
        _copies(shape, size) if size.checkpointing else between.weights,
        inputs + recomputed + n * (2 * m * c + h * p.residual),
        held_gradient,
    )
    # a tied table sums both gradients
    embedding = Held(0, n * h * p.residual, (3 if shape.tied else 1) * p.residual * table)
    moments = (layers, head, back, through, embedding)
    return max(moments, key=lambda held: held.total)


def forward_peak(shape: ModelShape, size: PassSize, trained: bool) -> Held:
    """Return the peak memory of a pass without gradient. If ``trained``, it holds converted copies of all layers."""
    h, p, n = shape.hidden, size.precision, size.tokens
    c = p.product
    copies = shape.layers * _copies(shape, size) if trained else 0
    working = n * (3 * shape.intermediate * c + 3 * h * p.residual)
    output_copy = 2 * shape.embedding_parameters if p.casts else 0
    layers = Held(copies, working, 0)
    head = Held(copies, n * h * p.residual, _making(shape, size) + output_copy)
    return max(layers, head, key=lambda held: held.total)


def _copies(shape: ModelShape, size: PassSize) -> int:
    if not size.precision.casts:
        return 0
    q, kv, h, m = shape.query_width, shape.kv_width, shape.hidden, shape.intermediate
    return size.precision.product * (2 * h * q + 2 * h * kv + 3 * h * m)


def _making(shape: ModelShape, size: PassSize) -> int:
    logits = 4 * _blocks(shape, size)
    product = 0 if size.precision is Precision.FLOAT32 else logits // 2
    chunk = size.chunk_bytes or logits
    if size.precision.casts:
        return logits + max(product, 2 * min(logits, chunk))
    return logits + max(product, min(logits, 2 * chunk))  # the previous chunk is still in memory


def _blocks(shape: ModelShape, size: PassSize) -> int:
    return _rows(shape, size) * shape.vocab


def _rows(shape: ModelShape, size: PassSize) -> int:
    if not size.block_bytes:
        return size.targets
    return min(size.targets, max(1, size.block_bytes // (4 * shape.vocab)))


BATCHED_TOKENS = 8192
"""Number of prompt tokens that an engine processes at a time (vLLM's usual limit)."""
SEQUENCES = 256
"""Number of sequences whose logits an engine holds at a time (vLLM's usual limit)."""
ASLEEP_BYTES = 1_500_000_000
"""Bytes assumed for a sleeping engine: its CUDA graphs and memory that it does not release."""


def engine_share(
    shape: ModelShape, memory: int, share: float, context: int, width: int = 1, number: int = 2
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the memory of a vLLM engine with the fraction ``share`` of ``memory``: (bytes by item, problems).

    A KV cache too small for one sequence of ``context`` tokens is a problem. Weights have ``number`` bytes each and are
    divided over ``width`` GPUs.
    """
    taken = int(share * memory)
    weights = number * shape.parameters // width
    # assumed working memory: one MLP over a full batch, and all logits three times
    layer = BATCHED_TOKENS * (3 * shape.intermediate + 4 * shape.hidden) * number
    cache = taken - weights - (layer + 3 * 4 * SEQUENCES * shape.vocab)
    troubles = []
    if cache < context * 2 * number * shape.layers * shape.kv_width // width:
        troubles.append(
            f"vLLM would not start: of its {taken / 1e9:.3g} GB {max(cache, 0) / 1e9:.2g} remain for the KV cache, which "
            f"is too small for one sequence of {context} tokens"
        )
    return {"sampler weights": weights, "KV cache": max(taken - weights, 0)}, tuple(troubles)
