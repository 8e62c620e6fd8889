"""Build a step's line of ``metrics.jsonl``.

Rates include groups that dynamic sampling drops.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from prorl_training.rollout.staleness import policy_ages
from prorl_training.types import (
    FULL_MARKS,
    Batch,
    Group,
    Outcome,
    StepReport,
    Trajectory,
    UpdateStats,
    Validation,
)

TIMING_KEYS = (
    "seconds",
    "sample_seconds",
    "score_seconds",
    "update_seconds",
    "validation_seconds",
    "tokens_per_second",
    "sampler_idle_share",
    "rollouts_seconds",
)
"""Keys that may differ between two runs of the same config. On CPU all other keys are deterministic."""


def metrics_row(report: StepReport) -> dict[str, Any]:
    batch, trained = report.batch, report.learned.groups
    row: dict[str, Any] = {"step": report.step, "phase": report.phase}
    row |= batch_metrics(batch, trained)
    if ages := policy_ages(trained, report.step):
        row |= {"staleness_mean": sum(ages) / len(ages), "staleness_max": max(ages)}
    row["prompts_too_long"] = batch.prompts_too_long
    row["length_penalty_active"] = report.penalty_is_on
    row["tokens_total"] = report.tokens_total
    row |= update_metrics(report.update)
    if report.levels is not None:
        row["levels_open"], row["levels_closed"] = report.levels
    row |= report.coverage[""]
    row |= validation_metrics(report.validation)
    row["domains"] = domain_metrics(report)
    row["tasks"] = task_metrics(batch.sampled)
    row |= timing_metrics(report)
    return row


def group_metrics(groups: Sequence[Group], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return statistics of ``groups`` and their ``outcomes``.

    ``unparsable_rate`` is a fraction of verdicts, ``truncated_rate`` of responses, ``filter_rate`` of groups.
    """
    everything = [t for g in groups for t in g.trajectories]
    scored = [t for t in everything if not t.verdict.is_infra_error]
    dropped = [g for g, o in zip(groups, outcomes, strict=True) if o != "usable"]
    saturated = sum(o == "saturated" for o in outcomes)
    return {
        **_results(groups),
        "unparsable_rate": sum(t.verdict.status == "unparsable" for t in scored)
        / max(len(scored), 1),
        **_answers(groups),
        "rollout_entropy": rollout_entropy(everything),
        "truncated_rate": sum(t.truncated for t in everything) / max(len(everything), 1),
        "filter_rate": len(dropped) / max(len(groups), 1),
        "infra_errors": len(everything) - len(scored),
        "groups_all_right": sum(o == "all_right" for o in outcomes),
        "groups_all_wrong": sum(o == "all_wrong" for o in outcomes),
        "groups_flat": sum(o == "flat" for o in outcomes),
        "groups_infra": sum(o == "infra" for o in outcomes),
        **({"groups_saturated": saturated} if saturated else {}),
        "tokens_dropped": sum(g.tokens for g in dropped),
    }


def _results(groups: Sequence[Group]) -> dict[str, Any]:
    everything = [t for g in groups for t in g.trajectories]
    rewards = [t.reward for t in everything if not t.verdict.is_infra_error]
    tokens = sum(g.tokens for g in groups)
    return {
        "reward_mean": sum(rewards) / len(rewards) if rewards else None,
        "pass_rate": sum(r >= FULL_MARKS for r in rewards) / len(rewards) if rewards else None,
        "length_mean": tokens / max(len(everything), 1),
        "tokens": tokens,
        "groups": len(groups),
    }


def _answers(groups: Sequence[Group]) -> dict[str, float | None]:
    counts = [Counter(answer_of(t) for t in g.scored) for g in groups]
    counts = [c for c in counts if c]
    if not counts:
        return {"answers_distinct": None, "answers_share": None, "answer_entropy": None}
    shares = [[times / c.total() for times in c.values()] for c in counts]
    entropies = [-sum(s * math.log(s) for s in each) for each in shares]
    return {
        "answers_distinct": sum(len(c) for c in counts) / len(counts),
        "answers_share": sum(len(c) / c.total() for c in counts) / len(counts),
        "answer_entropy": sum(entropies) / len(entropies) + 0.0,
    }


def rollout_entropy(trajectories: Sequence[Trajectory]) -> float | None:
    """Return minus the mean log-prob of the sampled tokens, which estimates the sampler's entropy per token in nats.

    Returns None without log-probs.
    """
    total, tokens = 0.0, 0
    for t in trajectories:
        logprob = sum(t.completion.logprobs)
        if math.isfinite(logprob):
            total, tokens = total - logprob, tokens + t.completion.sampled_tokens
    return total / tokens + 0.0 if tokens else None


def answer_of(trajectory: Trajectory) -> str:
    """Return the answer that the verifier extracted, or else the whole response, in lower case."""
    extracted = trajectory.verdict.extracted
    text = trajectory.completion.text if extracted is None else extracted
    return " ".join(text.casefold().split())


def discard_metrics(discarded: Sequence[Group]) -> dict[str, Any]:
    return {
        "groups_discarded": len(discarded),
        "tokens_discarded": sum(g.tokens for g in discarded),
    }


