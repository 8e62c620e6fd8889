"""Chooses the files of a repository: for each item of a source's ``files``, the first candidate that exists.

An item has one or several candidates separated by ``|``: a name, a pattern (``data/train-*``), a format, or a branch
(``refs/convert/parquet`` or ``refs/convert/parquet:default/train/*.parquet``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from prorl_common import nearest

FORMATS = {
    "parquet": ("*.parquet",),
    "arrow": ("*.arrow",),
    "jsonl": ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst"),
    "json": ("*.json", "*.json.gz", "*.json.zst"),
    "csv": ("*.csv", "*.csv.gz", "*.csv.zst"),
    "tsv": ("*.tsv", "*.tsv.gz", "*.tsv.zst"),
}
"""Names of formats and their file patterns; ``*`` also matches folders."""
_BRANCH = "refs/"
NOT_ROWS = ("dataset_infos.json", "dataset_info.json", "state.json")
"""Files that describe a data set and contain no rows."""
_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})(?:-[0-9a-f]+)?(\..+)")
_LISTED_NAMES = 8


class NothingFits(Exception):
    """Raised if none of an item's candidates exists."""


@dataclass(frozen=True, slots=True)
class FileCandidate:
    """One alternative in a file setting; ``branch`` None means the source's own revision."""

    text: str
    branch: str | None
    patterns: tuple[str, ...]

    def hits(self, names: Iterable[str]) -> list[str]:
        """Return the file ``names`` that this alternative selects, sorted."""
        is_format = self.branch is None and self.text in FORMATS
        return sorted(
            name
            for name in names
            if any(name == p or fnmatchcase(name, p) for p in self.patterns)
            and not (is_format and (name in NOT_ROWS or name.startswith((_BRANCH, "."))))
        )


def missing_shards(names: Iterable[str]) -> list[str]:
    """Return the missing files of numbered sets such as ``train-00001-of-00003.parquet``."""
    shards: dict[tuple[str, str, str], set[int]] = {}
    for match in filter(None, map(_SHARD.fullmatch, names)):
        shards.setdefault((match[1], match[3], match[4]), set()).add(int(match[2]))
    return [
        f"{stem}-{number:05d}-of-{total}{ending}"
        for (stem, total, ending), numbers in sorted(shards.items())
        for number in range(int(total))
        if number not in numbers
    ]


def candidates(item: str) -> list[FileCandidate]:
    """Split a file setting at ``|`` into its alternatives, best first."""
    parsed = []
    for text in (part.strip() for part in item.split("|")):
        if text.startswith(_BRANCH):
            branch, _, pattern = text.partition(":")
            parsed.append(FileCandidate(text, branch, (pattern or "*.parquet",)))
        elif text:
            parsed.append(FileCandidate(text, None, FORMATS.get(text, (text,))))
    return parsed


def choose(
    files: Sequence[str], names_of: Callable[[str | None], Sequence[str] | None], where: str
) -> list[tuple[FileCandidate, list[str]]]:
    """Return the first alternative that selects files, and their names, for each setting in ``files``.

    ``names_of(branch)`` returns the branch's files, or None for a missing branch. Raises NothingFits; the message
    begins with ``where``.
    """
    taken = []
    for item in files:
        tried = candidates(item)
        for candidate in tried:
            names = names_of(candidate.branch)
            hits = candidate.hits(names) if names is not None else []
            if hits:
                taken.append((candidate, hits))
                break
        else:
            listed = names_of(None) or []
            some = ", ".join(listed[:_LISTED_NAMES]) or "no file at all"
            if len(tried) == 1:
                request = f"no file '{tried[0].text}'{nearest(tried[0].text, listed)}"
            else:
                request = f"none of {', '.join(c.text for c in tried)}"
            raise NothingFits(f"{where} has {request}; it has {some}")
    return taken
