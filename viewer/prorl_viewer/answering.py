"""A page's answer whatever its files hold: JSON with an HTTP status, for a server and for an export alike.

Files are untrusted: one that is not as prorl writes it makes its own page say so, and no other one. The traceback goes
to stderr, as the fault may be prorl's.
"""

from __future__ import annotations

import sys
import traceback

from prorl_common import ServiceError, UserError
from prorl_viewer.encoding import encode, without_folders
from prorl_viewer.subject import NotFoundError, Page, Query

UNTOLD = "this did not work; what went wrong may tell a text, so it is left out here"


def answer(page: Page, query: Query, share_safe: bool = False) -> tuple[int, bytes]:
    """Return the status and the JSON of a page; ``{"error": line}`` where there is no answer."""
    try:
        return 200, encode(page(query), share_safe)
    except Exception as error:  # noqa: BLE001 - it is said, a fault with its traceback on stderr
        return failure(error, share_safe)


def failure(error: Exception, share_safe: bool = False) -> tuple[int, bytes]:
    """Return the status (400, 404, 500, 503) and the JSON that tell an error.

    Share-safe, a line that may quote a text is left out.
    """
    match error:
        case NotFoundError():
            return 404, refusal(without_folders(str(error)) if share_safe else str(error))
        case UserError():
            return 400, refusal(UNTOLD if share_safe else str(error))
        case ServiceError():
            return 503, refusal(UNTOLD if share_safe else str(error))
        case OSError():  # the folder went, or is another user's
            why = error.strerror or type(error).__name__
            return 503, refusal(f"the files of this page cannot be read ({why})")
        case _:
            traceback.print_exception(error, limit=-6, file=sys.stderr)
            kind = type(error).__name__
            return 500, refusal(f"the files of this page are not as prorl writes them ({kind})")


def refusal(line: str) -> bytes:
    """Return the JSON that says why there is no answer."""
    return encode({"error": line})
