"""Has DeepSpeed drop an update whose gradients are not finite, whatever the dtype and the ZeRO stage.

By itself DeepSpeed 0.19.6 looks for such gradients with bf16 and fp16 in ZeRO-1 and 2 (runtime/engine.py,
``_configure_zero_optimizer``) and with fp16 only in ZeRO-3 (runtime/zero/stage3.py,
``_overflow_check_and_loss_scale_update``): a NaN would be applied. Leaves out: counting what was dropped
(``policy_actor``).
"""

from __future__ import annotations

from typing import Any


def always_check_gradients(optimizer: Any) -> None:
    """Make the ZeRO ``optimizer`` set ``overflow`` and skip its step when a gradient is not finite on any rank."""
    if hasattr(optimizer, "check_grad_overflow"):  # ZeRO-1 and 2
        optimizer.check_grad_overflow = True
        return
    follow_up = optimizer._overflow_check_and_loss_scale_update

    def check_first() -> bool:
        optimizer.check_overflow()
        return bool(follow_up())

    optimizer._overflow_check_and_loss_scale_update = check_first
