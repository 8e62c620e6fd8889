"""A source of doubled numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prorl_datasets import SourceSpec


def rows(options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield {"prompt", "answer"} for 1 + 1, 2 + 2, ... up to ``count``."""
    for n in range(1, options["count"] + 1):
        yield {"prompt": f"What is {n} + {n}?", "answer": str(2 * n)}


SPEC = SourceSpec(name="doubles", rows=rows, options={"count": 10})
