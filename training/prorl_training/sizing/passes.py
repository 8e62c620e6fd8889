"""Bytes that one forward and backward pass holds on a device beside weights, gradients and optimiser.

Follows what Transformers' layers, the attention kernels and ``policy.logprobs`` really keep, tensor by tensor; held
together with them by tests/training/test_training_fit_passes.py, and by benchmarks/fit.py at full size. Leaves out:
where the tokens of a pass come from (``local``, ``cluster``), and what an allocator adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from prorl_training.sizing.shape import ModelShape

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
