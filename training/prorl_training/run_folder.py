"""The folder of one run: resolved config, journals, rollouts, checkpoints.

    runs/<name>/config.yaml  metrics.jsonl  decisions.jsonl  rollouts/step_000001.parquet
                checkpoints/step_000012/  checkpoints/latest  tensorboard/

Leaves out: what is in a checkpoint (``checkpoint``) and what the numbers mean (``metrics``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prorl_common import (
    Journal,
    UserError,
    atomic_write_bytes,
    atomic_write_text,
    nearest,
    read_jsonl,
)
from prorl_training.config import TrainConfig
from prorl_training.config_loading import load_saved_config, save_config
from prorl_training.controller import Decision
from prorl_training.rollout import Group

RUNS = Path("runs")


class RunFolder:
    """Paths and journals of one run. Raises UserError where the folder cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config_path = path / "config.yaml"
        self.metrics_path = path / "metrics.jsonl"
        self.decisions_path = path / "decisions.jsonl"
        self.checkpoints = path / "checkpoints"
        self.rollouts = path / "rollouts"

    @property
    def name(self) -> str:
        """The run's name."""
        return self.path.name

    def create(self, config: TrainConfig) -> None:
        """Write the resolved config into a new folder; an existing run is never overwritten."""
        if self.config_path.exists():
            raise UserError(
                f"{self.path} already holds a run: continue it with --resume {self.name}, "
                "or choose another --name"
            )
        save_config(config, self.config_path)

    def config(self) -> TrainConfig:
        """Return the run's resolved config."""
        if not self.config_path.is_file():
            raise UserError(f"{self.path} is not a run: it has no config.yaml")
        return load_saved_config(self.config_path)

    def truncate_after(self, step: int) -> None:
        """Drop journal lines and rollouts of steps after ``step``; they will be done again."""
        for path in (self.metrics_path, self.decisions_path):
            if path.exists():
                with Journal(path) as journal:
                    rows = [r for r in journal.rows() if r["step"] <= step]
                text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
                atomic_write_text(path, text)
        for path in self.rollouts.glob("step_*.parquet"):
            if int(path.stem.removeprefix("step_")) > step:
                path.unlink()

    def metrics(self) -> list[dict[str, Any]]:
        """Return all complete lines of ``metrics.jsonl``."""
        return _rows(self.metrics_path)

    def decisions(self) -> list[dict[str, Any]]:
        """Return all complete lines of ``decisions.jsonl``."""
        return _rows(self.decisions_path)

    def log_decisions(self, decisions: Sequence[Decision]) -> None:
        """Append decisions to ``decisions.jsonl``."""
        if decisions:
            with Journal(self.decisions_path) as journal:
                journal.extend([d.to_json() for d in decisions])

    def log_metrics(self, row: dict[str, Any]) -> None:
        """Append one step's line to ``metrics.jsonl``."""
        with Journal(self.metrics_path) as journal:
            journal.append(row)

    def write_rollouts(self, step: int, groups: Sequence[Group], kept: Sequence[Group]) -> None:
        """Write every sampled response of a step with its verdict, so each reward can be re-checked."""
        import io

        import pyarrow as pa
        import pyarrow.parquet as pq

        kept_ids = {g.sample.id for g in kept}
        rows = [
            _rollout_row(step, group, i, group.sample.id in kept_ids)
            for group in groups
            for i in range(len(group.trajectories))
        ]
        if not rows:
            return
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer, compression="zstd")
        atomic_write_bytes(self.rollouts / f"step_{step:06d}.parquet", buffer.getvalue())


def _rows(path: Path) -> list[dict[str, Any]]:
    return [row for _, row in read_jsonl(path)] if path.exists() else []


def _rollout_row(step: int, group: Group, index: int, kept: bool) -> dict[str, Any]:
    t, s = group.trajectories[index], group.sample
    return {
        "step": step,
        "sample_id": s.id,
        "sample_index": t.sample_index,
        "domain": s.domain,
        "verifier": s.task.verifier,
        "reference": s.task.reference_json(),
        "response": t.completion.text,
        "tokens": len(t.completion.token_ids),
        "finish_reason": t.completion.finish_reason,
        "reward": t.verdict.reward,
        "shaped_reward": t.shaped,
        "status": t.verdict.status,
        "reason": t.verdict.reason,
        "isolation": t.verdict.isolation,
        "kept": kept,
    }


def list_runs(root: Path = RUNS) -> list[RunFolder]:
    """Return the runs under ``root``, newest last (by the time of their last journal line)."""
    if not root.is_dir():
        return []
    found = [p.parent for p in root.glob("*/config.yaml")]
    return [RunFolder(p) for p in sorted(found, key=_last_written)]


def _last_written(path: Path) -> float:
    journal = path / "metrics.jsonl"
    return (journal if journal.exists() else path / "config.yaml").stat().st_mtime


def find_run(name: str | None, root: Path = RUNS) -> RunFolder:
    """Return the run called ``name`` (a name or a path), or the newest when None or ``latest``."""
    runs = list_runs(root)
    if name is None or name == "latest":
        if not runs:
            raise UserError(f"no runs under {root}/: start one with prorl train")
        return runs[-1]
    for path in (Path(name), root / name):
        if (path / "config.yaml").is_file():
            return RunFolder(path)
    names = [r.name for r in runs]
    raise UserError(f"no run called '{name}'{nearest(name, names)}; see prorl train status")
