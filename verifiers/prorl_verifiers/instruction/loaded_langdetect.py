"""Load langdetect at import, like ``loaded_langid``, with a fixed seed."""

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
    """Return langdetect's language code, or None for a text without features."""
    try:
        return str(detect(text))
    except LangDetectException:
        return None
