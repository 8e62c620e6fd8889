"""Whether a generated row can be asked, whatever made it: options apart, the answer not in the question.

What a reasoning-gym task needs beyond that is in ``sources.well_posed``. Leaves out: whether the gold is
right (the gold check, and the generators' own tests).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from prorl_datasets.rows.row import Row, normalised
from prorl_datasets.sources.well_posed import Flaw

LEAST = 20
"""Characters from which on a gold response found in its own question is no chance."""
_NUMBER = re.compile(r"\$?(-?\d+(?:\.\d+)?)(?:\s*\\times\s*10\^\{(-?\d+)\})?\$?(.*)", re.DOTALL)


def flaw_of_row(row: Row) -> Flaw | None:
    """Return why a row cannot be asked, None where nothing was found."""
    if not row.question.strip():
        return Flaw("impossible", "the question is empty")
    gold = (row.gold or "").strip()
    if len(gold) >= LEAST and gold in row.question:
        return Flaw("trivial", "the gold response stands in the question")
    choices = row.task.reference.get("choices")
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        return _options_flaw([str(choice) for choice in choices], str(row.task.reference["answer"]))
    return None


def _options_flaw(options: list[str], letter: str) -> Flaw | None:
    texts = [normalised(option) for option in options]
    if len(set(texts)) < len(texts):
        return Flaw("ambiguous", f"two options are alike: {options}")
    place = ord(letter[:1].upper()) - ord("A") if letter else -1
    if not 0 <= place < len(options):
        return Flaw("impossible", f"no option {letter!r}")
    right = _number(options[place])
    for at, option in enumerate(options):
        other = _number(option)
        if at == place or right is None or other is None or right[1] != other[1]:
            continue
        coarse = max(_last_place(right[0]), _last_place(other[0]))
        if right[0].quantize(coarse, ROUND_HALF_UP) == other[0].quantize(coarse, ROUND_HALF_UP):
            return Flaw("ambiguous", f"{options[place]} and {option} are one number, rounded")
    return None


def _number(option: str) -> tuple[Decimal, str] | None:
    """Return the number that an option begins with, and its unit; None for other texts."""
    read = _NUMBER.fullmatch(option.strip())
    if read is None:
        return None
    number, power, unit = read.groups()
    return Decimal(f"{number}e{power or 0}"), unit.strip()


def _last_place(number: Decimal) -> Decimal:
    """Return 1, 0.1, 0.01 for the place of the last digit written."""
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)  # a number that was written in digits
    return Decimal(1).scaleb(exponent)
