"""Files of a project inside its box: laid out before anything runs, and gathered after a build.

The host has checked the names that it sends. What a build leaves is only looked at as plain files: no
links, pipes or devices, whose reading could hang or reach elsewhere.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_FILES = 1000


class TooMuch(Exception):
    """A build has left more than may leave the box."""


def lay(files: Mapping[str, bytes], folder: str = ".") -> None:
    """Write these files (relative name to content) below ``folder``. Raises OSError."""
    for name, content in files.items():
        path = f"{folder}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        flags = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(path, flags, 0o644), "wb") as file:
            file.write(content)


def gather(cap: int) -> dict[str, bytes]:
    """Return the plain files below the working folder, at most ``cap`` bytes of them. Raises TooMuch,
    OSError."""
    found: dict[str, bytes] = {}
    left = cap
    for folder, _, names, handle in os.fwalk("."):
        for name in names:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            if not stat.S_ISREG(os.lstat(name, dir_fd=handle).st_mode):
                continue
            with open(os.open(name, flags, dir_fd=handle), "rb") as file:
                content = file.read(left + 1)
            left -= len(content)
            if left < 0 or len(found) >= _MOST_FILES:
                raise TooMuch
            found[os.path.normpath(f"{folder}/{name}")] = content
    return found
