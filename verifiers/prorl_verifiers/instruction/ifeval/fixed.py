"""Our own checks of IFEval's constraints (mode ``fixed``), which take linear time."""

from __future__ import annotations

import re

from prorl_verifiers.extract import strict_json
from prorl_verifiers.instruction.ifeval.official import OPTIONS
from prorl_verifiers.instruction.language import is_english, is_language
from prorl_verifiers.instruction.text import (
    compare,
    count_sentences,
    count_words,
    ends_trimmed,
    folded,
    has_phrase,
    has_word,
    note_search,
    occurrences,
    paragraphs,
    same_word,
    single_spaced,
    split_at_dividers,
    split_at_six_stars,
    visible,
    words,
)
from prorl_verifiers.instruction.types import Kwargs

_PLACEHOLDER = re.compile(r"\[([^\[\]\n]+)\](?!\()")
_BULLET = re.compile(r"^[^\S\n]*[*+-][^\S\n]+(\S.*)$", re.MULTILINE)
_HIGHLIGHT = re.compile(r"(?<!\*)(\*{1,3})(?=[^\s*])([^*\n]+)(?<=\S)\1(?!\*)")
_SECTION_LEAD = r"^[^\w\n]{0,20}"
_FENCE = re.compile(r"(`{3,9}|~{3,9})[ \t]?(?:json|\{\.json\})?(?=[\s{\[])", re.IGNORECASE)
_CAPITALS = re.compile(r"[\w'’/-]+(?:\.[\w'’/-]+)*")
_COMMAS = re.compile("[,،、，︐﹐﹑､‚⹁⸲]")
_CLOSERS = " \t\r\n\"'”’»*_`"


def keywords_existence(text: str, kwargs: Kwargs) -> bool:
    return all(note_search(word, has_phrase(word, text)) for word in kwargs["keywords"])


def keywords_frequency(text: str, kwargs: Kwargs) -> bool:
    return compare(occurrences(kwargs["keyword"], text), kwargs["relation"], kwargs["frequency"])


def forbidden_words(text: str, kwargs: Kwargs) -> bool:
    return not any(note_search(word, has_phrase(word, text)) for word in kwargs["forbidden_words"])


def letter_frequency(text: str, kwargs: Kwargs) -> bool:
    count = folded(text).lower().count(folded(kwargs["letter"]).lower())
    return compare(count, kwargs["let_relation"], kwargs["let_frequency"])


def response_language(text: str, kwargs: Kwargs) -> bool:
    return is_language(text, kwargs["language"])


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    return compare(count_sentences(text), kwargs["relation"], kwargs["num_sentences"])


def number_paragraphs(text: str, kwargs: Kwargs) -> bool:
    parts = ends_trimmed(split_at_dividers(text))
    return compare(len(parts), "exactly", kwargs["num_paragraphs"]) and all(map(has_word, parts))


