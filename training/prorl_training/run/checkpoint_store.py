"""The store of a run's checkpoints: which there are, which are whole, which may go.

    checkpoints/step_000012/{policy/, state.json, manifest.json, ...}   latest   best

``manifest.json`` lists every file with its size and SHA-256. Folders appear whole, by rename, and go by
rename first, so a kill leaves at most a folder whose name begins with a dot, swept away by the next
writer. Knows no torch; what is inside is ``checkpoint``'s.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from prorl_common import UserError, atomic_write_text, sha256_file
from prorl_training.schedule.decisions import Decision

MANIFEST = "manifest.json"
STATE = "state.json"
FIRST = 0
"""The step of the checkpoint from before RL, which always stays."""


class CheckpointError(UserError):
    """A checkpoint is missing, incomplete, damaged, or does not fit the run."""


def checkpoint_path(root: Path, step: int) -> Path:
    """Return the folder of a step's checkpoint."""
    return root / f"step_{step:06d}"


def checkpoint_steps(root: Path) -> list[int]:
    """Return the steps that have a checkpoint folder, whole or not, in order."""
    names = [p.name.removeprefix("step_") for p in root.glob("step_*") if p.is_dir()]
    return sorted(int(name) for name in names if name.isdigit())


def has_checkpoint(root: Path) -> bool:
    """Return whether there is any checkpoint, whole or not."""
    return bool(checkpoint_steps(root))


def newest_step(root: Path) -> int | None:
    """Return the newest step whose checkpoint looks whole (sizes only), or None."""
    whole = [s for s in checkpoint_steps(root) if looks_whole(checkpoint_path(root, s))]
    return whole[-1] if whole else None


def best_step(root: Path) -> int | None:
    """Return the step that ``mark_best`` named last, or None."""
    try:
        return int((root / "best").read_text().strip().removeprefix("step_"))
    except (FileNotFoundError, ValueError):
        return None


def best_checkpoint(root: Path) -> tuple[Path | None, str]:
    """Return (folder of the checkpoint with the best validation, ""), or (None, why there is none)."""
    best = best_step(root)
    if best is None:
        return None, "no checkpoint is marked as the best"
    path = checkpoint_path(root, best)
    try:
        verify_checkpoint(path)
    except CheckpointError as error:
        return None, str(error)
    return path, ""


def mark_best(root: Path, step: int) -> None:
    """Name the checkpoint with the best validation; pruning leaves it alone."""
    atomic_write_text(root / "best", checkpoint_path(root, step).name + "\n")


def seal(work: Path) -> None:
    """Write the manifest of a folder's files, and put files and folders on the disk (fsync).

    Each file is read once, two at a time, while it is still in memory.
    """
    files = sorted(p for p in work.rglob("*") if p.is_file())
    with ThreadPoolExecutor(max_workers=2) as pool:
        entries = list(pool.map(_hash_and_sync, files))
    listing = {str(p.relative_to(work)): e for p, e in zip(files, entries, strict=True)}
    atomic_write_text(work / MANIFEST, json.dumps({"files": listing}, indent=1))
    for folder in (work, *(p for p in work.rglob("*") if p.is_dir())):
        sync_folder(folder)


def _hash_and_sync(file: Path) -> dict[str, Any]:
    file.chmod(0o644)  # safetensors writes files that only their owner can read
    digest = sha256_file(file)
    with file.open("rb") as handle:
        os.fsync(handle.fileno())
    return {"bytes": file.stat().st_size, "sha256": digest}


def sync_folder(folder: Path) -> None:
    """Put a folder's names on the disk, so that a rename in it outlives a loss of power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _listing(path: Path) -> dict[str, dict[str, Any]]:
    """Return the manifest's files. Raises CheckpointError when it is missing or malformed."""
    try:
        files = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(name): {**entry} for name, entry in files.items()}
    except FileNotFoundError as error:
        raise CheckpointError(f"checkpoint {path} is incomplete: it has no {MANIFEST}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {MANIFEST} is unreadable") from error


def looks_whole(path: Path) -> bool:
    """Return whether every file of the manifest is there in its size; contents are not read."""
    with contextlib.suppress(CheckpointError):
        listing = _listing(path)
        sizes = [(path / n, e.get("bytes")) for n, e in listing.items()]
        return STATE in listing and all(p.is_file() and p.stat().st_size == n for p, n in sizes)
    return False


