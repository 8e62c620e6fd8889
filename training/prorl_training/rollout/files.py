"""``rollouts/step_000001.parquet``: every sampled response of a step with its verdict.

Every reward of a run can be checked again from these files (``prorl verify replay``). A file appears whole, by
rename, so that a kill leaves none torn. Nothing is forced to the disk: a run does not read its rollouts back,
and one fsync a step costs more than writing them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prorl_common.files import explain_write_errors
from prorl_training.rollout.types import Group

COLUMNS = {
    "step": "int64",
    "sample_id": "string",
    "sample_index": "int64",
    "domain": "string",
    "verifier": "string",
    "reference": "string",
    "response": "string",
    "tokens": "int64",
    "finish_reason": "string",
    "reward": "float64",
    "shaped_reward": "float64",
    "status": "string",
    "reason": "string",
    "isolation": "string",
    "kept": "bool_",
}
"""Name and pyarrow type of each column, in order; the same in every file."""


class RolloutFiles:
    """Writes the files of one run's ``rollouts`` folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, step: int, groups: Sequence[Group], kept: Sequence[Group]) -> None:
        """Write a step's sampled groups, a row a response; nothing when there are none.

        ``kept`` are the groups the step trained on, with their shaped rewards; those carried over from an
        earlier step have their rows in that step's file, with ``kept`` false there. Raises UserError when
        the disk is full or closed to us.
        """
        import pyarrow as pa
        from pyarrow import parquet

        trained = {g.sample.id: g for g in kept if g.step == step}
        rows: list[tuple[Any, ...]] = []  # values in the order of COLUMNS
        for group in groups:
            sample, own = group.sample, trained.get(group.sample.id)
            verifier, reference = sample.task.verifier, sample.task.reference_json()
            for t in (own or group).trajectories:
                c, v = t.completion, t.verdict
                rows.append(
                    (
                        *(step, sample.id, t.sample_index, sample.domain, verifier, reference),
                        *(c.text, len(c.token_ids), c.finish_reason, v.reward, t.shaped),
                        *(v.status, v.reason, v.isolation, own is not None),
                    )
                )
        if not rows:
            return
        schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in COLUMNS.items()])
        columns = zip(zip(*rows, strict=True), schema, strict=True)
        table = pa.Table.from_arrays([pa.array(c, f.type) for c, f in columns], schema=schema)
        target = self.folder / f"step_{step:06d}.parquet"
        with explain_write_errors(target):
            self.folder.mkdir(parents=True, exist_ok=True)
            work = self.folder / f".{target.name}"
            parquet.write_table(table, work, compression="zstd", write_statistics=False)
            os.replace(work, target)

    def truncate_after(self, step: int) -> None:
        """Delete the files of steps after ``step`` and what a kill left half written."""
        for path in self.folder.glob("step_*.parquet"):
            if int(path.stem.removeprefix("step_")) > step:
                path.unlink()
        for path in self.folder.glob(".step_*.parquet*"):
            path.unlink()
