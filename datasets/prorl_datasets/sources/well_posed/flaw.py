"""What can be wrong with an item: five words that the manifest counts, and what in particular."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["ambiguous", "impossible", "too large", "trivial", "wrong answer"]
"""``trivial``: the answer stands in the question. ``impossible``: no such thing, or what is said
contradicts itself. ``wrong answer``: an independent computation gives another. ``too large``: nobody
works it out by reasoning."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why an item cannot be asked."""

    kind: Kind
    detail: str

    @property
    def reason(self) -> str:
        """The drop reason in manifest and card."""
        return f"ill-posed: {self.kind}"


Rule = Callable[[Mapping[str, Any]], Flaw | None]
"""A function of a reasoning-gym entry, plain JSON values."""


def unchanged(before: str, after: str) -> Rule:
    """Return the rule that two values of the metadata differ: what is asked for changes something."""

    def rule(entry: Mapping[str, Any]) -> Flaw | None:
        given = entry["metadata"]
        if given[before] == given[after]:
            return Flaw("trivial", "the answer is the question's own value")
        return None

    return rule