def number_words(text: str, kwargs: Kwargs) -> bool:
    return compare(count_words(text), kwargs["relation"], kwargs["num_words"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    parts = paragraphs(text)
    if len(parts) != kwargs["num_paragraphs"]:
        return False
    first = words(parts[kwargs["nth_paragraph"] - 1])[:1]
    expected = words(kwargs["first_word"])[:1] or [kwargs["first_word"]]
    return bool(first) and (
        same_word(first[0], expected[0]) or same_word(re.split(r"['’]", first[0])[0], expected[0])
    )


def number_placeholders(text: str, kwargs: Kwargs) -> bool:
    return compare(count_placeholders(text), "at least", int(kwargs["num_placeholders"]))


def count_placeholders(text: str) -> int:
    """Count the ``[...]`` that contain a letter or digit and are not links."""
    return sum(has_word(slot) for slot in _PLACEHOLDER.findall(text))


def postscript(text: str, kwargs: Kwargs) -> bool:
    letters = re.findall(r"\w", kwargs["postscript_marker"])
    marker = r"\.?[^\S\n]?".join(map(re.escape, letters))
    if not letters or not re.fullmatch(r"[\w.\s:]+", kwargs["postscript_marker"]):
        marker = re.escape(kwargs["postscript_marker"])
    lead = r"(?:^[^\w\n]{0,20}|(?<=[.!?\"”)\]*])[^\S\n]{1,3}[*_(\[]{0,3})"
    match = re.search(rf"{lead}{marker}(?!\w)", text, re.IGNORECASE | re.MULTILINE)
    return match is not None and has_word(text[match.end() :])


def number_bullet_lists(text: str, kwargs: Kwargs) -> bool:
    count = sum(has_word(line) for line in _BULLET.findall(text))
    return compare(count, "exactly", int(kwargs["num_bullets"]))


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return sum(option in text for option in OPTIONS) == 1


def number_highlighted_sections(text: str, kwargs: Kwargs) -> bool:
    return compare(count_highlights(text), "at least", int(kwargs["num_highlights"]))


def count_highlights(text: str) -> int:
    """Count the ``*...*``, ``**...**`` and ``***...***`` that enclose words on one line."""
    return sum(has_word(body) for _, body in _HIGHLIGHT.findall(text))


def multiple_sections(text: str, kwargs: Kwargs) -> bool:
    count = count_sections(text, kwargs["section_spliter"])
    return compare(count, "at least", int(kwargs["num_sections"]))


def count_sections(text: str, splitter: str) -> int:
    """Count the different numbers that follow ``splitter`` at the start of a line."""
    words = r"\s+".join(map(re.escape, splitter.split()))
    return len(set(re.findall(_SECTION_LEAD + words + r"[^\S\n]?(\d+)", text, re.MULTILINE)))


def json_format(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    fence = _FENCE.match(body)
    if fence and body.endswith(fence.group(1)):
        body = body[fence.end() : -len(fence.group(1))]
    try:
        value = strict_json(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list) and bool(value)


def title(text: str, kwargs: Kwargs) -> bool:
    for line in text.split("\n"):
        start = line.find("<<")
        while start >= 0:
            end = line.find(">>", start + 2)
            if end < 0:
                break
            if has_word(line[start + 2 : end]):
                return True
            start = line.find("<<", end + 2)
    return False


def two_responses(text: str, kwargs: Kwargs) -> bool:
    parts = ends_trimmed(split_at_six_stars(text))
    if len(parts) != 2 or not all(map(has_word, parts)):
        return False
    return single_spaced(parts[0]).casefold() != single_spaced(parts[1]).casefold()


def repeat_prompt(text: str, kwargs: Kwargs) -> bool:
    prompt, body = (
        single_spaced(visible(part)).casefold() for part in (kwargs["prompt_to_repeat"], text)
    )
    return body.startswith(prompt) and has_word(body[len(prompt) :])


def end_checker(text: str, kwargs: Kwargs) -> bool:
    phrase, body = (single_spaced(part).casefold() for part in (kwargs["end_phrase"], text))
    for ending in (body, body.rstrip(_CLOSERS)):
        if ending.endswith(phrase):
            before = ending[: len(ending) - len(phrase)][-1:]
            return not (before.isalnum() and phrase[:1].isalnum() and before.isascii())
    return False


def quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    pairs = (body[:1] == '"' and body[-1:] == '"') or (body[:1] == "“" and body[-1:] == "”")
    return len(body) > 2 and pairs and has_word(body)


def capital_word_frequency(text: str, kwargs: Kwargs) -> bool:
    count = sum(token.isupper() for token in _CAPITALS.findall(text))
    return compare(count, kwargs["capital_relation"], kwargs["capital_frequency"])


def english_capital(text: str, kwargs: Kwargs) -> bool:
    return text.isupper() and is_english(text)


def english_lowercase(text: str, kwargs: Kwargs) -> bool:
    return text.islower() and is_english(text)


def no_comma(text: str, kwargs: Kwargs) -> bool:
    return _COMMAS.search(text) is None
