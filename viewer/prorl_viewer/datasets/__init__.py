"""The datasets that can be looked at: a manifest, splits in Parquet, and what lies beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from prorl_datasets.storage import MANIFEST
from prorl_viewer.datasets.subject import DatasetSubject, Shelf
from prorl_viewer.subject import Subject

__all__ = ["Shelf", "looks_like", "open_subjects"]


def looks_like(folder: Path) -> bool:
    """Return whether there is a dataset in ``folder``."""
    file = folder / MANIFEST
    try:
        if not file.is_file():  # a pipe would be waited for
            return False
        manifest = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    files = manifest.get("files") if isinstance(manifest, dict) else None
    return isinstance(files, dict) and any(str(name).endswith(".parquet") for name in files)


def open_subjects(folders: Sequence[Path], shelf: Shelf) -> list[Subject]:
    """Return a subject for each dataset; ``shelf`` bounds how many have their rows in memory."""
    return [DatasetSubject(folder, shelf) for folder in folders]
