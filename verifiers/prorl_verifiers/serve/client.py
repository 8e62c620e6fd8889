"""``RemoteVerifier``: score through a running reward service.

Retries while the service is full, draining or unreachable, waiting as long as it says. Thread-safe; a
request is repeated safely, since scoring changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prorl_common import Closing, ServiceError, UserError
from prorl_common.http import (
    Connection,
    Reply,
    RetryPolicy,
    ServerWatch,
    TransientError,
    bearer_token,
    parse_address,
)
from prorl_verifiers.types import Task, TaskError, Verdict

BATCH = 256
"""Items sent in one request."""
FIRST_WAIT, LONGEST_WAIT = 0.25, 8.0
"""Seconds before a request is tried again, as long as the service does not ask for more."""
MAX_WAIT = 60.0
"""Seconds; the longest wait that a service may ask for."""


class TooLargeError(UserError):
    """The service does not take so much at once."""


class RemoteVerifier(Closing):
    """Score with the service at ``url`` (``http://host:port`` or ``unix:/path``).

    ``token``: the service's token, where it has one (``PRORL_TOKEN`` otherwise). ``retries`` counts
    further tries after the first, ``timeout`` is seconds for the service to answer one request.
    """

    def __init__(
        self, url: str, token: str | None = None, *, retries: int = 8, timeout: float = 600.0
    ) -> None:
        self._url = url
        self._address = parse_address(url, "the reward service's address", "http://HOST:PORT")
        self._token = bearer_token(token)
        self._policy = RetryPolicy(FIRST_WAIT, LONGEST_WAIT, MAX_WAIT, tries=retries + 1)
        self._timeout = timeout

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict per (response, task), in order.

        Raises TaskError for a malformed task, UserError when the service refuses the request, ServiceError
        when it is down or full after all retries.
        """
        rows = [
            {"task": {"verifier": task.verifier, "reference": task.reference}, "response": text}
            for text, task in items
        ]
        verdicts: list[Verdict] = []
        with self._connection() as connection:
            for start in range(0, len(rows), BATCH):
                verdicts += self._verdicts(connection, rows[start : start + BATCH])
        return verdicts

    def _verdicts(self, connection: Connection, rows: list[dict[str, Any]]) -> list[Verdict]:
        """Return the verdicts of one request; what is too large for the service goes in halves."""

        def ask() -> dict[str, Any]:
            return read_reply(connection.post("/verify", {"items": rows}), self._url)

        try:
            watch = ServerWatch(f"the reward service {self._url}", self._policy)
            reply = watch.until_answered(ask)
        except TooLargeError:
            if len(rows) == 1:
                raise
            half = len(rows) // 2
            return self._verdicts(connection, rows[:half]) + self._verdicts(connection, rows[half:])
        try:
            found = [read_verdict(row) for row in reply["verdicts"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ServiceError(f"{self._url} sent no verdict: {error!r}") from error
        if len(found) != len(rows):
            raise ServiceError(f"{self._url} answered {len(found)} of {len(rows)} items")
        return found

    def ready(self) -> bool:
        """Return whether the service says that it is ready (False also when nothing answers)."""
        try:
            with self._connection() as connection:
                return connection.get("/healthz").status == 200
        except TransientError:
            return False

    def close(self) -> None:
        """Nothing is held between calls."""

    def _connection(self) -> Connection:
        return Connection(self._address, self._token or None, self._timeout)


def read_reply(reply: Reply, url: str) -> dict[str, Any]:
    """Return the verdicts that the service sent.

    Raises TransientError where the same request may pass later, TaskError for a malformed task, UserError
    for a request that is refused, ServiceError for what is no reward service.
    """
    if reply.status == 200:
        found = reply.object()
        if not isinstance(found.get("verdicts"), list):
            raise ServiceError(f"{url} is no reward service: its answer holds no verdicts")
        return found
    if (trouble := reply.trouble()) is not None:
        raise trouble
    message = reply.message()
    if reply.status == 422:
        raise TaskError(message)
    if reply.status == 401:
        raise UserError(f"{url} refuses the token: set PRORL_TOKEN to the one it was started with")
    if reply.status == 413:
        raise TooLargeError(f"{url} refuses the request: {message}")
    if 400 <= reply.status < 500:
        raise UserError(f"{url} refuses the request: {message}")
    raise ServiceError(f"{url} answered HTTP {reply.status}: {message}")


def read_verdict(row: dict[str, Any]) -> Verdict:
    """Return the verdict of one row of the service's reply. A row that is none raises as it happens."""
    if (row["reward"] is None) != (row["status"] == "infra_error"):
        raise ValueError(f"reward {row['reward']!r} with status {row['status']!r}")
    return Verdict(
        reward=row["reward"],
        status=row["status"],
        reason=row["reason"],
        extracted=row["extracted"],
        isolation=row["isolation"],
        metrics=row["metrics"],
        seconds=row["seconds"],
    )
