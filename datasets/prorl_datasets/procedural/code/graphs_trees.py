"""Code problems on rooted trees given by a list of parents.

Leaves out: general graphs (``graphs_paths``, ``graphs_orders``).
"""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_P = (("parents", "ints"),)
_HEAD = (
    "A rooted tree has the vertices 0 to n - 1, n at most 12; vertex 0 is the root. "
    "`parents` has n elements: parents[0] is -1, and parents[v] is the parent of v, "
    "which is less than v. "
)


_MEASURES = {
    "depth": "depth of a vertex is the number of edges between it and the root",
    "height": "height of a vertex is the largest number of edges on a way down from it",
}


def _parents(r: Random, least: int, most: int) -> tuple[list[int]]:
    n, back = r.randint(least, most), r.randint(1, 6)
    return ([-1] + [r.randint(max(0, v - back), v - 1) for v in range(1, n)],)


_SUBTREES_GOLD = {
    1: """
    def solve(parents):
        n = len(parents)
        far = [0] * n
        for v in $order:
            $update
        return [($f * v + $g) % $m + $k * far[v] for v in range(n)]
    """,
    2: """
    def solve(parents):
        n = len(parents)
        total = [0] * n
        for v in range(n - 1, -1, -1):
            w = ($f * v + $g) % $m
            if $cond:
                total[v] += w
            if v:
                total[parents[v]] += total[v]
        return total
    """,
    3: """
    def solve(parents):
        n = len(parents)
        near = [[] for _ in range(n)]
        for v in range(1, n):
            near[v].append(parents[v])
            near[parents[v]].append(v)
        out = []
        for s in range(n):
            total = 0
            level = [(s, -1)]
            for _ in range($k + 1):
                for v, _ in level:
                    w = ($f * v + $g) % $m
                    if $cond:
                        total += w
                level = [(u, v) for v, p in level for u in near[v] if u != p]
            out.append(total)
        return out
    """,
}


