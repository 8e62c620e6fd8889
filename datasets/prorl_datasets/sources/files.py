"""The files that a build reads, with their hashes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Files:
    """The files each text entry reads, in order, and their SHA-256: by a public name that holds no
    folder of this machine, and in ``contents`` by entry.
    """

    paths: dict[str, list[Path]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    contents: dict[str, list[str]] = field(default_factory=dict)

    def version(self, entry: str) -> str:
        """Return a short digest of what an entry reads."""
        return hashlib.sha256(" ".join(self.contents[entry]).encode()).hexdigest()[:12]
