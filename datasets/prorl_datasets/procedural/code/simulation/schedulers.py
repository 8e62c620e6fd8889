"""Code problems on schedulers of tasks.

Leaves out: accounts (``simulation.accounts``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    Condition,
    condition,
    integers,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_SCHEDULERS_GOLD = {
    1: """
    def solve(a):
        now = 0
        end = [0] * len(a)
        for v, i in sorted(($sign v, i) for i, v in enumerate(a)):
            v = abs(v)
            now += $lost + v + ($f if $cond else 0)
            end[i] = now
        return end
    """,
    2: """
    from collections import deque

    def solve(a):
        left = list(a)
        end = [0] * len(a)
        queue = deque(range(len(a)))
        now = 0
        while queue:
            i = queue.popleft()
            v = a[i]
            ran = min($q, left[i])
            now += ran + ($lost if $cond else 0)
            left[i] -= ran
            if left[i]:
                queue.append(i)
            else:
                end[i] = now
        return end
    """,
    3: """
    from heapq import heappop, heappush

    def solve(a):
        arrivals = sorted((i * $f % $m, i) for i in range(len(a)))
        heap = []
        end = [0] * len(a)
        now = 0
        while heap or arrivals:
            while arrivals and arrivals[0][0] <= now:
                i = arrivals.pop(0)[1]
                heappush(heap, (-(i * $step % $ranks), a[i], i))
            now += 1
            if heap:
                rank, v, i = heappop(heap)
                v -= 1
                if v == 0:
                    end[i] = now
                else:
                    heappush(heap, (rank + (1 if $cond else 0), v, i))
        return end
    """,
}


@dataclass(frozen=True, slots=True)
class _Scheduler:
    """What is drawn for one problem on a scheduler."""

    level: int
    quantum: int
    swap: int
    modulus: int
    factor: int
    cond: Condition
    order: str


def _draw_scheduler(rng: Random, level: int) -> _Scheduler:
    q, swap, m, f = rng.randint(2, 6), rng.randint(0, 7), rng.randint(3, 9), rng.randint(1, 8)
    c, order = condition(rng, 1, 12), rng.choice(("shortest", "longest"))
    return _Scheduler(level, q, swap, m, f, c, order)


def _scheduler_statement(p: _Scheduler) -> str:
    head = (
        "`a` is a list of 1 to 8 integers from 1 to 12: task i (counted from 0) needs a[i] "
        "seconds. One task runs at a time. "
    )
    what = {
        1: f"Tasks run one after the other without a break, {p.order} first, of equally long "
        f"ones the one with the smaller number first; before each task, {p.swap + 1} "
        f"seconds are lost. A task that needs a time that is {p.cond.text} takes {p.factor} "
        "seconds "
        "more. The order follows the times as given in `a`. Give the list that holds for "
        "each task, in the order of `a`, the second at which it ends.",
        2: f"The tasks wait in a queue, task 0 in front. The task in front runs for {p.quantum} "
        "seconds, or until it is done; if it is not done it goes to the back of the "
        f"queue. Every time a task that needs (in `a`) a time that is {p.cond.text} is put to "
        f"run, {p.swap + 1} seconds are lost before. Give the list that holds for each task "
        "the second at which it is done.",
        3: f"Task i arrives at second (i*{p.factor}) modulo {p.modulus} and has the priority "
        f"(i*{p.swap + 2}) "
        f"modulo {p.quantum + 1}. At every whole second the task with the largest priority among "
        "those that have arrived and are not done runs for one second (of equal "
        "priorities the one that still needs less time, then the one with the smaller "
        "number); if there is none, the second passes idle. Each time a task has run for "
        "one second, its priority falls by 1 if "
        f"the time it still needs then is {p.cond.text}. Give the list that holds for each "
        "task the second at which it is done.",
    }[p.level]
    return head + what


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
        here = [i for i in range(n) if left[i] and now >= (i * p.factor) % p.modulus]
        now += 1
        for rule in (lambda i: ranks[i], lambda i: -left[i], lambda i: -i):
            here = [i for i in here if rule(i) == max(map(rule, here))]
        for i in here:
            left[i] -= 1
            ranks[i] -= p.cond.holds(left[i])
            end[i] = now
    return end


def _schedulers(rng: Random, level: int) -> Problem:
    p = _draw_scheduler(rng, level)
    key: dict[str, Any] = {"level": p.level, "condition": p.cond.key, "swap": p.swap}
    key |= (
        {"order": p.order, "f": p.factor},
        {"q": p.quantum},
        {"f": p.factor, "m": p.modulus, "q": p.quantum},
    )[p.level - 1]
    text = source(
        _SCHEDULERS_GOLD[p.level],
        q=p.quantum,
        lost=p.swap + 1,
        f=p.factor,
        m=p.modulus,
        cond=p.cond.on("v"),
        sign="-" if p.order == "longest" else "",
        step=p.swap + 2,
        ranks=p.quantum + 1,
    )
    return Problem(
        _scheduler_statement(p),
        (("a", "ints"),),
        "ints",
        text,
        partial(_scheduler_brute, p),
        lambda r: (integers(r, 3, 8, 1, 12),),
        key,
        (([5],),),
    )


FAMILIES = (code_family("task_schedulers", "schedules of tasks", _schedulers),)
