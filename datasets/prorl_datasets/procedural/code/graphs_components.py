"""Code problems on components and spanning forests of graphs.

Leaves out: distances and walks (``graphs_paths``).
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import edge_list, ordinal, rare_condition, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_NE, _NT = (("n", "int"), ("edges", "pairs")), (("n", "int"), ("edges", "triples"))


_HEAD = "A graph has the vertices 0 to n - 1, n at most 10. "


_COMPONENTS_GOLD = """
def solve(n, edges):
    parent = list(range(n))

    def find(v):
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    size = [1] * n
    total = n
    notes = []
    for u, v in edges:
        if not $cond:
            a, b = find(u), find(v)
            if a != b:
                total += (size[a] + size[b]) ** $k - size[a] ** $k - size[b] ** $k
                parent[a] = b
                size[b] += size[a]
        notes.append(total % $m)
    groups = {}
    for v in range(n):
        groups.setdefault(find(v), []).append(v)
    return $result
"""


def _components(rng: Random, level: int) -> Problem:
    big, f = rng.random() < 0.5, rng.randint(2, 9)
    c = rare_condition(rng, f, 8 * f + 8)
    k = rng.randint(2, 4)
    closed = (
        f"Each pair [u, v] of `edges` joins u and v, except where {f}*u + v is {c.text}: such "
        "a pair joins nothing (u is the first number of the pair). "
    )
    order = "decreasing" if big else "increasing"
    what = {
        1: f"Give the sizes of the connected components, in {order} order.",
        2: f"The weight of a component is the sum over its vertices v of (v*{f}) modulo "
        f"{k + 11}, times the number of its vertices. Give the weights of the "
        f"connected components, in {order} order.",
        3: "The pairs are taken in the order given. After every pair, also one that joins "
        f"nothing, note the sum of the {ordinal(k)} powers of the component "
        f"sizes modulo {97 + f}. Give the list of the notes (empty without pairs).",
    }[level]
    gold = _COMPONENTS_GOLD
    result = {
        1: f"sorted(map(len, groups.values()), reverse={big})",
        2: f"sorted((sum(v * {f} % {k + 11} for v in g) * len(g) for g in groups.values()), "
        f"reverse={big})",
        3: "notes",
    }[level]

    def groups(n: int, edges: list[list[int]]) -> list[list[int]]:
        label = list(range(n))
        for u, v in edges:
            if not c.holds(f * u + v):
                label = [label[u] if x == label[v] else x for x in label]
        return [[v for v in range(n) if label[v] == x] for x in dict.fromkeys(label)]

    def brute(n: int, edges: list[list[int]]) -> list[int]:
        if level == 3:
            counts = [[len(g) for g in groups(n, edges[: i + 1])] for i in range(len(edges))]
            return [sum(x**k for x in sizes) % (97 + f) for sizes in counts]
        found = groups(n, edges)
        values = [len(g) * (sum((v * f) % (k + 11) for v in g) if level == 2 else 1) for g in found]
        return sorted(values, reverse=big)

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(5, 10)
        return n, edge_list(r, n, n + 2)

    key: dict[str, Any] = {"level": level, "condition": c.key, "f": f}
    key |= ({"big": big}, {"big": big, "k": k}, {"k": k})[level - 1]
    text = source(gold, cond=c.on(f"({f} * u + v)"), k=k, m=97 + f, result=result)
    return Problem(_HEAD + closed + what, _NE, "ints", text, brute, draw, key, ((3, []),))


_SPANNING_GOLD = """
def solve(n, edges):
    label = list(range(n))
    parts = n
    costs = []
    for u, v, w in sorted(edges, key=lambda e: $sign($order)):
        if parts > $goal and label[u] != label[v]:
            old, new = label[u], label[v]
            label = [new if x == old else x for x in label]
            parts -= 1
            costs.append($value)
    return $result
