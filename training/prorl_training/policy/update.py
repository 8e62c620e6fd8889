"""Gradient updates of one step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_training.algorithm.kl import kl_penalty
from prorl_training.algorithm.objective import (
    Tokens,
    mismatch_size,
    mismatch_sums,
    pass_loss,
    token_weights,
)
from prorl_training.config import TrainConfig
from prorl_training.policy.files import policy_tensors, write_policy
from prorl_training.policy.model import PolicyModel
from prorl_training.policy.packing import Pack, PromptGroup, build_packs
from prorl_training.policy.ranks import Ranks, gathered
from prorl_training.rollout.staleness import is_stale
from prorl_training.types import Group, Trajectory, UpdateStats


@dataclass(frozen=True, slots=True)
class UpdateBatch:
    """One step's B trajectories, divided into mini-batches of whole prompt groups.

    ``PromptGroup.indices`` are indices into ``advantages`` (B,) and ``sampler_logprobs`` (a float per sampled token).
    ``stale`` are the indices of trajectories sampled by an earlier policy, whose old log-probs are the sampler's.
    """

    mini_batches: Sequence[Sequence[PromptGroup]]
    advantages: Tensor
    sampler_logprobs: Sequence[Sequence[float]]
    config: TrainConfig
    stale: frozenset[int] = frozenset()
    measure_kl_share: bool = False


def build_update(
    groups: Sequence[Group],
    advantages: Tensor,
    step: int,
    config: TrainConfig,
    encode: Callable[[Sample], tuple[int, ...]],
) -> UpdateBatch | None:
    """Return the batch for the update of ``step``, or None if no response can be trained on.

    ``advantages`` (B,) belong to the scored responses of ``groups``, in order. Groups are shuffled by (seed, step).
    """
    scored: list[tuple[int, Trajectory]] = []  # (group number, trajectory), in the order of indices
    packed: list[PromptGroup] = []
    for number, group in enumerate(groups):
        trained = [(i, t) for i, t in enumerate(group.scored, len(scored)) if t.trains]
        scored += [(number, t) for t in group.scored]
        if trained:
            answers = tuple(t.completion.token_ids for _, t in trained)
            indices = tuple(index for index, _ in trained)
            given = tuple(t.completion.given for _, t in trained)
            packed.append(PromptGroup(encode(group.sample), answers, indices, given))
    if not packed:
        return None
    random.Random(derive_seed(config.seed, "mini_batches", step)).shuffle(packed)
    count = min(config.loss.mini_batches, len(packed))
    every = config.kl.measure_share_every
    return UpdateBatch(
        mini_batches=[packed[i::count] for i in range(count)],
        advantages=advantages,
        sampler_logprobs=[t.completion.sampled(t.completion.logprobs) for _, t in scored],
        stale=frozenset(
            i for i, (number, _) in enumerate(scored) if is_stale(groups[number], step)
        ),
        config=config,
        measure_kl_share=bool(every) and (step == 1 or step % every == 0),
    )


class UpdateGuard(Protocol):
    """Decides whether a mini-batch's gradient is applied."""

    def accept_update(self, loss: float, grad_norm: float) -> bool:
        """Return whether to apply a mini-batch's gradient, whose norm before clipping is ``grad_norm``."""

    def norm_limit(self) -> float:
        """Return the gradient norm above which an update is skipped, for engines that update in other processes."""

    def record_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        """Record a mini-batch, and whether its gradient was applied."""


class AcceptAll:
    def accept_update(self, loss: float, grad_norm: float) -> bool:
        del loss, grad_norm
        return True

    def norm_limit(self) -> float:
        return math.inf

    def record_update(self, loss: float, grad_norm: float, applied: bool) -> None: ...


class PackStats:
    def __init__(self, device: torch.device) -> None:
        self.zero = torch.zeros((), device=device)
        self.loss = self.policy_loss = self.kl = self.entropy = self.zero
        self.clipped = self.masked = self.zero
        self.mismatch = torch.zeros(4, device=device)
        self.tokens = self.kl_tokens = 0
        self.mini_batches = self.skipped = 0
        self.norms: list[float] = []
        self.kl_share: float | None = None

    def stats(self, lr: float, trainer_logprobs: Mapping[int, Tensor], ranks: Ranks) -> UpdateStats:
        norms = [x for x in self.norms if math.isfinite(x)]
        sums = [self.loss, self.policy_loss, self.kl, self.entropy, self.clipped, self.masked]
        parts = torch.stack([x.detach().float() for x in (*sums, *self.mismatch)])
        totals = read_back(*ranks.sum(parts))
        loss, policy_loss, kl, entropy, clipped, masked, *mismatch_sums = totals
        tokens, kl_tokens = ranks.count(self.tokens, self.kl_tokens, device=self.zero.device)
        n, m = max(tokens, 1), max(self.mini_batches, 1)
        mismatch = mismatch_size(mismatch_sums)
        return UpdateStats(
            loss=loss / m,
            policy_loss=policy_loss / m,
            kl=kl / kl_tokens if kl_tokens else None,
            entropy=entropy / n,
            clipped_fraction=clipped / n,
            masked_fraction=masked / n,
            grad_norm=sum(norms) / len(norms) if norms else math.nan,
            mismatch_kl=mismatch.kl if mismatch else None,
            mismatch_ess=mismatch.ess if mismatch else None,
            lr=lr,
            skipped=self.skipped,
            kl_gradient_share=self.kl_share,
            trainer_logprobs=trainer_logprobs,
        )


