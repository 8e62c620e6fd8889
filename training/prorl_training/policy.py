"""The policy and its reference: log-probs of packs, one clipped update, resets.

Master weights are float32; with bfloat16 compute the passes run under autocast. Leaves out: sampling
(``prorl_inference``), rewards, and the decision to reset (``controller``).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from prorl_training.config import TrainConfig
from prorl_training.objectives import kl_estimate, ppo_clip_loss, token_weights
from prorl_training.packing import Pack, PromptGroup, build_packs


@dataclass(frozen=True, slots=True)
class UpdateStats:
    """Token means over one step's mini-batches; ``skipped`` counts updates dropped as not finite."""

    loss: float
    kl: float
    entropy: float
    clipped_fraction: float
    grad_norm: float
    sampler_gap: float
    """Mean |log-prob at sampling - log-prob before the update|: how far sampler and trainer differ."""
    skipped: int


class Policy:
    """A causal language model in training, its frozen reference and its optimiser."""

    def __init__(self, model: Any, config: TrainConfig, compute_dtype: torch.dtype) -> None:
        self.model = model.float().eval()
        self.config = config
        self.compute_dtype = compute_dtype
        self.device = next(model.parameters()).device
        self.names = [name for name, _ in self.model.named_parameters()]
        self.reference: Any = None
        if config.kl.coefficient > 0:
            self.reference = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = self._new_optimizer()
        self.updates = 0

    def _new_optimizer(self) -> torch.optim.AdamW:
        o = self.config.optimizer
        return torch.optim.AdamW(
            self.model.parameters(),
            lr=o.lr,
            betas=(o.beta1, o.beta2),
            eps=o.eps,
            weight_decay=o.weight_decay,
        )

    @contextmanager
    def compute(self) -> Iterator[None]:
        """Run the block in the compute type (autocast for bfloat16, plain for float32)."""
        enabled = self.compute_dtype != torch.float32
        with torch.autocast(self.device.type, dtype=self.compute_dtype, enabled=enabled):
            yield

    def logits(self, pack: Pack, model: Any = None) -> Tensor:
        """Return float32 logits (N, vocabulary) of the pack's predicted tokens, temperature applied."""
        model = self.model if model is None else model
        with self.compute():
            out = model(
                input_ids=pack.input_ids.to(self.device),
                position_ids=pack.position_ids.to(self.device),
                attention_mask=None if pack.mask is None else pack.mask.to(self.device),
                logits_to_keep=pack.predict_at.to(self.device),
                use_cache=False,
            )
        scaled: Tensor = out.logits[0].float() / self.config.rollout.temperature
        return scaled

    def logprobs(self, pack: Pack, model: Any = None) -> Tensor:
        """Return log-probs (N,) of the pack's targets without gradient."""
        with torch.no_grad():
            return pick(self.logits(pack, model), pack.targets.to(self.device))

    def reset_reference(self, clear_optimizer: bool) -> None:
        """Make the reference a copy of the policy; optionally forget the optimiser's moments."""
        if self.reference is not None:
            pairs = zip(self.reference.parameters(), self.model.parameters(), strict=True)
            with torch.no_grad():
                for ref, new in pairs:
                    ref.copy_(new)
        if clear_optimizer:
            self.optimizer = self._new_optimizer()

    def update(
        self,
        mini_batches: Sequence[Sequence[PromptGroup]],
        advantages: Tensor,
        sampled_logprobs: Sequence[Sequence[float]],
    ) -> UpdateStats:
        """Do one gradient update a mini-batch. ``advantages`` (B,); both sequences by trajectory index.

        With one mini-batch the old policy is the policy itself (exactly on-policy); with more, its
        log-probs are computed before the first update, by the trainer and not by the sampler.
        """
        limit = self.config.loss.pack_tokens
        packs = [build_packs(groups, limit) for groups in mini_batches]
        old = [[self.logprobs(p) for p in ps] for ps in packs] if len(packs) > 1 else None
        sums = _Sums()
        for number, ps in enumerate(packs):
            self.optimizer.zero_grad(set_to_none=True)
            lengths = torch.tensor([n for p in ps for n in p.lengths])
            weights = torch.split(
                token_weights(lengths, self.config.loss.aggregation), [sum(p.lengths) for p in ps]
            )
            for i, (pack, weight) in enumerate(zip(ps, weights, strict=True)):
                before = None if old is None else old[number][i]
                self._backward(pack, weight, advantages, before, sampled_logprobs, sums)
            self._step(sums)
        return sums.stats()

    def _backward(
        self,
        pack: Pack,
        weight: Tensor,
        advantages: Tensor,
        before: Tensor | None,
        sampled_logprobs: Sequence[Sequence[float]],
        sums: _Sums,
    ) -> None:
        kl_config, loss_config = self.config.kl, self.config.loss
        logits = self.logits(pack)
        logprobs = pick(logits, pack.targets.to(self.device))
        old = logprobs.detach() if before is None else before
        per_token = advantages[list(pack.trajectories)].repeat_interleave(
            torch.tensor(pack.lengths)
        )
        clip = (loss_config.clip_low, loss_config.clip_high)
        policy = ppo_clip_loss(logprobs, old, per_token.to(logprobs), clip)
        total = policy.per_token
        kl = torch.zeros_like(logprobs)
        if self.reference is not None:
            ref = self.logprobs(pack, self.reference)
            kl = kl_estimate(
                logprobs, ref, kl_config.estimator, kl_config.clamp, kl_config.clamp_value
            )
            total = total + kl_config.coefficient * kl
        loss = (total * weight.to(total)).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        sampled = torch.tensor([x for i in pack.trajectories for x in sampled_logprobs[i]])
        sums.add_pack(
            loss, kl, token_entropy(logits), policy.clipped_fraction, sampled.to(old) - old
        )

    def _step(self, sums: _Sums) -> None:
        o = self.config.optimizer
        norm = float(torch.nn.utils.clip_grad_norm_(self.model.parameters(), o.grad_clip))
        if not math.isfinite(norm):
            sums.skipped += 1
            return
        self.updates += 1
        scale = min(1.0, self.updates / o.warmup_updates) if o.warmup_updates else 1.0
        for group in self.optimizer.param_groups:
            group["lr"] = o.lr * scale
        self.optimizer.step()
        sums.grad_norms.append(norm)


