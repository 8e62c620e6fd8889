"""Pushes a dataset to the Hugging Face hub in the layout that ``load_dataset`` reads.

Files that list dropped rows are not uploaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from prorl_common import Progress, sha256_file
from prorl_common.hub import Upload, check_repo, upload
from prorl_datasets.storage import DROPPED, MANIFEST, PAIRS, QUARANTINE, read_manifest
from prorl_datasets.types import SPLITS, DatasetError

CARD = "README.md"
LOCAL_FILES = (PAIRS, QUARANTINE, DROPPED)
"""Files with the texts of rows that are not in the dataset; they are never uploaded."""


def plan_push(folder: Path, repo: str) -> Upload:
    """Return the planned upload of the dataset in ``folder`` to ``repo`` (owner/name).

    Raises UserError if the dataset is missing, changed or incomplete, or ``repo`` is invalid.
    """
    check_repo(repo)
    manifest = read_manifest(folder)
    for name, about in manifest["files"].items():
        path = folder / name
        if not path.is_file() or sha256_file(path) != about["sha256"]:
            raise DatasetError(
                f"{path} is missing or differs from the manifest; build the dataset again"
            )
    if (failed := manifest.get("failed")) or manifest.get("skipped"):
        missing = ", ".join([*(failed or []), *manifest.get("skipped", [])])
        raise DatasetError(f"{folder} lacks entries of its recipe ({missing}); build them first")
    splits = [split for split in SPLITS if f"{split}.parquet" in manifest["files"]]
    files: dict[str, Path | bytes] = {
        f"data/{split}-00000-of-00001.parquet": folder / f"{split}.parquet" for split in splits
    }
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in {CARD, *LOCAL_FILES, *(f"{split}.parquet" for split in splits)}:
            files[name] = path
    head, mark, text = (folder / CARD).read_text(encoding="utf-8").partition("\n---\n")
    for split in SPLITS:
        head = head.replace(f"path: {split}.parquet", f"path: data/{split}-*.parquet")
    text = text.replace("load_dataset(FOLDER)", f'load_dataset("{repo}")')
    files[CARD] = f"{head}{mark}{text}".encode()
    assert MANIFEST in files
    return Upload(repo, "dataset", dict(sorted(files.items())))


def rows_by_split(folder: Path) -> dict[str, int]:
    files = read_manifest(folder)["files"]
    names = {split: f"{split}.parquet" for split in SPLITS}
    return {split: int(files[name]["rows"]) for split, name in names.items() if name in files}


def push(
    folder: Path, repo: str, *, private: bool, environment: Mapping[str, str], progress: Progress
) -> Upload:
    """Push the dataset in one commit, creating ``repo`` if needed. Raises UserError."""
    return upload(
        plan_push(folder, repo),
        f"{sum(rows_by_split(folder).values()):,} rows, built with prorl",
        private=private,
        replaces=lambda name: (
            (name.startswith("data/") and name.endswith(".parquet")) or name in LOCAL_FILES
        ),
        environment=environment,
        progress=progress,
    )
