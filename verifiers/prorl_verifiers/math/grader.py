r"""Our own grader: accept, reject or undecided for one answer against one gold, without computer algebra.

``judge`` cleans both texts, compares spellings, letters and words, then parses both and compares the trees.
Everything is bounded and nothing is evaluated as code.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from prorl_verifiers.extract import last_boxed
from prorl_verifiers.math.comparing.compare import Comparison
from prorl_verifiers.math.comparing.echo import is_plain
from prorl_verifiers.math.comparing.leaves import Rules
from prorl_verifiers.math.comparing.units import ratio
from prorl_verifiers.math.reading.candidates import several_candidates
from prorl_verifiers.math.reading.chains import without_described
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Listing,
    Node,
    SetOf,
    WithUnit,
    Words,
    walk,
)
from prorl_verifiers.math.reading.parser import read
from prorl_verifiers.math.reading.signs import spread
from prorl_verifiers.math.reading.tokens import MAX_TEXT, TooLarge, Unreadable
from prorl_verifiers.notation.hedges import doubtful, hedged
from prorl_verifiers.notation.latex_text import clean, is_words, plain_words, split_top

Decision = Literal["accept", "reject", "undecided"]

LETTER = re.compile(r"\(?([A-J])(?:\)|\.|:)?")
LABELLED = re.compile(r"(?:\\text\s*\{\s*)?\(?([A-J])(?:\)|\.|:)\s*\}?\s*([^}\s].*)", re.DOTALL)
OPEN_FORM = re.compile(
    r"\\(?:sum|prod|int|oint|iint|lim|det|bmod|pmod|mod)(?![a-zA-Z])|\\begin\{vmatrix"
)
_BLANK = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_DOLLARS = re.compile(r"\s*\$?\s*-?\s*\\\$")
_GROUPS = re.compile(r"\d,\d{3}")
_INTEGER = re.compile(r"[1-9][0-9]*")
_TRAILING = re.compile(r"([-+]?[0-9][0-9.,/ ]*)\s*([A-Za-z][A-Za-z/^0-9]{0,12})")
_WRAPPED = re.compile(r"\\(?:text|mathrm|mbox)\s*\{\s*(-?[0-9][^{}]*)\}")
_CLOCK = re.compile(
    r"(?:\\text\s*\{\s*)?\d{1,2}:\d\d ?(?:\\text\s*\{)?\s*[ap]\.?\s?m\b", re.IGNORECASE
)
_NOTHING = frozenset(
    ("no solution", "no solutions", "no real solution", "no real solutions", "empty set", "none", "no roots",
     "there is no solution", "there are no solutions", "the empty set", "no real roots")
)  # fmt: skip
_SAID = {
    "all real numbers": r"\mathbb{R}", "all reals": r"\mathbb{R}", "any real number": r"\mathbb{R}",
    "every real number": r"\mathbb{R}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """What our grader says, and why."""

    decision: Decision
    reason: str


def grade(gold: str, answer: str) -> Decision:
    """Return ``accept``, ``reject`` or ``undecided``; pure and bounded, never raises on any text."""
    return judge(gold, answer).decision


def judge(gold: str, answer: str, rules: Rules | None = None) -> Finding:
    """Return the decision and its reason; ``rules`` hold the percent flag and the unit converter."""
    rules = rules or Rules()
    gold = last_boxed(gold) or gold
    answer = last_boxed(answer) or answer
    dollars = [bool(_DOLLARS.match(text)) for text in (gold, answer)]
    gold, answer = clean(gold), clean(answer)
    if squeeze(gold) == squeeze(answer):
        return Finding("accept", "same text")
    if _INTEGER.fullmatch(gold) and _INTEGER.fullmatch(answer) and rules.percent is None:
        return Finding("reject", "integers compared")
    if doubtful(answer) and not doubtful(gold):
        return Finding("reject", "the answer is in doubt of itself")
    letter = LETTER.fullmatch(plain_words(gold).upper())
    if letter and len(plain_words(gold)) == 1 and gold != gold.lower():
        return _decided(same_letter(letter.group(1), answer), "letters compared")
    if (
        _spoken(gold) in _NOTHING
        or is_words(gold)
        or (gold.isalpha() and len(gold) > 1 and is_words(answer) and "\\" in answer)
    ):
        left, right = _spoken(gold), _spoken(answer)
        if left in _NOTHING and (
            right in _NOTHING or squeeze(answer) in (r"\emptyset", r"\varnothing", r"\{\}")
        ):
            return Finding("accept", "both say that there is none")
        parts = [
            sorted(part.strip() for part in re.split(r",|\band\b", text) if part.strip())
            for text in (left, right)
        ]
        return _decided(
            left == right or (len(parts[0]) > 1 and parts[0] == parts[1]), "words compared"
        )
    if _CLOCK.match(gold):
        # Times of day; a missing a.m. or p.m. in the answer is forgiven.
        times = [re.sub(r"[\s.]|\\text|[{}]", "", text).casefold() for text in (gold, answer)]
        return _decided(times[1] in (times[0], times[0][:-2]), "times compared")
    if gold.startswith("\\text") and _spoken(gold) == _spoken(answer):
        return Finding("accept", "words compared")
    if len(answer) > MAX_TEXT >= 2 * len(gold):
        return Finding("reject", "the answer is too long for the gold")
    finding = _without_labels(_unwrapped(gold), _unwrapped(answer), rules, dollars)
    several = several_candidates(gold, answer) if finding.decision == "undecided" else None
    return finding if several is None else Finding("reject", several)


def _unwrapped(text: str) -> str:
    """Take a value out of ``\\text{5 apples}``."""
    whole = _WRAPPED.fullmatch(text)
    return whole.group(1) if whole else text


def _without_labels(gold: str, answer: str, rules: Rules, dollars: list[bool]) -> Finding:
    """Take off ``(C)`` before a value and unevaluated first sides of a chain, then compare."""
    wanted, given = LABELLED.fullmatch(gold), LABELLED.fullmatch(answer)
    if wanted:
        if same_letter(wanted.group(1), answer) and not given:
            return Finding("accept", "letters compared")
        if given and wanted.group(1) != given.group(1):
            return Finding("reject", "letters compared")
        gold = clean(wanted.group(2))
    answer = clean(given.group(2)) if given else answer
    if OPEN_FORM.search(answer) and not OPEN_FORM.search(gold):
        sides = split_top(answer, "=")
        closed = [side for side in sides if not OPEN_FORM.search(side)]
        if not closed or closed[-1] != sides[-1]:
            return Finding("reject", "the answer is left unevaluated")
        answer = "=".join(closed)
    if squeeze(gold) == squeeze(answer):
        return Finding("accept", "same text")
    answer = _SAID.get(_spoken(answer), answer)
    # Compare with commas read as digit grouping, then, where both may be lists, as separators.
    finding = _by_trees(gold, answer, rules, dollars, True)
    if finding.decision != "accept" and (_GROUPS.search(gold) or _GROUPS.search(answer)):
        second = _by_trees(gold, answer, rules, dollars, False)
        # a comma that cannot group digits
        lists = any(re.search(r",(?!\d{3}(?!\d))", t) or " and " in t for t in (gold, answer))
        return second if second.decision == "accept" and lists else finding
    return finding


def squeeze(text: str) -> str:
    """Drop white space, but not between two digits (``1 2`` is not 12)."""
    return _BLANK.sub("", text)


def same_letter(letter: str, answer: str) -> bool:
    """Whether an answer names the option ``letter``: ``C``, ``(C)``, ``C. text``."""
    words = plain_words(answer)
    if len(words) == 1:
        return words.upper() == letter
    labelled = LABELLED.fullmatch(answer)
    other = LETTER.fullmatch(plain_words(labelled.group(2)).upper()) if labelled else None
    return bool(
        labelled and labelled.group(1) == letter and not (other and other.group(1) != letter)
    )


def _decided(same: bool, reason: str) -> Finding:
    return Finding("accept" if same else "reject", reason)


def _spoken(text: str) -> str:
    words = plain_words(text)
    return re.sub(r"^(?:the|an?) (?=\S)", "", re.sub(r"\b([ap])\.\s?m\b\.?", r"\1m", words))


def _by_trees(gold: str, answer: str, rules: Rules, dollars: list[bool], grouping: bool) -> Finding:
    try:
        right = spread(_with_dollars(read(gold, grouping), dollars[0]))
    except (Unreadable, RecursionError):
        return Finding("undecided", "the gold is not read")
    try:
        given = spread(_with_dollars(read(answer, grouping), dollars[1]))
    except (TooLarge, RecursionError) as error:
        return Finding("reject", str(error) or "the answer is nested too deep")
    except Unreadable as error:
        if right == SetOf(()) and _spoken(answer) in _NOTHING:
            return Finding("accept", "both say that there is none")
        shorter = without_described(answer) if "=" not in gold else None
        if shorter is not None:
            return _by_trees(gold, shorter, rules, dollars, grouping)
        if is_plain(right):
            return Finding("reject", "the gold is a number, the answer is not one")
        return Finding("undecided", f"the answer is not read: {error}")
    if is_plain(right) and hedged(answer) and not hedged(gold):
        return Finding("reject", "a hedge is no number")
    right, given = _expected_units(right, given, gold, answer)
    comparison = Comparison(rules)
    try:
        same = None
        # A gold that offers equal forms (a OR b) is met by either.
        if isinstance(right, Listing) and right.joint == "or" and len(right.items) <= 8:
            first, *others = right.items
            if all(comparison.same(first, other, final=False) for other in others):
                same = any(comparison.same(form, given) for form in right.items)
        if same is None and isinstance(given, Words):
            same = right == SetOf(()) and _spoken(given.text) in _NOTHING
        elif same is None:
            same = comparison.same(right, given)
    except TooLarge as error:
        return Finding("undecided", str(error))
    except (Unreadable, ArithmeticError):
        same = None
    if same is None:
        return Finding("undecided", "not decided")
    return _decided(same, comparison.reason)


def _expected_units(gold: Node, answer: Node, *texts: str) -> tuple[Node, Node]:
    """Read ``5 m`` as metres where the other side has a unit that goes with it."""
    nodes = [gold, answer]
    for at, other in ((0, 1), (1, 0)):
        unit, trailing = nodes[other], _TRAILING.fullmatch(texts[at])
        if isinstance(nodes[at], WithUnit) or not isinstance(unit, WithUnit) or trailing is None:
            continue
        if ratio(trailing.group(2), unit.unit) is not None:
            with suppress(Unreadable):
                nodes[at] = WithUnit(read(trailing.group(1)), trailing.group(2))
    return nodes[0], nodes[1]


def _with_dollars(node: Node, dollars: bool) -> Node:
    if not dollars or not isinstance(node, EXPRESSIONS):
        return node
    if any(isinstance(part, WithUnit) for part in walk(node)):
        return node
    return WithUnit(node, "dollar")
