"""Code problems on windows of a list: their measures, sums and remainders.

Leaves out: longest subarrays (``lists.longest``), runs (``lists.runs``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from prorl_datasets.procedural.code.lists.common import (
    MEASURES,
    condition,
    integers,
    measure,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

_A = (("a", "ints"),)


_LIST_GOLD = """
def solve(a):
    out = []
    for i in range($rest, len(a) - $k + 1, $step):
        w = a[i:i + $k]
        out.append($code)
    return out$back
"""


def _window_list(rng: Random) -> Problem:
    k, step = rng.randint(2, 7), rng.randint(2, 5)
    rest = rng.randint(0, step - 1)
    name, code = rng.choice(MEASURES)
    back = rng.random() < 0.5
    order = "from right to left" if back else "from left to right"
    statement = (
        f"`a` is a list of at most 25 integers. A window is {k} consecutive elements of `a`; take "
        f"those windows whose starting index (counted from 0) leaves the remainder {rest} when "
        f"divided by {step}, {order}, and give for each of them its {name}, as a list "
        "(empty if there is no such window)."
    )

    def brute(a: list[int]) -> list[int]:
        starts = [i for i in range(len(a)) if i + k <= len(a) and i % step == rest]
        starts.sort(reverse=back)
        return [measure(name, [a[i + j] for j in range(k)]) for i in starts]

    turn = "[::-1]" if back else ""
    solution = source(_LIST_GOLD, k=k, step=step, rest=rest, code=code, back=turn)
    key = {"k": k, "step": step, "rest": rest, "measure": name, "back": back}
    return Problem(
        statement, _A, "ints", solution, brute, lambda r: (integers(r, k + 3, 20, -20, 20),), key
    )


_TOTAL_GOLD = """
def solve(a):
    total = 0
    s = sum(a[:$k])
    for i in range(len(a) - $k + 1):
        if i:
            s += a[i + $k - 1] - a[i - 1]
        if $cond:
            w = a[i:i + $k]
            total += $code
    return total
"""


def _window_total(rng: Random) -> Problem:
    k = rng.randint(2, 7)
    name, code = rng.choice(MEASURES[1:])
    c = condition(rng, -5 * k, 8 * k)
    statement = (
        f"`a` is a list of at most 25 integers. Consider every window of {k} consecutive "
        f"elements of `a` whose sum is {c.text}. Give the total, over these windows, of the "
        f"window's {name} (0 if there is no such window)."
    )

    def brute(a: list[int]) -> int:
        windows = [list(w) for w in zip(*(a[j:] for j in range(k)), strict=False)]
        return sum(measure(name, w) for w in windows if c.holds(sum(w)))

    return Problem(
        statement,
        _A,
        "int",
        source(_TOTAL_GOLD, k=k, cond=c.on("s"), code=code),
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
_REMAINDERS_GOLD = """
def solve(a):
    prefix = [0]
    for i, v in enumerate(a):
        prefix.append((prefix[-1] + (v if i % 2 == 0 else $weight * v)) % $m)
    places = {}
    count = extra = 0
    for i in range(len(prefix)):
        if i >= $p:
            places.setdefault(prefix[i - $p], []).append(i - $p)
        found = places.get((prefix[i] - $r0) % $m, [])
        while found and found[0] < i - $q:
            found.pop(0)
        for j in found:
            count += 1
            extra += $code
    return [count, extra]
"""


@dataclass(frozen=True, slots=True)
class _Remainders:
    """The drawn subarrays: ``p`` to ``q`` elements, remainder ``r`` modulo ``m``; elements at odd
    indices weigh ``weight`` times their value."""

    p: int
    m: int
    q: int
    r: int
    weight: int
    extra: tuple[str, str, Callable[[int, int], int]]


def _draw_remainders(rng: Random) -> _Remainders:
    p, m = rng.randint(1, 3), rng.randint(3, 9)
    q, r0 = p + rng.randint(2, 7), rng.randint(0, m - 1)
    return _Remainders(p, m, q, r0, rng.randint(2, m - 1), rng.choice(_EXTRAS))


def _window_remainders(rng: Random) -> Problem:
    rule = _draw_remainders(rng)
    p, q, m, weight = rule.p, rule.q, rule.m, rule.weight
    extra, code, _ = rule.extra
    statement = (
        "`a` is a list of at most 25 integers; indices count from 0. An element at an even index "
        f"weighs its value, one at an odd index {weight} times its value. Consider the contiguous "
        f"subarrays of at least {p} and at most {q} elements whose total weight leaves the "
        f"remainder {rule.r} when divided by {m} (remainders lie from 0 to {m - 1}, for negative "
        f"totals too). Give a list of two integers: the number of such subarrays and {extra}."
    )
    return Problem(
        statement,
        _A,
        "ints",
        source(_REMAINDERS_GOLD, weight=weight, m=m, p=p, q=q, r0=rule.r, code=code),
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