class _Sums:
    """Running sums over packs, weighted by tokens."""

    def __init__(self) -> None:
        self.tokens = 0
        self.loss = self.kl = self.entropy = self.clipped = self.gap = 0.0
        self.grad_norms: list[float] = []
        self.mini_batches = 0
        self.skipped = 0

    def add_pack(
        self, loss: Tensor, kl: Tensor, entropy: Tensor, clipped: Tensor, gap: Tensor
    ) -> None:
        count = len(kl)
        self.tokens += count
        self.loss += float(loss.detach())
        self.kl += float(kl.detach().sum())
        self.entropy += float(entropy.sum())
        self.clipped += float(clipped) * count
        self.gap += float(gap.abs().sum())

    def stats(self) -> UpdateStats:
        n = max(self.tokens, 1)
        done = len(self.grad_norms)
        return UpdateStats(
            loss=self.loss / max(done + self.skipped, 1),
            kl=self.kl / n,
            entropy=self.entropy / n,
            clipped_fraction=self.clipped / n,
            grad_norm=sum(self.grad_norms) / done if done else math.nan,
            sampler_gap=self.gap / n,
            skipped=self.skipped,
        )


def pick(logits: Tensor, targets: Tensor) -> Tensor:
    """Return log softmax(logits)[target] (N,) without building the full log-softmax."""
    return logits.gather(-1, targets[:, None])[:, 0] - logits.logsumexp(-1)


def token_entropy(logits: Tensor, rows: int = 256) -> Tensor:
    """Return the entropy in nats of each row's distribution (N,), without gradient, in blocks of rows."""
    with torch.no_grad():
        parts = []
        for block in torch.split(logits.detach(), rows):
            logp = block.log_softmax(-1)
            parts.append(-(logp.exp() * logp).sum(-1))
        return torch.cat(parts)
