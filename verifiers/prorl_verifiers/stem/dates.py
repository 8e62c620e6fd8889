"""Calendar dates: ``July 4, 1776``, ``4 July 1776`` and ``1776-07-04`` are one; ``03/04/2005`` is read only where one part is above 12."""

from __future__ import annotations

import re
from datetime import date

_MONTHS = """january february march april may june july august september october november december""".split()  # noqa: SIM905
_NAME = "(?P<month>" + "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS) + "|sept)"
_SPELLINGS = (
    re.compile(
        rf"{_NAME}\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE
    ),
    re.compile(
        rf"(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_NAME}\.?,?\s+(?P<year>\d{{4}})",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<year>\d{4})[-/.](?P<number>\d{1,2})[-/.](?P<day>\d{1,2})"),
)
_SLASHES = re.compile(r"(\d{1,2})[/.](\d{1,2})[/.](\d{4})")
_WRAPPER = re.compile(r"\\(?:text|mathrm|mbox|textrm)\s*\{([^{}]*)\}")


def read_date(text: str) -> date | None:
    """Return the date that the whole of a text is, or None."""
    if len(text) > 100:
        return None
    text = " ".join(
        _WRAPPER.sub(r" \1 ", text).replace("\\", " ").replace("{,}", ",").strip(" .$").split()
    )
    slashes = _SLASHES.fullmatch(text)
    if slashes:
        first, second, year = map(int, slashes.groups())
        if (first > 12) == (second > 12) and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
        return _date(year, month, day)
    for spelling in _SPELLINGS:
        match = spelling.fullmatch(text)
        if match:
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else _month(parts["month"])
            return _date(int(parts["year"]), month, int(parts["day"]))
    return None


def _month(name: str) -> int:
    return next(
        at for at, month in enumerate(_MONTHS, start=1) if month.startswith(name.casefold()[:3])
    )


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
