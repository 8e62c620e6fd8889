"""py3langid with its model read: importing this module is the loading.

The one exception to "no work at import": a worker announces this module before it is imported, so that
reading the model is not counted as time spent on an answer.
"""

from __future__ import annotations

import py3langid  # type: ignore[import-not-found,import-untyped,unused-ignore]

py3langid.rank("")


def ranked(text: str) -> list[tuple[str, float]]:
    """Return every language and its log-probability (unnormalised), the likeliest first."""
    return [(str(name), float(score)) for name, score in py3langid.rank(text)]
