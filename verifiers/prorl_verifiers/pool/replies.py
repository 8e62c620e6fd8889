"""From what a verifier returns to a Verdict: in the worker to a result frame, in the pool from it.

Here is the rule that a broken verifier never makes a reward: what is no number in [0, 1] is ``infra_error``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from prorl_common import ServiceError, UserError, what_failed
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.findings import Finding, bounded, noting, read_findings
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.types import Score, Task, Verdict, unparsable

if TYPE_CHECKING:
    from prorl_sandbox import Sandbox

MAX_RESPONSE = 16 * 1024 * 1024
"""Characters; a longer response is unparsable without being looked at. One takes up to 12 bytes of a frame."""
MAX_EXTRACTED = 2000
"""Characters of an extracted answer that a verdict keeps."""
UNCLOSED = unparsable("the thinking was opened and never closed")


def too_long() -> Verdict:
    """Return the verdict of a response longer than ``MAX_RESPONSE``."""
    return Verdict(0.0, "unparsable", "the response is too long")


def result_frame(result: object) -> dict[str, Any]:
    """Return the frame of what a verifier returned: a reward, a Score, a Verdict, or a fault of it."""
    if isinstance(result, Verdict) and result.status == "infra_error":
        return {"bug": result.reason}
    if isinstance(result, Verdict) and result.status == "timeout":
        return {"limit": result.reason, "final": True}
    found = result if isinstance(result, Score | Verdict) else None
    reward = result if found is None else found.reward
    if not isinstance(reward, Real):
        return {"bug": f"it returned {reward!r:.80}, not a number in [0, 1]"}
    if not 0.0 <= float(reward) <= 1.0:
        return {"bug": f"it returned {float(reward)!r}: a reward lies in [0, 1]"}
    if found is None:
        found = Score(float(reward), "the verifier's own number")
    extracted = found.extracted
    return {
        "result": {
            "reward": float(reward),
            "status": found.status,
            "reason": found.reason,
            "extracted": None if extracted is None else extracted[:MAX_EXTRACTED],
            "metrics": dict(found.metrics),
        }
    }


def read_reply(
    reply: Mapping[str, Any], isolation: str, seconds: float = 0.0
) -> tuple[Verdict, bool]:
    """Return (the verdict of a worker's result frame, whether it needs no second try).

    ``seconds`` is the time that the answer took.
    """
    result: Any = reply.get("result")
    if result is None and "limit" in reply:
        said = reply.get("final") is True  # the verifier itself: its program has had its time
        reason = str(reply["limit"])[:MAX_EXTRACTED]
        return Verdict(0.0, "timeout", reason, isolation=isolation), said
    if result is None and "user" in reply:
        return Verdict(None, "infra_error", str(reply["user"])[:500], isolation=isolation), True
    if result is None and "bug" in reply:
        bug = f"scorer failed: {reply['bug']}"[:MAX_EXTRACTED]
        return Verdict(None, "infra_error", bug, isolation=isolation), False
    try:
        findings = read_findings(reply.get("findings", []))
        return _verdict(result, isolation, seconds, findings), True
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        bad = f"a worker sent no verdict: {error!r}"
        return Verdict(None, "infra_error", bad, isolation=isolation), False


def cpu_seconds_of(reply: Mapping[str, Any], most: float) -> float:
    """Return the processor time that a result frame claims; ``most``, its limit, when that cannot be true."""
    claimed = reply.get("cpu_seconds")
    if not isinstance(claimed, int | float) or not 0.0 <= claimed <= most:
        return most
    return float(claimed)


def _verdict(
    result: dict[str, Any], isolation: str, seconds: float, findings: tuple[Finding, ...]
) -> Verdict:
    """Return the verdict of a frame; nothing in it is believed, since the worker has read model text."""
    reward, extracted = float(result["reward"]), result["extracted"]
    if not 0.0 <= reward <= 1.0 or result["status"] not in ("scored", "unparsable"):
        raise ValueError(f"reward {reward!r}, status {result['status']!r}")
    metrics = {
        name: value[:MAX_EXTRACTED] if isinstance(value, str) else float(value)
        for name, value in result["metrics"].items()
    }
    if not all(isinstance(value, str) or math.isfinite(value) for value in metrics.values()):
        raise ValueError(f"metrics {metrics!r}")
    return Verdict(
        reward=reward,
        status=result["status"],
        reason=str(result["reason"])[:MAX_EXTRACTED],
        extracted=None if extracted is None else str(extracted)[:MAX_EXTRACTED],
        isolation=isolation,
        metrics=metrics,
        seconds=seconds,
        findings=findings,
    )


def judge_in_sandbox(response: str, task: Task, sandbox: Sandbox, explain: bool = False) -> Verdict:
    """Score an item of our own verifier that runs programs, with one more try when the sandbox breaks.

    ``explain``: the verdict carries its findings.
    """
    spec = VERIFIERS.get(task.verifier)
    assert spec.score_in_sandbox is not None
    if len(response) > MAX_RESPONSE:
        return too_long()
    text = after_thinking(response) if spec.strip_thinking else response
    if text is None:
        return Verdict(0.0, UNCLOSED.status, UNCLOSED.reason)
    fault = ""
    for _ in range(2):
        try:
            with noting(explain) as findings:
                verdict = cast(Verdict, spec.score_in_sandbox(text, task.reference, sandbox))
            if not explain:
                return verdict
            return replace(verdict, findings=bounded(findings, len(response) - len(text)))
        except ServiceError as error:
            fault = f"sandbox: {error}"
        except UserError as error:
            # The task's own test source is broken or a compiler is missing: says nothing of the
            # answer, and another try would not help.
            return Verdict(None, "infra_error", str(error), isolation=sandbox.isolation)
        except Exception as error:  # noqa: BLE001 - whatever a verifier raises is infra_error
            fault = f"scorer failed: {what_failed(error)}"
    return Verdict(None, "infra_error", fault, isolation=sandbox.isolation)
