"""Is a text in a language, by py3langid: the fixed checks' answer.

A text in which nothing can be told (blank, digits, one short word, random letters) is in no language, and
one with whole lines in another language is not entirely in any.
"""

from __future__ import annotations

LANGUAGES = frozenset(
    "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split()  # noqa: SIM905
)
"""The 30 codes that IFEval uses."""
MORE_LANGUAGES = frozenset("zh cs nl sv tr el ro hu da id ca no sk".split())  # noqa: SIM905
"""Further codes the fixed check can tell."""
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
    foreign = sum(
        _letters(line) for line in lines if _letters(line) >= _LINE and not _told(line, code, _TIE)
    )
    return foreign <= _FOREIGN * _letters(text)


def _letters(text: str) -> int:
    return sum(letter.isalpha() for letter in text)


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
    letters = sum(letter.isalpha() for letter in text)
    plain = sum("a" <= letter <= "z" for letter in text.lower())
    text = text.lower()
    return (
        letters > 0
        and plain >= 0.9 * letters
        and _told(text, "en", _TIE)
        and _throughout(text, "en")
    )