def verify_checkpoint(path: Path) -> dict[str, Any]:
    """Check every file against the manifest and return ``state.json``.

    Raises CheckpointError naming the first file that is missing or whose content differs.
    """
    listing = _listing(path)
    if STATE not in listing:
        raise CheckpointError(f"checkpoint {path} is damaged: {MANIFEST} does not list {STATE}")
    for name, entry in listing.items():
        if not (path / name).is_file():
            raise CheckpointError(f"checkpoint {path} is incomplete: {name} is missing")
        if (path / name).stat().st_size != entry.get("bytes"):
            raise CheckpointError(f"checkpoint file {path / name} is damaged: its size differs")
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = pool.map(lambda name: sha256_file(path / name), listing)
        for (name, entry), digest in zip(listing.items(), found, strict=True):
            if digest != entry.get("sha256"):
                raise CheckpointError(f"checkpoint file {path / name} is damaged: its hash differs")
    return read_state(path)


def read_state(path: Path) -> dict[str, Any]:
    """Return a checkpoint's ``state.json``, unchecked. Raises CheckpointError where it is not JSON."""
    try:
        state: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {STATE} is not JSON") from error
    return state


def newest_whole(root: Path) -> tuple[Path, dict[str, Any], list[CheckpointError]]:
    """Return (folder, state, why newer ones were passed over). Changes nothing.

    Raises CheckpointError, one line, when no checkpoint is whole.
    """
    troubles: list[CheckpointError] = []
    for step in reversed(checkpoint_steps(root)):
        path = checkpoint_path(root, step)
        try:
            return path, verify_checkpoint(path), troubles
        except CheckpointError as error:
            troubles.append(error)
    if not troubles:
        raise CheckpointError(
            f"{root.parent} has no checkpoint yet: start it again under another name"
        )
    raise CheckpointError(
        f"{root.parent} cannot go on: none of its {len(troubles)} checkpoints is whole "
        f"(newest: {troubles[0]}); start a new run"
    )


def open_checkpoint(root: Path) -> tuple[Path, dict[str, Any], list[Decision]]:
    """Return the newest whole checkpoint to go on from: (folder, state, decisions).

    Newer damaged ones are set aside (renamed to ``damaged_*``, deleted once another checkpoint has been
    written), each with a ``checkpoint_fallback`` decision at the step the run goes on from. Raises
    CheckpointError when none is whole; then nothing is touched. For the run's only writer.
    """
    path, state, troubles = newest_whole(root)
    sweep(root)
    step = int(state["step"])
    decisions = []
    for damaged, error in zip(reversed(checkpoint_steps(root)), troubles, strict=False):
        aside = root / f"damaged_{damaged:06d}"
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(checkpoint_path(root, damaged), aside)
        evidence = {"damaged_step": damaged, "trouble": str(error), "step": step}
        reason = f"{error}; going on from step {step}"
        decisions.append(Decision(step, "checkpoint_fallback", reason, evidence))
    best = best_step(root)
    if best is not None and (best > step or not checkpoint_path(root, best).is_dir()):
        (root / "best").unlink()
    atomic_write_text(root / "latest", path.name + "\n")
    return path, state, decisions


def prune_checkpoints(
    root: Path, keep: int, keep_best: bool, origins: Iterable[int] = (FIRST,)
) -> None:
    """Delete all but the newest ``keep`` whole checkpoints, the best one (``keep_best``) and ``origins``: the
    one from before RL, and those that a stage began from.

    Folders that do not look whole count for nothing, so the last whole one is never deleted.
    """
    steps = checkpoint_steps(root)
    whole = [s for s in steps if looks_whole(checkpoint_path(root, s))]
    if not whole:
        return
    stay = {*origins, *whole[-max(keep, 1) :]}
    if keep_best and (best := best_step(root)) is not None:
        stay.add(best)
    for step in steps:
        if step not in stay:
            _delete(checkpoint_path(root, step))
    for path in root.glob("damaged_*"):
        _delete(path)
    sweep(root)


def _delete(path: Path) -> None:
    gone = path.parent / f".gone.{path.name}"
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(path, gone)
    shutil.rmtree(gone, ignore_errors=True)


def sweep(root: Path) -> None:
    """Remove what a kill left of checkpoints half written or half deleted. For the only writer."""
    for start in (".step_", ".gone.", ".latest.", ".best."):
        for path in root.glob(f"{start}*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
