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
from prorl_training.schedule.safety import EVERY_STEP
from prorl_viewer.runs.around import STEPS
from prorl_viewer.runs.curves import BY_NAME, Z95, smoothing, thin, words
from prorl_viewer.runs.journal import FAR, Metrics
from prorl_viewer.subject import Json


def settings(run: RunFolder) -> Json:
    """Return the run's and the preset's value of every setting; ``known`` is false for an unknown preset."""
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
    except UserError:  # the preset was removed, or is a file
        return None


PACE = 50
"""Number of newest steps whose median duration predicts the remaining time."""
SPARK = 60
"""Number of buckets of a sparkline."""
PAIRS = 10
"""Minimum number of problems for a paired interval."""
STATES = {
    "running": "running",
    "finished": "ended",
    "failed": "failed",
    "killed": "killed",
    "stopped": "stopped early",
}


def header(run: RunFolder, metrics: Metrics, decisions: Sequence[Mapping[str, Any]]) -> Json:
    """Return the run's state and facts, also for a damaged folder."""
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
    change, written = gain(metrics), last_written(run)
    shows, sentence = verdict(change)
    return {
        "name": run.name,
        "state": display_state,
        "state_words": STATES[display_state],
        "reason": reason or trouble,
        "step": step,
        "steps": steps,
        "eta_seconds": eta,
        "age_seconds": round(time.time() - written, 1),
        "written": written,
        "train_seconds": math.fsum(seconds),
        "tokens": None if tokens is None else tokens[1],
        "reward": statistics.fmean(rewards) if rewards else None,
        "validation": _validation(metrics),
        "gain": change,
        "verdict": shows,
        "sentence": sentence,
        "domains": by_domain(metrics, change),
        "controlled": controlled(decisions),
        "last_reset": resets[-1] if resets else None,
        "preset": config.get("preset"),
        "engine": config.get("engine"),
        "seed": config.get("seed"),
        "model": _path_in(config, "model"),
        "data": _path_in(config, "data"),
        "identity": _identity(run),
        "lineage": _lineage(run),
    }


def summary(head: Mapping[str, Any], metrics: Metrics) -> Json:
    drawn = "reward_mean" if head["gain"] is None else "validation_reward"
    line = thin(
        metrics.steps, metrics.column(drawn), SPARK, smoothing(BY_NAME[drawn], head["step"])
    )
    names = ("state", "state_words", "step", "steps", "reward", "validation", "gain", "written")
    return {
        **{name: head[name] for name in (*names, "verdict", "preset", "model", "reason")},
        "spark": {"of": drawn, "points": line.points},
    }


def gain(metrics: Metrics) -> Json:
    """Return the change of the reward from the first to the newest validation, with its 95 % interval.

    It is paired if at least PAIRS problems have a reward in both. None with fewer than two validations.
    """
    values = zip(metrics.steps, metrics.column("validation_reward"), strict=True)
    points = [(step, value) for step, value in values if math.isfinite(value)]
    if len(points) < 2:
        return None
    (first, before), (last, after) = points[0], points[-1]
    ends = [metrics.problems.get(step, ()) for step in (first, last)]
    pairs = [
        (a, b)
        for a, b in zip(*ends, strict=False)
        if all(isinstance(r, int | float) and math.isfinite(r) for r in (a, b))
    ]
    if len(ends[0]) == len(ends[1]) and len(pairs) >= PAIRS:
        before, after = (statistics.fmean(rewards) for rewards in zip(*pairs, strict=True))
        error = statistics.stdev(b - a for a, b in pairs) / math.sqrt(len(pairs))
    else:
        pairs = []
        errors = [e for s in (first, last) for e in metrics.window("validation_se", s, s)]
        error = math.hypot(*errors) if len(errors) == 2 and any(errors) else math.nan
    best = max(points, key=lambda point: point[1])
    row = {"first": first, "last": last, "before": before, "after": after, "value": after - before}
    row |= {"low": row["value"] - Z95 * error, "high": row["value"] + Z95 * error}
    return row | {"paired": len(pairs), "best": best[1], "best_step": best[0]}


def verdict(change: Json) -> tuple[str, str]:
    """Return how the validation reward changed (``rose``, ``fell``, ``unclear`` or ``none``), and a sentence."""
    if change is None:
        return "none", "Not measured yet: a gain takes two validations."
    ends = (
        f"from {change['before']:.2f} at step {change['first']} to {change['after']:.2f} at step "
        f"{change['last']}"
    )
    if math.isnan(change["low"]):
        return "unclear", f"Validation went {ends}. There is no interval, so no change is claimed."
    over = f", paired over {change['paired']} problems" if change["paired"] else ""
    if change["low"] > 0:
        return "rose", f"It learned: validation rose {ends}{over}."
    if change["high"] < 0:
        return "fell", f"It got worse: validation fell {ends}{over}."
    return "unclear", f"No change is shown: validation went {ends}, within the noise{over}."


def by_domain(metrics: Metrics, change: Json) -> Json:
    """Return each domain's reward at the first and newest validation or, without validations, in training."""
    rows: list[dict[str, Any]] = []
    steps, width = metrics.steps, min(STEPS, len(metrics.steps) // 2)
    key, spans = "reward_mean", [(s[0], s[-1]) for s in (steps[:width], steps[-width:]) if width]
    if change is not None and "validation_reward" in metrics.keys_of_parts("domains"):
        key, spans = "validation_reward", [(change[at], change[at]) for at in ("first", "last")]
    for name in metrics.parts("domains") if spans else ():
        before, after = (metrics.window(f"domains/{name}/{key}", *span) for span in spans)
        if before and after:
            ends = {"before": statistics.fmean(before), "after": statistics.fmean(after)}
            rows.append({"name": name, **ends})
    rows.sort(key=lambda row: row["before"] - row["after"])
    return {"of": key, "steps": width, "rows": rows}


def controlled(decisions: Sequence[Mapping[str, Any]]) -> Json:
    """Return the number and last step of each kind of decision, except kinds decided in every step."""
    kinds: dict[str, list[int]] = {}
    for row in decisions:
        if isinstance(row.get("kind"), str) and row["kind"] not in EVERY_STEP:
            kinds.setdefault(row["kind"], []).append(row["step"])
    return [{"kind": words(k), "count": len(s), "last": s[-1]} for k, s in kinds.items()]


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
    except (ValueError, RecursionError):  # the file is not JSON
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
    except (UserError, OSError, ValueError, TypeError, AttributeError, KeyError):
        # the checkpoint was pruned, or its state is invalid
        return []
