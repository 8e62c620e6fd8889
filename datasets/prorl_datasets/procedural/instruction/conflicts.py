"""Finds constraints that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from prorl_datasets.procedural.instruction.plan import OPTIONS, Plan, Span, read_plan
from prorl_verifiers.instruction.text import (
    count_sentences,
    count_words,
    occurrences,
    single_spaced,
    word_pattern,
    words,
)

_COMMAS = re.compile("[,،、，︐﹐﹑､]")
_CAPITALS = re.compile(r"[\w'’/-]+(?:\.[\w'’/-]+)*")
_LOWER, _UPPER = "change_case:english_lowercase", "change_case:english_capital"
_JSON, _QUOTE, _TWO = (
    "detectable_format:json_format",
    "startend:quotation",
    "combination:two_responses",
)
_OPTION, _NO_COMMA = "detectable_format:constrained_response", "punctuation:no_comma"
Findings = Iterator[str]


def _spans(plan: Plan) -> Findings:
    spans: list[tuple[str, Span]] = [
        ("words", plan.words),
        ("sentences", plan.sentences),
        ("capital words", plan.capitals),
        *((f"keyword {word!r}", span) for word, span in plan.keywords.items()),
        *((f"letter {letter!r}", span) for letter, span in plan.letters.items()),
    ]
    for name, span in spans:
        if span.empty():
            yield f"{name}: at least {span.low} and at most {span.high}"
    for name, span in spans[:2]:
        if span.high == 0:
            yield f"{name}: none at all, and a response holds one"


def _forbidden(plan: Plan) -> Findings:
    for word in plan.forbidden:
        pattern = word_pattern(word)
        for name, text in plan.wanted():
            if pattern.search(text):
                yield f"keywords:forbidden_words forbids {word!r}, which {name} wants"
    if plan.has(_OPTION):
        bad = [any(word_pattern(w).search(option) for w in plan.forbidden) for option in OPTIONS]
        if all(bad):
            yield f"keywords:forbidden_words forbids every option of {_OPTION}"


def _capped(plan: Plan) -> Findings:
    for word, span in plan.keywords.items():
        for name, text in plan.wanted():
            if span.high is not None and occurrences(word, text) > span.high:
                yield f"keywords:frequency allows {word!r} {span.high} times, {name} holds more"
    for letter, span in plan.letters.items():
        for name, text in plan.wanted():
            if span.high is not None and text.lower().count(letter) > span.high:
                yield f"keywords:letter_frequency allows {span.high} {letter!r}, {name} holds more"


def _comma(plan: Plan) -> Findings:
    if plan.has(_NO_COMMA):
        for name, text in plan.wanted():
            if _COMMAS.search(text):
                yield f"{_NO_COMMA} and {name}: {text[:40]!r} holds a comma"
        for letter, span in plan.letters.items():
            if letter == "," and span.low > 0:
                yield f"{_NO_COMMA} and keywords:letter_frequency: commas are wanted"


def _case(plan: Plan) -> Findings:
    lower, upper = plan.has(_LOWER), plan.has(_UPPER)
    if lower and upper:
        yield f"{_LOWER} and {_UPPER}"
    if lower and plan.capitals.low > 0:
        yield f"{_LOWER} and change_case:capital_word_frequency: capital words are wanted"
    most = plan.capitals.high
    if upper and most is not None and most < max(1, plan.words.low, plan.sentences.low):
        yield f"{_UPPER} and change_case:capital_word_frequency: at most {most} are allowed"
    for name, on, change in ((_LOWER, lower, str.lower), (_UPPER, upper, str.upper)):
        if on and plan.has(_OPTION):
            yield f"{name} and {_OPTION}: the options are in mixed case"
        for splitter, number in plan.sections:
            if on and number and change(splitter) != splitter:
                yield f"{name} and detectable_format:multiple_sections: {splitter!r} is not"
        for prompt in plan.repeats:
            if on and change(prompt) != prompt:
                yield f"{name} and combination:repeat_prompt: the request is not, word for word"
        for language in plan.languages:
            if on and language != "en":
                yield f"{name} and language:response_language: English against {language!r}"


def _wrapped(plan: Plan) -> Findings:
    if plan.has(_JSON):
        if plan.has(_QUOTE):
            yield f"{_JSON} and {_QUOTE}: JSON begins with a bracket"
        if plan.has(_TWO):
            yield f"{_JSON} and {_TWO}: two responses are not one JSON value"
        if any(number > 0 for number in plan.bullets):
            yield f"{_JSON} and detectable_format:number_bullet_lists: no line of JSON is a bullet"
        for phrase in plan.endings:
            if phrase[-1] not in "}]`":
                yield f"{_JSON} and startend:end_checker: JSON ends with a bracket"
        for prompt in plan.repeats:
            if prompt.lstrip()[:1] not in ("{", "[", "`"):
                yield f"{_JSON} and combination:repeat_prompt: JSON begins with a bracket"
    if plan.has(_QUOTE):
        for prompt in plan.repeats:
            if prompt.lstrip()[:1] not in ('"', "“"):
                yield f"{_QUOTE} and combination:repeat_prompt: one begins with a quotation mark"


def _repeated(plan: Plan) -> Findings:
    for prompt in plan.repeats:
        held = sum(token.isupper() for token in _CAPITALS.findall(prompt))
        if plan.capitals.high is not None and held > plan.capitals.high:
            yield f"combination:repeat_prompt holds {held} capital words, too many"
        if plan.sentences.high is not None and count_sentences(prompt) > plan.sentences.high:
            yield "combination:repeat_prompt holds more sentences than allowed"
        first = [word.casefold() for word in words(prompt)[:1]]
        for _, nth, word in plan.paragraphs:
            word_parts = [part.casefold() for part in words(word)[:1]]
            if nth == 1 and first and word_parts and first != word_parts:
                yield "combination:repeat_prompt begins with another first word than asked"


def _twice(plan: Plan) -> Findings:
    groups: tuple[tuple[str, Sequence[Any]], ...] = (
        ("length_constraints:number_paragraphs", plan.parts),
        ("number of paragraphs of nth_paragraph_first_word", [n for n, _, _ in plan.paragraphs]),
        ("detectable_format:number_bullet_lists", plan.bullets),
        ("language:response_language", plan.languages),
    )
    for name, values in groups:
        if any(value != values[0] for value in values):
            yield f"{name} is asked twice with different values"
    starts: dict[int, str] = {}
    for _, nth, word in plan.paragraphs:
        if starts.setdefault(nth, word).casefold() != word.casefold():
            yield f"paragraph {nth} is to begin with {starts[nth]!r} and with {word!r}"
    for texts, fits in ((plan.endings, str.endswith), (plan.repeats, str.startswith)):
        ordered = sorted((single_spaced(text).casefold() for text in texts), key=len)
        if not all(fits(ordered[-1], text) for text in ordered):
            yield f"not both can stand there: {ordered[0][:40]!r} and {ordered[-1][:40]!r}"
    if 0 in plan.parts:
        yield "length_constraints:number_paragraphs: none at all, and a response holds one"


def _lengths(plan: Plan) -> Findings:
    most = plan.words.high
    if most is None or plan.words.empty():
        return
    single = [k for k in plan.keywords if not any(k != j and k in j for j in plan.keywords)]
    needs = {
        "length_constraints:number_sentences": plan.sentences.low,
        "length_constraints:number_paragraphs": max(plan.parts, default=0),
        "length_constraints:nth_paragraph_first_word": max(
            (n for n, _, _ in plan.paragraphs), default=0
        ),
        "detectable_format:number_bullet_lists": max(plan.bullets, default=0),
        "detectable_format:multiple_sections": max((n for _, n in plan.sections), default=0),
        "detectable_content:number_placeholders": plan.placeholders,
        "detectable_format:number_highlighted_sections": plan.highlights,
        "change_case:capital_word_frequency": plan.capitals.low,
        _TWO: 2 * plan.has(_TWO),
        _OPTION: 4 * plan.has(_OPTION),
        "startend:end_checker": max(map(count_words, plan.endings), default=0),
        "combination:repeat_prompt": max((count_words(p) + 1 for p in plan.repeats), default=0),
        "keywords": sum(plan.keywords[k].low * count_words(k) for k in single),
    }
    for name, least in needs.items():
        if least > most:
            yield f"length_constraints:number_words allows {most} words, {name} needs {least}"


_RULES: tuple[Callable[[Plan], Findings], ...] = (
    *(_spans, _forbidden, _capped, _comma, _case),
    *(_wrapped, _repeated, _twice, _lengths),
)


def conflicts(ids: Sequence[str], kwargs: Sequence[Mapping[str, Any] | None]) -> list[str]:
    """Return a line for each contradiction between constraints.

    Raises TaskError for arguments that do not fit their id, ValueError for lists of unequal length.
    """
    return plan_conflicts(read_plan(ids, kwargs))


def plan_conflicts(plan: Plan) -> list[str]:
    return [finding for rule in _RULES for finding in rule(plan)]
