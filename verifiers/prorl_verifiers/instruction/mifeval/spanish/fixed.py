"""The Spanish constraints of M-IFEval: this project's definitions (mode ``fixed``).

Each check is (text, kwargs) -> bool on a text that is not blank and kwargs cleaned by ``instruction.kwargs``. What
is not here is judged as IFEval's (``instruction.ifeval.fixed``). Every check is linear in the length of the text.
"""

from __future__ import annotations

import re

from prorl_verifiers.instruction.ifeval import fixed as ifeval
from prorl_verifiers.instruction.mifeval.latin import (
    begins_paragraph,
    in_capitals,
    in_small_letters,
    one_option,
    words_with,
)
from prorl_verifiers.instruction.text import compare, count_words, has_word, sentences
from prorl_verifiers.instruction.types import Kwargs

_OPTIONS = ("Sí.", "No.", "Quizás.")
_ABBREVIATIONS = frozenset(
    """sr sra sres sras srta dr dra dres prof profa lic ing arq ud uds vd vds d dña etc pág págs p.ej ej núm nº n.º art cap
    vol ed tel av avda c.p ee ee.uu a.c d.c a.m p.m s.a s.l vs aprox máx mín fig st""".split()  # noqa: SIM905
)
_LIST_MARK = re.compile(r"^[^\S\n]*(?:\d{1,3}[.)]|[-*+•])[^\S\n]", re.MULTILINE)


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    count = len(sentences(text, _ABBREVIATIONS))
    return compare(count, kwargs["relation"], kwargs["num_sentences"])


def number_words(text: str, kwargs: Kwargs) -> bool:
    count = count_words(_LIST_MARK.sub("", text))
    return compare(count, kwargs["relation"], kwargs["num_words"])


def nth_paragraph_first_word(text: str, kwargs: Kwargs) -> bool:
    return begins_paragraph(
        text, kwargs["nth_paragraph"], kwargs["num_paragraphs"], kwargs["first_word"]
    )


def number_placeholders(text: str, kwargs: Kwargs) -> bool:
    count = ifeval.count_placeholders(text)
    return compare(count, kwargs["relation"], kwargs["num_placeholders"])


def number_highlighted_sections(text: str, kwargs: Kwargs) -> bool:
    return compare(ifeval.count_highlights(text), kwargs["relation"], kwargs["num_highlights"])


def multiple_sections(text: str, kwargs: Kwargs) -> bool:
    count = ifeval.count_sections(text, kwargs["section_spliter"])
    return compare(count, kwargs["relation"], kwargs["num_sections"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return one_option(_OPTIONS, text)


def end_checker(text: str, kwargs: Kwargs) -> bool:
    said = text.rstrip(" \t\r\n\"'”’»*_`")
    return ifeval.end_checker(said, kwargs) or ifeval.end_checker(said.removesuffix("."), kwargs)


def spanish_capital(text: str, kwargs: Kwargs) -> bool:
    return in_capitals(text, "es", _OPTIONS)


def spanish_lowercase(text: str, kwargs: Kwargs) -> bool:
    return in_small_letters(text, "es", _OPTIONS)


def question_marks(text: str, kwargs: Kwargs) -> bool:
    return any(map(has_word, re.findall(r"¿([^¿?]*)\?", text)))


def exclamation_marks(text: str, kwargs: Kwargs) -> bool:
    return any(map(has_word, re.findall("¡([^¡!]*)!", text)))


def enie(text: str, kwargs: Kwargs) -> bool:
    return words_with("ñ", text) == int(kwargs["let_frequency"])


def dieresis(text: str, kwargs: Kwargs) -> bool:
    return words_with("ü", text) == int(kwargs["let_frequency"])


def tildes(text: str, kwargs: Kwargs) -> bool:
    return compare(words_with("áéíóú", text), kwargs["relation"], kwargs["num_words"])
