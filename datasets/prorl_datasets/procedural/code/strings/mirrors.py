"""Problems on palindromes with weights, costs or letters that count as equal."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.code.strings.common import draw_letters, text_over
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _mirror_windows(rng: Random) -> Problem:
    k, chosen, other = rng.randint(2, 6), draw_letters(rng, 2, "abcde"), rng.random() < 0.5
    c = rng.randint(0, 9)
    a, b = chosen[0], chosen[1]
    code = WORDINGS.source(
        "mirror windows solution",
        b=b,
        a=a,
        k_minus_1=k - 1,
        k=k,
        i=f"i + {c}" if other else f"{c + 1}",
    )

    def brute(s: str) -> int:
        total = 0
        for i in range(len(s) - k + 1):
            pairs = [(s[i + j], s[i + k - 1 - j]) for j in range(k // 2)]
            if all(x == y or (x in (a, b) and y in (a, b)) for x, y in pairs):
                total += i + c if other else c + 1
        return total

    worth = f"its start place (counted from 0) plus {c}" if other else f"{c + 1}"
    return Problem(
        WORDINGS.one("mirror windows", a=a, b=b, k=k, worth=worth),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, chosen * r.randint(0, 2) + "abcde"[: r.randint(2, 5)], 4, 24),),
        {"v": 1, "k": k, "chosen": chosen, "other": other, "c": c},
    )


def _mirror_best(rng: Random) -> Problem:
    pairs = "".join(rng.sample("abcdef", 4))
    bonus, last = rng.randint(1, 9), rng.random() < 0.5
    odd = rng.randint(0, 2)
    a, b, c, d = (pairs[i] for i in range(4))
    swaps = (b + d, a + c)
    values = "".join(rng.sample("abcdef", 2))
    test = ("", " and (j - i) % 2 == 0", " and (j - i) % 2 == 1")[odd]
    code = WORDINGS.source(
        "mirror best solution",
        swaps=swaps,
        bonus=bonus,
        values=values,
        i="i" if last else "-i",
        test=test,
    )

    def brute(s: str) -> str:
        classes = dict(zip(*swaps, strict=True))
        best, score = "none", 0
        for i in range(len(s)):
            for j in range(i + 1, len(s) + 1):
                part = s[i:j]
                if (odd == 1 and len(part) % 2 == 0) or (odd == 2 and len(part) % 2 == 1):
                    continue
                plain = [classes.get(ch, ch) for ch in part]
                if any(plain[x] != plain[len(part) - 1 - x] for x in range(len(part))):
                    continue
                worth = len(part) + bonus * sum(part.count(ch) for ch in values)
                if worth > score or (worth == score and last):
                    best, score = part, worth
        return best

    parity = ("", " of odd length", " of even length")[odd]
    return Problem(
        WORDINGS.one(
            "mirror best",
            a=a,
            b=b,
            c=c,
            d=d,
            bonus=bonus,
            values=values,
            parity=parity,
            last="last" if last else "first",
        ),
        "s: str -> str",
        code,
        brute,
        lambda r: (text_over(r, "abcdef" + pairs * r.randint(1, 3), 2, 16),),
        {
            "v": 2,
            "pairs": sorted([sorted((a, b)), sorted((c, d))]),
            "bonus": bonus,
            "last": last,
            "odd": odd,
            "values": sorted(values),
        },
    )


def _mirror_cost(rng: Random) -> Problem:
    costs = [rng.randint(1, 20) for _ in range(4)]
    change = rng.randint(2, 25)
    code = WORDINGS.source("mirror cost solution", costs=costs, change=change)

    def brute(s: str) -> int:
        # The cheapest way inwards: visit the states (i, j) by rising total cost.
        reached: dict[tuple[int, int], int] = {(0, len(s)): 0}
        done: dict[tuple[int, int], int] = {}
        while reached:
            state = min(sorted(reached), key=lambda key: reached[key])
            total = reached.pop(state)
            done[state] = total
            i, j = state
            if j - i <= 1:
                return total
            moves = [
                ((i + 1, j), costs["abcd".index(s[i])]),
                ((i, j - 1), costs["abcd".index(s[j - 1])]),
                ((i + 1, j - 1), 0 if s[i] == s[j - 1] else change),
            ]
            for target, price in moves:
                if target not in done and total + price < reached.get(target, 10**9):
                    reached[target] = total + price
        return 0

    prices = ", ".join(f"{price} for {ch}" for ch, price in zip("abcd", costs, strict=True))
    return Problem(
        WORDINGS.one("mirror cost", told=prices, change=change),
        "s: str -> int",
        code,
        brute,
        lambda r: (text_over(r, "abcd", 2, 14),),
        {"v": 3, "costs": costs, "change": change},
        (("",),),
    )


FAMILIES = (
    leveled_family(
        "mirror_substrings",
        "palindromic substrings by value",
        _mirror_windows,
        _mirror_best,
        _mirror_cost,
    ),
)
