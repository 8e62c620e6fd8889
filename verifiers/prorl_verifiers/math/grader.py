"""Grades answers by rules, without computer algebra. Answers are never executed as code."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from prorl_verifiers.findings import listening, note
from prorl_verifiers.math.comparing.families import Family, family_of, same_family
from prorl_verifiers.math.comparing.leaves import Rules, is_plain
from prorl_verifiers.math.comparing.match import Matcher
from prorl_verifiers.math.comparing.sequences import OPEN, has_ellipsis, same_open, same_sequence
from prorl_verifiers.math.evaluating.domain import domain_of
from prorl_verifiers.math.evaluating.values import Undefined
from prorl_verifiers.math.reading.answers import boxed_answer, find_statement
from prorl_verifiers.math.reading.candidates import several_candidates, without_described
from prorl_verifiers.math.reading.nodes import (
    EXPRESSIONS,
    Listing,
    Node,
    Relation,
    SetOf,
    WithUnit,
    Words,
    written,
)
from prorl_verifiers.math.reading.parser import expand_signs, read
from prorl_verifiers.math.reading.tokens import MAX_TEXT, TooLarge, Unreadable
from prorl_verifiers.math.targets import (
    GROUPS,
    LABELLED,
    LETTER,
    NOTHING,
    UNDEFINED,
    Choice,
    Equation,
    Gold,
    Named,
    Parts,
    Several,
    Text,
    Tree,
    Untyped,
    Value,
    currency_of,
    parse_gold,
    same_time,
    unwrap,
    with_currency,
    words_of,
)
from prorl_verifiers.math.units import ratio
from prorl_verifiers.notation.latex_text import (
    clean,
    denies,
    doubtful,
    hedged,
    is_words,
    plain_words,
    split_top,
)

Decision = Literal["accept", "reject", "undecided"]

OPEN_FORM = re.compile(
    r"\\(?:sum|prod|int|oint|iint|lim|det|bmod|pmod|mod)(?![a-zA-Z])|\\begin\{vmatrix"
)
_BLANK = re.compile(r"(?<!\d)\s+|\s+(?!\d)")
_INTEGER = re.compile(r"[1-9][0-9]*")
_TRAILING = re.compile(r"([-+]?[0-9][0-9.,/ ]*)\s*([A-Za-z][A-Za-z/^0-9]{0,12})")
_DECIMAL_COMMA = re.compile(r"-?(?:\d+,(?:\d{1,2}|\d{4,20})|0,\d{3})")
_GROUPED_COMMA = re.compile(r"-?\d{1,3}(?:[. ]\d{3})+,\d{1,20}")
"""A number with a decimal comma and digit groups, such as ``1.000,99`` or ``1 000,99``."""
_DECIMALS = re.compile(r"-?\d+\.\d+")
_SEPARATES = re.compile(r",(?!\d{3}(?!\d))")
_FRAME = re.compile(r"(?:it is|it's|they are|(?:final )?answer is)\s+(?=\S)")
"""A phrase such as ``the answer is`` before a one-word answer."""
_INDEXED = re.compile(r"(?<![A-Za-z\\])([A-Za-z])_\{?([i-n])(?:[+-]\d)?\}?(?![A-Za-z])")
_CALLED = re.compile(r"(?<![A-Za-z\\])([A-Za-z])\(([i-n])(?:[+-]\d)?\)")
"""A term of a sequence, written ``a(n)``."""
_TERMS = re.compile(r"_|[a-zA-Z]\(|\d[KkMB]\Z")
_IMAGINARY = re.compile(r"(?<![A-Za-z\\])i(?![A-Za-z])")
_SHORT = re.compile(r"(-?\d+(?:\.\d+)?)([KkMB])")
_THOUSANDS = {"K": "thousand", "k": "thousand", "M": "million", "B": "billion"}
_REALS = {
    "all real numbers": r"\mathbb{R}", "all reals": r"\mathbb{R}", "any real number": r"\mathbb{R}",
    "every real number": r"\mathbb{R}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Judgement:
    decision: Decision
    reason: str


def grade(gold: str, answer: str, rules: Rules | None = None) -> Judgement:
    """Return the decision on an answer and the reason. Never raises."""
    rules = rules or Rules()
    if answer == gold:
        return Judgement("accept", "same text")
    if rules.percent is None and _INTEGER.fullmatch(answer) and _INTEGER.fullmatch(gold):
        return Judgement("reject", "integers compared")
    parsed_gold = parse_gold(gold)
    content = boxed_answer(answer) or answer
    currency = currency_of(content)
    text = clean(content)
    if currency and parsed_gold.currency not in ("", currency):
        return Judgement("reject", "another currency")
    judgement = _compare(parsed_gold, text, currency, rules)
    if judgement.decision == "accept":
        return judgement
    statement = find_statement(content, letter=isinstance(parsed_gold.target, Choice))
    if statement is not None and clean(statement) != text:
        second = _compare(parsed_gold, clean(statement), currency_of(statement), rules)
        if second.decision == "accept":
            return Judgement("accept", f"{second.reason}, stated in a sentence")
    return judgement


def _compare(gold: Gold, text: str, currency: str, rules: Rules) -> Judgement:
    if squeeze(gold.text) == squeeze(text):
        return Judgement("accept", "same text")
    if doubtful(text) and not doubtful(gold.text):
        return Judgement("reject", "the answer expresses doubt")
    if denies(text) and not denies(gold.text) and not isinstance(gold.target, Text | Choice):
        return Judgement("reject", "the answer contains a denial")
    same = same_time(gold.text, text) if ":" in gold.text and ":" in text else None
    if same is not None:
        return _judgement(same, "times compared")
    match gold.target:
        case Choice(letter=letter, of=None):
            return _judgement(same_letter(letter, text), "letters compared")
        case Text():
            return _compare_words(gold.target, text)
        case Choice(letter=letter, of=of):
            assert of is not None
            labelled = LABELLED.fullmatch(unwrap(text))
            if same_letter(letter, text) and not labelled:
                return Judgement("accept", "letters compared")
            if labelled and letter != labelled.group(1):
                return Judgement("reject", "letters compared")
            return _compare(of, text, currency, rules)
    if gold.text.startswith("\\text") and words_of(gold.text) == words_of(text):
        return Judgement("accept", "words compared")
    if has_ellipsis(gold.text):
        same = len(text) <= MAX_TEXT and same_sequence(gold.text, text)
        if same is None:
            return Judgement("reject", "the rule of a sequence cannot be shown")
        return _judgement(same, "sequences compared")
    if OPEN.search(gold.text) and len(text) <= MAX_TEXT:
        return _judgement(same_open(gold.text, text), "sums compared")
    if len(text) > MAX_TEXT >= 2 * len(gold.text):
        return Judgement("reject", "the answer is too long for the gold")
    judgement = _compare_value(gold, unwrap(text), currency, rules)
    several = several_candidates(gold.text, text) if judgement.decision == "undecided" else None
    return judgement if several is None else Judgement("reject", several)


def _compare_words(target: Text, text: str) -> Judgement:
    left, right = target.words, words_of(text)
    right = right if left == right else words_of(_FRAME.sub("", right))
    nothing = right in NOTHING or squeeze(text) in (r"\emptyset", r"\varnothing", r"\{\}")
    if left in NOTHING and nothing:
        return Judgement("accept", "both say that there is no solution")
    if left in UNDEFINED and right in UNDEFINED:
        return Judgement("accept", "both say that it is undefined")
    parts = [
        sorted(part.strip() for part in re.split(r",|\band\b", side) if part.strip())
        for side in (left, right)
    ]
    return _judgement(
        left == right or (len(parts[0]) > 1 and parts[0] == parts[1]), "words compared"
    )


def _compare_value(gold: Gold, answer: str, currency: str, rules: Rules) -> Judgement:
    labelled = LABELLED.fullmatch(answer)
    answer = clean(labelled.group(2)) if labelled else answer
    family = isinstance(gold.target, Family) and family_of(answer, gold.target) is not None
    if not family and OPEN_FORM.search(answer) and not OPEN_FORM.search(gold.text):
        sides = split_top(answer, "=")
        closed = [side for side in sides if not OPEN_FORM.search(side)]
        if not closed or closed[-1] != sides[-1]:
            return Judgement("reject", "the answer is left unevaluated")
        answer = "=".join(closed)
    if squeeze(gold.text) == squeeze(answer):
        return Judgement("accept", "same text")
    if isinstance(gold.target, Untyped):
        return Judgement("undecided", "the gold cannot be parsed")
    if gold.text.isalpha() and len(gold.text) > 1 and is_words(answer) and "\\" in answer:
        return _judgement(words_of(gold.text) == words_of(answer), "words compared")
    answer = _REALS.get(words_of(answer), answer)
    target = gold.target
    assert not isinstance(target, Text | Choice)
    # First read commas as digit grouping; then, if either side may be a list, as separators.
    judgement = _compare_trees(gold, target, answer, currency, rules, True)
    if judgement.decision == "accept":
        return judgement
    other = _respelled(gold.text, answer) if _TERMS.search(answer) else answer
    if other != answer:
        second = _compare_trees(gold, target, other, currency, rules, True)
        if second.decision == "accept":
            return second
    if "," in answer + gold.text and _decimal_comma(gold, answer):
        return Judgement("accept", "a decimal comma")
    if gold.separated is not None or GROUPS.search(answer):
        second = _compare_trees(gold, gold.separated or target, answer, currency, rules, False)
        lists = any(_SEPARATES.search(side) or " and " in side for side in (gold.text, answer))
        return second if second.decision == "accept" and lists else judgement
    return judgement


def _respelled(gold: str, answer: str) -> str:
    """Rewrite ``a(n)`` as ``a_n`` or the reverse, as in the gold, and ``5M`` as "5 million"."""
    indexed = "".join(name for name, _ in _INDEXED.findall(gold))
    called = "".join(name for name, _ in _CALLED.findall(gold))
    if indexed:
        answer = re.sub(rf"(?<![A-Za-z\\])([{indexed}])\(([i-n](?:[+-]\d)?)\)", r"\1_{\2}", answer)
        if not _IMAGINARY.search(gold) and "j" not in answer and re.search(r"_\{?i", answer):
            answer = _IMAGINARY.sub("j", answer)
    elif called:
        answer = re.sub(
            rf"(?<![A-Za-z\\])([{called}])_\{{?([i-n](?:[+-]\d)?)\}}?", r"\1(\2)", answer
        )
    short = _SHORT.fullmatch(answer)
    return rf"{short.group(1)}\text{{ {_THOUSANDS[short.group(2)]}}}" if short else answer


def _decimal_comma(gold: Gold, answer: str) -> bool:
    for comma, other in ((gold.text, answer), (answer, gold.text)):
        grouped = _GROUPED_COMMA.fullmatch(comma)
        if not grouped and (not _DECIMAL_COMMA.fullmatch(comma) or not _DECIMALS.fullmatch(other)):
            continue
        if comma is gold.text and not grouped and len(comma.partition(",")[2]) < 2:
            return False  # 1,2 may be a list
        if re.sub(r"[. ]", "", comma).replace(",", ".") == re.sub(r"[, ]", "", other):
            return True
    return False


def squeeze(text: str) -> str:
    """Remove white space, except between two digits: ``1 2`` is not 12."""
    return text if text.isalnum() else _BLANK.sub("", text)


def same_letter(letter: str, answer: str) -> bool:
    """Return whether an answer names the option ``letter``, as ``C``, ``(C)`` or ``C. text``."""
    words = plain_words(answer)
    if len(words) == 1:
        return words.upper() == letter
    labelled = LABELLED.fullmatch(answer)
    if not labelled or labelled.group(1) != letter:
        return False
    behind = labelled.group(2)
    other = LETTER.fullmatch(plain_words(behind).upper())
    offered = re.match(r"(?:\\text\s*\{)?\s*(?:or|and|/|,|or maybe)\b", behind)
    return offered is None and not (other and other.group(1) != letter)


def _judgement(same: bool, reason: str) -> Judgement:
    return Judgement("accept" if same else "reject", reason)


def _compare_trees(
    gold: Gold, target: Tree, answer: str, currency: str, rules: Rules, grouping: bool
) -> Judgement:
    if isinstance(target, Family):
        family = family_of(answer, target)
        if family is None:
            return Judgement("undecided", "not a family over the integers")
        same = same_family(target, family)
        if same is None:
            return Judgement("undecided", "not decided")
        return _judgement(same, "families compared")
    empty = target.node == SetOf(())
    try:
        tree = expand_signs(with_currency(read(answer, grouping), currency))
    except (TooLarge, RecursionError) as error:
        return Judgement("reject", str(error) or "the answer is nested too deep")
    except Unreadable as error:
        if empty and words_of(answer) in NOTHING:
            return Judgement("accept", "both say that there is no solution")
        note("the answer cannot be parsed", None, {"text": answer, "why": error})
        shorter = without_described(answer) if not isinstance(target, Named | Equation) else None
        if shorter is not None:
            return _compare_trees(gold, target, shorter, currency, rules, grouping)
        if isinstance(target, Value) and is_plain(target.node):
            return Judgement("reject", "the gold is a number, the answer is not one")
        return Judgement("undecided", f"the answer cannot be parsed: {error}")
    if listening():
        note("the answer as parsed", None, {"text": answer, "read as": written(tree)})
    domain = domain_of(target.node)
    forms = tree.items if isinstance(tree, Listing) and tree.joint == "or" else ()
    one = isinstance(target, Value | Named)
    if one and forms:
        with suppress(Unreadable, Undefined):
            if all(Matcher(rules, domain).matches(target, item) is True for item in forms):
                return Judgement("accept", "equal forms of one value")
    if (
        isinstance(target, Value)
        and is_plain(target.node)
        and hedged(answer)
        and not hedged(gold.text)
    ):
        return Judgement("reject", "a hedge is not a number")
    if isinstance(tree, Words):
        return _judgement(empty and words_of(tree.text) in NOTHING, "words compared")
    if isinstance(target, Value):
        node, tree = _expected_units(target.node, tree, gold.text, answer)
        target = Value(node)
    matcher = Matcher(rules, domain)
    try:
        same = matcher.matches(target, tree)
    except TooLarge as error:
        return Judgement("undecided", str(error))
    except (Unreadable, Undefined):
        same = None
    values = isinstance(target, Value | Named | Equation | Several | Parts)
    if same is None and values and isinstance(tree, (*EXPRESSIONS, Relation, Listing)):
        return Judgement("reject", "neither equality nor a difference can be shown")
    if same is None:
        return Judgement("undecided", "not decided")
    return _judgement(same, matcher.reason)


def _expected_units(gold: Node, answer: Node, *texts: str) -> tuple[Node, Node]:
    nodes = [gold, answer]
    for at, other in ((0, 1), (1, 0)):
        unit, trailing = nodes[other], _TRAILING.fullmatch(texts[at])
        if isinstance(nodes[at], WithUnit) or not isinstance(unit, WithUnit) or trailing is None:
            continue
        if ratio(trailing.group(2), unit.unit) is not None:
            with suppress(Unreadable):
                nodes[at] = WithUnit(read(trailing.group(1)), trailing.group(2))
    return nodes[0], nodes[1]
