"""Load the config of a run from a preset, a file, stages and ``--set``, where later values override earlier values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from prorl_common import PluginError, atomic_write_text, config, use_plugins
from prorl_common.config import (
    ConfigError,
    Section,
    Where,
    check,
    mistakes,
    read_config_file,
    section_at,
    suggest,
    write_yaml,
)
from prorl_common.seeds import MOST_STEPS
from prorl_training.config.presets import load_preset
from prorl_training.config.schedule import FIXED_IN_A_RUN, PHASE_SECTIONS
from prorl_training.config.tree import TrainConfig, merge


def check_config(values: Mapping[str, Any], complaints: Sequence[str] = ()) -> TrainConfig:
    """Return ``values`` as a TrainConfig.

    Raises ConfigError listing ``complaints`` (mistakes found earlier), every unknown key with the nearest known key,
    and every wrong value.
    """
    plain = dict(values)
    parts: list[tuple[str, int, Mapping[str, Any], Mapping[str, Any]]] = []  # last: stage settings
    stages: dict[object, Mapping[str, Any]] = {}
    for kind in ("stages", "phases"):
        entries = values.get(kind)
        items = list(entries) if isinstance(entries, list | tuple) else []
        for number, part in enumerate(items):
            if not isinstance(part, Mapping):
                continue  # reported by TrainConfig
            settings = part.get("set", {})
            if not isinstance(settings, Mapping):
                continue  # reported too
            if "set" in part:
                items[number] = {**part, "set": {}}
            if kind == "stages":
                stages[part.get("name")] = settings
            below = stages.get(part.get("stage"), {}) if kind == "phases" else {}
            parts.append((kind, number, settings, below))
        if items:
            plain[kind] = items
    errors = mistakes(TrainConfig, plain)
    base = {key: value for key, value in plain.items() if key not in ("phases", "stages")}
    for kind, number, settings, below in parts:
        _add_mistakes(errors, merge(base, _allowed(below)), kind, number, settings)
    return check(TrainConfig, values, [*complaints, *errors.values()])


def _allowed(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in PHASE_SECTIONS}


def _add_mistakes(
    errors: dict[Where, str],
    base: Mapping[str, Any],
    kind: str,
    number: int,
    settings: Mapping[str, Any],
) -> None:
    prefix = (kind, number, "set")
    fitting = _allowed(settings)
    misplaced: list[Where] = [(key,) for key in settings if key not in PHASE_SECTIONS]
    for key, value in fitting.items():
        if isinstance(value, Mapping):
            misplaced += [(key, name) for name in value if (key, name) in FIXED_IN_A_RUN]
    for path in misplaced:
        where = ".".join(map(str, (*prefix, *path)))
        errors[(*prefix, *path)] = (
            f"{where} cannot change during a run; a {kind[:-1]} may set {', '.join(PHASE_SECTIONS)}"
            if path[0] in TrainConfig.model_fields
            else f"unknown setting '{where}'{suggest(TrainConfig, path, prefix)}"
        )
    reported = set(errors.values())
    for path, line in mistakes(TrainConfig, merge(base, fitting), prefix).items():
        if below := path[len(prefix) :]:
            if _is_set(fitting, below):
                errors.setdefault(path, line)
        elif line not in reported:  # not about a single setting
            errors.setdefault(path, f"{kind}.{number}: {line}")


def _is_set(settings: Mapping[str, Any], path: Where) -> bool:
    node: Any = settings
    for key in path:
        if not isinstance(node, Mapping):
            return True
        if key not in node:
            return False
        node = node[key]
    return True


OF_THE_RUN = ("preset", "steps", "engine", "phases", "stages")
"""Settings of the whole run, which a stage cannot have."""


class StageEntry(Section):
    """One stage as written in a preset or a file."""

    preset: str
    name: str = ""
    """Defaults to the preset's name."""
    steps: int | None = Field(default=None, ge=1, le=MOST_STEPS)
    """Length of the stage, if its preset has no phases. The last stage may omit it and lasts until the run ends."""
    engine: str | None = None
    phases: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Changes to the preset's phases: phase name -> keys to replace."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Settings that override the preset's settings."""


class _Entries(Section):
    stages: tuple[StageEntry, ...]


def expand(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` with ``stages`` replaced by the phases of each stage's preset.

    ``overrides`` are the user's settings for every stage. Raises ConfigError for wrong entries, and if stages differ in
    a setting that cannot change during a run.
    """
    if values.get("phases"):
        raise ConfigError(
            "phases: a config with stages takes its phases from the stages' presets: remove phases"
        )
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
            raise ConfigError(
                f"stages.{number}: preset '{entry.preset}' has stages itself: name another"
            )
        merged = merge(merge(merge(of_preset, common), entry.set), overrides)
        plain = {key: value for key, value in merged.items() if key not in OF_THE_RUN}
        config = check_config(plain)
        if first is None:
            first, base = config, plain
        difference = _difference(first, config, name)
        stages.append(
            {"name": name, "preset": entry.preset, "engine": entry.engine, "set": difference}
        )
        phases += _phases(entry, name, merged.get("phases", []), number == len(entries) - 1)
    steps = values.get("steps") or sum(int(phase["steps"]) for phase in phases)
    of_the_run = {key: values[key] for key in ("preset", "engine") if key in values}
    names = [phase["name"] for phase in phases]
    phases = [  # a name that occurs in several stages gets the stage's name as a prefix
        p if names.count(p["name"]) == 1 else {**p, "name": f"{p['stage']}-{p['name']}"}
        for p in phases
    ]
    return {**base, **of_the_run, "steps": steps, "stages": stages, "phases": phases}


