"""An answer as JSON, with or without the texts that are private."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from prorl_viewer.subject import Json, Private

SHOWN = 100_000
"""Characters of a text that an answer holds; beyond them its length is said."""


def encode(value: Json, share_safe: bool = False) -> bytes:
    """Return UTF-8 JSON. A private text becomes ``{"text", "length"?}``, share-safe ``{"length"}`` alone."""
    plain = _plain(value, share_safe)
    # a text of a model may hold a lone surrogate, which JSON can carry and UTF-8 cannot
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode("ascii")


def _plain(value: Json, share_safe: bool) -> Json:
    match value:
        case Private(text):
            return _text(text, share_safe)
        case float() if not math.isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): _plain(item, share_safe) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, share_safe) for item in value]
        case _:
            raise TypeError(f"{type(value).__name__} is not part of an answer")


def _text(text: str, share_safe: bool) -> Json:
    if share_safe:
        return {"length": len(text)}
    if len(text) > SHOWN:
        return {"text": text[:SHOWN], "length": len(text)}
    return {"text": text}
