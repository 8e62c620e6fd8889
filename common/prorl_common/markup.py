"""Foreign text made safe to show: nothing a model or a dataset wrote can act as markup."""

from __future__ import annotations

import html
import re

_REORDERS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that reorder the text around them (Unicode Standard Annex 9)."""
_LAST_OF_PLANES = "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
_UNSHOWN = re.compile(
    rf"[{_REORDERS}]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # controls but tab and newline
    rf"|[\ud800-\udfff\ufdd0-\ufdef{_LAST_OF_PLANES}]"  # lone surrogates, noncharacters
)


def printable(value: object) -> str:
    """Return ``value`` as text a page may hold.

    Controls, lone surrogates and noncharacters become U+FFFD; what would reorder the line is spelled
    out, as in ``[U+202E]``.
    """
    return _UNSHOWN.sub(_shown, str(value).replace("\r\n", "\n"))


def _shown(found: re.Match[str]) -> str:
    c = found.group()
    return f"[U+{ord(c):04X}]" if re.match(f"[{_REORDERS}]", c) else "\ufffd"


def escape(value: object) -> str:
    """Return ``value`` as text that is safe in HTML and SVG, in attributes too; see ``printable``."""
    return html.escape(printable(value), quote=True)
