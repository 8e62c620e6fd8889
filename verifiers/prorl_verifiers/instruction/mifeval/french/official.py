"""The French constraints of M-IFEval as the published checker judges them (mode ``reference``).

Own code for known behaviour, quirks included; each check is (text, kwargs) -> bool on a text that is not
blank. What is not here is judged as by IFEval's published checker (``instruction.ifeval.official``).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from prorl_verifiers.instruction.official_text import (
    detected_or_undetectable,
    punkt_tokenizer,
)
from prorl_verifiers.instruction.text import compare
from prorl_verifiers.instruction.types import Kwargs

_OPTIONS = ("Oui.", "Non.", "Peut-être.")
_ACCENTED = re.compile("[àáâãäåçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝ]")
_FAMILIAR = re.compile(r"\b(?:tu|te|t'\b|toi|ton|ta|tes)\b", re.IGNORECASE)
_QUOTES = (('"', '"'), ("'", "'"), ("«", "»"))
_ABBREVIATIONS = """
    m mr mme mlle dir. dr dre drs dres prof pr cap lt adm. assoc. min. etc cf vs rép i.e c.-à-d ex e.g apr av
    j.c. j.-c. j.c j.-c a.d env janv fév mar avr juil sept oct nov déc p.-ê. svp p.-v. p.v tél adj q.v p resp tel
    v vol nb n.b p.s ps p.p.s p.-s p-s
"""
"""What the published checker adds to Punkt's French abbreviations; those with a space in them never apply."""


@functools.cache
def _punkt() -> Any:
    from punkt.data import french  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return punkt_tokenizer(french, _ABBREVIATIONS.split())


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    count = len(list(_punkt().tokenize(text)))
    return compare(count, kwargs["relation"], kwargs["num_sentences"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return any(option in text.strip() for option in _OPTIONS)


def title(text: str, kwargs: Kwargs) -> bool:
    spans = ((line, line.find("##"), line.rfind("##")) for line in text.split("\n"))
    return any(
        line[start : end + 2].strip("#").strip() for line, start, end in spans if start < end - 2
    )


def quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return len(body) > 1 and (body[0], body[-1]) in _QUOTES


def french_capital(text: str, kwargs: Kwargs) -> bool:
    return text.isupper() and detected_or_undetectable(text.lower(), "fr")


def french_lowercase(text: str, kwargs: Kwargs) -> bool:
    return text.islower() and detected_or_undetectable(text, "fr")


def ethel_or_cedilla(text: str, kwargs: Kwargs) -> bool:
    return re.search(re.escape(kwargs["forbidden_char"]), text, re.IGNORECASE) is None


def accents(text: str, kwargs: Kwargs) -> bool:
    wanted = kwargs["word_to_accentuate"]
    said = set(re.findall(r"\b\w+\b", text.lower()))
    return all(wanted.get(without_accents(word), word) == word for word in said)


def without_accents(text: str) -> str:
    """Return the text in compatibility forms without combining marks."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def no_accents(text: str, kwargs: Kwargs) -> bool:
    return _ACCENTED.search(text) is None


def informal_address(text: str, kwargs: Kwargs) -> bool:
    return _FAMILIAR.search(text) is not None


def no_digits(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\d", text) is None
