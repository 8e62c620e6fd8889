"""One step's gradient updates: packs, old and reference log-probs, loss, clipping, the optimiser step.

Nothing is computed twice that is known already: with one mini-batch, and for the first of several, the old
log-probs are those of the gradient's own pass; trajectories of an earlier policy bring theirs. Leaves out:
the formulas (``algorithm``), the model's passes (``policy.causal_head``) and who is asked before a step is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from prorl_common import derive_seed
from prorl_training.algorithm import Tokens, kl_penalty, pass_loss, token_weights
from prorl_training.policy.gradient_checkpointing import checkpointed_pass
from prorl_training.policy.lora import adapter_dropout
from prorl_training.policy.packing import Pack, build_packs
from prorl_training.policy.stats import PackStats, UpdateBatch, UpdateJudge, UpdateStats
from prorl_training.schedule.learning_rate import lr_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prorl_training.policy.policy import Policy


class PolicyUpdate:
    """The update of one batch: made, run once, thrown away."""

    def __init__(
        self, policy: Policy, batch: UpdateBatch, judge: UpdateJudge, lr_scale: float
    ) -> None:
        self.policy = policy
        self.batch = batch
        self.config = batch.config
        self.judge = judge
        self.lr_scale = lr_scale
        self.device = policy.device
        self.temperature = self.config.rollout.temperature
        self.with_kl = self.config.kl.coefficient > 0 and policy.has_reference
        self.sums = PackStats(self.device)
        self.lr = 0.0

    def run(self) -> UpdateStats:
        """Do one gradient update a mini-batch and return what was measured."""
        limit = self.config.loss.pack_tokens
        packs = [build_packs(groups, limit) for groups in self.batch.mini_batches if groups]
        old = [self._old_logprobs(number, ps) for number, ps in enumerate(packs)]
        for number, ps in enumerate(packs):
            self._mini_batch(number, ps, old[number])
        return self.sums.stats(self.lr)

    def _old_logprobs(self, number: int, packs: Sequence[Pack]) -> list[Tensor | None]:
        """Return each pack's log-probs before the update; None: those of the gradient's own pass.

        Computed only where the policy will have moved by then and something depends on them.
        """
        loss = self.config.loss
        unused = loss.on_policy_ratio and loss.mismatch.correction == "none"
        if number == 0 or unused:
            return [None] * len(packs)
        return [self._merge_stale(p, self.policy.logprobs(p, self.temperature)) for p in packs]

    def _merge_stale(self, pack: Pack, own: Tensor) -> Tensor:
        """Return ``own`` (N,) with the sampler's log-probs where the trajectory is stale."""
        if not self._is_stale(pack).any():
            return own
        stale = self._is_stale(pack).to(self.device)
        return torch.where(stale, self._sampled(pack).to(own), own)

    def _is_stale(self, pack: Pack) -> Tensor:
        flags = torch.tensor([i in self.batch.stale for i in pack.trajectories])
        return flags.repeat_interleave(torch.tensor(pack.lengths))

    def _sampled(self, pack: Pack) -> Tensor:
        values = [x for i in pack.trajectories for x in self.batch.sampler_logprobs[i]]
        return torch.tensor(values, dtype=torch.float32, device=self.device)

    def _mini_batch(self, number: int, packs: Sequence[Pack], old: Sequence[Tensor | None]) -> None:
        loss = self.config.loss
        lengths = torch.tensor([n for p in packs for n in p.lengths])
        weights = torch.split(
            token_weights(lengths, loss.aggregation, self.config.rollout.max_tokens),
            [sum(p.lengths) for p in packs],
        )
        refs = [self._reference(p) for p in packs]
        kl_gradient = None
        if number == 0 and self.batch.measure_kl_share and self.with_kl:
            kl_gradient = self._kl_gradient(packs, weights, refs)
        total = torch.zeros((), device=self.device)
        self.policy.optimizer.zero_grad(set_to_none=True)
        for i, pack in enumerate(packs):
            total = total + self._backward(number, i, pack, weights[i], old[i], refs[i])
        if kl_gradient is not None:
            self.sums.kl_share = self._kl_share(kl_gradient)
        self._step(total)

    def _reference(self, pack: Pack) -> Tensor | None:
        if not self.with_kl:
            return None
        return self.policy.reference_logprobs(pack, self.temperature)

    @contextmanager
    def _gradient_pass(self, *purpose: int) -> Iterator[None]:
        """Settings of passes that will be differentiated, backward pass included."""
        dropout = self.policy.config.model.lora.dropout if self.policy.adapters else 0.0
        seed = derive_seed(self.policy.config.seed, "lora_dropout", self.policy.updates, *purpose)
        with ExitStack() as stack:
            stack.enter_context(checkpointed_pass(self.policy.model))
            stack.enter_context(adapter_dropout(self.policy.model, dropout, seed))
            yield

    def _backward(
        self,
        number: int,
        i: int,
        pack: Pack,
        weight: Tensor,
        old: Tensor | None,
        ref: Tensor | None,
    ) -> Tensor:
        """Add one pack's gradient and figures; return its part of the loss."""
        c = self.config
        with self._gradient_pass(number * 1_000_000 + i):
            logprobs, entropy = self.policy.target_logprobs(pack, self.temperature, True)
            before = self._merge_stale(pack, logprobs.detach()) if old is None else old
            advantages = self.batch.advantages[list(pack.trajectories)]
            lengths = torch.tensor(pack.lengths, device=self.device)
            per_token = advantages.to(logprobs).repeat_interleave(lengths)
            sampled = self._sampled(pack)
            weights = weight.to(logprobs)
            tokens = Tokens(logprobs, before, sampled, ref, per_token, weights, lengths)
            found = pass_loss(tokens, c.loss, c.kl)
            found.loss.backward()  # type: ignore[no-untyped-call]
        s, count = self.sums, len(pack.targets)
        s.loss = s.loss + found.loss.detach()
        s.policy_loss = s.policy_loss + found.policy_loss.detach()
        s.entropy = s.entropy + (entropy.sum() if entropy is not None else 0.0)
        s.clipped = s.clipped + found.clipped_fraction * count
        s.masked = s.masked + found.masked_fraction * count
        s.tokens += count
        if found.kl is not None:
            s.kl, s.kl_tokens = s.kl + found.kl.detach().sum(), s.kl_tokens + count
        self._add_gap(number, pack, sampled - before, old)
        return found.loss.detach()

    def _add_gap(self, number: int, pack: Pack, gap: Tensor, old: Tensor | None) -> None:
        """Count sampler against trainer where the trainer's log-probs are from before the update."""
        if number > 0 and old is None:
            return
        fresh = ~self._is_stale(pack)
        self.sums.gap = self.sums.gap + (gap.abs() * fresh.to(self.device)).sum()
        self.sums.fresh_tokens += int(fresh.sum())

    def _kl_gradient(
        self, packs: Sequence[Pack], weights: Sequence[Tensor], refs: Sequence[Tensor | None]
    ) -> list[Tensor | None]:
        """Return the gradient of the KL term alone, a tensor a trained parameter."""
        self.policy.optimizer.zero_grad(set_to_none=True)
        for i, (pack, weight, ref) in enumerate(zip(packs, weights, refs, strict=True)):
            if ref is None:
                continue
            with self._gradient_pass(i):
                logprobs, _ = self.policy.target_logprobs(pack, self.temperature)
                kl = kl_penalty(logprobs, ref, self.config.kl)
                loss = self.config.kl.coefficient * (kl * weight.to(kl)).sum()
                loss.backward()  # type: ignore[no-untyped-call]
        return [p.grad for p in self.policy.trained]

    def _kl_share(self, kl_gradient: Sequence[Tensor | None]) -> float | None:
        """Return the KL term's share, the policy loss's gradient being the total less the KL term's."""
        kl_square = policy_square = 0.0
        for parameter, kl in zip(self.policy.trained, kl_gradient, strict=True):
            if parameter.grad is None or kl is None:
                continue
            kl_square += float(kl.double().square().sum())
            policy_square += float((parameter.grad - kl).double().square().sum())
        both = math.sqrt(kl_square) + math.sqrt(policy_square)
        return math.sqrt(kl_square) / both if math.isfinite(both) and both > 0 else None

    def _step(self, total: Tensor) -> None:
        """Clip, ask the judge, and step: what is not finite never reaches the weights."""
        policy, o = self.policy, self.config.optimizer
        norm = float(torch.nn.utils.clip_grad_norm_(policy.trained, o.grad_clip))
        loss = float(total)
        self.lr = lr_at(o, policy.updates + 1, policy.planned_updates, self.lr_scale)
        self.sums.mini_batches += 1
        self.sums.norms.append(norm)
        accepted = self.judge.judge_update(loss, norm)
        if not (accepted and math.isfinite(norm) and math.isfinite(loss)):
            self.sums.skipped += 1
            policy.optimizer.zero_grad(set_to_none=True)
            return
        policy.step_optimizer(o, self.lr)
