"""The built-in audit tasks of the math and STEM verifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from prorl_verifiers.audit_shape import Group, Item, table_of
from prorl_verifiers.tasks import load_task

_OWN_CHANCE = ("zero, one and infinity",)
"""Groups of golds that a constant may match, so their chance is estimated from the golds."""


def math_groups() -> list[Group]:
    letters = [
        (f"Which one is it? ({number})", {"answer": "ABCDE"[number % 5]}) for number in range(10)
    ]
    groups = [
        _group(
            f"math: {kind}",
            "math",
            [(question, {"answer": gold}) for question, gold in pairs],
            None if kind in _OWN_CHANCE else 0.0,
        )
        for kind, pairs in table_of(__file__)["math"].items()
    ]
    return [*groups, _group("math: letters of multiple choice", "math", letters, None)]


def stem_groups() -> list[Group]:
    groups = [
        _group(f"stem: {kind}", "stem", pairs, 0.0)
        for kind, pairs in table_of(__file__)["stem"].items()
    ]
    choices = [
        (f"{question}\n" + "\n".join(options), {"answer": gold, "choices": list(options)})
        for question, gold, options in table_of(__file__)["choices"]
    ]
    return [*groups, _group("stem: multiple choice", "stem", choices, None)]


def _group(
    name: str, verifier: str, pairs: Sequence[tuple[str, Mapping[str, Any]]], chance: float | None
) -> Group:
    items = [
        Item(f"{name} {at}", load_task(verifier, dict(ref)), question, str(ref["answer"]), chance)
        for at, (question, ref) in enumerate(pairs, start=1)
    ]
    return Group(name, verifier, items)
