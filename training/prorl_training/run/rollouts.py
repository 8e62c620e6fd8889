"""Write the responses of a step as ``rollouts/step_000001.parquet``.

Files are written atomically but not synced to disk.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from prorl_common.files import explain_write_errors
from prorl_common.rollout_files import rollout_file, schema
from prorl_datasets import Sample
from prorl_inference.types import Completion, sampled_at
from prorl_training.run.folder import RunFolder
from prorl_training.types import Group, Learned, Trajectory

TOKEN_COLUMNS = ("token_ids", "token_policies", "sampler_logprobs", "trainer_logprobs")
"""Columns with one value per token, null with ``logging.rollouts=texts``."""


@dataclass(frozen=True, slots=True)
class _Row:
    group: Group
    trajectory: Trajectory
    trained: bool = False
    carried: bool = False
    index: int | None = None
    """Number of the trajectory in the update."""


def write_rollouts(
    folder: RunFolder,
    step: int,
    sampled: Sequence[Group],
    learned: Learned,
    detail: Literal["full", "texts"] = "full",
) -> None:
    """Write one row per response: the ``sampled`` groups, then carried groups that the step trained on.

    Raises DiskFullError, and UserError if the disk is not writable.
    """
    import pyarrow as pa
    from pyarrow import parquet

    folder.check_exists()
    rows = list(_rows(sampled, learned))
    if not rows:
        return
    samples = {row.group.sample.id: row.group.sample for row in rows}
    about = {name: _sample_columns(sample) for name, sample in samples.items()}
    plain = [
        {"step": step, **about[row.group.sample.id], **_response_columns(row, learned.advantages)}
        for row in rows
    ]
    tokens = _token_columns(rows, learned) if detail == "full" else {}
    columns = schema()
    arrays = [
        tokens[f.name] if f.name in tokens else pa.array([p.get(f.name) for p in plain], f.type)
        for f in columns
    ]
    table = pa.Table.from_arrays(arrays, schema=columns)
    target = rollout_file(folder.path, step)
    with explain_write_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        work = target.with_name(f".{target.name}")
        parquet.write_table(
            table,
            work,
            compression="zstd",
            write_statistics=False,
            use_dictionary=[name for name in columns.names if name not in TOKEN_COLUMNS],
            use_byte_stream_split=[f"{name}.list.element" for name in TOKEN_COLUMNS],
        )
        os.replace(work, target)


def _rows(sampled: Sequence[Group], learned: Learned) -> Iterator[_Row]:
    number = itertools.count()
    trained = {
        (g.sample.id, g.step): [(t, next(number) if t.scored else None) for t in g.trajectories]
        for g in learned.groups
    }
    for group in sampled:
        pairs = trained.pop((group.sample.id, group.step), None)
        if pairs is None:
            yield from (_Row(group, t) for t in group.trajectories)
        else:
            yield from (_Row(group, t, trained=True, index=index) for t, index in pairs)
    for group in learned.groups:
        for t, index in trained.get((group.sample.id, group.step), ()):
            yield _Row(group, t, trained=True, carried=True, index=index)


def _sample_columns(sample: Sample) -> dict[str, Any]:
    return {
        "sample_id": sample.id,
        "domain": sample.domain,
        "task": sample.family,
        "level": sample.rung or None,
        "verifier": sample.task.verifier,
        "reference": sample.task.reference_json(),
        "prompt": json.dumps([dict(m) for m in sample.prompt], ensure_ascii=False),
    }


def _response_columns(row: _Row, advantages: Sequence[float]) -> dict[str, Any]:
    t = row.trajectory
    c, v = t.completion, t.verdict
    advantage = advantages[row.index] if advantages and row.index is not None else None
    return {
        "sample_index": t.sample_index,
        "response": c.text,
        "tokens": len(c.token_ids),
        "finish_reason": c.finish_reason,
        "reward": v.reward,
        "shaped_reward": t.shaped,
        "advantage": advantage,
        "status": v.status,
        "reason": _storable(v.reason),
        "extracted": None if v.extracted is None else _storable(v.extracted),
        "isolation": v.isolation,
        "seconds": v.seconds,
        "metrics": json.dumps(dict(v.metrics)) if v.metrics else None,
        "kept": row.trained,
        "carried": row.carried,
        "turns": json.dumps(t.turns, ensure_ascii=True) if t.turns else None,
        "ended": t.ended or None,
        "place": row.index,
        "policy_first": t.first_policy,
        "policy_last": t.policies[-1][1],
    }


def _storable(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _token_columns(rows: Sequence[_Row], learned: Learned) -> dict[str, Any]:
    completions = [row.trajectory.completion for row in rows]
    before = learned.trainer_logprobs
    return {
        "token_ids": _lists([c.token_ids for c in completions], np.int32),
        "token_policies": _lists([_token_policies(row.trajectory) for row in rows], np.int32),
        "given": _lists([[i for r in c.given for i in r] for c in completions], np.int32),
        "sampler_logprobs": _lists(
            [None if any(map(math.isnan, c.logprobs[:1])) else c.logprobs for c in completions],
            np.float32,
        ),
        "trainer_logprobs": _lists(
            [
                None if row.index is None else _all_tokens(c, before.get(row.index))
                for row, c in zip(rows, completions, strict=True)
            ],
            np.float32,
        ),
    }


def _token_policies(t: Trajectory) -> np.ndarray[Any, Any]:
    starts, policies = zip(*t.policies, strict=True)
    return np.repeat(policies, np.diff([*starts, len(t.completion.token_ids)]))


def _all_tokens(completion: Completion, values: Any) -> Any:
    """Return a value for each token: ``values`` for sampled tokens, 0 for an environment's tokens."""
    if values is None or not completion.given:
        return values
    every = np.zeros(len(completion.token_ids), dtype=np.float32)
    every[list(sampled_at(len(every), completion.given))] = values
    return every


def _lists(values: Sequence[Any], kind: type[np.generic]) -> Any:
    import pyarrow as pa

    parts = [np.asarray(() if part is None else part, dtype=kind) for part in values]
    lengths = np.array([len(part) for part in parts])
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    missing = pa.array([part is None for part in values])
    flat = pa.array(np.concatenate(parts))
    return pa.ListArray.from_arrays(pa.array(offsets), flat, mask=missing)
