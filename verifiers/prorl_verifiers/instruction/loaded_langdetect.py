"""Load langdetect with a fixed seed, so that results are deterministic.

It does work at import on purpose, like ``instruction.loaded_langid``.
"""

from __future__ import annotations

from langdetect import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    DetectorFactory,
    LangDetectException,
    detect,
    detector_factory,
)

DetectorFactory.seed = 0
detector_factory.init_factory()


def detected(text: str) -> str | None:
    """Return langdetect's language code, or None if the text has no features."""
    try:
        return str(detect(text))
    except LangDetectException:
        return None
