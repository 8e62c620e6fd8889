"""A front of a pool with a bounded queue, for servers in asyncio (``VerifierPool.score_async`` has no bound)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from prorl_common import ServiceError, UserError
from prorl_verifiers.pool.batch import Item
from prorl_verifiers.pool.verifier_pool import VerifierPool
from prorl_verifiers.types import Verdict


class PoolFullError(ServiceError):
    """The bounded queue is full; try again later."""


class AsyncVerifierPool:
    """A pool behind a bounded queue: at most ``queue`` items of all callers wait or run at a time.

    Used by one event loop, as ``async with`` or with ``aclose``. The pool is the caller's; it is closed
    here only by ``aclose``.
    """

    def __init__(self, pool: VerifierPool, *, queue: int) -> None:
        if queue < 1:
            raise UserError("an async verifier pool needs a queue of 1 item or more")
        self.pool = pool
        self._size = queue
        self._taken = 0
        self._changed = asyncio.Condition()

    @property
    def waiting(self) -> int:
        """Items that wait or run."""
        return self._taken

    async def score(self, items: Sequence[Item], *, wait: bool = True) -> list[Verdict]:
        """Return one verdict per item, in order, once the queue has a place for all of them.

        With ``wait=False`` a full queue raises PoolFullError at once. More items than the queue holds are
        a UserError. Cancelling drops what has not started.
        """
        count = len(items)
        if count > self._size:
            raise UserError(f"{count} items are more than the queue of {self._size} holds")
        async with self._changed:
            if not wait and self._taken + count > self._size:
                raise PoolFullError(f"{self._taken} of {self._size} places are taken")
            await self._changed.wait_for(lambda: self._taken + count <= self._size)
            self._taken += count
        try:
            return await self.pool.score_async(items)
        finally:
            await asyncio.shield(self._give_back(count))

    async def _give_back(self, count: int) -> None:
        async with self._changed:
            self._taken -= count
            self._changed.notify_all()

    async def aclose(self, drain_seconds: float | None = None) -> None:
        """Close the pool without blocking the event loop; see ``VerifierPool.close``."""
        await asyncio.to_thread(self.pool.close, drain_seconds)

    async def __aenter__(self) -> Self:
        """Return the object itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the pool; an error goes on its way."""
        await self.aclose()
