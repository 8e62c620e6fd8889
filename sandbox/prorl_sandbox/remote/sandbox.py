"""``RemoteSandbox``: programs run behind ``prorl sandbox serve`` on other machines.

What is asked goes to the least loaded service, in requests with other threads' jobs; a service that is lost
costs nothing but time, for programs have no side effects. All lost is a SandboxError.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from prorl_common import UserError
from prorl_common.http import Address, TransientError, bearer_token, parse_address
from prorl_sandbox.remote.asking import (
    Asked,
    AskingSandbox,
    ProjectRun,
    Submission,
    read_answer,
    read_outcome,
)
from prorl_sandbox.remote.codec import MalformedError
from prorl_sandbox.remote.dispatch import Dispatcher
from prorl_sandbox.remote.exchange import RefusedError
from prorl_sandbox.remote.job import Job
from prorl_sandbox.remote.protocol import Hello
from prorl_sandbox.remote.session import Link, RemoteSession
from prorl_sandbox.run.base import too_long
from prorl_sandbox.run.ranges import check_limits
from prorl_sandbox.types import (
    IsolationError,
    Limits,
    Outcome,
    Project,
    ProjectOutcome,
    SandboxError,
)

T = TypeVar("T")
_DEFAULT_LIMITS = Limits()
PATIENCE_SECONDS = 60.0
OPEN_SECONDS = 10.0


class RemoteSandbox(AskingSandbox):
    """Implements ``ToolSandbox`` over the services at ``urls`` (``http://host:port`` or ``unix:/path``).

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
        # Whoever forgets to close it: then with the object, at the latest with the process.
        weakref.finalize(self, _end, self._owner, self._dispatcher)
        self._checked: set[tuple[Address, str]] = set()
        self._links: weakref.WeakSet[Link] = weakref.WeakSet()
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

    def _ask(self, submission: Submission) -> Generator[Outcome, None, None]:
        check_limits(submission.limits)
        if (refused := too_long(submission.program.source, self.isolation)) is not None:
            yield from [refused] * len(submission.cases)
            return
        for found in self._answers(submission, len(submission.cases)):
            yield _from_afar(_read(read_outcome, found))

    def run_project(self, project: Project, limits: Limits = _DEFAULT_LIMITS) -> ProjectOutcome:
        """Build, run and test a project; see ``ToolSandbox.run_project``."""
        check_limits(limits)
        (found,) = self._answers(ProjectRun(project, limits), 1)
        outcome = _read(read_answer, found)
        if isinstance(outcome, Outcome):
            raise SandboxError("a sandbox service sent no outcome of a project")
        build, run = outcome.build, outcome.run
        return replace(
            outcome,
            build=None if build is None else _from_afar(build),
            run=None if run is None else _from_afar(run),
        )

    def _answers(self, asked: Asked, count: int) -> Iterator[dict[str, Any]]:
        """Ask the services; yield so many answers as they come."""
        job = Job(asked)
        dispatcher = self._here()
        dispatcher.submit(job)
        try:
            for _ in range(count):
                answer = job.answers.get()
                if isinstance(answer, Exception):
                    raise answer
                self.isolation = self._level()
                yield answer
        finally:
            dispatcher.drop(job)

    def check_environment(self, name: str) -> None:
        """Raise UserError, with the cure, unless programs can have this environment at every service."""
        dispatcher = self._here()
        for server in dispatcher.best_first():
            if (server.address, name) in self._checked:
                continue
            with contextlib.closing(dispatcher.connect(server)) as connection:
                try:
                    reply = connection.post("/environment", {"name": name})
                    found = reply.object()
                except TransientError:
                    continue  # it is lost: what it has is of no use
            if reply.status == 200 and found:
                try:
                    _read(read_answer, found)
                except UserError as error:
                    raise UserError(f"the sandbox service {server.address}: {error}") from error
            self._checked.add((server.address, name))

    def open_session(
        self,
        limits: Limits = _DEFAULT_LIMITS,
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> RemoteSession:
        """Open a session at the least loaded service that has a place; see ``ToolSandbox.open_session``."""
        check_limits(limits)
        check_limits(replace(limits, wall_seconds=total_seconds, cpu_seconds=idle_seconds))
        dispatcher = self._here()
        failure: Exception | None = None
        for server in dispatcher.best_first():
            link = Link(partial(dispatcher.connect, server))
            try:
                name = link.open(limits, environment, idle_seconds, total_seconds)
            except (UserError, SandboxError, RefusedError) as error:
                failure = error
                continue
            self._links.add(link)
            return RemoteSession(link, name, limits)
        if isinstance(failure, UserError | SandboxError):
            raise failure
        why = str(failure) if failure is not None else dispatcher.troubles()
        raise SandboxError(f"no sandbox service opens a session ({why})")

    def _here(self) -> Dispatcher:
        """Return the dispatcher of this process: a fork has threads and connections of its own."""
        if self._owner != os.getpid():
            self._owner, self._dispatcher = os.getpid(), Dispatcher(*self._settings)
            self._dispatcher.ask_all(OPEN_SECONDS)
        return self._dispatcher

    def close(self) -> None:
        """End every run of this sandbox; runs in other threads raise SandboxError."""
        if self._owner == os.getpid():
            self._dispatcher.close()
            for link in list(self._links):
                link.end("the sandbox was closed")


def _end(owner: int, dispatcher: Dispatcher) -> None:
    if owner == os.getpid():
        dispatcher.close()


def _from_afar(outcome: Outcome) -> Outcome:
    return replace(outcome, isolation=f"remote:{outcome.isolation}")


def _read(read: Callable[[dict[str, Any]], T], found: dict[str, Any]) -> T:
    """Return what an answer holds. Raises the error that it is; SandboxError for one that is none."""
    try:
        return read(found)
    except MalformedError as error:
        raise SandboxError(f"a sandbox service sent no outcome: {error}") from error


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
