"""The code verifier's audit: built-in tasks, useless programs, and correct programs that mutations spoil."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.audit.spoilt import fewer_digits, text_mutations
from prorl_verifiers.audit_shape import (
    Answer,
    Group,
    Item,
    Kind,
    Mutation,
    Probe,
    constant,
    table_of,
)
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Reference, Task


@dataclass(frozen=True, slots=True)
class Outputs:
    """Expected outputs by input. ``function``: the tested function, or None for a program that reads stdin."""

    function: str | None
    pairs: Sequence[tuple[Any, Any]]
    """Pairs of (list of arguments, return value), or of (stdin, stdout) if ``function`` is None."""


def outputs_of(reference: Reference) -> Outputs | None:
    """Return the outputs that the tests expect, or None if they are not literal values."""
    tests = reference["tests"]
    if all("stdout" in test for test in tests):
        return Outputs(None, [(test["stdin"], test["stdout"].rstrip("\n")) for test in tests])
    if all("call" in test for test in tests):
        return Outputs(tests[0]["call"], [(test["args"], test["expected"]) for test in tests])
    if not all("assert" in test for test in tests):
        return None
    name, pairs = "", []
    for test in tests:
        (statement,) = ast.parse(test["assert"]).body
        match statement:
            case ast.Assert(
                ast.Compare(ast.Call(ast.Name(name), args, []), [ast.Eq()], [expected])
            ):
                try:
                    values = [ast.literal_eval(arg) for arg in args]
                    pairs.append((values, ast.literal_eval(expected)))
                except ValueError:
                    return None
            case _:
                return None
    return Outputs(name, pairs)


def table_program(outputs: Outputs) -> str:
    table = {repr(inputs): value for inputs, value in outputs.pairs}
    lines = [f"TABLE = {table!r}"]
    if outputs.function is None:
        lines.append("import sys\nprint(TABLE[repr(sys.stdin.read())])")
    elif "." in outputs.function:
        owner, method = outputs.function.split(".", 1)
        lines.append(
            f"class {owner}:\n    def {method}(self, *a):\n        return TABLE[repr(list(a))]"
        )
    else:
        lines.append(f"def {outputs.function}(*a):\n    return TABLE[repr(list(a))]")
    return "\n".join(lines)


def right_program(reference: Reference) -> str | None:
    outputs = outputs_of(reference)
    return None if outputs is None else table_program(outputs)


def code_mutations() -> list[Mutation]:
    texts = [
        _spoil_outputs(mutation.name, mutation.kind, _change_of_text(mutation))
        for mutation in text_mutations()
    ]
    values = [
        _spoil_outputs(f"value: {name}", kind, change) for name, (kind, change) in _VALUES.items()
    ]
    return texts + values


Change = Callable[[Any], Any]
"""Returns a wrong value made from a correct one, or None if the change does not apply."""


def _spoil_outputs(name: str, kind: Kind, change: Change) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        outputs = outputs_of(item.task.reference)
        if outputs is None:
            return None
        changed = [(inputs, change(value)) for inputs, value in outputs.pairs]
        if any(value is None for _, value in changed):
            return None
        return table_program(Outputs(outputs.function, changed))

    return Mutation(name, kind, spoil)


def _change_of_text(mutation: Mutation) -> Change:
    def change(value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        alone = Item("", Task("code", {}))
        return mutation.spoil(value, alone, Group("", "code", [alone]))

    return change


_VALUES: dict[str, tuple[Kind, Change]] = {
    "one more": ("digit", lambda v: v + 1 if type(v) in (int, float) else None),
    "half the decimals": (
        "precision",
        lambda v: float(text) if isinstance(v, float) and (text := fewer_digits(str(v))) else None,
    ),
    "as text": ("junk", lambda v: None if isinstance(v, str) else str(v)),
    "in a list": ("junk", lambda v: [v]),
    "beside another": ("another", lambda v: [v, 0]),
    "an element more": ("appended", lambda v: [*v, v[-1]] if isinstance(v, list) else None),
    "an element less": ("appended", lambda v: v[:-1] if isinstance(v, list) else None),
    "reversed": (
        "order",
        lambda v: v[::-1] if isinstance(v, list | str) and v != v[::-1] else None,
    ),
    "an entry more": ("appended", lambda v: v | {"xyzzy": 0} if isinstance(v, dict) else None),
    "an entry changed": (
        "digit",
        lambda v: v | {next(iter(v)): "xyzzy"} if isinstance(v, dict) and v else None,
    ),
}


def code_groups() -> list[Group]:
    groups = []
    for kind, pairs in table_of(__file__)["tasks"].items():
        name = f"code: {kind}"
        items = [
            Item(
                f"{name} {at}",
                load_task("code", reference),
                question,
                None,
                0.0,
                right_program(reference),
            )
            for at, (question, reference) in enumerate(pairs, start=1)
        ]
        groups.append(Group(name, "code", items))
    return groups


def _source(lines: str | Sequence[str]) -> str:
    return lines if isinstance(lines, str) else "\n".join(lines)


def code_probes() -> list[Probe]:
    table = table_of(__file__)
    probes = [
        constant(f"program: {name}", _source(lines)) for name, lines in table["programs"].items()
    ]
    probes += [
        constant(f"program: print {value!r}", f"print({value!r})")
        for value in ("0", "1", "-1", "YES", "NO", "yes", "no", "", "inf")
    ]
    probes += [Probe(f"function {name}", _function(body)) for name, body in table["bodies"].items()]
    for name, lines in table["objects"].items():
        answer = _function("return Equal()", _source(lines))
        probes.append(Probe(f"function returns {name}", answer))
    shadows = _source(table["changed builtins"])
    probes.append(Probe("function with a changed abs and ==", _function("return 0", shadows)))
    return probes


def entry_point(item: Item) -> str:
    reference = item.task.reference
    if reference.get("entry_point"):
        return str(reference["entry_point"])
    for test in reference["tests"]:
        if "call" in test:
            return str(test["call"])
        if "assert" in test:
            return str(test["assert"]).removeprefix("assert").strip(" (").split("(")[0]
    return "solution"


def _function(body: str, before: str = "") -> Answer:
    def answer(item: Item, group: Group) -> str | None:
        name = entry_point(item)
        if "." in name:
            owner, method = name.split(".", 1)
            return f"{before}\nclass {owner}:\n    def {method}(self, *a, **k):\n        {body}\n"
        return f"{before}\ndef {name}(*a, **k):\n    {body}\n"

    return answer
