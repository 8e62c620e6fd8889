"""Programs that know every expected output, and the same with each output spoilt.

A right program here is a table from inputs to outputs. It is made of tests with stdin and stdout, of calls and of asserts
that compare one call with a literal; other tests have none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_verifiers.audit.items import Group, Item, Kind, Mutation
from prorl_verifiers.audit.mutations import fewer_digits, text_mutations
from prorl_verifiers.types import Task

Reference = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a program must give: ``function`` is None where it reads stdin, else the name that is called."""

    function: str | None
    pairs: Sequence[tuple[Any, Any]]
    """(stdin or list of arguments, stdout or value)."""


def outputs_of(reference: Reference) -> Outputs | None:
    """Return the outputs that the tests expect, None where they do not tell."""
    tests = reference["tests"]
    if all("stdout" in test for test in tests):
        return Outputs(None, [(test["stdin"], test["stdout"].rstrip("\n")) for test in tests])
    if all("call" in test for test in tests):
        return Outputs(tests[0]["call"], [(test["args"], test["expected"]) for test in tests])
    if all("assert" in test for test in tests):
        return _of_asserts([test["assert"] for test in tests])
    return None


def _of_asserts(asserts: Sequence[str]) -> Outputs | None:
    """Read ``assert f(LITERAL, ...) == LITERAL``; None for anything else."""
    name, pairs = "", []
    for text in asserts:
        (statement,) = ast.parse(text).body
        match statement:
            case ast.Assert(
                ast.Compare(ast.Call(ast.Name(name), args, []), [ast.Eq()], [expected])
            ):
                try:
                    given = [ast.literal_eval(arg) for arg in args]
                    pairs.append((given, ast.literal_eval(expected)))
                except ValueError:
                    return None
            case _:
                return None
    return Outputs(name, pairs)


def table_program(outputs: Outputs) -> str:
    """Return the program that looks its input up."""
    table = {repr(given): value for given, value in outputs.pairs}
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
    """Return a program that passes the tests by a table, None where they do not tell what to give."""
    outputs = outputs_of(reference)
    return None if outputs is None else table_program(outputs)


def code_mutations() -> list[Mutation]:
    """Return the mutations of plain text for outputs that are text, and others for values; every output is spoilt."""
    texts = [
        _of_outputs(mutation.name, mutation.kind, _as_text(mutation))
        for mutation in text_mutations()
    ]
    values = [
        _of_outputs(f"value: {name}", kind, change) for name, (kind, change) in _VALUES.items()
    ]
    return texts + values


Change = Callable[[Any], Any]
"""A value -> another one, or None (does not apply)."""


def _of_outputs(name: str, kind: Kind, change: Change) -> Mutation:
    def spoil(right: str, item: Item, group: Group) -> str | None:
        outputs = outputs_of(item.task.reference)
        if outputs is None:
            return None
        changed = [(given, change(value)) for given, value in outputs.pairs]
        if any(value is None for _, value in changed):
            return None
        return table_program(Outputs(outputs.function, changed))

    return Mutation(name, kind, spoil)


def _as_text(mutation: Mutation) -> Change:
    def change(value: Any) -> str | None:
        if not isinstance(value, str):
            return None
        alone = Item("", Task("code", {}))
        return mutation.spoil(value, alone, Group("", "code", [alone]))

    return change


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_VALUES: dict[str, tuple[Kind, Change]] = {
    "one more": ("digit", lambda v: v + 1 if _is_number(v) else None),
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
