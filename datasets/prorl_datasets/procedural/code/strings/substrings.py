"""Counting substrings with conditions.

Leaves out: palindromes (``strings.mirrors``) and subsequences (``strings.subsequences``).
"""

from __future__ import annotations

from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import draw_letters, listed, text_over

_S = (("s", "str"),)


def _occurrences_gold(pattern: str, over: bool, places: bool) -> str:
    return f"""
        def solve(s):
            found, i = [], 0
            while i + {len(pattern)} <= len(s):
                if s.startswith("{pattern}", i):
                    found.append(i)
                    i += {1 if over else len(pattern)}
                else:
                    i += 1
            return {"sum(found)" if places else "len(found)"}
    """


def _occurrences(rng: Random) -> Problem:
    letters = draw_letters(rng, 2, "abcdefgh")
    pattern = text_over(rng, letters, 2, 4)
    over, places = rng.random() < 0.5, rng.random() < 0.5
    code = _occurrences_gold(pattern, over, places)

    def brute(s: str) -> int:
        starts: list[int] = []
        for i in range(len(s)):
            if [*s[i : i + len(pattern)]] == [*pattern]:
                clear = over or not starts or i - starts[-1] >= len(pattern)
                starts += [i] if clear else []
        return sum(starts) if places else len(starts)

    def draw(r: Random) -> tuple[str]:
        parts = [
            pattern if r.random() < 0.5 else r.choice(letters) for _ in range(r.randint(2, 14))
        ]
        return ("".join(parts),)

    rule = (
        "occurrences may overlap"
        if over
        else "occurrences must not overlap: they are taken greedily from the left"
    )
    what = (
        f"the sum of the start places (counted from 0) of all occurrences of {pattern} in it (0 if "
        "none)"
        if places
        else f"the number of occurrences of {pattern} in it"
    )
    return Problem(
        f"Given a string `s` of at most 200 lowercase letters, find {what}; {rule}.",
        _S,
        "int",
        source(code),
        brute,
        draw,
        {"v": 1, "pattern": pattern, "over": over, "places": places},
    )


def _window_counts_gold(chosen: str, k: int, op: str, t: int, result: int) -> str:
    return f"""
        def solve(s):
            inside, count, total = 0, 0, 0
            for i, ch in enumerate(s):
                inside += ch in "{chosen}"
                if i >= {k}:
                    inside -= s[i - {k}] in "{chosen}"
                if i >= {k - 1} and inside {op} {t}:
                    count += 1
                    total += i - {k - 1}
            return [count, {"total" if result else "len(s) - count"}]
    """


def _window_counts(rng: Random) -> Problem:
    k, chosen, t = (
        rng.randint(3, 9),
        draw_letters(rng, rng.randint(2, 4), "abcdefghi"),
        rng.randint(1, 3),
    )
    kind = rng.randint(0, 2)
    op, name = (("==", "exactly"), (">=", "at least"), ("<=", "at most"))[kind]
    result = rng.randint(0, 1)
    code = _window_counts_gold(chosen, k, op, t, result)

    def brute(s: str) -> list[int]:
        starts = []
        for i in range(len(s) - k + 1):
            n = sum(s[i : i + k].count(letter) for letter in chosen)
            if (n == t, n >= t, n <= t)[kind]:
                starts.append(i)
        return [len(starts), sum(starts) if result else len(s) - len(starts)]

    second = (
        "the sum of their start places (counted from 0)"
        if result
        else "the length of s minus that number"
    )
    return Problem(
        "Given a string `s` of at most 10^5 lowercase letters, take all its substrings of length "
        f"{k} (one for "
        f"each start place) that hold {name} {t} letter{'s' * (t > 1)} out of {listed(chosen)} (a "
        "letter that "
        f"appears twice counts twice). Find two integers: their number and {second}.",
        _S,
        "ints",
        source(code),
        brute,
        lambda r: (text_over(r, "abcdefghi", 2, 40),),
        {"v": 2, "k": k, "chosen": chosen, "t": t, "kind": kind, "result": result},
        (("",),),
    )


def _kinds_gold(must: str, cap: int, low: int, m: int, k: int) -> str:
    return f"""
        def solve(s):
            total = 0
            last = dict.fromkeys("{must}", -1)
            for j, ch in enumerate(s):
                if ch in last:
                    last[ch] = j
                counts = {{}}
                latest = min(last.values())
                for i in range(j, -1, -1):
                    counts[s[i]] = counts.get(s[i], 0) + 1
                    if len(counts) > {k + len(must)} or counts[s[i]] > {cap}:
                        break
                    if i <= latest and j - i + 1 >= {low}:
                        total += (i + j) % {m}
            return total
    """


def _kinds(rng: Random) -> Problem:
    k, low, cap = rng.randint(1, 5), rng.randint(1, 5), rng.randint(2, 9)
    must = draw_letters(rng, rng.randint(1, 3), "abcdef")
    m = rng.randint(2, 60)
    code = _kinds_gold(must, cap, low, m, k)

    def brute(s: str) -> int:
        total = 0
        for i, j in combinations(range(len(s) + 1), 2):
            part = s[i:j]
            kinds = sorted(set(part))
            if len(part) < low or len(kinds) > k + len(must):
                continue
            if max(map(part.count, kinds)) <= cap and all(part.count(ch) for ch in must):
                total += (i + j - 1) % m
        return total

    return Problem(
        "Given a string `s` of at most 2000 letters from a to h, take all its substrings s[i..j] "
        "(places i <= j "
        f"counted from 0, both ends included) of at least {low} letter{'s' * (low > 1)} with at "
        "most "
        f"{k + len(must)} different letters, in which no letter appears more than {cap} times and "
        f"{'each of ' if len(must) > 1 else ''}{listed(must)} appears at least once. Find the "
        f"sum of (i + j) mod {m} over them.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abcdefgh" + must * r.randint(1, 6), 8, 26),),
        {"v": 3, "k": k, "low": low, "cap": cap, "must": must, "m": m},
        (("",),),
    )


FAMILIES = (
    code_family(
        "substring_counts", "occurrences of patterns", leveled(_occurrences, _window_counts, _kinds)
    ),
)
