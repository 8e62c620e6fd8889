"""A pool like ``VerifierPool`` that scores with running reward servers (``prorl verify serve``)."""

from __future__ import annotations

import functools
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, get_args

from prorl_common import Closing, ServiceError, UserError
from prorl_common.http import (
    Address,
    Connection,
    Reply,
    TransientError,
    bearer_token,
    parse_address,
)
from prorl_verifiers.parts import runs_programs
from prorl_verifiers.pool.pool import VerifierPool, WorkerOptions
from prorl_verifiers.replicas import LATE, ReplicaBusy, ReplicaLost, ReplicaPool, probes
from prorl_verifiers.tasks import check_modes, part_records
from prorl_verifiers.types import Item, OnDone, Task, TaskError, Turn, Verdict, VerdictStatus

REQUESTS = 16
"""Maximum number of concurrent requests per server."""
PROBE_SECONDS = 120.0
"""Limit in seconds of the first request to a server."""


class RemotePool(Closing):
    """Scores with all ``servers`` (``http://host:port`` or ``unix:/path``) at once. Thread-safe.

    ``token``: the servers' token, by default ``PRORL_TOKEN``.
    ``modes``: {verifier: mode} for tasks without a mode; None: the servers' modes.
    ``say``: called with a message when a server is lost or back.

    Raises UserError for an invalid address.
    """

    def __init__(
        self,
        servers: Sequence[str],
        token: str | None = None,
        *,
        modes: Mapping[str, str] | None = None,
        timeout_seconds: float = LATE,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        if not servers:
            raise UserError("name at least one reward server, like http://HOST:8421")
        check_modes(modes or {})
        self._servers = [
            _Server(url, bearer_token(token), modes, timeout_seconds) for url in servers
        ]
        self._say = say
        self._replicas = ReplicaPool(_Servers(self._servers), say)

    def score(self, items: Sequence[Item], on_done: OnDone | None = None) -> list[Verdict]:
        """Return one verdict per (response, task), in order. ``on_done`` is as in ``VerifierPool.score``.

        Raises TaskError, UserError if a server refuses the request, or ServiceError if no server answers.
        """
        return self._replicas.score(items, on_done)

    def require(self, tasks: Iterable[Task]) -> None:
        """Check that the servers can score these tasks.

        Raises UserError if a server refuses a task, or ServiceError if no server answers or a sandbox is broken.
        """
        items = probes(list(tasks))
        lost: list[str] = []
        for server in self._servers:
            try:
                verdicts = server.score(items, PROBE_SECONDS) if items else []
            except ReplicaBusy:
                continue
            except ReplicaLost as error:
                lost.append(f"{server.name} does not answer ({error})")
                continue
            for (_, task), verdict in zip(items, verdicts, strict=True):
                if verdict.is_infra_error and runs_programs(task):
                    raise ServiceError(f"{server.name} cannot run programs: {verdict.reason}")
        if len(lost) == len(self._servers):
            raise ServiceError(
                f"{lost[0]}: start it with prorl verify serve, or give another address"
            )
        for line in lost:
            self._say(f"{line}: continuing without it")

    def close(self) -> None:
        self._replicas.close()


def open_pool(
    servers: Sequence[str] = (),
    workers: int = 2,
    sandbox: str | None = None,
    *,
    allow_weak: bool = False,
    timeout_seconds: float = 10.0,
    worker_options: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
    say: Callable[[str], None] = lambda line: None,
) -> VerifierPool | RemotePool:
    """Return a RemotePool for ``servers``, or a VerifierPool if there are none."""
    if servers:
        return RemotePool(servers, modes={}, say=say)
    return VerifierPool(
        workers,
        sandbox,
        allow_weak=allow_weak,
        timeout_seconds=timeout_seconds,
        worker_options=worker_options,
    )


class _Server:
    def __init__(
        self, url: str, token: str, modes: Mapping[str, str] | None, timeout: float
    ) -> None:
        self.name = f"reward server {url}"
        self._address: Address = parse_address(
            url, "the reward server's address", "http://HOST:8421"
        )
        self._token, self._modes, self._timeout = token, modes, timeout
        self._idle: deque[Connection] = deque()
        self._closed = False

    def score(self, items: Sequence[Item], seconds: float | None = None) -> list[Verdict]:
        body: dict[str, Any] = {
            "items": [
                {
                    "task": {"verifier": task.verifier, "reference": task.reference},
                    "response": text,
                }
                for text, task in items
            ],
            "parts": scoring_parts([task for _, task in items]),
        }
        if self._modes is not None:  # the opening <think> is already part of the responses
            body |= {"modes": dict(self._modes), "think_open": False}
        try:
            reply = self._post(body, seconds)
            if reply.status == 413 and len(items) > 1:
                half = len(items) // 2
                return self.score(items[:half], seconds) + self.score(items[half:], seconds)
            return self._verdicts(reply, len(items))
        except TransientError as error:
            if error.alive:
                raise ReplicaBusy(str(error), error.wait or 0.0) from error
            raise ReplicaLost(str(error)) from error

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _post(self, body: Mapping[str, Any], seconds: float | None) -> Reply:
        if seconds is not None:
            with Connection(self._address, self._token or None, seconds) as connection:
                return connection.post("/verify", body)
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = Connection(self._address, self._token or None, self._timeout)
        reply = connection.post("/verify", body)  # a broken connection closes itself
        self._idle.append(connection)
        if self._closed:
            self.close()
        return reply

    def _verdicts(self, reply: Reply, count: int) -> list[Verdict]:
        message = reply.message()
        if reply.status == 500:  # a server fault on these items; the others continue
            reason = f"{self.name} failed: {message}"
            return [Verdict(None, "infra_error", reason)] * count
        if (trouble := reply.trouble()) is not None:
            raise trouble
        match reply.status:
            case 200:
                pass
            case 422:
                raise TaskError(message)
            case 401:
                raise UserError(
                    f"{self.name} rejected the token: set PRORL_TOKEN to the token it was "
                    "started with"
                )
            case status if 400 <= status < 500:
                raise UserError(f"{self.name} rejected the request: {message}")
            case _:
                raise ReplicaLost(f"HTTP {reply.status}: {message}")
        rows = reply.object().get("verdicts")
        if not isinstance(rows, list) or len(rows) != count:
            raise ReplicaLost("the answer does not contain one verdict per item")
        try:
            return [read_verdict(row) for row in rows]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ReplicaLost(f"the answer contains an invalid verdict: {error!r}") from error


class _Servers:
    def __init__(self, servers: Sequence[_Server]) -> None:
        self._servers = servers
        self.names = [server.name for server in servers]
        self.slots = [REQUESTS] * len(servers)
        self._threads = ThreadPoolExecutor(REQUESTS * len(servers), thread_name_prefix="reward")

    def ask(self, replica: int, items: Sequence[Item]) -> Future[list[Verdict]]:
        return self._threads.submit(self._servers[replica].score, items)

    def first_done(
        self, futures: Sequence[Future[list[Verdict]]], seconds: float
    ) -> Future[list[Verdict]] | None:
        return next(iter(wait(futures, seconds, FIRST_COMPLETED).done), None)

    def result(self, future: Future[list[Verdict]]) -> list[Verdict]:
        return future.result()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for server in self._servers:
            server.close()


@functools.cache
def _prorl_record() -> dict[str, str]:
    from importlib.metadata import version

    return {"group": "prorl", "name": "prorl", "source": "prorl", "version": version("prorl")}


def scoring_parts(tasks: Sequence[Task]) -> list[dict[str, str]]:
    """Return the source and version of prorl, and of each plug-in that scores these tasks."""
    return [_prorl_record(), *part_records(tasks)]


def read_verdict(row: Mapping[str, Any]) -> Verdict:
    reward, status = row["reward"], row["status"]
    unscored = status in ("infra_error", "unfinished")
    if status not in get_args(VerdictStatus) or (reward is None) != unscored:
        raise ValueError(f"reward {reward!r} is invalid with status {status!r}")
    is_number = isinstance(reward, int | float) and not isinstance(reward, bool)
    if reward is not None and not (is_number and 0.0 <= reward <= 1.0):
        raise ValueError(f"reward {reward!r} is not a number in [0, 1]")
    seconds = float(row["seconds"])
    if not math.isfinite(seconds):
        raise ValueError(f"{seconds} is not a number of seconds")
    return Verdict(
        reward=reward if reward is None else float(reward),
        status=status,
        reason=str(row["reason"]),
        extracted=row["extracted"],
        isolation=str(row["isolation"]),
        metrics=dict(row["metrics"]),
        seconds=seconds,
        turn=Turn.from_json(row["turn"]) if status == "unfinished" else None,
    )
