"""Problems on writing numbers as sums."""

from __future__ import annotations

from itertools import product
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _sums(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def partitions(n: int, parts: list[int]) -> int:
        ways = [1] + [0] * n
        for part in parts:
            for total in range(part, n + 1):
                ways[total] += ways[total - part]
        return ways[n]

    if level == 1:
        coins = redrawn(
            lambda: sorted(rng.sample((1, 2, 3, 4, 5, 6, 8, 10, 12), rng.choice((2, 3)))),
            lambda c: c[0] < 4,
        )
        n = rng.randint(15, 45)
        answer = partitions(n, coins)
        if answer < 3:
            return _sums(rng, level)
        texts = WORDINGS.all(
            "sums, level 1", coins=listed(coins), n=n, who=who, listed_coins=listed(coins, "or")
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "coins", "n": n, "coins": coins})
    if level == 2:
        ask = rng.choice(("parts", "distinct", "largest"))
        n = rng.randint(8, 20)
        if ask == "parts":
            k = rng.randint(2, 4)
            answer = partitions(n - k, list(range(1, k + 1)))
            texts = WORDINGS.all("sums, level 2, parts", n=n, k=k, who=who)
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "distinct":
            ways = [1] + [0] * n
            for part in range(1, n + 1):
                for total in range(n, part - 1, -1):
                    ways[total] += ways[total - part]
            texts = WORDINGS.all("sums, level 2, distinct", n=n, who=who)
            return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n})
        top = rng.randint(3, 6)
        answer = partitions(n, list(range(1, top + 1)))
        texts = WORDINGS.all(
            "sums, level 2",
            who=who,
            n=n,
            top=top,
            sum_shown=" + ".join(
                ("" if i == 1 else str(i)) + "x_" + str(i) for i in range(1, top + 1)
            ),
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "top": top})
    ask = rng.choice(("compositions", "forbidden", "odd compositions"))
    if ask == "compositions":
        n, k, top = rng.randint(8, 16), rng.randint(3, 4), rng.randint(4, 6)
        answer = sum(sum(t) == n for t in product(range(1, top + 1), repeat=k))
        if answer < 3:
            return _sums(rng, level)
        texts = WORDINGS.all("sums, compositions", k=k, top=top, n=n, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "top": top})
    n = rng.randint(8, 15)
    if ask == "odd compositions":
        low = rng.choice((1, 2))
        ways = [1] + [0] * n
        for total in range(1, n + 1):
            ways[total] = sum(
                ways[total - p] for p in range(1, total + 1) if (p % 2 == 1 if low == 1 else p >= 2)
            )
        name = "odd positive integers" if low == 1 else "integers that are all at least $2$"
        texts = WORDINGS.all("sums, odd compositions", n=n, name=name)
        return Problem(
            rng.choice(texts), str(ways[n]), {"ask": "odd" if low == 1 else "two up", "n": n}
        )
    bad = rng.randint(1, 4)
    ways = [1] + [0] * n
    for total in range(1, n + 1):
        ways[total] = sum(ways[total - p] for p in range(1, total + 1) if p != bad)
    texts = WORDINGS.all(
        "sums", n=n, bad=bad, beat_or_beats="beat" if bad == 1 else "beats", who=who
    )
    return Problem(rng.choice(texts), str(ways[n]), {"ask": ask, "n": n, "bad": bad})


FAMILIES = (math_family("counting_sums", _sums, "numbers written as sums"),)
