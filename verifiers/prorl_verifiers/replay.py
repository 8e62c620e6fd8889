"""Scores the recorded rollouts of a run again and compares the rewards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_verifiers.pool.pool import VerifierPool
from prorl_verifiers.remote_pool import RemotePool
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import TaskError

COLUMNS = (
    "step",
    "sample_id",
    "sample_index",
    "verifier",
    "reference",
    "response",
    "reward",
    "status",
)
BATCH = 2000
"""Number of rows scored at once."""


@dataclass(slots=True)
class Replay:
    """The result of a replay. ``masked`` counts the rollouts that have no recorded reward."""

    rows: int = 0
    agree: int = 0
    masked: int = 0
    differences: list[dict[str, Any]] = field(default_factory=list)

    @property
    def all_agree(self) -> bool:
        return self.agree + self.masked == self.rows


def replay_run(
    run: Path, pool: VerifierPool | RemotePool, on_done: Callable[[], None] | None = None
) -> Replay:
    """Score every rollout of ``run`` again. ``on_done`` is called after each rollout.

    Raises UserError for missing or invalid rollouts.
    """
    files = rollout_files(run)
    if not files:
        raise UserError(
            f"no rollouts to replay: {run / 'rollouts'} holds no step_*.parquet "
            "(logging.rollouts_every of its config says which steps keep theirs)"
        )
    result = Replay()
    for path in files.values():
        for batch in read_rollouts(path, COLUMNS).to_batches(BATCH):
            rows = batch.to_pylist()
            items = []
            for row in rows:
                place = f"step {row['step']} {row['sample_id']}#{row['sample_index']}"
                if not isinstance(row["response"], str):
                    raise UserError(f"{place}: the rollout has no response text")
                try:
                    items.append((row["response"], load_task(row["verifier"], row["reference"])))
                except TaskError as error:
                    raise TaskError(f"{place}: {error}") from error
            report = None if on_done is None else lambda _index, _verdict: on_done()
            for row, verdict in zip(rows, pool.score(items, report), strict=True):
                result.rows += 1
                if row["status"] == "infra_error" or row["reward"] is None:
                    result.masked += 1
                elif agrees(row, verdict.reward):
                    result.agree += 1
                else:
                    recorded = ("step", "sample_id", "sample_index", "verifier", "reward")
                    result.differences.append(
                        {key: row[key] for key in recorded}
                        | {
                            "now": verdict.reward,
                            "status": verdict.status,
                            "reason": verdict.reason,
                        }
                    )
    return result


def agrees(row: Mapping[str, Any], reward: float | None) -> bool | None:
    """Return whether ``reward`` equals the rollout's recorded reward, or None if either is missing."""
    if reward is None or row["reward"] is None or row["status"] == "infra_error":
        return None
    return abs(reward - float(row["reward"])) <= 1e-9
