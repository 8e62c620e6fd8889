"""Subsequences: matched, counted with gaps, counted once each.

Leaves out: substrings (``strings.substrings``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import text_over

_S = (("s", "str"),)


def _greedy_match_gold(pattern: str, cyclic: bool) -> str:
    wanted = f"ch == pattern[matched % {len(pattern)}]"
    if not cyclic:
        wanted = f"matched < {len(pattern)} and ch == pattern[matched]"
    return f"""
        def solve(s):
            pattern, matched, last = "{pattern}", 0, -1
            for i, ch in enumerate(s):
                if {wanted}:
                    matched, last = matched + 1, i
            return [matched, last]
    """


def _greedy_match(rng: Random) -> Problem:
    pattern = text_over(rng, "abcdefgh", 3, 5)
    cyclic = rng.random() < 0.5

    def brute(s: str) -> list[int]:
        matched, last = 0, -1
        for letter in pattern * (len(s) + 1 if cyclic else 1):
            place = s.find(letter, last + 1)
            if place < 0:
                break
            matched, last = matched + 1, place
        return [matched, last]

    endless = f" repeated without end ({pattern}{pattern}...)" if cyclic else ""
    return Problem(
        "Given a string `s` of at most 1000 letters from a to h, go through it from left to right "
        "and cross out the "
        f"letters of the word {pattern}{endless} in their order: each letter of `s` that equals "
        "the next letter "
        "not yet crossed out crosses it out. Find two integers: how many letters are crossed out, "
        "and the place in "
        "`s` (counted from 0) where the last of them was (-1 if there is none).",
        _S,
        "ints",
        source(_greedy_match_gold(pattern, cyclic)),
        brute,
        lambda r: (text_over(r, pattern + "abcdefgh"[: r.randint(0, 8)], 2, 16),),
        {"v": 1, "pattern": pattern, "cyclic": cyclic},
        (("",),),
    )


def _subsequence_count_gold(pattern: str, m: int, apart: bool, gap: int) -> str:
    return f"""
        def solve(s):
            pattern = "{pattern}"
            ways = [1 if ch == pattern[0] else 0 for ch in s]
            for letter in pattern[1:]:
                following = []
                for j, ch in enumerate(s):
                    near = max(0, j - {gap})
                    before = ways[{": near" if apart else "near : j"}]
                    following.append(sum(before) % {m} if ch == letter else 0)
                ways = following
            return sum(ways) % {m}
    """


def _subsequence_count(rng: Random) -> Problem:
    pattern, gap, m = text_over(rng, "abc", 2, 4), rng.randint(1, 5), rng.randint(500, 9999)
    apart = rng.random() < 0.5
    code = _subsequence_count_gold(pattern, m, apart, gap)

    def brute(s: str) -> int:
        def count(start: int, places: list[int]) -> int:
            if len(places) == len(pattern):
                return 1
            total = 0
            for j in range(start, len(s)):
                near = not places or ((j - places[-1] > gap) if apart else (j - places[-1] <= gap))
                if s[j] == pattern[len(places)] and near:
                    total += count(j + 1, [*places, j])
            return total

        return count(0, []) % m

    rule = f"more than {gap}" if apart else f"at most {gap}"
    return Problem(
        "Given a string `s` of at most 500 letters from a to d, count the ways to choose "
        f"{len(pattern)} places in it, "
        f"in ascending order, whose letters read {pattern} and of which each is {rule} after the "
        "one "
        f"before it. Find the count modulo {m}.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abc" + pattern * 2 + "d" * r.randint(0, 2), 6, 22),),
        {"v": 2, "pattern": pattern, "gap": gap, "m": m, "apart": apart},
        (("",),),
    )


def _distinct_subsequences_gold(letters: tuple[str, str, str], k: int, m: int) -> str:
    first, last, banned = letters
    return f"""
        def solve(s):
            ways = {{}}
            for ch in s:
                new = {{1: 1}} if ch == "{first}" else {{}}
                for (end, length), number in ways.items():
                    if end + ch != "{banned}":
                        new[length + 1] = new.get(length + 1, 0) + number
                for length in {{key[1] for key in ways if key[0] == ch}} | set(new):
                    ways[ch, length] = new.get(length, 0) % {m}
            found = [n for (end, size), n in ways.items() if end == "{last}" and size >= {k}]
            return sum(found) % {m}
    """


def _distinct_subsequences(rng: Random) -> Problem:
    first, last = rng.choice("abc"), rng.choice("abc")
    k, banned = rng.randint(2, 5), text_over(rng, "abc", 2, 2)
    m = rng.randint(1000, 99999)
    code = _distinct_subsequences_gold((first, last, banned), k, m)

    def brute(s: str) -> int:
        found = {""}
        for ch in s:
            found |= {t + ch for t in sorted(found)}
        fits = [t for t in sorted(found) if len(t) >= k and t[0] == first and t[-1] == last]
        return len([t for t in fits if banned not in t]) % m

    return Problem(
        "Given a string `s` of at most 200 letters from a to c, consider all different strings "
        "that are left when "
        "letters of `s` are deleted (none, some or all; equal results count once). Count those of "
        "at least "
        f"{k} letters that begin with {first}, end with {last} and nowhere hold {banned} (as "
        "neighbouring "
        f"letters). Find the count modulo {m}.",
        _S,
        "int",
        source(code),
        brute,
        lambda r: (text_over(r, "abc" + first + last, 4, 9),),
        {"v": 3, "first": first, "last": last, "k": k, "banned": banned, "m": m},
        (("",),),
    )


FAMILIES = (
    code_family(
        "subsequence_counts",
        "subsequences matched or counted",
        leveled(_greedy_match, _subsequence_count, _distinct_subsequences),
    ),
)
