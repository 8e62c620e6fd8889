"""Tables of the packaged presets, with values and sources read from the YAML files and their comments."""

from __future__ import annotations

import re
from functools import cache

from prorl_training.config.loading import load_config
from prorl_training.config.presets import (
    default_sources,
    preset_description,
    preset_names,
    preset_notes,
    preset_parent,
    preset_sources,
    preset_text,
    preset_values,
    sourced_defaults,
    value_sources,
)
from reference.markdown import table

COLUMNS = ("prorl-v1", "prorl-v2", "prorl-v2-official", "prorl-v2.1", "brorl", "justrl", "dler")
"""The published variants; the ablations and the small presets have their own paragraphs."""

OURS = re.compile(r"\bours\b|^unpublished|^not in the post")
"""Sources that do not name the preset's own publication."""

ONLY_OURS = {"ours", "not in v1; ours", "not in the post; ours", "unpublished; ours"}
"""Sources that only say what the asterisk in the table of values says."""

SECTIONS = (
    "steps",
    "model",
    "data",
    "rollout",
    "dynamic_sampling",
    "advantage",
    "loss",
    "kl",
    "length_penalty",
    "stop_properly",
    "overlong",
    "controller",
    "optimizer",
    "validation",
    "checkpoint",
    "reward",
    "openrlhf",
)
"""The order of the rows."""

Key = tuple[str, ...]


@cache
def with_sources(name: str) -> tuple[dict[Key, object], dict[Key, str]]:
    """Return a preset's values and their sources, including its parents'."""
    return preset_values(name), preset_sources(name)


def all_presets() -> str:
    """Return every preset with its steps and its description, as ``prorl train presets`` prints them."""
    rows = [
        (f"`{name}`", str(load_config(name).steps), preset_description(name))
        for name in preset_names()
    ]
    return table(("preset", "steps", "what it is"), rows)


def values() -> str:
    """Return the table of keys by presets; * marks values that the preset's publication does not give."""
    keys: dict[Key, None] = {}
    for name in COLUMNS:
        keys.update(dict.fromkeys(k for k in with_sources(name)[0] if k[0] != "phases"))
    order = sorted(keys, key=lambda key: SECTIONS.index(key[0]))
    rows = [(f"`{'.'.join(key)}`", *(_value(name, key) for name in COLUMNS)) for key in order]
    return table(("key", *COLUMNS), rows)


def _value(name: str, key: Key) -> str:
    """Return one value, with * if prorl chose it; empty if the preset keeps the default."""
    set_here, sources = with_sources(name)
    if key not in set_here:
        return ""
    value = _shown(set_here[key])
    if key == ("model", "path"):
        value = value.rpartition("/")[2]
    return value + ("*" if OURS.search(sources[key]) else "")


def _shown(value: object) -> str:
    """Return a value as YAML shows it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def phases() -> str:
    """Return the phases of ``prorl-v1`` with length, ending, reset and settings."""
    set_here, sources = with_sources("prorl-v1")
    rows = []
    for number in sorted({int(key[1]) for key in set_here if key[0] == "phases"}):
        own = {k[2:]: v for k, v in set_here.items() if k[:2] == ("phases", str(number))}
        ours = "ours" in sources[("phases", str(number), "steps")]
        sets = [f"`{'.'.join(k[1:])}={_shown(v)}`" for k, v in own.items() if k[0] == "set"]
        rows.append(
            (
                str(own["name",]),
                f"{own['steps',]}{'*' if ours else ''}",
                str(own.get(("until",), "steps")),
                "yes" if own.get(("reset",)) else "",
                ", ".join(sets),
            )
        )
    return table(("phase", "steps", "ends", "reset", "sets"), rows)


def stages() -> str:
    """Return the phases of ``prorl-3k`` with their stages; * marks a length that prorl chose."""
    named, sources = with_sources("prorl-3k")
    config = load_config("prorl-3k")
    ours = {
        str(key[3])
        for key in named
        if key[0] == "stages" and key[-1] == "steps" and len(key) == 5 and OURS.search(sources[key])
    }
    rows = [
        (f"`{p.stage}`", p.name, f"{p.steps}{'*' if p.name in ours else ''}", p.until)
        for p in config.phases
    ]
    return table(("stage", "phase", "steps", "ends"), rows)


def defaults() -> str:
    """Return every default that affects a run's results, with its source."""
    found = default_sources()
    rows = [
        (f"`{'.'.join(key)}`", f"`{_shown(value)}`", found[key])
        for key, value in sourced_defaults().items()
    ]
    return table(("key", "default", "source"), rows)


def sources() -> str:
    """Return a section per preset with its notes, and its sources with the keys that they determine.

    Inherited values, and values marked only as prorl's, are omitted.
    """
    parts = []
    for name in COLUMNS:
        text = preset_text(name)
        parent = preset_parent(text)
        parts += [f"### `{name}`", preset_notes(name)]
        if parent:
            parts.append(f"The rest is `{parent}`'s.")
        keys: dict[str, list[Key]] = {}
        for key, source in value_sources(text).items():
            if source in ONLY_OURS and key[0] != "phases":
                continue
            keys.setdefault(source, []).append(key)
        rows = [(source, ", ".join(_grouped(found))) for source, found in keys.items()]
        parts.append(table(("source", "keys"), rows))
    return "\n\n".join(parts)


def _grouped(keys: list[Key]) -> list[str]:
    """Return keys as code, joined by section like ``rollout.{prompts,samples}``."""
    leaves: dict[Key, list[str]] = {}
    for key in keys:
        leaves.setdefault(key[:-1], []).append(key[-1])
    shown_keys = []
    for parents, last in leaves.items():
        ending = last[0] if len(last) == 1 else "{" + ",".join(last) + "}"
        shown_keys.append(f"`{'.'.join((*parents, ending))}`")
    return shown_keys
