"""The 25 constraints of IFEval (arXiv 2311.07911) as plain functions of the response text.

Each check is (text, kwargs) -> bool. Own implementation of the published definitions, with their known
defects mended: a letter that is not a-z is counted as it is, an undetectable language never counts as
followed, paragraphs are counted and indexed on the same list. Sentences are split by a simple rule (see
``count_sentences``), where the original uses a trained splitter. Leaves out: the loose variants.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

Kwargs = Mapping[str, Any]
Check = Callable[[str, Kwargs], bool]

_WORD = re.compile(r"\w+")
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof sr jr st vs etc e.g i.e inc ltd co corp dept est fig gen gov hon no vol rev approx
    jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m p.s p.p.s d.c""".split()  # noqa: SIM905
)
_SENTENCE_END = re.compile(r"(?<![.!?])([.!?]++)[\"'”’)\]*_]*+(?=\s|$)")
_LAST_WORD = re.compile(r"[^\s!?]*$")


def count_sentences(text: str) -> int:
    """Return how many sentences: ends of . ! ? before white space and not after an abbreviation.

    An initial (``J.``) or a known abbreviation ends none. The mark of a list item (``1.``) counts, as it
    does for the splitter behind the published IFEval numbers. Text after the last end is one more.
    """
    count = 0
    last = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group(1) == "." and match.end() < len(text):
            before = text[max(last, match.start() - 20) : match.start()]
            word = "".join(_LAST_WORD.findall(before)[:1]).strip("\"'“”‘’([*_")
            initial = len(word) == 1 and word.isalpha() and word.isupper()
            if initial or word.casefold() in _ABBREVIATIONS:
                continue
        count += 1
        last = match.end()
    return count + bool(_WORD.search(text, last))


def _relation(count: int, relation: str, wanted: int) -> bool:
    return count < wanted if relation == "less than" else count >= wanted


def _keywords(text: str, kwargs: Kwargs) -> bool:
    return all(_finds(keyword, text) for keyword in kwargs["keywords"])


def _finds(keyword: str, text: str) -> bool:
    return re.search(re.escape(keyword), text, re.IGNORECASE) is not None


def _keyword_frequency(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(re.escape(kwargs["keyword"]), text, re.IGNORECASE))
    return _relation(count, kwargs["relation"], int(kwargs["frequency"]))


def _forbidden(text: str, kwargs: Kwargs) -> bool:
    words = kwargs["forbidden_words"]
    return not any(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) for word in words)


def _letter_frequency(text: str, kwargs: Kwargs) -> bool:
    count = text.lower().count(str(kwargs["letter"]).lower())
    return _relation(count, kwargs["let_relation"], int(kwargs["let_frequency"]))


def _language(text: str, kwargs: Kwargs) -> bool:
    import py3langid  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return bool(py3langid.classify(text)[0] == str(kwargs["language"]).split("-")[0])


def _sentences(text: str, kwargs: Kwargs) -> bool:
    return _relation(count_sentences(text), kwargs["relation"], int(kwargs["num_sentences"]))


def _paragraphs(text: str, kwargs: Kwargs) -> bool:
    parts = [part.strip() for part in re.split(r"\s?\*\*\*\s?", text)]
    if any(not part for part in parts[1:-1]):
        return False
    return sum(bool(part) for part in parts) == int(kwargs["num_paragraphs"])


def _words(text: str, kwargs: Kwargs) -> bool:
    return _relation(len(_WORD.findall(text)), kwargs["relation"], int(kwargs["num_words"]))


def _nth_paragraph(text: str, kwargs: Kwargs) -> bool:
    parts = [part.strip() for part in re.split(r"\n\n", text) if part.strip()]
    nth = int(kwargs["nth_paragraph"])
    if len(parts) != int(kwargs["num_paragraphs"]) or not 1 <= nth <= len(parts):
        return False
    first = parts[nth - 1].split()[0].lstrip("'\"")
    word = re.split(r"[.,?!'\"]", first)[0]
    return word.lower() == str(kwargs["first_word"]).lower()


def _placeholders(text: str, kwargs: Kwargs) -> bool:
    return len(re.findall(r"\[[^\[\]\n]*\]", text)) >= int(kwargs["num_placeholders"])


def _postscript(text: str, kwargs: Kwargs) -> bool:
    marker = str(kwargs["postscript_marker"]).strip()
    spaced = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}.get(
        marker, re.escape(marker.lower())
    )
    return re.search(spaced, text.lower()) is not None


def _bullets(text: str, kwargs: Kwargs) -> bool:
    stars = re.findall(r"^[^\S\n]*\*[^*].*$", text, re.MULTILINE)
    dashes = re.findall(r"^[^\S\n]*-.*$", text, re.MULTILINE)
    return len(stars) + len(dashes) == int(kwargs["num_bullets"])


def _constrained(text: str, kwargs: Kwargs) -> bool:
    options = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
    return any(option in text for option in options)


