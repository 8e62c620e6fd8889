"""Groups that wait for the next step, as JSON and tensors that give every bit back.

Text, verdicts and ids go to ``buffer.json``; token ids (int64) and log-probs (float64, a Python float's
own width) go to ``buffer.safetensors``, end to end. Prompts are not stored: a group names its sample.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

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
            "trajectories": [
                {
                    "sample_index": t.sample_index,
                    "text": t.completion.text,
                    "finish_reason": t.completion.finish_reason,
                    "tokens": len(t.completion.token_ids),
                    "logprobs": len(t.completion.logprobs),
                    "verdict": {f.name: getattr(t.verdict, f.name) for f in fields(t.verdict)}
                    | {"metrics": dict(t.verdict.metrics)},
                    "shaped": t.shaped,
                    "trains": t.trains,
                }
                for t in g.trajectories
            ],
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
    token_ids, logprobs = (iter(tensors[name].tolist()) for name in ("token_ids", "logprobs"))

    groups = []
    for row in json.loads((path / ROWS).read_text(encoding="utf-8")):
        sample = samples_by_id.get(row["sample_id"])
        if sample is None:
            raise CheckpointError(
                f"the rollout buffer in {path} holds sample '{row['sample_id']}', which the dataset "
                "lacks: go on with the dataset that the run was started on"
            )
        trajectories = []
        for t in row["trajectories"]:
            ids = tuple(itertools.islice(token_ids, t["tokens"]))
            own = tuple(itertools.islice(logprobs, t["logprobs"]))
            completion = Completion(t["text"], ids, own, t["finish_reason"])
            verdict = Verdict(**t["verdict"])
            trajectories.append(
                Trajectory(t["sample_index"], completion, verdict, t["shaped"], t["trains"])
            )
        groups.append(Group(sample, tuple(trajectories), row["step"]))
    return groups
