"""Is a text in a language, by py3langid: the fixed checks' answer.

A text in which nothing can be told (blank, digits, one short word, random letters) is in no language, and
one with whole lines in another language is not entirely in any.
"""

from __future__ import annotations

import re

LANGUAGES = frozenset(
    "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split()  # noqa: SIM905
)
"""The 30 codes that IFEval uses."""
MORE_LANGUAGES = frozenset("zh cs nl sv tr el ro hu da id ca no sk".split())  # noqa: SIM905
"""Further codes the fixed check can tell."""
_PLAIN = re.compile("[a-z]")
_NOTHING = "zxx"
_NO_EVIDENCE = -1e30
_TIE = 3.0
"""Nats: English this close to the best language is English, so that a line of capitals is not lost."""
_KIN = tuple(
    frozenset(group.split())
    for group in ("ru uk bg", "hi mr ne", "es pt it ca", "ar fa ur", "no da sv", "cs sk")
)
"""Languages that lie close on short texts: among them a wider tie holds."""
_KIN_TIE = 6.0
_DENSE = frozenset("ja ko zh th".split())  # noqa: SIM905
_FEWEST = 10
"""Letters below which a text is too short to be told (a third of it in ``_DENSE`` languages)."""
_LINE = 25
"""Letters from which on a line is long enough to be told by itself."""
_MOST_LINES = 500
"""Of a text with more lines that are long enough, so many are looked at, evenly spread."""
_FOREIGN = 0.1
"""Share of the letters that may stand in lines of another language."""


def is_language(text: str, code: str) -> bool:
    """Whether the text is in the language of ``code``, as a whole and line by line.

    A language is the likeliest of IFEval's 30 and ``code``, near kin aside; at most a tenth of the letters may stand in
    lines (of 25 letters or more) of another one.
    """
    code = code.split("-")[0].lower()
    if _letters(text) < (_FEWEST // 3 if code in _DENSE else _FEWEST) or not _told(text, code):
        return False
    return _throughout(text, code)


def _throughout(text: str, code: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return True
    sizes = list(map(_letters, lines))
    long = [(size, line) for size, line in zip(sizes, lines, strict=True) if size >= _LINE]
    step = max(1, len(long) / _MOST_LINES)
    seen = [long[int(at * step)] for at in range(min(len(long), _MOST_LINES))]
    foreign = sum(size for size, line in seen if not _told(line, code, _TIE))
    share = sum(size for size, _ in long) / max(1, sum(size for size, _ in seen))
    return foreign * share <= _FOREIGN * sum(sizes)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _told(text: str, code: str, tie: float = 0.0) -> bool:
    from prorl_verifiers.instruction.loaded_langid import ranked

    known = {
        name: score for name, score in ranked(text) if name in LANGUAGES or name in (code, _NOTHING)
    }
    score = known.get(code, _NO_EVIDENCE)
    kin = frozenset().union(*(group for group in _KIN if code in group))
    return score > _NO_EVIDENCE and all(
        score >= other - (_KIN_TIE if name in kin else tie) for name, other in known.items()
    )


def is_english(text: str) -> bool:
    """Whether nine of ten letters are a-z and the language, told on the lowercase text, is English."""
    text = text.lower()
    letters, plain = _letters(text), len(_PLAIN.findall(text))
    return (
        letters > 0
        and plain >= 0.9 * letters
        and _told(text, "en", _TIE)
        and _throughout(text, "en")
    )
