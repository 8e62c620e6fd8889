"""Long words: repeats, borders, subsequences counted without looking at each.

Leaves out: short words (``strings``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_word

_MOD = 1_000_000_007
_ALPHABETS = ("ab", "abc", "xyz", "acgt", "abcde")


def _parts(rng: Random, level: int) -> Problem:
    letters = rng.choice(_ALPHABETS)
    one, two = rng.sample(letters, 2)
    keep: Callable[[str], bool]
    if level == 1:
        body = f"How many contiguous parts of `s` (of at least one letter) hold as many '{one}' as '{two}'?"
        solution = f"""
def of_word(s):
    seen, balance, count = {{0: 1}}, 0, 0
    for letter in s:
        balance += (letter == "{one}") - (letter == "{two}")
        count += seen.get(balance, 0)
        seen[balance] = seen.get(balance, 0) + 1
    return count
"""
        keep, key = (lambda part: part.count(one) == part.count(two)), {"one": one, "two": two}
    elif level == 2:
        body = f"How many contiguous parts of `s` begin with '{one}', end with '{two}' and have an even number of letters?"
        solution = f"""
def of_word(s):
    begun, count = [0, 0], 0
    for i, letter in enumerate(s):
        if letter == "{two}":
            count += begun[1 - i % 2]
        if letter == "{one}":
            begun[i % 2] += 1
    return count
"""
        keep = lambda part: part[0] == one and part[-1] == two and len(part) % 2 == 0
        key = {"one": one, "two": two}
    else:
        body = (
            f"How many contiguous parts of `s` hold each of the letters '{letters}' at least once?"
        )
        solution = f"""
def of_word(s):
    last, count = {{letter: -1 for letter in "{letters}"}}, 0
    for i, letter in enumerate(s):
        last[letter] = i
        count += min(last.values()) + 1
    return count
"""
        keep, key = (lambda part: set(part) == set(letters)), {"all": letters}

    def brute(s: str) -> int:
        return sum(bool(keep(s[i:j])) for i, j in combinations(range(len(s) + 1), 2))

    return long_word(rng, letters, body, solution, brute, {**key, "level": level})


def _orders(rng: Random, level: int) -> Problem:
    letters = rng.choice(_ALPHABETS)
    size = {1: 2, 2: 3, 3: 4}[level]
    wanted = "".join(rng.choice(letters) for _ in range(size))
    body = (
        f"In how many ways can {size} places of `s` be chosen, in increasing order, so that the letters there read '{wanted}'? "
        f"Give the number modulo {_MOD}."
    )
    solution = f"""
def of_word(s):
    ways = [1] + [0] * {size}
    for letter in s:
        for k in range({size}, 0, -1):
            if "{wanted}"[k - 1] == letter:
                ways[k] += ways[k - 1]
    return ways[-1] % {_MOD}
"""
    return long_word(
        rng,
        letters,
        body,
        solution,
        lambda s: sum("".join(c) == wanted for c in combinations(s, size)) % _MOD,
        {"wanted": wanted},
    )


def _repeats(rng: Random, level: int) -> Problem:
    letters = rng.choice(("ab", "abc", "acgt"))
    size = rng.randint(3, 8) if level == 1 else rng.randint(2, 4)
    body = f"Take the contiguous parts of `s` with exactly {size} letters. "
    body += {
        1: "How many different ones are there?",
        2: "How many of them, counted with repetition, occur at more than one place of `s`?",
        3: "Give the number of pairs of places i < j at which the same part begins, though the two may overlap.",
    }[level]
    answer = {
        1: "len(counts)",
        2: "sum(c for c in counts.values() if c > 1)",
        3: "sum(c * (c - 1) // 2 for c in counts.values())",
    }[level]
    solution = f"""
def of_word(s):
    counts = {{}}
    for i in range(len(s) - {size - 1}):
        part = s[i:i + {size}]
        counts[part] = counts.get(part, 0) + 1
    return {answer}
"""

    def brute(s: str) -> int:
        parts = [s[i : i + size] for i in range(max(0, len(s) - size + 1))]
        same = [(i, j) for i, j in combinations(range(len(parts)), 2) if parts[i] == parts[j]]
        return {
            1: len(parts) - len({j for _, j in same}),
            2: len({place for pair in same for place in pair}),
            3: len(same),
        }[level]

    return long_word(rng, letters, body, solution, brute, {"size": size, "level": level}, small=40)


FAMILIES = (
    code_family("long_word_parts", "parts of a long word by their letters", _parts),
    code_family("long_word_choices", "subsequences of a long word", _orders),
    code_family("long_word_repeats", "repeated parts of a long word", _repeats),
)
"""Families of long words."""
