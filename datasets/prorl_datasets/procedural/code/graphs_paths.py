"""Code problems on distances and walks in graphs.

Leaves out: components and spanning forests (``graphs_components``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import edge_list, rare_condition, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_NE, _NT = (("n", "int"), ("edges", "pairs")), (("n", "int"), ("edges", "triples"))


_HEAD = "A graph has the vertices 0 to n - 1, n at most 10. "


_WAY = {True: "from u to v only", False: "between u and v, in both directions"}


_DISTANCES_GOLD = """
from heapq import heappop, heappush

def solve(n, edges):
    out = [[] for _ in range(n)]
    for u, v, w in [$read]:
        if $use:
            out[u].append((v, w))$back
    best = {}
    queue = [(0, 0, 0)]
    while queue:
        d, u, k = heappop(queue)
        if (u, k) in best:
            continue
        best[u, k] = d
        for v, w in out[u]:
            heappush(queue, (d + $step, v, (k + 1) % $layers))
    ends = [[best[u, k] for k in range($layers) if (u, k) in best] for u in range(n)]
    return [min(x, default=$none) for x in ends]
"""


def _distances(rng: Random, level: int) -> Problem:
    directed, c, none = (
        rng.random() < 0.5,
        rare_condition(rng, 1, 13),
        rng.choice((-1, 0, 99, 1000, -5)),
    )
    toll, f, free = rng.randint(1, 9), rng.randint(1, 5), rng.randint(2, 4)
    graph = (
        f"Each {'pair [u, v]' if level == 1 else 'triple [u, v, w]'} of `edges` is an edge "
        f"{_WAY[directed]}"
    )
    cost = {
        1: f", but edges for which u + v is {c.text} are closed. The length of a path is its "
        "number of edges",
        2: f". Using the edge costs {f}*w, and {toll} more if u + v is {c.text}. The length "
        "of a path is the sum of its costs",
        3: " of cost w. The edges of a path (which may use an edge more than once) count 1, "
        f"2, 3, ...; those whose number is a multiple of {free} cost {toll} "
        f"instead of w, and edges for which u + v is {c.text} are closed. The length of a "
        "path is the sum of its costs",
    }[level]
    statement = (
        f"{_HEAD}{graph}{cost}. Give the list of the lengths of shortest paths from "
        "vertex 0 to the vertices 0, 1, ..., n - 1 (0 for vertex 0 itself, "
        f"{none} for a vertex that cannot be reached)."
    )
    use = f"not {c.on('(u + v)')}" if level != 2 else "True"
    read = {
        1: "(u, v, 1) for u, v in edges",
        2: f"(u, v, {f} * w + ({toll} if {c.on('(u + v)')} else 0)) for u, v, w in edges",
        3: "(u, v, w) for u, v, w in edges",
    }[level]
    layers = free if level == 3 else 1
    gold = _DISTANCES_GOLD
    step = f"({toll} if (k + 1) % {free} == 0 else w)" if level == 3 else "w"

    def brute(n: int, edges: list[list[int]]) -> list[int]:
        arcs = [(e[0], e[1], e[2] if level > 1 else 1, c.holds(e[0] + e[1])) for e in edges]
        arcs += [] if directed else [(v, u, w, hit) for u, v, w, hit in arcs]
        dist: dict[tuple[int, int], int] = {(0, 0): 0}
        for _ in range(n * layers):
            for u, v, w, hit in arcs:
                for k in range(layers):
                    if (u, k) not in dist or (hit and level != 2):
                        continue
                    now = w if level != 2 else f * w + toll * hit
                    now = toll if level == 3 and k == free - 1 else now
                    at = (v, (k + 1) % layers)
                    dist[at] = min(dist.get(at, 10**9), dist[u, k] + now)
        ends = [[d for (v, _), d in dist.items() if v == u] for u in range(n)]
        return [min(d) if d else none for d in ends]

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(5, 8)
        return n, edge_list(r, n, 3 * n, 0 if level == 1 else 20)

    key: dict[str, Any] = {"level": level, "directed": directed, "condition": c.key, "none": none}
    key |= (
        {} if level == 1 else {"toll": toll, "f": f} if level == 2 else {"toll": toll, "free": free}
    )
    back = "" if directed else "\n            out[v].append((u, w))"
    text = source(gold, read=read, use=use, back=back, step=step, layers=layers, none=none)
    return Problem(
        statement, _NE if level == 1 else _NT, "ints", text, brute, draw, key, ((1, []),)
    )


_WALKS_GOLD = {
    1: """
    def solve(n, edges):
        out = [[] for _ in range(n)]
        for u, v in edges:
            if not $cond:
                out[u].append(v)$back
        dist = {$start: 0}
        queue = [$start]
        for u in queue:
            for v in out[u]:
                if v not in dist and dist[u] < $k:
                    dist[v] = dist[u] + 1
                    queue.append(v)
        return sorted(dist)
    """,
    2: """
    def solve(n, edges):
        out = [[] for _ in range(n)]
        for u, v in edges:
            if not $cond:
                out[u].append(v)$back
        ways = [int(v == $start) for v in range(n)]
        for _ in range($k):
            new = [0] * n
            for u in range(n):
                for v in out[u]:
                    new[v] += ways[u]
            ways = new
        return ways
    """,
    3: """
    def solve(n, edges, t):
        out = [[] for _ in range(n)]
        for u, v in edges:
            if not $cond:
                out[u].append(v)$back
        a = [[0] * n for _ in range(n)]
        for u in range(n):
            for v in out[u]:
                a[u][v] += u != $bad

        def times(x, y):
            cols = list(zip(*y))
            return [[sum(p * q for p, q in zip(row, col)) % $m for col in cols] for row in x]

        if t == 0:
            return 1 % $m
        row = [0] * n
        for v in out[$start]:
            row[v] += 1
        t -= 1
        while t:
            if t & 1:
                row = times([row], a)[0]
            a = times(a, a)
            t >>= 1
        return sum(row) % $m
    """,
}


def _walks(rng: Random, level: int) -> Problem:
    directed, k = rng.random() < 0.5, rng.randint(2, 4)
    m, f = rng.choice((97, 101, 1009, 9973, 10007)), rng.randint(1, 5)
    c = rare_condition(rng, f, 6 * f + 6)
    bad, start = rng.randint(1, 3), rng.randint(0, 2)
    graph = (
        f"{_HEAD}Each pair [u, v] of `edges` is an edge {_WAY[directed]}, but edges for which "
        f"{f}*u + v is {c.text} are closed (u is the first number of the pair). "
    )
    what = {
        1: f"Give, in increasing order, the vertices that can be reached from vertex {start} "
        f"by a path of at most {k} open edges, {start} itself included.",
        2: f"A walk of {k} steps follows {k} open edges one after the other; vertices and "
        "edges may repeat. Give the list of the numbers of different walks of exactly "
        f"{k} steps "
        f"(as sequences of vertices) from vertex {start} to the vertices 0, 1, ..., n - 1.",
        3: "A walk of t steps follows t open edges one after the other; vertices and edges "
        f"may repeat, but the vertex {bad} may only be the start or the end of a walk. "
        "For the given t (at most "
        "1000000000) give the number of different walks of exactly t steps (as sequences "
        f"of vertices) from vertex {start}, to any vertex, modulo {m}.",
    }[level]
    back = "" if directed else "\n            out[v].append(u)"

    def brute(n: int, edges: list[list[int]], t: int = 0) -> Any:
        arcs = [(u, v) for u, v in edges if not c.holds(f * u + v)]
        arcs += [] if directed else [(v, u) for u, v in arcs]
        if level < 3:
            walks = [[start]]
            reached = {start}
            for _ in range(k):
                walks = [[*w, v] for w in walks for u, v in arcs if u == w[-1]]
                walks = walks if level == 2 else [[v] for v in dict.fromkeys(w[-1] for w in walks)]
                reached |= {w[-1] for w in walks}
            ends = [w[-1] for w in walks]
            return sorted(reached) if level == 1 else [ends.count(v) for v in range(n)]
        ways = {start: 1}
        for i in range(t):
            new: dict[int, int] = {}
            for u, v in arcs:
                if u in ways and (i == 0 or u != bad):
                    new[v] = (new.get(v, 0) + ways[u]) % m
            ways = new
        return sum(ways.values()) % m

    def draw(r: Random) -> tuple[Any, ...]:
        n = r.randint(5, 8)
        edges = edge_list(r, n, 4 * n)
        return (n, edges) if level < 3 else (n, edges, r.randint(3, 60))

    key: dict[str, Any] = {
        "level": level,
        "directed": directed,
        "condition": c.key,
        "f": f,
        "start": start,
    }
    key |= {"k": k} if level < 3 else {"m": m, "bad": bad}
    cond = c.on(f"({f} * u + v)")
    text = source(_WALKS_GOLD[level], start=start, k=k, bad=bad, m=m, cond=cond, back=back)
    inputs = _NE if level < 3 else (*_NE, ("t", "int"))
    return Problem(graph + what, inputs, "int" if level == 3 else "ints", text, brute, draw, key)


FAMILIES = (
    code_family("graph_distances", _distances),
    code_family("graph_walks", _walks),
)
