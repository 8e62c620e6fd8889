"""Procedural tasks over three domains, with graded levels and held-out harder ladders.

An item depends only on (seed, purpose, task, level, index).
"""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError, derive_seed
from prorl_datasets import Domain, Sample, Split
from prorl_verifiers import Task

DRAWS = 50_000
"""Number of draws after which a level counts as exhausted."""


@dataclass(frozen=True, slots=True)
class Item:
    """One problem, with its worked solution ``work`` and the task ``check`` that scores answers."""

    task: str
    level: str
    prompt: str
    answer: str
    work: str
    check: Task

    @property
    def key(self) -> tuple[str, str]:
        """A key that is equal for equal problems."""
        return self.task, self.prompt


Maker = Callable[[random.Random, tuple[int, ...]], Item]


def _level(sizes: tuple[int, ...]) -> str:
    return "x".join(str(size) for size in sizes)


def _number(rng: random.Random, digits: int) -> int:
    return rng.randint(10 ** (digits - 1), 10**digits - 1)


def make_sum(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """Two numbers of ``sizes`` digits to add; the work is the sum from its last digit."""
    a, b = (_number(rng, digits) for digits in sizes)
    answer = str(a + b)
    check = Task("math", {"answer": answer})
    return Item("sum", _level(sizes), f"{a}+{b}", answer, answer[::-1], check)


def make_twice(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """A number of ``sizes[0]`` digits to double; the work is the product from its last digit."""
    a = _number(rng, sizes[0])
    answer = str(2 * a)
    check = Task("math", {"answer": answer})
    return Item("twice", _level(sizes), f"2*{a}", answer, answer[::-1], check)


def _logic(dataset: str, prompt: str, answer: str, metadata: dict[str, Any]) -> Task:
    entry = {
        "question": prompt,
        "answer": answer,
        "metadata": {"source_dataset": dataset, **metadata},
    }
    return Task("logic", {"dataset": dataset, "entry": entry, "extraction": "lenient"})


def _letters(rng: random.Random, count: int) -> str:
    return "".join(rng.choice(string.ascii_lowercase) for _ in range(count))


def make_backward(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """A string of ``sizes[0]`` letters to spell backward; the work is the string itself."""
    word = _letters(rng, sizes[0])
    prompt, answer = f"back {word}", word[::-1]
    check = _logic("spell_backward", prompt, answer, {"word": word, "word_len": sizes[0]})
    return Item("backward", _level(sizes), prompt, answer, word, check)


def make_cipher(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """A string of ``sizes[0]`` letters, each shifted by 1 to ``sizes[1]``; the work is the string."""
    shift = rng.randint(1, sizes[1])
    clear = _letters(rng, sizes[0])
    text = "".join(chr((ord(c) - 97 + shift) % 26 + 97) for c in clear)
    prompt = f"rot {shift} {text}"
    facts = {"rotation": shift, "cipher_text": text, "clear_text": clear}
    check = _logic("caesar_cipher", prompt, clear, facts)
    return Item("cipher", _level(sizes), prompt, clear, text, check)


def make_speed(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """Speed after steady acceleration, v = u + a t; the work is a t. ``sizes``: largest u, a and t."""
    u, a, t = rng.randint(1, sizes[0]), rng.randint(2, sizes[1]), rng.randint(2, sizes[2])
    answer = str(u + a * t)
    check = Task("stem", {"answer": answer, "unit": "m/s"})
    return Item("speed", _level(sizes), f"u={u} a={a} t={t}", answer, str(a * t), check)


def make_neutrons(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """Neutrons of a nuclide, A - Z; the work is the number from its last digit. ``sizes``: largest Z."""
    z = rng.randint(10, sizes[0])
    n = rng.randint(z, 2 * z)
    check = Task("stem", {"answer": str(n)})
    return Item("neutrons", _level(sizes), f"A={z + n} Z={z}", str(n), str(n)[::-1], check)


def make_times(rng: random.Random, sizes: tuple[int, ...]) -> Item:
    """Two numbers of ``sizes`` digits to multiply, with a calculator at hand; the work is the product."""
    a, b = (_number(rng, digits) for digits in sizes)
    check = Task("tool-arithmetic", {"answer": str(a * b)})
    name = "times" if min(sizes) == 1 else "product"
    return Item(name, _level(sizes), f"{a}*{b}", str(a * b), str(a * b), check)


@dataclass(frozen=True, slots=True)
class Family:
    """A task, with its trained levels and its ladder levels; whether it has held-out items at trained levels."""

    name: str
    domain: Domain
    make: Maker
    levels: tuple[tuple[int, ...], ...]
    ladder: tuple[tuple[int, ...], ...] = ()
    tested: bool = True


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("sum", "math", make_sum, ((2, 1), (2, 2), (3, 1)), ((3, 2), (3, 3), (4, 3))),
        Family("twice", "math", make_twice, ((3,), (4,))),
        Family("backward", "logic", make_backward, ((3,), (4,), (5,)), ((6,), (7,), (8,))),
        Family("cipher", "logic", make_cipher, ((2, 5), (3, 5))),
        Family("speed", "stem", make_speed, ((99, 6, 6),)),
        Family("neutrons", "stem", make_neutrons, ((99,),)),
    )
}
"""The tasks. A ladder's levels are harder than all that is trained on and appear in no training data; the
supervised start shows a few examples of all but the hardest."""
CALCULATOR: dict[str, Family] = {
    "times": Family("times", "math", make_times, ((1, 2), (2, 1)), tested=False),
    "product": Family("product", "math", make_times, ((3, 2), (3, 3)), ((4, 3),)),
}
"""Short products, and products that are too long without a calculator."""


def items(family: Family, sizes: tuple[int, ...], purpose: str, seed: int) -> Iterator[Item]:
    """Yield distinct items of a task at one level; ``purpose`` is part of the seed.

    Raises UserError if the level seems exhausted.
    """
    seen: set[tuple[str, str]] = set()
    for index in range(DRAWS):
        rng = random.Random(derive_seed(seed, purpose, family.name, *sizes, index))
        item = family.make(rng, sizes)
        if item.key not in seen:
            seen.add(item.key)
            yield item
    raise UserError(
        f"{family.name} has no more items like {sizes}: ask for fewer, or make it larger"
    )


def take(
    family: Family, count: int, purpose: str, seed: int, without: set[tuple[str, str]]
) -> list[Item]:
    """Return ``count`` items of a task, cycling through its trained levels, without the keys in ``without``."""
    streams = [items(family, sizes, purpose, seed) for sizes in family.levels]
    found: list[Item] = []
    while len(found) < count:
        item = next(streams[len(found) % len(streams)])
        if item.key not in without:
            found.append(item)
    return found


def as_sample(item: Item, number: int, split: Split, domain: Domain) -> Sample:
    """Return the item as a sample of a dataset."""
    return Sample(
        id=f"{split}-{item.task}-{number:05d}",
        domain=domain,
        prompt=({"role": "user", "content": item.prompt},),
        task=item.check,
        source=f"evidence/{item.task}",
        licence="Apache-2.0",
        split=split,
        gold_check="verified",
        metadata={"task": item.task, "level": item.level, "gold_response": boxed(item.answer)},
    )


def boxed(answer: str) -> str:
    """Return the answer in the form that every task expects."""
    return f"\\boxed{{{answer}}}"
