"""Defines the source ``reasoning_gym``; each item has its own seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from prorl_datasets.candidate import Drop, Row
from prorl_datasets.recipe.parts import Entry, Group, Member
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.rg_entries import reworded
from prorl_datasets.sources.well_posed import flaw_of
from prorl_datasets.spec import SourceSettings, SourceSpec
from prorl_verifiers import Task


class ReasoningGymSource(SourceSettings):
    """A reasoning-gym task with its configuration."""

    kind: Literal["reasoning_gym"]
    task: str
    """Name of the task in reasoning-gym."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Keys of the task's configuration class."""


def gold_answer(task: str, entry: Mapping[str, Any]) -> str | None:
    """Return a correct answer of an entry, solving it if necessary, or None if no answer is known."""
    from prorl_verifiers.logic.witness import WITNESSES, by_parts, witness

    stored = entry["answer"]
    if task in WITNESSES and stored is None:
        return witness(task, entry)
    if task == "intermediate_integration" and "Integral(" in str(stored):
        return by_parts(entry) or str(stored)
    return None if stored is None else str(stored)


def row_of(entry: Entry, source: ReasoningGymSource, index: int, reply: Any) -> Row | Drop:
    """Return the row of a generator's reply, or a Drop if the reply is unusable."""
    if "error" in reply:
        return Drop(index, "generator failed", reply["error"])
    made = reply["entry"]
    if (flaw := flaw_of(source.task, made)) is not None:
        return Drop(index, flaw.reason, flaw.detail, stage="posed")
    answer = gold_answer(source.task, made)
    metadata = {"family": source.task, "config": source.config}
    question = reworded(str(made["question"]).strip())
    key = item_key(source.task, made)
    if entry.domain == "math":
        if answer is None:
            return Drop(index, "no stored answer", source.task)
        text = answer.strip().strip("$")
        task = Task("math", {"answer": text})
        return Row(index, question, task, f"\\boxed{{{text}}}", text, metadata, key)
    task = Task("logic", {"dataset": source.task, "entry": made})
    gold = None if answer is None else f"<answer>{answer}</answer>"
    return Row(index, question, task, gold, answer, metadata, key)


def item_key(task: str, entry: Mapping[str, Any]) -> str:
    """Return the key of an item, ignoring case and spacing."""
    return f"{task}\n{' '.join(str(entry['question']).lower().split())}"


def generate(entry: Entry, index: int, seed: int, memory: dict[str, Any]) -> Row | Drop:
    """Return the entry's row at ``index``, generated from ``seed``, or a Drop if it is unusable."""
    source = _settings(entry)
    made = memory.setdefault("reasoning_gym", {})
    reply = rg_entries.reply(made, source.task, source.config, seed & 0xFFFF_FFFF)
    return row_of(entry, source, index, reply)


def check(recipe: object, entries: Sequence[Entry], children: Any) -> list[str]:
    del recipe
    sources = [_settings(entry) for entry in entries]
    with children.lend() as child:
        mistakes: list[str] = child.check([(source.task, source.config) for source in sources])
    return mistakes


def member(group: Group, one: Member) -> ReasoningGymSource:
    del group
    return ReasoningGymSource(kind="reasoning_gym", task=one.name, config=one.config)


def rungs(settings: ReasoningGymSource) -> dict[str, ReasoningGymSource]:
    """Return {label: source} for the current configuration (``now``) and each level of the task's curriculum."""
    ladder = {"now": settings}
    configs = [settings.config]
    for level, sizes in rg_entries.curriculum(settings.task).items():
        config = {**settings.config, **sizes}
        if config not in configs:
            configs.append(config)
            ladder[f"l{level}"] = settings.model_copy(update={"config": config})
    return ladder


def label(settings: ReasoningGymSource) -> str:
    return f"reasoning_gym/{settings.task}"


def _settings(entry: Entry) -> ReasoningGymSource:
    assert isinstance(entry.source, ReasoningGymSource)
    return entry.source


SPEC = SourceSpec(
    name="reasoning_gym",
    settings=ReasoningGymSource,
    generate=generate,
    member=member,
    rungs=rungs,
    check=check,
    label=label,
)
