"""Problems on distances in graphs."""

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
class _Distances:
    level: int
    directed: bool
    special: Condition
    """Condition on u + v. An edge that meets it is closed; at level 2 it costs ``toll`` more."""
    none: int
    toll: int
    f: int
    """Factor of the edge weight (level 2)."""
    free: int
    """Every ``free``-th edge of a walk costs ``toll`` (level 3)."""

    @property
    def layers(self) -> int:
        """Return the period, in edges, of the costs along a walk."""
        return self.free if self.level == 3 else 1


def _distances(rng: Random, level: int) -> Problem:
    rule = _Distances(
        level=level,
        directed=rng.random() < 0.5,
        special=rare_condition(rng, 1, 13),
        none=rng.choice((-1, -5, -10, 50, 99, 100, 999, 1000)),
        toll=rng.randint(1, 9),
        f=rng.randint(1, 5),
        free=rng.randint(2, 4),
    )

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(5, 8)
        return n, edge_list(r, n, 3 * n, 0 if level == 1 else 20)

    key: dict[str, Any] = {"level": level, "directed": rule.directed}
    key |= {"condition": rule.special.key, "none": rule.none}
    key |= ({}, {"toll": rule.toll, "f": rule.f}, {"toll": rule.toll, "free": rule.free})[level - 1]
    special, toll = f"u + v is {rule.special.text}", rule.toll
    edge = "pair [u, v]" if rule.level == 1 else "triple [u, v, w]"
    cost = WORDINGS.one(f"distances {rule.level}", special=special, rule=rule, toll=toll)
    return Problem(
        WORDINGS.one(
            "distances", head=HEAD, edge=edge, way=WAY[rule.directed], cost=cost, rule=rule
        ),
        f"n: int, edges: {'pairs' if level == 1 else 'triples'} -> ints",
        _distances_gold(rule),
        partial(_distances_brute, rule),
        draw,
        key,
        ((1, []),),
    )


def _distances_gold(rule: _Distances) -> str:
    special, toll, level = rule.special.on("(u + v)"), rule.toll, rule.level
    read = WORDINGS.one(f"distances gold {level}", rule=rule, toll=toll, special=special)
    return WORDINGS.source(
        "distances solution",
        read=read,
        use=f"not {special}" if level != 2 else "True",
        back="" if rule.directed else "\n            out[v].append((u, w))",
        step=f"({toll} if (k + 1) % {rule.free} == 0 else w)" if level == 3 else "w",
        layers=rule.layers,
        none=rule.none,
    )


def _distances_brute(rule: _Distances, n: int, edges: list[list[int]]) -> list[int]:
    arcs = [(e[0], e[1], _costs(rule, e)) for e in edges if not _closed(rule, e)]
    arcs += [] if rule.directed else [(v, u, costs) for u, v, costs in arcs]
    dist: dict[tuple[int, int], int] = {(0, 0): 0}
    for _ in range(n * rule.layers):
        for u, v, costs in arcs:
            for k, cost in enumerate(costs):
                if (u, k) in dist:
                    at = (v, (k + 1) % rule.layers)
                    dist[at] = min(dist.get(at, 10**9), dist[u, k] + cost)
    ends = [[d for (v, _), d in dist.items() if v == u] for u in range(n)]
    return [min(d) if d else rule.none for d in ends]


def _closed(rule: _Distances, edge: list[int]) -> bool:
    return rule.level != 2 and rule.special.holds(edge[0] + edge[1])


def _costs(rule: _Distances, edge: list[int]) -> list[int]:
    """Return the costs of an edge if it is the first, second, ... edge of a walk."""
    if rule.level == 1:
        return [1]
    if rule.level == 2:
        return [rule.f * edge[2] + rule.toll * rule.special.holds(edge[0] + edge[1])]
    return [edge[2]] * (rule.free - 1) + [rule.toll]


FAMILIES = (code_family("graph_distances", "shortest paths", _distances),)