def _phases(
    entry: StageEntry, name: str, of_preset: Sequence[Mapping[str, Any]], last: bool
) -> list[dict[str, Any]]:
    names = [str(phase["name"]) for phase in of_preset]
    if unknown := [phase for phase in entry.phases if phase not in names]:
        raise ConfigError(
            f"stage {name}: {entry.preset} has no phase {', '.join(unknown)}; "
            f"it has {', '.join(names) or 'none'}"
        )
    if of_preset:
        if entry.steps is not None:
            raise ConfigError(
                f"stage {name}: {entry.preset} has phases, so steps cannot be set: "
                "change the steps of the phases"
            )
        return [
            {**phase, **entry.phases.get(str(phase["name"]), {}), "stage": name}
            for phase in of_preset
        ]
    if entry.steps is None and not last:
        raise ConfigError(f"stage {name} has no length: set its steps")
    return [{"name": name, "stage": name, "steps": entry.steps or 1}]


def _difference(first: TrainConfig, config: TrainConfig, name: str) -> dict[str, Any]:
    one, other = _flat(first), _flat(config)
    paths = [path for path in one if one[path] != other[path] and path[0] not in OF_THE_RUN]
    fixed = [
        ".".join(path)
        for path in paths
        if path[0] not in PHASE_SECTIONS or path[:2] in FIXED_IN_A_RUN
    ]
    if fixed:
        raise ConfigError(
            f"stage {name} differs from the first stage in {', '.join(fixed)}, which cannot change "
            "during a run: set the same value for all stages, outside stages"
        )
    settings: dict[str, Any] = {}
    for path in paths:
        nested: Any = other[path]
        for key in reversed(path):
            nested = {key: nested}
        settings = merge(settings, nested)
    return settings


