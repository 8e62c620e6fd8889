"""Every mistake in a run's config at once; what a stage or phase sets is checked on top of what lies under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_common.config import Where, check, mistakes, suggest
from prorl_training.config.schedule import FIXED_IN_A_RUN, PHASE_SECTIONS
from prorl_training.config.schema import merge
from prorl_training.config.tree import TrainConfig


def check_config(values: Mapping[str, Any], complaints: Sequence[str] = ()) -> TrainConfig:
    """Return the config of plain values. ``complaints`` are lines that were found before.

    Raises ConfigError listing every unknown key (with the nearest known one) and every wrong value.
    """
    plain = dict(values)
    parts: list[tuple[str, int, Mapping[str, Any], Mapping[str, Any]]] = []  # + what lies under it
    stages: dict[object, Mapping[str, Any]] = {}
    for kind in ("stages", "phases"):
        given = values.get(kind)
        items = list(given) if isinstance(given, list | tuple) else []
        for number, part in enumerate(items):
            if not isinstance(part, Mapping):
                continue  # the tree says so
            settings = part.get("set", {})
            if not isinstance(settings, Mapping):
                continue  # as here
            if "set" in part:
                items[number] = {**part, "set": {}}
            if kind == "stages":
                stages[part.get("name")] = settings
            below = stages.get(part.get("stage"), {}) if kind == "phases" else {}
            parts.append((kind, number, settings, below))
        if items:
            plain[kind] = items
    found = mistakes(TrainConfig, plain)
    base = {key: value for key, value in plain.items() if key not in ("phases", "stages")}
    for kind, number, settings, below in parts:
        _add_part(found, merge(base, _allowed(below)), kind, number, settings)
    return check(TrainConfig, values, [*complaints, *found.values()])


def _allowed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in PHASE_SECTIONS}


def _add_part(
    found: dict[Where, str],
    base: Mapping[str, Any],
    kind: str,
    number: int,
    settings: Mapping[str, Any],
) -> None:
    """Add what is wrong with the settings of one phase or stage, on top of what lies under it."""
    prefix = (kind, number, "set")
    fitting = _allowed(settings)
    misplaced: list[Where] = [(key,) for key in settings if key not in PHASE_SECTIONS]
    for key, value in fitting.items():
        if isinstance(value, Mapping):
            misplaced += [(key, name) for name in value if (key, name) in FIXED_IN_A_RUN]
    for path in misplaced:
        where = ".".join(map(str, (*prefix, *path)))
        found[(*prefix, *path)] = (
            f"{where} cannot change during a run; a {kind[:-1]} may set {', '.join(PHASE_SECTIONS)}"
            if path[0] in TrainConfig.model_fields
            else f"unknown setting '{where}'{suggest(TrainConfig, path, prefix)}"
        )
    known = set(found.values())
    for path, line in mistakes(TrainConfig, merge(base, fitting), prefix).items():
        if below := path[len(prefix) :]:
            if _is_set(fitting, below):
                found.setdefault(path, line)
        elif line not in known:  # about the phase as a whole
            found.setdefault(path, f"{kind}.{number}: {line}")


def _is_set(settings: Mapping[str, Any], path: Where) -> bool:
    """Whether a part's settings hold the value at ``path`` (or one that contains it)."""
    here: Any = settings
    for key in path:
        if not isinstance(here, Mapping):
            return True
        if key not in here:
            return False
        here = here[key]
    return True
