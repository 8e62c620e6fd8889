"""Defines the kinds of flaws of an item, and the type of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["ambiguous", "impossible", "too large", "trivial", "wrong answer"]
"""``trivial``: the question contains the answer. ``impossible``: it is contradictory or nothing satisfies it. ``wrong
answer``: an independent computation disagrees. ``too large``: reasoning cannot solve it."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why an item is ill-posed."""

    kind: Kind
    detail: str

    @property
    def reason(self) -> str:
        """The reason for dropping the item."""
        return f"ill-posed: {self.kind}"


Rule = Callable[[Mapping[str, Any]], Flaw | None]
"""Returns the flaw of a reasoning-gym entry (JSON values), or None."""


def unchanged(before: str, after: str) -> Rule:
    """Return a rule that rejects items whose metadata values ``before`` and ``after`` are equal."""

    def rule(entry: Mapping[str, Any]) -> Flaw | None:
        metadata = entry["metadata"]
        if metadata[before] == metadata[after]:
            return Flaw("trivial", "the answer is the question's own value")
        return None

    return rule