def _subtrees(rng: Random, level: int) -> Problem:
    f, g, m = rng.randint(1, 9), rng.randint(0, 9), rng.randint(5, 17)
    c, k, op = condition(rng, 0, m), rng.randint(1, 3), rng.choice(("depth", "height"))
    weight = f"The weight of vertex v is ({f}*v + {g}) modulo {m}. "
    what = {
        1: f"The {_MEASURES[op]}. "
        f"Give the list that holds, for each vertex 0, 1, ..., n - 1, its weight plus {k} "
        f"times its {op}.",
        2: "Give the list that holds, for each vertex v = 0, 1, ..., n - 1, the sum of the "
        f"weights that are {c.text} in the subtree of v (v itself included).",
        3: "Give the list that holds, for each vertex v = 0, 1, ..., n - 1, the sum of the "
        f"weights that are {c.text} among the vertices at a distance of at most {k} from "
        "v in the tree (v itself included; the distance is the number of "
        "edges of the path between them).",
    }[level]
    gold = _SUBTREES_GOLD[level]
    order = "range(1, n)" if op == "depth" else "range(n - 1, 0, -1)"
    update = (
        "far[v] = far[parents[v]] + 1"
        if op == "depth"
        else "far[parents[v]] = max(far[parents[v]], far[v] + 1)"
    )

    def brute(parents: list[int]) -> list[int]:
        n = len(parents)
        weights = [f * v + g - (f * v + g) // m * m for v in range(n)]
        lines = [_line(parents, v) for v in range(n)]
        if level == 1 and op == "depth":
            return [w + k * (len(line) - 1) for w, line in zip(weights, lines, strict=True)]
        if level == 1:
            return [weights[v] + k * max(x.index(v) for x in lines if v in x) for v in range(n)]
        out = []
        for v in range(n):
            if level == 2:
                there = [u for u in range(n) if v in lines[u]]
            else:
                there = [u for u in range(n) if len({*lines[u]} ^ {*lines[v]}) <= k]
            out.append(sum(weights[u] for u in there if c.holds(weights[u])))
        return out

    key: dict[str, Any] = {"level": level, "f": f, "g": g, "m": m}
    key |= ({"op": op, "k": k}, {"condition": c.key}, {"condition": c.key, "k": k})[level - 1]
    text = source(gold, f=f, g=g, m=m, k=k, cond=c.on("w"), order=order, update=update)
    return Problem(
        _HEAD + weight + what,
        _P,
        "ints",
        text,
        brute,
        lambda r: _parents(r, 4, 12),
        key,
        (([-1],),),
    )


def _line(parents: list[int], v: int) -> list[int]:
    """Return v and the vertices above it, up to the root."""
    return [v] if v == 0 else [v, *_line(parents, parents[v])]


_TREE_CHOICES_GOLD = {
    1: """
    def solve(parents):
        n = len(parents)
        total = [$a] * n
        for v in range(n):
            total[v] = 1 + ($f * v + $g) % $m + (total[parents[v]] if v else $a)
        return [total[v] for v in range(n) if v not in parents]
    """,
    2: """
    def solve(parents):
        n = len(parents)
        down = [0] * n
        best = 0
        for v in range(n - 1, -1, -1):
            w = 1 + ($f * v + $g) % $m + ($a if $cond else 0)
            arms = sorted(down[u] for u in range(v + 1, n) if parents[u] == v)
            if arms:
                best = max(best, w + sum(arms[-2:]))
            down[v] = w + (arms[-1] if arms else 0)
        return best
    """,
    3: """
    def solve(parents):
        n = len(parents)
        used = [1 + ($f * v + $g) % $m for v in range(n)]
        left = [-$a if $cond else 0 for v in range(n)]
        for v in range(n - 1, 0, -1):
            p = parents[v]
            used[p] += max(used[v] - $cost, left[v])
            left[p] += max(used[v], left[v])
        return max(used[0], left[0])
    """,
}


def _tree_choices(rng: Random, level: int) -> Problem:
    f, g, m = rng.randint(1, 9), rng.randint(1, 9), rng.randint(5, 23)
    c, k, a = condition(rng, 1, 11), rng.randint(1, 5), rng.randint(1, 9)
    weight = f"The weight of vertex v is 1 + ({f}*v + {g}) modulo {m}. "
    what = {
        1: "A leaf is a vertex that is no vertex's parent. Give the list that holds, for "
        f"each leaf in increasing order, {a} plus the sum of the weights on the path from "
        "the root to it, both ends included.",
        2: "The value of the path between two different vertices is the sum of the weights "
        f"on it, both ends included, plus {a} for every vertex on it whose number is "
        f"{c.text}. Give the largest value of a path (0 if there is only one vertex).",
        3: "Choose a set of vertices. It earns the sum of the weights of its vertices, "
        f"minus {k + a} for every vertex in the set whose parent is in the set too, and "
        f"minus {a} for every vertex not in the set whose number is {c.text}. "
        "Give the largest possible earning.",
    }[level]
    gold = _TREE_CHOICES_GOLD[level]

    def brute(parents: list[int]) -> Any:
        n = len(parents)
        weights = [1 + (f * v + g) % m for v in range(n)]
        lines = [_line(parents, v) for v in range(n)]
        if level == 1:
            inner = [p for line in lines for p in line[1:]]
            return [a + sum(weights[u] for u in lines[v]) for v in range(n) if v not in inner]
        if level == 2:
            worth = [w + a * c.holds(v) for v, w in enumerate(weights)]
            values = [0]
            for u, v in combinations(range(n), 2):
                top = next(x for x in lines[u] if x in lines[v])
                path = {*lines[u]} ^ {*lines[v]}
                values.append(sum(worth[x] for x in path) + worth[top])
            return max(values)
        lost = [a * c.holds(v) for v in range(n)]
        return max(
            sum(
                weights[v] - (k + a) * (v > 0 and bits[parents[v]]) if bits[v] else -lost[v]
                for v in range(n)
            )
            for bits in product((0, 1), repeat=n)
        )

    key: dict[str, Any] = {"level": level, "f": f, "g": g, "m": m, "a": a}
    key |= ({}, {"condition": c.key}, {"condition": c.key, "k": k})[level - 1]
    text = source(gold, f=f, g=g, m=m, a=a, cond=c.on("v"), cost=k + a)
    most = 8 if level == 3 else 12
    return Problem(
        _HEAD + weight + what,
        _P,
        "ints" if level == 1 else "int",
        text,
        brute,
        lambda r: _parents(r, 4, most),
        key,
        (([-1],),),
    )


FAMILIES = (
    code_family("tree_subtrees", _subtrees),
    code_family("tree_choices", _tree_choices),
)
