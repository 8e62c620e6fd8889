"""Chains of operations on a short state: three families of problems, each with eight rungs.

A prompt is a state and a program, such as ``kqa RBM``. Rung r has r operations, each a capital letter. The answer is
the state after all of them; it is one of 10,000 states or more.
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from functools import partial

from small_policy_tasks import Family, Item

from prorl_datasets import Domain
from prorl_verifiers import Task

RUNGS = tuple(range(1, 9))
LETTERS, DIGITS = string.ascii_lowercase, string.digits
Operation = Callable[[str], str]


def _moved(symbol: str, by: int, alphabet: str) -> str:
    return alphabet[(alphabet.index(symbol) + by) % len(alphabet)]


def _move_first(by: int, state: str) -> str:
    return _moved(state[0], by, LETTERS) + state[1:]


def _add(by: int, state: str) -> str:
    return f"{(int(state) + by) % 10_000:04d}"


def _move_ends(by: int, state: str) -> str:
    return _moved(state[0], by, LETTERS) + state[1:3] + _moved(state[3], by, DIGITS)


def _mirrored(state: str) -> str:
    """Replace every letter and digit by the one at the same place from the end of its alphabet: a by z, 9 by 0."""
    alphabets = (LETTERS if symbol in LETTERS else DIGITS for symbol in state)
    return "".join(a[-1 - a.index(symbol)] for a, symbol in zip(alphabets, state, strict=True))


def _steps(change: Callable[[int, str], str]) -> dict[str, Operation]:
    """Return the operations A to E, which change a state by 1 to 5."""
    return {name: partial(change, by) for by, name in enumerate("ABCDE", start=1)}


TURNS: dict[str, Operation] = {
    "R": lambda state: state[::-1],
    "L": lambda state: state[1:] + state[0],
    "M": _mirrored,
}
"""R reverses, L moves the first symbol to the end, M mirrors all symbols."""
SWAPS: dict[str, Operation] = {
    "X": lambda state: state[1] + state[0] + state[2:],
    "Y": lambda state: state[:2] + state[3] + state[2],
    "M": _mirrored,
}
"""X swaps the letters, Y the digits."""
WORD = TURNS | _steps(_move_first)
NUMBER = TURNS | _steps(_add)
PLATE = SWAPS | _steps(_move_ends)


def _text_task(prompt: str, answer: str) -> Task:
    entry = {
        "question": prompt,
        "answer": answer,
        "metadata": {"source_dataset": "string_manipulation"},
    }
    return Task(
        "logic", {"dataset": "string_manipulation", "entry": entry, "extraction": "lenient"}
    )


def _number_task(prompt: str, answer: str) -> Task:
    return Task("math", {"answer": answer})


def _chain(
    name: str,
    domain: Domain,
    places: tuple[str, ...],
    operations: Mapping[str, Operation],
    check: Callable[[str, str], Task],
) -> Family:
    """Return the family of the states that have a symbol of each alphabet in ``places``."""

    def make(rng: random.Random, sizes: tuple[int, ...]) -> Item:
        names = list(operations)
        states: list[str] = []
        while len(set(states)) < sizes[0] + 1:  # no operation may lead back to an earlier state
            program = "".join(rng.choice(names) for _ in range(sizes[0]))
            states = ["".join(rng.choice(alphabet) for alphabet in places)]
            for letter in program:
                states.append(operations[letter](states[-1]))
        prompt, answer = f"{states[0]} {program}", states[-1]
        work = "".join(letter + state for letter, state in zip(program, states[1:], strict=True))
        return Item(name, str(sizes[0]), prompt, answer, work, check(prompt, answer))

    return Family(name, domain, make, tuple((rung,) for rung in RUNGS))


CHAINS = {
    family.name: family
    for family in (
        _chain("word", "logic", (LETTERS,) * 3, WORD, _text_task),
        _chain("number", "math", (DIGITS,) * 4, NUMBER, _number_task),
        _chain("plate", "logic", (LETTERS, LETTERS, DIGITS, DIGITS), PLATE, _text_task),
    )
}
