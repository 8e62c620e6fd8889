"""Problems on small caches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)

_VICTIMS = {
    "first in": "that has been in the cache for the longest time",
    "least recent": "whose last use lies back the furthest (putting in is a use)",
    "least often": "which was used least often since it was put in (putting in is the first "
    "use), of several the one put in first",
}
_RANKS = {
    "first in": "info[v][0]",
    "least recent": "info[v][1]",
    "least often": "(info[v][2], info[v][0])",
}


@dataclass(frozen=True, slots=True)
class _Cache:
    level: int
    size: int
    hit: int
    miss: int
    rule: str
    cond: Condition
    factor: int


def _cache_brute(p: _Cache, a: list[int]) -> list[int]:
    keys: list[int] = []
    since, cost, evicted = 0, 0, []
    starts: dict[int, int] = {}
    for now, v in enumerate(a):
        special = p.level == 3 and p.cond.holds(v)
        cost += (p.hit if v in keys else p.miss) * (p.factor if special else 1)
        if v not in keys and not (p.level == 2 and p.cond.holds(v)):
            if len(keys) == p.size:
                some = [x for x in keys if not (p.level == 3 and p.cond.holds(x))] or keys
                old = _key_to_evict(some, a[:now], starts, p.rule)
                evicted.append(old)
                keys.remove(old)
            keys.append(v)
            starts[v] = now
        since += 1
        if p.level == 3 and since == p.factor + 1:
            keys, since = [x for x in keys if p.cond.holds(x)], 0
    return [*(evicted if p.level == 1 else sorted(keys)), cost]


def _cache_draw(p: _Cache, r: Random) -> tuple[list[int]]:
    pool = r.sample(range(13), r.randint(4, 7))
    return ([r.choice(pool) for _ in range(r.randint(8, 20))],)


def _cache_gold(p: _Cache) -> str:
    rank, price, clean = _RANKS[p.rule], "price", ""
    if p.level == 3:
        special = p.cond.on("v")
        rank = f"(bool({special}), {rank})"
        price = f"price * ({p.factor} if {special} else 1)"
        clean = WORDINGS.one("cache gold clean", factor_plus_1=p.factor + 1, special=special)
    return WORDINGS.source(
        "caches solution",
        p,
        price=price,
        rank=rank,
        result="out + [cost]" if p.level == 1 else "sorted(info) + [cost]",
        enters=f"not ({p.cond.on('v')})" if p.level == 2 else "True",
        clean=clean,
    )


def _caches(rng: Random, level: int) -> Problem:
    size, hit, miss = rng.randint(2, 4), rng.randint(1, 9), rng.randint(10, 60)
    rule, c, f = (
        rng.choice(("first in", "least recent", "least often")),
        condition(rng, 0, 12),
        rng.randint(2, 9),
    )
    p = _Cache(level, size, hit, miss, rule, c, f)
    key: dict[str, Any] = {
        "level": p.level,
        "size": p.size,
        "hit": p.hit,
        "miss": p.miss,
        "rule": p.rule,
    }
    key |= ({}, {"condition": p.cond.key}, {"condition": p.cond.key, "f": p.factor})[p.level - 1]
    text = _cache_gold(p)
    head = WORDINGS.one("cache statement head", p=p, victims=_VICTIMS[p.rule])
    task = WORDINGS.one(
        f"cache {p.level}", text=p.cond.text, p=p, factor_plus_1=ordinal(p.factor + 1)
    )
    return Problem(
        head + task,
        "a: ints -> ints",
        text,
        partial(_cache_brute, p),
        partial(_cache_draw, p),
        key,
        (([],),),
    )


def _key_to_evict(keys: list[int], past: list[int], starts: dict[int, int], rule: str) -> int:
    if rule == "first in":
        return keys[0]
    if rule == "least recent":
        last_uses = [v for v in dict.fromkeys(past[::-1]) if v in keys]
        return last_uses[-1]
    uses = [past[starts[v] :].count(v) for v in keys]
    return keys[uses.index(min(uses))]


FAMILIES = (code_family("key_caches", "caches with replacement rules", _caches),)
