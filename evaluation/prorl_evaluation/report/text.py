"""Numbers as the report writes them, and foreign text made safe for Markdown (HTML: ``prorl_common.markup``)."""

from __future__ import annotations

import math
import re

from prorl_common.markup import printable

_MARKDOWN = re.compile(
    r"[\\`*<|~$&]"  # code, emphasis, HTML, cells, formulas, entities
    r"|(?<!\w)_|_(?!\w)"  # emphasis
    r"|\](?=[(\[:])"  # links and their definitions
    r"|^[#>+-]|(?<=^\d)[.)](?=\s)"  # headings, quotes and lists at the start of a line
)


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
    return "–" if not math.isfinite(value) else f"{value:.{digits}f}".replace("-", "−")


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
