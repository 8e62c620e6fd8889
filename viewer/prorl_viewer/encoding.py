"""An answer as JSON, with or without the texts that are private."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping

from prorl_viewer.subject import Hidden, Json, Private

SHOWN = 100_000
"""Characters of a text that an answer holds; beyond them its length is said."""
DEEPEST = 60
"""Levels of lists and mappings in an answer; what lies deeper, in a file that prorl did not write, is left out."""
_FOLDERS = re.compile(r"""(?:(?<=[\s'"(=:,])|^)(?:~|[A-Za-z]:)?[/\\](?:[^/\\\n'"():,]*[/\\])+""")


def encode(value: Json, share_safe: bool = False) -> bytes:
    """Return UTF-8 JSON. A private text becomes ``{"text", "length"?}``, share-safe ``{"length"}`` alone.

    Share-safe, the folders of a path are left out too: they hold names of people.
    """
    plain = _plain(value, share_safe)
    # a text of a model may hold a lone surrogate, which JSON can carry and UTF-8 cannot
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode("ascii")


def without_folders(text: str) -> str:
    """Return ``text`` with the folders of each path in it as ``…/``."""
    return _FOLDERS.sub("…/", text)


def _plain(value: Json, share_safe: bool, depth: int = 0) -> Json:
    match value:
        case Private(text):
            return _text(text, share_safe)
        case Hidden(inner):
            return None if share_safe else _plain(inner, share_safe, depth)
        case float() if not math.isfinite(value):
            return None
        case str() if share_safe:
            return without_folders(value)
        case None | bool() | int() | float() | str():
            return value
        case Mapping() | list() | tuple() if depth == DEEPEST:
            return None
        case Mapping():
            return {str(key): _plain(item, share_safe, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, share_safe, depth + 1) for item in value]
        case _:
            raise TypeError(f"{type(value).__name__} is not part of an answer")


def _text(text: str, share_safe: bool) -> Json:
    if share_safe:
        return {"length": len(text)}
    if len(text) > SHOWN:
        return {"text": text[:SHOWN], "length": len(text)}
    return {"text": text}
