"""Jobs of many threads to services and back: gathered into requests, to the least loaded, elsewhere when one is lost.

Threads of its own send and read. One of them at a time, the one that has the turn, chooses what is sent
next; what waits while the services have enough to do goes together in one request.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError
from prorl_common.http import Address, Connection, Reply, TransientError
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.exchange import Exchange, RefusedError
from prorl_sandbox.remote.job import WAIT_SECONDS, Job
from prorl_sandbox.remote.protocol import PROTOCOL, Hello
from prorl_sandbox.remote.servers import Server
from prorl_sandbox.types import SandboxError

GATHER_SECONDS = 0.02
"""So long a job waits for others to go with it, where every service has enough to do."""
MOST_LOSSES = 3
"""A job under which so many services were lost is given up: it may be why."""
_BATCH_BYTES = 8 * 1024 * 1024
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class _Word:
    """What a server is to be told: that nobody waits for these jobs of a request any more."""

    server: Server
    connection: Connection
    name: str
    places: list[int]


class Dispatcher:
    """Thread-safe. ``patience``: seconds for which all servers may be lost before jobs fail."""

    def __init__(
        self, addresses: Sequence[Address], token: str, patience: float, allow_weak: bool
    ) -> None:
        self.servers = [Server(address) for address in addresses]
        self._token, self._patience, self._allow_weak = token, patience, allow_weak
        self._client = secrets.token_hex(6)
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._running: list[Exchange] = []
        self._free_threads = 0
        self._asking = self._closed = False

    def submit(self, job: Job) -> None:
        """Send a job; its answers come in ``job.answers``. Raises SandboxError once closed."""
        with self._changed:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            self._waiting.append(job)
            self._wake()

    def drop(self, job: Job) -> None:
        """Forget a job that nobody waits for any more; its program is killed."""
        with self._changed:
            if job.done:
                return
            job.done = True
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)
            for exchange in self._running:
                for place in exchange.open:
                    if exchange.jobs[place] is job:
                        exchange.dropped.append(place)
            self._wake()

    def ask_all(self, seconds: float) -> None:
        """Ask every server for its state, for so long at most, or a fifth of it once one is up."""
        began = time.monotonic()
        with self._changed:
            self._asking = True
            self._wake()
            while (passed := time.monotonic() - began) < seconds:
                up = sum(server.up for server in self.servers)
                refused = any(server.trouble == "refused" for server in self.servers)
                if up == len(self.servers) or refused or (up and passed > seconds / 5):
                    break
                self._changed.wait(0.1)
            self._asking = False

    def best_first(self) -> list[Server]:
        """Return the servers that take jobs, the least loaded first."""
        with self._changed:
            now = time.monotonic()
            return sorted((s for s in self.servers if s.up), key=lambda one: one.load(now))

    def connect(self, server: Server) -> Connection:
        """Return a new connection, which is the caller's to close."""
        return server.new_connection(self._token, self._client)

    def troubles(self) -> str:
        """Return what is known of the servers, for people."""
        return "; ".join(f"{server.address}: {server.reason or 'full'}" for server in self.servers)

    def close(self) -> None:
        """End all; jobs in work fail."""
        with self._changed:
            self._closed = True
            for job in [*self._waiting, *(job for one in self._running for job in one.jobs)]:
                job.fail(SandboxError("the sandbox was closed during the run"))
            self._waiting.clear()
            for exchange in self._running:
                exchange.connection.cut()
            for server in self.servers:
                server.close()
            self._changed.notify_all()

    def _wake(self) -> None:
        """Have the thread that has the turn look again; see that there is one."""
        if not self._free_threads and not self._closed:
            self._free_threads += 1
            threading.Thread(target=self._serve, name="remote-sandbox", daemon=True).start()
        self._changed.notify_all()

    def _serve(self) -> None:
        """Be a thread: choose, send, read, and again."""
        while True:
            with self._turn:
                task = self._choose()
            match task:
                case None:
                    return
                case Exchange():
                    self._exchange(task)
                case _Word():
                    self._tell(task)
            with self._changed:
                self._free_threads += 1

    def _choose(self) -> Exchange | _Word | None:
        """Wait for something to do and return it; None once closed."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                self._expire(now)
                task = self._due(now)
                if task is not None:
                    self._free_threads -= 1
                    self._wake()
                    return task
                self._changed.wait(self._seconds_to_look(now))
            self._free_threads -= 1
            return None

    def _due(self, now: float) -> Exchange | _Word | None:
        for exchange in self._running:
            if exchange.dropped:
                places, exchange.dropped = exchange.dropped, []
                for place in places:
                    self._settle(exchange, place)
                server = exchange.server
                connection = server.connection(self._token, self._client)
                return _Word(server, connection, exchange.name, places)
        if not self._waiting and not self._asking:
            return None
        for server in self.servers:
            if not server.up and not server.probing and server.blocked_until <= now:
                server.probing = True
                return self._begin(server, [])
        ready = [s for s in self.servers if s.up and s.blocked_until <= now and s.room > 0]
        if not ready or not self._waiting:
            return None
        shunned = self._waiting[0].shunned
        server = min(ready, key=lambda one: (one.address == shunned, one.load(now)))
        # one answer makes room for one job: what goes together has to be waited for
        worth_it = min(len(self._waiting), server.room) >= server.most / 4
        aged = (
            now >= self._waiting[0].created + GATHER_SECONDS and len(self._waiting) <= server.room
        )
        if server.hungry or worth_it or aged:
            return self._begin(server, self._gather(server))
        return None

    def _gather(self, server: Server) -> list[Job]:
        """Take the jobs that go together next."""
        jobs = [self._waiting.popleft()]
        size = len(jobs[0].data)
        while self._waiting and len(jobs) < server.room and not jobs[0].alone:
            following = self._waiting[0]
            size += len(following.data)
            apart = following.alone or following.shunned == server.address
            if apart or size > _BATCH_BYTES:
                break
            jobs.append(self._waiting.popleft())
        return jobs

    def _begin(self, server: Server, jobs: list[Job]) -> Exchange:
        exchange = Exchange(server, jobs, server.connection(self._token, self._client))
        server.outstanding += len(jobs)
        for job in jobs:
            job.begin()
        self._running.append(exchange)
        return exchange

    def _seconds_to_look(self, now: float) -> float | None:
        """Return when to look again without being told: to gather no longer, or to try a server again."""
        if not self._waiting and not self._asking:
            return None
        moments = [server.blocked_until for server in self.servers]
        moments += [job.created + GATHER_SECONDS for job in self._waiting][:1]
        return min([_LOOK_SECONDS, *(moment - now for moment in moments if moment > now)])

    def _expire(self, now: float) -> None:
        """Fail what has waited too long, and what no server is there for."""
        lost = all(now - server.failing_since >= self._patience for server in self.servers)
        tried = min(server.tried for server in self.servers)
        for job in list(self._waiting):
            if lost and tried > job.created:
                reason = "no sandbox service answers"
            elif now - job.created > WAIT_SECONDS:
                reason = f"no sandbox service had room for {WAIT_SECONDS:g} s"
            else:
                continue
            self._waiting.remove(job)
            job.fail(SandboxError(f"{reason} ({self.troubles()})"))

    def _exchange(self, exchange: Exchange) -> None:
        """Send one request and hand out its answers; what is not answered goes to the next server."""
        server, whole = exchange.server, False
        try:
            for found in exchange.answers():
                with self._changed:
                    if isinstance(found, Hello):
                        self._greet(server, found)
                        if not server.up:
                            return
                    else:
                        self._deliver(exchange, *found)
            whole = True
            with self._changed:
                if not all(exchange.jobs[place].done for place in exchange.open):
                    self._lost(exchange, "it ended a request without all answers", None)
        except RefusedError as refused:
            whole = True
            with self._changed:
                self._refused(exchange, refused.reply)
        except (TransientError, MalformedError) as error:
            with self._changed:
                if (
                    not self._closed
                ):  # else it was cut by us, perhaps before the end of an answered request
                    self._lost(exchange, str(error), getattr(error, "wait", None))
        except Exception as error:  # noqa: BLE001 - a bug of ours: the callers get it
            for job in exchange.jobs:
                job.fail(error)
        finally:
            with self._changed:
                self._end(exchange, whole)

    def _greet(self, server: Server, hello: Hello) -> None:
        """Take in a server's state, which may be one that no job must go to."""
        now = time.monotonic()
        if hello.protocol != PROTOCOL:
            spoken = f"it speaks protocol {hello.protocol} (prorl {hello.version}), not {PROTOCOL}"
            server.failed("refused", f"{spoken}: install the same version on both sides", now)
        elif hello.isolation.startswith("weak") and not self._allow_weak:
            cure = "start it on another machine, or accept the risk with allow_weak"
            server.failed("refused", f"its isolation is {hello.isolation}: {cure}", now)
        else:
            server.answered(hello, server.outstanding, now)
        self._changed.notify_all()

    def _deliver(self, exchange: Exchange, place: int, answer: dict[str, Any]) -> None:
        job = exchange.jobs[place]
        others = any(server.up for server in self.servers if server is not exchange.server)
        if answer.get("kind") == "sandbox" and others and not job.losses:
            job.losses += 1  # its sandbox failed: another's may not
            job.shunned = exchange.server.address
            self._settle(exchange, place)
            self._waiting.append(job)
            self._changed.notify_all()
            return
        job.deliver(answer)
        if job.done:
            self._settle(exchange, place)

    def _settle(self, exchange: Exchange, place: int) -> None:
        """Note that a server has a job no more."""
        if place in exchange.open:
            exchange.open.discard(place)
            exchange.server.outstanding -= 1
            if self._waiting:
                self._changed.notify_all()

    def _refused(self, exchange: Exchange, reply: Reply) -> None:
        """Decide what an answer of another status than 200 means for server and jobs."""
        server, now, trouble = exchange.server, time.monotonic(), reply.trouble()
        if trouble is not None and trouble.alive:
            server.busy(reply.line(), trouble.wait, now)
        elif trouble is not None:
            self._lost(exchange, reply.line(), trouble.wait)
        elif reply.status in (413, 422) and exchange.jobs:
            self._blame(exchange, reply)
        elif reply.status == 401:
            mend = "set PRORL_TOKEN to the one it was started with"
            server.failed("refused", f"it refuses the token: {mend}", now)
        else:
            server.failed("refused", reply.line(), now)

    def _blame(self, exchange: Exchange, reply: Reply) -> None:
        """End the job that a server cannot take; where it is not known which, send each by itself."""
        place = None
        with contextlib.suppress(TransientError):
            place = reply.object().get("job")
        if len(exchange.jobs) == 1:
            place = 0
        if type(place) is int and 0 <= place < len(exchange.jobs):
            address = exchange.server.address
            exchange.jobs[place].fail(UserError(f"{address} refuses a program: {reply.message()}"))
            return
        for job in exchange.jobs:
            job.alone = True

    def _lost(self, exchange: Exchange, reason: str, wait: float | None) -> None:
        """Take note that a server failed, and count it against the jobs it had."""
        exchange.server.failed("lost", reason, time.monotonic(), wait)
        for place in exchange.open:
            job = exchange.jobs[place]
            job.losses += 1
            if job.losses >= MOST_LOSSES:
                last = f"{exchange.server.address}: {reason}"
                job.fail(SandboxError(f"{MOST_LOSSES} sandbox services failed under it ({last})"))

    def _end(self, exchange: Exchange, whole: bool) -> None:
        """Put back what a request has left, and keep its connection if its answer was read to the end."""
        server = exchange.server
        self._running.remove(exchange)
        server.probing = server.probing and bool(exchange.jobs)
        left = [exchange.jobs[place] for place in sorted(exchange.open)]
        for place in [*exchange.open]:
            self._settle(exchange, place)
        self._waiting.extendleft(job for job in reversed(left) if not job.done)
        if whole and not self._closed:
            server.give_back(exchange.connection)
        else:
            exchange.connection.close()
        self._changed.notify_all()

    def _tell(self, word: _Word) -> None:
        whole = False
        with contextlib.suppress(TransientError):
            word.connection.post("/cancel", {"id": word.name, "jobs": word.places})
            whole = True
        with self._changed:
            if whole and not self._closed:
                word.server.give_back(word.connection)
            else:
                word.connection.close()
