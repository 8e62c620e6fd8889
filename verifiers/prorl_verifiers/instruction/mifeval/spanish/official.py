"""The Spanish constraints of M-IFEval as the published checker judges them (mode ``reference``).

Own code for known behaviour, quirks included; each check is (text, kwargs) -> bool on a text that is not
blank. What is not here is judged as by IFEval's published checker (``instruction.ifeval.official``). Words are
spaCy's tokens, sentences those of its parser, which takes minutes for 1 MB: the pool's kill is the guard.
"""

from __future__ import annotations

import functools
import re
import string
import unicodedata
from typing import Any

from prorl_verifiers.instruction.official_text import detected_or_undetectable
from prorl_verifiers.instruction.text import compare
from prorl_verifiers.instruction.types import Kwargs

SPANISH_MODEL = "es_core_news_sm"
OTHER_MODEL = "xx_sent_ud_sm"
"""spaCy's models behind the sentence count: of a Spanish text, and of one in another language."""
_OPTIONS = ("Sí.", "No.", "Quizás.")
_POSTSCRIPTS = {"P.D.": r"p\.\s?d\."}
_TILDES = frozenset("áéíóúÁÉÍÓÚ")
_LIST_MARK = re.compile(r"(\A\s*+|(?<=\n)(?=[\d*-])|(?<!\s)[^\S\n]*+\n\s*+)(?:\d+\.|[-*])\s*+")
"""A list mark with the white space around it; the white space before it is the group."""


@functools.cache
def _words() -> Any:
    import spacy  # type: ignore[import-not-found,unused-ignore]

    pipeline = spacy.blank("es")
    pipeline.max_length = 10**9
    return pipeline


@functools.cache
def _sentences(model: str) -> Any:
    import spacy  # type: ignore[import-not-found,unused-ignore]

    return spacy.load(model)


def spanish_tokens(text: str) -> list[str]:
    """Return spaCy's Spanish tokens but for those of punctuation alone; runs of white space are tokens too."""
    return [token.text for token in _words()(text) if not token.is_punct]


def without_list_marks(text: str) -> str:
    """Return the text without ``1.``, ``-`` and ``*`` at the beginning of lines, in linear time.

    White space around a mark goes with it, blank lines before it included.
    """
    return _LIST_MARK.sub(_first_line_break, text)


def _first_line_break(match: re.Match[str]) -> str:
    gap = match.group(1)
    return gap[: gap.find("\n") + 1] if match.start() else ""


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    model = SPANISH_MODEL if detected_or_undetectable(text.lower(), "es") else OTHER_MODEL
    count = len(list(_sentences(model)(without_list_marks(text)).sents))
    return compare(count, kwargs["relation"], kwargs["num_sentences"])


def number_words(text: str, kwargs: Kwargs) -> bool:
    tokens = spanish_tokens(without_list_marks(text).replace("\n", " "))
    return compare(len(tokens), kwargs["relation"], kwargs["num_words"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    parts = text.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    nth = kwargs["nth_paragraph"]
    if nth > count or not parts[nth - 1].strip():
        return False
    wanted = kwargs["first_word"].lower().split()
    bare = str.maketrans("", "", string.punctuation)
    said = [word.translate(bare).lower() for word in parts[nth - 1].split()[: len(wanted)]]
    return count == int(kwargs["num_paragraphs"]) and said == list(wanted)


def postscript(text: str, kwargs: Kwargs) -> bool:
    marker = kwargs["postscript_marker"].strip()
    return re.search(_POSTSCRIPTS.get(marker, marker.lower()), text.lower()) is not None


def number_bullet_lists(text: str, kwargs: Kwargs) -> bool:
    count = len(re.findall(r"^[^\S\n]*\*[^\*].*$", text, re.MULTILINE))
    return count == int(kwargs["num_bullets"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return any(option in text.strip() for option in _OPTIONS)


def end_checker(text: str, kwargs: Kwargs) -> bool:
    said = text.strip().strip('"').lower().removesuffix(".")
    return said.endswith(kwargs["end_phrase"].strip().lower())


def capital_word_frequency(text: str, kwargs: Kwargs) -> bool:
    count = sum(token.isupper() for token in spanish_tokens(text))
    return compare(count, kwargs["capital_relation"], kwargs["capital_frequency"])


def spanish_capital(text: str, kwargs: Kwargs) -> bool:
    taken_apart = unicodedata.normalize("NFKD", text)
    capitals = all(letter.isupper() or not letter.isalpha() for letter in set(taken_apart))
    return capitals and detected_or_undetectable(text.lower(), "es")


def spanish_lowercase(text: str, kwargs: Kwargs) -> bool:
    return text.islower() and detected_or_undetectable(text, "es")


def question_marks(text: str, kwargs: Kwargs) -> bool:
    return _between(text, "¿", "?")


def exclamation_marks(text: str, kwargs: Kwargs) -> bool:
    return _between(text, "¡", "!")


def _between(text: str, opening: str, closing: str) -> bool:
    """Whether something stands between an opening mark and the next closing one, on any lines."""
    start = text.find(opening)
    while start >= 0 and (end := text.find(closing, start)) >= 0:
        if text[start:end].lstrip(opening).strip():
            return True
        start = text.find(opening, end)
    return False


def enie(text: str, kwargs: Kwargs) -> bool:
    count = sum("ñ" in token.lower() for token in spanish_tokens(text))
    return count == int(kwargs["let_frequency"])


def dieresis(text: str, kwargs: Kwargs) -> bool:
    count = sum("ü" in token.lower() for token in spanish_tokens(text))
    return count == int(kwargs["let_frequency"])


def tildes(text: str, kwargs: Kwargs) -> bool:
    count = sum(not _TILDES.isdisjoint(token) for token in spanish_tokens(text))
    return compare(count, kwargs["relation"], kwargs["num_words"])
