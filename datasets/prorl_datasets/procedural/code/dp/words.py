"""Problems that count letter pairs, spellings and words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import letters
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Counting:
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
    alphabet = rng.choice(("abc", "xyz", "pqr", "ABCD", "01", "UDLR"))
    x, y, z = (rng.choice(alphabet) for _ in range(3))
    k, f, m = (
        rng.randint(1, 4) if level < 3 else rng.randint(1, 2),
        rng.randint(2, 30),
        rng.choice((97, 101, 997, 1009, 9973)),
    )
    word = x + y + z + (rng.choice(alphabet) if rng.random() < 0.5 else "")
    most = rng.randint(3, 6)
    p = _Counting(level, alphabet, x, y, z, k, f, m, word, most)
    key: dict[str, Any] = {"level": p.level, "alphabet": p.alphabet, "x": p.first}
    key |= (
        {"y": p.second, "k": p.least, "f": p.factor},
        {"word": p.word, "most": p.most, "z": p.third, "f": p.factor},
        {"k": p.least, "m": p.modulus, "y": p.second, "f": p.factor},
    )[p.level - 1]
    text = WORDINGS.source(
        f"counting solution {p.level}",
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
    head = f"`s` is a word of at least 1 and at most 16 letters from '{p.alphabet}'. "
    task = WORDINGS.one(f"counting {p.level}", p=p, least_plus_1=p.least + 1)
    return Problem(
        head + task,
        "s: str, n: int -> int" if p.level == 3 else "s: str -> int",
        text,
        partial(_counting_brute, p),
        partial(_counting_draw, p),
        key,
    )


def _without(s: str, signs: tuple[str, str], n: int, run: str) -> int:
    """Count the words of ``n`` letters from signs[0] that do not begin with signs[1] or contain ``s`` or ``run``."""
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
