"""Problems that count substrings with conditions."""

from __future__ import annotations

from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import draw_letters, listed, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _occurrences(rng: Random) -> Problem:
    letters = draw_letters(rng, 2, "abcdefgh")
    pattern = text_over(rng, letters, 2, 4)
    over, places = rng.random() < 0.5, rng.random() < 0.5
    code = WORDINGS.source(
        "occurrences solution",
        pattern=len(pattern),
        pattern_2=pattern,
        n1=1 if over else len(pattern),
        sum_found="sum(found)" if places else "len(found)",
    )

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
        WORDINGS.one("occurrences", pattern=pattern)
        if places
        else f"the number of occurrences of {pattern} in it"
    )
    return Problem(
        f"Given a string `s` of at most 200 lowercase letters, find {what}; {rule}.",
        "s: str -> int",
        code,
        brute,
        draw,
        {"v": 1, "pattern": pattern, "over": over, "places": places},
    )


def _window_counts(rng: Random) -> Problem:
    k, chosen, t = (
        rng.randint(3, 9),
        draw_letters(rng, rng.randint(2, 4), "abcdefghi"),
        rng.randint(1, 3),
    )
    kind = rng.randint(0, 2)
    op, name = (("==", "exactly"), (">=", "at least"), ("<=", "at most"))[kind]
    result = rng.randint(0, 1)
    code = WORDINGS.source(
        "window counts solution",
        chosen=chosen,
        k=k,
        k_minus_1=k - 1,
        op=op,
        t=t,
        total="total" if result else "len(s) - count",
    )

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
        WORDINGS.one(
            "window counts",
            k=k,
            name=name,
            t=t,
            plural_s="s" * (t > 1),
            chosen=listed(chosen),
            second=second,
        ),
        "s: str -> ints",
        code,
        brute,
        lambda r: (text_over(r, "abcdefghi", 2, 40),),
        {"v": 2, "k": k, "chosen": chosen, "t": t, "kind": kind, "result": result},
        (("",),),
    )


def _kinds(rng: Random) -> Problem:
    k, low, cap = rng.randint(1, 5), rng.randint(1, 5), rng.randint(2, 9)
    must = draw_letters(rng, rng.randint(1, 3), "abcdef")
    m = rng.randint(2, 60)
    code = WORDINGS.source(
        "kinds solution", must=must, k_value=k + len(must), cap=cap, low=low, m=m
    )

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
        WORDINGS.one(
            "kinds",
            low=low,
            plural_s="s" * (low > 1),
            k_value=k + len(must),
            cap=cap,
            each_of="each of " if len(must) > 1 else "",
            must=listed(must),
            m=m,
        ),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abcdefgh" + must * r.randint(1, 6), 8, 26),),
        {"v": 3, "k": k, "low": low, "cap": cap, "must": must, "m": m},
        (("",),),
    )


FAMILIES = (
    leveled_family(
        "substring_counts", "occurrences of patterns", _occurrences, _window_counts, _kinds
    ),
)
