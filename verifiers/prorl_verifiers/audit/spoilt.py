"""Spoils correct answers, so that they are wrong, and reports those that still earn a reward."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from prorl_verifiers.audit.search import Scorer
from prorl_verifiers.audit_shape import Group, Item, Kind, Mutation, options_of, plain, table_of
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.types import Task

JUNK = "xyzzy"
"""A word that is not an answer, a unit or a move."""
NEAR_MISS = 0.9
"""Maximum partial credit for a nearly correct answer."""
_OPPOSITES = {"true": "False", "false": "True", "yes": "No", "no": "Yes", "on": "off", "off": "on"}
_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?", re.ASCII)
_DECIMALS = re.compile(r"(?<![\d.])(\d+)\.(\d{2,})(?![\d.])", re.ASCII)
_OPENING = re.compile(r"\s*(?:\\left)?(?:\\\{|\\langle|[(\[{])")
_CLOSING = re.compile(r"(?:\\right)?(?:\\\}|\\rangle|[)\]}])\s*$")

Change = Callable[[str], str | None]


def right_answer(item: Item) -> str | None:
    return item.gold if item.right is None else item.right


def changed_digit(text: str) -> str | None:
    place = re.search(r"[1-9]", text) or re.search(r"0", text)
    if place is None:
        return None
    digit = int(place.group())
    return f"{text[: place.start()]}{digit + 1 if digit < 9 else 8}{text[place.end() :]}"


def fewer_digits(text: str) -> str | None:
    """Drop half of the decimals. Return None if that does not change the value."""
    number = _DECIMALS.search(text)
    if number is None:
        return None
    whole, decimals = number.groups()
    half = len(decimals) // 2
    if not decimals[half:].strip("0"):
        return None
    return f"{text[: number.start()]}{whole}.{decimals[:half]}{text[number.end() :]}"


def swapped_parts(text: str) -> str | None:
    opening, closing = _OPENING.match(text), _CLOSING.search(text)
    start, end = (opening.end(), closing.start()) if opening and closing else (0, len(text))
    inner = text[start:end]
    mark = next((mark for mark in ("\n", ", ", ",", " ") if mark in inner.strip()), None)
    if mark is None:
        return None
    parts = inner.split(mark)
    for at, (one, other) in enumerate(itertools.pairwise(parts)):
        if plain(one) != plain(other):
            parts[at : at + 2] = [other, one]
            return text[:start] + mark.join(parts) + text[end:]
    return None


def other_answer(right: str, item: Item, group: Group) -> str | None:
    """Return a wrong answer of the same kind as ``right``, such as another option, or None if there is none."""
    options = options_of(item)
    if options:
        letters = [chr(65 + at) for at in range(len(options))]
        named = options[letters.index(right)] if right in letters else right
        pool = letters if right in letters else options
        taken = {plain(right), plain(named)}
        return next((text for text in pool if plain(text) not in taken), None)
    opposite = _OPPOSITES.get(plain(right))
    if opposite is not None:
        return opposite
    changed = changed_digit(right)
    if changed is not None:
        return changed
    answers = (right_answer(one) for one in group.items)
    return next((text for text in answers if text and plain(text) != plain(right)), None)


# ------------------------------------------------------------------------------------------------- the list

_WITH_UNIT = re.compile(r"([+-]?\d[\d,.:]*)\s+([A-Za-z]+)")
_AROUND = (JUNK + " {a}", "{a} " + JUNK, JUNK + "\n{a}", "{a}\n" + JUNK)


def text_mutations() -> list[Mutation]:
    forms = table_of(__file__)
    return [
        *(_around("denied", form) for form in forms["denials"]),
        *(_negated(sign) for sign in forms["negations"]),
        *(_around("denied", form) for form in forms["struck"]),
        Mutation("every letter struck out", "denied", lambda right, item, group: _struck(right)),
        *(_with_another("another", form) for form in forms["another"]),
        *(_with_another("appended", form) for form in forms["appended"]),
        _nearly_right("a digit changed", "digit", changed_digit),
        _nearly_right("half the decimals", "precision", fewer_digits),
        _nearly_right("two parts swapped", "order", swapped_parts),
        _behind_number("e1"),
        _behind_number("%"),
        *(_of_number("suffix", form) for form in forms["other values"]),
        *(_of_number("junk", f"{{a}} {unit}", unit) for unit in forms["other units"]),
        *(_unit_changed(unit) for unit in ("", "hours", "minutes", "weeks")),
        *(_around("junk", form) for form in _AROUND),
        Mutation("first row twice", "junk", _row_twice(0)),
        Mutation("last row twice", "junk", _row_twice(-1)),
    ]


def latex_mutations() -> list[Mutation]:
    # Excluded: a tilde is a space in LaTeX, and the grader accepts some words and units after a number.
    forms = table_of(__file__)
    values = {_title(form) for form in (*forms["other values"], "~{a}", "~~{a}~~")}
    return [
        *(mutation for mutation in text_mutations() if mutation.name not in values),
        *(_around("denied", form) for form in forms["denials in text"]),
        *(_with_another("another", form) for form in forms["another in text"]),
    ]


def _title(form: str) -> str:
    return form.format(a="A", b="B").replace("\n", "⏎")


def _around(kind: Kind, form: str) -> Mutation:
    return Mutation(_title(form), kind, lambda right, item, group: form.format(a=right))


def _nearly_right(name: str, kind: Kind, change: Change) -> Mutation:
    return Mutation(name, kind, lambda right, item, group: change(right), NEAR_MISS)


def _with_another(kind: Kind, form: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        other = other_answer(right, item, group)
        return None if other is None else form.format(a=right, b=other)

    return Mutation(_title(form), kind, spoil)


def _negated(sign: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        if sign in item.question:
            return None
        return "\n".join(sign + line for line in right.split("\n"))

    return Mutation(f"{sign}A", "denied", spoil)


def _struck(right: str) -> str:
    return "".join(f"{letter}\u0336" for letter in right)


def _of_number(kind: Kind, form: str, unit: str = "") -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        if not _NUMBER.fullmatch(right) or Decimal(right.replace(",", "")) in (0, 1):
            return None
        if unit and re.search(rf"(?<![a-z]){unit}(?![a-z])", item.question.casefold()):
            return None
        return form.format(a=right)

    return Mutation(_title(form), kind, spoil)


def _unit_changed(unit: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        quantity = _WITH_UNIT.fullmatch(right)
        if quantity is None or quantity.group(2) == unit:
            return None
        return f"{quantity.group(1)} {unit}".strip()

    return Mutation(f"the unit is {unit or 'missing'}", "junk", spoil)


def _behind_number(sign: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        if not _NUMBER.fullmatch(right) or not Decimal(right.replace(",", "")):
            return None
        question = item.question.casefold()
        if sign == "%" and (not question or "%" in question or "percent" in question):
            return None
        return right + sign

    return Mutation(f"A{sign}", "suffix", spoil)


def _row_twice(which: int) -> Callable[[str, Item, Group], str | None]:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        rows = right.split("\n")
        if len(rows) < 2:
            return None
        return "\n".join([rows[0], *rows] if which == 0 else [*rows, rows[-1]])

    return spoil


@dataclass(slots=True)
class MutationResult:
    mutation: str
    kind: str
    tried: int = 0
    paid: int = 0
    total: float = 0.0
    most: float = 0.0
    example: str = ""


@dataclass(slots=True)
class SpoiltReport:
    """The results of one group. ``right``: number of items whose unchanged correct answer earned 1."""

    name: str
    verifier: str
    items: int
    right: int = 0
    no_verdict: int = 0
    results: list[MutationResult] = field(default_factory=list)

    @property
    def tried(self) -> int:
        return sum(result.tried for result in self.results)

    @property
    def paid(self) -> int:
        return sum(result.paid for result in self.results)

    @property
    def leaks(self) -> list[MutationResult]:
        return sorted((r for r in self.results if r.paid), key=lambda r: (-r.paid, r.mutation))


def spoil_group(pool: Scorer, group: Group) -> SpoiltReport:
    report = SpoiltReport(group.name, group.verifier, len(group.items))
    spec = VERIFIERS.get(group.verifier)
    answered = [(item, right) for item in group.items if (right := right_answer(item))]
    verdicts = pool.score(
        [(spec.data.write(right, item.task.reference), item.task) for item, right in answered]
    )
    correct = [
        pair
        for pair, verdict in zip(answered, verdicts, strict=True)
        if verdict.reward is not None and verdict.reward >= 1.0
    ]
    report.right = len(correct)
    mutations = text_mutations() if spec.audit.mutations is None else spec.audit.mutations()
    trials: list[tuple[MutationResult, Mutation, str]] = []
    pairs: list[tuple[str, Task]] = []
    for mutation in mutations:
        result = MutationResult(mutation.name, mutation.kind)
        for item, right in correct:
            audit = VERIFIERS.get(item.task.verifier).audit
            if mutation.kind in audit.may_be_right(item.task.reference):
                continue
            answer = mutation.spoil(right, item, group)
            if answer is None or plain(answer) == plain(right):
                continue
            trials.append((result, mutation, answer))
            pairs.append((spec.data.write(answer, item.task.reference), item.task))
            result.tried += 1
        if result.tried:
            report.results.append(result)
    for (result, mutation, answer), verdict in zip(trials, pool.score(pairs), strict=True):
        if verdict.reward is None:
            report.no_verdict += 1
            continue
        result.total += verdict.reward
        if verdict.reward > mutation.allowed:
            result.paid += 1
            if verdict.reward > result.most:
                result.most, result.example = verdict.reward, answer[:200]
    return report
