"""Problems on choosing things by weight."""

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
class _Knapsack:
    level: int
    cond: Condition
    factor: int
    modulus: int
    most: int
    shift: int
    apart: int


def _knapsack_brute(p: _Knapsack, a: list[int], cap: int) -> Any:
    usable = [w for w in a if p.level > 1 or not p.cond.holds(w)]
    worths = []
    for size in range(len(usable) + 1 if p.level != 2 else p.most + 1):
        if p.level == 3 and size % 3 == p.shift % 2 + 1:
            continue
        for at in combinations(range(len(usable)), size):
            if sum(usable[i] for i in at) > cap:
                continue
            if p.level == 3 and any(j - i < p.apart for i, j in pairwise(at)):
                continue
            chosen = [usable[i] for i in at]
            worths.append(
                sum(chosen)
                if p.level == 1
                else sum(w + (w * p.factor) % p.modulus for w in chosen if not p.cond.holds(w))
            )
    top = max(worths)
    return [top, len(worths)] if p.level == 3 else top if p.level == 2 else p.factor * top + p.shift


def _knapsack_draw(p: _Knapsack, r: Random) -> tuple[list[int], int]:
    a = integers(r, 4, 9, 1, 20)
    return a, r.randint(0, min(100, sum(a)))


def _knapsack(rng: Random, level: int) -> Problem:
    c, f, m = condition(rng, 1, 20), rng.randint(2, 9), rng.randint(5, 19)
    most, r0, q = rng.randint(2, 4), rng.randint(0, 3), rng.randint(2, 4)
    p = _Knapsack(level, c, f, m, most, r0, q)
    key: dict[str, Any] = {"level": p.level, "condition": p.cond.key, "f": p.factor}
    key |= (
        {"r": p.shift},
        {"m": p.modulus, "most": p.most},
        {"m": p.modulus, "r": p.shift % 2, "q": p.apart},
    )[p.level - 1]
    text = WORDINGS.source(f"knapsack solution {p.level}", p, cond=p.cond.on("w"))
    head = WORDINGS.one("knapsack statement head")
    value = WORDINGS.one("knapsack statement value", p=p, text=p.cond.text)
    task = WORDINGS.one(
        f"knapsack {p.level}", text=p.cond.text, p=p, value=value, p_value=p.shift % 2 + 1
    )
    return Problem(
        head + task,
        f"a: ints, cap: int -> {'ints' if p.level == 3 else 'int'}",
        text,
        partial(_knapsack_brute, p),
        partial(_knapsack_draw, p),
        key,
        (([], 5),),
    )


FAMILIES = (code_family("knapsacks", "choices under a weight limit", _knapsack),)
