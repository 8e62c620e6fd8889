"""Writes and restores checkpoints, which hold everything for a bitwise resume as safetensors and JSON.

Random numbers derive from (seed, step, item), so no generator state is saved.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from prorl_common import DiskFullError, atomic_directory, atomic_write_text, sha256_file
from prorl_common.files import is_full, says_disk_full
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.rollout.item_records import ItemRecords
from prorl_training.types import (
    Batch,
    Carried,
    CheckpointError,
    Conversation,
    Decision,
    Group,
    LateGroup,
    Policies,
    SampledBatch,
    Trajectory,
    sampled_from,
)
from prorl_verifiers import Verdict

T = TypeVar("T")
MANIFEST = "manifest.json"
STATE = "state.json"
FIRST = 0
"""Step of the checkpoint from before RL, which is always kept."""


def checkpoint_path(root: Path, step: int) -> Path:
    return root / f"step_{step:06d}"


def checkpoint_steps(root: Path) -> list[int]:
    """Return the steps with a checkpoint folder, in order. A folder may be incomplete."""
    names = [p.name.removeprefix("step_") for p in root.glob("step_*") if p.is_dir()]
    return sorted(int(name) for name in names if name.isdigit())


def has_checkpoint(root: Path) -> bool:
    return bool(checkpoint_steps(root))


def newest_step(root: Path) -> int | None:
    """Return the newest step whose checkpoint has files of the recorded sizes, or None."""
    whole = [s for s in checkpoint_steps(root) if looks_whole(checkpoint_path(root, s))]
    return whole[-1] if whole else None


def best_step(root: Path) -> int | None:
    try:
        return int((root / "best").read_text().strip().removeprefix("step_"))
    except (FileNotFoundError, ValueError):
        return None


def best_checkpoint(root: Path) -> tuple[Path | None, str]:
    """Return (folder, "") for the best checkpoint, or (None, reason) if it is missing or damaged."""
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
    atomic_write_text(root / "best", checkpoint_path(root, step).name + "\n")


def seal(work: Path) -> None:
    """Write a folder's manifest (size and SHA-256 of each file), and sync everything to disk."""
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
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _listing(path: Path) -> dict[str, dict[str, Any]]:
    try:
        files = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(name): {**entry} for name, entry in files.items()}
    except FileNotFoundError as error:
        raise CheckpointError(f"checkpoint {path} is incomplete: it has no {MANIFEST}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {MANIFEST} is unreadable") from error


def looks_whole(path: Path) -> bool:
    """Return whether every file in the checkpoint's manifest exists and has the recorded size."""
    with contextlib.suppress(CheckpointError):
        listing = _listing(path)
        sizes = [(path / n, e.get("bytes")) for n, e in listing.items()]
        return STATE in listing and all(p.is_file() and p.stat().st_size == n for p, n in sizes)
    return False


def verify_checkpoint(path: Path) -> dict[str, Any]:
    """Check every file against the manifest and return the state. Raises CheckpointError naming the first bad file."""
    listing = _listing(path)
    if STATE not in listing:
        raise CheckpointError(f"checkpoint {path} is damaged: {MANIFEST} does not list {STATE}")
    for name, entry in listing.items():
        if not (path / name).is_file():
            raise CheckpointError(f"checkpoint {path} is incomplete: {name} is missing")
        if (path / name).stat().st_size != entry.get("bytes"):
            raise CheckpointError(f"checkpoint file {path / name} is damaged: its size differs")
    with ThreadPoolExecutor(max_workers=2) as pool:
        digests = pool.map(lambda name: sha256_file(path / name), listing)
        for (name, entry), digest in zip(listing.items(), digests, strict=True):
            if digest != entry.get("sha256"):
                raise CheckpointError(f"checkpoint file {path / name} is damaged: its hash differs")
    return read_state(path)


