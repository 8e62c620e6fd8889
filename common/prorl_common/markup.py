"""Escape untrusted text for web pages and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_REORDERS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that reorder the text around them (Unicode Standard Annex 9)."""
_LAST_OF_PLANES = "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
_UNSHOWN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # control characters except tab and newline
    rf"|[\ud800-\udfff\ufdd0-\ufdef{_LAST_OF_PLANES}]"  # lone surrogates, noncharacters
)
_MARKDOWN = re.compile(
    r"[\\`*<|~$&]"  # code, emphasis, HTML, cells, formulas, entities
    r"|(?<!\w)_|_(?!\w)"  # emphasis
    r"|\](?=[(\[:])"  # links and their definitions
    r"|^[#>+-]|(?<=^\d)[.)](?=\s)"  # headings, quotes and lists at the start of a line
)


def printable(value: object) -> str:
    """Return ``value`` as text that is safe to show on a web page.

    Control characters, surrogates and noncharacters become U+FFFD. Characters that reorder text become ``[U+XXXX]``.
    """
    text = _UNSHOWN.sub("\ufffd", str(value).replace("\r\n", "\n"))
    return _REORDERS.sub(lambda match: f"[U+{ord(match.group()):04X}]", text)


def md(value: object) -> str:
    """Return ``value`` escaped for a Markdown line or table cell."""
    line = " ".join(printable(value).split())
    return _MARKDOWN.sub(r"\\\g<0>", line)


def fence(value: object) -> str:
    """Return ``value`` as a Markdown code block."""
    text = printable(value)
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}text\n{text}\n{mark}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table of cells that are already escaped, or "" if there are no rows."""
    body = ["| " + " | ".join(str(cell) or " " for cell in row) + " |" for row in rows]
    if not body:
        return ""
    return "\n".join(["| " + " | ".join(head) + " |", "|" + " --- |" * len(head), *body])