def read_back(*scalars: Tensor) -> list[float]:
    """Return scalars as floats, waiting for the device only once."""
    values: list[float] = torch.stack([x.detach().float() for x in scalars]).tolist()
    return values


def to_host(values: Tensor) -> Tensor:
    return values.float().cpu()


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass of this rank: a pack, its ``index`` in the mini-batch and its tokens' ``weights`` (N,).

    If ``counts`` is False, the pack belongs to another rank and ``weights`` are 0.
    """

    index: int
    pack: Pack
    weights: Tensor
    counts: bool


class PolicyUpdate:
    """The gradient updates of one batch. ``run`` may be called once.

    Statistics cover all ranks, except ``trainer_logprobs``.
    """

    def __init__(
        self, policy: PolicyModel, batch: UpdateBatch, guard: UpdateGuard, lr_scale: float
    ) -> None:
        self.policy = policy
        self.batch = batch
        self.config = batch.config
        self.guard = guard
        self.lr_scale = lr_scale
        self.device, self.ranks = policy.device, policy.ranks
        self.temperature = self.config.rollout.temperature
        self.with_kl = self.config.kl.coefficient > 0 and policy.has_reference
        self.sums = PackStats(self.device)
        self.before: list[tuple[Pack, Tensor]] = []  # the trainer's log-probs before the update
        self.lr = 0.0

    def run(self) -> UpdateStats:
        limit = self.config.loss.pack_tokens
        packs = [build_packs(groups, limit) for groups in self.batch.mini_batches if groups]
        shares = [self._share(ps) for ps in packs]
        old = [self._old_logprobs(number, turns) for number, turns in enumerate(shares)]
        for number, turns in enumerate(shares):
            self._mini_batch(number, turns, old[number])
        return self.sums.stats(self.lr, self._before_by_trajectory(), self.ranks)

    def _share(self, packs: Sequence[Pack]) -> list[Turn]:
        lengths = torch.tensor([n for p in packs for n in p.lengths])
        weights = torch.split(
            token_weights(lengths, self.config.loss.aggregation, self.config.rollout.max_tokens),
            [sum(p.lengths) for p in packs],
        )
        return [
            Turn(i, packs[i], weights[i] if counts else 0 * weights[i], bool(counts))
            for i, counts in self.ranks.deal(packs)
        ]

    def _old_logprobs(self, number: int, turns: Sequence[Turn]) -> list[Tensor | None]:
        """Return each pack's log-probs before the update, or None if no separate pass is needed."""
        # computed only if the policy will have changed by then and the loss depends on them
        loss = self.config.loss
        unused = loss.on_policy_ratio and loss.mismatch.correction == "none"
        if number == 0 or unused or loss.old_logprobs == "sampler":
            return [None] * len(turns)
        logprobs = [self.policy.logprobs(t.pack, self.temperature) for t in turns]
        pairs = list(zip(turns, logprobs, strict=True))
        self.before += [(t.pack, values) for t, values in pairs if t.counts]
        return [self._merge_stale(t.pack, values) for t, values in pairs]

    def _before_by_trajectory(self) -> dict[int, Tensor]:
        if not self.before:
            return {}
        values = to_host(torch.cat([logprobs for _, logprobs in self.before]))
        owners = [
            (i, n) for p, _ in self.before for i, n in zip(p.trajectories, p.lengths, strict=True)
        ]
        parts = torch.split(values, [n for _, n in owners])
        return {i: part for (i, _), part in zip(owners, parts, strict=True)}

    def _merge_stale(self, pack: Pack, logprobs: Tensor) -> Tensor:
        source = self.config.loss.old_logprobs
        if source == "trainer" or (source == "by_age" and not self._is_stale(pack).any()):
            return logprobs
        sampled = self._sampled(pack).to(logprobs)
        if source == "sampler":
            return sampled
        return torch.where(self._is_stale(pack).to(self.device), sampled, logprobs)

    def _is_stale(self, pack: Pack) -> Tensor:
        flags = torch.tensor([i in self.batch.stale for i in pack.trajectories])
        return flags.repeat_interleave(torch.tensor(pack.lengths))

    def _sampled(self, pack: Pack) -> Tensor:
        values = [x for i in pack.trajectories for x in self.batch.sampler_logprobs[i]]
        return torch.tensor(values, dtype=torch.float32, device=self.device)

    def _mini_batch(self, number: int, turns: Sequence[Turn], old: Sequence[Tensor | None]) -> None:
        refs = [self._reference(t.pack) for t in turns]
        kl_gradient = None
        if number == 0 and self.batch.measure_kl_share and self.with_kl:
            kl_gradient = self._kl_gradient(turns, refs)
        total = torch.zeros((), device=self.device)
        self.policy.optimizer.zero_grad(set_to_none=True)
        for turn, before, ref in zip(turns, old, refs, strict=True):
            total = total + self._backward(number, turn, before, ref)
        self.ranks.sum_gradients(self.policy.trained)
        if kl_gradient is not None:
            self.sums.kl_share = self._kl_share(kl_gradient)
        self._step(self.ranks.sum(total))

    def _reference(self, pack: Pack) -> Tensor | None:
        if not self.with_kl:
            return None
        return self.policy.reference_logprobs(pack, self.temperature)

    def _backward(self, number: int, turn: Turn, old: Tensor | None, ref: Tensor | None) -> Tensor:
        c, pack = self.config, turn.pack
        with self.policy.gradient_pass(number * 1_000_000 + turn.index):
            logprobs, entropy = self.policy.target_logprobs(pack, self.temperature, True)
            current = logprobs.detach()
            if number == 0 and turn.counts:
                self.before.append((pack, current))
            before = self._merge_stale(pack, current) if old is None else old
            advantages = self.batch.advantages[list(pack.trajectories)]
            lengths = torch.tensor(pack.lengths)
            per_token = advantages.repeat_interleave(lengths).to(logprobs)
            sampled = self._sampled(pack)
            weights = turn.weights.to(logprobs)
            on_device = lengths.to(self.device)
            tokens = Tokens(logprobs, before, sampled, ref, per_token, weights, on_device)
            result = pass_loss(tokens, c.loss, c.kl)
            result.loss.backward()  # type: ignore[no-untyped-call]
        if not turn.counts:
            return self.sums.zero
        s, count = self.sums, len(pack.targets)
        s.loss = s.loss + result.loss.detach()
        s.policy_loss = s.policy_loss + result.policy_loss.detach()
        s.entropy = s.entropy + (entropy.sum() if entropy is not None else 0.0)
        s.clipped = s.clipped + result.clipped_fraction * count
        s.masked = s.masked + result.masked_fraction * count
        s.tokens += count
        if result.kl is not None:
            s.kl, s.kl_tokens = s.kl + result.kl.detach().sum(), s.kl_tokens + count
        from_before = current if number == 0 else old
        if from_before is not None:
            fresh = ~self._is_stale(pack).to(self.device)
            s.mismatch = s.mismatch + mismatch_sums(from_before, sampled, fresh)
        return result.loss.detach()

    def _kl_gradient(
        self, turns: Sequence[Turn], refs: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        self.policy.optimizer.zero_grad(set_to_none=True)
        for turn, ref in zip(turns, refs, strict=True):
            if ref is None:
                continue
            with self.policy.gradient_pass(turn.index):
                logprobs, _ = self.policy.target_logprobs(turn.pack, self.temperature)
                kl = kl_penalty(logprobs, ref, self.config.kl)
                loss = self.config.kl.coefficient * (kl * turn.weights.to(kl)).sum()
                loss.backward()  # type: ignore[no-untyped-call]
        self.ranks.sum_gradients(self.policy.trained)
        return [p.grad for p in self.policy.trained]

    def _kl_share(self, kl_gradient: Sequence[Tensor | None]) -> float | None:
        kls, policies = [self.sums.zero], [self.sums.zero]
        for parameter, kl in zip(self.policy.trained, kl_gradient, strict=True):
            if parameter.grad is None or kl is None:
                continue
            kls.append(gathered(torch.linalg.vector_norm(kl)))
            policies.append(gathered(torch.linalg.vector_norm(parameter.grad - kl)))
        norms = [torch.linalg.vector_norm(torch.stack(part)) for part in (kls, policies)]
        of_kl, of_policy = read_back(*norms)
        both = of_kl + of_policy
        return of_kl / both if math.isfinite(both) and both > 0 else None

    def _step(self, total: Tensor) -> None:
        policy, o = self.policy, self.config.optimizer
        clipped_from = torch.nn.utils.clip_grad_norm_(policy.trained, o.grad_clip)
        norm, loss = read_back(gathered(clipped_from), total)
        self.lr = o.lr_at(policy.updates + 1, policy.planned_updates, self.lr_scale)
        self.sums.mini_batches += 1
        self.sums.norms.append(norm)
        accepted = self.guard.accept_update(loss, norm)
        finite = math.isfinite(norm) and math.isfinite(loss)
        if not self.ranks.decide(accepted and finite, self.device):
            self.sums.skipped += 1
            policy.optimizer.zero_grad(set_to_none=True)
            return
        policy.step_optimizer(o, self.lr)


class Policy(PolicyModel):
    def update(
        self, batch: UpdateBatch, guard: UpdateGuard | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:

        return PolicyUpdate(self, batch, guard or AcceptAll(), lr_scale).run()

    def reset_to_checkpoint(self, clear_optimizer: bool, path: Path) -> None:
        self.reset_reference(clear_optimizer, policy_tensors(path))

    def load_checkpoint_policy(self, path: Path) -> None:
        self.load_policy_weights(policy_tensors(path))

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        return write_policy(work, self, tokenizer)
