"""Asks the replicas of the checker: answers dealt out in small batches, those of a lost replica asked again elsewhere.

A replica gets the next batch when it has room, so a fast one does more. One that is gone, or does not answer, is
left alone for a while, and its batches go to the others: no answer is lost, and none is ever given a reward for it.
Leaves out: what a replica is (``replicas``: Ray actors, ``services``: addresses) and how many there are (``size``).
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from prorl_common import ServiceError
from prorl_verifiers import Task, Verdict

Row = tuple[str, str, Mapping[str, Any]]
"""Response, verifier, reference."""
BATCH = 8
"""Answers in one call."""
PATIENCE = 120.0
"""Seconds without an answer from any replica, while all are away, after which the tier counts as broken."""
LATE = 600.0
"""Seconds after which a call that was not answered is asked of another replica."""
LOSSES = 5
"""So many replicas may be lost over one batch before its answers count as not to be judged."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds that a lost replica is left alone: doubled each time, until it answers again."""
POLL = 0.5


class ReplicaLost(ServiceError):
    """A replica is gone or does not answer; the same question may be asked of another one."""


class Replicas(Protocol):
    """Places that judge: futures in, verdicts out."""

    @property
    def slots(self) -> Sequence[int]:
        """How many batches each takes at a time."""
        ...

    def ask(self, replica: int, rows: Sequence[Row]) -> Any:
        """Return the future of the rows' verdicts."""
        ...

    def first_done(self, futures: Sequence[Any], seconds: float) -> Any:
        """Return one of ``futures`` that is done, waiting for at most ``seconds``; None where there is none."""
        ...

    def result(self, future: Any) -> list[Verdict]:
        """Return the verdicts of a future that is done. Raises ReplicaLost, and what a malformed task raises."""
        ...

    def close(self) -> None:
        """Let the replicas go."""
        ...


@dataclass(slots=True)
class _State:
    """A replica as the tier knows it: calls it has not answered, until when it is left alone."""

    out: int = 0
    away_until: float = 0.0
    pause: float = FIRST_PAUSE


@dataclass(frozen=True, slots=True)
class _Call:
    batch: int
    replica: int
    since: float


class RewardTier:
    """Judges with all replicas at once; implements ``Scorer``. Thread-safe.

    ``clock`` is in seconds, ``say`` hears of replicas that are lost and of those that are back.
    """

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

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict an item, in order; those that a replica could not judge are asked once more.

        Raises ServiceError when no replica answers, TaskError for a malformed task.
        """
        rows = [(text, task.verifier, dict(task.reference)) for text, task in items]
        verdicts = self._asked(rows)
        again = [i for i, verdict in enumerate(verdicts) if verdict.is_infra_error]
        if again:
            for i, verdict in zip(again, self._asked([rows[i] for i in again]), strict=True):
                verdicts[i] = verdict
        return verdicts

    def close(self) -> None:
        """Let the replicas go."""
        self._replicas.close()

    def _asked(self, rows: Sequence[Row]) -> list[Verdict]:
        batches = [rows[i : i + BATCH] for i in range(0, len(rows), BATCH)]
        found: dict[int, list[Verdict]] = {}
        losses: Counter[int] = Counter()
        waiting, out = deque(range(len(batches))), dict[Any, _Call]()
        heard = self._clock()

        def lost(call: _Call, why: str) -> None:
            self._lost(call.replica, why)
            losses[call.batch] += 1
            if losses[call.batch] < LOSSES:
                waiting.appendleft(call.batch)
                return
            reason = f"{LOSSES} replicas were lost over it, the last one: {why}"
            found[call.batch] = [Verdict(None, "infra_error", reason)] * len(batches[call.batch])

        try:
            while len(found) < len(batches):
                self._hand_out(batches, waiting, out)
                if not out:
                    if self._clock() - heard > PATIENCE:
                        raise ServiceError(
                            f"none of {len(self._states)} reward replicas has answered for {PATIENCE:.0f} s"
                        )
                    self._sleep(POLL)
                    continue
                future = self._replicas.first_done(list(out), POLL)
                if future is None:
                    now = self._clock()
                    for late in [f for f, call in out.items() if now - call.since > LATE]:
                        lost(out.pop(late), f"no answer in {LATE:.0f} s")
                        heard = now  # while it was out there was hope
                    continue
                call = out.pop(future)
                try:
                    found[call.batch] = self._replicas.result(future)
                except ReplicaLost as error:
                    lost(call, str(error))
                else:
                    heard = self._clock()
                    self._answered(call.replica)
        finally:
            with self._lock:
                for call in out.values():  # nobody waits for them any more
                    self._states[call.replica].out -= 1
        return [verdict for i in range(len(batches)) for verdict in found[i]]

    def _hand_out(
        self, batches: Sequence[Sequence[Row]], waiting: deque[int], out: dict[Any, _Call]
    ) -> None:
        """Give waiting batches to the replicas that have most room; one that was lost gets one to try with."""
        while waiting:
            with self._lock:
                now = self._clock()
                rooms = [
                    (1 if state.away_until else slots) - state.out if state.away_until <= now else 0
                    for state, slots in zip(self._states, self._replicas.slots, strict=True)
                ]
                replica = max(range(len(rooms)), key=lambda i: rooms[i] / self._replicas.slots[i])
                if rooms[replica] <= 0:
                    return
                self._states[replica].out += 1
            batch = waiting.popleft()
            out[self._replicas.ask(replica, batches[batch])] = _Call(batch, replica, now)

    def _lost(self, replica: int, why: str) -> None:
        with self._lock:
            state, now = self._states[replica], self._clock()
            state.out -= 1
            if state.away_until > now:  # one of several calls that it has taken along
                return
            first = not state.away_until
            state.away_until = now + state.pause
            state.pause = min(2 * state.pause, LONGEST_PAUSE)
        if first:
            self._say(f"reward replica {replica} is lost: the others take over ({why})")

    def _answered(self, replica: int) -> None:
        with self._lock:
            state = self._states[replica]
            state.out -= 1
            back = bool(state.away_until)
            state.away_until, state.pause = 0.0, FIRST_PAUSE
        if back:
            self._say(f"reward replica {replica} is back")


def items_of(rows: Sequence[Row]) -> list[tuple[str, Task]]:
    """Return the rows as a pool or a service takes them."""
    return [(text, Task(verifier, dict(reference))) for text, verifier, reference in rows]
