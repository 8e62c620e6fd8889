"""A table of the code's figures, with the limits of tests/structure and the goals."""

from __future__ import annotations

import json
from pathlib import Path

from reference.markdown import table

LIMITS = Path(__file__).resolve().parents[2] / "tests" / "structure" / "figures.json"


def figures() -> str:
    """Return the figures with limit and goal."""
    rows = json.loads(LIMITS.read_text(encoding="utf-8"))["figures"].items()
    return table(
        ("figure", "limit", "goal"),
        [(name, f"{row['limit']:,}", f"{row['goal']:,}") for name, row in rows],
    )
