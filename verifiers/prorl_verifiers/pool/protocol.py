"""The messages between the pool and a worker.

A worker sends {"event": "loading"} before it imports a large library, and {"event": "working"} after it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from prorl_verifiers.findings import Finding, read_findings
from prorl_verifiers.types import Reference, Score, Turn, Verdict, unparsable

MAX_RESPONSE = 16 * 1024 * 1024
"""Maximum characters of a response. A longer one is ``unparsable``."""
MAX_EXTRACTED = 2000
"""Maximum characters of the extracted answer in a verdict."""
GOES_ON = "the environment answered, so the conversation goes on"
UNCLOSED = unparsable("the thinking was opened and never closed")


def make_request(
    verifier: str,
    reference: Reference,
    response: str,
    cpu_seconds: float,
    explain: bool = False,
    isolation: str | None = None,
) -> dict[str, Any]:
    """Return the request to score one item. ``isolation`` is needed if the verifier may run programs."""
    message: dict[str, Any] = {
        "verifier": verifier,
        "reference": dict(reference),
        "response": response,
        "cpu_seconds": cpu_seconds,
    }
    if explain:
        message["explain"] = True
    if isolation is not None:
        message["isolation"] = isolation
    return message


def too_long_verdict() -> Verdict:
    return Verdict(0.0, "unparsable", "the response is too long")


def result_frame(result: object) -> dict[str, Any]:
    """Convert a verifier's return value to the worker's reply.

    It is {"result": {...}} for a reward in [0, 1], a Score or a Turn, {"limit": text} for a timeout, and {"bug": text}
    for anything else (with "outage": true if a service is down). The worker sends {"user": text} for a UserError.
    """
    if isinstance(result, Turn):
        try:
            return {
                "result": {"status": "unfinished", "reward": None, "turn": result.check().to_json()}
            }
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            return {"bug": f"its turn is invalid: {error}"}
    if isinstance(result, Verdict) and result.status == "infra_error":
        return {"bug": result.reason, "outage": True}
    if isinstance(result, Verdict) and result.status == "timeout":
        return {"limit": result.reason, "final": True}
    score = result if isinstance(result, Score | Verdict) else None
    reward = result if score is None else score.reward
    if not isinstance(reward, Real):
        return {"bug": f"it returned {reward!r:.80}, not a number in [0, 1]"}
    if not 0.0 <= float(reward) <= 1.0:
        return {"bug": f"it returned {float(reward)!r}: a reward must be between 0 and 1"}
    if score is None:
        score = Score(float(reward), "the verifier's own number")
    extracted = score.extracted
    return {
        "result": {
            "reward": float(reward),
            "status": score.status,
            "reason": score.reason,
            "extracted": None if extracted is None else extracted[:MAX_EXTRACTED],
            "metrics": dict(score.metrics),
        }
    }


def read_reply(
    reply: Mapping[str, Any], isolation: str, seconds: float = 0.0
) -> tuple[Verdict, bool]:
    """Return the verdict in a worker's reply, and whether it is final (True) or the item must be scored again."""
    result: Any = reply.get("result")
    unscored = functools.partial(Verdict, isolation=isolation, seconds=seconds)
    if result is None and "limit" in reply:
        final = reply.get("final") is True  # the verifier itself reports that its program timed out
        return unscored(0.0, "timeout", str(reply["limit"])[:MAX_EXTRACTED]), final
    if result is None and "user" in reply:
        return unscored(None, "infra_error", str(reply["user"])[:500]), True
    if result is None and "bug" in reply:
        bug = f"scorer failed: {reply['bug']}"[:MAX_EXTRACTED]
        return unscored(None, "infra_error", bug), False
    try:
        findings = read_findings(reply.get("findings", []))
        return _parse_result(result, isolation, seconds, findings), True
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return unscored(None, "infra_error", f"a worker sent no verdict: {error!r}"), False


def cpu_seconds_of(reply: Mapping[str, Any], most: float) -> float:
    """Return the CPU seconds in a worker's reply, or ``most`` if they are impossible."""
    claimed = reply.get("cpu_seconds")
    if not isinstance(claimed, int | float) or not 0.0 <= claimed <= most:
        return most
    return float(claimed)


def _parse_result(
    result: dict[str, Any], isolation: str, seconds: float, findings: tuple[Finding, ...]
) -> Verdict:
    if result["status"] == "unfinished":
        turn = Turn.from_json(result["turn"])
        return Verdict(
            None,
            "unfinished",
            GOES_ON,
            isolation=isolation,
            seconds=seconds,
            findings=findings,
            turn=turn,
        )
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
