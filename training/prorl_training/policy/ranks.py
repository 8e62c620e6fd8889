"""The ranks of a run: processes on one machine, each with a device, that compute every update together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from prorl_training.policy.packing import Pack


@dataclass(frozen=True, slots=True)
class Ranks:
    """The rank of this process among ``size`` ranks. All ranks must call the methods in the same order.

    If ``sharded``, each rank holds a part of every weight (FSDP2), else all weights.
    """

    rank: int = 0
    size: int = 1
    sharded: bool = False

    def deal(self, packs: Sequence[Pack]) -> list[tuple[int, float]]:
        """Return (index, weight) of each pack that this rank runs, dealing the largest packs first.

        Sharded ranks must run equally many passes, so a rank may get another rank's pack with weight 0.
        """
        if self.size == 1:
            return [(i, 1.0) for i in range(len(packs))]
        order = sorted(range(len(packs)), key=lambda i: (-packs[i].input_ids.shape[1], i))
        mine = []
        for start in range(0, len(order), self.size):
            is_odd = start // self.size % 2
            place = start + (self.size - 1 - self.rank if is_odd else self.rank)
            if place < len(order):
                mine.append((order[place], 1.0))
            elif self.sharded:
                mine.append((order[-1], 0.0))
        return mine

    def sum(self, values: Tensor) -> Tensor:
        if self.size == 1:
            return values
        total = values.detach().clone()
        dist.all_reduce(total)
        return total

    def count(self, *counts: int, device: torch.device) -> list[int]:
        if self.size == 1:
            return list(counts)
        totals: list[int] = self.sum(torch.tensor(counts, device=device)).tolist()
        return totals

    def sum_gradients(self, parameters: Sequence[Any]) -> None:
        """Sum each rank's gradients over the ranks, unless FSDP has already done this."""
        if self.size == 1 or self.sharded:
            return
        device = parameters[0].device
        has_gradient = torch.tensor([p.grad is not None for p in parameters], device=device)
        counts = self.sum(has_gradient.int()).tolist()
        pending = []
        for parameter, count in zip(parameters, counts, strict=True):
            if not count:
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            pending.append(dist.all_reduce(parameter.grad, async_op=True))
        for work in pending:
            work.wait()

    def decide(self, answer: bool, device: torch.device) -> bool:
        """Return rank 0's ``answer`` on every rank."""
        if self.size == 1:
            return answer
        flag = torch.tensor([answer], device=device).int()
        dist.broadcast(flag, 0)
        return bool(flag.item())

    def whole(self, tensor: Tensor) -> Tensor:
        """Return a sharded tensor complete in main memory on rank 0, and an empty tensor on other ranks.

        A tensor that is not sharded is returned unchanged.
        """
        if not _is_shard(tensor):
            return tensor.detach()
        full: Tensor = tensor.detach().full_tensor()  # type: ignore[attr-defined]
        return full.cpu() if self.rank == 0 else full.new_empty(0)


def _is_shard(tensor: Any) -> bool:
    return hasattr(tensor, "full_tensor")


def gathered(tensor: Any) -> Tensor:
    """Return the complete tensor on this rank's device."""
    full: Tensor = tensor.full_tensor() if _is_shard(tensor) else tensor
    return full


def shard_like(tensor: Tensor, parameter: Any) -> Tensor:
    """Return this rank's shard of ``tensor``, or all of it if ``parameter`` is not sharded."""
    if not _is_shard(parameter) or _is_shard(tensor):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = parameter.device_mesh, parameter.placements
    shard: Tensor = distribute_tensor(
        tensor.to(parameter.device), mesh, placements, src_data_rank=None
    )
    return shard


class ScoringModule(torch.nn.Module):
    """A scorer of ``policy.logprobs`` as a torch module, for which FSDP gathers the weights in each pass."""

    def __init__(self, scorer: Any) -> None:
        super().__init__()
        self.model, self.scorer = scorer.model, scorer

    def forward(self, *inputs: Any) -> Any:
        return self.scorer.score(*inputs)


def shard(scorer: Any) -> ScoringModule:
    """Shard the scorer's model over all ranks, layer by layer; return the module that runs the scorer.

    FSDP then sums the ranks' gradients instead of averaging them.
    """
    from torch.distributed.fsdp import FSDPModule, fully_shard

    module = ScoringModule(scorer)
    names = set(getattr(scorer.whole, "_no_split_modules", None) or ())
    layers = [m for m in scorer.whole.modules() if type(m).__name__ in names]
    for part in (*layers, module):
        # resharded after each pass, so that no gathered copy outlives an optimiser step
        fully_shard(part, reshard_after_forward=True)
    for part in module.modules():
        if isinstance(part, FSDPModule):
            part.set_gradient_divide_factor(1.0)
            part.set_force_sum_reduction_for_comms(True)  # gloo cannot scale
    return module


class GatheredModel:
    """Gives a sampler the weights of a sharded model, gathered one by one. All ranks must read all weights."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def named_parameters(self) -> Any:
        for name, parameter in self.model.named_parameters():
            yield name, gathered(parameter.detach())

    def state_dict(self) -> dict[str, Tensor]:
        return {name: gathered(value) for name, value in self.model.state_dict().items()}
