"""A run of several recipes: from ``stages`` that name presets to one config whose phases are theirs, in order.

    stages:
      - preset: prorl-v1
        phases: {run-1: {steps: 400}}    # changes of that preset's phases, by name
      - preset: prorl-v2
        steps: 1000                      # the length of one without phases
        engine: openrlhf                 # optional, as are name and set

What is said beside ``stages``, in the file and with ``--set`` holds for every stage; what cannot change during a run
must be the same in all of them. Leaves out: what happens where a stage begins (``schedule.controller``, ``engine``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from prorl_common.config import ConfigError, Section, check, section_at
from prorl_training.config.checks import check_config
from prorl_training.config.presets import load_preset
from prorl_training.config.schedule import FIXED_IN_A_RUN, PHASE_SECTIONS
from prorl_training.config.schema import merge
from prorl_training.config.tree import TrainConfig

OF_THE_RUN = ("preset", "steps", "engine", "phases", "stages")
"""What a stage has otherwise, or not at all, than a run of its preset alone."""


class StageEntry(Section):
    """One stage as a preset or a file names it."""

    preset: str
    name: str = ""
    """The preset's name, where none is given."""
    steps: int | None = Field(default=None, ge=1)
    """Its length, of a preset without phases; for the last stage the run's end counts."""
    engine: str | None = None
    phases: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Changes of the preset's phases, by their names."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Settings laid over the preset's."""


class _Entries(Section):
    stages: tuple[StageEntry, ...]


def expand(values: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with their ``stages`` resolved, and ``phases`` from them.

    ``values`` are a preset's and a file's, ``said`` what the user sets on top of them and of every stage. Raises
    ConfigError for an entry that is wrong, and where stages differ in what holds for the whole run.
    """
    if values.get("phases"):
        raise ConfigError("phases: a config with stages takes its phases from their presets")
    entries = check(_Entries, {"stages": values["stages"]}).stages
    common = {key: value for key, value in values.items() if key not in OF_THE_RUN}
    stages: list[dict[str, Any]] = []
    phases: list[dict[str, Any]] = []
    first: TrainConfig | None = None
    base: dict[str, Any] = {}
    for number, entry in enumerate(entries):
        name = entry.name or entry.preset
        of_preset = load_preset(entry.preset)
        if "stages" in of_preset:
            raise ConfigError(f"stages.{number}: preset '{entry.preset}' has stages of its own")
        own = merge(merge(merge(of_preset, common), entry.set), said)
        plain = {key: value for key, value in own.items() if key not in OF_THE_RUN}
        config = check_config(plain)
        if first is None:
            first, base = config, plain
        _refuse_other_runs(first, config, name)
        difference = _difference(first, config)
        stages.append(
            {"name": name, "preset": entry.preset, "engine": entry.engine, "set": difference}
        )
        phases += _phases(entry, name, own.get("phases", []), number == len(entries) - 1)
    steps = values.get("steps") or sum(int(phase["steps"]) for phase in phases)
    kept = {key: values[key] for key in ("preset", "engine") if key in values}
    return {**base, **kept, "steps": steps, "stages": stages, "phases": _named_apart(phases)}


def _phases(
    entry: StageEntry, name: str, of_preset: Sequence[Mapping[str, Any]], last: bool
) -> list[dict[str, Any]]:
    """Return the phases of a stage: the preset's with the entry's changes, or one for all of it."""
    known = [str(phase["name"]) for phase in of_preset]
    if unknown := [phase for phase in entry.phases if phase not in known]:
        raise ConfigError(
            f"stage {name}: {entry.preset} has no phase {', '.join(unknown)}; "
            f"it has {', '.join(known) or 'none'}"
        )
    if of_preset:
        if entry.steps is not None:
            raise ConfigError(
                f"stage {name}: {entry.preset} has phases, whose steps are its length: change theirs"
            )
        return [
            {**phase, **entry.phases.get(str(phase["name"]), {}), "stage": name}
            for phase in of_preset
        ]
    if entry.steps is None and not last:
        raise ConfigError(f"stage {name}: say its length in steps")
    return [{"name": name, "stage": name, "steps": entry.steps or 1}]


def _named_apart(phases: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the phases; where two stages have phases of one name, theirs begin with the stage's."""
    names = [phase["name"] for phase in phases]
    return [
        p if names.count(p["name"]) == 1 else {**p, "name": f"{p['stage']}-{p['name']}"}
        for p in phases
    ]


def _refuse_other_runs(first: TrainConfig, config: TrainConfig, name: str) -> None:
    """Raise ConfigError where a stage wants something else that holds for the whole run."""
    one, other = _flat(first), _flat(config)
    differ = [
        ".".join(path)
        for path in one
        if one[path] != other[path]
        and (path[0] not in PHASE_SECTIONS or path[:2] in FIXED_IN_A_RUN)
        and path[0] not in OF_THE_RUN
    ]
    if differ:
        raise ConfigError(
            f"stage {name} differs from the first one in {', '.join(differ)}, which cannot change during a run: "
            "say beside stages what holds for all of them"
        )


def _difference(first: TrainConfig, config: TrainConfig) -> dict[str, Any]:
    """Return what ``config`` sets otherwise than ``first``, as nested settings of ``PHASE_SECTIONS``."""
    one = _flat(first)
    found: dict[str, Any] = {}
    for path, value in _flat(config).items():
        if path[0] in PHASE_SECTIONS and value != one[path]:
            nested: Any = value
            for key in reversed(path):
                nested = {key: nested}
            found = merge(found, nested)
    return found


def _flat(config: TrainConfig) -> dict[tuple[str, ...], Any]:
    """Return path -> value of a config, a section's values one by one, any other value whole."""

    def walk(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
        flat: dict[tuple[str, ...], Any] = {}
        for key, value in values.items():
            here = (*path, str(key))
            below = isinstance(value, Mapping) and section_at(TrainConfig, here) is not None
            flat |= walk(value, here) if below else {here: value}
        return flat

    return walk(config.model_dump(mode="json"), ())
