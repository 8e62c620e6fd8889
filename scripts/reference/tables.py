"""The tables by their NAME in ``<!-- table: NAME -->``, and a function that fills them into pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from pydantic import BaseModel

from prorl_datasets.recipe.parts import Counts, Decontamination, Difficulty, Entry, Group, Member
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.spec import SOURCES
from reference import (
    families,
    instructions,
    length_penalty,
    logic,
    presets,
    recipes,
    run_folder,
    structure,
    suites,
    training_config,
)
from reference.fields import fields_table

MARKER = re.compile(r"^<!-- table: (.+) -->$", re.MULTILINE)

PARTS: Mapping[str, type[BaseModel]] = {
    "recipe": Recipe,
    "entry": Entry,
    "counts": Counts,
    "group": Group,
    "member": Member,
    "decontamination": Decontamination,
    "difficulty": Difficulty,
}
"""The parts of a recipe that a page shows field by field."""

OUR_SOURCES = [spec for spec in SOURCES.all() if SOURCES.origin(spec.name).is_ours]

TABLES: Mapping[str, Callable[[], str]] = {
    **{name: partial(fields_table, model, ("base",)) for name, model in PARTS.items()},
    **{f"source {s.name}": partial(fields_table, s.settings, ("kind",)) for s in OUR_SOURCES},
    "recipes": recipes.packaged,
    "prompts": recipes.prompts,
    "columns of files": recipes.file_columns,
    "adapters": recipes.adapters,
    "columns of a dataset": recipes.dataset_columns,
    "code families": families.code,
    "math families": families.math,
    "stem families": families.stem,
    "instruction families": families.instruction,
    "small families": families.small,
    "reasoning-gym tasks": families.reasoning_gym,
    "ifeval": instructions.ifeval,
    "ifevalg": instructions.ifevalg,
    "ifbench": instructions.ifbench,
    "random upstream": instructions.random_upstream,
    "presets": presets.all_presets,
    "values of presets": presets.values,
    "phases of prorl-v1": presets.phases,
    "stages of prorl-3k": presets.stages,
    "sources of defaults": presets.defaults,
    "sources of presets": presets.sources,
    "training config": training_config.all_keys,
    "order of proportional": partial(length_penalty.order, "proportional"),
    "order of printed": partial(length_penalty.order, "printed"),
    "rollout columns": run_folder.rollout_columns,
    "logic rules": logic.rules,
    "benchmarks": suites.benchmarks,
    "suites": suites.packaged,
    "ladders": suites.ladders,
    "origins": suites.origins,
    "v2 by origin": suites.v2_by_origin,
    "figures of the code": structure.figures,
}


def filled(page: str) -> str:
    """Return a page with a table in place of each marker. Raises ValueError for a marker without a table."""

    def made(marker: re.Match[str]) -> str:
        if marker[1] not in TABLES:
            raise ValueError(f"no table {marker[1]!r}; there are: {', '.join(TABLES)}")
        return TABLES[marker[1]]()

    return MARKER.sub(made, page)
