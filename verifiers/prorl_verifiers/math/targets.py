"""Parses a gold answer into a typed target.

Names and units are separate fields, because answers may omit them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, assert_never

from prorl_verifiers.data_shape import UNTYPED
from prorl_verifiers.math.comparing.families import Family, family_of
from prorl_verifiers.math.comparing.leaves import is_plain
from prorl_verifiers.math.comparing.regions import looks_like_region, real_set
from prorl_verifiers.math.comparing.relations import (
    assigned,
    describes_value,
    is_name,
    named_rows,
    rounds_to,
)
from prorl_verifiers.math.evaluating.domain import domain_of
from prorl_verifiers.math.evaluating.equal import same_value
from prorl_verifiers.math.evaluating.values import Undefined
from prorl_verifiers.math.reading.answers import gold_text
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Bracketed,
    Cases,
    Degrees,
    Listing,
    Matrix,
    Node,
    Num,
    Percent,
    Ratio,
    Relation,
    SetOf,
    WithUnit,
    Words,
    written,
)
from prorl_verifiers.math.reading.parser import expand_signs, read
from prorl_verifiers.math.reading.tokens import Unreadable
from prorl_verifiers.notation.latex_text import CURRENCIES, MONEY, clean, is_words, plain_words

MAX_AMOUNT = 200
MAX_FORMS = 8
"""Maximum number of alternative forms in a gold (``a OR b``)."""
LETTER = re.compile(r"\(?([A-J])(?:\)|\.|:)?")
LABELLED = re.compile(r"(?:\\text\s*\{\s*)?\(?([A-J])(?:\)|\.|:)\s*\}?\s*([^}\s].*)", re.DOTALL)
_MONEY = rf"(?P<{{0}}>{MONEY}|US\s?\$|\\(?:pounds|euro|yen)(?![a-zA-Z]))"
_WRAP = r"(?:\\(?:text|mathrm|mbox)\s*\{{\s*)?"
_CURRENCY = re.compile(
    (r"[\s$]*[-−]?\s*" + _WRAP + _MONEY).format("before")
    + "|"
    + (r"[^€£¥￥₹₩₽]*?[\d}}]\s*" + _WRAP + _MONEY + r"[\s.$}}]*\Z").format("behind")
)
GROUPS = re.compile(r"\d,\d{3}")
"""A comma that may group digits."""
_INTEGER = re.compile(r"[1-9][0-9]{0,14}")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?([ap]m)?")
_WRAPPED = re.compile(r"\\(?:text|mathrm|mbox)\s*\{\s*(-?[0-9][^{}]*)\}")
UNDEFINED = frozenset(
    ("dne", "does not exist", "doesn't exist", "undefined", "not defined", "no limit", "the limit does not exist", "limit does not exist")
)  # fmt: skip
_WHERE = re.compile(
    r"[\s,;.]*(?:\\text\s*\{\s*,?\s*)?(?:where|for|with)\b[^=<>]{0,80}\b(?:arbitrary|any|all|every|constants?|real|parameters?)\b[^=<>]{0,80}\Z"
)
_REAL = re.compile(
    r"\s*[,;]\s*(?:\\forall\s*)?[A-Za-z](?:_\{?\w\}?)?\s*\\in\s*(?:\\mathbb\s*\{?R\}?|R)\s*\Z"
)
r"""A trailing ``k \in \mathbb{R}``, which is removed because variables are real by default."""
_COUNTED = re.compile(r"(-?\d[\d.,]*)(?:\s*\(\s*([A-Za-z][A-Za-z .'-]{1,60})|\s+\(([mgsLlh]))\)")
_HALF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?")
_ARTICLE = re.compile(r"^(?:the|an?) (?=\S)(?!and\b)")
_RESTATED = re.compile(r"[^:]{1,200}:[^:]{1,200}")
NOTHING = frozenset(
    ("no solution", "no solutions", "no real solution", "no real solutions", "empty set", "none", "no roots",
     "there is no solution", "there are no solutions", "the empty set", "no real roots")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A number, quantity, ratio or expression."""

    node: Node


