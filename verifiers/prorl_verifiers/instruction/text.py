"""Splits a text into words, sentences and paragraphs, ignoring invisible characters."""

from __future__ import annotations

import re
import unicodedata

from prorl_verifiers.findings import note

_ODD = re.compile(r"[^\t-\r -~]")
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Invisible characters besides format and control characters: joiners, fillers, blank Braille."""
_SHOWN = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Visible format characters around Arabic and Syriac numbers."""
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
"""Sigmas that look like C; NFKC would replace them by other sigmas."""
_WORD = re.compile(r"[^\W\d_]+")
_OVERLAID = frozenset(("LATIN", "GREEK", "CYRILLIC"))
_ALPHABETS_OF_TWINS = frozenset(("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"))


def visible(text: str) -> str:
    if _ODD.search(text) is None:
        return text
    return text.translate({ord(letter): None for letter in set(text) if _is_invisible(letter)})


def _is_invisible(letter: str) -> bool:
    if letter in _BLANKS or 0xFE00 <= ord(letter) <= 0xFE0F or 0xE0100 <= ord(letter) <= 0xE01EF:
        return True
    category = unicodedata.category(letter)
    if category == "Cc":
        return not letter.isspace()
    return category == "Cf" and letter not in _SHOWN


def folded(text: str) -> str:
    """Apply NFKC, remove extra combining marks, and replace letters that look Latin by Latin ones."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text.translate(_SIGMAS))
    marks = {letter for letter in set(text) if unicodedata.combining(letter)}
    if marks:
        text = re.sub(
            f"(?<=[^\\W\\d_])[{''.join(map(re.escape, marks))}]+",
            lambda m: "" if _alphabet(text[m.start() - 1]) in _OVERLAID else m.group(),
            text,
        )
    letters = set(filter(str.isalpha, text))
    twins = {letter for letter in letters if ord(letter) in _TWINS}
    latin = {letter for letter in letters if _alphabet(letter) == "LATIN"} - twins
    if not twins:
        return text
    foreign = any(
        ord(letter) not in _TWINS and _alphabet(letter) in _ALPHABETS_OF_TWINS for letter in letters
    )
    if foreign:
        if not latin:
            return text
        one, other = (f"[{''.join(sorted(group))}]" for group in (latin, twins))
        if re.search(f"{one}{other}|{other}{one}", text) is None:
            return text

    def plain(match: re.Match[str]) -> str:
        word = match.group()
        return word.translate(_TWINS) if not (foreign and latin.isdisjoint(word)) else word

    return _WORD.sub(plain, text)


def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def spellings(word: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", word)
    return list(dict.fromkeys((plain, plain.translate(_TWINS), plain.upper().translate(_TWINS))))


_COUNTED_WORD = re.compile(r"[^\W_]+(?:['’‘-][^\W_]+)*")
_COUNTED = re.compile(r"\w+(?:['’‘]\w+)*")
ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof sr jr st vs etc e.g i.e inc ltd co corp dept est fig gen gov hon no vol rev approx
    jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m p.s p.p.s d.c ph.d""".split()  # noqa: SIM905
)
"""English abbreviations in lowercase, without the final full stop."""
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_]){0,7}|ph\.d", re.IGNORECASE)
_MAY_END = frozenset("etc inc ltd co corp jr sr no".split())  # noqa: SIM905
_NEVER_ENDS = frozenset({"e.g", "i.e", "p.s", "p.p.s"})
_NEXT_SENTENCE = re.compile(
    r"\s+[\"'“‘(*_]*(?:The|It|He|She|They|We|You|This|That|These|Those|There|In|If|When|While|But|So|Then|However|My|Our|His|Her"
    r"|Their|Its|I)(?![\w.])"
)
"""A word that begins a sentence after an abbreviation: ``U.S. It``, but not ``U.S. Army``."""
_SENTENCE_END = re.compile(
    r"(?<![.!?…])([.!?…]++)[\"'”’)\]*_]*+(?=\s|$)|[。！？]++[”’」』）]*+|[।؟۔]++(?=\s|$)"
)
_LIST_MARK = re.compile(r"[ \t>*#_-]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})")
_BLANK_LINES = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)*\n")
_DIVIDER = re.compile(r"(?:^|(?<=\s))\*{3}(?=\s|$)")
_SIX = re.compile(r"(?<!\*)\*{6}(?!\*)")


