r"""What models put around an answer: code fences, bold, quotes, ``$``, ``\boxed{}``, "Answer:", a full stop.

``readings`` takes them off one after the other, so that each reading is a part of the text that leaves
nothing but presentation out: no reading chooses among several answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prorl_verifiers.extract import closing_bracket

MOST_LAYERS = 6
_PAIRS = (
    *(("**", "**"), ("*", "*"), ("`", "`"), ("$$", "$$"), ("$", "$")),
    *(("\\(", "\\)"), ("\\[", "\\]"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d")),
)
_COMMAND = re.compile(r"\\(?:boxed|fbox|text(?:bf|it|rm|tt)?|math(?:bf|it|rm|tt))\{")
_WORDS = r"(?:the\s{1,3})?(?:(?:final|correct)\s{1,3})?answer"
_LABEL = re.compile(
    rf"(?:\*\*{_WORDS}\s?(?:is)?\s?:?\*\*\s?:?|{_WORDS}\s{{0,3}}(?:is\s{{0,3}}:?|:|=))\s*",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Za-z]\s{0,3}=(?!=)")
_FENCE_MARK = re.compile(r"[\w+-]{0,20}[^\S\n]*\n")


def readings(answer: str) -> Iterator[str]:
    """Yield ``answer`` as it stands, then with one more layer of presentation taken off each time."""
    yield answer
    for _ in range(MOST_LAYERS):
        inner = _without_layer(answer)
        if not inner:
            return
        answer = inner
        yield answer


def _without_layer(text: str) -> str | None:
    """Return ``text`` without the first kind of presentation that is there; None where there is none."""
    if len(text) >= 7 and text.startswith("```") and text.endswith("```"):
        inner = text[3:-3]
        mark = _FENCE_MARK.match(inner)
        if "```" not in inner:
            return inner[mark.end() if mark else 0 :].strip()
    for opening, closing in _PAIRS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : len(text) - len(closing)]
            power = opening == "**"  # no formula begins with one, so the outer ones are bold
            if inner.strip() and (power or (opening not in inner and closing not in inner)):
                return inner.strip()
    command = _COMMAND.match(text)
    if command is not None and closing_bracket(text, command.end()) == len(text) - 1:
        return text[command.end() : -1].strip()
    label = _LABEL.match(text)
    if label is not None:
        return text[label.end() :].strip()
    variable = _VARIABLE.match(text)
    # x = 5: one letter, one equation and a value (P = Q says something about two letters)
    if variable is not None and text.count("=") == 1 and re.search(r"\d", text):
        return text[variable.end() :].strip()
    if text.endswith(".") and not text.endswith(".."):
        return text[:-1].strip()
    lines = text.split("\n")
    kept = [line for line in lines if line.strip()]
    return "\n".join(kept) if len(kept) < len(lines) else None
