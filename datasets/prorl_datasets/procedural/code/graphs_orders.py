"""Code problems on the order of tasks that depend on each other.

Leaves out: teams and degrees (``graphs_teams``), distances (``graphs_paths``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import edge_list, rare_condition, source
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


def _task_order(rng: Random, level: int) -> Problem:
    m, f, down = rng.randint(3, 9), rng.randint(1, 8), rng.random() < 0.5
    c, k, base = rare_condition(rng, 1, 13), rng.randint(2, 3), rng.randint(1, 5)
    rank = f"({f}*v) modulo {m}"
    first = (
        "largest" if down else "smallest"
    ) + f" value of {rank}, of several the one with the smallest number"
    skip = f", except pairs for which u + v is {c.text}: those mean nothing"
    head = (
        "Tasks are numbered from 0 to n - 1 (n at most 9). Each pair [u, v] of `edges` says "
        f"that task u must be done before task v{skip}. "
    )
    what = {
        1: "Tasks are done one at a time; of the tasks whose predecessors are all done, the "
        f"next is the one v with the {first}. "
        "Give the list of the tasks in the order in which they are done; if none of the "
        "tasks left can be done, stop.",
        2: "Work goes in days: on each day those tasks are possible whose predecessors were "
        f"all done on earlier days, and of these at most {k} are done, namely those first "
        f"in this order: the task v with the {first}. "
        "Give the list that holds for each task 0, 1, ..., n - 1 the day (counted from "
        "1) on which it is done, 0 if it never is.",
        3: f"Task v takes {base} + {rank} hours, and it starts when all of its predecessors "
        "have ended (at hour 0 if it has none), with any number of tasks at the same "
        "time. A task that depends on itself, directly or through others, and every task "
        "after such a one never starts. Give the list that holds for each task 0, 1, "
        "..., n - 1 the hour at which it ends, -1 if it never starts.",
    }[level]
    sign = "-" if down else ""
    gold = _TASK_ORDER_GOLD[level]

    def brute(n: int, edges: list[list[int]]) -> list[int]:
        rules = [(u, v) for u, v in edges if not c.holds(u + v)]
        ranks = range(m - 1, -1, -1) if down else range(m)
        order = [v for x in ranks for v in range(n) if (f * v) % m == x]
        if level == 3:
            return [_latest(n, rules, v, [base + (f * x) % m for x in range(n)]) for v in range(n)]
        done: dict[int, int] = {}
        day = 0
        while True:
            day += 1
            free = [
                v for v in order if v not in done and all(u in done for u, x in rules if x == v)
            ]
            if not free:
                return [*done] if level == 1 else [done.get(v, 0) for v in range(n)]
            done |= dict.fromkeys(free[: 1 if level == 1 else k], day)

    def draw(r: Random) -> tuple[int, list[list[int]]]:
        n = r.randint(4, 8)
        chance, edges = r.choice((0, 0, 0.15)), edge_list(r, n, n + 3)
        return n, [e if r.random() < chance else sorted(e, reverse=n % 2 == 0) for e in edges]

    key: dict[str, Any] = {"level": level, "m": m, "f": f, "condition": c.key}
    key |= ({"down": down}, {"down": down, "k": k}, {"base": base})[level - 1]
    text = source(gold, cond=c.on("(u + v)"), sign=sign, f=f, m=m, k=k, base=base)
    return Problem(head + what, _NE, "ints", text, brute, draw, key, ((2, []),))


def _latest(n: int, rules: list[tuple[int, int]], v: int, hours: list[int]) -> int:
    """Return the end of task v as its longest chain of predecessors, -1 with a cycle in it."""
    chains, total = [([v], hours[v])], 0
    while chains:
        total = max(total, *(h for _, h in chains))
        longer = [([u, *c], h + hours[u]) for c, h in chains for u, x in rules if x == c[0]]
        if any(c[0] in c[1:] for c, _ in longer):
            return -1
        chains = longer
    return total


FAMILIES = (code_family("task_orders", _task_order),)
