"""Defines the source ``procedural``: prorl's own generators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, Literal

from pydantic import Field

from prorl_common import nearest
from prorl_datasets.candidate import Row, normalised
from prorl_datasets.procedural import families
from prorl_datasets.recipe.parts import Entry, Group, Levels, Member
from prorl_datasets.spec import SourceSettings, SourceSpec
from prorl_verifiers import Task


class ProceduralSource(SourceSettings):
    """A source that uses one of prorl's generator families."""

    kind: Literal["procedural"]
    family: str
    """Name of the family."""
    levels: Levels = Field(default_factory=lambda: [1])
    """Difficulty levels, from 1 (easiest) to 3; each row has a random one."""


def check(recipe: object, entries: Sequence[Entry], children: object) -> list[str]:
    del recipe, children
    known = families()
    wrong = []
    for entry in entries:
        name = _settings(entry).family
        family = known.get(name)
        if family is None:
            same = [f.name for f in known.values() if f.domain == entry.domain]
            hint = nearest(name, known) or f"; {entry.domain} has {', '.join(same)}"
            wrong.append(f"entry '{entry.name}': unknown family '{name}'{hint}")
        elif family.domain != entry.domain:
            kind = f"family '{family.name}' is {family.domain}, not {entry.domain}"
            wrong.append(f"entry '{entry.name}': {kind}")
    return wrong


def generate(entry: Entry, index: int, seed: int, memory: dict[str, Any]) -> Row:
    source = _settings(entry)
    if "families" not in memory:
        memory["families"] = families()
    rng = Random(seed)
    level = rng.choice(source.levels)
    item = memory["families"][source.family].generate(rng, level)
    metadata: dict[str, Any] = {"family": source.family, "level": level, **item.metadata}
    if item.chance is not None:
        metadata["chance"] = item.chance
    key = normalised(item.question)
    if item.parameters is not None:
        key = json.dumps([source.family, item.parameters], sort_keys=True, ensure_ascii=False)
    return Row(
        index,
        item.question,
        item.task,
        item.gold,
        item.answer,
        metadata,
        key=key,
        core=item.core,
        independent=item.independent,
    )


def member(group: Group, one: Member) -> ProceduralSource:
    levels = one.levels or group.levels
    return ProceduralSource(kind="procedural", family=one.name, levels=levels)


def rungs(settings: ProceduralSource) -> dict[str, ProceduralSource]:
    """Return {label: source} for the three levels of a family."""
    return {f"l{n}": settings.model_copy(update={"levels": [n]}) for n in (1, 2, 3)}


def names(domain: str) -> list[str]:
    """Return the names of a domain's families, except the small families of the quickstart."""
    small = families("small")
    return sorted(
        name for name, family in families().items() if family.domain == domain and name not in small
    )


def one_box(task: Task, gold: str) -> tuple[str, Task]:
    from prorl_datasets.procedural.code.problem import one_box as boxed

    return boxed(task, gold)


def label(settings: ProceduralSource) -> str:
    return f"procedural/{settings.family}"


def _settings(entry: Entry) -> ProceduralSource:
    assert isinstance(entry.source, ProceduralSource)
    return entry.source


SPEC = SourceSpec(
    name="procedural",
    settings=ProceduralSource,
    generate=generate,
    member=member,
    rungs=rungs,
    names=names,
    check=check,
    label=label,
    one_box=one_box,
)
