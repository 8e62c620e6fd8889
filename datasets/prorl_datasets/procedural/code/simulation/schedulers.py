"""Problems on task schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Scheduler:
    level: int
    quantum: int
    swap: int
    modulus: int
    factor: int
    cond: Condition
    order: str


def _scheduler_brute(p: _Scheduler, a: list[int]) -> list[int]:
    n, left = len(a), [*a]
    if p.level == 1:
        out = []
        for i, v in enumerate(a):
            early = [(u < v) if p.order == "shortest" else (u > v) for u in a]
            done = [u for j, u in enumerate(a) if early[j] or (u == v and j <= i)]
            out.append(sum(u + p.swap + 1 + p.factor * p.cond.holds(u) for u in done))
        return out
    if p.level == 2:
        spans = []
        for turn in range(12):
            for i, v in enumerate(a):
                if v > turn * p.quantum:
                    spans.append(
                        (i, min(p.quantum, v - turn * p.quantum) + (p.swap + 1) * p.cond.holds(v))
                    )
        last = [max(t for t, (j, _) in enumerate(spans) if j == i) for i in range(n)]
        return [sum(s for _, s in spans[: t + 1]) for t in last]
    ranks, end, now = [(i * (p.swap + 2)) % (p.quantum + 1) for i in range(n)], [0] * n, 0
    while any(left):
        ready = [i for i in range(n) if left[i] and now >= (i * p.factor) % p.modulus]
        now += 1
        for rule in (lambda i: ranks[i], lambda i: -left[i], lambda i: -i):
            ready = [i for i in ready if rule(i) == max(map(rule, ready))]
        for i in ready:
            left[i] -= 1
            ranks[i] -= p.cond.holds(left[i])
            end[i] = now
    return end


def _schedulers(rng: Random, level: int) -> Problem:
    q, swap, m, f = rng.randint(2, 6), rng.randint(0, 7), rng.randint(3, 9), rng.randint(1, 8)
    c, order = condition(rng, 1, 12), rng.choice(("shortest", "longest"))
    p = _Scheduler(level, q, swap, m, f, c, order)
    key: dict[str, Any] = {"level": p.level, "condition": p.cond.key, "swap": p.swap}
    key |= (
        {"order": p.order, "f": p.factor},
        {"q": p.quantum},
        {"f": p.factor, "m": p.modulus, "q": p.quantum},
    )[p.level - 1]
    text = WORDINGS.source(
        f"schedulers solution {p.level}",
        p,
        lost=p.swap + 1,
        cond=p.cond.on("v"),
        sign="-" if p.order == "longest" else "",
        step=p.swap + 2,
        ranks=p.quantum + 1,
    )
    head = WORDINGS.one("scheduler statement head")
    task = WORDINGS.one(
        f"scheduler {p.level}",
        p=p,
        swap_plus_1=p.swap + 1,
        text=p.cond.text,
        swap_plus_2=p.swap + 2,
        quantum_plus_1=p.quantum + 1,
    )
    return Problem(
        head + task,
        "a: ints -> ints",
        text,
        partial(_scheduler_brute, p),
        lambda r: (integers(r, 3, 8, 1, 12),),
        key,
        (([5],),),
    )


FAMILIES = (code_family("task_schedulers", "schedules of tasks", _schedulers),)
