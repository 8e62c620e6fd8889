"""Words, sentences and paragraphs as the fixed checks see them.

Every function is linear in the length of the text. Scripts without spaces between words are counted
by runs of letters, as the published word count does.
"""

from __future__ import annotations

import re
import unicodedata

from prorl_verifiers.findings import note
from prorl_verifiers.instruction.reading import folded, spellings, visible

_WORD = re.compile(r"[^\W_]+(?:['’‘-][^\W_]+)*")
_COUNTED = re.compile(r"\w+(?:['’‘]\w+)*")
ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof sr jr st vs etc e.g i.e inc ltd co corp dept est fig gen gov hon no vol rev approx
    jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m p.s p.p.s d.c ph.d""".split()  # noqa: SIM905
)
"""Of English, in lowercase, without the last full stop."""
_SENTENCE_END = re.compile(
    r"(?<![.!?…])([.!?…]++)[\"'”’)\]*_]*+(?=\s|$)|[。！？]++[”’」』）]*+|[।؟۔]++(?=\s|$)"
)
_LIST_MARK = re.compile(r"[ \t>*#_-]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)*\n")
_DIVIDER = re.compile(r"(?:^|(?<=\s))\*{3}(?=\s|$)")
_SIX = re.compile(r"(?<!\*)\*{6}(?!\*)")


def words(text: str) -> list[str]:
    """Return the words: runs of letters and digits, joined by an apostrophe or a hyphen."""
    return _WORD.findall(text)


def count_words(text: str) -> int:
    """Return the number of words that hold a letter or digit: runs of word characters, joined by an apostrophe
    (``don't`` is one word, ``well-known`` two, as published).

    Combining marks (the vowel signs of Hindi and its like) and characters that leave no mark do not end a run.
    """
    text = visible(text)
    if not text.isascii():
        marks = {mark for mark in set(text) if unicodedata.category(mark)[0] == "M"}
        text = text.translate(dict.fromkeys(map(ord, marks)))
    return sum(not run.isascii() or has_word(run) for run in _COUNTED.findall(text))


def has_word(text: str) -> bool:
    """Whether there is any letter or digit."""
    return _WORD.search(text) is not None


def sentences(text: str, abbreviations: frozenset[str] = ABBREVIATIONS) -> list[str]:
    """Return the sentences that hold a letter or digit, stripped.

    A sentence ends at . ! ? or an ellipsis before white space, or at a full stop of another script. A
    known abbreviation, an initial (``J.``) and the mark of a list item (``1.``) end none; line breaks do
    not either. Text behind the last end is one more sentence.
    """
    pieces, last = [], 0
    for match in _SENTENCE_END.finditer(text):
        if (
            match.group(1) == "."
            and match.end() < len(text)
            and _goes_on(text, last, match, abbreviations)
        ):
            continue
        pieces.append(text[last : match.end()])
        last = match.end()
    pieces.append(text[last:])
    return [part for part in map(str.strip, pieces) if has_word(part)]


def _goes_on(text: str, last: int, match: re.Match[str], abbreviations: frozenset[str]) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or a list mark."""
    start = match.start()
    floor = max(last, start - 24)
    line = text.rfind("\n", floor, start) + 1
    if (line or floor == 0) and _LIST_MARK.fullmatch(text, line, start):
        return True
    before = text[floor:start].replace("!", " ").replace("?", " ")
    word = "" if not before or before[-1].isspace() else before.split()[-1].strip("\"'“”‘’([*_")
    initial = len(word) == 1 and word.isalpha() and word.isupper()
    return initial or word.casefold() in abbreviations


def count_sentences(text: str) -> int:
    """Return how many ``sentences`` there are."""
    return len(sentences(text))


def divided(text: str) -> list[str]:
    """Return the parts between ``***`` dividers (white space around them), stripped."""
    return [part.strip() for part in _DIVIDER.split(text)]


def six_stars(text: str) -> list[str]:
    """Return the parts between runs of exactly six asterisks, stripped."""
    return [part.strip() for part in _SIX.split(text)]


def paragraphs(text: str) -> list[str]:
    """Return the parts between blank lines that are not blank."""
    return [part.strip() for part in _BLANK_LINES.split(text) if part.strip()]


def ends_trimmed(parts: list[str]) -> list[str]:
    """Return ``parts`` without a blank first and last one (a text may begin or end with a divider)."""
    first = 1 if parts and not has_word(parts[0]) else 0
    last = len(parts) - 1 if len(parts) > first and not has_word(parts[-1]) else len(parts)
    return parts[first:last]


def squeezed(text: str) -> str:
    """Return the text with every run of white space as one space, none at the ends."""
    return " ".join(text.split())


def _spaced(letter: str) -> bool:
    """Whether the letter belongs to a script that separates words (Latin, Greek, Cyrillic, digits)."""
    return letter.isalnum() and (ord(letter) < 0x0530 or 0x1E00 <= ord(letter) < 0x2000)


def word_pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a whole word or phrase in a ``folded`` text: any case, literal, any white space inside.

    The ends are bounded only where the script separates words; ``_`` and punctuation are no letters.
    """
    left = r"(?<![^\W_])" if _spaced(word.strip()[:1]) else ""
    right = r"(?![^\W_])" if _spaced(word.strip()[-1:]) else ""
    forms = (r"\s+".join(map(re.escape, form.split())) for form in spellings(word))
    return re.compile(f"{left}(?:{'|'.join(forms)}){right}", re.IGNORECASE)


def occurrences(word: str, text: str) -> int:
    """Return how often the word or phrase stands in the text as it is read (whole, any case, no overlap)."""
    return sum(1 for _ in word_pattern(word).finditer(folded(text)))


def stands(word: str, text: str) -> bool:
    """Whether the word or phrase stands in the text as it is read (whole, any case)."""
    return word_pattern(word).search(folded(text)) is not None


def same_word(left: str, right: str) -> bool:
    """Whether two words are the same but for case."""
    return left.casefold() == right.casefold()


def compare(count: int, relation: str, wanted: int) -> bool:
    """Return whether the count stands in the relation to what is wanted (see ``instruction.kwargs``); it is noted."""
    met = {
        "at least": count >= wanted,
        "less than": count < wanted,
        "at most": count <= wanted,
        "more than": count > wanted,
        "exactly": count == wanted,
    }[relation]
    note("counted", met, {"there are": count, "wanted": f"{relation} {wanted}"})
    return met


def looked_for(word: str, there: bool) -> bool:
    """Return ``there``, whether a word was found; it is noted."""
    note("looked for", None, {"word": word, "found": "yes" if there else "no"})
    return there
