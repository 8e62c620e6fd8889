"""Built-in audit tasks for every instruction id.

In ``audit.json`` a text is a string, or a list of strings and [string, repetitions].
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from prorl_verifiers.audit_shape import Group, Item, Mutation, Probe, constant
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Task, TaskError


@dataclass(frozen=True, slots=True)
class Example:
    """A text that follows an id, and ``broken`` ones by fault."""

    right: str
    broken: Mapping[str, str]


@cache
def _tables() -> Mapping[str, Any]:
    tables: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return tables


@cache
def examples() -> Mapping[str, Example]:
    """Return the example of every id."""
    return {
        name: Example(
            _text(entry["right"]), {fault: _text(parts) for fault, parts in entry["broken"].items()}
        )
        for name, entry in _tables()["examples"].items()
    }


def _text(parts: str | list[Any]) -> str:
    if isinstance(parts, str):
        return parts
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


def form_only() -> frozenset[str]:
    """Return the ids that degenerate texts or echoes meet by definition (a text without commas)."""
    return frozenset(_tables()["form_only"])


def instruction_groups() -> list[Group]:
    """Return one group per registered id, and one of all ids for texts without words.

    ``uncovered_ids`` lists the omitted ids.
    """
    tasks = {name: task for name in registered() if (task := _task(name)) is not None}
    items = {
        name: Item(
            name,
            task,
            question(name, example(name)),
            None,
            float(name in form_only()),
            examples()[name].right if name in examples() else None,
        )
        for name, task in tasks.items()
    }
    groups = [Group(f"instruction: {name}", "instruction", [item]) for name, item in items.items()]
    bare = [replace(item, chance=0.0) for item in items.values()]
    return [*groups, Group("instruction: no word at all", "instruction", bare, wordless=True)]


def registered() -> Mapping[str, tuple[str, ...]]:
    """Return instruction id -> names of its arguments."""
    from prorl_verifiers.instruction.registry import REGISTRY

    return {name: tuple(entry.kwargs) for name, entry in REGISTRY.items()}


def example(name: str) -> dict[str, Any]:
    """Return the available example arguments of an id."""
    arguments = _tables()["arguments"] | _tables()["own_arguments"].get(name, {})
    return {key: arguments[key] for key in registered()[name] if key in arguments}


def uncovered_ids() -> list[str]:
    """Return the registered ids without a valid example."""
    return [name for name in registered() if _task(name) is None]


def _task(name: str) -> Task | None:
    reference: dict[str, Any] = {"instruction_id_list": [name], "kwargs": [example(name)]}
    try:
        return load_task("instruction", reference)
    except TaskError:
        return None


def question(name: str, kwargs: Mapping[str, Any]) -> str:
    """Return a plain wording of a constraint, for echoes."""
    words = name.split(":")[1].replace("_", " ")
    given = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in kwargs.items())
    return f"Write about a lighthouse. Constraint: {words}. {given}".strip()


def instruction_probes() -> list[Probe]:
    """Return degenerate texts and echoes of a constraint."""
    probes = [constant(name, text, raw=True) for name, text in _tables()["texts"].items()]
    probes.append(Probe("echo: constraint's arguments", _arguments, raw=True))
    probes.append(Probe("echo: constraint's id", _id, raw=True))
    return probes


def _arguments(item: Item, group: Group) -> str | None:
    kwargs = (item.task.reference.get("kwargs") or [{}])[0] or {}
    words = [" ".join(map(str, v)) if isinstance(v, list) else str(v) for v in kwargs.values()]
    return " ".join(words) or None


def _id(item: Item, group: Group) -> str | None:
    return str(item.task.reference["instruction_id_list"][0])


def instruction_mutations() -> list[Mutation]:
    """Return one mutation per fault of the examples."""
    names = dict.fromkeys(name for example in examples().values() for name in example.broken)
    return [_broken(name) for name in names]


def _broken(name: str) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        ids = item.task.reference["instruction_id_list"]
        example = examples().get(ids[0]) if len(ids) == 1 else None
        return None if example is None or right != example.right else example.broken.get(name)

    return Mutation(name, "broken", spoil)
