"""Long lists read as intervals, edges, parents or prices: sorting, union-find, breadth-first search, trees, profits.

Leaves out: counting in plain lists (``pairs``, ``stretches``), words (``words``).
"""

from __future__ import annotations

from itertools import combinations
from random import Random

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.code.scale.rule import long_list

_PAIRED = "Read `a` as pairs (a[0], a[1]), (a[2], a[3]), ...; a last element without a partner is ignored."


def _intervals(rng: Random, level: int) -> Problem:
    length = rng.choice((40, 300, 2000))
    body = f"{_PAIRED} A pair (b, c) stands for the interval from b to b + 1 + c mod {length}, its end not included. "
    body += {
        1: "Give the number of integers that lie in at least one interval.",
        2: "Give the largest number of intervals that have an integer in common (0 if there are none).",
        3: "Give the largest number of intervals that can be chosen so that no two of them share an integer.",
    }[level]
    solution = f"""
def intervals(a):
    return [(a[i], a[i] + 1 + a[i + 1] % {length}) for i in range(0, len(a) - 1, 2)]


""" + {
        1: """
def of_list(a):
    covered, reached = 0, -1
    for start, end in sorted(intervals(a)):
        if end > reached:
            covered += end - max(start, reached)
            reached = end
    return covered
""",
        2: """
def of_list(a):
    events = []
    for start, end in intervals(a):
        events += [(start, 1), (end, -1)]
    events.sort()
    best = now = 0
    for _, change in events:
        now += change
        best = max(best, now)
    return best
""",
        3: """
def of_list(a):
    chosen, reached = 0, -1
    for end, start in sorted((end, start) for start, end in intervals(a)):
        if start >= reached:
            chosen, reached = chosen + 1, end
    return chosen
""",
    }[level]

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
    body = (
        f"{_PAIRED} An undirected graph has the vertices 0 to v - 1, where v = 1 + n div {share}; the pair (b, c) is an edge "
        "between b mod v and c mod v (an edge from a vertex to itself, or one that is there twice, changes nothing). "
    )
    body += {
        1: "Give two integers: the number of connected components, and the number of vertices of the largest.",
        2: "Give two integers: how many vertices can be reached from vertex 0 (itself included), and the sum of their "
        "distances from it in edges.",
        3: "Going through the edges in order, an edge is kept if it joins two parts that the kept edges do not join yet. "
        "Give two integers: the number of kept edges and the number of edges before the last kept one (0 if none is kept).",
    }[level]
    head = f"""
def edges(a):
    v = 1 + len(a) // {share}
    return v, [(a[i] % v, a[i + 1] % v) for i in range(0, len(a) - 1, 2)]


"""
    union = """
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


"""
    solution = {
        1: head
        + union
        + """
def of_list(a):
    v, joined = edges(a)
    parent = list(range(v))
    for b, c in joined:
        parent[find(parent, b)] = find(parent, c)
    sizes = {}
    for x in range(v):
        top = find(parent, x)
        sizes[top] = sizes.get(top, 0) + 1
    return [len(sizes), max(sizes.values())]
""",
        2: head
        + """
from collections import deque


def of_list(a):
    v, joined = edges(a)
    near = [[] for _ in range(v)]
    for b, c in joined:
        near[b].append(c)
        near[c].append(b)
    far, waiting = {0: 0}, deque([0])
    while waiting:
        x = waiting.popleft()
        for y in near[x]:
            if y not in far:
                far[y] = far[x] + 1
                waiting.append(y)
    return [len(far), sum(far.values())]
""",
        3: head
        + union
        + """
def of_list(a):
    v, joined = edges(a)
    parent = list(range(v))
    kept = last = 0
    for i, (b, c) in enumerate(joined):
        b, c = find(parent, b), find(parent, c)
        if b != c:
            parent[b] = c
            kept, last = kept + 1, i
    return [kept, last]
""",
    }[level]

    def brute(a: list[int]) -> list[int]:
        v = 1 + len(a) // share
        pairs = [(b % v, c % v) for b, c in zip(a[::2], a[1::2], strict=False)]
        far = [[0 if x == y else v + 1 for y in range(v)] for x in range(v)]
        kept, last = 0, 0
        for i, (b, c) in enumerate(pairs):
            if far[b][c] > v:
                kept, last = kept + 1, i
            far[b][c] = far[c][b] = min(far[b][c], 1)
            for x in range(v):
                for y in range(v):
                    through = (far[x][b] + 1 + far[c][y], far[x][c] + 1 + far[b][y])
                    far[x][y] = min(far[x][y], *through)
        parts = {tuple(y for y in range(v) if far[x][y] <= v) for x in range(v)}
        if level == 1:
            return [len(parts), max(map(len, parts))]
        reached = [d for d in far[0] if d <= v]
        return [len(reached), sum(reached)] if level == 2 else [kept, last]

    return long_list(
        rng, (0, 32767), body, solution, brute, {"share": share, "level": level}, "ints"
    )


