"""Problems on the order of dependent tasks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, edge_list, rare_condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Tasks:
    """A problem on ordering tasks; task v has the rank ``f``*v modulo ``m``."""

    level: int
    m: int
    f: int
    down: bool
    """Whether the largest rank comes first."""
    void: Condition
    """Condition on u + v; pairs that meet it are ignored."""
    k: int
    """Tasks per day."""
    base: int
    """Hours that each task takes."""


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
    text = WORDINGS.source(
        f"task order solution {level}", cond=cond, sign=sign, f=f, m=m, k=k, base=base
    )
    brute = partial(_brute, tasks)
    return Problem(
        _statement(tasks), "n: int, edges: pairs -> ints", text, brute, draw, key, ((2, []),)
    )


def _statement(tasks: _Tasks) -> str:
    rank = f"({tasks.f}*v) modulo {tasks.m}"
    first = WORDINGS.one(
        "statement first", largest="largest" if tasks.down else "smallest", rank=rank
    )
    head = WORDINGS.one("statement head", text=tasks.void.text)
    what = {
        1: WORDINGS.one("statement", first=first),
        2: WORDINGS.one("statement 2", tasks=tasks, first=first),
        3: WORDINGS.one("statement 3", tasks=tasks, rank=rank),
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
    """Return the hour at which task v ends, or -1 if a cycle of ``rules`` prevents it."""
    chains, total = [([v], hours[v])], 0
    while chains:
        total = max(total, *(h for _, h in chains))
        longer = [([u, *c], h + hours[u]) for c, h in chains for u, x in rules if x == c[0]]
        if any(c[0] in c[1:] for c, _ in longer):
            return -1
        chains = longer
    return total


FAMILIES = (code_family("task_orders", "topological orders with priorities", _task_order),)