def batch_metrics(batch: Batch, trained: Sequence[Group]) -> dict[str, Any]:
    """Return the metrics of sampling. ``oversampling`` is the number of prompts drawn per prompt in the batch."""
    row = group_metrics(batch.sampled, batch.outcomes)
    row["response_length_mean"] = row.pop("length_mean")
    shaped = [t.shaped for g in trained for t in g.scored]
    row["shaped_reward_mean"] = sum(shaped) / len(shaped) if shaped else None
    row["groups_kept"] = len(batch.kept)
    row["groups_carried_in"] = batch.carried_in
    row["groups_carried_out"] = len(batch.surplus)
    row["groups_late_in"] = len(batch.late_in)
    row["groups_late_out"] = len(batch.late)
    row["groups_cancelled"] = len(batch.cancelled)
    row["tokens_cancelled"] = sum(g.tokens for g in batch.cancelled)
    row |= discard_metrics(batch.discarded)
    talks = [t for g in batch.sampled for t in g.trajectories if t.ended]
    if talks:
        row["turns_mean"] = sum(len(t.completion.given) + 1 for t in talks) / len(talks)
    row["prompts_drawn"] = batch.drawn
    row["oversampling"] = batch.drawn / max(batch.target, 1)
    return row


def update_metrics(update: UpdateStats | None) -> dict[str, Any]:
    if update is None:
        return {}
    row = {f.name: getattr(update, f.name) for f in fields(update) if f.name != "trainer_logprobs"}
    row["updates_skipped"] = row.pop("skipped")
    return {k: v for k, v in row.items() if v is not None and math.isfinite(v)}


def validation_metrics(validation: Validation | None) -> dict[str, Any]:
    if validation is None:
        return {}
    row: dict[str, Any] = {
        "validation_infra_errors": validation.infra_errors,
        "validation_seconds": round(validation.seconds, 3),
    }
    if (result := validation.result) is not None:
        row["validation_reward"] = result.mean
        row["validation_se"] = result.standard_error
        row["validation_problems"] = result.problems
        row["validation_rewards"] = list(result.rewards)
        row["validation_pass_rate"] = validation.pass_rate
    return row


def domain_metrics(report: StepReport) -> dict[str, dict[str, Any]]:
    batch = report.batch
    coverage = {domain: counts for domain, counts in report.coverage.items() if domain}
    validated = {} if report.validation is None else report.validation.domains
    pairs = list(zip(batch.sampled, batch.outcomes, strict=True))
    sampled = {g.sample.domain for g in batch.sampled}
    domains = sampled | {g.sample.domain for g in batch.discarded}
    rows: dict[str, dict[str, Any]] = {}
    for domain in sorted({*domains, *validated, *coverage}):
        row = rows[domain] = {}
        if domain in sampled:
            rated = [(g, o) for g, o in pairs if g.sample.domain == domain]
            row |= group_metrics([g for g, _ in rated], [o for _, o in rated])
        if domain in domains:
            row |= discard_metrics([g for g in batch.discarded if g.sample.domain == domain])
        row |= coverage.get(domain, {})
        if domain in validated:
            row["validation_reward"], row["validation_pass_rate"] = validated[domain]
    return rows


def task_metrics(groups: Sequence[Group]) -> dict[str, dict[str, Any]]:
    """Return a few metrics for each task (``Sample.family``)."""
    by_task: dict[str, list[Group]] = {}
    for group in groups:
        by_task.setdefault(group.sample.family, []).append(group)
    return {
        task: _results(members) | {"responses": sum(len(g.trajectories) for g in members)}
        for task, members in sorted(by_task.items())
    }


def timing_metrics(report: StepReport) -> dict[str, Any]:
    """Return the timings of a step. ``score_seconds`` is the time spent waiting for verdicts without sampling."""
    batch, seconds = report.batch, report.seconds
    return {
        "seconds": round(seconds, 3),
        "sample_seconds": round(batch.sample_seconds, 3),
        "score_seconds": round(batch.score_seconds, 3),
        "update_seconds": round(report.update_seconds, 3),
        "tokens_per_second": round(batch.tokens / max(seconds, 1e-9), 2),
        "sampler_idle_share": round(batch.idle_share, 4),
        "rollouts_seconds": round(report.rollouts_seconds, 4),
    }


def progress_fields(row: Mapping[str, Any], last_reset: int) -> dict[str, str]:
    fields = {}
    if row["reward_mean"] is not None:
        fields = {"reward": f"{row['reward_mean']:.3f}", "pass": f"{row['pass_rate']:.3f}"}
    if "kl" in row:
        fields["KL"] = f"{row['kl']:.2g}"
    if "entropy" in row:
        fields["entropy"] = f"{row['entropy']:.2f}"
    fields["groups"] = str(row["groups_kept"])
    fields["length"] = f"{row['response_length_mean']:.0f}"
    fields["tok/s"] = f"{row['tokens_per_second']:.0f}"
    fields["window"] = "penalty on" if row["length_penalty_active"] else "penalty off"
    fields["reset"] = f"after step {last_reset}" if last_reset else "none yet"
    return fields
