"""Names and sizes of files that are to lie in a box, checked before anything is run.

A list of files may come from a model or a data set: a name must stay below the working folder and be
one that every machine can have.
"""

from __future__ import annotations

from collections.abc import Mapping

from prorl_common import UserError

MOST_FILES = 1000
MOST_BYTES = 16 * 1024 * 1024
_LONGEST_PART, _LONGEST_NAME = 255, 1000


def check_files(files: Mapping[str, str | bytes], scratch_mb: int, what: str) -> dict[str, bytes]:
    """Return the files' bytes by name. Raises UserError, in which they are called ``what``, for names
    that are no plain relative paths, files inside files, and too much of it."""
    if len(files) > MOST_FILES:
        raise UserError(f"{what}: {len(files)} files, and at most {MOST_FILES} may be")
    for name in files:
        if wrong := _wrong(name):
            raise UserError(f"{what}: the name {name!r:.100} {wrong}")
    for name in files:
        parts = name.split("/")
        for end in range(1, len(parts)):
            if "/".join(parts[:end]) in files:
                raise UserError(f"{what}: {name!r:.100} lies inside another file")
    found = {
        name: content if isinstance(content, bytes) else content.encode("utf-8", "replace")
        for name, content in files.items()
    }
    size, most = sum(map(len, found.values())), min(MOST_BYTES, scratch_mb * 1024 * 1024)
    if size > most:
        raise UserError(f"{what}: {size} bytes, and at most {most} fit the box (scratch_mb)")
    return found


def _wrong(name: object) -> str:
    """Return what is wrong with a file's name, '' for nothing."""
    if not isinstance(name, str) or not name:
        return "is no text"
    if name.startswith("/"):
        return "is not relative"
    if not name.isprintable() or "\\" in name:
        return "has characters that no file should have"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "leaves its folder, or names none"
    encoded = [part.encode() for part in parts]
    if max(map(len, encoded)) > _LONGEST_PART or len(name.encode()) > _LONGEST_NAME:
        return "is too long"
    return ""
