"""Code problems on runs of a list and on what is dropped or kept of it.

Leaves out: windows (``lists.windows``), pairs and order (``lists.pairs``, ``lists.orders``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    MEASURES,
    Condition,
    condition,
    integers,
    measure,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_RUNS_GOLD = """
def solve(a):
    runs = []
    for i, v in enumerate(a):
        if $cond:
            if runs and i - runs[-1][1] <= $reach:
                runs[-1][1] = i
            else:
                runs.append([i, i])
    out = []
    for first, last in runs:
        w = a[first:last + 1]
        if len(w) >= $least:
            out.append($code)
    return out
"""


@dataclass(frozen=True, slots=True)
class _Runs:
    """The drawn runs: elements of the kind ``inside``, at least ``least``, joined over ``gap``."""

    level: int
    inside: Condition
    measure: tuple[str, str]
    gap: int
    least: int


def _runs(rng: Random, level: int) -> Problem:
    rule = _Runs(
        level=level,
        inside=condition(rng, -9, 20),
        measure=rng.choice(MEASURES),
        gap=rng.randint(1, 3),
        least=rng.randint(1, 3) + 1,
    )
    name, code = rule.measure
    solution = source(
        _RUNS_GOLD,
        cond=rule.inside.on("v"),
        reach=rule.gap + 1 if level == 3 else 1,
        least=rule.least if level > 1 else 1,
        code=code,
    )
    key: dict[str, Any] = {"level": level, "condition": rule.inside.key, "measure": name}
    key |= {"least": rule.least - 1} if level > 1 else {}
    key |= {"gap": rule.gap} if level == 3 else {}
    return Problem(
        _runs_statement(rule),
        _A,
        "ints",
        solution,
        partial(_runs_brute, rule),
        lambda r: (integers(r, 7, 10 + 5 * level, -9, 20),),
        key,
        (([],), ([4],)),
    )


def _runs_statement(rule: _Runs) -> str:
    joined = (
        " Two neighbouring runs are then joined, with the elements between them, into one run when "
        f"at most {rule.gap} elements lie between them (so a chain of runs may become one)."
    )
    kept = f" Only runs of at least {rule.least} elements count."
    return (
        "`a` is a list of at most 25 integers. A run is a maximal block of consecutive "
        f"elements that are all {rule.inside.text}."
        f"{joined if rule.level == 3 else ''}{kept if rule.level > 1 else ''} "
        f"Give the list of the {rule.measure[0]} of every run, from left to right "
        "(empty if there is none)."
    )


def _runs_brute(rule: _Runs, a: list[int]) -> list[int]:
    flags = [rule.inside.holds(v) for v in a]
    if rule.level == 3:
        blocks = [(f, len(list(g))) for f, g in groupby(flags)]
        flags = []
        for i, (flag, size) in enumerate(blocks):
            between = 0 < i < len(blocks) - 1
            flags += [flag or (between and size <= rule.gap)] * size
    out, i = [], 0
    for flag, group in groupby(flags):
        size = len(list(group))
        if flag and (rule.level == 1 or size >= rule.least):
            out.append(measure(rule.measure[0], a[i : i + size]))
        i += size
    return out


_OPS = {"at least": ">=", "at most": "<=", "exactly": "=="}
_DEDUPE_GOLD = {
    1: """
    def solve(a):
        seen = set()
        out = []
        for v in $reading:
            if $cond or v % $m not in seen:
                out.append(v)
                seen.add(v % $m)
        return out$turn
    """,
    2: """
    def solve(a):
        count = [0] * $m
        for v in a:
            count[v % $m] += 1
        out = [v for v in a if $cond or count[v % $m] $op $k]
        return out$turn
    """,
    3: """
    def solve(a):
        stack = []
        run = []
        for v in a:
            run.append(run[-1] + 1 if stack and (stack[-1] - v) % $m == 0 else 1)
            stack.append(v)
            if run[-1] >= $k and not ($cond):
                del stack[-$k:]
                del run[-$k:]
        return stack$turn
    """,
}


@dataclass(frozen=True, slots=True)
class _Dedupe:
    """The drawn rule: elements equal modulo ``m`` are alike; those that are ``free`` stay."""

    level: int
    m: int
    last: bool
    k: int
    free: Condition
    keep: str
    reverse: bool


def _dedupe(rng: Random, level: int) -> Problem:
    rule = _Dedupe(
        level=level,
        m=rng.randint(3, 12),
        last=rng.random() < 0.5,
        k=rng.randint(2, 3),
        free=condition(rng, -9, 20),
        keep=rng.choice(list(_OPS)),
        reverse=rng.random() < 0.5,
    )
    backwards = rule.last and level == 1
    solution = source(
        _DEDUPE_GOLD[level],
        m=rule.m,
        k=rule.k,
        cond=rule.free.on("v"),
        op=_OPS[rule.keep],
        reading="reversed(a)" if rule.last else "a",
        turn="" if backwards == rule.reverse else "[::-1]",
    )
    key: dict[str, Any] = {"level": level, "m": rule.m, "condition": rule.free.key}
    key |= {"reverse": rule.reverse, "rule": (rule.last, (rule.keep, rule.k), rule.k)[level - 1]}
    return Problem(
        _dedupe_statement(rule),
        _A,
        "ints",
        solution,
        partial(_dedupe_brute, rule),
        lambda r: (integers(r, 6, 18 + 4 * level, -9, 10 if level == 3 else 20),),
        key,
        (([],),),
    )


def _dedupe_statement(rule: _Dedupe) -> str:
    k, m = rule.k, rule.m
    free = f" Elements that are {rule.free.text} are never dropped."
    what = {
        1: f" Of alike elements only the {'last' if rule.last else 'first'} one is kept.{free}",
        2: f" Keep the elements that are alike to {rule.keep} {k} elements of `a` (themselves "
        f"included).{free}",
        3: f" Read `a` from left to right onto a stack. Whenever the top {k} elements of the stack "
        f"are all alike and the top one is {rule.free.negated}, all {k} of them are removed at "
        "once; after a removal nothing else is removed until the next element is put on.",
    }[rule.level]
    order = "The order of `a` is kept."
    if rule.reverse:
        order = "The result is in the reverse order of `a`."
    return (
        "`a` is a list of at most 30 integers. Two elements are alike if they leave the same "
        f"remainder when divided by {m} (remainders lie from 0 to {m - 1}, for negative elements "
        f"too).{what} {order} Give the elements that are left."
    )


def _dedupe_brute(rule: _Dedupe, a: list[int]) -> list[int]:
    kept = {1: _unlike, 2: _counted, 3: _stacked}[rule.level](rule, a)
    return [*reversed(kept)] if rule.reverse else kept


def _alike(rule: _Dedupe, a: list[int]) -> list[list[bool]]:
    return [[(u - v) % rule.m == 0 for u in a] for v in a]


def _unlike(rule: _Dedupe, a: list[int]) -> list[int]:
    """Keep the first or the last element of those alike."""
    alike, size = _alike(rule, a), len(a)
    others = [range(i + 1, size) if rule.last else range(i) for i in range(size)]
    return [
        v for i, v in enumerate(a) if rule.free.holds(v) or not any(alike[i][j] for j in others[i])
    ]


def _counted(rule: _Dedupe, a: list[int]) -> list[int]:
    """Keep the elements with so many alike."""
    k = rule.k
    good: dict[str, Callable[[int], bool]] = {
        "at least": lambda s: not s < k,
        "at most": lambda s: not s > k,
        "exactly": lambda s: not (s < k or s > k),
    }
    sizes = [sum(row) for row in _alike(rule, a)]
    fits = good[rule.keep]
    return [v for v, s in zip(a, sizes, strict=True) if rule.free.holds(v) or fits(s)]


def _stacked(rule: _Dedupe, a: list[int]) -> list[int]:
    """Remove the top of the stack whenever it is all alike."""
    left: list[int] = []
    for v in a:
        left = [*left, v]
        top = left[-rule.k :]
        if len(top) == rule.k and len({t % rule.m for t in top}) == 1 and not rule.free.holds(v):
            left = left[: len(left) - rule.k]
    return left


FAMILIES = (
    code_family("list_runs", "maximal blocks of like elements", _runs),
    code_family("list_dedupe", "likeness, what is kept and in which order", _dedupe),
)
