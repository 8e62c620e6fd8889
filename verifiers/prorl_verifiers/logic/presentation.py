r"""What models put around an answer: code fences, bold, quotes, ``$``, ``\boxed{}``, "Answer:", a full stop.

``readings`` takes them off one after the other, so that each reading is a part of the text that leaves
nothing but presentation out: no reading chooses among several answers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

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
        inner = next((found for layer in _LAYERS if (found := layer(answer)) is not None), None)
        if not inner:
            return
        answer = inner
        yield answer


def _fence(text: str) -> str | None:
    if len(text) < 7 or not text.startswith("```") or not text.endswith("```"):
        return None
    inner = text[3:-3]
    mark = _FENCE_MARK.match(inner)
    return None if "```" in inner else inner[mark.end() if mark else 0 :].strip()


def _pair(text: str) -> str | None:
    for opening, closing in _PAIRS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : len(text) - len(closing)]
            power = opening == "**"  # no formula begins with one, so the outer ones are bold
            if inner.strip() and (power or (opening not in inner and closing not in inner)):
                return inner.strip()
    return None


def _command(text: str) -> str | None:
    match = _COMMAND.match(text)
    if match is None or not text.endswith("}"):
        return None
    depth = 1
    for place in range(match.end(), len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return text[match.end() : -1].strip() if place == len(text) - 1 else None
    return None


def _label(text: str) -> str | None:
    match = _LABEL.match(text)
    return text[match.end() :].strip() if match else None


def _variable(text: str) -> str | None:
    """``x = 5``: one letter and one equation."""
    match = _VARIABLE.match(text)
    return text[match.end() :].strip() if match and text.count("=") == 1 else None


def _full_stop(text: str) -> str | None:
    return text[:-1].strip() if text.endswith(".") and not text.endswith("..") else None


def _blank_lines(text: str) -> str | None:
    lines = text.split("\n")
    kept = [line for line in lines if line.strip()]
    return "\n".join(kept) if len(kept) < len(lines) else None


_LAYERS: tuple[Callable[[str], str | None], ...] = (
    *(_fence, _pair, _command, _label, _variable, _full_stop, _blank_lines),
)
