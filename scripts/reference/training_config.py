"""Tables of every key of a training run, read from the models of ``prorl_training.config``.

The unit follows from the key's name. A default's source is the first published preset that gives a source for this
value.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from prorl_training.config import (
    FIXED_IN_A_RUN,
    PHASE_SECTIONS,
    PhaseConfig,
    StageConfig,
    TrainConfig,
)
from reference.fields import default_text, meanings, said_of, values_text
from reference.markdown import code_list, table
from reference.presets import OURS, with_sources

UNITS = {
    "updates": ("_updates", "bad_updates", "explode_window"),
    "steps": (
        "steps",
        "steps_on",
        "steps_off",
        "_step",
        "_interval",
        "cool_down",
        "kl_window",
        "_every",
        ".every",
    ),
    "tokens": ("_tokens", "_tokens_per_gpu"),
    "GiB": ("_gib",),
    "seconds": ("_seconds",),
    "nats": ("entropy_floor", "kl_threshold"),
    "prompts": ("rollout.prompts",),
    "responses": (".samples", "batch_rows"),
    "validations": ("stall_validations",),
}
"""Unit -> the endings of the keys with this unit; the first match counts."""

SOURCES = {
    **dict.fromkeys(
        (
            f"length_penalty.{key}"
            for key in ("correct_short", "correct_long", "wrong_short", "wrong_long")
        ),
        "TRL get_cosine_scaled_reward",
    ),
    "kl.input_clamp_value": "NeMo-RL kl_input_clamp_value",
    "overlong.factor": "DAPO (arXiv 2503.14476, eq. 13)",
    "preset": "",
    "phases": "",
    "stages": "",
}
"""Sources of defaults that no preset names."""

PUBLISHED = ("prorl-v2", "prorl-v2-official", "prorl-v1", "justrl", "dler")
"""The presets in which the source of a default is looked up, in this order."""


@cache
def all_keys() -> str:
    """Return a heading and a table for each section of the config."""
    parts = [_section("The run", TrainConfig, "")]
    parts += [_section(f"`{path}`", model, f"{path}.") for path, model in _sections(TrainConfig)]
    parts.append(_section("`phases`", PhaseConfig, "phases.N."))
    parts.append(_section("`stages`", StageConfig, "stages.N."))
    names = code_list(PHASE_SECTIONS)
    parts.append(f"The `set` of a phase or a stage may hold {names}, except for {_fixed()}.")
    return "\n\n".join(parts)


def _sections(model: type[BaseModel], path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield (dotted path, model) of every section below a model, in the order of the tree."""
    for key, field in model.model_fields.items():
        found = field.annotation
        if isinstance(found, type) and issubclass(found, BaseModel):
            yield f"{path}{key}", found
            yield from _sections(found, f"{path}{key}.")


def _section(title: str, model: type[BaseModel], prefix: str) -> str:
    """Return heading, docstring and table of one section, without its subsections."""
    words = meanings(model)
    rows = []
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            continue
        path = f"{prefix}{key}"
        values = f"{values_text(field)} {_unit(path, field)}".rstrip()
        source = _source(path, field)
        rows.append((f"`{key}`", values, default_text(field), source, words.get(key, "")))
    head = table(("key", "values", "default", "from", "meaning"), rows)
    said = "" if model is TrainConfig else f"{said_of(model)}\n\n"
    return f"## {title}\n\n{said}{head}"


def _unit(path: str, field: FieldInfo) -> str:
    """Return the unit of a numeric key, or ""."""
    if field.annotation not in (int, float):
        return ""
    return next((unit for unit, ends in UNITS.items() if path.endswith(ends)), "")


def _source(path: str, field: FieldInfo) -> str:
    """Return the source of a default (a published preset or another package), or "" if prorl chose it."""
    if field.is_required():
        return ""
    if path in SOURCES:
        return SOURCES[path]
    default = field.get_default(call_default_factory=True)
    keys = tuple(path.split("."))
    for name in PUBLISHED:
        values, sources = with_sources(name)
        if keys in values and values[keys] == default:
            return "" if OURS.search(sources[keys]) else f"`{name}`"
    return ""


def _fixed() -> str:
    """Return the keys of ``FIXED_IN_A_RUN``, in the order of their sections."""
    fixed = sorted(FIXED_IN_A_RUN, key=lambda path: (PHASE_SECTIONS.index(path[0]), path))
    return code_list(".".join(path) for path in fixed)
