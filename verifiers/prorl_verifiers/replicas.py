"""Scores with several replicas of the verifiers at once. Replicas are servers, or actors of a cluster.

If a replica is lost, another one scores its batches.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prorl_common import ServiceError
from prorl_common.http import RetryPolicy
from prorl_verifiers.parts import runs_programs, tasks_in
from prorl_verifiers.types import Item, OnDone, Task, Verdict

BATCH = 8
"""Number of responses per request."""
PATIENCE = 120.0
"""Seconds without an answer from any replica after which scoring fails."""
LATE = 600.0
"""Seconds after which a request is repeated at another replica, and after which scoring fails if all are only busy."""
LOSSES = 5
"""Number of lost replicas after which the batch that they scored gets ``infra_error``."""
PAUSES = RetryPolicy(first=1.0, longest=30.0, longest_asked=30.0)
"""How long a lost or busy replica gets no requests."""
POLL = 0.5
PROBE_PROGRAM = "```python\nprint(2)\n```"
"""A test response for verifiers that run programs."""


class ReplicaLost(ServiceError):
    """Raised if a replica is gone or does not answer."""


class ReplicaBusy(ServiceError):
    """Raised if a replica accepts no more work at the moment. ``seconds``: when to ask it again."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Replicas(Protocol):
    """The replicas of a ``ReplicaPool``."""

    @property
    def names(self) -> Sequence[str]: ...

    @property
    def slots(self) -> Sequence[int]: ...

    def ask(self, replica: int, items: Sequence[Item]) -> Any: ...

    def first_done(self, futures: Sequence[Any], seconds: float) -> Any:
        """Wait up to ``seconds``. Return a finished future, or None."""
        ...

    def result(self, future: Any) -> list[Verdict]:
        """Return the verdicts of a finished future. Raises ReplicaLost, ReplicaBusy, or UserError for refused items."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class _State:
    running: int = 0
    away_until: float = 0.0
    losses: int = 0


@dataclass(frozen=True, slots=True)
class _Call:
    batch: int
    replica: int
    since: float


class ReplicaPool:
    """Scores with all replicas at once. Thread-safe. ``say`` is called when a replica is lost or back."""

    def __init__(
        self,
        replicas: Replicas,
        say: Callable[[str], None] = lambda line: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._replicas = replicas
        self._say = say
        self._clock = clock
        self._sleep = sleep
        self._states = [_State() for _ in replicas.slots]
        self._lock = threading.Lock()

    def score(self, items: Sequence[Item], on_done: OnDone | None = None) -> list[Verdict]:
        """Return one verdict per item, in order. Items with ``infra_error`` are scored again once.

        ``on_done`` is as in ``VerifierPool.score``. Raises ServiceError if no replica answers, or UserError if one
        refuses a request.
        """
        report = on_done or (lambda index, verdict: None)

        def first(index: int, verdict: Verdict) -> None:
            if not verdict.is_infra_error:
                report(index, verdict)

        verdicts = self._score_once(items, first)
        again = [i for i, verdict in enumerate(verdicts) if verdict.is_infra_error]
        if again:
            repeated = [items[i] for i in again]
            second = self._score_once(repeated, lambda n, verdict: report(again[n], verdict))
            for i, verdict in zip(again, second, strict=True):
                verdicts[i] = verdict
        return verdicts

    def close(self) -> None:
        self._replicas.close()

    def _score_once(self, items: Sequence[Item], on_done: OnDone) -> list[Verdict]:
        batches = [items[i : i + BATCH] for i in range(0, len(items), BATCH)]
        finished: dict[int, list[Verdict]] = {}
        losses: Counter[int] = Counter()
        waiting, running = deque(range(len(batches))), dict[Any, _Call]()
        last_sign = last_verdict = self._clock()

        def finish(batch: int, verdicts: list[Verdict]) -> None:
            finished[batch] = verdicts
            for offset, verdict in enumerate(verdicts):
                on_done(batch * BATCH + offset, verdict)

        def lost(call: _Call, reason: str) -> None:
            self._record_loss(call.replica, reason)
            losses[call.batch] += 1
            if losses[call.batch] < LOSSES:
                waiting.appendleft(call.batch)
                return
            reason = f"{LOSSES} replicas were lost over it, the last one: {reason}"
            verdict = Verdict(None, "infra_error", reason)
            finish(call.batch, [verdict] * len(batches[call.batch]))

        try:
            while len(finished) < len(batches):
                self._hand_out(batches, waiting, running)
                if not running:
                    now = self._clock()
                    silent = now - last_sign
                    if silent > PATIENCE or now - last_verdict > LATE:
                        names = ", ".join(self._replicas.names[:4])
                        raise ServiceError(
                            f"no verdict for {min(silent, LATE):.0f} s or more from {names}: "
                            "check that at least one is running"
                        )
                    self._sleep(POLL)
                    continue
                future = self._replicas.first_done(list(running), POLL)
                now = self._clock()
                if future is None:
                    for late in [f for f, call in running.items() if now - call.since > LATE]:
                        lost(running.pop(late), f"no answer in {LATE:.0f} s")
                        last_sign = last_verdict = now  # waiting for it does not count as silence
                    continue
                call = running.pop(future)
                try:
                    verdicts = self._replicas.result(future)
                except ReplicaBusy as error:
                    self._record_busy(call.replica, error.seconds)
                    waiting.appendleft(call.batch)
                    last_sign = now
                except ReplicaLost as error:
                    lost(call, str(error))
                except BaseException:
                    self._record_end(call.replica)
                    raise
                else:
                    last_sign = last_verdict = now
                    self._record_answer(call.replica)
                    finish(call.batch, verdicts)
        finally:
            for call in running.values():  # their verdicts are no longer needed
                self._record_end(call.replica)
        return [verdict for i in range(len(batches)) for verdict in finished[i]]

    def _hand_out(
        self, batches: Sequence[Sequence[Item]], waiting: deque[int], running: dict[Any, _Call]
    ) -> None:
        while waiting:
            with self._lock:
                now = self._clock()
                rooms = [
                    (1 if state.losses else slots) - state.running if state.away_until <= now else 0
                    for state, slots in zip(self._states, self._replicas.slots, strict=True)
                ]
                replica = max(range(len(rooms)), key=lambda i: rooms[i] / self._replicas.slots[i])
                if rooms[replica] <= 0:
                    return
                self._states[replica].running += 1
            batch = waiting.popleft()
            running[self._replicas.ask(replica, batches[batch])] = _Call(batch, replica, now)

    def _record_end(self, replica: int) -> None:
        with self._lock:
            self._states[replica].running -= 1

    def _record_busy(self, replica: int, seconds: float) -> None:
        with self._lock:
            state = self._states[replica]
            state.running -= 1
            state.away_until = self._clock() + PAUSES.wait(1, seconds)

    def _record_loss(self, replica: int, reason: str) -> None:
        with self._lock:
            state, now = self._states[replica], self._clock()
            state.running -= 1
            if state.losses and state.away_until > now:  # one of several calls lost with it
                return
            state.losses += 1
            state.away_until = now + PAUSES.wait(state.losses, None)
        if state.losses == 1:
            name = self._replicas.names[replica]
            outcome = "waiting for it" if len(self._states) == 1 else "the others take over"
            self._say(f"{name} is lost: {outcome} ({reason})")

    def _record_answer(self, replica: int) -> None:
        with self._lock:
            state = self._states[replica]
            state.running -= 1
            is_back = state.losses > 0
            state.away_until, state.losses = 0.0, 0
        if is_back:
            self._say(f"{self._replicas.names[replica]} is back")


def probes(tasks: Sequence[Task]) -> list[Item]:
    """Return one test item per verifier and package environment of ``tasks``."""
    kinds: dict[tuple[str, Any], Task] = {}
    for task in tasks:
        for part in tasks_in(task):
            kinds.setdefault((part.verifier, part.reference.get("environment")), part)
    return [(PROBE_PROGRAM if runs_programs(task) else "", task) for task in kinds.values()]
