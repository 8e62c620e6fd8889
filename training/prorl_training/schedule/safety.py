"""The guard, which decides what to do about bad updates, empty steps and outages of the reward service."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from prorl_common.markup import printable
from prorl_training.config import SafetyConfig, TrainConfig
from prorl_training.types import Batch, Decision, Group, Validation

EVERY_STEP = frozenset({"refill_gave_up", "short_batch", "levels_changed"})
"""Kinds of decisions that may occur at every step: always recorded, but shown only once on the terminal."""


@dataclass
class GuardState:
    """The guard's state in a checkpoint, as JSON values."""

    grad_norms: list[float] = field(default_factory=list)
    """The newest ``explode_window`` finite, positive gradient norms, including those of skipped updates."""
    bad_in_a_row: int = 0
    empty_in_a_row: int = 0
    entropy_in_a_row: int = 0
    mismatch_in_a_row: int = 0
    back_off_until: int = 0
    """Last step with the reduced learning rate; 0 if none."""


class Guard:
    """Applies the rules of ``SafetyConfig`` to updates, scoring and steps. Steps must come in order."""

    def __init__(self, config: SafetyConfig) -> None:
        self.config = config
        self.state = GuardState()
        self.stop_reason: str | None = None
        self._step = 0
        self._skipped: list[dict[str, Any]] = []
        self._backed_off: list[dict[str, Any]] = []
        self._decisions: list[Decision] = []
        self._stop_evidence: dict[str, Any] = {}

    def begin_step(self, step: int) -> None:
        """Begin a step, and restore a reduced learning rate after ``back_off_steps`` steps."""
        self._step, self._skipped, self._backed_off, self._decisions = step, [], [], []
        if self.state.back_off_until and step > self.state.back_off_until:
            reason = f"{self.config.back_off_steps} steps are over"
            evidence = {"backed_off_until": self.state.back_off_until}
            self._decisions.append(Decision(step, "learning_rate_restored", reason, evidence))
            self.state.back_off_until = 0

    def lr_scale(self) -> float:
        return self.config.back_off if self._step <= self.state.back_off_until else 1.0

    def accept_update(self, loss: float, grad_norm: float) -> bool:

        finite = math.isfinite(loss) and math.isfinite(grad_norm)
        applied = finite and grad_norm <= self.norm_limit()
        self.record_update(loss, grad_norm, applied)
        return applied

    def norm_limit(self) -> float:
        median, factor = self._usual_norm(), self.config.explode_factor
        return math.inf if median is None or not factor else factor * median

    def record_update(self, loss: float, grad_norm: float, applied: bool) -> None:
        """Record an update. The run stops after too many updates in a row that are not finite."""
        s, c = self.state, self.config
        if not (math.isfinite(loss) and math.isfinite(grad_norm)):
            s.bad_in_a_row += 1
            self._skip("not finite", loss, grad_norm)
            if s.bad_in_a_row >= c.bad_updates:
                reason = f"{s.bad_in_a_row} updates in a row were not finite"
                self._stop(reason, {"bad_updates": c.bad_updates})
            return
        s.bad_in_a_row = 0
        median = self._usual_norm()
        if grad_norm > 0 and c.explode_factor:
            s.grad_norms = [*s.grad_norms, grad_norm][-c.explode_window :]
        if not applied:
            self._skip("exploding", loss, grad_norm)
            evidence = {"rule": "exploding", "grad_norm": grad_norm, "median": median}
            self._backed_off.append(evidence)

    def check_round(
        self, responses: int, without_verdict: int, attempt: int
    ) -> Literal["ok", "retry", "stop"]:
        """Return what to do if ``without_verdict`` of the responses got no verdict after scoring.

        ``retry``: score again after ``outage_wait`` seconds. ``stop``: ``stop_reason`` is set.
        """
        c = self.config
        if not responses or without_verdict / responses < c.infra_rate:
            return "ok"
        evidence = {
            "responses": responses,
            "without_verdict": without_verdict,
            "infra_rate": c.infra_rate,
            "attempt": attempt,
        }
        reason = f"{without_verdict} of {responses} responses got no verdict"
        self._decisions.append(Decision(self._step, "outage", reason, evidence))
        if attempt < c.outage_retries:
            return "retry"
        self._stop(f"{reason} after {attempt} retries", evidence)
        return "stop"

    def outage_wait(self, attempt: int) -> float:
        """Return the seconds to wait before retry ``attempt`` (from 0): 1, 2, 4, ... at most 60."""
        return float(min(2 ** min(attempt, 6), 60))

    def end_step(
        self, entropy: float | None, empty: bool, evidence: Mapping[str, Any] | None = None
    ) -> list[Decision]:
        """Return all decisions since ``begin_step``, with ``run_stopped`` last.

        ``entropy`` is in nats per token, or None without an update. ``empty`` means that no response could be trained
        on.
        """
        self._report_updates()
        self._count_empty(empty, evidence or {})
        self._watch_entropy(entropy)
        self._start_back_off()
        if self.stop_reason is not None:
            stopped = Decision(self._step, "run_stopped", self.stop_reason, self._stop_evidence)
            self._decisions.append(stopped)
        return list(self._decisions)

    def _report_updates(self) -> None:
        if self._skipped:
            why = ", ".join(sorted({u["why"] for u in self._skipped}))
            updates = "1 update" if len(self._skipped) == 1 else f"{len(self._skipped)} updates"
            reason = f"{updates} skipped: {why}"
            evidence = {"updates": self._skipped, "bad_in_a_row": self.state.bad_in_a_row}
            self._decisions.append(Decision(self._step, "update_skipped", reason, evidence))

    def _count_empty(self, empty: bool, evidence: Mapping[str, Any]) -> None:
        s, limit = self.state, self.config.empty_steps
        s.empty_in_a_row = s.empty_in_a_row + 1 if empty else 0
        if not empty:
            return
        details = {**evidence, "empty_in_a_row": s.empty_in_a_row, "limit": limit}
        reason = f"nothing to learn from ({s.empty_in_a_row} of {limit} in a row before a stop)"
        self._decisions.append(Decision(self._step, "step_skipped", reason, details))
        if s.empty_in_a_row >= limit:
            self._stop(f"{s.empty_in_a_row} batches in a row had nothing to learn from", details)

    def _watch_entropy(self, entropy: float | None) -> None:
        s, c = self.state, self.config
        if entropy is None or not math.isfinite(entropy) or not c.entropy_floor:
            return
        s.entropy_in_a_row = s.entropy_in_a_row + 1 if entropy < c.entropy_floor else 0
        if s.entropy_in_a_row < c.entropy_steps:
            return
        details: dict[str, Any] = {
            "entropy": entropy,
            "floor": c.entropy_floor,
            "steps": s.entropy_in_a_row,
        }
        details["reaction"] = c.entropy_reaction
        reason = f"entropy {entropy:.4g} is the {s.entropy_in_a_row}th step below {c.entropy_floor}"
        self._decisions.append(Decision(self._step, "entropy_low", reason, details))
        s.entropy_in_a_row = 0
        if c.entropy_reaction == "back_off":
            self._backed_off.append({"rule": "entropy", "entropy": entropy})
        elif c.entropy_reaction == "stop":
            self._stop(reason, details)

    def watch_mismatch(self, mismatch: float | None) -> None:
        """Check the KL divergence of sampler and trainer, in nats per token. Call it before ``end_step``."""
        s, c = self.state, self.config
        if mismatch is None or not c.mismatch_limit:
            return
        s.mismatch_in_a_row = 0 if mismatch <= c.mismatch_limit else s.mismatch_in_a_row + 1
        if s.mismatch_in_a_row < c.mismatch_steps:
            return
        evidence = {"rule": "mismatch", "mismatch": _json(mismatch), "limit": c.mismatch_limit}
        reason = f"{c.mismatch_steps} steps in a row have a mismatch above {c.mismatch_limit}"
        s.mismatch_in_a_row = 0
        self._decisions.append(Decision(self._step, "mismatch_high", reason, evidence))
        self._backed_off.append(evidence)

    def _start_back_off(self) -> None:
        if not self._backed_off:
            return
        c = self.config
        self.state.back_off_until = self._step + c.back_off_steps
        until = self.state.back_off_until
        reason = f"learning rate x {c.back_off} for {c.back_off_steps} steps, to step {until}"
        evidence = {**self._backed_off[0], "back_off": c.back_off, "until": until}
        self._decisions.append(Decision(self._step, "learning_rate_backed_off", reason, evidence))

    def _usual_norm(self) -> float | None:
        norms, c = self.state.grad_norms, self.config
        if not c.explode_factor or len(norms) < c.explode_window:
            return None
        return statistics.median(norms)

    def _skip(self, why: str, loss: float, grad_norm: float) -> None:
        self._skipped.append({"why": why, "loss": _json(loss), "grad_norm": _json(grad_norm)})

    def _stop(self, reason: str, evidence: dict[str, Any]) -> None:
        if self.stop_reason is None:
            self.stop_reason, self._stop_evidence = reason, evidence

    def to_json(self) -> dict[str, Any]:
        return asdict(self.state)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a checkpoint's state. Counters that had stopped the run start again at 0."""
        self.state = GuardState(**state)
        s, c = self.state, self.config
        if s.bad_in_a_row >= c.bad_updates:
            s.bad_in_a_row = 0
        if s.empty_in_a_row >= c.empty_steps:
            s.empty_in_a_row = 0
        self.stop_reason = None


