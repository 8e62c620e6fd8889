"""Groups that wait for the next step, as JSON and tensors that give every bit back.

Text, verdicts and ids go to ``buffer.json``; token ids (int64) and log-probs (float64, a Python float's
own width) go to ``buffer.safetensors``, end to end. Prompts are not stored: a group names its sample.
Leaves out: which groups wait (``collector``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.rollout.types import Group, Trajectory
from prorl_training.run.checkpoint_store import CheckpointError
from prorl_verifiers import Verdict

ROWS, TENSORS = "buffer.json", "buffer.safetensors"


def save_buffer(path: Path, groups: Sequence[Group]) -> None:
    """Write ``groups`` into the folder ``path``; nothing is written for an empty buffer."""
    if not groups:
        return
    import torch
    from safetensors.torch import save_file

    every = [t for g in groups for t in g.trajectories]
    tokens = [x for t in every for x in t.completion.token_ids]
    logprobs = [x for t in every for x in t.completion.logprobs]
    tensors = {
        "token_ids": torch.tensor(tokens, dtype=torch.int64),
        "logprobs": torch.tensor(logprobs, dtype=torch.float64),
    }
    save_file(tensors, path / TENSORS)
    rows = [
        {
            "sample_id": g.sample.id,
            "step": g.step,
            "trajectories": [_trajectory_row(t) for t in g.trajectories],
        }
        for g in groups
    ]
    (path / ROWS).write_text(json.dumps(rows), encoding="utf-8")


def load_buffer(path: Path, samples_by_id: Mapping[str, Sample]) -> list[Group]:
    """Return the groups of a checkpoint's folder, equal to those saved; [] when none waited.

    Raises CheckpointError when a group's sample is not in the dataset.
    """
    if not (path / ROWS).is_file():
        return []
    from safetensors.torch import load_file

    tensors = load_file(path / TENSORS)
    numbers = _Numbers(tensors["token_ids"].tolist(), tensors["logprobs"].tolist())
    groups = []
    for row in json.loads((path / ROWS).read_text(encoding="utf-8")):
        sample = samples_by_id.get(row["sample_id"])
        if sample is None:
            raise CheckpointError(
                f"the rollout buffer in {path} holds sample '{row['sample_id']}', which the dataset "
                "lacks: go on with the dataset that the run was started on"
            )
        trajectories = tuple(_trajectory(t, numbers) for t in row["trajectories"])
        groups.append(Group(sample, trajectories, row["step"]))
    return groups


class _Numbers:
    """Hands out the token ids and log-probs of one trajectory after the other."""

    def __init__(self, token_ids: list[int], logprobs: list[float]) -> None:
        self._ids, self._logprobs = iter(token_ids), iter(logprobs)

    def take(self, tokens: int, logprobs: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
        ids = tuple(next(self._ids) for _ in range(tokens))
        return ids, tuple(next(self._logprobs) for _ in range(logprobs))


def _trajectory_row(t: Trajectory) -> dict[str, Any]:
    c, v = t.completion, t.verdict
    return {
        "sample_index": t.sample_index,
        "text": c.text,
        "finish_reason": c.finish_reason,
        "tokens": len(c.token_ids),
        "logprobs": len(c.logprobs),
        "verdict": {f.name: getattr(v, f.name) for f in fields(v)} | {"metrics": dict(v.metrics)},
        "shaped": t.shaped,
        "trains": t.trains,
    }


def _trajectory(row: Mapping[str, Any], numbers: _Numbers) -> Trajectory:
    ids, logprobs = numbers.take(row["tokens"], row["logprobs"])
    completion = Completion(row["text"], ids, logprobs, row["finish_reason"])
    verdict = Verdict(**row["verdict"])
    return Trajectory(row["sample_index"], completion, verdict, row["shaped"], row["trains"])
