"""Problems on windows of a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from prorl_datasets.procedural.code.lists.common import MEASURES, condition, integers, measure
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _window_list(rng: Random) -> Problem:
    k, step = rng.randint(2, 7), rng.randint(2, 5)
    remainder = rng.randint(0, step - 1)
    name, code = rng.choice(MEASURES)
    back = rng.random() < 0.5
    order = "from right to left" if back else "from left to right"
    statement = WORDINGS.one("window list", k=k, rest=remainder, step=step, order=order, name=name)

    def brute(a: list[int]) -> list[int]:
        starts = [i for i in range(len(a)) if i + k <= len(a) and i % step == remainder]
        starts.sort(reverse=back)
        return [measure(name, [a[i + j] for j in range(k)]) for i in starts]

    turn = "[::-1]" if back else ""
    solution = WORDINGS.source(
        "list solution", k=k, step=step, rest=remainder, code=code, back=turn
    )
    key = {"k": k, "step": step, "rest": remainder, "measure": name, "back": back}
    return Problem(
        statement,
        "a: ints -> ints",
        solution,
        brute,
        lambda r: (integers(r, k + 3, 20, -20, 20),),
        key,
    )


def _window_total(rng: Random) -> Problem:
    k = rng.randint(2, 7)
    name, code = rng.choice(MEASURES[1:])
    c = condition(rng, -5 * k, 8 * k)
    statement = WORDINGS.one("window total", k=k, c=c, name=name)

    def brute(a: list[int]) -> int:
        windows = [list(w) for w in zip(*(a[j:] for j in range(k)), strict=False)]
        return sum(measure(name, w) for w in windows if c.holds(sum(w)))

    return Problem(
        statement,
        "a: ints -> int",
        WORDINGS.source("total solution", k=k, cond=c.on("s"), code=code),
        brute,
        lambda r: (integers(r, k + 4, 22, -9, 15),),
        {"k": k, "condition": c.key, "measure": name},
        (([1],),),
    )


_EXTRAS: tuple[tuple[str, str, Callable[[int, int], int]], ...] = (
    ("the sum of their starting indices", "j", lambda i, j: i),
    ("the sum of the indices of their last elements", "i - 1", lambda i, j: j - 1),
    ("the sum of their lengths", "i - j", lambda i, j: j - i),
)


@dataclass(frozen=True, slots=True)
class _Remainders:
    """A problem on subarrays of ``p`` to ``q`` elements whose weighted sum is ``r`` modulo ``m``."""

    p: int
    m: int
    q: int
    r: int
    weight: int
    """Elements at odd indices count this many times."""
    extra: tuple[str, str, Callable[[int, int], int]]


def _draw_remainders(rng: Random) -> _Remainders:
    p, m = rng.randint(1, 3), rng.randint(3, 9)
    q, r0 = p + rng.randint(2, 7), rng.randint(0, m - 1)
    return _Remainders(p, m, q, r0, rng.randint(2, m - 1), rng.choice(_EXTRAS))


def _window_remainders(rng: Random) -> Problem:
    rule = _draw_remainders(rng)
    p, q, m, weight = rule.p, rule.q, rule.m, rule.weight
    extra, code, _ = rule.extra
    statement = WORDINGS.one(
        "window remainders", weight=weight, p=p, q=q, rule=rule, m=m, m_minus_1=m - 1, extra=extra
    )
    return Problem(
        statement,
        "a: ints -> ints",
        WORDINGS.source("remainders solution", weight=weight, m=m, p=p, q=q, r0=rule.r, code=code),
        partial(_remainders_brute, rule),
        lambda r: (integers(r, 8, 22, -30, 60),),
        {"p": p, "q": q, "m": m, "r": rule.r, "weight": weight, "extra": extra},
        (([7],),),
    )


def _remainders_brute(rule: _Remainders, a: list[int]) -> list[int]:
    count = total = 0
    for i in range(len(a)):
        for j in range(i + rule.p, min(i + rule.q, len(a)) + 1):
            s = sum(a[x] * (rule.weight if x & 1 else 1) for x in range(i, j))
            if s % rule.m == rule.r:
                count += 1
                total += rule.extra[2](i, j)
    return [count, total]


def _windows(rng: Random, level: int) -> Problem:
    return (_window_list, _window_total, _window_remainders)[level - 1](rng)


FAMILIES = (code_family("list_windows", "statistics of sliding windows", _windows),)
