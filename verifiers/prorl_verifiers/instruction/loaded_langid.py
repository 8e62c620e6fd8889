"""Loads py3langid and its model. Workers import it before a time limit starts."""

from __future__ import annotations

import py3langid  # type: ignore[import-not-found,import-untyped,unused-ignore]

py3langid.rank("")


def ranked(text: str) -> list[tuple[str, float]]:
    return [(str(name), float(score)) for name, score in py3langid.rank(text)]