@dataclass(frozen=True, slots=True)
class Named:
    """A value with a name, such as ``x = 5`` or ``NO : BO = 1 : 2``."""

    node: Relation
    name: Node
    of: Target


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation or inequality between expressions, which describes a curve or condition."""

    node: Relation


@dataclass(frozen=True, slots=True)
class Ordered:
    """A tuple, point or vector."""

    node: Bracketed
    items: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Several:
    """Values without brackets, in any order."""

    node: Listing
    items: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """Several named values (``x = 1, y = 2``), which may be given without names in this order."""

    node: Node
    names: tuple[Node, ...]
    items: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """A set. Order and repetition do not count."""

    node: SetOf
    items: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """A set of reals, such as an interval or an inequality."""

    node: Node


@dataclass(frozen=True, slots=True)
class Rows:
    """A matrix or column."""

    node: Matrix
    items: tuple[tuple[Target, ...], ...]


@dataclass(frozen=True, slots=True)
class Piecewise:
    node: Cases


@dataclass(frozen=True, slots=True)
class Forms:
    """Alternative forms of one answer, each of which is correct."""

    node: Listing
    items: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Text:
    words: str


@dataclass(frozen=True, slots=True)
class Choice:
    """An option: its letter, and its value in a gold such as ``(C) 5``."""

    letter: str
    of: Gold | None = None


@dataclass(frozen=True, slots=True)
class Untyped:
    """A gold that cannot be parsed and is compared as a string."""


Tree: TypeAlias = (
    Value
    | Named
    | Equation
    | Ordered
    | Several
    | Parts
    | Collection
    | Region
    | Rows
    | Piecewise
    | Forms
    | Family
)
Target: TypeAlias = Tree
Whole: TypeAlias = Tree | Text | Choice | Untyped


@dataclass(frozen=True, slots=True)
class Gold:
    """A parsed gold.

    Answers are compared with ``target``, or with ``separated`` if a gold such as ``1,200`` is read as a list.
    """

    text: str
    target: Whole
    separated: Tree | None = None
    currency: str = ""


@lru_cache(maxsize=4096)
def parse_gold(answer: str) -> Gold:
    """Parse a gold answer. Never raises."""
    if _INTEGER.fullmatch(answer):
        return Gold(answer, Value(Num(Fraction(int(answer)))))
    raw = gold_text(answer)
    text = clean(raw)
    currency = currency_of(raw)
    words = plain_words(text)
    letter = LETTER.fullmatch(words.upper())
    if letter and len(words) == 1 and text != text.lower():
        return Gold(text, Choice(letter.group(1)))
    said = words_of(text)
    if said in NOTHING or said in UNDEFINED or is_words(text):
        return Gold(text, Text(said))
    if clock(text).endswith("m"):
        return Gold(text, Text(clock(text)))
    labelled = LABELLED.fullmatch(unwrap(text))
    if labelled:
        return Gold(text, Choice(labelled.group(1), parse_gold(labelled.group(2))))
    target = _tree(unwrap(text), currency, True)
    if target is None and _RESTATED.fullmatch(text):  # -1 < x <= 1 : (-1, 1]
        halves = [_tree(half, currency, True) for half in text.split(":")]
        intervals = all(isinstance(half, Region | Ordered) for half in halves)
        target = next((h for h in halves if intervals and isinstance(h, Region)), None)
    if target is None:
        return Gold(text, Untyped(), None, currency)
    separated = _tree(unwrap(text), currency, False) if GROUPS.search(text) else None
    return Gold(text, target, separated, currency)


def _tree(text: str, currency: str, grouping: bool) -> Tree | None:
    try:
        family = family_of(text, None)
        return family or target_of(expand_signs(with_currency(read(text, grouping), currency)))
    except (Unreadable, RecursionError, Undefined):
        return None


def clock(text: str) -> str:
    """Normalise a time such as ``8:34 p.m.`` to ``8:34pm``. Return "" for other texts."""
    time = re.sub(r"[\s.{}~]|\\(?:text|mathrm|mbox)", "", text[:60]).casefold()
    return time if len(text) <= 60 and _CLOCK.fullmatch(time) else ""


def same_time(gold: str, answer: str) -> bool | None:
    """Return whether two times are equal. One of them may omit a.m. or p.m.

    Returns None for times such as ``20:34``, which may be ratios.
    """
    times = [_CLOCK.fullmatch(clock(text)) for text in (gold, answer)]
    if times[0] is None or times[1] is None:
        return None
    if not any(time.group(3) or time.group(4) for time in times if time):
        return None
    readings = []
    for time, other in (times, times[::-1]):
        assert time is not None and other is not None
        hour, seconds = int(time.group(1)), int(time.group(2)) * 60 + int(time.group(3) or 0)
        hours = {hour}
        if hour <= 12 and (time.group(4) or (other.group(4) and hour)):
            halves = {"am": (0,), "pm": (12,)}.get(time.group(4), (0, 12))
            hours = {hour % 12 + half for half in halves}
        readings.append({3600 * one + seconds for one in hours})
    return bool(readings[0] & readings[1])


def unwrap(text: str) -> str:
    r"""Remove the wrapper of ``\text{5 apples}`` and a final "where c is any constant"."""
    if "where" in text or " for" in text or "{for" in text:
        text = _WHERE.sub("", text)
    if "=" in text:
        text = _REAL.sub("", text)
    counted = _COUNTED.fullmatch(text)
    if counted:
        return rf"{counted.group(1)}\text{{ {counted.group(2) or counted.group(3)}}}"
    wrapped = _WRAPPED.fullmatch(text)
    return wrapped.group(1) if wrapped else text


def words_of(text: str) -> str:
    words = plain_words(text)
    words = _HALF_DAY.sub(r"\1m", words) if "m" in words and "." in words else words
    return _ARTICLE.sub("", words)


def currency_of(text: str) -> str:
    match = _CURRENCY.match(text) if len(text) <= MAX_AMOUNT else None
    sign = (match.group("before") or match.group("behind")) if match else None
    return CURRENCIES.get(sign, "dollar") if sign else ""


def with_currency(node: Node, currency: str) -> Node:
    marked = isinstance(node, WithUnit | Percent | Degrees)
    if currency and isinstance(node, EXPRESSIONS) and not marked:
        return WithUnit(node, currency)
    return node


def target_of(node: Node) -> Tree:
    """Convert a gold's tree for comparisons. Raises Unreadable for unexpected words."""
    if looks_like_region(node) and real_set(node) is not None:
        return Region(node)
    match node:
        case Relation():
            return _relation(node)
        case Listing():
            return _listing(node)
        case SetOf(items=items):
            return Collection(node, tuple(map(target_of, items)))
        case Bracketed(items=items):
            return Ordered(node, tuple(map(target_of, items)))
        case Matrix(rows=rows):
            return Rows(node, tuple(tuple(map(target_of, row)) for row in rows))
        case Cases():
            return Piecewise(node)
        case Words():
            raise Unreadable("unexpected words")
    return Region(node) if looks_like_region(node) else Value(node)


