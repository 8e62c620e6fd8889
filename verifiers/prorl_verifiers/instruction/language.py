"""Detects the language of a text with py3langid."""

from __future__ import annotations

import re

LANGUAGES = frozenset(
    "en es pt ar hi fr ru de ja it bn uk th ur ta te bg ko pl he fa vi ne sw kn mr gu pa ml fi".split()  # noqa: SIM905
)
"""Codes of IFEval's 30 languages."""
MORE_LANGUAGES = frozenset("zh cs nl sv tr el ro hu da id ca no sk".split())  # noqa: SIM905
"""Codes of further languages that mode ``fixed`` supports."""
_PLAIN = re.compile("[a-z]")
_NOTHING = "zxx"
_NO_EVIDENCE = -1e30
_TIE = 3.0
"""Difference in log-probability (nats) that counts as a tie."""
_KIN = tuple(
    frozenset(group.split())
    for group in ("ru uk bg", "hi mr ne", "es pt it ca", "ar fa ur", "no da sv", "cs sk")
)
"""Similar languages. Between them a difference of up to ``_KIN_TIE`` counts as a tie."""
_KIN_TIE = 6.0
_DENSE = frozenset("ja ko zh th".split())  # noqa: SIM905
_FEWEST = 10
"""Minimum letters of a text; a third of this in ``_DENSE`` languages."""
_LINE = 25
"""Minimum letters of a line whose language is detected separately."""
_MOST_LINES = 500
"""Maximum number of lines whose language is detected, evenly spread over the text."""
_FOREIGN = 0.1
"""Maximum fraction of letters in lines of other languages."""


def is_language(text: str, code: str) -> bool:
    """Return whether at least 90 % of the text is in the language ``code``, compared with IFEval's 30 languages.

    Returns False for a text that is too short to tell.
    """
    code = code.split("-")[0].lower()
    if _letters(text) < (_FEWEST // 3 if code in _DENSE else _FEWEST) or not _is_likeliest(
        text, code
    ):
        return False
    return _holds_throughout(text, code)


def _holds_throughout(text: str, code: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return True
    sizes = list(map(_letters, lines))
    long = [(size, line) for size, line in zip(sizes, lines, strict=True) if size >= _LINE]
    step = max(1, len(long) / _MOST_LINES)
    checked = [long[int(at * step)] for at in range(min(len(long), _MOST_LINES))]
    foreign = sum(size for size, line in checked if not _is_likeliest(line, code, _TIE))
    share = sum(size for size, _ in long) / max(1, sum(size for size, _ in checked))
    return foreign * share <= _FOREIGN * sum(sizes)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _is_likeliest(text: str, code: str, tie: float = 0.0) -> bool:
    from prorl_verifiers.instruction.loaded_langid import ranked

    scores = {
        name: score for name, score in ranked(text) if name in LANGUAGES or name in (code, _NOTHING)
    }
    score = scores.get(code, _NO_EVIDENCE)
    kin = frozenset().union(*(group for group in _KIN if code in group))
    return score > _NO_EVIDENCE and all(
        score >= other - (_KIN_TIE if name in kin else tie) for name, other in scores.items()
    )


def is_english(text: str) -> bool:
    text = text.lower()
    letters, plain = _letters(text), len(_PLAIN.findall(text))
    return (
        letters > 0
        and plain >= 0.9 * letters
        and _is_likeliest(text, "en", _TIE)
        and _holds_throughout(text, "en")
    )
