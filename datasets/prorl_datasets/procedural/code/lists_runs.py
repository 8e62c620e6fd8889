"""Code problems on runs of a list and on what is dropped or kept of it.

Leaves out: windows (``lists_windows``), pairs and order (``lists_orders``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import (
    MEASURES,
    condition,
    integers,
    measure,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


def _runs(rng: Random, level: int) -> Problem:
    c, name_code = condition(rng, -9, 20), rng.choice(MEASURES)
    name, code = name_code
    gap, least = rng.randint(1, 3), rng.randint(1, 3)
    joined = (
        " Two neighbouring runs are then joined, with the elements between them, into "
        "one run when at most "
        f"{gap} elements lie between them (so a chain of runs may become one)."
        if level == 3
        else ""
    )
    kept = f" Only runs of at least {least + 1} elements count." if level > 1 else ""
    result = f"Give the list of the {name} of every run, from left to right"
    statement = (
        "`a` is a list of at most 25 integers. A run is a maximal block of consecutive "
        f"elements that are all {c.text}."
        f"{joined}{kept} {result} (empty if there is none)."
    )
    solution = source(
        """
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
        """,
        cond=c.on("v"),
        reach=gap + 1 if level == 3 else 1,
        least=least + 1 if level > 1 else 1,
        code=code,
    )

    def brute(a: list[int]) -> list[int]:
        flags = [c.holds(v) for v in a]
        if level == 3:
            blocks = [(f, len(list(g))) for f, g in groupby(flags)]
            flags = []
            for i, (flag, size) in enumerate(blocks):
                inside = 0 < i < len(blocks) - 1
                flags += [flag or (inside and size <= gap)] * size
        out, i = [], 0
        for flag, group in groupby(flags):
            size = len(list(group))
            if flag and (level == 1 or size > least):
                out.append(measure(name, a[i : i + size]))
            i += size
        return out

    key: dict[str, Any] = {"level": level, "condition": c.key, "measure": name}
    key |= {"least": least} if level > 1 else {}
    key |= {"gap": gap} if level == 3 else {}
    return Problem(
        statement,
        _A,
        "ints",
        solution,
        brute,
        lambda r: (integers(r, 7, 10 + 5 * level, -9, 20),),
        key,
        (([],), ([4],)),
    )


def _dedupe(rng: Random, level: int) -> Problem:
    m, last, k = rng.randint(3, 12), rng.random() < 0.5, rng.randint(2, 3)
    c, keep = condition(rng, -9, 20), rng.choice(("at least", "at most", "exactly"))
    op = {"at least": ">=", "at most": "<=", "exactly": "=="}[keep]
    reverse = rng.random() < 0.5
    groups = f"Two elements are alike if they leave the same remainder when divided by {m}"
    signs = f" (remainders lie from 0 to {m - 1}, for negative elements too)."
    free = f" Elements that are {c.text} are never dropped."
    if level == 1:
        rule = f" Of alike elements only the {'last' if last else 'first'} one is kept."
    elif level == 2:
        rule = (
            f" Keep the elements that are alike to {keep} {k} elements of `a` (themselves "
            "included)."
        )
    else:
        rule = (
            f" Read `a` from left to right onto a stack. Whenever the top {k} elements of "
            "the stack "
            f"are all alike and the top one is {c.negated}, all {k} of them are removed at once; "
            "after a removal nothing else is removed until the next element is put on."
        )
    rule += free if level < 3 else ""
    order = (
        " The result is in the reverse order of `a`." if reverse else " The order of `a` is kept."
    )
    what = " Give the elements that are left."
    statement = f"`a` is a list of at most 30 integers. {groups}{signs}{rule}{order}{what}"
    body = {
        1: f"""
        def solve(a):
            seen = set()
            out = []
            for v in {"reversed(a)" if last else "a"}:
                if {c.on("v")} or v % {m} not in seen:
                    out.append(v)
                    seen.add(v % {m})
            return {"out" if last == reverse else "out[::-1]"}
        """,
        2: f"""
        def solve(a):
            count = [0] * {m}
            for v in a:
                count[v % {m}] += 1
            out = [v for v in a if {c.on("v")} or count[v % {m}] {op} {k}]
            return {"out[::-1]" if reverse else "out"}
        """,
        3: f"""
        def solve(a):
            stack = []
            run = []
            for v in a:
                run.append(run[-1] + 1 if stack and (stack[-1] - v) % {m} == 0 else 1)
                stack.append(v)
                if run[-1] >= {k} and not ({c.on("v")}):
                    del stack[-{k}:]
                    del run[-{k}:]
            return {"stack[::-1]" if reverse else "stack"}
        """,
    }
    key: dict[str, Any] = {"level": level, "m": m, "condition": c.key, "reverse": reverse}
    key["rule"] = (last, (keep, k), k)[level - 1]

    def brute(a: list[int]) -> list[int]:
        out = _kept(a, level, (m, k, keep, last), c.holds)
        return [*reversed(out)] if reverse else out

    high = 10 if level == 3 else 20
    return Problem(
        statement,
        _A,
        "ints",
        source(body[level]),
        brute,
        lambda r: (integers(r, 6, 18 + 4 * level, -9, high),),
        key,
        (([],),),
    )


def _kept(
    a: list[int], level: int, rule: tuple[int, int, str, bool], holds: Callable[[int], bool]
) -> list[int]:
    m, k, keep, last = rule
    alike = [[(u - v) % m == 0 for u in a] for v in a]
    if level == 1:
        return [
            v
            for i, v in enumerate(a)
            if holds(v) or not any(alike[i][j] for j in _others(i, a, last))
        ]
    if level == 2:
        size = [sum(row) for row in alike]
        good: dict[str, Callable[[int], bool]] = {
            "at least": lambda s: not s < k,
            "at most": lambda s: not s > k,
            "exactly": lambda s: not (s < k or s > k),
        }
        return [v for v, s in zip(a, size, strict=True) if holds(v) or good[keep](s)]
    left: list[int] = []
    for v in a:
        left = [*left, v]
        top = left[-k:]
        if len(top) == k and len({t % m for t in top}) == 1 and not holds(v):
            left = left[: len(left) - k]
    return left


def _others(i: int, a: list[int], last: bool) -> range:
    return range(i + 1, len(a)) if last else range(i)


FAMILIES = (
    code_family("list_runs", _runs),
    code_family("list_dedupe", _dedupe),
)
