"""Chains of operations on a short state: three families, each a ladder of eight rungs.

A prompt is a state and a program, `kqa RBM`; rung r has r operations, each a capital letter; the answer is the
state after all of them. So a rung composes one operation more than the one below it, and the answer is one of
10,000 states or more. The work writes each operation and the state after it. Leaves out: what chance
alone solves (``chain_guess``), which rungs are shown and trained (``chain_study``).
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from small_tasks import Family, Item

from prorl_datasets import Domain
from prorl_verifiers import Task

RUNGS = tuple(range(1, 9))
STEPS_ON = "ABCDE"
"""The operations that count on: A by one, E by five."""
LETTERS, DIGITS = string.ascii_lowercase, string.digits
Operation = Callable[[str], str]


def _moved(symbol: str, by: int, alphabet: str) -> str:
    return alphabet[(alphabet.index(symbol) + by) % len(alphabet)]


def _mirrored(state: str) -> str:
    """Return every letter and digit counted from the other end of its alphabet: a for z, 9 for 0."""
    return "".join(
        alphabet[-1 - alphabet.index(c)]
        for c in state
        for alphabet in (LETTERS if c in LETTERS else DIGITS,)
    )


def _count_on(change: Callable[[str, int], str]) -> dict[str, Operation]:
    """Return the operations A to E, which change a state by 1 to 5."""

    def operation(by: int) -> Operation:
        return lambda state: change(state, by)

    return {name: operation(by) for by, name in enumerate(STEPS_ON, start=1)}


WORD: Mapping[str, Operation] = {
    "R": lambda s: s[::-1],
    "L": lambda s: s[1:] + s[0],
    "M": _mirrored,
    **_count_on(lambda s, by: _moved(s[0], by, LETTERS) + s[1:]),
}
"""On three letters: R spells them backward, L puts the first last, M mirrors all, A to E move the first on."""
NUMBER: Mapping[str, Operation] = {
    "R": lambda s: s[::-1],
    "L": lambda s: s[1:] + s[0],
    "M": _mirrored,
    **_count_on(lambda s, by: f"{(int(s) + by) % 10_000:04d}"),
}
"""On a number of four digits: R, L and M as with letters; A to E add 1 to 5, past 9999 from 0 again."""
PLATE: Mapping[str, Operation] = {
    "X": lambda s: s[1] + s[0] + s[2:],
    "Y": lambda s: s[:2] + s[3] + s[2],
    "M": _mirrored,
    **_count_on(lambda s, by: _moved(s[0], by, LETTERS) + s[1:3] + _moved(s[3], by, DIGITS)),
}
"""On two letters and two digits: X swaps the letters, Y the digits, M mirrors, A to E move first and last on."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A family of chains: the alphabet of each place of a state, and what may be done to it."""

    name: str
    domain: Domain
    places: tuple[str, ...]
    operations: Mapping[str, Operation]
    check: Callable[[str, str], Task]
    """From prompt and answer, the task that the verifier gets."""

    @property
    def answers(self) -> int:
        """How many answers a problem may have."""
        count = 1
        for alphabet in self.places:
            count *= len(alphabet)
        return count

    def start(self, rng: random.Random) -> str:
        """Return a random state."""
        return "".join(rng.choice(alphabet) for alphabet in self.places)

    def run(self, state: str, program: str) -> list[str]:
        """Return the states that ``program`` goes through, the first one included."""
        states = [state]
        for name in program:
            states.append(self.operations[name](states[-1]))
        return states

    def make(self, rng: random.Random, sizes: tuple[int, ...]) -> Item:
        """Return a problem of rung ``sizes[0]``; no operation of it leads back to an earlier state."""
        (rung,) = sizes
        names = list(self.operations)
        while True:
            program = "".join(rng.choice(names) for _ in range(rung))
            states = self.run(self.start(rng), program)
            if len(set(states)) == len(states):
                break
        prompt, answer = f"{states[0]} {program}", states[-1]
        work = "".join(name + state for name, state in zip(program, states[1:], strict=True))
        return Item(self.name, str(rung), prompt, answer, work, self.check(prompt, answer))

    def family(self) -> Family:
        """Return the family as the small studies' machinery takes it: every rung is trained."""
        return Family(self.name, self.domain, self.make, tuple((rung,) for rung in RUNGS))


def _exact_text(prompt: str, answer: str) -> Task:
    entry = {
        "question": prompt,
        "answer": answer,
        "metadata": {"source_dataset": "string_manipulation"},
    }
    return Task(
        "logic", {"dataset": "string_manipulation", "entry": entry, "extraction": "lenient"}
    )


def _exact_number(prompt: str, answer: str) -> Task:
    del prompt
    return Task("math", {"answer": answer})


CHAINS: dict[str, Chain] = {
    chain.name: chain
    for chain in (
        Chain("word", "logic", (LETTERS,) * 3, WORD, _exact_text),
        Chain("number", "math", (DIGITS,) * 4, NUMBER, _exact_number),
        Chain("plate", "logic", (LETTERS, LETTERS, DIGITS, DIGITS), PLATE, _exact_text),
    )
}
FAMILIES = {name: chain.family() for name, chain in CHAINS.items()}
