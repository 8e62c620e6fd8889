"""The policy, reference and optimiser of a cluster run. Copied and loaded weights are verified by checksum."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

import torch

from prorl_common import ServiceError
from prorl_training.algorithm.objective import MismatchSize, mismatch_size, mismatch_sums
from prorl_training.config import TrainConfig
from prorl_training.engine.openrlhf.step import (
    Checksum,
    FitReport,
    Share,
    StepPlan,
    TrainingRow,
    deal,
    mini_batch_rows,
    step_plan,
)
from prorl_training.policy.update import AcceptAll, UpdateBatch, UpdateGuard
from prorl_training.types import UpdateStats

LARGEST_LOGIT = 32.0
"""Assumed size of the largest logits. Rounding errors are in proportion to it."""
ROUNDOFF = {"bf16": 2.0**-8, "fp32": 2.0**-11}
"""Unit roundoff by compute type. Products of float32 may be in TF32, which rounds like float16."""


def max_kl_after_reset(dtype: str) -> float:
    """Return the largest mean k2 (in nats) that rounding alone can cause between two models with equal weights.

    With unit roundoff u, their log-probs differ by up to d = 2 u ``LARGEST_LOGIT``, and k2 is at most d^2 / 2.
    """
    return (2 * ROUNDOFF[dtype] * LARGEST_LOGIT) ** 2 / 2


def same_weights(one: Checksum, other: Checksum) -> bool:
    """Return whether two checksums agree up to rounding.

    Counts are not compared, because vLLM pads the vocabulary with zeros.
    """
    size = max(one["squares"], other["squares"])
    room = 1e-9 * (size + 1.0)
    return all(abs(one[key] - other[key]) <= room for key in ("sum", "squares"))


class ResetFailed(ServiceError):
    """The reference differs from the policy after a reset."""


class RestoreFailed(ServiceError):
    """Loaded weights differ from those saved."""


class Cluster(Protocol):
    """The processes of policy and reference. ``ranks`` is the number of policy processes."""

    ranks: int
    has_reference: bool

    def log_probs(
        self, rows: Sequence[TrainingRow | None], temperature: float
    ) -> list[tuple[Any, Any]]:
        """Return (policy, reference or None) log-probs (T - 1,) of each row."""

    def fit(self, dealt: Sequence[Sequence[Share]], seen: Any, plan: StepPlan) -> FitReport:
        """Train on the rows ``dealt[rank][mini-batch]``. ``seen`` is the result of ``log_probs`` for all rows."""

    def copy_policy_to_reference(self) -> tuple[Checksum, Checksum]:
        """Copy the policy to the reference; return the checksums of (policy, reference)."""

    def checksums(self) -> dict[str, Checksum]: ...

    def copy_checkpoint_to_reference(self, folder: Path) -> Checksum:
        """Load a checkpoint's policy into the reference; return its checksum."""

    def clear_optimizer(self) -> None:
        """Zero the optimiser's moments and step counts."""

    def load(self, folder: Path, reference: str) -> None:
        """Load a checkpoint's weights, optimiser and reference.

        ``reference`` says where the reference's weights are: ``policy`` (equal to the policy's), ``own`` (in their own
        file) or ``none``.
        """

    def load_policy(self, folder: Path) -> None:
        """Load a checkpoint's policy weights. The optimiser keeps its state."""

    def save(self, folder: Path, reference: bool) -> None: ...


