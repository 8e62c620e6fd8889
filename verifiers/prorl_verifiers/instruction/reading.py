"""A text as a reader sees it: without characters that leave no mark, lookalikes as the letters they pass for.

Mode ``fixed`` judges what is read, so that a soft hyphen or a Cyrillic letter hides no forbidden word. Both
functions are linear in the length of the text and leave plain text as it is.
"""

from __future__ import annotations

import re
import unicodedata

_ODD = re.compile(r"[^\t-\r -~]")
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters of other categories that show nothing: joiners, fillers, the blank Braille pattern."""
_SHOWN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Format characters that do show: signs around Arabic and Syriac numbers."""
_TWINS = str.maketrans(
    # Cyrillic
    "АВЕЗКМНОРСТУХЅІЈҺԚԜӀавеікмоорсухѕјһԁԛԝӏ"
    # Greek
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϳαιοορυνκ"
    # Armenian, Cherokee and letters of phonetic alphabets
    "ՏՍօսցհոԼᎪᏴᏟᎬᎻᎫᏦᏞᎷᏢᏚᎢᏙᏔᏃıɑɡᴄᴏᴜᴠᴡᴢ",
    "ABE3KMHOPCTYXSIJhQWIabeikmoopcyxsjhdqwl"
    "ABEZHIKMNOPTYXjaioopuvk"
    "SUoughnLABCEHJKLMPSTVWZiagcouvwz",
)
_SIGMAS = str.maketrans("ϲϹ", "cC")
"""The sigmas that look like a C; as compatibility forms they would become other ones."""
_WORD = re.compile(r"[^\W\d_]+")
_OVERLAID = frozenset(("LATIN", "GREEK", "CYRILLIC"))


def visible(text: str) -> str:
    """Return the text without the characters that leave no mark (zero-width, soft hyphen, controls)."""
    if _ODD.search(text) is None:
        return text
    return text.translate({ord(letter): None for letter in set(text) if _unseen(letter)})


def _unseen(letter: str) -> bool:
    if letter in _BLANKS or 0xFE00 <= ord(letter) <= 0xFE0F or 0xE0100 <= ord(letter) <= 0xE01EF:
        return True
    category = unicodedata.category(letter)
    if category == "Cc":
        return not letter.isspace()
    return category == "Cf" and letter not in _SHOWN


def folded(text: str) -> str:
    """Return the text in plain letters: compatibility forms as their letters (``ｃａｔ``), without marks laid over
    a Latin, Greek or Cyrillic letter that form no letter with it, and lookalikes as Latin letters.

    A lookalike counts as its Latin twin in a word with Latin letters, and everywhere in a text where no word
    holds a letter of a foreign alphabet without a twin: such a text is not written in that alphabet.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.translate(_SIGMAS))
    marks = {letter for letter in set(text) if unicodedata.combining(letter)}
    if marks:
        text = re.sub(f"(?<=[^\\W\\d_])[{''.join(map(re.escape, marks))}]+", _kept_marks, text)
    letters = set(filter(str.isalpha, text))
    twins = {letter for letter in letters if ord(letter) in _TWINS}
    latin = {letter for letter in letters if _alphabet(letter) == "LATIN"} - twins
    if not twins:
        return text
    foreign = any(map(_foreign, letters))
    if foreign and not _beside(latin, twins, text):
        return text

    def plain(match: re.Match[str]) -> str:
        word = match.group()
        return word.translate(_TWINS) if not (foreign and latin.isdisjoint(word)) else word

    return _WORD.sub(plain, text)


def _beside(latin: set[str], twins: set[str], text: str) -> bool:
    """Whether a Latin letter and a lookalike of another alphabet stand beside each other."""
    if not latin:
        return False
    one, other = (f"[{''.join(sorted(letters))}]" for letters in (latin, twins))
    return re.search(f"{one}{other}|{other}{one}", text) is not None


def _kept_marks(match: re.Match[str]) -> str:
    return "" if _alphabet(match.string[match.start() - 1]) in _OVERLAID else match.group()


def _foreign(letter: str) -> bool:
    """Whether the letter is of an alphabet with lookalikes and is none itself."""
    twins = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE")
    return letter.isalpha() and ord(letter) not in _TWINS and _alphabet(letter) in twins


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def spellings(word: str) -> list[str]:
    """Return the forms in which ``word`` may stand in a ``folded`` text: itself, its Latin twin in either case."""
    plain = unicodedata.normalize("NFKC", word)
    return list(dict.fromkeys((plain, plain.translate(_TWINS), plain.upper().translate(_TWINS))))
