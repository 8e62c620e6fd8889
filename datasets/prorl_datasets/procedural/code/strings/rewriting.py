"""Problems on systems that rewrite all letters at once."""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _grow(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abc", 1, 3) for ch in "abc"}
    code = WORDINGS.source(
        "grow solution", rules=", ".join((f'"{k}": "{v}"' for k, v in rules.items()))
    )

    def grown(ch: str, t: int) -> str:
        return ch if t == 0 else "".join(grown(x, t - 1) for x in rules[ch])

    replacements = ", ".join(f"every {k} by {v}" for k, v in rules.items())
    return Problem(
        WORDINGS.one("grow", told=replacements),
        "s: str, t: int -> str",
        code,
        lambda s, t: "".join(grown(ch, t) for ch in s),
        lambda r: (text_over(r, "abc", 1, 4), r.randint(1, 3)),
        {"v": 1, "rules": rules},
        (("ab", 0),),
    )


def _grow_counts(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abcd", 1, 4) for ch in "abcd"}
    m = rng.randint(1000, 99999)
    code = WORDINGS.source(
        "grow counts solution", rules=", ".join((f'"{k}": "{v}"' for k, v in rules.items())), m=m
    )

    def brute(s: str, t: int) -> list[int]:
        @cache
        def letters(ch: str, target: str, rounds: int) -> int:
            if rounds == 0:
                return int(ch == target)
            return sum(letters(x, target, rounds - 1) for x in rules[ch])

        return [sum(letters(ch, target, t) for ch in s) % m for target in "abcd"]

    replacements = ", ".join(f"every {k} by {v}" for k, v in rules.items())
    return Problem(
        WORDINGS.one("grow counts", told=replacements, m=m),
        "s: str, t: int -> ints",
        code,
        brute,
        lambda r: (text_over(r, "abcd", 1, 6), r.randint(1, 30)),
        {"v": 2, "rules": rules, "m": m},
        (("abcd", 0),),
    )


def _grow_place(rng: Random) -> Problem:
    rules = {ch: text_over(rng, "abcd", 2, 3) for ch in "abcd"}
    k = rng.randint(3, 6)
    code = WORDINGS.source(
        "grow place solution", rules=", ".join((f'"{key}": "{v}"' for key, v in rules.items())), k=k
    )

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

    def draw(r: Random) -> tuple[str, int, int]:
        t = r.randint(1, 40)
        return text_over(r, "abcd", 1, 4), t, r.randint(0, 2 ** min(t, 40) * 2)

    replacements = ", ".join(f"every {key} by {v}" for key, v in rules.items())
    return Problem(
        WORDINGS.one("grow place", told=replacements, k=k, k_minus_1=k - 1),
        "s: str, t: int, p: int -> str",
        code,
        brute,
        draw,
        {"v": 3, "rules": rules, "k": k},
        (("dcba", 0, 1),),
    )


FAMILIES = (
    leveled_family(
        "rewriting_systems", "parallel rewriting over rounds", _grow, _grow_counts, _grow_place
    ),
)
