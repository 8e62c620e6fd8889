"""One line about a run: how far it is, how it does, and whether anyone is working on it.

Reads the ends of the journals only.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from prorl_common import UserError
from prorl_common.config import read_config_file
from prorl_training.run.folder import RunFolder, last_written

RunState = Literal["running", "finished", "failed", "stopped"]
"""``failed``: an error or a safety rule ended it; ``stopped``: interrupted or killed."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """What ``prorl train status`` says of a run; ``age_seconds`` since it last wrote a step."""

    run: str
    path: str
    state: RunState
    preset: str | None
    step: int
    steps: int | None
    reward_mean: float | None
    validation_reward: float | None
    validation_step: int | None
    last_reset: int | None
    age_seconds: float
    reason: str
    """Why it failed; empty otherwise."""

    def to_json(self) -> dict[str, Any]:
        """Return the status as a JSON object."""
        return asdict(self)


def run_status(run: RunFolder, now: float | None = None) -> RunStatus:
    """Return the status of a run; ``now`` is a Unix time. Never fails because of the run's contents."""
    try:
        config = read_config_file(run.config_path)
    except UserError as error:
        config = {}
        trouble = str(error)
    else:
        trouble = ""
    last: dict[str, Any] = next(_backwards(run.metrics_path), {})
    validated = next((r for r in _backwards(run.metrics_path) if "validation_reward" in r), {})
    resets = (r for r in _backwards(run.decisions_path) if r.get("kind") == "reference_reset")
    step, steps = int(last.get("step", 0)), config.get("steps")
    state, reason = run_state(run, step, steps)
    return RunStatus(
        run=run.name,
        path=str(run.path),
        state=state,
        preset=config.get("preset"),
        step=step,
        steps=steps,
        reward_mean=last.get("reward_mean"),
        validation_reward=validated.get("validation_reward"),
        validation_step=validated.get("step"),
        last_reset=next(resets, {}).get("step"),
        age_seconds=round((time.time() if now is None else now) - last_written(run), 1),
        reason=reason or trouble,
    )


def run_state(run: RunFolder, step: int, steps: int | None) -> tuple[RunState, str]:
    """Return (state, why it failed) of a run that has done ``step`` of its ``steps``."""
    if run.is_written():
        return "running", ""
    ended: Any = {}
    with contextlib.suppress(FileNotFoundError, ValueError, RecursionError):  # none, or torn
        if run.ended_path.is_file():
            ended = json.loads(run.ended_path.read_text(encoding="utf-8"))
    if isinstance(ended, dict) and ended.get("state") == "failed":
        return "failed", str(ended.get("reason", ""))
    decision: dict[str, Any] = next(_backwards(run.decisions_path), {})
    at = decision.get("step", 0)
    last = decision.get("kind") if isinstance(at, int) and at >= step else None
    if last == "run_stopped":
        return "failed", str(decision.get("reason", ""))
    done = last == "run_ended" or (steps is not None and step >= steps)
    return ("finished" if done else "stopped"), ""


def _backwards(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a journal, newest first, without a torn last line."""
    if not path.is_file():
        return
    lines = path.read_bytes().split(b"\n")[:-1]
    for line in reversed(lines):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row