class ClusterPolicy:
    """A policy whose processes run on a cluster; implements ``TrainedPolicy``. ``updates`` counts updates."""

    def __init__(self, cluster: Cluster, config: TrainConfig, environment: dict[str, Any]) -> None:
        self.model = cluster
        self.config = config
        self.environment = environment
        self.updates = 0
        self.planned = config.planned_updates
        self._reference_is_policy = True
        self._just_reset = True

    @contextlib.contextmanager
    def compute(self) -> Iterator[None]:
        yield

    def update(
        self, batch: UpdateBatch, guard: UpdateGuard | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        """Do one gradient update per mini-batch. ``guard.norm_limit()`` is read once, at the start.

        Raises ResetFailed if the first KL after a reset is more than rounding explains.
        """
        guard = guard or AcceptAll()
        mini_batches = mini_batch_rows(batch)
        dealt = deal(mini_batches, self.model.ranks)
        rows = [row for shares in dealt for share in shares for row in share]
        logprobs = self.model.log_probs(rows, batch.config.rollout.temperature)
        self._check_reset(rows, logprobs)
        size, count = len(dealt[0][0]) * self.model.ranks, len(mini_batches)
        o = batch.config.optimizer
        rates = tuple(o.lr_at(self.updates + i + 1, self.planned, lr_scale) for i in range(count))
        plan = step_plan(batch.config, size, rates, guard.norm_limit())
        report = self.model.fit(dealt, logprobs, plan)
        self.updates += sum(update.applied for update in report.updates)
        self._just_reset = self._reference_is_policy = False
        for update in report.updates:
            guard.record_update(update.loss, update.grad_norm, update.applied)
        before = {
            row.index: response_part(row, policy.float()).cpu()
            for row, (policy, _) in zip(rows, logprobs, strict=True)
            if row is not None
        }
        mismatch = sampler_mismatch(rows, before)
        norms = [u.grad_norm for u in report.updates if math.isfinite(u.grad_norm)]
        return UpdateStats(
            loss=fmean(u.loss for u in report.updates),
            policy_loss=fmean(u.policy_loss for u in report.updates),
            kl=report.kl,
            entropy=report.entropy,
            clipped_fraction=report.clipped_fraction,
            masked_fraction=report.masked_fraction,
            grad_norm=fmean(norms) if norms else math.nan,
            mismatch_kl=mismatch.kl if mismatch else None,
            mismatch_ess=mismatch.ess if mismatch else None,
            lr=rates[-1],
            skipped=sum(not u.applied for u in report.updates),
            kl_gradient_share=None,
            trainer_logprobs=before,
        )

    def reset_reference(self, clear_optimizer: bool) -> None:
        if self.model.has_reference:
            policy, reference = self.model.copy_policy_to_reference()
            if not same_weights(policy, reference):
                raise ResetFailed(
                    f"after a reset the reference's checksum is {reference}, but the policy's is {policy}: resume the run"
                )
        if clear_optimizer:
            self.model.clear_optimizer()
        self._reference_is_policy = self._just_reset = True

    def reset_to_checkpoint(self, clear_optimizer: bool, path: Path) -> None:
        if self.model.has_reference:
            state = json.loads((path / "state.json").read_text(encoding="utf-8"))
            loaded = {"policy": self.model.copy_checkpoint_to_reference(path)}
            self._compare(path, "policy", loaded, state["checksums"])
        if clear_optimizer:
            self.model.clear_optimizer()
        self._reference_is_policy = self._just_reset = False

    def load_checkpoint_policy(self, path: Path) -> None:
        self.model.load_policy(path)
        state = json.loads((path / "state.json").read_text(encoding="utf-8"))
        self._compare(path, "policy", self.model.checksums(), state["checksums"])
        self._reference_is_policy = False

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        del tokenizer  # the policy's processes write their own
        kind = "none"
        if self.model.has_reference:
            kind = "policy" if self._reference_is_policy else "own"
        self.model.save(work, reference=kind == "own")
        return {
            "updates": self.updates,
            "reference": kind,
            "environment": self.environment,
            "checksums": self.model.checksums(),
        }

    def restore(self, path: Path, state: dict[str, Any]) -> None:
        self.model.load(path, state["reference"])
        loaded = self.model.checksums()
        for name in state["checksums"]:
            self._compare(path, name, loaded, state["checksums"])
        self.updates = int(state["updates"])
        self._reference_is_policy = self._just_reset = state["reference"] == "policy"

    @staticmethod
    def _compare(
        path: Path, name: str, loaded: Mapping[str, Any], saved: Mapping[str, Any]
    ) -> None:
        if not same_weights(loaded[name], saved[name]):
            raise RestoreFailed(
                f"the {name} loaded from {path} differs from the one that was saved: its checksum is "
                f"{loaded[name]}, expected {saved[name]}"
            )

    def _check_reset(self, rows: Sequence[TrainingRow | None], logprobs: Sequence[Any]) -> None:
        if not self._just_reset or not self.model.has_reference:
            return
        kl = mean_k2(rows, logprobs)
        limit = max_kl_after_reset(self.environment.get("dtype", "bf16"))
        if kl > limit:
            raise ResetFailed(
                f"the KL to the reference is {kl:.3g} on the step after its reset, but should be "
                f"at most {limit:.2g}: the reference computes differently from the policy"
            )


def mean_k2(rows: Sequence[TrainingRow | None], logprobs: Sequence[Any]) -> float:
    """Return the mean of (log pi - log pi_ref)^2 / 2 over response tokens (Schulman's k2)."""
    total, tokens = 0.0, 0
    for row, (policy, reference) in zip(rows, logprobs, strict=True):
        if row is None or reference is None:
            continue
        gap = response_part(row, policy.float() - reference.float())
        total += float((gap**2).sum()) / 2
        tokens += len(row.response)
    return total / max(tokens, 1)


def sampler_mismatch(
    rows: Sequence[TrainingRow | None], before: Mapping[int, torch.Tensor]
) -> MismatchSize | None:
    """Return the mismatch of sampler and trainer over all rows that are not stale, or None if all are stale.

    ``before`` maps ``TrainingRow.index`` to the trainer's log-probs before the update.
    """
    sums = torch.zeros(4)
    for row in rows:
        if row is not None and not row.stale:
            sampled = torch.tensor(row.sampler_logprobs, dtype=torch.float32)
            sums += mismatch_sums(
                before[row.index], sampled, torch.ones(len(sampled), dtype=torch.bool)
            )
    return mismatch_size(sums.tolist())


def response_part(row: TrainingRow, values: Any) -> Any:
    """Return the entries of a row's ``values`` (T - 1,) that belong to the response."""
    start = len(row.prompt) - 1
    return values[start : start + len(row.response)]
