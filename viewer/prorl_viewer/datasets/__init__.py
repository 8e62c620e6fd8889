"""The datasets that can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from prorl_viewer.subject import Subject


def looks_like(folder: Path) -> bool:
    """Return whether there is one in ``folder``."""
    return False


def open_subjects(folders: Sequence[Path]) -> list[Subject]:
    """Return a subject for each."""
    return []
