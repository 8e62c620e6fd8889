"""A checkpoint holds everything a run needs to go on as if it had never stopped.

    step_000012/policy/     a Hugging Face model folder (safetensors, float32) with its tokenizer
                reference.safetensors    absent where the reference is the policy itself, bit for bit
                adapters.safetensors     with LoRA only: ``policy`` has them merged into its weights
                optimizer.safetensors    buffer.json, buffer.safetensors    groups that wait, whole or late
                items.json    what the rollouts have said of each item
                state.json    step, updates, environment, and what the engine gave (controller, guard, ...)
                manifest.json

Of the waiting groups ``buffer.json`` holds texts, verdicts and ids, ``buffer.safetensors`` token ids (int64) and
log-probs (float64, a Python float's own width), end to end: every bit comes back. Prompts are not stored, a
group names its sample. safetensors and JSON only (the cluster engine's optimiser files apart). Every random
number of a run is derived from (seed, step, item), so there is no generator state to save, and the place in the
data is the step.
Finding, checking and pruning checkpoints is ``checkpoint_store``'s, the policy's own files ``policy.files``'.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

from prorl_common import DiskFullError, atomic_directory, atomic_write_text
from prorl_common.files import is_full, says_disk_full
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.rollout.item_records import ItemRecords
from prorl_training.rollout.types import Carried, Group, LateGroup, Trajectory
from prorl_training.run.checkpoint_store import (
    STATE,
    CheckpointError,
    checkpoint_path,
    seal,
    sync_folder,
)
from prorl_verifiers import Verdict

ROWS, TENSORS = "buffer.json", "buffer.safetensors"


class WritesCheckpoint(Protocol):
    """What a policy in training does for its checkpoint."""

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write model, tokenizer, reference and optimiser into ``work``; return entries for state.json."""
        ...


def save_checkpoint(
    root: Path,
    step: int,
    policy: WritesCheckpoint,
    tokenizer: Any,
    state: Mapping[str, Any],
    carried: Carried | None = None,
    records: ItemRecords | None = None,
) -> Path:
    """Write a checkpoint atomically, make it the latest and return its folder.

    ``state`` is what the engine wants back from ``open_checkpoint`` (JSON values, numbers exact). Raises
    DiskFullError, and UserError where the disk is closed to us; older checkpoints are untouched then.
    """
    from prorl_inference import quiet_transformers

    target = checkpoint_path(root, step)
    with atomic_directory(target) as work, _explained(target, work), quiet_transformers():
        entries = policy.write_checkpoint(work, tokenizer)
        save_buffer(work, carried or Carried())
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
    """Say in one line why a checkpoint could not be written into ``work``, whichever library met the full disk."""
    try:
        yield
    except Exception as error:
        if says_disk_full(error) or is_full(work):
            raise DiskFullError(
                f"cannot write the checkpoint {target}: the disk is full; make room (checkpoint.keep, "
                "old runs) and go on with --resume, the checkpoints before it are whole"
            ) from error
        raise


def save_buffer(path: Path, carried: Carried) -> None:
    """Write what is carried into the folder ``path``; nothing is written where nothing is."""
    if not carried:
        return
    import torch
    from safetensors.torch import save_file

    every = [t.completion for g in carried.groups for t in g.trajectories]
    every += [c for g in carried.late for c in g.completions]
    tokens = [x for c in every for x in c.token_ids]
    logprobs = [x for c in every for x in c.logprobs]
    tensors = {
        "token_ids": torch.tensor(tokens, dtype=torch.int64),
        "logprobs": torch.tensor(logprobs, dtype=torch.float64),
    }
    save_file(tensors, path / TENSORS)
    groups = [
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
                }
                for t in g.trajectories
            ],
        }
        for g in carried.groups
    ]
    late = [
        {
            "sample_id": g.sample.id,
            "step": g.step,
            "completions": [_completion_row(c) for c in g.completions],
            "policies": g.policies,
        }
        for g in carried.late
    ]
    (path / ROWS).write_text(json.dumps({"groups": groups, "late": late}), encoding="utf-8")


def _verdict_row(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict's fields but for the findings: nobody asks in training."""
    names = (f.name for f in fields(verdict) if f.name != "findings")
    return {name: getattr(verdict, name) for name in names} | {"metrics": dict(verdict.metrics)}


def _completion_row(completion: Completion) -> dict[str, Any]:
    """Return what the JSON file holds of a completion."""
    return {
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "tokens": len(completion.token_ids),
        "logprobs": len(completion.logprobs),
    }


def _policies(pair: Sequence[int] | None, group: Mapping[str, Any]) -> tuple[int, int]:
    """Return the policies that sampled a response; a checkpoint too old to tell knows when its group was begun."""
    first, last = pair or (group["step"] - 1, group["step"] - 1)
    return first, last


def load_buffer(path: Path, samples_by_id: Mapping[str, Sample]) -> Carried:
    """Return what a checkpoint's folder carries, equal to what was saved.

    Raises CheckpointError when a group's sample is not in the dataset.
    """
    if not (path / ROWS).is_file():
        return Carried()
    from safetensors.torch import load_file

    tensors = load_file(path / TENSORS)
    token_ids, logprobs = (iter(tensors[name].tolist()) for name in ("token_ids", "logprobs"))

    def sample_of(row: Mapping[str, Any]) -> Sample:
        sample = samples_by_id.get(row["sample_id"])
        if sample is None:
            raise CheckpointError(
                f"the rollout buffer in {path} holds sample '{row['sample_id']}', which the dataset "
                "lacks: go on with the dataset that the run was started on"
            )
        return sample

    def completion_of(row: Mapping[str, Any]) -> Completion:
        ids = tuple(itertools.islice(token_ids, row["tokens"]))
        own = tuple(itertools.islice(logprobs, row["logprobs"]))
        return Completion(row["text"], ids, own, row["finish_reason"])

    rows = json.loads((path / ROWS).read_text(encoding="utf-8"))
    if isinstance(rows, list):  # written before groups could be late
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
                _policies(t.get("policies"), row),
            )
            for t in row["trajectories"]
        )
        groups.append(Group(sample_of(row), trajectories, row["step"]))
    late = []
    for row in rows["late"]:
        completions = tuple(completion_of(c) for c in row["completions"])
        known = row.get("policies") or [None] * len(completions)
        policies = tuple(_policies(pair, row) for pair in known)
        late.append(LateGroup(sample_of(row), completions, row["step"], policies))
    return Carried(groups, late)
