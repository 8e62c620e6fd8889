"""Code problems on contiguous parts of a list: windows, longest subarrays, runs.

Leaves out: pairs and order (``lists_orders``), games and intervals (``lists_games``).
"""

from __future__ import annotations

from collections.abc import Callable
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


def _window_list(rng: Random) -> Problem:
    k, step = rng.randint(2, 7), rng.randint(1, 4)
    name, code = rng.choice(MEASURES)
    back = rng.random() < 0.5
    order = "from right to left" if back else "from left to right"
    statement = (
        f"`a` is a list of at most 25 integers. A window is {k} consecutive elements of "
        "`a`; take those windows "
        f"whose starting index (counted from 0) is a multiple of {step}, {order}, and "
        "give the list "
        f"of the {name} of each. The list is empty if `a` has fewer than {k} elements."
    )
    solution = source(
        """
        def solve(a):
            out = []
            for i in range(0, len(a) - $k + 1, $step):
                w = a[i:i + $k]
                out.append($code)
            return out$back
        """,
        k=k,
        step=step,
        code=code,
        back="[::-1]" if back else "",
    )

    def brute(a: list[int]) -> list[int]:
        starts = [i for i in range(len(a)) if i + k <= len(a) and i % step == 0]
        starts.sort(reverse=back)
        return [measure(name, [a[i + j] for j in range(k)]) for i in starts]

    key = {"k": k, "step": step, "measure": name, "back": back}
    return Problem(
        statement, _A, "ints", solution, brute, lambda r: (integers(r, k + 1, 15, -20, 20),), key
    )


def _window_total(rng: Random) -> Problem:
    k, name = rng.randint(2, 6), ""
    name, code = rng.choice(MEASURES[1:])
    c = condition(rng, -5 * k, 8 * k)
    statement = (
        f"`a` is a list of at most 25 integers. Consider every window of {k} consecutive "
        "elements of `a` whose "
        f"sum is {c.text}. Give the total, over these windows, of the window's {name} "
        f"(0 if there is no such window)."
    )
    solution = source(
        """
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
        """,
        k=k,
        cond=c.on("s"),
        code=code,
    )

    def brute(a: list[int]) -> int:
        windows = [list(w) for w in zip(*(a[j:] for j in range(k)), strict=False)]
        return sum(measure(name, w) for w in windows if c.holds(sum(w)))

    key = {"k": k, "condition": c.key, "measure": name}
    return Problem(
        statement,
        _A,
        "int",
        solution,
        brute,
        lambda r: (integers(r, k + 4, 22, -9, 15),),
        key,
        (([1],),),
    )


_EXTRAS: tuple[tuple[str, str, Callable[[int, int], int]], ...] = (
    ("the sum of their starting indices", "j", lambda i, j: i),
    ("the sum of the indices of their last elements", "i - 1", lambda i, j: j - 1),
    ("the sum of their lengths", "i - j", lambda i, j: j - i),
)


def _window_remainders(rng: Random) -> Problem:
    p, m = rng.randint(1, 3), rng.randint(3, 9)
    q, r0 = p + rng.randint(2, 7), rng.randint(0, m - 1)
    weight = rng.randint(1, 4)
    extra, code, value = rng.choice(_EXTRAS)
    statement = (
        "`a` is a list of at most 25 integers; indices count from 0. An element at an "
        "even index weighs its "
        f"value, one at an odd index {weight} times its value. Consider the contiguous "
        "subarrays of at least "
        f"{p} and at most {q} elements whose total weight leaves the remainder {r0} when "
        "divided by "
        f"{m} (remainders lie from 0 to {m - 1}, for negative totals too). Give a list of "
        "two integers: "
        f"the number of such subarrays and {extra}."
    )
    solution = source(
        """
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
        """,
        weight=weight,
        m=m,
        p=p,
        q=q,
        r0=r0,
        code=code,
    )

    def brute(a: list[int]) -> list[int]:
        count = total = 0
        for i in range(len(a)):
            for j in range(i + p, min(i + q, len(a)) + 1):
                s = sum(a[x] * (weight if x & 1 else 1) for x in range(i, j))
                if s % m == r0:
                    count += 1
                    total += value(i, j)
        return [count, total]

    key = {"p": p, "q": q, "m": m, "r": r0, "weight": weight, "extra": extra}
    return Problem(
        statement,
        _A,
        "ints",
        solution,
        brute,
        lambda r: (integers(r, 8, 22, -30, 60),),
        key,
        (([7],),),
    )


def _windows(rng: Random, level: int) -> Problem:
    return (_window_list, _window_total, _window_remainders)[level - 1](rng)


def _longest(rng: Random, level: int) -> Problem:
    c, latest = condition(rng, -9, 20), rng.random() < 0.5
    limit, allowed = rng.randint(4, 25), rng.randint(1, 3) if level > 1 else 0
    spread = level == 3
    plural = "element that is" if allowed == 1 else "elements that are"
    rules = [f"contains at most {allowed} {plural} {c.text}"]
    if level == 1:
        rules = [f"contains no element that is {c.text}"]
    elif level == 2:
        rules.append(f"starts at an index that is a multiple of {limit % 3 + 2}")
    else:
        rules.append(f"has a largest element at most {limit} above its smallest")
    tie = "largest" if latest else "smallest"
    statement = (
        "`a` is a list of at most 25 integers; indices count from 0. Find the longest "
        "contiguous subarray of at least one "
        f"element that {' and '.join(rules)}. Give a list of three integers: its starting index, "
        "its length and the sum of its elements; of several longest ones take the one "
        f"with the {tie} starting "
        "index. If there is none, give [-1, 0, 0]."
    )
    check = {1: "True", 2: f"left % {limit % 3 + 2} == 0", 3: "True"}[level]
    shrink = f"bad > {allowed}" + (
        f" or max(a[left:i + 1]) - min(a[left:i + 1]) > {limit}" * spread
    )
    if level == 2:
        shrink = f"bad > {allowed} or left % {limit % 3 + 2}"
    solution = source(
        """
        def solve(a):
            best = [-1, 0, 0]
            left = bad = 0
            for i, v in enumerate(a):
                bad += $cond
                while left <= i and ($shrink):
                    bad -= $cond_left
                    left += 1
                size = i + 1 - left
                if size > 0 and $check and (size $op best[1]):
                    best = [left, size, sum(a[left:i + 1])]
            return best
        """,
        cond=f"({c.on('v')})",
        cond_left=f"({c.on('a[left]')})",
        shrink=shrink,
        check=check,
        op=">=" if latest else ">",
    )

    def brute(a: list[int]) -> list[int]:
        found = []
        for i in range(len(a)):
            for j in range(i + 1, len(a) + 1):
                w = a[i:j]
                if len([v for v in w if c.holds(v)]) > allowed:
                    break
                if (level == 2 and i % (limit % 3 + 2)) or (spread and max(w) - min(w) > limit):
                    continue
                found.append((j - i, i if latest else -i, i, sum(w)))
        if not found:
            return [-1, 0, 0]
        size, _, start, total = max(found)
        return [start, size, total]

    key: dict[str, Any] = {"level": level, "condition": c.key, "latest": latest, "most": allowed}
    key["limit"] = (0, limit % 3 + 2, limit)[level - 1]
    edges: tuple[tuple[list[int]], ...] = (([],), ([5],))
    return Problem(
        statement,
        _A,
        "ints",
        solution,
        brute,
        lambda r: (integers(r, 5, 9 + 4 * level, -9, 20),),
        key,
        edges,
    )


FAMILIES = (
    code_family("list_windows", _windows),
    code_family("longest_subarray", _longest),
)
