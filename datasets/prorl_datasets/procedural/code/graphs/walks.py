"""Code problems on walks in graphs.

Leaves out: distances (``graphs.paths``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.graphs.common import HEAD, PAIRS, WAY
from prorl_datasets.procedural.code.lists.common import (
    Condition,
    edge_list,
    rare_condition,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

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


@dataclass(frozen=True, slots=True)
class _Walks:
    """The drawn walks: ``k`` steps from ``start`` over edges whose ``f``*u + v is not ``closed``,
    at level 3 never through ``bad`` and counted modulo ``m``."""

    level: int
    directed: bool
    k: int
    m: int
    f: int
    closed: Condition
    bad: int
    start: int


def _draw_walks(rng: Random, level: int) -> _Walks:
    directed, k = rng.random() < 0.5, rng.randint(2, 4)
    m, f = rng.choice((97, 101, 1009, 9973, 10007)), rng.randint(1, 9)
    closed = rare_condition(rng, f, 6 * f + 6)
    return _Walks(level, directed, k, m, f, closed, rng.randint(1, 3), rng.randint(0, 2))


def _walks(rng: Random, level: int) -> Problem:
    walk = _draw_walks(rng, level)
    k, m, f, bad, start = walk.k, walk.m, walk.f, walk.bad, walk.start

    def draw(r: Random) -> tuple[Any, ...]:
        n = r.randint(5, 8)
        edges = edge_list(r, n, 4 * n)
        return (n, edges) if level < 3 else (n, edges, r.randint(3, 60))

    key: dict[str, Any] = {"level": level, "directed": walk.directed, "f": f, "start": start}
    key |= {"condition": walk.closed.key}
    key |= {"k": k} if level < 3 else {"m": m, "bad": bad}
    cond = walk.closed.on(f"({f} * u + v)")
    back = "" if walk.directed else "\n            out[v].append(u)"
    text = source(_WALKS_GOLD[level], start=start, k=k, bad=bad, m=m, cond=cond, back=back)
    inputs = PAIRS if level < 3 else (*PAIRS, ("t", "int"))
    output = "int" if level == 3 else "ints"
    brute = partial(_walks_brute, walk)
    return Problem(_walks_statement(walk), inputs, output, text, brute, draw, key)


def _walks_statement(walk: _Walks) -> str:
    k, start = walk.k, walk.start
    graph = (
        f"{HEAD}Each pair [u, v] of `edges` is an edge {WAY[walk.directed]}, but edges for which "
        f"{walk.f}*u + v is {walk.closed.text} are closed (u is the first number of the pair). "
    )
    what = {
        1: f"Give, in increasing order, the vertices that can be reached from vertex {start} "
        f"by a path of at most {k} open edges, {start} itself included.",
        2: f"A walk of {k} steps follows {k} open edges one after the other; vertices and edges "
        f"may repeat. Give the list of the numbers of different walks of exactly {k} steps "
        f"(as sequences of vertices) from vertex {start} to the vertices 0, 1, ..., n - 1.",
        3: "A walk of t steps follows t open edges one after the other; vertices and edges may "
        f"repeat, but the vertex {walk.bad} may only be the start or the end of a walk. For the "
        "given t (at most 1000000000) give the number of different walks of exactly t steps (as "
        f"sequences of vertices) from vertex {start}, to any vertex, modulo {walk.m}.",
    }
    return graph + what[walk.level]


def _walks_brute(walk: _Walks, n: int, edges: list[list[int]], t: int = 0) -> Any:
    arcs = [(u, v) for u, v in edges if not walk.closed.holds(walk.f * u + v)]
    arcs += [] if walk.directed else [(v, u) for u, v in arcs]
    if walk.level == 3:
        return _long_walks(walk, arcs, t)
    walks, reached = [[walk.start]], {walk.start}
    for _ in range(walk.k):
        walks = [[*w, v] for w in walks for u, v in arcs if u == w[-1]]
        if walk.level == 1:
            walks = [[v] for v in dict.fromkeys(w[-1] for w in walks)]
        reached |= {w[-1] for w in walks}
    ends = [w[-1] for w in walks]
    return sorted(reached) if walk.level == 1 else [ends.count(v) for v in range(n)]


def _long_walks(walk: _Walks, arcs: list[tuple[int, int]], t: int) -> int:
    """Count step by step."""
    ways = {walk.start: 1}
    for i in range(t):
        new: dict[int, int] = {}
        for u, v in arcs:
            if u in ways and (i == 0 or u != walk.bad):
                new[v] = (new.get(v, 0) + ways[u]) % walk.m
        ways = new
    return sum(ways.values()) % walk.m


FAMILIES = (code_family("graph_walks", "what walks of a length reach", _walks),)
