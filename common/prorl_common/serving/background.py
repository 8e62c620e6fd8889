"""Tasks that a service runs beside its requests: an error of one is a bug, and must end the service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Background:
    """Background tasks of one service. ``on_fault`` is called once one has failed; ``fault`` is its error."""

    def __init__(self) -> None:
        self.fault: BaseException | None = None
        self.on_fault: Callable[[], None] = lambda: None
        self._tasks: list[asyncio.Task[None]] = []

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Start a task in the running loop."""
        task = asyncio.create_task(work)
        task.add_done_callback(self._ended)
        self._tasks.append(task)

    async def stop(self) -> None:
        """Cancel all that still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self.fault = task.exception()
            self.on_fault()
