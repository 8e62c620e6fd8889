"""Splits a question into words, for n-grams, exact match and MinHash.

Numbers and + - < > are kept; otherwise ``x^2+5x+6`` and ``x^2-5x+6`` would be equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NUMBER_OR_SIGN = r"\d+(?:\.\d+)*|\++|<+|>+|-(?=\s*(?:[\d(.]|[a-z](?![a-z])))"
_ASCII_WORD = re.compile(rf"[a-z]+|{_NUMBER_OR_SIGN}")
_WORD = re.compile(rf"[^\W\d_{_CJK}]+|{_NUMBER_OR_SIGN}|[{_CJK}]")
"""A run of letters, a number, a sign (minus only before a number or a single letter), or a Chinese or Japanese
character.
"""

MARKS = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){32,}")
"""A run that may consist of combining marks, whose normalisation takes time quadratic in its length."""
_MAX_MARKS = 30

_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}(?:\s*\{[lcr|\s]*\})?")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)")
_VARIANT = re.compile(r"\\var(?=[a-z])")
_SPACING = re.compile(r"\\[!,;:>]")
_SILENT = re.compile(
    r"\\(?:[dtc]?frac|left|right|bigg?[lrm]?|displaystyle|textstyle|limits|nolimits|quad|qquad|"
    r"hspace|vspace|text(?:bf|it|rm|tt|sf|sc|up|normal)?|math(?:rm|bf|bb|cal|it|sf|scr|frak|tt|"
    r"op|bin|rel)?|operatorname|mbox|hbox|boldsymbol|emph|underline|overline|hline|item|noindent|"
    r"cdot|times|pm|mp|div|neq?|circ|degree|degrees|"
    r"[lv]?dots|cdots|ldots)(?![a-z])"
)
"""Layout commands, and operators that plain text writes as signs."""

_LESS = re.compile(r"\\(?:leq?|leqslant|lt)(?![a-z])")
_GREATER = re.compile(r"\\(?:geq?|geqslant|gt)(?![a-z])")
_GROUPED = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_LATEX_GROUPED = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!])(?=\d{3}(?!\d))")
_APOSTROPHES = str.maketrans("", "", "'\u2018\u2019\u02bc\u2032")
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u200c\u200d\u2060\ufeff")
"""Soft hyphens, zero-width spaces and joiners."""

_CYRILLIC = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
_CAPITALS = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
)
_GREEK_CAPITALS = (
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_LOOKALIKE = dict(
    zip(
        f"{_CYRILLIC}{_CAPITALS}{_GREEK_CAPITALS}\u03bf",
        "aeopcyxijshdqwABEKMHOPCTYXIJSABEZHIKMNOPTYXo",
        strict=True,
    )
)
_LATIN = re.compile(rf"(?<![^\W\d_])[A-Za-z{''.join(_LOOKALIKE)}]+(?![^\W\d_])")
"""A word of Latin letters and similar-looking Cyrillic and Greek letters."""
_LATIN_OF = str.maketrans(_LOOKALIKE)

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "sigma tau upsilon phi chi psi omega"
)
_SIGNS = {
    "≤": "<",
    "≥": ">",
    "−": "-",
    "–": "-",
    "√": "sqrt",
    "∞": "infty",
    "∠": "angle",
    "△": "triangle",
    "∑": "sum",
}
_NAMES = str.maketrans(
    {chr(0x3B1 + i): f" {name} " for i, name in enumerate(_GREEK.split())}
    | {sign: f" {name} " for sign, name in _SIGNS.items()}
)

SUFFIXES = (
    "Let's think step by step and output the final answer within \\boxed{}.",
    "Please reason step by step, and put your final answer within \\boxed{}.",
    "Put your final answer within \\boxed{}.",
    "Let's think step by step.",
    "Think step by step.",
    "Present the answer in LaTex format: \\boxed{Your answer}",
    "Write the final code in triple backticks.",
    "Give the final answer inside <answer></answer>.",
    (
        "Solve the following math problem step by step. The last line of your response should be of "
        "the form Answer: $Answer (without quotes) where $Answer is the answer to the problem."
    ),
    'Remember to put your answer on its own line after "Answer:".',
    (
        "Write Python code to solve the problem. Present the code in ```python Your code ``` at the "
        "end."
    ),
)
"""Sentences that data sets add to questions; they do not identify a question."""


def words(text: str) -> list[str]:
    r"""Return the lower-case words of ``text`` in order.

    ``The value of $\frac{1}{2}x$`` gives ``the value of 1 2 x``.
    """
    plain = text
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", MARKS.sub(_fewer_marks, text.translate(_INVISIBLE)))
        plain = _LATIN.sub(lambda word: word.group().translate(_LATIN_OF), plain)
    plain = plain.lower()
    if "\\" in plain or "[asy]" in plain or "{,}" in plain:
        head, *parts = plain.split("[asy]") if "[/asy]" in plain else [plain]
        pieces = [head]
        for part in parts:  # keep a figure without an end
            figure, end, following = part.partition("[/asy]")
            pieces.append(f" {following if end else figure}")
        plain = _LATEX_GROUPED.sub("", "".join(pieces))
        plain = _SHORT_FRACTION.sub(r" \1 \2 ", _ENVIRONMENT.sub(" ", plain))
        plain = _GREATER.sub(" > ", _LESS.sub(" < ", _SPACING.sub(" ", plain)))
        plain = _VARIANT.sub("", _SILENT.sub(" ", plain))
    plain = _GROUPED.sub("", plain)
    if plain.isascii():
        return _ASCII_WORD.findall(plain.replace("'", ""))
    return _WORD.findall(plain.translate(_APOSTROPHES).translate(_NAMES))


def _fewer_marks(run: re.Match[str]) -> str:
    """Keep only the first 30 of consecutive combining marks (UAX 15, 13.1)."""
    characters, marks = [], 0
    for character in run.group():
        is_mark = unicodedata.category(character).startswith("M") or character in "\uff9e\uff9f"
        marks = marks + 1 if is_mark else 0
        if marks <= _MAX_MARKS:
            characters.append(character)
    return "".join(characters)


_SUFFIX_PHRASES = sorted(
    (f" {' '.join(words(sentence))} " for sentence in SUFFIXES),
    key=lambda phrase: (-len(phrase), phrase),
)
"""The sentences of ``SUFFIXES`` as words, the longest first."""


def question_words(text: str) -> list[str]:
    """Return the words of ``text`` without the sentences of ``SUFFIXES``."""
    all_words = words(text)
    padded = remaining = f" {' '.join(all_words)} "
    for phrase in _SUFFIX_PHRASES:
        if phrase in remaining:
            remaining = remaining.replace(phrase, " ")
    return all_words if remaining is padded else remaining.split()


def normalise_question(text: str) -> str:
    """Return the words joined by spaces; copies of a question give equal strings.

    A text without words gives "", which matches nothing.
    """
    return " ".join(question_words(text))


_END = re.compile(r"""[.?!:;)](?=["')\]}$*\s]|$)|,(?=\s)|\n|[。？！：；，]""")
"""Possible ends of a sentence or clause."""


class Sentences:
    """The words of a text, divided into sentences and clauses."""

    def __init__(self, text: str, words: Callable[[str], Sequence[str]]) -> None:
        self._words: list[str] = []
        self._borders = {0}
        for part in _END.split(text):
            self._words += words(part)
            self._borders.add(len(self._words))

    def contains(self, question: Sequence[str]) -> bool:
        """Return True if a run of complete sentences or clauses equals ``question``."""
        target, size = list(question), len(question)
        return any(
            start + size in self._borders and self._words[start : start + size] == target
            for start in self._borders
        )
