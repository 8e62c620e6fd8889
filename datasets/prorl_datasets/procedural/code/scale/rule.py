"""Generates long lists and words from a seed, so that tests stay short but slow algorithms time out.

The generator is linear congruential (Knuth, TAOCP 2, section 3.2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from string import Template
from typing import Any

from prorl_datasets.procedural.code.lists.common import source
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

SEEDS = 2**31
LONGEST = 25_000

_LIST_RULES = (
    (
        "The list `a` of `n` integers is made from `seed`: start with x = seed; for each element in turn, replace x by "
        "($p * x + $q) mod 2147483648 and let the element be $low(x div 65536) mod $width (div drops the fraction)."
    ),
    (
        "A number x begins as `seed`. Then, `n` times, x becomes ($p * x + $q) mod 2^31, and ${low}"
        "floor(x / 2^16) mod $width "
        "is put at the end of a list `a`, which is empty at first."
    ),
    (
        "Let x_0 = `seed` and x_(i+1) = ($p * x_i + $q) mod 2^31. The list `a` has `n` elements, for i from 0 on: "
        "a[i] = $low(x_(i+1) >> 16) mod $width."
    ),
)
_WORD_RULES = (
    (
        "The word `s` of `n` letters is made from `seed`: start with x = seed; for each letter in turn, replace x by "
        "($p * x + $q) mod 2147483648 and take the letter number (x div 65536) mod $width of '$letters', counted from 0."
    ),
    (
        "Let x_0 = `seed` and x_(i+1) = ($p * x_i + $q) mod 2^31. The letter of the word `s` at place i (0 <= i < `n`) is the "
        "one at place (x_(i+1) >> 16) mod $width in '$letters'."
    ),
)
_MAKE_WORD = """
def make(n, seed):
    out = []
    for _ in range(n):
        seed = ($p * seed + $q) & 2147483647
        out.append('$letters'[(seed >> 16) % $width])
    return "".join(out)


$body


def solve(n, seed):
    return of_word(make(n, seed))
"""


def long_list(
    rng: Random,
    values: tuple[int, int],
    body: str,
    solution: str,
    brute: Callable[[list[int]], Any],
    parameters: Mapping[str, Any],
    output: str = "int",
    small: int = 14,
) -> Problem:
    """Return a problem on a list ``a`` with elements in ``values`` (inclusive); ``body`` states the task.

    ``solution`` is the source of ``of_list(a)``, which must be fast for ``LONGEST`` elements. ``brute`` solves lists of
    up to ``small`` elements.
    """
    low, width = values[0], values[1] - values[0] + 1
    p, q = _generator(rng)
    rule = Template(rng.choice(_LIST_RULES)).substitute(
        p=p, q=q, width=width, low=f"{low} + " if low else ""
    )
    text = WORDINGS.source(
        "make list solution", p=p, q=q, low=low, width=width, body=solution.strip()
    )

    def slow(n: int, seed: int) -> Any:
        return brute([low + number % width for number in _numbers(p, q, n, seed)])

    key = {**parameters, "rule": [p, q, low, width]}
    return _problem(rng, rule, body, text, slow, key, output, small)


def long_word(
    rng: Random,
    letters: str,
    body: str,
    solution: str,
    brute: Callable[[str], Any],
    parameters: Mapping[str, Any],
    output: str = "int",
    small: int = 14,
) -> Problem:
    """Return a problem on a word ``s`` of ``letters``, like ``long_list``; ``solution`` defines ``of_word(s)``."""
    p, q = _generator(rng)
    values = {"p": p, "q": q, "letters": letters, "width": len(letters)}
    rule = Template(rng.choice(_WORD_RULES)).substitute(values)
    text = source(_MAKE_WORD, **values, body=solution.strip())

    def slow(n: int, seed: int) -> Any:
        return brute("".join(letters[number % len(letters)] for number in _numbers(p, q, n, seed)))

    return _problem(
        rng, rule, body, text, slow, {**parameters, "rule": [p, q, letters]}, output, small
    )


def _generator(rng: Random) -> tuple[int, int]:
    """Return multiplier and increment with full period modulo 2^31."""
    return 8 * rng.randint(20_000, 99_999_999) + 5, 2 * rng.randint(500, 999_999) + 1


def _numbers(p: int, q: int, n: int, seed: int) -> list[int]:
    states = [seed]
    for _ in range(n):
        states.append((states[-1] * p + q) % SEEDS)
    return [state // 65536 for state in states[1:]]


def _problem(
    rng: Random,
    rule: str,
    body: str,
    solution: str,
    brute: Callable[..., Any],
    parameters: Mapping[str, Any],
    output: str,
    small: int,
) -> Problem:
    sizes = f"Here 1 <= n <= {LONGEST} and 0 <= seed < 2^31; a program that takes time in proportion to n^2 is too slow."
    parts = [rule, body] if rng.random() < 0.7 else [body, rule]
    return Problem(
        statement=" ".join([*parts, sizes]),
        signature=f"n: int, seed: int -> {output}",
        solution=solution,
        brute=brute,
        draw=lambda r: (r.randint(2, small), r.randrange(SEEDS)),
        parameters=parameters,
        edges=((1, 5), (2, SEEDS - 1)),
        large=lambda r: (r.randint(LONGEST * 3 // 4, LONGEST), r.randrange(SEEDS)),
    )
