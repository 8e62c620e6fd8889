"""Sessions behind the service: each lives with its forks as long as the request that opened it, and so no longer than
its client.

They take no place among programs, and no turn in their queue: a sandbox bounds how many are open.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from prorl_common import UserError
from prorl_common.serving.refusal import Refusal
from prorl_sandbox.remote import codec
from prorl_sandbox.remote.asking import pack_error
from prorl_sandbox.serve.stream import json_line
from prorl_sandbox.types import Limits, SandboxError, Session, ToolSandbox

_THREADS = 64
_LOOK_SECONDS = 0.3


class Sessions:
    """The open sessions of a service, by names that nobody can guess. Lives in the event loop."""

    def __init__(self, sandbox: ToolSandbox) -> None:
        self._sandbox = sandbox
        self._threads = ThreadPoolExecutor(_THREADS, "session")
        self._open: dict[str, Session] = {}

    @property
    def count(self) -> int:
        """How many are open, forks too."""
        return len(self._open)

    def opened(
        self, limits: Limits, environment: str, idle_seconds: float, total_seconds: float
    ) -> tuple[AsyncGenerator[bytes, None], Callable[[], None]]:
        """Open a session: its name, and the end of it and all its forks when that comes; and what closes them."""
        opening = self._threads.submit(
            self._sandbox.open_session,
            limits,
            environment,
            idle_seconds=idle_seconds,
            total_seconds=total_seconds,
        )
        name = secrets.token_hex(16)
        return self._life(opening, name), lambda: self._end(opening, name)

    async def _life(self, opening: Future[Session], name: str) -> AsyncGenerator[bytes, None]:
        try:
            session = await asyncio.shield(asyncio.wrap_future(opening))
        except (UserError, SandboxError) as error:
            yield json_line(pack_error(error))
            return
        self._open[name] = session
        yield json_line({"session": name})
        while any(self._open[key].ended is None for key in self._of(name)):
            await asyncio.sleep(_LOOK_SECONDS)
        yield json_line({"ended": session.ended})

    def _end(self, opening: Future[Session], name: str) -> None:
        """Close a session and its forks, also one that is still being opened."""
        for key in self._of(name):
            del self._open[key]

        def close(opened: Future[Session]) -> None:
            if not opened.cancelled() and opened.exception() is None:
                self._threads.submit(opened.result().close)

        opening.add_done_callback(close)

    def _of(self, name: str) -> list[str]:
        """Return the names of an opened session and of its forks, as far as they are open."""
        return [key for key in self._open if key.partition("-")[0] == name]

    def find(self, name: object) -> tuple[str, Session]:
        """Return a session that is open. Raises Refusal 404."""
        if not isinstance(name, str) or name not in self._open:
            raise Refusal(404, "no such session: it has ended, or was never opened")
        return name, self._open[name]

    async def message(
        self, session: Session, source: str, limits: Limits | None
    ) -> AsyncGenerator[bytes, None]:
        """Run a message: its outcome, and why the session is over if it is."""

        def run() -> dict[str, Any]:
            return {"outcome": codec.pack_outcome(session.run(source, limits))}

        yield await self._answer(session, run)

    async def fork(self, name: str, session: Session) -> AsyncGenerator[bytes, None]:
        """Fork a session: the name of the new one."""
        # the first name's owner closes them all
        key = f"{name.partition('-')[0]}-{secrets.token_hex(16)}"

        def run() -> dict[str, Any]:
            self._open[key] = session.fork()
            return {"session": key}

        yield await self._answer(session, run)

    async def _answer(self, session: Session, run: Callable[[], dict[str, Any]]) -> bytes:
        try:
            found = await asyncio.wrap_future(self._threads.submit(run))
        except (UserError, SandboxError) as error:
            found = pack_error(error)
        ended = session.ended
        if ended is None and found.get("kind") == "session":
            ended = str(found["error"])
        return json_line(found | {"ended": ended})

    def close(self, name: str, session: Session) -> None:
        """Close one session, as its client asks."""
        self._open.pop(name, None)
        self._threads.submit(session.close)

    def close_all(self) -> None:
        """Close every session; their clients hear of it."""
        for name, session in list(self._open.items()):
            self.close(name, session)

    def stop(self) -> None:
        """Close every session and take no more."""
        self.close_all()
        self._threads.shutdown(wait=False)
