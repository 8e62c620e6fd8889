"""Problems on chains of list elements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Chains:
    level: int
    least: int
    spread: int
    factor: int
    up: bool
    cond: Condition
    modulus: int


def _chains_statement(p: _Chains) -> str:
    head = "`a` is a list of at most 10 integers. "
    way = "above" if p.up else "below"
    link = WORDINGS.one("chains statement link", p=p, least_plus_spread=p.least + p.spread, way=way)
    task = WORDINGS.one(
        f"chains {p.level}",
        p=p,
        least_plus_spread=p.least + p.spread,
        way=way,
        link=link,
        text=p.cond.text,
    )
    return head + task


def _chains_fits(p: _Chains, w: list[int]) -> bool:
    gaps = [(v - u) * (1 if p.up else -1) for u, v in pairwise(w)]
    return all(0 <= gap - p.least <= p.spread for gap in gaps)


def _chains_brute(p: _Chains, a: list[int]) -> Any:
    if p.level == 1:
        remaining, chain = a[1:], a[:1]
        while remaining:
            hit = [i for i, v in enumerate(remaining) if _chains_fits(p, [chain[-1], v])]
            chain, remaining = (
                ([*chain, remaining[hit[0]]], remaining[hit[0] + 1 :]) if hit else (chain, [])
            )
        return [v * p.factor for v in chain]
    chains: list[list[int]] = []
    layer: list[tuple[int, ...]] = [(i,) for i in range(len(a))]
    while layer:
        chains += [[a[i] for i in at] for at in layer]
        layer = [
            (*at, j)
            for at in layer
            for j in range(at[-1] + 1, len(a))
            if _chains_fits(p, [a[at[-1]], a[j]])
        ]
    if p.level == 2:
        return max(
            (sum(w) + p.factor * len([v for v in w if p.cond.holds(v)]) for w in chains), default=0
        )
    good = [len(w) for w in chains if p.cond.holds(w[-1])]
    return [len(good) % p.modulus, max(good, default=0)]


def _chains(rng: Random, level: int) -> Problem:
    d, top, f = rng.randint(1, 6), rng.randint(10, 25), rng.randint(1, 9)
    up, c, m = rng.random() < 0.5, condition(rng, -9, 30), rng.choice((97, 101, 997, 1009))
    p = _Chains(level, d, top, f, up, c, m)
    key: dict[str, Any] = {"level": p.level, "d": p.least, "top": p.spread, "up": p.up}
    key |= (
        {"f": p.factor},
        {"f": p.factor, "condition": p.cond.key},
        {"m": p.modulus, "condition": p.cond.key},
    )[p.level - 1]
    text = WORDINGS.source(
        f"chains solution {p.level}",
        p,
        top=p.least + p.spread,
        step="v - u" if p.up else "u - v",
        cond=p.cond.on("v"),
    )
    return Problem(
        _chains_statement(p),
        f"a: ints -> {'int' if p.level == 2 else 'ints'}",
        text,
        partial(_chains_brute, p),
        lambda r: (integers(r, 6, 10, -9, 30),),
        key,
        (([],),),
    )


FAMILIES = (code_family("chain_subsequences", "longest or best chains", _chains),)