def _flat(config: TrainConfig) -> dict[tuple[str, ...], Any]:
    def walk(values: Mapping[str, Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
        flat: dict[tuple[str, ...], Any] = {}
        for key, value in values.items():
            place = (*path, str(key))
            below = isinstance(value, Mapping) and section_at(TrainConfig, place) is not None
            flat |= walk(value, place) if below else {place: value}
        return flat

    return walk(config.model_dump(mode="json"), ())


def load_config(
    preset: str | None = None, file: Path | None = None, overrides: Sequence[str] = ()
) -> TrainConfig:
    """Return the checked config of a preset, a file and ``key=value`` overrides.

    ``preset`` replaces the preset that the file names. Raises ConfigError like ``check_config``.
    """
    from_file = read_config_file(file) if file is not None else {}
    if "extends" in from_file:
        raise ConfigError(
            f"{file}: 'extends' is for presets: name the preset of a config file with 'preset'"
        )
    name = preset or from_file.get("preset") or TrainConfig().preset
    settings = {key: value for key, value in from_file.items() if key != "preset"}
    whole = [text for text in overrides if text.partition("=")[0].strip() == "stages"]
    settings, _ = config.apply_overrides(settings, whole, parse_override)
    overrides = [text for text in overrides if text not in whole]
    values = load_preset(str(name))
    if "stages" in settings and "stages" not in values:
        values = {"preset": name}  # the preset must not override those that the stages name
    values = merge(values, settings)
    # a file with phases is a run's saved config, already expanded
    if values.get("stages") and not from_file.get("phases"):
        texts = [text for text in overrides if not text.strip().startswith(("stages.", "phases."))]
        for_all, _ = config.apply_overrides({}, texts, parse_override)
        _with_plugins(merge(values, for_all), file)  # expand() looks up their parts
        values = expand(values, {k: v for k, v in for_all.items() if k not in OF_THE_RUN})
    values.setdefault("phases", [])
    values, complaints = config.apply_overrides(values, overrides, parse_override)
    return check_config(_with_plugins(values, file), complaints)


def save_config(resolved: TrainConfig, path: Path) -> None:
    """Write the resolved config as YAML, atomically. Loading it gives an equal config."""
    atomic_write_text(path, write_yaml(resolved.model_dump(mode="json")))


GONE = (("advantage", "sign", 1), ("openrlhf", "cpu_slots", None), ("reward", "judge", None))
"""Removed settings: (section, key, value). They are dropped from old configs that have this value (None: any value)."""


def load_saved_config(path: Path) -> TrainConfig:
    """Read a run's resolved ``config.yaml``. Raises ConfigError like ``load_config``."""
    return check_config(_with_plugins(saved_values(path), path))


def saved_values(path: Path) -> dict[str, Any]:
    """Return the values of a run's ``config.yaml``, with old settings renamed. Plug-ins are not loaded."""
    values = read_config_file(path)
    for section, key, neutral in GONE:
        settings = values.get(section)
        if isinstance(settings, dict) and (neutral is None or settings.get(key) == neutral):
            settings.pop(key, None)
    cluster, reward = values.get("openrlhf"), values.get("reward")
    if isinstance(cluster, dict) and isinstance(reward, dict):  # up to prorl 0.2
        cluster.pop("reward", None)
        if urls := cluster.pop("reward_urls", None):
            reward.setdefault("servers", urls)
    sampling = values.get("dynamic_sampling")
    if isinstance(sampling, dict) and "max_rounds" in sampling:
        sampling.setdefault("late", "wait")  # up to prorl 0.2, which waited for each round
        sampling["max_batches"] = sampling.pop("max_rounds")
    return values


def _with_plugins(values: Mapping[str, Any], file: Path | None) -> dict[str, Any]:
    """Load the config's plug-ins; return ``values`` with absolute plug-in paths (relative to the folder of ``file``)."""
    named = values.get("plugins", ())
    if not isinstance(named, list | tuple) or not all(isinstance(path, str) for path in named):
        return dict(values)  # a wrong value, reported by the checks
    base = Path() if file is None else file.parent
    if file is not None and (missing := [path for path in named if not (base / path).exists()]):
        raise PluginError(
            f"plug-in {missing[0]} does not exist: restore it, or give its new path under "
            f"plugins: in {file}"
        )
    loaded = use_plugins(base / path for path in named)
    return {**values, **({"plugins": [str(f.path) for f in loaded]} if loaded else {})}


def parse_override(text: str) -> tuple[list[str], Any]:
    """Split ``a.b=c`` into (["a", "b"], value). Raises ConfigError for another form, and for ``preset``."""
    path, value = config.parse_override(text, "rollout.samples=8")
    if path[0] in ("preset", "extends"):
        raise ConfigError(
            f"--set {text}: choose the preset with --preset, or with preset: in the file"
        )
    return path, value
