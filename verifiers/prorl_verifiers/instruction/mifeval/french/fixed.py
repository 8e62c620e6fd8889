"""The French constraints of M-IFEval: this project's definitions (mode ``fixed``).

Each check is (text, kwargs) -> bool on a text that is not blank and kwargs cleaned by ``instruction.kwargs``. What
is not here is judged as IFEval's (``instruction.ifeval.fixed``). Every check is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata

from prorl_verifiers.instruction.mifeval.latin import in_capitals, in_small_letters, one_option
from prorl_verifiers.instruction.reading import folded
from prorl_verifiers.instruction.text import compare, count_words, has_word, sentences
from prorl_verifiers.instruction.types import Kwargs

_OPTIONS = ("Oui.", "Non.", "Peut-être.")
_ABBREVIATIONS = frozenset(
    """m mm mr mme mmes mlle mlles me dr dre pr prof st ste etc cf ex p.ex vs env av apr av.j.-c j.-c apr.j.-c c.-à-d
    p pp vol chap art fig éd tél nb n.b p.s p.-s janv févr avr juil sept oct nov déc min max adm dir resp""".split()  # noqa: SIM905
)
_TITLE = re.compile(r"(?<!#)##(?!#)([^#\n]+)##(?!#)")
_PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("'", "'"), ("‘", "’"))
_NO_PRONOUN = r"(?:le|un|du|au|ce|son|bon|même|quel|d'un)\s+ton"
_FAMILIAR = re.compile(
    rf"(?<![\w-])(?:{_NO_PRONOUN}\b|(tu|te|toi|ton|ta|tes|tien|tiens|tienne|tiennes)(?!\w)|(t'(?=\w)))|-(toi|tu)\b"
)
_FORMAL = re.compile(r"\b(?:vous|votre|vos|vôtre|vôtres)\b")


def number_sentences(text: str, kwargs: Kwargs) -> bool:
    count = len(sentences(text, _ABBREVIATIONS))
    return compare(count, kwargs["relation"], kwargs["num_sentences"])


def number_words(text: str, kwargs: Kwargs) -> bool:
    return compare(count_words(re.sub("['’]", " ", text)), kwargs["relation"], kwargs["num_words"])


def constrained_response(text: str, kwargs: Kwargs) -> bool:
    return one_option(_OPTIONS, text)


def title(text: str, kwargs: Kwargs) -> bool:
    return any(map(has_word, _TITLE.findall(text)))


def quotation(text: str, kwargs: Kwargs) -> bool:
    body = text.strip()
    return len(body) > 2 and (body[0], body[-1]) in _PAIRS and has_word(body)


def french_capital(text: str, kwargs: Kwargs) -> bool:
    return in_capitals(text, "fr", _OPTIONS)


def french_lowercase(text: str, kwargs: Kwargs) -> bool:
    return in_small_letters(text, "fr", _OPTIONS)


def ethel_or_cedilla(text: str, kwargs: Kwargs) -> bool:
    return folded(kwargs["forbidden_char"]).casefold() not in folded(text).casefold()


def accents(text: str, kwargs: Kwargs) -> bool:
    wanted = {bare: _composed(word) for bare, word in kwargs["word_to_accentuate"].items()}
    said = set(re.findall(r"\w+", _composed(text)))
    wrong = any(wanted.get(without_marks(word), word) != word for word in said)
    return not wrong and 2 * len(said.intersection(wanted.values())) >= len(wanted)


def _composed(text: str) -> str:
    return folded(text).lower()


def without_marks(text: str) -> str:
    """Return the text without the marks over and under its letters."""
    apart = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def no_accents(text: str, kwargs: Kwargs) -> bool:
    letters = set(unicodedata.normalize("NFD", text))
    return not any(map(unicodedata.combining, letters))


def informal_address(text: str, kwargs: Kwargs) -> bool:
    said = folded(text).lower().replace("’", "'")
    familiar = sum(any(match.groups()) for match in _FAMILIAR.finditer(said))
    return familiar > len(_FORMAL.findall(said))


def no_digits(text: str, kwargs: Kwargs) -> bool:
    return re.search(r"\d", folded(text)) is None
