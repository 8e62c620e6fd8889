"""Skips updates whose gradients are too large or not finite, before ZeRO applies them.

DeepSpeed 0.19.6 itself skips non-finite gradients in ZeRO-1 and 2, but in ZeRO-3 only with fp16
(runtime/zero/stage3.py).
"""

from __future__ import annotations

import math
from typing import Any

import torch


class GradientGate:
    """Skips bad updates of a rank's ZeRO ``optimizer``. All ranks decide alike, because they compare the global norm.

    ``norm`` is the last update's gradient norm before clipping, or NaN if it was not finite.
    """

    def __init__(self, optimizer: Any) -> None:
        self.limit = math.inf
        self.norm = math.nan
        self.applied = True
        self._optimizer = optimizer
        self._look = optimizer.check_overflow
        optimizer.check_overflow = self._check
        if hasattr(optimizer, "check_grad_overflow"):  # ZeRO-1 and 2
            optimizer.check_grad_overflow = True
        else:
            self._follow_up = optimizer._overflow_check_and_loss_scale_update
            optimizer._overflow_check_and_loss_scale_update = self._check_first

    def _check(self, *args: Any, **options: Any) -> None:
        self._look(*args, **options)
        if self._optimizer.overflow:
            self.norm = math.nan
        else:
            # over all ranks, as in the optimiser's own step; the loss scale is 1
            if hasattr(self._optimizer, "scaled_global_norm"):  # ZeRO-1 and 2, stage_1_and_2.py
                self.norm = float(self._optimizer.scaled_global_norm())
            else:  # stage3.py, step
                norms = torch.stack(self._optimizer._get_norm_groups())
                self.norm = float(torch.linalg.vector_norm(norms))
            self._optimizer.overflow = not (math.isfinite(self.norm) and self.norm <= self.limit)
        self.applied = not self._optimizer.overflow

    def _check_first(self) -> bool:
        self._check()
        return bool(self._follow_up())
