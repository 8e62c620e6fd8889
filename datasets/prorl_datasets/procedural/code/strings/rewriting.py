"""Rewriting systems that replace all letters at once.

Leaves out: single replacements (``strings.runs``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.strings.common import text_over


def _grow(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abc", 1, 3) for ch in "abc"}
    code = f"""
        def solve(s, t):
            rules = {{{", ".join(f'"{k}": "{v}"' for k, v in rules.items())}}}
            for _ in range(t):
                s = "".join(rules[ch] for ch in s)
            return s
    """

    def grown(ch: str, t: int) -> str:
        return ch if t == 0 else "".join(grown(x, t - 1) for x in rules[ch])

    told = ", ".join(f"every {k} by {v}" for k, v in rules.items())
    return Problem(
        f"One round replaces, all at once, {told}. Given a string `s` of 1 to 5 letters out of a, "
        "b, c and an integer `t` "
        "(0 <= t <= 4), find the string after t rounds.",
        (("s", "str"), ("t", "int")),
        "str",
        source(code),
        lambda s, t: "".join(grown(ch, t) for ch in s),
        lambda r: (text_over(r, "abc", 1, 4), r.randint(1, 3)),
        {"v": 1, "rules": rules},
        (("ab", 0),),
    )


def _grow_counts(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abcd", 1, 4) for ch in "abcd"}
    m = rng.randint(1000, 99999)
    code = f"""
        def solve(s, t):
            rules = {{{", ".join(f'"{k}": "{v}"' for k, v in rules.items())}}}
            counts = {{ch: s.count(ch) for ch in rules}}
            for _ in range(t):
                following = dict.fromkeys(rules, 0)
                for ch, number in counts.items():
                    for new in rules[ch]:
                        following[new] = (following[new] + number) % {m}
                counts = following
            return [counts[ch] % {m} for ch in "abcd"]
    """

    def brute(s: str, t: int) -> list[int]:
        @cache
        def letters(ch: str, target: str, rounds: int) -> int:
            if rounds == 0:
                return int(ch == target)
            return sum(letters(x, target, rounds - 1) for x in rules[ch])

        return [sum(letters(ch, target, t) for ch in s) % m for target in "abcd"]

    told = ", ".join(f"every {k} by {v}" for k, v in rules.items())
    return Problem(
        f"One round replaces, all at once, {told}. Given a string `s` of 1 to 20 letters out of a, "
        "b, c, d and an integer `t` "
        "(0 <= t <= 10^4), find how often a, b, c and d (in this order) stand in the string after "
        f"t rounds, each modulo {m}.",
        (("s", "str"), ("t", "int")),
        "ints",
        source(code),
        brute,
        lambda r: (text_over(r, "abcd", 1, 6), r.randint(1, 30)),
        {"v": 2, "rules": rules, "m": m},
        (("abcd", 0),),
    )


def _grow_place_gold(k: int, rules: dict[str, str]) -> str:
    return f"""
        def solve(s, t, p):
            rules = {{{", ".join(f'"{key}": "{v}"' for key, v in rules.items())}}}
            sizes = [dict.fromkeys(rules, 1)]
            for _ in range(t):
                sizes.append({{ch: sum(sizes[-1][x] for x in rules[ch]) for ch in rules}})

            def letter(place):
                text = s
                for rounds in range(t, -1, -1):
                    for ch in text:
                        if place < sizes[rounds][ch]:
                            break
                        place -= sizes[rounds][ch]
                    else:
                        return "-"
                    text = rules[ch]
                return ch

            return "".join(letter(p + i) for i in range({k}))
    """


def _grow_place_brute(k: int, rules: dict[str, str]) -> Callable[[str, int, int], str]:
    def brute(s: str, t: int, p: int) -> str:
        # Walk the rewriting depth first, skipping whole subtrees by their counted length.
        @cache
        def size(ch: str, rounds: int) -> int:
            return 1 if rounds == 0 else sum(size(x, rounds - 1) for x in rules[ch])

        out, place = "", 0
        stack = [(ch, t) for ch in reversed(s)]
        while stack and len(out) < k:
            ch, rounds = stack.pop()
            if place + size(ch, rounds) <= p:
                place += size(ch, rounds)
            elif rounds == 0:
                out, place = out + ch, place + 1
            else:
                stack += [(x, rounds - 1) for x in reversed(rules[ch])]
        return out + "-" * (k - len(out))

    return brute


def _grow_place(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abcd", 2, 3) for ch in "abcd"}
    k = rng.randint(3, 6)
    code = _grow_place_gold(k, rules)

    brute = _grow_place_brute(k, rules)

    def draw(r: Random) -> tuple[str, int, int]:
        t = r.randint(1, 40)
        return text_over(r, "abcd", 1, 4), t, r.randint(0, 2 ** min(t, 40) * 2)

    told = ", ".join(f"every {key} by {v}" for key, v in rules.items())
    return Problem(
        f"One round replaces, all at once, {told}. Given a string `s` of 1 to 10 letters out of a, "
        "b, c, d, an integer `t` "
        f"(0 <= t <= 60) and an integer `p` (0 <= p <= 10^18), find the {k} letters at the places "
        f"p, p + 1, ..., p + {k - 1} (from 0) of the "
        "string after t rounds, with - for each place behind its end.",
        (("s", "str"), ("t", "int"), ("p", "int")),
        "str",
        source(code),
        brute,
        draw,
        {"v": 3, "rules": rules, "k": k},
        (("dcba", 0, 1),),
    )


FAMILIES = (
    code_family(
        "rewriting_systems",
        "parallel rewriting over rounds",
        leveled(_grow, _grow_counts, _grow_place),
    ),
)
