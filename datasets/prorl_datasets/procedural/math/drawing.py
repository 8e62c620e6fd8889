"""Contains random draws and names that families share."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

Drawn = TypeVar("Drawn")

TRIES = 5_000

PEOPLE = (
    "Amara", "Boris", "Chloe", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas",
    "Keiko", "Lena", "Marco", "Nadia", "Omar", "Priya", "Quentin", "Rosa", "Samir", "Tess",
    "Uma", "Viktor", "Wanda", "Yusuf", "Zora",
)  # fmt: skip


def redrawn(draw: Callable[[], Drawn], good: Callable[[Drawn], bool]) -> Drawn:
    """Return the first draw that is ``good``.

    Raises RuntimeError after 5,000 draws, which means a bug in a family.
    """
    for _ in range(TRIES):
        drawn = draw()
        if good(drawn):
            return drawn
    raise RuntimeError(f"none of {TRIES} draws was suitable")


def signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)
