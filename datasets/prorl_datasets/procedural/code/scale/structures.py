"""Problems on long lists read as intervals, edges, parents or prices."""

from __future__ import annotations

from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_PAIRED = "Read `a` as pairs (a[0], a[1]), (a[2], a[3]), ...; a last element without a partner is ignored."


def _intervals(rng: Random, level: int) -> Problem:
    length = rng.choice((40, 300, 2000))
    body = f"{_PAIRED} A pair (b, c) stands for the interval from b to b + 1 + c mod {length}, its end not included. "
    body += WORDINGS.one(f"intervals {level}")
    solution = WORDINGS.source(
        "intervals solution",
        length=length,
        level_word=WORDINGS.source(f"intervals solution {level}"),
    )

    def brute(a: list[int]) -> int:
        sets = [set(range(b, b + 1 + c % length)) for b, c in zip(a[::2], a[1::2], strict=False)]
        if level == 1:
            return len(set().union(*sets))
        if level == 2:
            return max((sum(x in s for s in sets) for one in sets for x in (min(one),)), default=0)
        for size in range(len(sets), 0, -1):
            for chosen in combinations(sets, size):
                if sum(map(len, chosen)) == len(set().union(*chosen)):
                    return size
        return 0

    return long_list(
        rng,
        (0, 6 * length if level == 2 else rng.choice((2000, 32000))),
        body,
        solution,
        brute,
        {"length": length, "level": level},
        small=16 if level == 3 else 40,
    )


def _edges(rng: Random, level: int) -> Problem:
    share = rng.choice((2, 3))
    body = WORDINGS.one("edges", paired=_PAIRED, share=share)
    body += WORDINGS.one(f"edges {level}")
    head = WORDINGS.source("edges head", share=share)
    union = WORDINGS.source("edges union")
    solution = WORDINGS.source(
        f"edges solution {level}", head=f"{head}\n\n\n", union=f"{union}\n\n\n"
    )

    def brute(a: list[int]) -> list[int]:
        v = 1 + len(a) // share
        pairs = [(b % v, c % v) for b, c in zip(a[::2], a[1::2], strict=False)]
        far = [[0 if x == y else v + 1 for y in range(v)] for x in range(v)]
        chosen, last = 0, 0
        for i, (b, c) in enumerate(pairs):
            if far[b][c] > v:
                chosen, last = chosen + 1, i
            far[b][c] = far[c][b] = min(far[b][c], 1)
            for x in range(v):
                for y in range(v):
                    through = (far[x][b] + 1 + far[c][y], far[x][c] + 1 + far[b][y])
                    far[x][y] = min(far[x][y], *through)
        parts = {tuple(y for y in range(v) if far[x][y] <= v) for x in range(v)}
        if level == 1:
            return [len(parts), max(map(len, parts))]
        reached = [d for d in far[0] if d <= v]
        return [len(reached), sum(reached)] if level == 2 else [chosen, last]

    return long_list(
        rng, (0, 32767), body, solution, brute, {"share": share, "level": level}, "ints"
    )


def _trees(rng: Random, level: int) -> Problem:
    m, t = rng.randint(2, 9), rng.randint(1, 4)
    bound = "v" if t == 1 else f"(1 + v div {t})"
    body = WORDINGS.one("trees", bound=bound)
    body += WORDINGS.one(f"trees {level}", m=m)
    solution = WORDINGS.source(
        "trees solution",
        v="v" if t == 1 else f"(1 + v // {t})",
        level_word=WORDINGS.one(f"trees of {level}", m=m),
    )

    def brute(a: list[int]) -> list[int]:
        n = len(a)
        above: list[list[int]] = [[0]]
        for v in range(1, n):
            above.append([v, *above[a[v] % (v if t == 1 else 1 + v // t)]])
        sizes = [sum(v in line for line in above) for v in range(n)]

        def apart(x: int, y: int) -> int:
            return len(set(above[x]) ^ set(above[y]))

        ways = [apart(x, y) for x, y in combinations(range(n), 2)]
        depths = [len(line) - 1 for line in above]
        return {
            1: [sum(s % m == 0 for s in sizes), max(depths)],
            2: [sum(ways), sizes.count(1)],
            3: [max(ways, default=0), sum(depths)],
        }[level]

    return long_list(
        rng,
        (0, 32767),
        body,
        solution,
        brute,
        {"m": m if level == 1 else 0, "t": t, "level": level},
        "ints",
    )


def _prices(rng: Random, level: int) -> Problem:
    fee, wait = rng.randint(2, 60), rng.randint(1, 9)
    body = "a[i] is the price of a share on day i; buying and selling take place at that price, and at most one share is held at a time. "
    body += WORDINGS.one(f"prices {level}", wait=wait, fee=fee, wait_plus_1=wait + 1)
    solution = WORDINGS.source(f"prices solution {level}", wait=wait, fee=fee, wait_plus_1=wait + 1)

    def best(a: list[int], day: int) -> int:
        """Return the greatest profit from ``day`` on if no share is held."""
        best_gain = 0
        for b in range(day, len(a)):
            for s in range(b + (wait if level == 1 else 1), len(a)):
                gain = a[s] - a[b] - (fee if level == 2 else 0)
                if gain > 0:
                    later = best(a, s + (wait + 1 if level == 3 else 0)) if level > 1 else 0
                    best_gain = max(best_gain, gain + later)
        return best_gain

    return long_list(
        rng,
        (1, rng.choice((99, 900))),
        body,
        solution,
        lambda a: best(a, 0),
        {"fee": fee if level == 2 else 0, "wait": 0 if level == 2 else wait, "level": level},
    )


FAMILIES = (
    code_family("long_intervals", "many intervals: what they cover, how many overlap", _intervals),
    code_family("long_graphs", "large graphs: components, distances, joining edges", _edges),
    code_family("long_trees", "large trees: sizes, depths, distances", _trees),
    code_family("long_prices", "profits from a long list of prices", _prices),
)
