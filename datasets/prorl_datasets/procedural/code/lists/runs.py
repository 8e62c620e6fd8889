"""Problems on runs and duplicates in a list."""

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
)
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Runs:
    """A problem on runs of elements that satisfy ``inside``; level 3 fills gaps of up to ``gap`` elements."""

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
    solution = WORDINGS.source(
        "runs solution",
        cond=rule.inside.on("v"),
        reach=rule.gap + 1 if level == 3 else 1,
        least=rule.least if level > 1 else 1,
        code=code,
    )
    key: dict[str, Any] = {"level": level, "condition": rule.inside.key, "measure": name}
    key |= {"least": rule.least - 1} if level > 1 else {}
    key |= {"gap": rule.gap} if level == 3 else {}
    joined = WORDINGS.one("runs statement joined", rule=rule)
    left = f" Only runs of at least {rule.least} elements count."
    return Problem(
        WORDINGS.one(
            "runs",
            text=rule.inside.text,
            joined=joined if rule.level == 3 else "",
            kept=left if rule.level > 1 else "",
            measure_0=rule.measure[0],
        ),
        "a: ints -> ints",
        solution,
        partial(_runs_brute, rule),
        lambda r: (integers(r, 7, 10 + 5 * level, -9, 20),),
        key,
        (([],), ([4],)),
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


@dataclass(frozen=True, slots=True)
class _Dedupe:
    """A problem on removing elements that are equal modulo ``m``, with exceptions for ``free`` elements."""

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
    solution = WORDINGS.source(
        f"dedupe solution {level}",
        rule,
        cond=rule.free.on("v"),
        op=_OPS[rule.keep],
        reading="reversed(a)" if rule.last else "a",
        turn="" if backwards == rule.reverse else "[::-1]",
    )
    key: dict[str, Any] = {"level": level, "m": rule.m, "condition": rule.free.key}
    key |= {"reverse": rule.reverse, "rule": (rule.last, (rule.keep, rule.k), rule.k)[level - 1]}
    return Problem(
        _dedupe_statement(rule),
        "a: ints -> ints",
        solution,
        partial(_dedupe_brute, rule),
        lambda r: (integers(r, 6, 18 + 4 * level, -9, 10 if level == 3 else 20),),
        key,
        (([],),),
    )


def _dedupe_statement(rule: _Dedupe) -> str:
    k, m = rule.k, rule.m
    free = f" Elements that are {rule.free.text} are never dropped."
    what = WORDINGS.one(
        f"dedupe {rule.level}",
        last="last" if rule.last else "first",
        free=free,
        rule=rule,
        k=k,
        negated=rule.free.negated,
    )
    order = "The order of `a` is kept."
    if rule.reverse:
        order = "The result is in the reverse order of `a`."
    return WORDINGS.one("dedupe", m=m, m_minus_1=m - 1, what=what, order=order)


def _dedupe_brute(rule: _Dedupe, a: list[int]) -> list[int]:
    left = {1: _unlike, 2: _counted, 3: _stacked}[rule.level](rule, a)
    return [*reversed(left)] if rule.reverse else left


def _alike(rule: _Dedupe, a: list[int]) -> list[list[bool]]:
    return [[(u - v) % rule.m == 0 for u in a] for v in a]


def _unlike(rule: _Dedupe, a: list[int]) -> list[int]:
    alike, size = _alike(rule, a), len(a)
    rivals = [range(i + 1, size) if rule.last else range(i) for i in range(size)]
    return [
        v for i, v in enumerate(a) if rule.free.holds(v) or not any(alike[i][j] for j in rivals[i])
    ]


def _counted(rule: _Dedupe, a: list[int]) -> list[int]:
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
    """Push elements on a stack; if one is not ``free`` and the top ``k`` are equal modulo ``m``, drop these."""
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