def _trees(rng: Random, level: int) -> Problem:
    m, t = rng.randint(2, 9), rng.randint(1, 4)
    bound = "v" if t == 1 else f"(1 + v div {t})"
    body = (
        f"A rooted tree has the vertices 0 to n - 1 and the root 0; for v >= 1 the parent of v is a[v] mod {bound}. The size of a vertex "
        "is the number of vertices of the subtree below it, itself included; its depth is the number of edges up to the root. "
    )
    body += {
        1: f"Give two integers: the number of vertices whose size is divisible by {m}, and the greatest depth.",
        2: "Give two integers: the sum of the distances (in edges) over all pairs of vertices, and the number of leaves, which "
        "are the vertices without children.",
        3: "Give two integers: the length of the longest path between two vertices, in edges, and the sum of all depths.",
    }[level]
    solution = f"""
def measured(a):
    n = len(a)
    parent = [0] + [a[v] % {"v" if t == 1 else f"(1 + v // {t})"} for v in range(1, n)]
    depth, size, deepest, longest = [0] * n, [1] * n, [0] * n, 0
    for v in range(1, n):
        depth[v] = depth[parent[v]] + 1
    for v in range(n - 1, 0, -1):
        p = parent[v]
        size[p] += size[v]
        longest = max(longest, deepest[p] + deepest[v] + 1)
        deepest[p] = max(deepest[p], deepest[v] + 1)
    return parent, depth, size, longest


def of_list(a):
    parent, depth, size, longest = measured(a)
    n = len(a)
""" + {
        1: f"    return [sum(s % {m} == 0 for s in size), max(depth)]\n",
        2: "    return [sum(s * (n - s) for s in size[1:]), sum(s == 1 for s in size)]\n",
        3: "    return [longest, sum(depth)]\n",
    }[level]

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
    body += {
        1: f"At most one purchase and one sale are made, the sale at least {wait} days after the purchase. What is the greatest profit (0 if every one would lose)?",
        2: f"Any number of purchases and later sales are made, one after the other; each purchase costs a fee of {fee} besides. "
        "What is the greatest total profit?",
        3: "Any number of purchases and later sales are made, one after the other, but nothing may "
        f"be bought before day i + {wait + 1} when a share was sold on day i. What is the greatest total profit?",
    }[level]
    solution = {
        1: f"""
def of_list(a):
    lowest, best = a[0], 0
    for i in range({wait}, len(a)):
        lowest = min(lowest, a[i - {wait}])
        best = max(best, a[i] - lowest)
    return best
""",
        2: f"""
def of_list(a):
    free, holding = 0, -a[0] - {fee}
    for price in a[1:]:
        free, holding = max(free, holding + price), max(holding, free - price - {fee})
    return free
""",
        3: f"""
def of_list(a):
    free, holding = [0], -a[0]
    for i in range(1, len(a)):
        free.append(max(free[-1], holding + a[i]))
        ready = free[i - {wait + 1}] if i >= {wait + 1} else 0
        holding = max(holding, ready - a[i])
    return free[-1]
""",
    }[level]

    def best(a: list[int], day: int) -> int:
        """Return the greatest profit from ``day`` on, without a share."""
        found = 0
        for b in range(day, len(a)):
            for s in range(b + (wait if level == 1 else 1), len(a)):
                gain = a[s] - a[b] - (fee if level == 2 else 0)
                if gain > 0:
                    later = best(a, s + (wait + 1 if level == 3 else 0)) if level > 1 else 0
                    found = max(found, gain + later)
        return found

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
"""Families of structures that long lists describe."""
