"""Rules for dates and times: durations computed again, weekdays that the question does not fix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule

_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{3})?)?")
_HALF_MINUTE = 30


def _duration(entry: Mapping[str, Any]) -> Flaw | None:
    """time_intervals: milliseconds are lost to floats; minutes are cut where the question shows seconds."""
    given, answer = entry["metadata"], str(entry["answer"])
    shown = [_seconds(clock) for clock in _CLOCK.findall(str(entry["question"]))]
    if len(shown) != 2:  # days alone
        return None
    apart = shown[1] - shown[0]
    if str(given["task_type"]).startswith("time"):
        if apart < 0:
            return Flaw("impossible", "the end comes before the start")
        if _seconds(answer) != apart - (apart % 60 if given["expected_format"] == "HH:MM" else 0):
            return Flaw("wrong answer", f"{apart} seconds, not {answer}")
    if str(given["expected_format"]).endswith("HH:MM") and apart % 60 >= _HALF_MINUTE:
        return Flaw("ambiguous", "the minutes may be cut or rounded")
    return None


def _seconds(clock: str) -> Decimal:
    hours, minutes, *seconds = clock.split(":")
    return Decimal(int(hours) * 3600 + int(minutes) * 60) + Decimal(seconds[0] if seconds else 0)


def _weekday(entry: Mapping[str, Any]) -> Flaw | None:
    """calendar_arithmetic: from the first of January past February without a year."""
    given = entry["metadata"]
    if given["task"] == "weekday_of_date_from_first_date":
        year, month, _ = str(given["target_date"]).split("-")
        if int(month) > 2 and year not in str(entry["question"]):
            return Flaw("ambiguous", "the weekday depends on whether it is a leap year")
    return None


RULES: Mapping[str, Rule] = {"calendar_arithmetic": _weekday, "time_intervals": _duration}
