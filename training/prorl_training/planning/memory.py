"""What a GPU holds in each stage of a step, item by item. Bytes are bytes, GB are 10^9.

A pass follows what Transformers' layers, the attention kernels and ``policy.logprobs`` really keep, tensor by tensor;
tests/training/test_training_fit_passes.py compares the two, and benchmarks/fit.py does at full size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from prorl_training.config import TrainConfig
from prorl_training.planning.model_shape import ModelShape

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
"""What memory goes to. ``reserve`` is assumed, not reckoned: contexts of the device and what its allocator wastes."""
GB = 10**9
PROMPT_ROOM = 2048
"""Tokens of prompt that are reckoned with where a config does not limit them, but at most ``PROMPT_SHARE`` responses."""
PROMPT_SHARE = 4
CONTEXT_BYTES = 750_000_000
"""Assumed for each process on a GPU: the CUDA context, the libraries' workspaces, NCCL's buffers."""
WASTE = 0.05
"""Assumed part of a pass's memory that the allocator loses to pieces that do not fit together."""
TORCH_BYTES = 700_000_000
"""Assumed for a process without a GPU: torch and Transformers, loaded."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a step on one kind of GPU (``where``: the policy's, the sampler's, or empty where all are alike)."""

    name: str
    items: Mapping[str, int]
    where: str = ""

    @property
    def total(self) -> int:
        """Return the bytes of all items."""
        return sum(self.items.values())


@dataclass(frozen=True, slots=True)
class PhaseFit:
    """The stages of a step in one phase; ``sizes`` says what sizes were reckoned with."""

    name: str
    sizes: Mapping[str, int]
    stages: tuple[Stage, ...]
    troubles: tuple[str, ...] = ()
    """What does not work whatever the total is."""

    @property
    def worst(self) -> Stage:
        """Return the stage that takes most."""
        return max(self.stages, key=lambda stage: stage.total)


@dataclass(frozen=True, slots=True)
class Fit:
    """A run's phases beside ``memory`` bytes of one ``device``, of ``gpus`` in all."""

    config: TrainConfig
    device: str
    memory: int
    gpus: int
    parameters: int
    phases: tuple[PhaseFit, ...]

    @property
    def worst(self) -> PhaseFit:
        """Return the phase that takes most; one that has troubles goes before."""
        return max(self.phases, key=lambda phase: (bool(phase.troubles), phase.worst.total))

    @property
    def needed(self) -> int:
        """Return the bytes of the worst stage."""
        return max(phase.worst.total for phase in self.phases)

    @property
    def fits(self) -> bool:
        """Return whether every stage of every phase fits."""
        return self.needed <= self.memory and not any(phase.troubles for phase in self.phases)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
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
    """Return the tokens of prompt to reckon with in a phase's ``config``, for a model of ``context`` tokens."""
    r = config.rollout
    limit = r.vllm_context or context
    room = max(limit - r.max_tokens, 1) if limit else PROMPT_ROOM
    return min(r.max_prompt_tokens or min(PROMPT_ROOM, PROMPT_SHARE * r.max_tokens), room)


def reserve(processes: int, pass_bytes: int) -> int:
    """Return what is assumed for ``processes`` on a GPU of which one makes passes of ``pass_bytes``."""
    return processes * CONTEXT_BYTES + int(WASTE * pass_bytes)


def named(config: TrainConfig) -> tuple[tuple[str, TrainConfig], ...]:
    """Return each phase's name and config; a run without phases has one, called as the preset."""
    if not config.phases:
        return ((config.preset, config),)
    return tuple((phase.name, config.in_phase(n)) for n, phase in enumerate(config.phases))


BLOCK_BYTES = 1 << 28
"""Size of a block of float32 logits: ``policy.logprobs`` makes one at a time."""
CPU_CHUNK_BYTES = 1 << 22
"""On a CPU the exponentials of a block are taken in chunks of this size, elsewhere all at once."""


