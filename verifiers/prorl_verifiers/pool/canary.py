"""Canaries: questions whose verdict is known, asked of a worker to see whether it still judges right.

A scored text that managed to change its worker (a patched grader, a poisoned cache) betrays itself by
a wrong verdict here. A verifier's spec draws numbers and words anew each time, so that no text can hold the
answers. A verifier without canaries is asked an item of its own again: the verdict must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import PluginError
from prorl_verifiers.pool import frames
from prorl_verifiers.spec import VERIFIERS, Canary, VerifierSpec

CANARY_SECONDS = 60.0
"""Processor time that a canary may take."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its request as a frame, and the verdict that must come."""

    frame: bytes
    reward: float | None
    status: str = "scored"

    def passes(self, reply: Mapping[str, Any]) -> bool:
        """Whether a worker's result frame is the verdict that must come."""
        result = reply.get("result")
        if not isinstance(result, Mapping) or result.get("status") != self.status:
            return False
        return bool(result.get("reward") == self.reward)


def request(verifier: str, canary: Canary) -> dict[str, Any]:
    """Return the request of a canary for a worker."""
    return {
        "verifier": verifier,
        "reference": dict(canary.reference),
        "response": canary.response,
        "cpu_seconds": CANARY_SECONDS,
    }


def quick_questions(verifier: str, draw: random.Random) -> list[Question]:
    """Return newly drawn questions for the end of a batch; none for a verifier without canaries."""
    return _questions(verifier, lambda spec: spec.quick_canaries(draw))


def deep_questions(verifier: str) -> list[Question]:
    """Return the questions that need the verifier's libraries."""
    return _questions(verifier, lambda spec: spec.deep_canaries())


def _questions(verifier: str, ask: Callable[[VerifierSpec], Sequence[Canary]]) -> list[Question]:
    try:
        return [
            Question(frames.encode(request(verifier, canary)), canary.reward)
            for canary in ask(VERIFIERS.get(verifier))
        ]
    except Exception as error:
        raise PluginError(
            f"the canaries of the verifier {verifier!r} fail: {type(error).__name__}: {error}"
        ) from error