def words(text: str) -> list[str]:
    return _COUNTED_WORD.findall(text)


def count_words(text: str) -> int:
    """Count the words of a text: ``don't`` is one word, ``well-known`` two."""
    text = visible(text)
    if not text.isascii():
        marks = {mark for mark in set(text) if unicodedata.category(mark)[0] == "M"}
        text = text.translate(dict.fromkeys(map(ord, marks)))
    return sum(not run.isascii() or has_word(run) for run in _COUNTED.findall(text))


def has_word(text: str) -> bool:
    return _COUNTED_WORD.search(text) is not None


def sentences(text: str) -> list[str]:
    """Return the sentences that contain a letter or digit, without surrounding white space.

    Abbreviations, initials (``J.``) and list marks (``1.``) do not end a sentence.
    """
    pieces, last = [], 0
    for match in _SENTENCE_END.finditer(text):
        if (
            match.group(1) == "."
            and match.end() < len(text)
            and _sentence_continues(text, last, match)
        ):
            continue
        pieces.append(text[last : match.end()])
        last = match.end()
    pieces.append(text[last:])
    return [part for part in map(str.strip, pieces) if has_word(part)]


def _sentence_continues(text: str, last: int, match: re.Match[str]) -> bool:
    start = match.start()
    floor = max(last, start - 24)
    line = text.rfind("\n", floor, start) + 1
    if (line or floor == 0) and _LIST_MARK.fullmatch(text, line, start):
        return True
    before = text[floor:start].replace("!", " ").replace("?", " ")
    word = "" if not before or before[-1].isspace() else before.split()[-1].strip("\"'“”‘’([*_")
    low = word.casefold()
    acronym = _ACRONYM.fullmatch(word) is not None and (len(word) > 1 or word.isupper())
    if (acronym or low in _MAY_END) and low not in _NEVER_ENDS:
        return _NEXT_SENTENCE.match(text, match.end()) is None
    return low in ABBREVIATIONS


def count_sentences(text: str) -> int:
    return len(sentences(text))


def split_at_dividers(text: str) -> list[str]:
    return [part.strip() for part in _DIVIDER.split(text)]


def split_at_six_stars(text: str) -> list[str]:
    return [part.strip() for part in _SIX.split(text)]


def paragraphs(text: str) -> list[str]:
    return [part.strip() for part in _BLANK_LINES.split(text) if part.strip()]


def ends_trimmed(parts: list[str]) -> list[str]:
    """Remove the first and the last part if they contain no letter or digit."""
    first = 1 if parts and not has_word(parts[0]) else 0
    last = len(parts) - 1 if len(parts) > first and not has_word(parts[-1]) else len(parts)
    return parts[first:last]


def single_spaced(text: str) -> str:
    return " ".join(text.split())


def _separates_words(letter: str) -> bool:
    return letter.isalnum() and (ord(letter) < 0x0530 or 0x1E00 <= ord(letter) < 0x2000)


def word_pattern(word: str) -> re.Pattern[str]:
    left = r"(?<![^\W_])" if _separates_words(word.strip()[:1]) else ""
    right = r"(?![^\W_])" if _separates_words(word.strip()[-1:]) else ""
    forms = (r"\s+".join(map(re.escape, form.split())) for form in spellings(word))
    return re.compile(f"{left}(?:{'|'.join(forms)}){right}", re.IGNORECASE)


def occurrences(word: str, text: str) -> int:
    return sum(1 for _ in word_pattern(word).finditer(folded(text)))


def has_phrase(word: str, text: str) -> bool:
    return word_pattern(word).search(folded(text)) is not None


def same_word(left: str, right: str) -> bool:
    return left.casefold() == right.casefold()


def compare(count: int, relation: str, limit: int) -> bool:
    """Return whether ``count`` satisfies "{relation} {limit}", such as "at least 3", and record a finding."""
    met = {
        "at least": count >= limit,
        "less than": count < limit,
        "at most": count <= limit,
        "more than": count > limit,
        "exactly": count == limit,
    }[relation]
    note("counted", met, {"there are": count, "wanted": f"{relation} {limit}"})
    return met


def note_search(word: str, found: bool) -> bool:
    note("looked for", None, {"word": word, "found": "yes" if found else "no"})
    return found
