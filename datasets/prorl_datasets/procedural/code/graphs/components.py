"""Problems on components and spanning forests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from random import Random
from typing import Any

from prorl_datasets.procedural.code.graphs.common import HEAD
from prorl_datasets.procedural.code.lists.common import Condition, edge_list, rare_condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Components:
    level: int
    big: bool
    """Whether the order is descending."""
    f: int
    closed: Condition
    """Condition on ``f``*u + v; an edge that meets it is ignored."""
    k: int
    """Exponent of the component sizes (level 3)."""
    m: int
    """Modulus (levels 2 and 3)."""


def _components(rng: Random, level: int) -> Problem:
    big, f = rng.random() < 0.5, rng.randint(2, 12)
    closed, k = rare_condition(rng, f, 8 * f + 8), rng.randint(2, 5)
    m = rng.randint(13, 17) if level == 2 else rng.randint(89, 199)
    rule = _Components(level, big, f, closed, k, m)
    weight = f"sum(v * {f} % {m} for v in g) * len(g)"
    result = WORDINGS.one(f"components {level}", big=big, weight=weight)

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(5, 10)
        return n, edge_list(r, n, n + 2)

    key: dict[str, Any] = {"level": level, "condition": rule.closed.key, "f": f}
    key |= ({"big": big}, {"big": big, "m": m}, {"k": k, "m": m})[level - 1]
    cond = rule.closed.on(f"({f} * u + v)")
    text = WORDINGS.source("components solution", cond=cond, k=k, m=m, result=result)
    brute = partial(_components_brute, rule)
    return Problem(
        _components_statement(rule),
        "n: int, edges: pairs -> ints",
        text,
        brute,
        draw,
        key,
        ((3, []),),
    )


def _components_statement(rule: _Components) -> str:
    f, m = rule.f, rule.m
    order = "decreasing" if rule.big else "increasing"
    closed = WORDINGS.one("components statement closed", f=f, text=rule.closed.text)
    return (
        HEAD
        + closed
        + WORDINGS.one(f"components of {rule.level}", f=f, m=m, order=order, k=ordinal(rule.k))
    )


def _components_brute(rule: _Components, n: int, edges: list[list[int]]) -> list[int]:
    if rule.level == 3:
        steps = [_groups(rule, n, edges[: i + 1]) for i in range(len(edges))]
        return [sum(len(g) ** rule.k for g in groups) % rule.m for groups in steps]
    found = _groups(rule, n, edges)
    if rule.level == 1:
        return sorted(map(len, found), reverse=rule.big)
    weights = [len(g) * sum((v * rule.f) % rule.m for v in g) for g in found]
    return sorted(weights, reverse=rule.big)


def _groups(rule: _Components, n: int, edges: list[list[int]]) -> list[list[int]]:
    label = list(range(n))
    for u, v in edges:
        if not rule.closed.holds(rule.f * u + v):
            label = [label[u] if x == label[v] else x for x in label]
    return [[v for v in range(n) if label[v] == x] for x in dict.fromkeys(label)]


@dataclass(frozen=True, slots=True)
class _Spanning:
    """A problem in which an edge of weight w costs ``f``*w + ``g``."""

    level: int
    cheap: Condition
    """Condition on u + v; an edge that meets it costs ``f``*w - ``g``."""
    f: int
    g: int
    k: int
    """The forest has ``k`` + 1 parts (level 3)."""
    best: str
    """Whether the smallest or the largest total is asked for."""


def _spanning(rng: Random, level: int) -> Problem:
    rule = _Spanning(
        level=level,
        cheap=rare_condition(rng, 1, 13),
        f=rng.randint(2, 9),
        g=rng.randint(1, 30),
        k=rng.randint(1, 3),
        best=rng.choice(("smallest", "largest")),
    )

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(3, 7) if level == 1 else r.randint(4, 6)
        return n, edge_list(r, n, 12 if level == 1 else 8, 30)

    key: dict[str, Any] = {"level": level, "f": rule.f, "g": rule.g, "best": rule.best}
    key |= {"condition": rule.cheap.key} if level > 1 else {}
    key |= {"k": rule.k} if level == 3 else {}
    f, g, best = rule.f, rule.g, rule.best
    cheap = f", but {f}*w - {g} if u + v is {rule.cheap.text}" if rule.level > 1 else ""
    graph = WORDINGS.one("spanning statement graph", head=HEAD, f=f, g=g, cheap=cheap)
    return Problem(
        graph + WORDINGS.one(f"spanning {rule.level}", best=best, k_plus_1=rule.k + 1),
        f"n: int, edges: triples -> {'ints' if level == 1 else 'int'}",
        _spanning_gold(rule),
        partial(_spanning_brute, rule),
        draw,
        key,
        ((2, []),),
    )


def _spanning_gold(rule: _Spanning) -> str:
    f, g, cheap = rule.f, rule.g, rule.cheap
    value, order = f"{f} * w + {g}", "e[2]"
    if rule.level > 1:
        value = f"{f} * w + (-{g} if {cheap.on('(u + v)')} else {g})"
        order = f"{f} * e[2] + (-{g} if {cheap.on('(e[0] + e[1])')} else {g})"
    return WORDINGS.source(
        "spanning solution",
        sign="" if rule.best == "smallest" else "-",
        order=order,
        goal=f"min(n, {rule.k + 1})" if rule.level == 3 else "1",
        value=value,
        result="costs" if rule.level == 1 else "sum(costs)",
    )


def _spanning_brute(rule: _Spanning, n: int, edges: list[list[int]]) -> Any:
    f, g, best = rule.f, rule.g, rule.best
    if rule.level == 1:
        return _greedy_tree(n, edges, best, (f, g))
    whole = _parts(n, edges)
    want = n - (max(whole, min(n, rule.k + 1)) if rule.level == 3 else whole)
    totals = []
    for mask in product((0, 1), repeat=len(edges)):
        if sum(mask) == want:
            chosen = [e for e, bit in zip(edges, mask, strict=True) if bit]
            if _parts(n, chosen) == n - want:
                costs = [f * w + (-g if rule.cheap.holds(u + v) else g) for u, v, w in chosen]
                totals.append(sum(costs))
    return min(totals) if best == "smallest" else max(totals)


def _greedy_tree(n: int, edges: list[list[int]], best: str, line: tuple[int, int]) -> list[int]:
    chosen: list[list[int]] = []
    while True:
        fits = [e for e in edges if _parts(n, [*chosen, e]) < _parts(n, chosen)]
        if not fits:
            return [line[0] * e[2] + line[1] for e in chosen]
        weights = [e[2] for e in fits]
        chosen.append(fits[weights.index(min(weights) if best == "smallest" else max(weights))])


def _parts(n: int, edges: list[list[int]]) -> int:
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
    code_family("graph_components", "connected components", _components),
    code_family("spanning_forests", "spanning forests built greedily", _spanning),
)
