r"""Families such as ``x = \frac{\pi}{4} + 2k\pi, k \in \mathbb{Z}``, compared as unions of arithmetic progressions."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from prorl_verifiers.math.comparing.relations import assigned, renamed
from prorl_verifiers.math.evaluating.domain import Domain
from prorl_verifiers.math.evaluating.equal import same_value
from prorl_verifiers.math.evaluating.values import Evaluator, Undefined
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Const,
    Degrees,
    Listing,
    Node,
    SetOf,
    Sym,
    Where,
    symbols,
    walk,
)
from prorl_verifiers.math.reading.parser import expand_signs, read
from prorl_verifiers.math.reading.tokens import TooLarge, Unreadable

MAX_MEMBERS, MAX_STEPS, MAX_CONGRUENCE = 12, 60, 200
"""Maximum members of a family, steps per common period, and characters of a congruence."""
_REMAINDER = re.compile(r"-?\s*\d{1,6}")
_INTEGERS = (
    r"(?:\\mathbb\{[ZN]\}|\\mathbf\{[ZN]\}|[ZN](?![A-Za-z]))(?:\^\{?[+*]\}?|_\{?[+*0-9>]{1,2}\}?)?"
)
_IN = re.compile(
    rf"[\s,;:(|]*(?:where|for|with|and|all|any|every|each|\\forall|\\mid|\s)*(?P<letter>[a-zA-Z])\s*\\in\s*{_INTEGERS}[\s).]*$"
)
_IN_WORDS = re.compile(
    r"[\s,;:(|]*(?:(?:where|for|with|and|all|any|every|each|some|an|arbitrary|\s)*integers?\s+(?P<a>[a-zA-Z])"
    r"|(?:where|for|with|and|\s)*(?P<b>[a-zA-Z])\s+(?:is|being|are|an|any|some|arbitrary|all|\s)*integers?)[\s).]*$"
)
_CONGRUENT = re.compile(
    r"\s*(?P<name>[a-zA-Z])\s*\\equiv\s*(?P<remainders>[^=]{1,80}?)\s*\(?\s*(?:\\?[pb]?mod)\s*\{?\s*(?P<modulus>[1-9]\d{0,5})\s*\}?\s*\)?[\s.]*"
)
_PARITY = re.compile(
    r"\s*(?:(?:all|any|every)\s+)?(?:(?P<before>odd|even)\s+(?:integers?\s+|numbers?\s+)?(?P<a>[a-zA-Z])"
    r"|(?P<b>[a-zA-Z])\s+(?:(?:is|are|must be)\s+)?(?:an?\s+)?(?P<behind>odd|even)(?:\s+(?:integer|number)s?)?)[\s.]*"
)
_TEXT = re.compile(r"\\(?:text|mathrm|mbox|textrm)\s*\{([^{}]*)\}")
_USUAL = frozenset("knmlKN")


@dataclass(frozen=True, slots=True)
class Family:
    r"""Infinitely many answers, such as ``k\pi``: ``members`` for all integer (or ``natural``) values of ``letter``."""

    node: Node
    name: Node | None
    members: tuple[Node, ...]
    letter: str
    natural: bool = False


def family_of(text: str, gold: Family | None) -> Family | None:
    r"""Parse infinitely many answers, such as ``k\pi`` for an integer ``k``, or return None.

    Without a ``gold``, the text must declare its letter an integer, or contain \pi or degrees.
    """
    body, letter = _without_condition(_as_progression(text))
    if not letter and gold is None and not re.search(r"\\pi|\\circ", text):
        return None
    try:
        node = expand_signs(read(body))
    except (Unreadable, RecursionError):
        return None
    if isinstance(node, Where) and isinstance(node.of, EXPRESSIONS):
        node = node.of
    items = node.items if isinstance(node, Listing | SetOf) else (node,)
    name: Node | None = None
    members: list[Node] = []
    for item in items:
        pair = assigned(item)
        if pair is not None:
            if name not in (None, pair[0]):
                return None
            name, item = pair
        members += item.items if isinstance(item, Listing) else [item]
    if not members or len(members) > MAX_MEMBERS:
        return None
    if not all(isinstance(member, EXPRESSIONS) for member in members):
        return None
    names = symbols(*members)
    if not letter:
        letter = next(iter(names)) if len(names) == 1 else ""
        if not letter:
            return None
        if gold is None:
            parts = [part for member in members for part in walk(member)]
            turns = any(part == Const("pi") or isinstance(part, Degrees) for part in parts)
            if letter not in _USUAL or not turns:
                return None
    natural = re.search(r"\\in\s*(?:\\math\w\w\{N|N|\\mathbb\{Z\}[\^_])", text) is not None
    return Family(node, name, tuple(members), letter, natural) if names == {letter} else None


def _as_progression(text: str) -> str:
    r"""Rewrite ``n \equiv 1, 3 \pmod 4`` or "n is odd" as arithmetic progressions."""
    plain = _TEXT.sub(r" \1 ", text[:MAX_CONGRUENCE])
    if len(text) > MAX_CONGRUENCE:
        return text
    parity, congruent = _PARITY.fullmatch(plain), _CONGRUENT.fullmatch(plain)
    if parity is not None:
        name, modulus = parity.group("a") or parity.group("b"), "2"
        remainders = ["1" if "odd" in (parity.group("before"), parity.group("behind")) else "0"]
    elif congruent is not None:
        name, modulus = congruent.group("name"), congruent.group("modulus")
        listed = re.sub(r"\\pm\s*(\d+)", r"\1,-\1", congruent.group("remainders"))
        remainders = [remainder.strip(" {}") for remainder in re.split(r",|\band\b|\bor\b", listed)]
        remainders = [remainder for remainder in remainders if remainder]
    else:
        return text
    if not remainders or not all(_REMAINDER.fullmatch(remainder) for remainder in remainders):
        return text
    letter = "m" if name == "k" else "k"
    members = ", ".join(f"{modulus}{letter}+({remainder})" for remainder in remainders)
    return f"{name}={members}, {letter} \\in \\mathbb{{Z}}"


def _without_condition(text: str) -> tuple[str, str]:
    plain = _TEXT.sub(r" \1 ", text)
    for pattern in (_IN, _IN_WORDS):
        match = pattern.search(plain[-200:])
        if match:
            groups = match.groupdict()
            letter = groups.get("letter") or groups.get("a") or groups.get("b") or ""
            return plain[: len(plain) - len(plain[-200:]) + match.start()], letter
    return text, ""


def same_family(gold: Family, answer: Family) -> bool | None:
    r"""Return whether two families such as ``k\pi`` have the same values, or None if undecided."""
    if gold.name is not None and answer.name is not None and gold.name != answer.name:
        return False
    written = _same_members(gold, answer)
    if written or gold.natural:
        return written or None
    scale = _in_degrees(gold), _in_degrees(answer)
    try:
        left, right = _progressions(gold), _progressions(answer)
    except (Undefined, TooLarge, Unreadable):
        return None
    if left is None or right is None:
        return None
    if scale == (True, None):  # 45 + 360k for a gold in degrees
        turn = Evaluator({}).value(Degrees(_ONE))
        right = [(start * turn, step * turn) for start, step in right]
    common = _common_multiple([step for _, step in (*left, *right)])
    if common is None:
        return False
    left_offsets, right_offsets = _offsets(left, common), _offsets(right, common)
    return all(_among(one, right_offsets) for one in left_offsets) and all(
        _among(one, left_offsets) for one in right_offsets
    )


def _same_members(gold: Family, answer: Family) -> bool:
    if len(gold.members) != len(answer.members):
        return False
    letter = frozenset((gold.letter,))
    domain = Domain(counts=letter) if gold.natural else Domain(integers=letter)
    left = [renamed(member, {answer.letter: Sym(gold.letter)}) for member in answer.members]
    for member in gold.members:
        hit = next((at for at, other in enumerate(left) if same_value(member, other, domain)), None)
        if hit is None:
            return False
        del left[hit]
    return True


_ONE = read("1")


def _in_degrees(family: Family) -> bool | None:
    parts = [part for member in family.members for part in walk(member)]
    if any(isinstance(part, Degrees) for part in parts):
        return True
    return False if Const("pi") in parts else None


def _progressions(family: Family) -> list[tuple[Any, Any]] | None:
    progressions = []
    for member in family.members:
        values = []
        for at in range(6):
            evaluator = Evaluator({family.letter: Fraction(at)})
            values.append(evaluator.float(evaluator.value(member)))
        if any(abs(getattr(value, "imag", 0)) > 0 for value in values):
            return None
        for width in (1, 2):
            runs = [values[at::width] for at in range(width)]
            if all(_evenly_spaced(run) for run in runs):
                progressions += [(run[0], abs(run[1] - run[0])) for run in runs]
                break
        else:
            return None
    return progressions


def _evenly_spaced(run: list[Any]) -> bool:
    step = run[1] - run[0]
    return all(abs(b - a - step) <= abs(step) * 1e-25 for a, b in itertools.pairwise(run))


def _common_multiple(steps: list[Any]) -> Any | None:
    if any(step == 0 for step in steps):
        return None
    common = steps[0]
    for step in steps[1:]:
        for times in range(1, MAX_STEPS + 1):
            parts = common * times / step
            if abs(parts - round(parts)) < 1e-25 and round(parts) <= MAX_STEPS * MAX_STEPS:
                common = common * times
                break
        else:
            return None
    return common


def _offsets(progressions: list[tuple[Any, Any]], common: Any) -> list[Any]:
    places = []
    for start, step in progressions:
        for at in range(min(round(common / step), MAX_STEPS * MAX_STEPS)):
            places.append(((start + at * step) / common) % 1)
    return places


def _among(place: Any, places: list[Any]) -> bool:
    return any(min(abs(place - other), 1 - abs(place - other)) < 1e-25 for other in places)
