"""Code problems on counting letter pairs, spellings and words.

Leaves out: chains and edits (``dp.chains``, ``dp.edits``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import letters, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_COUNTING_GOLD = {
    1: """
    def solve(s):
        count = seen = 0
        for j, letter in enumerate(s):
            if j >= $k and s[j - $k] == "$x":
                seen += 1
            if letter == "$y":
                count += seen
        return count * $f + len(s)
    """,
    2: """
    def solve(s):
        ways = [int(letter == "$first") for letter in s]
        for goal in "$rest":
            ways = [sum(ways[max(0, j - $most):j]) if s[j] == goal else 0 for j in range(len(s))]
        return sum(ways) * $f + s.count("$z")
    """,
    3: """
    def solve(s, n):
        # State: (letters of s matched at the end of the word, length of the run of "$x").
        def follow(i, letter):
            text = s[:i] + letter
            while not s.startswith(text):
                text = text[1:]
            return len(text)

        table = {}
        todo = [(0, 0)]
        for i, run in todo:
            table[i, run] = []
            for letter in "$alphabet":
                new = (follow(i, letter), run + 1 if letter == "$x" else 0)
                if new[0] < len(s) and new[1] <= $k:
                    table[i, run].append(new)
                    if new not in todo:
                        todo.append(new)
        ways = {}
        for letter in "$others":
            state = (follow(0, letter), int(letter == "$x"))
            if state[0] < len(s) and state[1] <= $k:
                ways[state] = ways.get(state, 0) + 1
        for _ in range(n - 1):
            new = {}
            for state, count in ways.items():
                for after in table[state]:
                    new[after] = (new.get(after, 0) + count) % $m
            ways = new
        return sum(ways.values()) * $f % $m
    """,
}


@dataclass(frozen=True, slots=True)
class _Counting:
    """What is drawn for one problem on counting pairs, spellings or words."""

    level: int
    alphabet: str
    first: str
    second: str
    third: str
    least: int
    factor: int
    modulus: int
    word: str
    most: int


def _draw_counting(rng: Random, level: int) -> _Counting:
    alphabet = rng.choice(("abc", "xyz", "pqr", "ABCD", "01", "UDLR"))
    x, y, z = (rng.choice(alphabet) for _ in range(3))
    k, f, m = (
        rng.randint(1, 4) if level < 3 else rng.randint(1, 2),
        rng.randint(2, 30),
        rng.choice((97, 101, 997, 1009, 9973)),
    )
    word = x + y + z + (rng.choice(alphabet) if rng.random() < 0.5 else "")
    most = rng.randint(3, 6)
    return _Counting(level, alphabet, x, y, z, k, f, m, word, most)


def _counting_statement(p: _Counting) -> str:
    head = f"`s` is a word of at least 1 and at most 16 letters from '{p.alphabet}'. "
    what = {
        1: f"Count the pairs of positions i < j with s[i] = '{p.first}', s[j] = '{p.second}' and j "
        "- i at "
        f"least {p.least}. Give this number times {p.factor}, plus the length of s.",
        2: "Count the ways to choose positions of s, in increasing order, whose letters "
        f"spell '{p.word}', where neighbouring chosen positions are at most {p.most} apart. "
        f"Give this number times {p.factor} plus the number of '{p.third}' in s.",
        3: f"Consider all words of exactly n letters from '{p.alphabet}' (1 <= n <= 1000) that "
        f"do not begin with '{p.second}', that do not contain s as a block of consecutive "
        f"letters and in which no {p.least + 1} consecutive letters are all '{p.first}'. Give "
        "their "
        f"number times {p.factor}, modulo {p.modulus}.",
    }[p.level]
    return head + what


def _counting_brute(p: _Counting, s: str, n: int = 0) -> int:
    if p.level == 1:
        pairs = combinations(range(len(s)), 2)
        return p.factor * sum(
            s[i] + s[j] == p.first + p.second and j - i >= p.least for i, j in pairs
        ) + len(s)
    if p.level == 2:
        spans = [[i for i in range(len(s)) if s[i] == letter] for letter in p.word]
        lines: list[tuple[int, ...]] = [(i,) for i in spans[0]]
        for span in spans[1:]:
            lines = [(*line, j) for line in lines for j in span if 0 < j - line[-1] <= p.most]
        return p.factor * len(lines) + sum(letter == p.third for letter in s)
    return p.factor * _without(s, (p.alphabet, p.second), n, p.first * (p.least + 1)) % p.modulus


def _counting_draw(p: _Counting, r: Random) -> tuple[Any, ...]:
    if p.level == 3:
        return letters(r, p.alphabet, 2, 4), r.randint(3, 16)
    return (letters(r, p.alphabet[:3] if p.level == 2 else p.alphabet, 6, 16),)


def _counting(rng: Random, level: int) -> Problem:
    p = _draw_counting(rng, level)
    key: dict[str, Any] = {"level": p.level, "alphabet": p.alphabet, "x": p.first}
    key |= (
        {"y": p.second, "k": p.least, "f": p.factor},
        {"word": p.word, "most": p.most, "z": p.third, "f": p.factor},
        {"k": p.least, "m": p.modulus, "y": p.second, "f": p.factor},
    )[p.level - 1]
    text = source(
        _COUNTING_GOLD[p.level],
        x=p.first,
        y=p.second,
        z=p.third,
        k=p.least,
        f=p.factor,
        m=p.modulus,
        most=p.most,
        first=p.word[0],
        rest=p.word[1:],
        alphabet=p.alphabet,
        others=p.alphabet.replace(p.second, ""),
    )
    inputs = (("s", "str"), ("n", "int")) if p.level == 3 else (("s", "str"),)
    return Problem(
        _counting_statement(p),
        inputs,
        "int",
        text,
        partial(_counting_brute, p),
        partial(_counting_draw, p),
        key,
    )


def _without(s: str, signs: tuple[str, str], n: int, run: str) -> int:
    """Count n-letter words without ``s`` and ``run``, first letter not signs[1], by their tails."""
    keep = max(len(s), len(run)) - 1
    tails = {"": 1}
    for i in range(n):
        new: dict[str, int] = {}
        for (tail, ways), letter in product(tails.items(), signs[0]):
            text = tail + letter
            if (i or letter != signs[1]) and s not in text and run not in text:
                cut = text[max(0, len(text) - keep) :]
                new[cut] = new.get(cut, 0) + ways
        tails = new
    return sum(tails.values())


FAMILIES = (code_family("word_counting", "words and letter pairs counted under rules", _counting),)
