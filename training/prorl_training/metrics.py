"""A step's numbers: one JSON line, overall and per domain.

Rates and means are over everything sampled in the step, dropped groups included, so that they follow
the policy and not the filter. Leaves out: writing (``run_folder``) and showing (the command line).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prorl_training.policy import UpdateStats
from prorl_training.rollout import FULL_MARKS, Batch, Group


def group_metrics(groups: Sequence[Group], kept: Sequence[Group]) -> dict[str, Any]:
    """Return reward_mean, pass_rate, length_mean (tokens), truncated_rate, filter_rate, infra_errors."""
    scored = [t for g in groups for t in g.trajectories if not t.verdict.is_infra_error]
    everything = [t for g in groups for t in g.trajectories]
    kept_ids = {g.sample.id for g in kept}
    n, m = max(len(scored), 1), max(len(everything), 1)
    return {
        "reward_mean": sum(t.reward for t in scored) / n,
        "pass_rate": sum(t.reward >= FULL_MARKS for t in scored) / n,
        "unparsable_rate": sum(t.verdict.status == "unparsable" for t in scored) / n,
        "length_mean": sum(len(t.completion.token_ids) for t in everything) / m,
        "truncated_rate": sum(t.completion.finish_reason == "length" for t in everything) / m,
        "filter_rate": sum(g.sample.id not in kept_ids for g in groups) / max(len(groups), 1),
        "infra_errors": len(everything) - len(scored),
        "groups": len(groups),
    }


def step_metrics(
    step: int, batch: Batch, update: UpdateStats | None, penalty_active: bool, seconds: float
) -> dict[str, Any]:
    """Return the line of ``metrics.jsonl`` for one step; ``update`` is None when it was skipped."""
    overall = group_metrics(batch.sampled, batch.kept)
    overall["response_length_mean"] = overall.pop("length_mean")
    shaped = [t.shaped for g in batch.kept for t in g.scored]
    domains = sorted({g.sample.domain for g in batch.sampled})
    row: dict[str, Any] = {"step": step, **overall}
    row["shaped_reward_mean"] = sum(shaped) / len(shaped) if shaped else None
    row["length_penalty_active"] = penalty_active
    row["groups_kept"] = len(batch.kept)
    row["refill_rounds"] = batch.rounds
    if update is not None:
        row |= {
            "loss": update.loss,
            "kl": update.kl,
            "entropy": update.entropy,
            "clipped_fraction": update.clipped_fraction,
            "grad_norm": update.grad_norm,
            "sampler_gap": update.sampler_gap,
            "updates_skipped": update.skipped,
        }
    row["domains"] = {d: _domain(batch, d) for d in domains}
    row["seconds"] = round(seconds, 3)
    row["sample_seconds"] = round(batch.sample_seconds, 3)
    row["score_seconds"] = round(batch.score_seconds, 3)
    row["tokens"] = batch.tokens
    row["tokens_per_second"] = round(batch.tokens / max(seconds, 1e-9), 2)
    return row


TIMING_KEYS = (
    "seconds",
    "sample_seconds",
    "score_seconds",
    "tokens_per_second",
    "validation_seconds",
)
"""Keys that differ between two runs of the same config; everything else is determined by it on CPU."""


def _domain(batch: Batch, domain: str) -> dict[str, Any]:
    return group_metrics(
        [g for g in batch.sampled if g.sample.domain == domain],
        [g for g in batch.kept if g.sample.domain == domain],
    )
