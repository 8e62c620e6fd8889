"""Rules that reset the reference when the KL is high or after a number of steps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from prorl_training.config import ControllerConfig
from prorl_training.types import Decision, Finding

FLOOR = 1e-6
"""Added to each KL (nats per token) before taking its log."""
MIN_SPREAD = 0.1
"""Minimum robust deviation of log-KL. A spike of 8 deviations is then at least exp(0.8) = 2.2 times the expected KL."""

WEIGHTS = {
    "current": "the reference takes the policy's own",
    "best_reference": "the reference takes those of best_step, the policy keeps its own",
    "best": "policy and reference take those of best_step",
}
"""Description of each ``controller.reset_to``, for the evidence of a reset."""


def kl_rule(history: Sequence[float], kl: float, config: ControllerConfig) -> Finding | None:
    """Return a finding if ``kl`` is above the threshold or is a spike compared with ``history``, else None."""
    if config.kl_threshold and kl > config.kl_threshold:
        evidence: dict[str, Any] = {"kl": kl, "threshold": config.kl_threshold}
        return Finding("kl_threshold", f"KL {kl:.4g} is above {config.kl_threshold:.4g}", evidence)
    if not config.kl_zscore or len(history) < config.kl_window:
        return None
    spike = measure_spike(history, kl)
    if spike.z <= config.kl_zscore:
        return None
    reason = (
        f"KL {kl:.4g} is {spike.z:.1f} robust deviations above the {spike.expected:.4g} that "
        f"the last {config.kl_window} steps lead to"
    )
    evidence = {"kl": kl, **spike._asdict(), "limit": config.kl_zscore}
    return Finding("kl_zscore", reason, evidence)


class Spike(NamedTuple):
    """The newest KL compared with earlier KLs."""

    z: float
    """Robust standard deviations above the fitted line."""
    expected: float
    """KL in nats that the line predicts."""
    median: float
    """Median KL of the history in nats."""
    spread: float
    """Robust standard deviation of the log residuals, at least MIN_SPREAD."""


def measure_spike(history: Sequence[float], kl: float) -> Spike:
    """Compare ``kl`` with ``history``, at least 3 earlier finite KLs, oldest first."""
    *logs, newest = [math.log(max(value, 0.0) + FLOOR) for value in (*history, kl)]
    slope = theil_sen_slope(logs)
    intercept = statistics.median(x - slope * i for i, x in enumerate(logs))
    residuals = [abs(x - intercept - slope * i) for i, x in enumerate(logs)]
    spread = max(1.4826 * statistics.median(residuals), MIN_SPREAD)
    due = intercept + slope * len(logs)
    expected = max(math.exp(min(due, 700.0)) - FLOOR, 0.0)
    return Spike((newest - due) / spread, expected, statistics.median(history), spread)


def theil_sen_slope(values: Sequence[float]) -> float:
    """Return the median of the slopes between all pairs of values (Sen 1968, JASA 63)."""
    return statistics.median(
        (values[j] - values[i]) / (j - i) for j in range(1, len(values)) for i in range(j)
    )


def interval_rule(since: int, interval: int) -> Finding | None:
    """Return a finding once ``interval`` steps (0: never) have passed since the last reset."""
    if interval == 0 or since < interval:
        return None
    return Finding("interval", f"{since} steps since the last reset", {"every": interval})


def reset_decision(
    step: int,
    findings: Sequence[Finding],
    reset_to: str,
    optimizer: Literal["keep", "clear"],
    context: Mapping[str, Any],
) -> Decision:
    """Return the decision to reset because of the first finding. Its evidence also lists the other findings' rules."""
    rules = [f.rule for f in findings]
    evidence: dict[str, Any] = {"rule": rules[0], **findings[0].evidence}
    if len(rules) > 1:
        evidence["also"] = rules[1:]
    evidence |= {"optimizer": optimizer, "reset_to": reset_to, "weights": WEIGHTS[reset_to]}
    return Decision(step, "reference_reset", findings[0].reason, {**evidence, **context})


def best_lost(reset: Decision, trouble: str) -> list[Decision]:
    """Return decisions that replace ``reset`` by a reset to the current policy, because the best checkpoint is lost."""
    evidence = {**reset.evidence, "reset_to": "current", "weights": WEIGHTS["current"]}
    reason = f"{trouble}: the policy keeps its weights, and the reference takes them"
    lost = {"best_step": reset.evidence.get("best_step"), "trouble": trouble}
    return [
        replace(reset, evidence=evidence),
        Decision(reset.step, "best_checkpoint_lost", reason, lost),
    ]
