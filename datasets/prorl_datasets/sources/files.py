"""The files that a build reads, with their hashes, and the entries whose files cannot be had."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import NullProgress, Progress


@dataclass(frozen=True, slots=True)
class Files:
    """The files each text entry reads, in order, and their SHA-256: by a public name that holds no
    folder of this machine, and in ``contents`` by entry.

    ``taken`` says, by entry, what was found where a source left a choice; ``failed`` why an entry has no
    files, though the others are built. ``progress`` is told of both, and of what is fetched.
    """

    paths: dict[str, list[Path]] = field(default_factory=dict)
    hashes: dict[str, str] = field(default_factory=dict)
    contents: dict[str, list[str]] = field(default_factory=dict)
    taken: dict[str, dict[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=NullProgress)

    def version(self, entry: str) -> str:
        """Return a short digest of what an entry reads."""
        return hashlib.sha256(" ".join(self.contents[entry]).encode()).hexdigest()[:12]
