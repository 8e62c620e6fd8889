"""What a pass over a model costs: floating-point operations and bytes, from its shape alone.

A product of an (m, k) with a (k, n) matrix is 2 m k n operations; norms, activations and the softmax are left out.
Leaves out how fast a card does it (``decoding``, ``time``).
"""

from __future__ import annotations

from dataclasses import dataclass

from prorl_training.sizing.shape import ModelShape

BACKWARD = 2
"""A backward pass does twice the products of its forward pass: gradients of inputs and of weights."""
OPTIMIZER_BYTES = 28
"""Bytes a parameter that AdamW moves: reads gradient, master weight and two moments, writes the last three; float32."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What goes through a pass.

    ``tokens`` in all; ``attended``: the sum over them of the tokens each looks at, itself included; ``predicted``: those
    that the output layer is applied to.
    """

    tokens: float
    attended: float
    predicted: float


def forward_flops(shape: ModelShape, pass_: Tokens) -> float:
    """Return the operations of a forward pass."""
    products = shape.layers * shape.layer_parameters * pass_.tokens
    products += shape.embedding_parameters * pass_.predicted
    scores_and_values = 2 * shape.layers * shape.query_width * pass_.attended
    return 2 * (products + scores_and_values)


def update_flops(shape: ModelShape, pass_: Tokens, recomputed: bool) -> float:
    """Return the operations of a forward and a backward pass; ``recomputed``: activations are not kept."""
    return forward_flops(shape, pass_) * (1 + BACKWARD + recomputed)


def cache_bytes(shape: ModelShape, width: int) -> int:
    """Return the bytes of one token's keys and values, with ``width`` bytes a number."""
    return 2 * shape.layers * shape.kv_width * width


def read_bytes(shape: ModelShape, cached: float, width: int) -> float:
    """Return the bytes that sampling one token a sequence reads: all weights, and ``cached`` tokens of cache."""
    weights = shape.layers * shape.layer_parameters + shape.embedding_parameters
    return weights * width + cached * cache_bytes(shape, width)
