"""Canaries: questions whose verdict is known, asked of a worker to see whether it still judges right.

A scored text that managed to change its worker (a patched grader, a poisoned cache) betrays itself by a wrong verdict
here. A verifier's spec draws numbers and words anew each time, so that no text can hold the answers. A verifier
without canaries is asked an item of its own again: the verdict must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prorl_common import PluginError
from prorl_common.frames import encode
from prorl_verifiers.pool.protocol import request
from prorl_verifiers.pool.queue import Job
from prorl_verifiers.spec import VERIFIERS, Canary, VerifierSpec
from prorl_verifiers.types import Verdict

CANARY_SECONDS = 60.0
"""Processor time that a canary may take."""
REMEMBERED_BYTES = 1 << 16
"""A longer request is not kept to be asked again in later batches."""
Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Scores one request in this process and returns its result frame."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a worker is asked behind a batch: an encoded request, and the verdict that must come.

    With ``job`` it is an item of the batch once more, which must get its own verdict again.
    """

    frame: bytes
    reward: float | None = None
    status: str = "scored"
    job: Job | None = None

    def expecting(self, scored: Mapping[Job, Verdict]) -> Check | None:
        """Return the check with the verdict that must come; None for a job that has no verdict: it proves nothing."""
        if self.job is None:
            return self
        verdict = scored.get(self.job)
        if verdict is None:
            return None
        return replace(self, reward=verdict.reward, status=verdict.status, job=None)

    def passes(self, reply: Mapping[str, Any]) -> bool:
        """Return whether a worker's result frame is the verdict that must come."""
        result = reply.get("result")
        if not isinstance(result, Mapping) or result.get("status") != self.status:
            return False
        return bool(result.get("reward") == self.reward)


class Examiner:
    """Chooses what one worker is asked, and remembers items of verifiers without canaries."""

    def __init__(self) -> None:
        self._draw = random.Random()
        self._served: set[str] = set()
        self._remembered: dict[str, Check] = {}

    def checks(self, requests: Sequence[tuple[Job, bytes]]) -> list[Check]:
        """Return what the worker is asked behind these requests."""
        by_verifier: dict[str, list[tuple[Job, bytes]]] = {}
        for job, frame in requests:
            by_verifier.setdefault(job.task.verifier, []).append((job, frame))
        self._served |= set(by_verifier)
        checks = []
        for name, items in sorted(by_verifier.items()):
            canaries = quick_checks(name, self._draw)
            if not canaries and name in self._remembered:
                canaries = [self._remembered[name]]
            if not canaries:
                job, frame = self._draw.choice(items)
                canaries = [Check(frame, job=job)]
            checks += canaries
        return checks

    def last_checks(self, warm: frozenset[str]) -> list[Check]:
        """Return what a worker is asked that retires; ``warm``: verifiers whose libraries are loaded."""
        deep = [check for name in sorted(warm & self._served) for check in deep_checks(name)]
        return [*deep, *self._remembered.values()]

    def pass_all(
        self,
        checks: Sequence[Check],
        replies: Iterable[Mapping[str, Any]],
        scored: Mapping[Job, Verdict],
    ) -> bool:
        """Return whether the worker's replies pass all checks; if so, remember the items among these."""
        expected = [check.expecting(scored) for check in checks]
        passed = [
            one is None or one.passes(reply) for one, reply in zip(expected, replies, strict=True)
        ]
        if not all(passed):
            return False
        for check, one in zip(checks, expected, strict=True):
            if check.job is not None and one is not None and len(one.frame) <= REMEMBERED_BYTES:
                self._remembered.setdefault(check.job.task.verifier, one)
        return True


def quick_checks(verifier: str, draw: random.Random) -> list[Check]:
    """Return newly drawn questions for the end of a batch; none for a verifier without canaries."""
    return _checks(verifier, lambda spec: spec.quick_canaries(draw))


def deep_checks(verifier: str) -> list[Check]:
    """Return the questions that need the verifier's libraries."""
    return _checks(verifier, lambda spec: spec.deep_canaries())


def first_wrong(spec: VerifierSpec, canaries: Sequence[Canary], answer: Answer) -> str | None:
    """Return what came of the first canary that is judged wrong; who runs programs is asked none."""
    for canary in canaries if spec.score is not None else ():
        reply = answer(_request(spec.name, canary))
        if reply.get("result", {}).get("reward") != canary.reward:
            question = f"{canary.response!r} for {dict(canary.reference)!r}"
            return f"{question} must score {canary.reward:g} and came to {reply}"
    return None


def _request(verifier: str, canary: Canary) -> dict[str, Any]:
    return request(verifier, canary.reference, canary.response, CANARY_SECONDS)


def _checks(verifier: str, draw: Callable[[VerifierSpec], Sequence[Canary]]) -> list[Check]:
    try:
        canaries = draw(VERIFIERS.get(verifier))
        return [Check(encode(_request(verifier, canary)), canary.reward) for canary in canaries]
    except Exception as error:
        raise PluginError(
            f"the canaries of the verifier {verifier!r} fail: {type(error).__name__}: {error}"
        ) from error
