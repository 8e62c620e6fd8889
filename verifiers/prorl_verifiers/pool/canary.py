"""Canaries are test questions with known verdicts, which detect a worker that no longer judges correctly.

Quick canaries are random, so that no response can contain their answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from prorl_common import PluginError
from prorl_common.frames import encode
from prorl_verifiers.pool.protocol import make_request
from prorl_verifiers.pool.queue import Job
from prorl_verifiers.spec import VERIFIERS, Canary, VerifierSpec
from prorl_verifiers.types import Turn, Verdict

CANARY_SECONDS = 60.0
"""Limit of CPU seconds for a canary."""
REMEMBERED_BYTES = 1 << 16
"""Maximum bytes of a request that is repeated in later batches."""


@dataclass(frozen=True, slots=True)
class Check:
    """A test that a worker gets after a batch, and the verdict that it must return.

    If a verifier has no test questions, an item of the batch (``job``) is repeated and must get the same verdict again.
    """

    frame: bytes
    reward: float | None = None
    status: str = "scored"
    job: Job | None = None
    turn: Turn | None = None

    def with_expected_verdict(self, scored: Mapping[Job, Verdict]) -> Check | None:
        if self.job is None:
            return self
        verdict = scored.get(self.job)
        if verdict is None or verdict.is_infra_error:
            return None
        return replace(
            self, reward=verdict.reward, status=verdict.status, job=None, turn=verdict.turn
        )

    def passes(self, reply: Mapping[str, Any]) -> bool:
        result = reply.get("result")
        if not isinstance(result, Mapping) or result.get("status") != self.status:
            return False
        turn = None if self.turn is None else self.turn.to_json()
        return bool(result.get("reward") == self.reward and result.get("turn") == turn)


class Examiner:
    def __init__(self) -> None:
        self._draw = random.Random()
        self._served: set[str] = set()
        self._remembered: dict[str, Check] = {}

    def checks(self, requests: Sequence[tuple[Job, bytes]]) -> list[Check]:
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

    def retirement_checks(self, warm: frozenset[str]) -> list[Check]:
        deep = [check for name in sorted(warm & self._served) for check in deep_checks(name)]
        return [*deep, *self._remembered.values()]

    def pass_all(
        self,
        checks: Sequence[Check],
        replies: Iterable[Mapping[str, Any]],
        scored: Mapping[Job, Verdict],
    ) -> bool:
        """Return whether all checks pass. If so, the items repeated from this batch also check later batches."""
        expected = [check.with_expected_verdict(scored) for check in checks]
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
    return _checks(verifier, lambda spec: spec.quick_canaries(draw))


def deep_checks(verifier: str) -> list[Check]:
    return _checks(verifier, lambda spec: spec.deep_canaries())


def first_wrong(
    spec: VerifierSpec,
    canaries: Sequence[Canary],
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> str | None:
    """Describe the first canary for which ``answer`` returns a wrong reward, or return None.

    ``answer`` maps a request to a worker's reply, like ``pool.worker.answer``.
    """
    for canary in canaries if spec.score is not None else ():
        reply = answer(_request(spec.name, canary))
        if reply.get("result", {}).get("reward") != canary.reward:
            question = f"{canary.response!r} for {dict(canary.reference)!r}"
            return f"{question} must score {canary.reward:g} but scored {reply}"
    return None


def _request(verifier: str, canary: Canary) -> dict[str, Any]:
    return make_request(verifier, canary.reference, canary.response, CANARY_SECONDS)


def _checks(verifier: str, draw: Callable[[VerifierSpec], Sequence[Canary]]) -> list[Check]:
    try:
        canaries = draw(VERIFIERS.get(verifier))
        return [Check(encode(_request(verifier, canary)), canary.reward) for canary in canaries]
    except Exception as error:
        raise PluginError(
            f"the verifier {verifier!r} cannot create its canaries: {type(error).__name__}: {error}"
        ) from error
