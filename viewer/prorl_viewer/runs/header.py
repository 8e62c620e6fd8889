"""Returns the header of a run's page."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_training.config.loading import load_config, saved_values
from prorl_training.run.checkpoint import checkpoint_path, newest_step, read_state
from prorl_training.run.folder import RunFolder, last_written, run_state
from prorl_training.run.lineage import lines
from prorl_training.run.resume import flat
from prorl_viewer.runs.around import STEPS
from prorl_viewer.runs.curves import Z95
from prorl_viewer.runs.journal import FAR, Metrics
from prorl_viewer.subject import Json


def settings(run: RunFolder) -> Json:
    """Return every setting and its value in the preset; ``known`` is false if the preset is unknown."""
    values = flat(read_plain(run.config_path))
    preset = values.get("preset")
    defaults = _of_preset(str(preset))
    keys = dict.fromkeys([*values, *(defaults or {})])
    return {
        "preset": preset,
        "known": defaults is not None,
        "settings": [
            {"key": key, "value": values.get(key), "preset": (defaults or {}).get(key)}
            for key in keys
            if key != "preset"
        ],
    }


def read_plain(path: Path) -> dict[str, Any]:
    """Return a config's values, cached until the file changes. Raises UserError."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        raise UserError(f"{path.parent} is not a run: it has no {path.name}") from None
    return _read_plain(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read_plain(path: Path, time: int, size: int) -> dict[str, Any]:
    del time, size
    return saved_values(path)


@cache
def _of_preset(name: str) -> Mapping[str, Any] | None:
    try:
        return flat(load_config(name).model_dump(mode="json"))
    except UserError:  # a removed preset, or a file
        return None


PACE = 50
"""The remaining time is estimated from the median duration of this many newest steps."""
STATES = {
    "running": "running",
    "finished": "ended",
    "failed": "failed",
    "killed": "killed",
    "stopped": "stopped early",
}


def header(run: RunFolder, metrics: Metrics, decisions: Sequence[Mapping[str, Any]]) -> Json:
    """Return the run's state and facts, even for a damaged folder."""
    config, trouble = dict[str, Any](), ""
    try:
        config = read_plain(run.config_path)
    except UserError as error:
        trouble = str(error)
    step, steps = metrics.steps[-1] if metrics.steps else 0, config.get("steps")
    if not isinstance(steps, int) or steps >= FAR:
        steps = None
    state, reason = run_state(run, step, steps)
    was_killed = run.lock_path.exists() and not run.ended_path.exists()
    display_state = "killed" if state == "stopped" and was_killed else state
    seconds = [s for s in metrics.column("seconds") if math.isfinite(s)]
    eta = None
    if state == "running" and steps is not None and seconds:
        eta = max(steps - step, 0) * statistics.median(seconds[-PACE:])
    tokens = metrics.newest("tokens_total")
    # a single step's reward depends on the problems drawn
    rewards = metrics.window("reward_mean", step - STEPS + 1, step)
    resets = [row["step"] for row in decisions if row.get("kind") == "reference_reset"]
    return {
        "name": run.name,
        "state": display_state,
        "state_words": STATES[display_state],
        "reason": reason or trouble,
        "step": step,
        "steps": steps,
        "eta_seconds": eta,
        "age_seconds": round(time.time() - last_written(run), 1),
        "train_seconds": math.fsum(seconds),
        "tokens": None if tokens is None else tokens[1],
        "reward": statistics.fmean(rewards) if rewards else None,
        "validation": _validation(metrics),
        "last_reset": resets[-1] if resets else None,
        "preset": config.get("preset"),
        "engine": config.get("engine"),
        "seed": config.get("seed"),
        "model": _path_in(config, "model"),
        "data": _path_in(config, "data"),
        "identity": _identity(run),
        "lineage": _lineage(run),
    }


def summary(head: Mapping[str, Any]) -> Json:
    """Return the header's part for the list of subjects."""
    validation = head["validation"]
    return {
        "state": head["state_words"],
        "step": head["step"],
        "of_steps": head["steps"],
        "reward": head["reward"],
        "validation_reward": validation and validation["value"],
        "preset": head["preset"],
        "model": head["model"],
        "reason": head["reason"] or None,
    }


def _validation(metrics: Metrics) -> Json:
    newest = metrics.newest("validation_reward")
    if newest is None:
        return None
    step, value = newest
    row = {"step": step, "value": value, "low": None, "high": None}
    if errors := metrics.window("validation_se", step, step):
        row |= {"low": value - Z95 * errors[0], "high": value + Z95 * errors[0]}
    return row


def _path_in(config: dict[str, Any], section: str) -> Any:
    part = config.get(section)
    return part.get("path") if isinstance(part, dict) else None


def _identity(run: RunFolder) -> Json:
    try:
        identity: Any = run.identity()
    except (ValueError, RecursionError):  # not JSON
        return {}
    if not isinstance(identity, dict):
        return {}
    return {key: identity[key] for key in ("dataset", "model", "parts") if key in identity}


def _lineage(run: RunFolder) -> list[str]:
    newest = newest_step(run.checkpoints)
    if newest is None:
        return []
    try:
        state = read_state(checkpoint_path(run.checkpoints, newest))
        return lines(state.get("lineage", []))
    except (UserError, OSError, ValueError, TypeError, AttributeError, KeyError):  # pruned, or odd
        return []
