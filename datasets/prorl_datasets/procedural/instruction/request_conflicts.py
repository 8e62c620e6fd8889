"""Finds constraints that contradict the request, such as a limerick of 300 words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prorl_datasets.procedural.instruction.plan import Plan

_VERSE = re.compile(r"\b(?:poem|limerick|rap|lyrics|lullaby)\b")
_COUNTS = {"two": 2, "three": 3, "five": 5}
_COUNTED = re.compile(
    r"\b(two|three|five) (?:questions|mistakes|tips|arguments|ways|research questions)\b"
)
_SHORT = re.compile(
    r"\bshort (?:email|pitch|introduction|lesson)\b|postcard|slogan|limerick|toast|riddle|joke|crossword"
    r"|proverb|horoscope|reminder|flyer|poster|radio spot|social media|headline and a first paragraph"
)
_LONG = re.compile(
    r"\b(?:essay|article|blog|business plan|novel|speech|story|interview|dialogue|lesson about|month of"
    r"|weekend|trip|workshop|history|proposal|exhibition about)\b"
)
_SHORT_WORDS, _SHORT_SENTENCES, _SHORT_PARTS = 150, 12, 3
_LONG_WORDS, _LONG_SENTENCES = 90, 6


def request_conflicts(request: str, topic: str, plan: Plan) -> Iterator[str]:
    """Yield a line for each contradiction between request and constraints."""
    yield from _forbidden_request_words(request, topic, plan)
    yield from _size(request, plan)
    yield from _place(request, plan)
    if _VERSE.search(request):
        if plan.has("detectable_format:json_format"):
            yield "verse and detectable_format:json_format"
        if any(plan.bullets) or any(number for _, number in plan.sections):
            yield "verse, and bullets or numbered sections"


def _forbidden_request_words(request: str, topic: str, plan: Plan) -> Iterator[str]:
    lowered = request.lower()
    capped = [word for word, span in plan.keywords.items() if span.high is not None]
    for word in (*plan.forbidden, *capped):
        if re.search(rf"\b{re.escape(word.lower())}", lowered):
            yield f"the request itself speaks of {word!r}, which is forbidden or capped"
    for letter, span in plan.letters.items():
        if span.high is not None and 2 * topic.lower().count(letter) > span.high:
            yield f"{topic!r} cannot be named twice within {span.high} {letter!r}"


def _size(request: str, plan: Plan) -> Iterator[str]:
    counted = _COUNTED.search(request)
    if counted and any(number != _COUNTS[counted.group(1)] for number in plan.bullets):
        yield f"{counted.group()}, and another number of bullets"
    parts = max(
        (*plan.parts, *(n for n, _, _ in plan.paragraphs), *(n for _, n in plan.sections), 0)
    )
    if _SHORT.search(request):
        if plan.words.low > _SHORT_WORDS or plan.sentences.low > _SHORT_SENTENCES:
            yield "a short text, and many words or sentences"
        if parts > _SHORT_PARTS:
            yield f"a short text, and {parts} parts"
    elif _LONG.search(request):
        few_words = plan.words.high is not None and plan.words.high < _LONG_WORDS
        if few_words or (plan.sentences.high is not None and plan.sentences.high < _LONG_SENTENCES):
            yield "a long text, and few words or sentences"


def _place(request: str, plan: Plan) -> Iterator[str]:
    if "ends with" in request and (plan.endings or plan.postscripts):
        yield "the request says how the text ends"
    if re.search(r"begins with|starts with|^Rewrite", request) and (
        plan.repeats or any(nth == 1 for _, nth, _ in plan.paragraphs)
    ):
        yield "the request says how the text begins"
    if '"' in request and any(language != "en" for language in plan.languages):
        yield "the request quotes English words that have to stand in the text"
    if "first paragraph" in request and (plan.parts or plan.paragraphs or plan.sections):
        yield "a headline and one paragraph, and a number of parts"
