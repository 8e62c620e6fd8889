"""Words that families of several domains write."""

from __future__ import annotations


def ordinal(n: int) -> str:
    """Write ``1st``, ``2nd``, ``3rd``, ``11th``, ``21st``."""
    last = {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{'th' if n % 100 in (11, 12, 13) else last}"
