"""Encodes pages as JSON, and marks or removes private texts."""

from __future__ import annotations

import json
import math
import re
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from prorl_common import ServiceError, UserError
from prorl_viewer.subject import Hidden, Json, NotFoundError, Page, Private, Query

ROLES = frozenset({"system", "user", "assistant", "tool"})
LONGEST_LABEL = 80
"""Maximum number of characters of a label."""


def message(role: Any, content: str) -> Json:
    """Return a chat message with private content; a role that is not in ROLES becomes ``other``."""
    name = role if isinstance(role, str) and role in ROLES else "other"
    return {"role": name, "content": Private(content)}


def label(value: Any) -> str:
    """Return a number or short text as a string; return "" for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    name = str(value)
    return name if len(name) <= LONGEST_LABEL else ""


SHOWN = 100_000
"""Maximum number of characters of a text in a page's JSON; longer texts are cut."""
DEEPEST = 60
"""Maximum nesting depth of a page's JSON; deeper values become null."""
_FOLDERS = re.compile(r"""(?:(?<=[\s'"(=:,])|^)(?:~|[A-Za-z]:)?[/\\](?:[^/\\\n'"():,]*[/\\])+""")


def encode(value: Json, share_safe: bool = False) -> bytes:
    """Return the value as JSON; a private text becomes {"text": ...}, with its full "length" if it was cut.

    If ``share_safe``, private texts and the folders of paths are removed.
    """
    plain = _plain(value, share_safe)
    # a model's text may contain a lone surrogate, which ASCII JSON can represent but UTF-8 cannot
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode("ascii")


def without_folders(text: str) -> str:
    """Replace the folders of each path in ``text`` by ``…/``."""
    return _FOLDERS.sub("…/", text)


def _plain(value: Json, share_safe: bool, depth: int = 0) -> Json:
    match value:
        case Private(text) if share_safe:
            return {"length": len(text)}
        case Private(text) if len(text) > SHOWN:
            return {"text": text[:SHOWN], "length": len(text)}
        case Private(text):
            return {"text": text}
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
            raise TypeError(f"{type(value).__name__} cannot be part of a response")


WITHHELD = "the request failed; its error message is hidden, because it may quote private text"


def answer(page: Page, query: Query, share_safe: bool = False) -> tuple[int, bytes]:
    """Return (HTTP status, JSON) of what ``page`` returns for the query, or of the error that it raises."""
    try:
        return 200, encode(page(query), share_safe)
    except Exception as error:  # noqa: BLE001 - the page shows the error; a bug prints its traceback
        return failure(error, share_safe)


def failure(error: Exception, share_safe: bool = False) -> tuple[int, bytes]:
    """Return (HTTP status, JSON) of an error; ``share_safe`` withholds messages that may quote a private text."""
    match error:
        case NotFoundError():
            return 404, refusal(without_folders(str(error)) if share_safe else str(error))
        case UserError():
            return 400, refusal(WITHHELD if share_safe else str(error))
        case ServiceError():
            return 503, refusal(WITHHELD if share_safe else str(error))
        case OSError():  # the folder was deleted or is not readable
            why = error.strerror or type(error).__name__
            return 503, refusal(f"the files of this page cannot be read ({why})")
        case _:
            traceback.print_exception(error, limit=-6, file=sys.stderr)
            kind = type(error).__name__
            return 500, refusal(
                f"the files of this page do not have the format that prorl writes ({kind})"
            )


def refusal(line: str) -> bytes:
    return encode({"error": line})
