"""Provides people, money, plurals and texts for word problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class Person:
    """A name and its pronouns (he, him, his or she, her, her)."""

    name: str
    he: str
    him: str
    his: str

    @property
    def He(self) -> str:
        return self.he.capitalize()


def people(rng: Random, count: int) -> list[Person]:
    women = [Person(name, "she", "her", "her") for name in WORDINGS.texts("women")]
    men = [Person(name, "he", "him", "his") for name in WORDINGS.texts("men")]
    return rng.sample(women + men, count)


@dataclass(frozen=True, slots=True)
class Money:
    """A currency; amounts are in hundredths."""

    name: str
    sign: str

    def of(self, hundredths: int) -> str:
        """Return ``€12``, ``€12.50`` or, without a sign, ``12.50 dollars``."""
        number = amount(hundredths)
        if self.sign:
            return f"{self.sign}{number}"
        if 1 < hundredths < 100:
            return f"{hundredths} cents"
        return f"{number} {self.name[:-1] if hundredths == 100 else self.name}"

    def whole(self, units: int) -> str:
        return self.of(100 * units)


_MONEY = (Money("dollars", ""), Money("dollars", ""), Money("euros", "€"), Money("pounds", "£"))


def money(rng: Random) -> Money:
    return rng.choice(_MONEY)


def amount(hundredths: int) -> str:
    """Write an amount without currency, as in ``12`` or ``12.50``."""
    units, after = divmod(hundredths, 100)
    return str(units) if after == 0 else f"{units}.{after:02d}"


_ODD = {"sheep": "sheep", "box of chalk": "boxes of chalk", "loaf": "loaves", "scarf": "scarves"}


def plural(noun: str) -> str:
    """Return the plural of a noun, or of the first noun in a phrase (``jars of honey``)."""
    if noun in _ODD:
        return _ODD[noun]
    head, of, after = noun.partition(" of ")
    if head.endswith(("s", "x", "ch", "sh")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeou":
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return f"{head}{of}{after}"


def count(number: int, noun: str) -> str:
    """Write a number with its noun, as in ``1 ticket`` or ``3 tickets``."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def article(noun: str) -> str:
    """Write a noun with its article, as in ``a book`` or ``an apple``."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def with_article(number: int) -> str:
    """Write a number with its article, as in ``a 40`` or ``an 80``."""
    return f"{'an' if str(number)[0] == '8' or number in (11, 18) else 'a'} {number}"


def told(rng: Random, facts: Sequence[str], question: str, start: str = "") -> str:
    parts = list(facts)
    rng.shuffle(parts)
    return " ".join([*([start] if start else []), *parts, question])
