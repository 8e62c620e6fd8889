"""Defines the kinds of flaws of an item, and the type of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["ambiguous", "impossible", "too large", "trivial", "wrong answer"]
"""``trivial`` means that the question contains the answer, ``impossible`` that it is contradictory or nothing satisfies
it, ``wrong answer`` that an independent computation disagrees, and ``too large`` that reasoning cannot solve it."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why an item is ill-posed."""

    kind: Kind
    detail: str

    @property
    def reason(self) -> str:
        """The reason for the drop in manifest and card."""
        return f"ill-posed: {self.kind}"


Rule = Callable[[Mapping[str, Any]], Flaw | None]
"""A function of a reasoning-gym entry in plain JSON values."""


def unchanged(before: str, after: str) -> Rule:
    """Return a rule that rejects items whose metadata values ``before`` and ``after`` are equal."""

    def rule(entry: Mapping[str, Any]) -> Flaw | None:
        metadata = entry["metadata"]
        if metadata[before] == metadata[after]:
            return Flaw("trivial", "the answer is the question's own value")
        return None

    return rule
