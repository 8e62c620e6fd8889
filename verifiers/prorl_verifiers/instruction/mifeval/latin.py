"""What the fixed checks of the Spanish and the French constraints share: case, words, whole answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from prorl_verifiers.instruction.language import is_language
from prorl_verifiers.instruction.reading import folded
from prorl_verifiers.instruction.text import paragraphs, same_word, words


def in_capitals(text: str, language: str, options: Sequence[str]) -> bool:
    """Whether no letter is a small one, one is a capital, and the language, told on the small letters, is right.

    Ordinal marks (``1.ª``, ``n.º``, ``1ᵉʳ``) are neither. One of the ``options`` alone, too short to tell a language by,
    is in the language.
    """
    return _cases(text) == {"Lu"} and _is_in(text, language, options)


def in_small_letters(text: str, language: str, options: Sequence[str]) -> bool:
    """Whether no letter is a capital, one is a small one, and the language is right (see ``in_capitals``)."""
    return _cases(text) == {"Ll"} and _is_in(text, language, options)


def _is_in(text: str, language: str, options: Sequence[str]) -> bool:
    said = unicodedata.normalize("NFC", text).lower()
    return said.strip() in [option.lower() for option in options] or is_language(said, language)


def _cases(text: str) -> set[str]:
    return {"Lu", "Lt", "Ll"} & {unicodedata.category(letter) for letter in set(text)}


def words_with(letters: str, text: str) -> int:
    """Return how many words hold one of the small ``letters`` or its capital, composed or not."""
    return len([word for word in words(folded(text).lower()) if not set(letters).isdisjoint(word)])


def one_option(options: Sequence[str], text: str) -> bool:
    """Whether exactly one of the options stands in the text, not as the end of a longer word."""
    said = unicodedata.normalize("NFC", text)
    return (
        sum(re.search(rf"(?<!\w){re.escape(option)}", said) is not None for option in options) == 1
    )


def begins_paragraph(text: str, paragraph: int, of: int, phrase: str) -> bool:
    """Whether there are ``of`` paragraphs between blank lines and the one asked for begins with the phrase."""
    parts = paragraphs(text)
    if len(parts) != of:
        return False
    wanted = words(folded(phrase))
    said = words(folded(parts[paragraph - 1]))[: len(wanted)]
    return len(said) == len(wanted) > 0 and all(map(same_word, said, wanted))
