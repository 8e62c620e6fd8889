"""Every mistake in a run's config at once; what a phase sets is checked on top of the run's settings."""

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
    phases = values.get("phases")
    items = list(phases) if isinstance(phases, list | tuple) else []
    plain = dict(values)
    if items:
        plain["phases"] = [
            {**p, "set": {}} if isinstance(p, Mapping) and isinstance(p.get("set"), Mapping) else p
            for p in items
        ]
    found = mistakes(TrainConfig, plain)
    for number, phase in enumerate(items):
        settings = phase.get("set", {}) if isinstance(phase, Mapping) else {}
        if isinstance(settings, Mapping):
            _add_phase(found, plain, number, settings)
    return check(TrainConfig, values, [*complaints, *found.values()])


def _add_phase(
    found: dict[Where, str], plain: Mapping[str, Any], number: int, settings: Mapping[str, Any]
) -> None:
    """Add what is wrong with the settings of one phase, on top of the run's own."""
    prefix = ("phases", number, "set")
    fitting = {key: value for key, value in settings.items() if key in PHASE_SECTIONS}
    misplaced: list[Where] = [(key,) for key in settings if key not in PHASE_SECTIONS]
    for key, value in fitting.items():
        if isinstance(value, Mapping):
            misplaced += [(key, name) for name in value if (key, name) in FIXED_IN_A_RUN]
    for path in misplaced:
        where = ".".join(map(str, (*prefix, *path)))
        found[(*prefix, *path)] = (
            f"{where} cannot change during a run; a phase may set {', '.join(PHASE_SECTIONS)}"
            if path[0] in TrainConfig.model_fields
            else f"unknown setting '{where}'{suggest(TrainConfig, path, prefix)}"
        )
    base = {key: value for key, value in plain.items() if key != "phases"}
    known = set(found.values())
    for path, line in mistakes(TrainConfig, merge(base, fitting), prefix).items():
        if below := path[len(prefix) :]:
            if _is_set(fitting, below):
                found.setdefault(path, line)
        elif line not in known:  # about the phase as a whole
            found.setdefault(path, f"phases.{number}: {line}")


def _is_set(settings: Mapping[str, Any], path: Where) -> bool:
    """Whether a phase's settings hold the value at ``path`` (or one that contains it)."""
    here: Any = settings
    for key in path:
        if not isinstance(here, Mapping):
            return True
        if key not in here:
            return False
        here = here[key]
    return True