def read_state(path: Path) -> dict[str, Any]:
    """Return a checkpoint's state without verifying files. Raises CheckpointError if it is not JSON."""
    try:
        state: dict[str, Any] = json.loads((path / STATE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"checkpoint {path} is damaged: {STATE} is not JSON") from error
    return state


def newest_whole(root: Path) -> tuple[Path, dict[str, Any], list[CheckpointError]]:
    """Return (folder, state, errors of newer checkpoints) of the newest intact checkpoint.

    Raises CheckpointError if none is intact.
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
            f"{root.parent} has no checkpoint yet: start a new run under another name"
        )
    raise CheckpointError(
        f"{root.parent} cannot continue: none of its {len(troubles)} checkpoints is intact "
        f"(newest: {troubles[0]}); start a new run"
    )


def open_checkpoint(root: Path) -> tuple[Path, dict[str, Any], list[Decision]]:
    """Return (folder, state, decisions) of the newest intact checkpoint, to continue the run.

    Newer, damaged checkpoints are renamed to ``damaged_*``, which ``decisions`` record. Raises CheckpointError, without
    renaming, if no checkpoint is intact.
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
        reason = f"{error}; continuing from step {step}"
        decisions.append(Decision(step, "checkpoint_fallback", reason, evidence))
    best = best_step(root)
    if best is not None and (best > step or not checkpoint_path(root, best).is_dir()):
        (root / "best").unlink()
    atomic_write_text(root / "latest", path.name + "\n")
    return path, state, decisions


def prune_checkpoints(
    root: Path, keep: int, keep_best: bool, origins: Iterable[int] = (FIRST,)
) -> None:
    """Delete all checkpoints but the newest ``keep``, the best (if ``keep_best``) and those of steps ``origins``.

    Incomplete checkpoints do not count as the newest.
    """
    steps = checkpoint_steps(root)
    whole = [s for s in steps if looks_whole(checkpoint_path(root, s))]
    if not whole:
        return
    keep_steps = {*origins, *whole[-max(keep, 1) :]}
    if keep_best and (best := best_step(root)) is not None:
        keep_steps.add(best)
    for step in steps:
        if step not in keep_steps:
            _delete(checkpoint_path(root, step))
    for path in root.glob("damaged_*"):
        _delete(path)
    sweep(root)


def _delete(path: Path) -> None:
    trash = path.parent / f".gone.{path.name}"
    shutil.rmtree(trash, ignore_errors=True)
    os.replace(path, trash)
    shutil.rmtree(trash, ignore_errors=True)


def sweep(root: Path) -> None:
    """Delete files and folders that a killed process left incomplete."""
    for start in (".step_", ".gone.", ".latest.", ".best."):
        for path in root.glob(f"{start}*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


ROWS, TENSORS = "buffer.json", "buffer.safetensors"


class WritesCheckpoint(Protocol):
    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]: ...


def save_checkpoint(
    root: Path,
    step: int,
    policy: WritesCheckpoint,
    tokenizer: Any,
    state: Mapping[str, Any],
    carried: Carried | None = None,
    records: ItemRecords | None = None,
    queue: Sequence[SampledBatch] = (),
) -> Path:
    """Write a checkpoint atomically, make it the latest and return its folder.

    The rollout buffer holds the ``carried`` groups and the ``queue`` of batches sampled ahead. ``open_checkpoint``
    returns ``state`` (JSON). Raises DiskFullError, and UserError if the disk is not writable.
    """
    from prorl_inference import quiet_transformers

    target = checkpoint_path(root, step)
    with atomic_directory(target) as work, _explained(target, work), quiet_transformers():
        entries = policy.write_checkpoint(work, tokenizer)
        save_buffer(work, carried or Carried(), queue)
        if records is not None:
            records.save(work)
        full = {**state, "step": step, **entries}
        (work / STATE).write_text(json.dumps(full, indent=1), encoding="utf-8")
        seal(work)
    with _explained(target, root):
        sync_folder(root)
        atomic_write_text(root / "latest", target.name + "\n")
    return target


@contextlib.contextmanager
def _explained(target: Path, work: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if says_disk_full(error) or is_full(work):
            raise DiskFullError(
                f"cannot write the checkpoint {target}: the disk is full; make room "
                "(delete old runs, or lower checkpoint.keep), then continue from the "
                "earlier checkpoints with --resume"
            ) from error
        raise


def save_buffer(path: Path, carried: Carried, queue: Sequence[SampledBatch] = ()) -> None:
    """Write the rollout buffer into the folder ``path``, with log-probs as float64."""
    if not carried and not queue:
        return
    import torch
    from safetensors.torch import save_file

    groups = _Numbered[Group](carried.groups)
    late = _Numbered[LateGroup](carried.late)
    batches = [
        {
            "step": sampled.step,
            "policy": sampled.policy,
            "sampling": sampled.sampling,
            "outcomes": sampled.batch.outcomes,
            **{name: groups.numbers(getattr(sampled.batch, name)) for name in _GROUPS},
            **{name: late.numbers(getattr(sampled.batch, name)) for name in _LATE_GROUPS},
            **{name: getattr(sampled.batch, name) for name in _COUNTS},
        }
        for sampled in queue
    ]
    every = [t.completion for g in groups.items for t in g.trajectories]
    every += [c for g in late.items for c in g.completions]
    tokens = [x for c in every for x in c.token_ids]
    logprobs = [x for c in every for x in c.logprobs]
    tensors = {
        "token_ids": torch.tensor(tokens, dtype=torch.int64),
        "logprobs": torch.tensor(logprobs, dtype=torch.float64),
    }
    save_file(tensors, path / TENSORS)
    group_rows = [
        {
            "sample_id": g.sample.id,
            "step": g.step,
            "trajectories": [
                {
                    "sample_index": t.sample_index,
                    **_completion_row(t.completion),
                    "verdict": _verdict_row(t.verdict),
                    "shaped": t.shaped,
                    "trains": t.trains,
                    "policies": t.policies,
                    **({"turns": t.turns, "ended": t.ended} if t.ended else {}),
                }
                for t in g.trajectories
            ],
        }
        for g in groups.items
    ]
    late_rows = [
        {
            "sample_id": g.sample.id,
            "step": g.step,
            "completions": [_completion_row(c) for c in g.completions],
            "policies": g.policies,
            "conversations": [
                asdict(replace(c, verdict=None))
                | {"verdict": c.verdict and _verdict_row(c.verdict)}
                for c in g.conversations
            ],
        }
        for g in late.items
    ]
    rows: dict[str, Any] = {"groups": group_rows, "late": late_rows}
    if queue:
        rows |= {"carried": [len(carried.groups), len(carried.late)], "queue": batches}
    (path / ROWS).write_text(json.dumps(rows), encoding="utf-8")


_GROUPS = ("sampled", "kept", "surplus", "discarded")
_LATE_GROUPS = ("late_in", "late", "cancelled")
_COUNTS = ("carried_in", "target", "drawn", "gave_up", "prompts_too_long")


class _Numbered(Generic[T]):
    """Numbers objects by identity, so that a group in several lists is written once."""

    def __init__(self, items: Sequence[T]) -> None:
        self.items = list(items)
        self._numbers = {id(item): number for number, item in enumerate(items)}

    def numbers(self, items: Sequence[T]) -> list[int]:
        for item in items:
            if id(item) not in self._numbers:
                self._numbers[id(item)] = len(self.items)
                self.items.append(item)
        return [self._numbers[id(item)] for item in items]


def _verdict_row(verdict: Verdict) -> dict[str, Any]:
    names = (f.name for f in fields(verdict) if f.name not in ("findings", "turn"))
    return {name: getattr(verdict, name) for name in names} | {"metrics": dict(verdict.metrics)}


def _completion_row(completion: Completion) -> dict[str, Any]:
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "tokens": len(completion.token_ids),
        "logprobs": len(completion.logprobs),
        **({"given": completion.given} if completion.given else {}),
    }


def _policies(written: Sequence[Any] | None, group: Mapping[str, Any], tokens: int) -> Policies:
    """Return the policies of a response with ``tokens`` tokens. Older checkpoints hold only the first and last."""
    match written:
        case None:
            return ((0, group["step"] - 1),)
        case [int(first), int(last)]:
            return sampled_from(((0, first),), tokens, last)
        case _:
            return tuple((int(token), int(policy)) for token, policy in written)


def load_buffer(
    path: Path, samples_by_id: Mapping[str, Sample]
) -> tuple[Carried, list[SampledBatch]]:
    """Return the carried groups and queued batches that ``save_buffer`` wrote.

    Raises CheckpointError for a sample that is not in the dataset.
    """
    if not (path / ROWS).is_file():
        return Carried(), []
    from safetensors.torch import load_file

    tensors = load_file(path / TENSORS)
    token_ids, logprobs = (iter(tensors[name].tolist()) for name in ("token_ids", "logprobs"))

    def sample_of(row: Mapping[str, Any]) -> Sample:
        sample = samples_by_id.get(row["sample_id"])
        if sample is None:
            raise CheckpointError(
                f"the rollout buffer in {path} holds sample '{row['sample_id']}', which is not in "
                "the dataset: continue with the dataset that the run was started on"
            )
        return sample

    def completion_of(row: Mapping[str, Any]) -> Completion:
        ids = tuple(itertools.islice(token_ids, row["tokens"]))
        values = tuple(itertools.islice(logprobs, row["logprobs"]))
        given = tuple((start, stop) for start, stop in row.get("given", ()))
        return Completion(row["text"], ids, values, row["finish_reason"], given=given)

    rows = json.loads((path / ROWS).read_text(encoding="utf-8"))
    if isinstance(rows, list):  # format without late groups
        rows = {"groups": rows, "late": []}
    groups = []
    for row in rows["groups"]:
        trajectories = tuple(
            Trajectory(
                t["sample_index"],
                completion_of(t),
                Verdict(**t["verdict"]),
                t["shaped"],
                t["trains"],
                _policies(t.get("policies"), row, t["tokens"]),
                tuple(t.get("turns", ())),
                t.get("ended", ""),
            )
            for t in row["trajectories"]
        )
        groups.append(Group(sample_of(row), trajectories, row["step"]))
    late = []
    for row in rows["late"]:
        completions = tuple(completion_of(c) for c in row["completions"])
        pairs = row.get("policies") or [None] * len(completions)
        policies = tuple(
            _policies(pair, row, c["tokens"])
            for pair, c in zip(pairs, row["completions"], strict=True)
        )
        talks = tuple(
            Conversation(
                **c
                | {
                    "messages": tuple(c["messages"]),
                    "verdict": c["verdict"] and Verdict(**c["verdict"]),
                }
            )
            for c in row.get("conversations", ())
        )
        late.append(LateGroup(sample_of(row), completions, row["step"], policies, talks))
    ready, unfinished = rows.get("carried", [len(groups), len(late)])
    queue = []
    for row in rows.get("queue", []):
        values: dict[str, Any] = {name: row[name] for name in ("outcomes", *_COUNTS)}
        values |= {name: [groups[i] for i in row[name]] for name in _GROUPS}
        values |= {name: [late[i] for i in row[name]] for name in _LATE_GROUPS}
        queue.append(SampledBatch(row["step"], row["policy"], row["sampling"], Batch(**values)))
    return Carried(groups[:ready], late[:unfinished]), queue
