"""What stories are told with: people, money, counts with the right plural, facts in any order."""

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
        """The pronoun at the head of a sentence."""
        return self.he.capitalize()


def people(rng: Random, count: int) -> list[Person]:
    """Draw people with different names."""
    women = [Person(name, "she", "her", "her") for name in WORDINGS.texts("women")]
    men = [Person(name, "he", "him", "his") for name in WORDINGS.texts("men")]
    return rng.sample(women + men, count)


@dataclass(frozen=True, slots=True)
class Money:
    """A currency. Amounts are whole numbers of its hundredths."""

    name: str
    sign: str

    def of(self, hundredths: int) -> str:
        """Write ``€12``, ``€12.50`` or, for a currency without a sign here, ``12.50 dollars``."""
        number = amount(hundredths)
        if self.sign:
            return f"{self.sign}{number}"
        if 1 < hundredths < 100:
            return f"{hundredths} cents"
        return f"{number} {self.name[:-1] if hundredths == 100 else self.name}"

    def whole(self, units: int) -> str:
        """Write a whole number of units."""
        return self.of(100 * units)


_MONEY = (Money("dollars", ""), Money("dollars", ""), Money("euros", "€"), Money("pounds", "£"))


def money(rng: Random) -> Money:
    """Draw a currency."""
    return rng.choice(_MONEY)


def amount(hundredths: int) -> str:
    """Write ``12`` or ``12.50``."""
    units, rest = divmod(hundredths, 100)
    return str(units) if rest == 0 else f"{units}.{rest:02d}"


_ODD = {"sheep": "sheep", "box of chalk": "boxes of chalk", "loaf": "loaves", "scarf": "scarves"}


def plural(noun: str) -> str:
    """Return the plural of a noun (the first noun, in ``jar of honey``)."""
    if noun in _ODD:
        return _ODD[noun]
    head, of, rest = noun.partition(" of ")
    if head.endswith(("s", "x", "ch", "sh")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeou":
        head = f"{head[:-1]}ies"
    else:
        head += "s"
    return f"{head}{of}{rest}"


def count(number: int, noun: str) -> str:
    """Write ``1 ticket``, ``3 tickets``."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def article(noun: str) -> str:
    """Write ``a book``, ``an apple``."""
    return f"{'an' if noun[0] in 'aeio' else 'a'} {noun}"


def with_article(number: int) -> str:
    """Write ``a 40``, ``an 80``."""
    return f"{'an' if str(number)[0] == '8' or number in (11, 18) else 'a'} {number}"


def told(rng: Random, facts: Sequence[str], question: str, start: str = "") -> str:
    """Join a beginning, facts in any order, and the question."""
    parts = list(facts)
    rng.shuffle(parts)
    return " ".join([*([start] if start else []), *parts, question])
