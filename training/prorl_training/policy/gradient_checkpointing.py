"""Gradient checkpointing without the dropout that training mode would bring.

Transformers recomputes a layer only while the layer is in training mode; everything inside it stays in
evaluation mode here, so gradients are those of the plain pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from prorl_common import UserError


def enable_checkpointing(model: Any) -> None:
    """Prepare the model. Raises UserError when its family cannot recompute its layers."""
    if not getattr(model, "supports_gradient_checkpointing", False):
        raise UserError(
            f"{type(model).__name__} cannot recompute its activations: use "
            "--set model.gradient_checkpointing=false"
        )
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    for module in model.modules():  # the policy knows no dropout, in whatever mode a layer is
        for name, value in vars(module).items():
            if ("dropout" in name or name == "layerdrop") and isinstance(value, float):
                setattr(module, name, 0.0)


@contextmanager
def checkpointed_pass(model: Any) -> Iterator[None]:
    """Recompute the layers of passes inside the block in their backward pass; nothing where not enabled."""
    layers = [m for m in model.modules() if getattr(m, "gradient_checkpointing", False) is True]
    before = [layer.training for layer in layers]
    for layer in layers:
        layer.training = True
    try:
        yield
    finally:
        for layer, mode in zip(layers, before, strict=True):
            layer.training = mode
