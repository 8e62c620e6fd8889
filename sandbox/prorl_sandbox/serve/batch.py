"""The jobs of one request on their way, and their answers until the client has taken them. Lives in the event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from prorl_common.serving.fair_queue import Job
from prorl_sandbox.remote.asking import Asked
from prorl_sandbox.run.cancelling import Cancellation


@dataclass(eq=False, slots=True)
class Order:
    """One job of a request. ``job`` is its place in the queue."""

    batch: Batch
    place: int
    asked: Asked
    cancellation: Cancellation = field(default_factory=Cancellation)
    job: Job[Order, int] | None = None
    ended: bool = False


class Batch:
    """Lines of answers, to be sent as they come."""

    def __init__(self, asked: list[Asked], name: str) -> None:
        self.name = name
        self.orders = [Order(self, at, one) for at, one in enumerate(asked)]
        self.unsent = 0
        self._left = len(self.orders)
        self._lines: list[bytes] = []
        self._news = asyncio.Event()

    def put(self, line: bytes) -> None:
        """Take in the line of an answer."""
        self._lines.append(line)
        self.unsent += len(line)
        self._news.set()

    def end(self, order: Order) -> None:
        """Note that no more answers of an order come."""
        if not order.ended:
            order.ended = True
            self._left -= 1
            self._news.set()

    @property
    def finished(self) -> bool:
        """Whether every answer has been taken and none will come."""
        return not self._left and not self._lines

    def take(self) -> bytes:
        """Return all lines that wait."""
        lines, self._lines = self._lines, []
        self.unsent = 0
        self._news.clear()
        return b"".join(lines)

    async def news(self) -> None:
        """Wait for an answer, or for the end of an order."""
        await self._news.wait()
