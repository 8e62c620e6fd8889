"""One mixin for everything that has ``close``: it may be used in a ``with`` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Entering the block gives the object itself; leaving it, by an error too, calls ``close``."""

    @abstractmethod
    def close(self) -> None:
        """Free what the object holds."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it; an error goes on its way."""
        self.close()
