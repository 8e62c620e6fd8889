"""Text, numbers and escapes of the report: nothing a model or a dataset wrote can act as markup.

Leaves out: tables (``report.tables``) and figures (``report.figures``).
"""

from __future__ import annotations

import html
import math
import re

from prorl_evaluation.stats.intervals import Interval

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that reorder the text around them (Unicode Standard Annex 9)."""
_MARKDOWN = re.compile(
    r"[\\`*<|~$&]"  # code, emphasis, HTML, cells, formulas, entities
    r"|(?<!\w)_|_(?!\w)"  # emphasis
    r"|\](?=[(\[:])"  # links and their definitions
    r"|^[#>+-]|(?<=^\d)[.)](?=\s)"  # headings, quotes and lists at the start of a line
)


def printable(value: object) -> str:
    """Return ``value`` as text a page may hold.

    Controls, lone surrogates and noncharacters become U+FFFD; what would reorder the line is spelled
    out, as in ``[U+202E]``.
    """
    return "".join(_shown(c) for c in str(value).replace("\r\n", "\n"))


def _shown(c: str) -> str:
    if c in _BIDI:
        return f"[U+{ord(c):04X}]"
    code = ord(c)
    control = (code < 0x20 and c not in "\n\t") or 0x7F <= code < 0xA0
    surrogate = 0xD800 <= code < 0xE000
    nothing = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0
    return "\ufffd" if control or surrogate or nothing else c


def text(value: object) -> str:
    """Return ``value`` as text that is safe in HTML and SVG, in attributes too; see ``printable``."""
    return html.escape(printable(value), quote=True)


def md(value: object) -> str:
    """Return ``value`` as text that is safe in a line or table cell of Markdown."""
    line = " ".join(printable(value).split())
    return _MARKDOWN.sub(r"\\\g<0>", line)


def fence(value: object) -> str:
    """Return ``value`` as a fenced Markdown block whose fence is longer than any in it."""
    shown = printable(value)
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}text\n{shown}\n{mark}"


def number(value: float, digits: int = 3) -> str:
    """Return a number, or a dash when it is not one; a minus sign where a minus is."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Return a difference with its sign."""
    return "–" if not math.isfinite(value) else f"{value:+.{digits}f}".replace("-", "−")


def percent(value: float) -> str:
    """Return a share as a percentage."""
    return "–" if not math.isfinite(value) else f"{100 * value:.1f}%"


def p_value(value: float) -> str:
    """Return a p-value as people write one."""
    if math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def with_range(interval: Interval, digits: int = 3) -> str:
    """Return value and interval for a table cell; an interval without spread says so."""
    if interval.count == 0:
        return "–"
    value = number(interval.value, digits)
    if interval.degenerate:
        return f"{value}<span class='range'>[no spread]{interval.part}</span>"
    bounds = f"[{number(interval.low, digits)}, {number(interval.high, digits)}]"
    return f"{value}<span class='range'>{bounds}{interval.part}</span>"


def signed_range(interval: Interval, digits: int = 3) -> str:
    """Return a difference and its interval for a table cell."""
    if interval.count == 0:
        return "–"
    bounds = f"[{signed(interval.low, digits)}, {signed(interval.high, digits)}]"
    return f"{signed(interval.value, digits)}<span class='range'>{bounds}{interval.part}</span>"