def _relation(node: Relation) -> Tree:
    pair = assigned(node) or describes_value(node)
    if pair is not None:
        name, value = pair
        match name, value:
            case Bracketed(items=names), Bracketed(items=values) if len(names) == len(values):
                return Parts(node, names, tuple(map(target_of, values)))
        return Named(node, name, target_of(value))
    if (
        set(node.ops) == {"="}
        and len(node.sides) > 2
        and assigned(Relation(node.sides[::2][:2], ("=",)))
    ):
        # x = 1 + 1 = 2: the last side is the value
        return Named(node, node.sides[0], target_of(node.sides[-1]))
    if node.ops[-1] == "~" and set(node.ops) <= {"=", "~"}:  # x = \sqrt2 \approx 1.414
        named = is_name(node.sides[0])
        sides = node.sides[1:] if named else node.sides
        if len(sides) <= 2 and all(isinstance(side, EXPRESSIONS) for side in sides):
            if len(sides) == 2 and all(map(is_plain, sides)) and not rounds_to(*sides):
                return target_of(Bracketed(sides, "[", "]"))  # 5 \sim 6 is a range
            target = target_of(sides[0])
            if len(sides) == 2 and rounds_to(*sides):
                target = Forms(Listing(sides, "or"), tuple(map(target_of, sides)))
            return Named(node, node.sides[0], target) if named else target
    if node.ops == ("in",):
        return target_of(node.sides[1])
    return Equation(node)


def _listing(node: Listing) -> Tree:
    rows = named_rows(node)
    if rows is not None:
        parts = [
            Parts(Listing(row.items, node.joint), row.names, tuple(map(target_of, row.items)))
            for row in rows
        ]
        return parts[0] if len(parts) == 1 else Several(node, tuple(parts))
    items = tuple(map(target_of, node.items))
    if all(isinstance(item, Named) for item in items):
        names = {item.name for item in items if isinstance(item, Named)}
        if len(names) == 1:
            values = tuple(item.of for item in items if isinstance(item, Named))
            listing = Listing(tuple(value.node for value in values), node.joint)
            return Named(
                Relation((next(iter(names)), listing), ("=",)),
                next(iter(names)),
                Several(listing, values),
            )
    first = items[0]
    if isinstance(first, Named) and all(isinstance(item, Value) for item in items[1:]):
        values = (first.of, *items[1:])
        listing = Listing(tuple(value.node for value in values), node.joint)
        return Named(Relation((first.name, listing), ("=",)), first.name, Several(listing, values))
    if (
        node.joint == "or"
        and len(items) <= MAX_FORMS
        and all(
            isinstance(item, EXPRESSIONS)
            and same_value(node.items[0], item, domain_of(node.items[0]))
            for item in node.items
        )
    ):
        return Forms(node, items)
    return Several(node, items)


def kind(gold: Gold) -> str:
    target = gold.target
    match target:
        case Value(node=node):
            if isinstance(node, Ratio):
                return "ratio"
            if isinstance(node, WithUnit | Percent | Degrees):
                return "quantity"
            return "number" if is_plain(node) else "expression"
        case Named():
            return "assignment"
        case Equation():
            return "equation"
        case Ordered():
            return "tuple"
        case Several() | Forms():
            return "several values"
        case Parts():
            return "named parts"
        case Collection():
            return "set"
        case Region():
            return "interval"
        case Rows():
            return "matrix"
        case Piecewise():
            return "piecewise"
        case Family():
            return "integer family"
        case Text():
            return "text"
        case Choice():
            return "choice"
        case Untyped():
            return UNTYPED
    assert_never(target)


def format_gold(gold: Gold) -> str:
    target = gold.target
    match target:
        case Text(words=words):
            return words
        case Choice(letter=letter, of=of):
            return letter if of is None else f"{letter}: {format_gold(of)}"
        case Untyped():
            return f"not read, compared as text: {gold.text}"
        case Parts(names=names, items=items):
            pairs = zip(names, items, strict=True)
            return ", ".join(f"{written(name)} = {written(item.node)}" for name, item in pairs)
        case _:
            return written(target.node)
