"""Problems on cutting a list into parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Partition:
    level: int
    limit: int
    parts: int
    factor: int
    cond: Condition
    best: str
    modulus: int


def _partition_cost(p: _Partition, part: list[int]) -> int:
    s = sum(part)
    if p.level < 3:
        return s - s // p.modulus * p.modulus + p.factor * (p.level == 1 or p.cond.holds(s))
    return (
        p.factor * len(part) ** 2
        + max(s - p.limit, p.limit - s)
        + p.modulus * p.cond.holds(part[0])
    )


def _partition_brute(p: _Partition, a: list[int]) -> Any:
    if p.level == 1:
        costs, remaining = [], [*a]
        while remaining:
            size = max(
                [1] + [j for j in range(1, len(remaining) + 1) if sum(remaining[:j]) <= p.limit]
            )
            costs.append(_partition_cost(p, remaining[:size]))
            remaining = remaining[size:]
        return costs
    if not a:
        return 0 if p.level == 2 else [0, 1]
    sizes = range(len(a)) if p.level == 3 else [min(p.parts, len(a)) - 1]
    totals = []
    for size in sizes:
        for cuts in combinations(range(1, len(a)), size):
            ends = [0, *cuts, len(a)]
            totals.append(sum(_partition_cost(p, a[i:j]) for i, j in pairwise(ends)))
    if p.level == 2:
        return min(totals) if p.best == "smallest" else max(totals)
    return [min(totals), totals.count(min(totals))]


def _partitions(rng: Random, level: int) -> Problem:
    limit, k, f = rng.randint(20, 60), rng.randint(2, 4), rng.randint(1, 9)
    c, best, m = condition(rng, 0, 20), rng.choice(("smallest", "largest")), rng.randint(4, 13)
    p = _Partition(level, limit, k, f, c, best, m)
    key: dict[str, Any] = {"level": p.level, "f": p.factor, "m": p.modulus}
    key |= ({"limit": p.limit}, {"k": p.parts, "best": p.best}, {"limit": p.limit})[p.level - 1]
    key |= {"condition": p.cond.key} if p.level > 1 else {}
    text = WORDINGS.source(
        f"partitions solution {p.level}",
        p,
        cond=p.cond.on("s"),
        first=p.cond.on("v"),
        pick="min" if p.best == "smallest" else "max",
    )
    high = (11, 10, 8)[p.level - 1]
    head = WORDINGS.one("partition statement head")
    task = WORDINGS.one(f"partition {p.level}", p=p, text=p.cond.text)
    return Problem(
        head + task,
        f"a: ints -> {'int' if p.level == 2 else 'ints'}",
        text,
        partial(_partition_brute, p),
        lambda r: (integers(r, 4, high, 0, 25),),
        key,
        (([],),),
    )


FAMILIES = (code_family("list_partitions", "a list cut into parts", _partitions),)
