"""What a step's numbers say of a trouble that is neither the controller's nor the guard's to judge.

Leaves out: acting on it, and the rules of both (``controller``, ``safety``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from prorl_training.config import TrainConfig
from prorl_training.rollout.types import Batch
from prorl_training.schedule.decisions import Decision

EVERY_STEP = frozenset({"refill_gave_up", "short_batch"})
"""Decisions that can come at every step: told on the terminal once, recorded each time."""


def batch_evidence(batch: Batch, settings: TrainConfig) -> dict[str, Any]:
    """Return what a decision about a batch is made on."""
    wanted = settings.rollout.prompts
    return {"groups_kept": len(batch.kept), "groups_wanted": wanted, "rounds": batch.rounds}


def too_few_groups(step: int, batch: Batch, settings: TrainConfig) -> list[Decision]:
    """Return the decision that a step went on with fewer groups than it wanted; none when it had all.

    ``refill_gave_up`` with dynamic sampling; without it ``short_batch``, where groups had fewer than two
    verdicts or the data fewer prompts than a batch.
    """
    if not batch.gave_up:
        return []
    evidence = batch_evidence(batch, settings)
    kept, wanted, drawn = len(batch.kept), settings.rollout.prompts, len(batch.outcomes)
    if settings.dynamic_sampling.enabled:
        reason = f"went on with {kept} of {wanted} groups after drawing {drawn}"
        return [Decision(step, "refill_gave_up", reason, evidence)]
    infra = sum(outcome == "infra" for outcome in batch.outcomes)
    evidence |= {"groups_infra": infra, "prompts_drawn": drawn}
    reason = f"went on with {kept} of {wanted} groups: {drawn} drawn, {infra} without two verdicts"
    return [Decision(step, "short_batch", reason, evidence)]


def validation_outage(
    step: int, row: Mapping[str, Any], problems: int, settings: TrainConfig
) -> list[Decision]:
    """Return the decision that a validation on ``problems`` measured nothing; none when it did, or when
    there was none in this step (``row``: the step's metrics)."""
    if "validation_infra_errors" not in row or "validation_reward" in row:
        return []
    lost, responses = row["validation_infra_errors"], problems * settings.validation.samples
    reason = f"{lost} of {responses} validation responses got no verdict: nothing is measured, no rule hears of it"
    evidence = {"responses": responses, "without_verdict": lost}
    evidence["infra_rate"] = settings.safety.infra_rate
    return [Decision(step, "validation_outage", reason, evidence)]


def best_lost(reset: Decision, trouble: str) -> list[Decision]:
    """Return what a reset to the best became, and why: the policy kept its own weights."""
    kept = replace(reset, evidence={**reset.evidence, "reset_to": "current"})
    reason = f"{trouble}: the policy keeps its weights, and the reference takes them"
    evidence = {"best_step": reset.evidence.get("best_step"), "trouble": trouble}
    return [kept, Decision(reset.step, "best_checkpoint_lost", reason, evidence)]
