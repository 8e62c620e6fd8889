"""A mixin that makes an object with ``close`` a context manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that calls ``close`` when its block ends."""

    @abstractmethod
    def close(self) -> None:
        """Release resources."""

    def __enter__(self) -> Self:
        """Return the object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the object."""
        self.close()
