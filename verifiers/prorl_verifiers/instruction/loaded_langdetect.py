"""Loads langdetect with a fixed seed. Workers import it before a time limit starts."""

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
    try:
        return str(detect(text))
    except LangDetectException:
        return None
