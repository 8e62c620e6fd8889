"""Problems on walks in graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.graphs.common import HEAD, WAY
from prorl_datasets.procedural.code.lists.common import Condition, edge_list, rare_condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Walks:
    level: int
    directed: bool
    k: int
    """Number of edges walked (levels 1 and 2; an input at level 3)."""
    m: int
    """Modulus of the count (level 3)."""
    f: int
    closed: Condition
    """Condition on ``f``*u + v; edges that meet it may not be walked."""
    bad: int
    """Vertex to avoid (level 3)."""
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
    text = WORDINGS.source(
        f"walks solution {level}", start=start, k=k, bad=bad, m=m, cond=cond, back=back
    )
    result = "ints" if level < 3 else "int"
    signature = f"n: int, edges: pairs{', t: int' if level == 3 else ''} -> {result}"
    brute = partial(_walks_brute, walk)
    return Problem(_walks_statement(walk), signature, text, brute, draw, key)


def _walks_statement(walk: _Walks) -> str:
    k, start = walk.k, walk.start
    graph = WORDINGS.one(
        "walks statement graph", head=HEAD, way=WAY[walk.directed], walk=walk, text=walk.closed.text
    )
    return graph + WORDINGS.one(f"walks {walk.level}", k=k, start=start, walk=walk)


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
    ways = {walk.start: 1}
    for i in range(t):
        new: dict[int, int] = {}
        for u, v in arcs:
            if u in ways and (i == 0 or u != walk.bad):
                new[v] = (new.get(v, 0) + ways[u]) % walk.m
        ways = new
    return sum(ways.values()) % walk.m


FAMILIES = (code_family("graph_walks", "what walks of a length reach", _walks),)
