"""Code problems on the order of tasks that depend on each other.

Leaves out: teams and degrees (``graphs.teams``), distances (``graphs.paths``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    Condition,
    edge_list,
    rare_condition,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_NE = (("n", "int"), ("edges", "pairs"))


_TASK_ORDER_GOLD = {
    1: """
    def solve(n, edges):
        before = [[] for _ in range(n)]
        for u, v in edges:
            if not $cond:
                before[v].append(u)
        out = []
        while True:
            free = [v for v in range(n) if v not in out and all(u in out for u in before[v])]
            if not free:
                return out
            out.append(min(free, key=lambda v: ($sign($f * v % $m), v)))
    """,
    2: """
    def solve(n, edges):
        day = [0] * n
        today = 0
        while True:
            today += 1
            blocked = {v for u, v in edges if not $cond and not day[u]}
            free = [v for v in range(n) if not day[v] and v not in blocked]
            if not free:
                return day
            for v in sorted(free, key=lambda v: ($sign($f * v % $m), v))[:$k]:
                day[v] = today
    """,
    3: """
    def solve(n, edges):
        after = [[] for _ in range(n)]
        waiting = [0] * n
        for u, v in edges:
            if not $cond:
                after[u].append(v)
                waiting[v] += 1
        start = [0] * n
        end = [-1] * n
        queue = [v for v in range(n) if waiting[v] == 0]
        for u in queue:
            end[u] = start[u] + $base + $f * u % $m
            for v in after[u]:
                start[v] = max(start[v], end[u])
                waiting[v] -= 1
                if waiting[v] == 0:
                    queue.append(v)
        return end
    """,
}


@dataclass(frozen=True, slots=True)
class _Tasks:
    """The drawn rules: pairs with u + v ``void`` mean nothing; ranks are ``f``*v modulo ``m``, the
    largest first if ``down``; ``k`` tasks a day; ``base`` hours for every task."""

    level: int
    m: int
    f: int
    down: bool
    void: Condition
    k: int
    base: int


def _task_order(rng: Random, level: int) -> Problem:
    modulus = rng.randint(4, 11)
    tasks = _Tasks(
        level=level,
        m=modulus,
        f=rng.randint(2, modulus - 1),
        down=rng.random() < 0.5,
        void=rare_condition(rng, 1, 13),
        k=rng.randint(2, 3),
        base=rng.randint(1, 5),
    )
    m, f, down, k, base = tasks.m, tasks.f, tasks.down, tasks.k, tasks.base

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(4, 8)
        chance, edges = r.choice((0, 0, 0.15)), edge_list(r, n, n + 3)
        return n, [e if r.random() < chance else sorted(e, reverse=n % 2 == 0) for e in edges]

    key: dict[str, Any] = {"level": level, "m": m, "f": f, "condition": tasks.void.key}
    key |= ({"down": down}, {"down": down, "k": k}, {"base": base})[level - 1]
    cond, sign = tasks.void.on("(u + v)"), "-" if down else ""
    text = source(_TASK_ORDER_GOLD[level], cond=cond, sign=sign, f=f, m=m, k=k, base=base)
    brute = partial(_brute, tasks)
    return Problem(_statement(tasks), _NE, "ints", text, brute, draw, key, ((2, []),))


def _statement(tasks: _Tasks) -> str:
    rank = f"({tasks.f}*v) modulo {tasks.m}"
    first = (
        f"{'largest' if tasks.down else 'smallest'} value of {rank}, of several the one with the "
        "smallest number"
    )
    head = (
        "Tasks are numbered from 0 to n - 1 (n at most 9). Each pair [u, v] of `edges` says that "
        f"task u must be done before task v, except pairs for which u + v is {tasks.void.text}: "
        "those mean nothing. "
    )
    what = {
        1: "Tasks are done one at a time; of the tasks whose predecessors are all done, the "
        f"next is the one v with the {first}. Give the list of the tasks in the order in which "
        "they are done; if none of the tasks left can be done, stop.",
        2: "Work goes in days: on each day those tasks are possible whose predecessors were all "
        f"done on earlier days, and of these at most {tasks.k} are done, namely those first in "
        f"this order: the task v with the {first}. Give the list that holds for each task 0, 1, "
        "..., n - 1 the day (counted from 1) on which it is done, 0 if it never is.",
        3: f"Task v takes {tasks.base} + {rank} hours, and it starts when all of its predecessors "
        "have ended (at hour 0 if it has none), with any number of tasks at the same time. A task "
        "that depends on itself, directly or through others, and every task after such a one never "
        "starts. Give the list that holds for each task 0, 1, ..., n - 1 the hour at which it "
        "ends, -1 if it never starts.",
    }
    return head + what[tasks.level]


def _brute(tasks: _Tasks, n: int, edges: list[list[int]]) -> list[int]:
    m, f = tasks.m, tasks.f
    rules = [(u, v) for u, v in edges if not tasks.void.holds(u + v)]
    if tasks.level == 3:
        hours = [tasks.base + (f * v) % m for v in range(n)]
        return [_latest(rules, v, hours) for v in range(n)]
    ranks = range(m - 1, -1, -1) if tasks.down else range(m)
    order = [v for x in ranks for v in range(n) if (f * v) % m == x]
    done: dict[int, int] = {}
    day = 0
    while True:
        day += 1
        free = [v for v in order if v not in done and all(u in done for u, x in rules if x == v)]
        if not free:
            return [*done] if tasks.level == 1 else [done.get(v, 0) for v in range(n)]
        done |= dict.fromkeys(free[: 1 if tasks.level == 1 else tasks.k], day)


def _latest(rules: list[tuple[int, int]], v: int, hours: list[int]) -> int:
    """Return the end of task v as its longest chain of predecessors, -1 with a cycle in it."""
    chains, total = [([v], hours[v])], 0
    while chains:
        total = max(total, *(h for _, h in chains))
        longer = [([u, *c], h + hours[u]) for c, h in chains for u, x in rules if x == c[0]]
        if any(c[0] in c[1:] for c, _ in longer):
            return -1
        chains = longer
    return total


FAMILIES = (code_family("task_orders", "topological orders with priorities", _task_order),)
