"""``RemoteSandbox``: programs run behind ``prorl sandbox serve`` on other machines.

What is asked goes to the least loaded service, in requests with other threads' jobs; a service that is lost
costs nothing but time, for programs have no side effects. All lost is a SandboxError.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from prorl_common import UserError
from prorl_common.http import Address, bearer_token, parse_address
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.dispatch import Dispatcher
from prorl_sandbox.remote.job import Job
from prorl_sandbox.remote.protocol import Hello
from prorl_sandbox.remote.submission import AskingSandbox, Submission, read_answer
from prorl_sandbox.run.base import check_limits, too_long
from prorl_sandbox.types import IsolationError, Outcome, SandboxError

PATIENCE_SECONDS = 60.0
OPEN_SECONDS = 10.0


class RemoteSandbox(AskingSandbox):
    """Implements ``Sandbox`` over the services at ``urls`` (``http://host:port`` or ``unix:/path``).

    ``token``: that of the services (None: ``PRORL_TOKEN``). ``patience``: seconds for which all services may
    be gone before programs fail. Raises UserError where none answers or one refuses us, IsolationError for
    one with weak walls, unless ``allow_weak``.
    """

    def __init__(
        self,
        urls: Sequence[str],
        token: str | None = None,
        *,
        allow_weak: bool = False,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        addresses = [_address(url) for url in dict.fromkeys(urls)]
        self._settings = (addresses, bearer_token(token), patience, allow_weak)
        self._dispatcher = Dispatcher(*self._settings)
        self._owner = os.getpid()
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        self.isolation = self._level()

    def _open(self) -> None:
        self._dispatcher.ask_all(OPEN_SECONDS)
        for server in self._dispatcher.servers:
            if server.trouble == "refused":
                weak = server.hello is None and "isolation" in server.reason
                error = IsolationError if weak else UserError
                raise error(f"the sandbox service {server.address}: {server.reason}")
        if not any(server.up for server in self._dispatcher.servers):
            troubles = self._dispatcher.troubles()
            raise UserError(
                f"no sandbox service answers ({troubles}): start one with prorl sandbox serve"
            )

    def _level(self) -> str:
        known = [s.hello.isolation for s in self._dispatcher.servers if s.hello is not None]
        return f"remote:{weakest(known)}"

    def _ask(self, submission: Submission) -> Iterator[Outcome]:
        check_limits(submission.limits)
        if (refused := too_long(submission.program.source, self.isolation)) is not None:
            yield from [refused] * len(submission.cases)
            return
        job = Job(submission)
        dispatcher = self._here()
        dispatcher.submit(job)
        try:
            for _ in submission.cases:
                answer = job.answers.get()
                if isinstance(answer, Exception):
                    raise answer
                try:
                    found = read_answer(answer)
                except MalformedError as error:
                    raise SandboxError(f"a sandbox service sent no outcome: {error}") from error
                if isinstance(found, Exception):
                    raise found
                self.isolation = self._level()
                yield replace(found, isolation=f"remote:{found.isolation}")
        finally:
            dispatcher.drop(job)

    def _here(self) -> Dispatcher:
        """Return the dispatcher of this process: a fork has threads and connections of its own."""
        if self._owner != os.getpid():
            self._owner, self._dispatcher = os.getpid(), Dispatcher(*self._settings)
        return self._dispatcher

    def close(self) -> None:
        """End every run of this sandbox; runs in other threads raise SandboxError."""
        if self._owner == os.getpid():
            self._dispatcher.close()


def weakest(levels: Iterable[str]) -> str:
    """Return the isolation level with the fewest walls."""

    def walls(level: str) -> tuple[bool, int, str]:
        kept = sum(wall in level for wall in ("seccomp", "landlock", "cgroup"))
        return (not level.startswith("weak"), kept, level)

    return min(levels, key=walls)


def open_remote(urls: str, *, allow_weak: bool = False) -> RemoteSandbox:
    """Return a sandbox over the services at ``urls``, separated by commas. See ``RemoteSandbox``."""
    return RemoteSandbox(_apart(urls), allow_weak=allow_weak)


def ask_services(urls: str) -> list[tuple[str, Hello | None, str]]:
    """Return of each service its address, its state, and why none is known or jobs do not go there."""
    dispatcher = Dispatcher([_address(url) for url in _apart(urls)], bearer_token(None), 0.0, True)
    try:
        dispatcher.ask_all(OPEN_SECONDS)
        return [(str(one.address), one.hello, one.reason) for one in dispatcher.servers]
    finally:
        dispatcher.close()


def _apart(urls: str) -> list[str]:
    given = [url.strip() for url in urls.split(",") if url.strip()]
    if not given:
        raise UserError("the backend remote needs addresses: remote:http://HOST:8422[,URL]")
    return given


def _address(url: str) -> Address:
    return parse_address(url, "a sandbox service's address", "http://HOST:8422")
