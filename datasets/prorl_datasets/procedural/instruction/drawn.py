"""One drawn constraint, and the tools to word it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Drawn:
    """A constraint of an item: IFEval's id and arguments, and the sentence that asks for it.

    ``narrow`` says that few responses to other items meet it by chance.
    """

    id: str
    kwargs: Mapping[str, Any]
    sentence: str
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a constraint may depend on: the request's text and topic, whether it is a yes-or-no question,
    and the item's level (1 to 3).
    """

    request: str
    topic: str
    question: bool
    level: int


Draw = Callable[[Random, Context], Drawn]


@dataclass(frozen=True, slots=True)
class Kind:
    """A drawable constraint id; ``narrow`` when it always is (see ``Drawn``)."""

    id: str
    draw: Draw
    narrow: bool = False

    @property
    def short(self) -> str:
        """The part of the id behind the colon."""
        return self.id.partition(":")[2]


def worded(rng: Random, wordings: Sequence[str], **values: object) -> str:
    """Return one of the wordings with its slots filled."""
    return rng.choice(wordings).format(**values)


def counted(number: int, noun: str) -> str:
    """Return "1 word", "2 words"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(things: Sequence[str], joint: str) -> str:
    """Return 'a', 'a and b', 'a, b and c' with each thing in quotes."""
    quoted = [f'"{thing}"' for thing in things]
    if len(quoted) == 1:
        return quoted[0]
    return ", ".join(quoted[:-1]) + f" {joint} " + quoted[-1]