class Precision(Enum):
    """In which types weights and passes are."""

    FLOAT32 = "float32"
    """Everything in float32: the local engine on a CPU without bf16."""
    AUTOCAST = "autocast"
    """Float32 weights and residual stream, products in bf16: the local engine on a GPU."""
    BF16 = "bf16"
    """Everything in bf16, but for the norms' inputs: the OpenRLHF engine."""

    @property
    def product(self) -> int:
        """Return the bytes of a number that a product reads or makes."""
        return 4 if self is Precision.FLOAT32 else 2

    @property
    def residual(self) -> int:
        """Return the bytes of a number in the residual stream, and of a weight."""
        return 2 if self is Precision.BF16 else 4

    @property
    def casts(self) -> bool:
        """Return whether products work on copies of the weights in another type."""
        return self.product != self.residual


@dataclass(frozen=True, slots=True)
class PassSize:
    """One pass of ``tokens`` tokens that predicts ``targets`` of them.

    ``masked``: attention has a mask and all heads' own keys and values (the local engine's packs); else a kernel that
    knows grouped heads and where sequences end. ``block_bytes`` of float32 logits are made at a time, and exponentials
    of ``chunk_bytes`` of them; 0: all at once. ``tables_trained``: embedding and output layer get gradients, as they do
    but for adapters; what adapters keep of their own is not counted (a few percent).
    """

    tokens: int
    targets: int
    precision: Precision
    checkpointing: bool
    masked: bool
    block_bytes: int = BLOCK_BYTES
    chunk_bytes: int = 0
    tables_trained: bool = True


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes that a pass holds at one moment: copies of weights, activations, and what the logits take."""

    weights: int
    activations: int
    logits: int

    @property
    def total(self) -> int:
        """Return the sum."""
        return self.weights + self.activations + self.logits


def layer_activations(shape: ModelShape, size: PassSize) -> int:
    """Return the bytes that one layer keeps for its backward pass, copies of weights left out."""
    h, m, q, kv = shape.hidden, shape.intermediate, shape.query_width, shape.kv_width
    c = size.precision.product
    match size.precision:
        case (
            Precision.FLOAT32
        ):  # a norm's input, normalised and weighted; the last is what the products read
            norm, reads, qk = 4 * 3, 0, 4 * 2
        case (
            Precision.AUTOCAST
        ):  # input and normalised in float32; every product has its own bf16 copy
            norm, reads, qk = 4 * 2, c * 5, 4 + c
        case Precision.BF16:  # input in float32, normalised and weighted in bf16
            norm, reads, qk = 4 + c * 2, 0, 4 + c
    hidden = h * (2 * norm + reads)
    attention = c * (2 * q + (2 * q if size.masked else 2 * kv)) + 4 * shape.heads
    heads = shape.qk_norm * (qk * (q + kv) + 4 * (shape.heads + shape.kv_heads))
    mlp = c * 4 * m
    a_token = hidden + attention + heads + mlp + 2 * 4  # and a scale for each norm
    mask = c * size.tokens if size.masked else 0
    return size.tokens * (a_token + mask)


def kept(shape: ModelShape, size: PassSize) -> Held:
    """Return what is held between forward and backward pass; the parameters themselves are not counted."""
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
    """Return what is held at the worst moment of a forward and backward pass with gradients already there.

    The moments are the end of the layers' forward pass, the output layer forward and backward, and the backward
    pass of the last layer and of the embedding.
    """
    h, m, p, n = shape.hidden, shape.intermediate, size.precision, size.tokens
    c, table = p.product, shape.embedding_parameters if size.tables_trained else 0
    between = kept(shape, size)
    block, copies = _blocks(shape, size), shape.layers * _copies(shape, size)
    inputs = shape.layers * n * h * p.residual if size.checkpointing else between.activations
    output_copy = 2 * shape.embedding_parameters if p.casts else 0
    # forward: the layers' casts stay until the pass ends
    layers = Held(copies, inputs + n * (3 * m * c + 2 * h * p.residual), 0)
    head = Held(copies, between.activations, _making(shape, size) + output_copy)
    # backward: a gradient of the output layer in float32, what is added to it, and a block beside it
    several = block < size.targets * shape.vocab
    slope = block * c
    if c == 4:
        gradient = 4 * table + 4 * block
    else:
        gradient = max(6 * table + slope, block * (4 + c) + (4 * table if several else 0))
    back = Held(
        between.weights,
        between.activations + size.targets * h * p.residual,
        gradient + output_copy,
    )
    held_gradient = p.residual * table if shape.tied else 0  # until the embedding's own is there
    own = layer_activations(shape, size) - n * h * p.residual if size.checkpointing else 0
    through = Held(
        _copies(shape, size) if size.checkpointing else between.weights,
        inputs + own + n * (2 * m * c + h * p.residual),
        held_gradient,
    )
    # a table that is the output layer too sums both gradients
    embedding = Held(0, n * h * p.residual, (3 if shape.tied else 1) * p.residual * table)
    moments = (layers, head, back, through, embedding)
    return max(moments, key=lambda held: held.total)


def forward_peak(shape: ModelShape, size: PassSize, trained: bool) -> Held:
    """Return what a pass without gradient holds at its worst; copies of ``trained`` weights stay until its end."""
    h, p, n = shape.hidden, size.precision, size.tokens
    c = p.product
    copies = shape.layers * _copies(shape, size) if trained else 0
    working = n * (3 * shape.intermediate * c + 3 * h * p.residual)
    mask = n * n * c if size.masked else 0
    expanded = n * 4 * shape.query_width * c + mask
    output_copy = 2 * shape.embedding_parameters if p.casts else 0
    layers = Held(copies, max(working, expanded), 0)
    head = Held(copies, n * h * p.residual, _making(shape, size) + output_copy)
    return max(layers, head, key=lambda held: held.total)


def _copies(shape: ModelShape, size: PassSize) -> int:
    """Return the bytes of the copies of one layer's matrices in the type of the products."""
    if not size.precision.casts:
        return 0
    q, kv, h, m = shape.query_width, shape.kv_width, shape.hidden, shape.intermediate
    return size.precision.product * (2 * h * q + 2 * h * kv + 3 * h * m)