def _json(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def batch_evidence(batch: Batch, settings: TrainConfig) -> dict[str, Any]:
    target = settings.rollout.prompts
    return {"groups_kept": len(batch.kept), "groups_wanted": target, "prompts_drawn": batch.drawn}


def too_few_groups(step: int, batch: Batch, settings: TrainConfig) -> list[Decision]:
    """Return the decision (``refill_gave_up`` or ``short_batch``) for a batch with too few groups, or []."""
    if not batch.gave_up:
        return []
    evidence = batch_evidence(batch, settings)
    kept, target, drawn = len(batch.kept), settings.rollout.prompts, batch.drawn
    if settings.dynamic_sampling.enabled:
        reason = f"continued with {kept} of {target} groups after drawing {drawn}"
        return [Decision(step, "refill_gave_up", reason, evidence)]
    infra = sum(outcome == "infra" for outcome in batch.outcomes)
    evidence |= {"groups_infra": infra}
    reason = (
        f"continued with {kept} of {target} groups: {drawn} drawn, {infra} without two verdicts"
    )
    return [Decision(step, "short_batch", reason, evidence)]


def validation_outage(
    step: int, validation: Validation | None, settings: TrainConfig
) -> list[Decision]:
    if validation is None or validation.result is not None:
        return []
    lost, responses = validation.infra_errors, validation.responses
    reason = f"{lost} of {responses} validation responses got no verdict: this validation is not recorded, and no rule uses it"
    evidence = {
        "responses": responses,
        "without_verdict": lost,
        "infra_rate": settings.safety.infra_rate,
    }
    return [Decision(step, "validation_outage", reason, evidence)]


UNUSABLE = {
    "all_wrong": "no response earned reward. Check with prorl data verify that the prompt asks for the "
    "form that the verifier rewards. If it does, use easier problems, or show the model right answers "
    "first (warm_start.examples)",
    "all_right": "every response was right: use harder problems",
    "flat": "all responses to a prompt earned the same part of the reward: use more samples per "
    "prompt or a finer verifier",
    "saturated": "the policy already solves these items within dynamic_sampling.boundary_k responses: use harder problems",
    "infra": "the responses got no verdict: the verifier's reason says why",
}
"""Advice for each reason why groups are unusable (``types.Outcome``)."""
SHOWN = 600
"""Maximum number of characters of a prompt or response to show."""


def never_usable(step: int, rows: Iterable[Mapping[str, Any]]) -> Decision | None:
    """Return the decision to stop a run if no group in the metrics ``rows`` was usable, else None."""
    counts: Counter[str] = Counter()
    for row in rows:
        if row["groups_kept"]:
            return None
        counts.update({why: row.get(f"groups_{why}", 0) for why in UNUSABLE})
    if not step:
        return None
    summary = ", ".join(f"{n} {why.replace('_', ' ')}" for why, n in counts.most_common() if n)
    if not summary:
        return Decision(step, "run_stopped", "no prompt was sampled: is each longer than allowed?")
    advice = UNUSABLE[counts.most_common(1)[0][0]]
    reason = f"none of {counts.total()} groups was usable ({summary}): {advice}"
    return Decision(step, "run_stopped", reason, {"groups": dict(counts)})


def first_response(group: Group) -> list[str]:
    first = group.trajectories[0]
    verdict = first.verdict
    prompt = "\n".join(message["content"] for message in group.sample.prompt)
    reward = "none" if verdict.reward is None else f"{verdict.reward:.3g}"
    return [
        f"first prompt: {printable(prompt[-SHOWN:])}",
        f"first response: {printable(first.completion.text[:SHOWN])}",
        f"its verdict by {group.sample.task.verifier}: reward {reward}, {verdict.status} ({printable(verdict.reason)})",
    ]
