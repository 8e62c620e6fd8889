"""Problems on subsequences."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _greedy_match_gold(pattern: str, cyclic: bool) -> str:
    fits = f"ch == pattern[matched % {len(pattern)}]"
    if not cyclic:
        fits = f"matched < {len(pattern)} and ch == pattern[matched]"
    return WORDINGS.source("greedy match solution", pattern=pattern, wanted=fits)


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
        WORDINGS.one("greedy match", pattern=pattern, endless=endless),
        "s: str -> ints",
        _greedy_match_gold(pattern, cyclic),
        brute,
        lambda r: (text_over(r, pattern + "abcdefgh"[: r.randint(0, 8)], 2, 16),),
        {"v": 1, "pattern": pattern, "cyclic": cyclic},
        (("",),),
    )


def _subsequence_count(rng: Random) -> Problem:
    pattern, gap, m = text_over(rng, "abc", 2, 4), rng.randint(1, 5), rng.randint(500, 9999)
    apart = rng.random() < 0.5
    code = WORDINGS.source(
        "subsequence count solution",
        pattern=pattern,
        gap=gap,
        near=": near" if apart else "near : j",
        m=m,
    )

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
        WORDINGS.one("subsequence count", pattern=len(pattern), pattern_2=pattern, rule=rule, m=m),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abc" + pattern * 2 + "d" * r.randint(0, 2), 6, 22),),
        {"v": 2, "pattern": pattern, "gap": gap, "m": m, "apart": apart},
        (("",),),
    )


def _distinct_subsequences_gold(letters: tuple[str, str, str], k: int, m: int) -> str:
    first, last, banned = letters
    return WORDINGS.source(
        "distinct subsequences solution", first=first, banned=banned, m=m, last=last, k=k
    )


def _distinct_subsequences(rng: Random) -> Problem:
    first, last = rng.choice("abc"), rng.choice("abc")
    k, banned = rng.randint(2, 5), text_over(rng, "abc", 2, 2)
    m = rng.randint(1000, 99999)
    code = _distinct_subsequences_gold((first, last, banned), k, m)

    def brute(s: str) -> int:
        texts = {""}
        for ch in s:
            texts |= {t + ch for t in sorted(texts)}
        fits = [t for t in sorted(texts) if len(t) >= k and t[0] == first and t[-1] == last]
        return len([t for t in fits if banned not in t]) % m

    return Problem(
        WORDINGS.one("distinct subsequences", k=k, first=first, last=last, banned=banned, m=m),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abc" + first + last, 4, 9),),
        {"v": 3, "first": first, "last": last, "k": k, "banned": banned, "m": m},
        (("",),),
    )


FAMILIES = (
    leveled_family(
        "subsequence_counts",
        "subsequences matched or counted",
        _greedy_match,
        _subsequence_count,
        _distinct_subsequences,
    ),
)
