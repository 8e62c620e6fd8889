"""Defines the constraints of an item and the sentences that state them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Drawn:
    """A constraint of an item: IFEval's id, its arguments and its sentence.

    ``narrow`` means that a response rarely meets it by chance.
    """

    id: str
    kwargs: Mapping[str, Any]
    sentence: str
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """Properties of a request on which constraints may depend; ``question`` marks a yes-or-no question."""

    request: str
    topic: str
    question: bool
    level: int


Draw = Callable[[Random, Context], Drawn]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of constraint with IFEval's ``id``. ``narrow`` applies to all its constraints."""

    id: str
    draw: Draw
    narrow: bool = False

    @property
    def short(self) -> str:
        return self.id.partition(":")[2]


def counted(number: int, noun: str) -> str:
    """Return a number and its noun, such as "1 word" or "2 words"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(things: Sequence[str], joint: str) -> str:
    """Return 'a', 'a and b' or 'a, b and c' with each item in quotes."""
    quoted = [f'"{thing}"' for thing in things]
    if len(quoted) == 1:
        return quoted[0]
    return ", ".join(quoted[:-1]) + f" {joint} " + quoted[-1]
