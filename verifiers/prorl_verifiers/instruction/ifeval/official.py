"""IFEval's published checks, including their errors (mode ``reference``). Some take quadratic time."""

from __future__ import annotations

import json
import re

from prorl_verifiers.instruction.official_text import (
    detected_or_undetectable,
    nltk_words,
    punkt_sentences,
)
from prorl_verifiers.instruction.text import compare, note_search
from prorl_verifiers.instruction.types import Kwargs

OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_POSTSCRIPTS = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}


def count_matches(pattern: str, text: str) -> int:
    return len(re.findall(pattern, text, re.IGNORECASE))


def split_paragraphs(text: str, pattern: str) -> int | None:
    """Count the parts between matches of ``pattern``, without blank ends. Return None if another part is blank."""
    parts = re.split(pattern, text)
    if any(not part.strip() for part in parts[1:-1]):
        return None
    blank_ends = sum(not part.strip() for part in {0: parts[0], len(parts) - 1: parts[-1]}.values())
    return len(parts) - blank_ends


def keywords_existence(text: str, kwargs: Kwargs) -> bool:
    return all(
        note_search(word, re.search(word, text, re.IGNORECASE) is not None)
        for word in kwargs["keywords"]
    )


def keywords_frequency(text: str, kwargs: Kwargs) -> bool:
    return compare(
        count_matches(kwargs["keyword"].strip(), text), kwargs["relation"], kwargs["frequency"]
    )


def forbidden_words(text: str, kwargs: Kwargs) -> bool:
    return not any(
        note_search(word, re.search(r"\b" + word + r"\b", text, re.IGNORECASE) is not None)
        for word in kwargs["forbidden_words"]
    )


def letter_frequency(text: str, kwargs: Kwargs) -> bool:
    count = text.lower().count(kwargs["letter"].strip().lower())
    return compare(count, kwargs["let_relation"], kwargs["let_frequency"])


def response_language(text: str, kwargs: Kwargs) -> bool:
    return detected_or_undetectable(text, kwargs["language"])


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    return compare(len(punkt_sentences(text)), kwargs["relation"], kwargs["num_sentences"])


def number_paragraphs(text: str, kwargs: Kwargs) -> bool:
    return bool(split_paragraphs(text, r"\s?\*\*\*\s?") == kwargs["num_paragraphs"])


def number_words(text: str, kwargs: Kwargs) -> bool:
    return compare(len(re.findall(r"\w+", text)), kwargs["relation"], kwargs["num_words"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    nth = kwargs["nth_paragraph"]
    if nth > count or not parts[nth - 1].strip():
        return False
    first = parts[nth - 1].split()[0].lstrip("'").lstrip('"')
    word = re.split(r"[.,?!'\"]", first, maxsplit=1)[0]
    lowered = "".join(letter.lower() for letter in word)
    return (count, lowered) == (kwargs["num_paragraphs"], kwargs["first_word"].lower())


def number_placeholders(text: str, kwargs: Kwargs) -> bool:
    return compare(count_placeholders(text), "at least", int(kwargs["num_placeholders"]))


def count_placeholders(text: str) -> int:
    count = 0
    for line in text.split("\n"):
        end = -1
        while (start := line.find("[", end + 1)) >= 0 and (end := line.find("]", start)) >= 0:
            count += 1
    return count


def postscript(text: str, kwargs: Kwargs) -> bool:
    marker = kwargs["postscript_marker"].strip()
    pattern = _POSTSCRIPTS.get(marker, marker.lower())
    return re.search(pattern, text.lower(), re.MULTILINE) is not None


def number_bullet_lists(text: str, kwargs: Kwargs) -> bool:
    stars = re.findall(r"^[^\S\n]*\*[^\*].*$", text, re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*-.*$", text, re.MULTILINE)
    return compare(len(stars) + len(dashes), "exactly", int(kwargs["num_bullets"]))


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return any(option in text.strip() for option in OPTIONS)


def number_highlighted_sections(text: str, kwargs: Kwargs) -> bool:
    single = re.findall(r"\*[^\n\*]*\*", text)
    double = re.findall(r"\*\*[^\n\*]*\*\*", text)
    count = sum(bool(mark.strip("*").strip()) for mark in single)
    count += sum(bool(mark.removeprefix("**").removesuffix("**").strip()) for mark in double)
    return compare(count, "at least", int(kwargs["num_highlights"]))


def multiple_sections(text: str, kwargs: Kwargs) -> bool:
    pattern = r"\s?" + kwargs["section_spliter"].strip() + r"\s?\d+\s?"
    count = len(re.split(pattern, text)) - 1
    return compare(count, "at least", int(kwargs["num_sections"]))


def json_format(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    for opening in ("```json", "```Json", "```JSON", "```"):
        body = body.removeprefix(opening)
    try:
        json.loads(body.removesuffix("```").strip())
    except ValueError:
        return False
    return True


def title(text: str, kwargs: Kwargs) -> bool:
    return any(mark.lstrip("<").rstrip(">").strip() for mark in title_marks(text))


def title_marks(text: str) -> list[str]:
    spans = ((line, line.find("<<"), line.rfind(">>")) for line in text.split("\n"))
    return [line[start : end + 2] for line, start, end in spans if 0 <= start < end - 2]


def two_responses(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("******")
    if any(not part.strip() for part in parts[1:-1]):
        return False
    answers = [part.strip() for part in parts if part.strip()]
    return len(answers) == 2 and answers[0] != answers[1]


def repeat_prompt(text: str, kwargs: Kwargs) -> bool:
    return text.strip().lower().startswith(kwargs["prompt_to_repeat"].strip().lower())


def end_checker(text: str, kwargs: Kwargs) -> bool:
    return text.strip().strip('"').lower().endswith(kwargs["end_phrase"].strip().lower())


def quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return len(body) > 1 and body[0] == '"' and body[-1] == '"'


def capital_word_frequency(text: str, kwargs: Kwargs) -> bool:
    count = sum(token.isupper() for token in nltk_words(text))
    return compare(count, kwargs["capital_relation"], kwargs["capital_frequency"])


def english_capital(text: str, kwargs: Kwargs) -> bool:
    return text.isupper() and detected_or_undetectable(text, "en")


def english_lowercase(text: str, kwargs: Kwargs) -> bool:
    return text.islower() and detected_or_undetectable(text, "en")


def no_comma(text: str, kwargs: Kwargs) -> bool:
    return "," not in text
