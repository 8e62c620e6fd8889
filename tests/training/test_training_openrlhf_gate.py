"""Non-finite or too large gradients of a rank are dropped before ZeRO applies them, in every stage."""

from __future__ import annotations

import math

import pytest
import torch

from prorl_training.engine.openrlhf.actors.gradient_gate import GradientGate


class Zero:
    """The common part of the stages: gradients, and a flag that makes the step drop them."""

    def __init__(self, *gradients: float) -> None:
        self.gradients = torch.tensor(gradients)
        self.overflow = False
        self.stepped = False

    def check_overflow(self, partition_gradients: bool = True) -> None:
        self.overflow = not bool(self.gradients.isfinite().all())


class Zero2(Zero):
    """As in float32: gradients are not checked unless requested."""

    check_grad_overflow = False

    def scaled_global_norm(self) -> torch.Tensor:
        norm: torch.Tensor = self.gradients.norm()
        return norm

    def step(self) -> None:
        if self.check_grad_overflow:
            self.check_overflow(partition_gradients=True)
        self.stepped = not self.overflow


class Zero3(Zero):
    """As in bf16: gradients are checked with fp16 only."""

    def _get_norm_groups(self) -> list[torch.Tensor]:
        return [self.gradients[:1].norm(), self.gradients[1:].norm()]

    def _overflow_check_and_loss_scale_update(self) -> bool:
        return self.overflow

    def step(self) -> None:
        self.stepped = not self._overflow_check_and_loss_scale_update()


STAGES = pytest.mark.parametrize("stage", [Zero2, Zero3])


@STAGES
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_gradients_that_are_not_finite_are_dropped(stage: type[Zero2 | Zero3], bad: float) -> None:
    bare = stage(1.0, bad)
    bare.step()
    assert bare.stepped, "without a gate they would be applied"
    optimizer = stage(1.0, bad)
    gate = GradientGate(optimizer)
    optimizer.step()
    assert not optimizer.stepped
    assert math.isnan(gate.norm)
    assert not gate.applied


@STAGES
def test_a_norm_above_the_limit_is_dropped_and_known(stage: type[Zero2 | Zero3]) -> None:
    optimizer = stage(3.0, 4.0)
    gate = GradientGate(optimizer)
    optimizer.step()
    assert (optimizer.stepped, gate.norm, gate.applied) == (True, 5.0, True)
    gate.limit = 4.9
    optimizer.step()
    assert (optimizer.stepped, gate.norm, gate.applied) == (False, 5.0, False)
    gate.limit = 5.0
    optimizer.step()
    assert optimizer.stepped, "one bad update does not bar the next"
