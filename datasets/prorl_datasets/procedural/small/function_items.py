"""Builds code items from function specifications: prompt, call tests and gold solution.

Expected outputs come from an independent function, so the gold check compares two solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from prorl_datasets.candidate import TWO_PROGRAMS
from prorl_datasets.procedural.items import Item
from prorl_verifiers import Task

TESTS_PER_ITEM = 5
FUNCTION_NAMES = ("f", "solve", "compute", "answer", "run", "work", "calc", "task")
LEADS = ("Write a Python function", "Define a Python function", "Implement a Python function")


def function_item(
    rng: Random,
    params: Sequence[str],
    what: str,
    body: str,
    expected: Callable[..., Any],
    draw: Callable[[Random], tuple[Any, ...]],
) -> Item:
    """Return an item that asks for a function; ``what`` completes the sentence "a function that ...".

    ``body`` is the indented body of the gold. ``expected`` maps the arguments from ``draw`` to the result.
    """
    name = rng.choice(FUNCTION_NAMES)
    signature = f"{name}({', '.join(params)})"
    question = f"{rng.choice(LEADS)} `{signature}` that {what}."
    tests = _tests(rng, name, expected, draw)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    gold = f"```python\ndef {signature}:\n{lines}\n```"
    task = Task("code", {"tests": tests, "language": "python", "entry_point": name})
    return Item(question, task, gold, independent=TWO_PROGRAMS)


def program_item(
    what: str,
    source: str,
    expected: Callable[..., str],
    draw: Callable[[Random], tuple[str, tuple[Any, ...]]],
    rng: Random,
) -> Item:
    """Return an item that asks for a program; ``draw`` returns (stdin text, arguments of ``expected``)."""
    tests: list[dict[str, str]] = []
    used: set[str] = set()
    for _ in range(50 * TESTS_PER_ITEM):
        stdin, args = draw(rng)
        if stdin not in used:
            used.add(stdin)
            tests.append({"stdin": stdin, "stdout": expected(*args) + "\n"})
        if len(tests) == TESTS_PER_ITEM:
            break
    question = f"Write a Python program that {what}."
    task = Task("code", {"tests": tests, "language": "python"})
    return Item(question, task, f"```python\n{source}\n```", independent=TWO_PROGRAMS)


def _tests(
    rng: Random, name: str, expected: Callable[..., Any], draw: Callable[[Random], tuple[Any, ...]]
) -> list[dict[str, Any]]:
    tests: list[dict[str, Any]] = []
    used: set[str] = set()
    values: dict[str, int] = {}
    for _ in range(100 * TESTS_PER_ITEM):
        args = draw(rng)
        value = expected(*args)
        if repr(args) in used or values.get(repr(value), 0) >= TESTS_PER_ITEM // 2:
            continue
        used.add(repr(args))
        values[repr(value)] = values.get(repr(value), 0) + 1
        tests.append({"call": name, "args": list(args), "expected": value})
        if len(tests) == TESTS_PER_ITEM:
            return tests
    raise ValueError(f"the inputs of {name} vary too little for {TESTS_PER_ITEM} distinct tests")


def integers(rng: Random, low: int = 3, high: int = 7, bound: int = 20) -> list[int]:
    return [rng.randint(-bound, bound) for _ in range(rng.randint(low, high))]


_WORDS = (
    "apple river stone cloud paper music orange window garden silver planet bottle yellow market "
    "castle winter summer mirror button flower level noon banana letter kitten puzzle rocket "
    "tunnel sun sea tea cat dog map ice egg elephant mountain umbrella sandwich dinosaur crocodile"
)
WORDS = tuple(_WORDS.split())


def word(rng: Random) -> str:
    return rng.choice(WORDS)


def phrase(rng: Random) -> str:
    """Draw two to five lowercase words, separated by spaces."""
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(2, 5)))