def _making(shape: ModelShape, size: PassSize) -> int:
    """Return the bytes that turning one block of logits into log-probs and entropies takes.

    First the product and the logits in float32, then these and a chunk of exponentials; for the entropy autocast
    makes copies of both in its own type.
    """
    logits = 4 * _blocks(shape, size)
    product = 0 if size.precision is Precision.FLOAT32 else logits // 2
    chunk = size.chunk_bytes or logits
    if size.precision.casts:
        return logits + max(product, 2 * min(logits, chunk))
    return logits + max(product, min(logits, 2 * chunk))  # the chunk before is there still


def _blocks(shape: ModelShape, size: PassSize) -> int:
    """Return the logits that are there at a time."""
    return _rows(shape, size) * shape.vocab


def _rows(shape: ModelShape, size: PassSize) -> int:
    """Return for how many targets logits are there at a time."""
    if not size.block_bytes:
        return size.targets
    return min(size.targets, max(1, size.block_bytes // (4 * shape.vocab)))


BATCHED_TOKENS = 8192
"""Prompt tokens that an engine reads at once (vLLM's usual limit)."""
SEQUENCES = 256
"""Sequences whose logits it has at once (vLLM's usual limit)."""
ASLEEP_BYTES = 1_500_000_000
"""Assumed for an engine that sleeps: its CUDA graphs and what it does not give back."""


def engine_share(
    shape: ModelShape, memory: int, share: float, context: int, width: int = 1, number: int = 2
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the items of an engine that has ``share`` of ``memory`` on each of ``width`` GPUs, and what is wrong.

    vLLM takes its share whole, whatever it needs: the weights (``number`` bytes each), what a pass of its own works
    with, and the rest for its cache. It does not start where the cache cannot hold one sequence of ``context`` tokens.
    """
    taken = int(share * memory)
    weights = number * shape.parameters // width
    cache = taken - weights - _working(shape, number)
    troubles = []
    if cache < context * 2 * number * shape.layers * shape.kv_width // width:
        troubles.append(
            f"vLLM would not start: of its {taken / 1e9:.3g} GB {max(cache, 0) / 1e9:.2g} are left for a cache, which "
            f"holds no sequence of {context} tokens"
        )
    return {"sampler weights": weights, "KV cache": max(taken - weights, 0)}, tuple(troubles)


def _working(shape: ModelShape, number: int) -> int:
    """Return what vLLM's own passes are assumed to work with: one MLP over a full batch, and three of all logits."""
    layer = BATCHED_TOKENS * (3 * shape.intermediate + 4 * shape.hidden) * number
    return layer + 3 * 4 * SEQUENCES * shape.vocab
