"""Verdicts that were given, on disk: an answer is judged once.

A SQLite file, which several processes may use together. It holds hashes and rewards, no text.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import ServiceError, UserError

WAIT = 60.0
"""Seconds that a process waits for another one's write."""


def cache_key(parts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a verdict depends on."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class VerdictCache:
    """Key -> a small JSON object. Thread-safe. Raises UserError where the file cannot be made or used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as base:
                base.execute("CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, row TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the judge's cache {path} cannot be used ({error}): remove it, or set PRORL_CACHE to "
                "another folder"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what is kept under ``key``. Raises ServiceError."""
        with self._trouble(), self._open() as base:
            found = base.execute("SELECT row FROM verdicts WHERE key = ?", (key,)).fetchone()
            return None if found is None else dict(json.loads(found[0]))

    def put(self, key: str, row: Mapping[str, Any]) -> None:
        """Keep ``row`` under ``key``. Raises ServiceError."""
        with self._trouble(), self._open() as base:
            base.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", (key, json.dumps(row)))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._path, timeout=WAIT)) as base, base:
            yield base

    @contextlib.contextmanager
    def _trouble(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            raise ServiceError(f"the judge's cache {self._path}: {error}") from error
