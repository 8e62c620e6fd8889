"""langdetect with its profiles read and its seed set: importing this module is the loading.

The one exception, with ``instruction.loaded_langid``, to "no work at import", and for the same reason. With the
seed one text has one answer.
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
    """Return the code of the language that langdetect names, or None when it finds no features."""
    try:
        return str(detect(text))
    except LangDetectException:
        return None
