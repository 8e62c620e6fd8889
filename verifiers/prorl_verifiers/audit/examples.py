"""What a text that follows an instruction id and its broken forms are, and the little grammar that makes long ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SENTENCE = "The old keeper lit his lamp again."
"""Seven words."""
SWAHILI = "Habari za asubuhi, rafiki yangu. Leo tunakwenda sokoni kununua matunda na mboga kwa ajili ya chakula cha jioni."


@dataclass(frozen=True, slots=True)
class Example:
    """``right`` follows an id; each of ``broken``, by the name of what was done, does not."""

    right: str
    broken: Mapping[str, str]


def parts(count: int, text: str = "A gull cries.", mark: str = "\n***\n") -> str:
    """Return the text so many times with a mark between."""
    return mark.join([text] * count)


def lines(items: list[str], end: str = "\n") -> str:
    """Return the items, each with ``end`` behind it."""
    return "".join(item + end for item in items)


def counted(unit: str, count: int, more: Mapping[str, str] | None = None) -> Example:
    """Return the example of an id that asks for ``count`` of a unit or more."""
    return Example(unit * count, {"one too few": unit * (count - 1), **(more or {})})


def exactly(unit: str, count: int, more: Mapping[str, str] | None = None) -> Example:
    """Return the example of an id that asks for exactly ``count`` of a unit."""
    return counted(unit, count, {"one too many": unit * (count + 1), **(more or {})})


def nth_paragraph(count: int, nth: int, plain: str, asked: str) -> str:
    """Return ``count`` paragraphs, all plain but the one asked for."""
    texts = [plain] * count
    texts[nth - 1] = asked
    return "\n\n".join(texts)
