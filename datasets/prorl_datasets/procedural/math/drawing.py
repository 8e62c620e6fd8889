"""Draws that families share: redrawing what turns out degenerate, signs, names of people."""

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
    """Return the first draw that is ``good``. Raises RuntimeError after 5,000: a family's bug."""
    for _ in range(TRIES):
        drawn = draw()
        if good(drawn):
            return drawn
    raise RuntimeError(f"nothing fit in {TRIES} draws")


def signed(rng: Random, low: int, high: int) -> int:
    """Draw a number of this size, negative half of the time."""
    return rng.choice((-1, 1)) * rng.randint(low, high)


def phrasings(*texts: str) -> tuple[str, ...]:
    """Return the texts to choose from; each may be written over several lines."""
    return texts