def _highlights(text: str, kwargs: Kwargs) -> bool:
    single = re.findall(r"\*[^\n*]*\*", text)
    double = re.findall(r"\*\*[^\n*]*\*\*", text)
    count = sum(bool(mark.strip("*").strip()) for mark in single)
    count += sum(bool(mark[2:-2].strip()) for mark in double)
    return count >= int(kwargs["num_highlights"])


def _sections(text: str, kwargs: Kwargs) -> bool:
    splitter = re.escape(str(kwargs["section_spliter"]).strip())
    parts = re.split(rf"\s?{splitter}\s?\d+\s?", text)
    return len(parts) - 1 >= int(kwargs["num_sections"])


def _json(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    for opening in ("```json", "```Json", "```JSON", "```"):
        body = body.removeprefix(opening)
    try:
        json.loads(body.removesuffix("```").strip())
    except ValueError:
        return False
    return True


def _title(text: str, kwargs: Kwargs) -> bool:
    for line in text.split("\n"):
        start = line.find("<<")
        while start >= 0:
            end = line.find(">>", start + 3)
            if end < 0:
                break
            if line[start:end].strip("<> \t"):
                return True
            start = line.find("<<", end + 2)
    return False


def _two_responses(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("******")
    if any(not part.strip() for part in parts[1:-1]):
        return False
    answers = [part.strip() for part in parts if part.strip()]
    return len(answers) == 2 and answers[0] != answers[1]


def _repeat_prompt(text: str, kwargs: Kwargs) -> bool:
    prompt = str(kwargs["prompt_to_repeat"]).strip().lower()
    return text.strip().lower().startswith(prompt)


def _end_checker(text: str, kwargs: Kwargs) -> bool:
    phrase = str(kwargs["end_phrase"]).strip().lower()
    return text.strip().strip('"').lower().endswith(phrase)


def _quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return len(body) > 1 and body[0] == '"' and body[-1] == '"'


def _capital_words(text: str, kwargs: Kwargs) -> bool:
    tokens = re.findall(r"[\w'’/-]+(?:\.[\w'’/-]+)*", text)
    count = sum(token.isupper() for token in tokens)
    return _relation(count, kwargs["capital_relation"], int(kwargs["capital_frequency"]))


def _latin(text: str) -> bool:
    """Whether at least nine of ten letters are a-z: the cheap part of "is it English"."""
    letters = sum(letter.isalpha() for letter in text)
    plain = sum("a" <= letter <= "z" for letter in text.lower())
    return letters > 0 and plain >= 0.9 * letters


def _capital(text: str, kwargs: Kwargs) -> bool:
    return text.isupper() and _latin(text)


def _lowercase(text: str, kwargs: Kwargs) -> bool:
    return text.islower() and _latin(text)


def _no_comma(text: str, kwargs: Kwargs) -> bool:
    return "," not in text


CHECKS: dict[str, tuple[Check, tuple[str, ...]]] = {
    "keywords:existence": (_keywords, ("keywords",)),
    "keywords:frequency": (_keyword_frequency, ("keyword", "relation", "frequency")),
    "keywords:forbidden_words": (_forbidden, ("forbidden_words",)),
    "keywords:letter_frequency": (_letter_frequency, ("letter", "let_relation", "let_frequency")),
    "language:response_language": (_language, ("language",)),
    "length_constraints:number_sentences": (_sentences, ("relation", "num_sentences")),
    "length_constraints:number_paragraphs": (_paragraphs, ("num_paragraphs",)),
    "length_constraints:number_words": (_words, ("relation", "num_words")),
    "length_constraints:nth_paragraph_first_word": (
        _nth_paragraph,
        ("num_paragraphs", "nth_paragraph", "first_word"),
    ),
    "detectable_content:number_placeholders": (_placeholders, ("num_placeholders",)),
    "detectable_content:postscript": (_postscript, ("postscript_marker",)),
    "detectable_format:number_bullet_lists": (_bullets, ("num_bullets",)),
    "detectable_format:constrained_response": (_constrained, ()),
    "detectable_format:number_highlighted_sections": (_highlights, ("num_highlights",)),
    "detectable_format:multiple_sections": (_sections, ("section_spliter", "num_sections")),
    "detectable_format:json_format": (_json, ()),
    "detectable_format:title": (_title, ()),
    "combination:two_responses": (_two_responses, ()),
    "combination:repeat_prompt": (_repeat_prompt, ("prompt_to_repeat",)),
    "startend:end_checker": (_end_checker, ("end_phrase",)),
    "startend:quotation": (_quotation, ()),
    "change_case:capital_word_frequency": (
        _capital_words,
        ("capital_relation", "capital_frequency"),
    ),
    "change_case:english_capital": (_capital, ()),
    "change_case:english_lowercase": (_lowercase, ()),
    "punctuation:no_comma": (_no_comma, ()),
}
"""Instruction id -> (check, kwargs it needs)."""
