"""Code problems on chains of elements of a list, solved by dynamic programming.

Leaves out: edits (``dp.edits``), counting words (``dp.words``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    Condition,
    condition,
    integers,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_CHAINS_GOLD = {
    1: """
    def solve(a):
        chain = a[:1]
        for v in a[1:]:
            u = chain[-1]
            if $d <= $step <= $top:
                chain.append(v)
        return [$f * v for v in chain]
    """,
    2: """
    def solve(a):
        best = []
        for i, v in enumerate(a):
            before = [best[j] for j, u in enumerate(a[:i]) if $d <= $step <= $top]
            best.append(v + ($f if $cond else 0) + max([0, *before]))
        return max(best, default=0)
    """,
    3: """
    def solve(a):
        ways = []
        size = []
        count = longest = 0
        for i, v in enumerate(a):
            before = [j for j, u in enumerate(a[:i]) if $d <= $step <= $top]
            ways.append(1 + sum(ways[j] for j in before))
            size.append(1 + max([size[j] for j in before], default=0))
            if $cond:
                count += ways[i]
                longest = max(longest, size[i])
        return [count % $m, longest]
    """,
}


@dataclass(frozen=True, slots=True)
class _Chains:
    """What is drawn for one problem on chains of elements."""

    level: int
    least: int
    spread: int
    factor: int
    up: bool
    cond: Condition
    modulus: int


def _draw_chains(rng: Random, level: int) -> _Chains:
    d, top, f = rng.randint(1, 6), rng.randint(10, 25), rng.randint(1, 9)
    up, c, m = rng.random() < 0.5, condition(rng, -9, 30), rng.choice((97, 101, 997, 1009))
    return _Chains(level, d, top, f, up, c, m)


def _chains_statement(p: _Chains) -> str:
    head = "`a` is a list of at most 10 integers. "
    way = "above" if p.up else "below"
    link = (
        f"every element but the first is at least {p.least} and at most {p.least + p.spread} {way} "
        "the one "
        "before it in the subsequence"
    )
    what = {
        1: "Build a chain: it starts with the first element of `a`; then go through `a` and "
        f"put every element at the end of the chain that is at least {p.least} and at most "
        f"{p.least + p.spread} {way} the chain's last element then. Give the chain (empty if `a` "
        "is "
        f"empty), each element multiplied by {p.factor}.",
        2: "A subsequence is what is left when any elements are deleted, the order kept. "
        f"Among the non-empty subsequences in which {link}, give the largest sum of "
        f"elements plus {p.factor} for each element that is {p.cond.text} (0 if `a` is empty).",
        3: "A subsequence is a choice of positions, in increasing order; two different "
        "choices count as two even if their values are equal. Consider the non-empty "
        f"subsequences in which {link} and the last element is {p.cond.text}. "
        f"Give a list of two integers: their number modulo {p.modulus}, and the largest length "
        "among them (0 if there is none).",
    }[p.level]
    return head + what


def _chains_fits(p: _Chains, w: list[int]) -> bool:
    gaps = [(v - u) * (1 if p.up else -1) for u, v in pairwise(w)]
    return all(0 <= gap - p.least <= p.spread for gap in gaps)


def _chains_brute(p: _Chains, a: list[int]) -> Any:
    if p.level == 1:
        rest, chain = a[1:], a[:1]
        while rest:
            hit = [i for i, v in enumerate(rest) if _chains_fits(p, [chain[-1], v])]
            chain, rest = ([*chain, rest[hit[0]]], rest[hit[0] + 1 :]) if hit else (chain, [])
        return [v * p.factor for v in chain]
    found: list[list[int]] = []
    layer: list[tuple[int, ...]] = [(i,) for i in range(len(a))]
    while layer:
        found += [[a[i] for i in at] for at in layer]
        layer = [
            (*at, j)
            for at in layer
            for j in range(at[-1] + 1, len(a))
            if _chains_fits(p, [a[at[-1]], a[j]])
        ]
    if p.level == 2:
        return max(
            (sum(w) + p.factor * len([v for v in w if p.cond.holds(v)]) for w in found), default=0
        )
    good = [len(w) for w in found if p.cond.holds(w[-1])]
    return [len(good) % p.modulus, max(good, default=0)]


def _chains(rng: Random, level: int) -> Problem:
    p = _draw_chains(rng, level)
    key: dict[str, Any] = {"level": p.level, "d": p.least, "top": p.spread, "up": p.up}
    key |= (
        {"f": p.factor},
        {"f": p.factor, "condition": p.cond.key},
        {"m": p.modulus, "condition": p.cond.key},
    )[p.level - 1]
    text = source(
        _CHAINS_GOLD[p.level],
        d=p.least,
        top=p.least + p.spread,
        step="v - u" if p.up else "u - v",
        f=p.factor,
        m=p.modulus,
        cond=p.cond.on("v"),
    )
    return Problem(
        _chains_statement(p),
        (("a", "ints"),),
        "int" if p.level == 2 else "ints",
        text,
        partial(_chains_brute, p),
        lambda r: (integers(r, 6, 10, -9, 30),),
        key,
        (([],),),
    )


FAMILIES = (code_family("chain_subsequences", "longest or best chains", _chains),)
