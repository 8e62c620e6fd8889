"""Problems on jumps along a list."""

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
class _Jumps:
    level: int
    steps: list[int]
    cond: Condition
    fee: int
    best: str
    modulus: int


def _jumps_brute(p: _Jumps, a: list[int]) -> Any:
    scores = []
    for jumps in _compositions(len(a) - 1, p.steps, p.level == 3):
        at, places = 0, [0]
        for jump in jumps:
            at += jump
            places.append(at)
        stood = [a[i] for i in places]
        hits = [v for v in stood if p.cond.holds(v)]
        drops = sum(x > y for x, y in pairwise(jumps))
        bonus = (-p.fee * len(jumps), p.fee * (len(hits) - drops), (p.fee - 1) * sum(hits))[
            p.level - 1
        ]
        scores.append(sum(stood) + bonus)
    if p.level == 3 and not scores:
        return [0, 0]
    top = min(scores) if p.best == "smallest" else max(scores)
    return [len(scores) % p.modulus, top] if p.level == 3 else top


def _jumps(rng: Random, level: int) -> Problem:
    steps = sorted(rng.sample(range(1, 6), rng.randint(2, 3)))
    c, fee, best = condition(rng, 0, 20), rng.randint(2, 20), rng.choice(("smallest", "largest"))
    steps = [1, *steps[1:]]
    m = rng.choice((97, 101, 997, 1009))
    p = _Jumps(level, steps, c, fee, best, m)
    key: dict[str, Any] = {"level": p.level, "steps": p.steps, "fee": p.fee, "best": p.best}
    key |= {"condition": p.cond.key} if p.level > 1 else {}
    key |= {"m": p.modulus} if p.level == 3 else {}
    text = WORDINGS.source(
        f"jumps solution {p.level}",
        p,
        cond=p.cond.on("v"),
        pick="min" if p.best == "smallest" else "max",
    )
    high = 14 if p.level == 3 else 10
    head = WORDINGS.one(
        "jumps statement head", steps=", ".join(map(str, p.steps[:-1])), steps_2=p.steps[-1]
    )
    task = WORDINGS.one(f"jumps {p.level}", p=p, text=p.cond.text)
    return Problem(
        head + task,
        f"a: ints -> {'ints' if p.level == 3 else 'int'}",
        text,
        partial(_jumps_brute, p),
        lambda r: (integers(r, 5, high, -9, 25),),
        key,
        (([7],),),
    )


def _compositions(n: int, steps: list[int], changing: bool, last: int = 0) -> list[list[int]]:
    if n == 0:
        return [[]]
    return [
        [s, *rest]
        for s in steps
        if s <= n and not (changing and s == last)
        for rest in _compositions(n - s, steps, changing, s)
    ]


FAMILIES = (code_family("jump_paths", "best ways along a list", _jumps),)