"""


def _spanning(rng: Random, level: int) -> Problem:
    c, f, g, k = (
        rare_condition(rng, 1, 13),
        rng.randint(1, 9),
        rng.randint(0, 30),
        rng.randint(1, 3),
    )
    best = rng.choice(("smallest", "largest"))
    cost = f"The cost of an edge is {f}*w + {g}"
    cost += f", but {f}*w - {g} if u + v is {c.text}. " if level > 1 else ". "
    graph = (
        f"{_HEAD}Each triple [u, v, w] of `edges` is an edge between u and v of weight w. {cost}"
    )
    what = {
        1: "A set of edges is free of cycles if it holds no closed path. Add edges one by "
        f"one, always the one with the {best} weight that closes no cycle with those "
        "added before (of equal weights the one earlier in `edges`), until "
        "none can be added. Give the list of the costs of the added edges in the order of adding.",
        2: "Choose edges that leave the graph with as few connected components as possible "
        f"and hold no cycle. Give the {best} total cost of such a choice (0 if `edges` is "
        "empty).",
        3: f"Choose edges that hold no cycle and leave exactly max(c, min(n, {k + 1})) "
        "connected components, where c is the number of components of the graph with all "
        "its edges. "
        f"Give the {best} total cost of such a choice (0 if no edge is chosen).",
    }[level]
    value = f"{f} * w + {g}" if level == 1 else f"{f} * w + (-{g} if {c.on('(u + v)')} else {g})"
    order = "w" if level == 1 else value
    goal = f"min(n, {k + 1})" if level == 3 else "1"
    gold = _SPANNING_GOLD
    unpacked = (
        order.replace("(u + v)", "(e[0] + e[1])").replace("* w", "* e[2]") if level > 1 else "e[2]"
    )

    def brute(n: int, edges: list[list[int]]) -> Any:
        if level == 1:
            return _greedy_tree(n, edges, best, (f, g))
        whole = _parts(n, edges)
        want = n - (max(whole, min(n, k + 1)) if level == 3 else whole)
        totals = []
        for mask in product((0, 1), repeat=len(edges)):
            if sum(mask) == want:
                chosen = [e for e, bit in zip(edges, mask, strict=True) if bit]
                if _parts(n, chosen) == n - want:
                    totals.append(sum(f * w + (-g if c.holds(u + v) else g) for u, v, w in chosen))
        return min(totals) if best == "smallest" else max(totals)

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(3, 7) if level == 1 else r.randint(4, 6)
        return n, edge_list(r, n, 12 if level == 1 else 8, 30)

    key: dict[str, Any] = {"level": level, "f": f, "g": g, "best": best}
    key |= {"condition": c.key} if level > 1 else {}
    key |= {"k": k} if level == 3 else {}
    sign = "" if best == "smallest" else "-"
    text = source(
        gold,
        sign=sign,
        order=unpacked,
        goal=goal,
        value=value,
        result="costs" if level == 1 else "sum(costs)",
    )
    return Problem(
        graph + what, _NT, "ints" if level == 1 else "int", text, brute, draw, key, ((2, []),)
    )


def _greedy_tree(n: int, edges: list[list[int]], best: str, line: tuple[int, int]) -> list[int]:
    """Add the best edge that lowers the number of parts, until there is none."""
    chosen: list[list[int]] = []
    while True:
        fits = [e for e in edges if _parts(n, [*chosen, e]) < _parts(n, chosen)]
        if not fits:
            return [line[0] * e[2] + line[1] for e in chosen]
        weights = [e[2] for e in fits]
        chosen.append(fits[weights.index(min(weights) if best == "smallest" else max(weights))])


def _parts(n: int, edges: list[list[int]]) -> int:
    """Return the number of components by spreading from each vertex."""
    left, count = list(range(n)), 0
    while left:
        count += 1
        queue = [left[0]]
        for u in queue:
            for e in edges:
                if u in e[:2] and e[0] + e[1] - u not in queue:
                    queue.append(e[0] + e[1] - u)
        left = [v for v in left if v not in queue]
    return count


FAMILIES = (
    code_family("graph_components", _components),
    code_family("spanning_forests", _spanning),
)
