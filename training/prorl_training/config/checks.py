"""Every mistake in a config's values at once, each in a line that names the setting and the nearest known one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from prorl_common import nearest
from prorl_training.config.files import ConfigError
from prorl_training.config.schedule import FIXED_IN_A_RUN, PHASE_SECTIONS
from prorl_training.config.schema import (
    all_keys,
    is_number,
    item_type,
    merge,
    section_at,
    section_class,
    value_type,
)
from prorl_training.config.tree import TrainConfig

Where = tuple[Any, ...]
_SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def check_config(values: Mapping[str, Any], complaints: Sequence[str] = ()) -> TrainConfig:
    """Return the config of plain values. ``complaints`` are lines that were found before.

    Raises ConfigError listing every unknown key (with the nearest known one) and every wrong value.
    """
    found: dict[Where, str] = {}
    for path, message in _unfit_numbers(values, TrainConfig, ()):
        found.setdefault(path, message)
    phases = values.get("phases")
    items = list(phases) if isinstance(phases, list | tuple) else []
    plain = dict(values)
    if items:  # what a phase sets is checked on its own, on top of the run's settings
        plain["phases"] = [
            {**p, "set": {}} if isinstance(p, Mapping) and isinstance(p.get("set"), Mapping) else p
            for p in items
        ]
    _add(found, plain, ())
    for number, phase in enumerate(items):
        settings = phase.get("set", {}) if isinstance(phase, Mapping) else {}
        if isinstance(settings, Mapping):
            _add_phase(found, plain, number, settings)
    lines = [*complaints, *found.values()]
    if not lines:
        try:
            return TrainConfig.model_validate(values)
        except ValidationError as error:
            lines = [_describe(e, ()) for e in error.errors()]
    lines = list(dict.fromkeys(" ".join(line.split()) for line in lines))
    raise ConfigError(
        lines[0] if len(lines) == 1 else f"{len(lines)} settings are wrong: {'; '.join(lines)}"
    )


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
        where = _dotted((*prefix, *path))
        found[(*prefix, *path)] = (
            f"{where} cannot change during a run; a phase may set {', '.join(PHASE_SECTIONS)}"
            if path[0] in TrainConfig.model_fields
            else f"unknown setting '{where}'{_suggest((*prefix, *path))}"
        )
    base = {key: value for key, value in plain.items() if key != "phases"}
    own: dict[Where, str] = {}
    _add(own, merge(base, fitting), prefix)
    for path, message in own.items():
        below = path[len(prefix) :]
        new = message.removeprefix(f"phases.{number}: ") not in found.values()
        if _is_set(fitting, below) if below else new:
            found.setdefault(path, message)


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


def _add(found: dict[Where, str], values: Mapping[str, Any], prefix: Where) -> None:
    """Add pydantic's complaints about ``values``, one a path, keeping those already found."""
    try:
        TrainConfig.model_validate(values)
    except ValidationError as error:
        for detail in error.errors():
            found.setdefault((*prefix, *detail["loc"]), _describe(detail, prefix))


def _unfit_numbers(value: Any, section: Any, path: Where) -> Iterator[tuple[Where, str]]:
    """Yield what pydantic lets through: numbers that are not finite, true or false for a number."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, f"{_dotted(path)}: must be a finite number (got {value})"
    elif isinstance(value, bool) and is_number(section):
        yield path, f"{_dotted(path)}: must be a number (got {str(value).lower()})"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if path[-1:] == ("set",):
                below = value_type(TrainConfig, str(key))
            elif isinstance(section, type) and issubclass(section, BaseModel):
                below = section_class(section, str(key)) or value_type(section, str(key))
            else:
                below = item_type(section)
            yield from _unfit_numbers(item, below, (*path, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            below = section_at((*path, number)) if path == ("phases",) else None
            yield from _unfit_numbers(item, below, (*path, number))


def _describe(error: ErrorDetails, prefix: Where) -> str:
    path = (*prefix, *error["loc"])
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"unknown setting '{_dotted(path)}'{_suggest(path)}"
    if kind == "missing":
        return f"{_dotted(path)}: is missing"
    message = error["msg"].removeprefix("Value error, ")
    if not error["loc"]:
        return f"phases.{prefix[1]}: {message}" if prefix else message
    if kind in ("model_type", "model_attributes_type"):
        message = "expected a mapping of settings"
    elif kind == "tuple_type":
        message = "expected a list"
    if kind == "value_error" and not isinstance(error["input"], str | int | float):
        return f"{_dotted(path)}: {message}"
    shown = repr(error["input"])
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return f"{_dotted(path)}: {message} (got {shown})"


def _dotted(path: Where) -> str:
    return ".".join(str(part) for part in path)


def _suggest(path: Where) -> str:
    """Return `` (did you mean ...?)``: the same key elsewhere, else the nearest one here."""
    key = str(path[-1])
    prefix = ".".join(str(part) for part in path[:-1])
    section = section_at(path[:-1])
    hit = nearest(key, section.model_fields) if section is not None else ""
    elsewhere = [known for known in all_keys() if known.split(".")[-1] == key]
    if elsewhere and len(path) == 1:
        return f" (did you mean {' or '.join(repr(known) for known in elsewhere[:3])}?)"
    return hit.replace("mean '", f"mean '{prefix}." if prefix else "mean '") if hit else ""
