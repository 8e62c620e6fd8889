"""Hashes of strings, hash tables and rolling hashes.

Leaves out: substrings by their letters (``strings.counts``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import (
    LETTERS,
    draw_letters,
    listed,
    text_over,
    words,
)

_S = (("s", "str"),)


def _hash(rng: Random) -> Problem:
    b, m, start = rng.randint(2, 60), rng.randint(100, 999), rng.randint(0, 9)
    first = rng.randint(0, 1)
    code = f"""
        def solve(s):
            h = {start}
            for ch in s:
                h = (h * {b} + ord(ch) - {97 - first}) % {m}
            return h
    """

    def brute(s: str) -> int:
        n = len(s)
        total: int = start * b**n
        for i in range(n):
            total += (LETTERS.index(s[i]) + first) * b ** (n - 1 - i)
        return total % m

    return Problem(
        f"The letters have the values a = {first}, b = {first + 1}, ..., z = {first + 25}. A hash "
        f"h starts at {start}; for "
        f"each letter of a string, from left to right, h becomes (h * {b} + value of the letter) "
        f"mod {m}. "
        "Given a string `s` of at most 100 lowercase letters, find h at the end.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS, 2, 12),),
        {"v": 1, "b": b, "m": m, "start": start, "first": first},
        (("",),),
    )


def _buckets_gold(size: int, b: int, bonus: int, chosen: str, step: int) -> str:
    return f"""
        def solve(w):
            table = [""] * {size}
            places = []
            for word in w:
                slot = 0
                for ch in word:
                    value = ord(ch) - 97 + ({bonus} if ch in "{chosen}" else 0)
                    slot = (slot * {b} + value) % {size}
                for _ in range({size}):
                    if table[slot] in ("", word):
                        break
                    slot = (slot + {step}) % {size}
                else:
                    slot = -1
                if slot >= 0:
                    table[slot] = word
                places.append(slot)
            return places
    """


def _buckets(rng: Random) -> Problem:
    b, size, step = rng.randint(2, 40), rng.randint(11, 19), rng.randint(1, 4)
    chosen, bonus = draw_letters(rng, 4, LETTERS[:16]), rng.randint(1, 9)
    code = _buckets_gold(size, b, bonus, chosen, step)

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
        f"A table has {size} slots, 0 to {size - 1}, all empty. The letters have the values a = 0, "
        f"..., z = 25, but {bonus} "
        f"more for each of {listed(chosen)}. The home slot of a word comes from h = 0 by "
        f"h = (h * {b} + value) mod {size} for each letter from left to right. A word goes to its "
        "home slot; "
        f"as long as another word lies there, it tries the slot {step} further (modulo {size}); it "
        "stops at an "
        "empty slot, which it takes, or at the slot where the same word lies already. After "
        f"{size} slots "
        "tried in vain it gives up, with slot -1. Given a list `w` of at most 40 lowercase words "
        "that come "
        "in this order, find for each of them its slot.",
        (("w", "strs"),),
        "ints",
        source(code),
        brute,
        lambda r: (words(r, 4, 12),),
        {"v": 2, "b": b, "size": size, "step": step, "chosen": chosen, "bonus": bonus},
        (([],),),
    )


def _windows_gold(b: int, k: int, m: int, t: int, c: int) -> str:
    return f"""
        def solve(s):
            top, h = pow({b}, {k}, {m}), 0
            total, counts = 0, {{}}
            for i, ch in enumerate(s):
                h = h * {b} + ord(ch) - 97
                if i >= {k}:
                    h -= top * (ord(s[i - {k}]) - 97)
                h %= {m}
                if i >= {k - 1}:
                    if h <= {t}:
                        total += i - {k - 1} + {c}
                    counts[h] = counts.get(h, 0) + 1
            return [total, len(counts), sum(n * (n - 1) // 2 for n in counts.values())]
    """


def _windows(rng: Random) -> Problem:
    b, m, k = rng.randint(2, 60), rng.randint(5, 60), rng.randint(2, 6)
    t, c = rng.randint(m // 4, m // 2 + 1), rng.randint(1, 40)
    code = _windows_gold(b, k, m, t, c)

    def brute(s: str) -> list[int]:
        hashes = []
        for i in range(len(s) - k + 1):
            hashes.append(sum(LETTERS.index(s[i + j]) * b ** (k - 1 - j) for j in range(k)) % m)
        total = sum(i + c for i, h in enumerate(hashes) if h <= t)
        equal = sum(1 for i in range(len(hashes)) for j in range(i) if hashes[i] == hashes[j])
        return [total, len(dict.fromkeys(hashes)), equal]

    return Problem(
        f"With a = 0, ..., z = 25, the hash of {k} letters with the values "
        f"{', '.join(f'v_{i + 1}' for i in range(k))} is "
        f"({' + '.join(f'v_{i + 1} * {b}^{k - 1 - i}' for i in range(k))}) mod {m}. Given a string "
        "`s` of at most 10^5 "
        f"lowercase letters, take the hash of each of its substrings of length {k} (one for each "
        "start i, "
        f"counted from 0). Find three integers: the sum of (i + {c}) over all starts i whose hash "
        f"is at most {t}, the "
        "number of different hashes, and the number of pairs of starts i < j with equal hashes. "
        "They are 0 "
        f"if s is shorter than {k}.",
        _S,
        "ints",
        source(code),
        brute,
        lambda r: (text_over(r, LETTERS[: r.randint(2, 26)], k, 30),),
        {"v": 3, "b": b, "m": m, "k": k, "t": t, "c": c},
        (("",),),
    )


FAMILIES = (
    code_family(
        "string_hashes", "polynomial hashes, hash tables", leveled(_hash, _buckets, _windows)
    ),
)
