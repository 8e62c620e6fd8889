"""Code problems on sets of intervals: joined, counted where they overlap, chosen apart.

Leaves out: lists of single integers (the other ``lists_`` modules).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_INTERVALS_GOLD = {
    1: """
    def solve(p):
        out = []
        for x, y in sorted((x - $pad, y + $pad) for x, y in p if not $cond):
            if out and x - out[-1][1] <= $gap:
                out[-1][1] = max(out[-1][1], y)
            else:
                out.append([x, y])
        return [y - x for x, y in out]
    """,
    2: """
    def solve(p):
        events = []
        for x, y in p:
            if not $cond:
                events += [(x - $pad, 1), (y + $pad, -1)]
        depth = last = 0
        total = $w * (len(events) // 2)
        for at, change in sorted(events):
            if depth >= $k:
                total += at - last
            depth += change
            last = at
        return total
    """,
    3: """
    from bisect import bisect_right

    def solve(p):
        kept = sorted((y + $pad, x - $pad) for x, y in p if not $cond)
        ends = [y for y, x in kept]
        best = [0]
        for y, x in kept:
            j = bisect_right(ends, x - $gap, 0, len(best) - 1)
            best.append(max(best[-1], best[j] + y - x + $w))
        return best[-1]
    """,
}


@dataclass(frozen=True, slots=True)
class _Intervals:
    """The drawn rules: those of the lengths ``left_out`` do not count, ``pad`` lengthens both ends,
    ``gap`` is a distance, ``k`` a number of layers and ``w`` what one interval earns."""

    level: int
    gap: int
    k: int
    pad: int
    left_out: Condition
    w: int


def _intervals(rng: Random, level: int) -> Problem:
    rules = _Intervals(
        level=level,
        gap=rng.randint(0, 6),
        k=rng.randint(2, 3),
        pad=rng.randint(0, 4),
        left_out=condition(rng, 1, 20),
        w=rng.randint(1, 9),
    )
    gap, k, w = rules.gap, rules.k, rules.w

    def draw(r: Random) -> tuple[list[list[int]]]:
        starts = [r.randint(0, 55) for _ in range(r.randint(4, 12 if level < 3 else 9))]
        return ([[x, x + r.randint(1, 25)] for x in starts],)

    key: dict[str, Any] = {"level": level, "pad": rules.pad, "condition": rules.left_out.key}
    key["rule"] = (gap, (k, w), (gap, w))[level - 1]
    cond = f"({rules.left_out.on('(y - x)')})"
    return Problem(
        _intervals_statement(rules),
        (("p", "pairs"),),
        "ints" if level == 1 else "int",
        source(_INTERVALS_GOLD[level], pad=rules.pad, gap=gap, k=k, w=w, cond=cond),
        partial(_intervals_brute, rules),
        draw,
        key,
        (([],),),
    )


def _intervals_statement(rules: _Intervals) -> str:
    gap, pad, w = rules.gap, rules.pad, rules.w
    grow = f" Each of the others is first lengthened by {pad} at both ends." if pad else ""
    start = (
        "`p` is a list of at most 12 pairs [x, y] of integers, 0 <= x < y <= 80; a pair is the "
        "interval from x to y, of the length y - x. Leave out the intervals whose length is "
        f"{rules.left_out.text}.{grow}"
    )
    what = {
        1: " Two intervals are joined into one (from the smaller start to the larger end) as long "
        f"as there are two with at most {gap} between the end of one and the start of the other, "
        "overlapping ones too. Give the lengths of the intervals that remain, from left to right.",
        2: " A point t + 1/2 (t an integer) is covered by an interval if it lies inside it. "
        f"Give the number of such points that are covered by at least {rules.k} of the "
        f"intervals, plus {w} times the number of intervals that were not left out.",
        3: " Choose some of the intervals so that between the end of each and the start of "
        f"the next there is at least {gap} (they may not overlap). An "
        f"interval earns its length (as lengthened, where it was) plus {w}. Give the "
        "largest total that can be earned (0 for no intervals).",
    }
    return start + what[rules.level]


def _intervals_brute(rules: _Intervals, p: list[list[int]]) -> Any:
    pad = rules.pad
    kept = [(x - pad, y + pad) for x, y in p if not rules.left_out.holds(y - x)]
    if rules.level == 1:
        return _joined(kept, rules.gap)
    if rules.level == 2:
        covered = sum(sum(x <= t < y for x, y in kept) >= rules.k for t in range(-9, 99))
        return covered + rules.w * len(kept)
    return _most(kept, rules.gap, rules.w)


def _joined(kept: list[tuple[int, int]], gap: int) -> list[int]:
    """Join any two near intervals until no two are near."""
    left = [*kept]
    while True:
        near = [
            (i, j)
            for i in range(len(left))
            for j in range(i)
            if left[i][0] - left[j][1] <= gap and left[j][0] - left[i][1] <= gap
        ]
        if not near:
            return [y - x for x, y in sorted(left)]
        i, j = near[0]
        one = (min(left[i][0], left[j][0]), max(left[i][1], left[j][1]))
        left = [v for n, v in enumerate(left) if n not in (i, j)] + [one]


def _most(kept: list[tuple[int, int]], gap: int, w: int) -> int:
    """Return the best total by taking or leaving each interval."""
    if not kept:
        return 0
    (x, y), rest = kept[0], kept[1:]
    free = [(u, v) for u, v in rest if u - y >= gap or x - v >= gap]
    return max(_most(rest, gap, w), y - x + w + _most(free, gap, w))


FAMILIES = (code_family("interval_sets", "joined, cut, measured", _intervals),)
