"""Problems on string hashes and hash tables."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
    words,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _hash(rng: Random) -> Problem:
    b, m, start = rng.randint(2, 60), rng.randint(100, 999), rng.randint(0, 9)
    first = rng.randint(0, 1)
    code = WORDINGS.source("hash solution", start=start, b=b, value=97 - first, m=m)

    def brute(s: str) -> int:
        n = len(s)
        total: int = start * b**n
        for i in range(n):
            total += (LETTERS.index(s[i]) + first) * b ** (n - 1 - i)
        return total % m

    return Problem(
        WORDINGS.one(
            "hash",
            first=first,
            first_plus_1=first + 1,
            first_plus_25=first + 25,
            start=start,
            b=b,
            m=m,
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, LETTERS, 2, 12),),
        {"v": 1, "b": b, "m": m, "start": start, "first": first},
        (("",),),
    )


def _buckets(rng: Random) -> Problem:
    b, size, step = rng.randint(2, 40), rng.randint(11, 19), rng.randint(1, 4)
    chosen, bonus = draw_letters(rng, 4, LETTERS[:16]), rng.randint(1, 9)
    code = WORDINGS.source(
        "buckets solution", size=size, bonus=bonus, chosen=chosen, b=b, step=step
    )

    def brute(w: list[str]) -> list[int]:
        taken: dict[int, str] = {}
        places = []
        for word in w:
            number = 0
            for i, ch in enumerate(reversed(word)):
                number += (LETTERS.index(ch) + bonus * chosen.count(ch)) * b**i
            tries = [(number + i * step) % size for i in range(size)]
            free = [slot for slot in tries if taken.get(slot, word) == word]
            if free:
                taken[free[0]] = word
            places.append(free[0] if free else -1)
        return places

    return Problem(
        WORDINGS.one(
            "buckets",
            size=size,
            size_minus_1=size - 1,
            bonus=bonus,
            chosen=listed(chosen),
            b=b,
            step=step,
        ),
        "w: strs -> ints",
        code,
        brute,
        lambda r: (words(r, 4, 12),),
        {"v": 2, "b": b, "size": size, "step": step, "chosen": chosen, "bonus": bonus},
        (([],),),
    )


def _windows(rng: Random) -> Problem:
    b, m, k = rng.randint(2, 60), rng.randint(5, 60), rng.randint(2, 6)
    t, c = rng.randint(m // 4, m // 2 + 1), rng.randint(1, 40)
    code = WORDINGS.source("windows solution", b=b, k=k, m=m, k_minus_1=k - 1, t=t, c=c)

    def brute(s: str) -> list[int]:
        hashes = []
        for i in range(len(s) - k + 1):
            hashes.append(sum(LETTERS.index(s[i + j]) * b ** (k - 1 - j) for j in range(k)) % m)
        total = sum(i + c for i, h in enumerate(hashes) if h <= t)
        equal = sum(1 for i in range(len(hashes)) for j in range(i) if hashes[i] == hashes[j])
        return [total, len(dict.fromkeys(hashes)), equal]

    return Problem(
        WORDINGS.one(
            "windows",
            k=k,
            k_2=", ".join(f"v_{i + 1}" for i in range(k)),
            k_3=" + ".join(f"v_{i + 1} * {b}^{k - 1 - i}" for i in range(k)),
            m=m,
            c=c,
            t=t,
        ),
        "s: str -> ints",
        code,
        brute,
        lambda r: (text_over(r, LETTERS[: r.randint(2, 26)], k, 30),),
        {"v": 3, "b": b, "m": m, "k": k, "t": t, "c": c},
        (("",),),
    )


FAMILIES = (
    leveled_family("string_hashes", "polynomial hashes, hash tables", _hash, _buckets, _windows),
)
