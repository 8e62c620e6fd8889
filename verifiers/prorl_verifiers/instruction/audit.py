"""Built-in audit tasks for every instruction id.

In ``audit.json``, a text is a string or a list of strings and of pairs [string, number of repetitions].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from prorl_verifiers.audit_shape import Group, Item, Mutation, Probe, constant, table_of
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import TaskError


@dataclass(frozen=True, slots=True)
class Example:
    """A text that follows an instruction, and violations of it by name."""

    right: str
    broken: Mapping[str, str]


@cache
def examples() -> Mapping[str, Example]:
    return {
        name: Example(
            _text(entry["right"]), {fault: _text(parts) for fault, parts in entry["broken"].items()}
        )
        for name, entry in table_of(__file__)["examples"].items()
    }


def _text(parts: str | list[Any]) -> str:
    if isinstance(parts, str):
        return parts
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


def form_only() -> frozenset[str]:
    """Return the instruction ids that an empty or meaningless text can satisfy."""
    return frozenset(table_of(__file__)["form_only"])


def instruction_groups() -> list[Group]:
    """Return one group per instruction id, and one of all ids, on which only texts without words are tried."""
    items = {}
    for name in registered():
        kwargs = example(name)
        try:
            task = load_task("instruction", {"instruction_id_list": [name], "kwargs": [kwargs]})
        except TaskError:
            continue
        right = examples()[name].right if name in examples() else None
        chance = float(name in form_only())
        items[name] = Item(name, task, question(name, kwargs), None, chance, right)
    groups = [Group(f"instruction: {name}", "instruction", [item]) for name, item in items.items()]
    bare = [replace(item, chance=0.0) for item in items.values()]
    return [*groups, Group("instruction: no word at all", "instruction", bare, wordless=True)]


def registered() -> Mapping[str, tuple[str, ...]]:
    from prorl_verifiers.instruction.registry import registry

    return {name: tuple(entry.kwargs) for name, entry in registry().items()}


def example(name: str) -> dict[str, Any]:
    arguments = table_of(__file__)["arguments"] | table_of(__file__)["own_arguments"].get(name, {})
    return {key: arguments[key] for key in registered()[name] if key in arguments}


def question(name: str, kwargs: Mapping[str, Any]) -> str:
    words = name.split(":")[1].replace("_", " ")
    arguments = "; ".join(f"{key.replace('_', ' ')}: {value}" for key, value in kwargs.items())
    return f"Write about a lighthouse. Constraint: {words}. {arguments}".strip()


def instruction_probes() -> list[Probe]:
    def arguments(item: Item, group: Group) -> str | None:
        kwargs = (item.task.reference.get("kwargs") or [{}])[0] or {}
        words = [" ".join(map(str, v)) if isinstance(v, list) else str(v) for v in kwargs.values()]
        return " ".join(words) or None

    def instruction_id(item: Item, group: Group) -> str | None:
        return str(item.task.reference["instruction_id_list"][0])

    probes = [constant(name, text, raw=True) for name, text in table_of(__file__)["texts"].items()]
    probes.append(Probe("echo: constraint's arguments", arguments, raw=True))
    probes.append(Probe("echo: constraint's id", instruction_id, raw=True))
    return probes


def instruction_mutations() -> list[Mutation]:
    def broken(name: str) -> Mutation:
        def spoil(right: str, item: Item, group: Group) -> str | None:
            ids = item.task.reference["instruction_id_list"]
            example = examples().get(ids[0]) if len(ids) == 1 else None
            return None if example is None or right != example.right else example.broken.get(name)

        return Mutation(name, "broken", spoil)

    names = dict.fromkeys(name for example in examples().values() for name in example.broken)
    return [broken(name) for name in names]
