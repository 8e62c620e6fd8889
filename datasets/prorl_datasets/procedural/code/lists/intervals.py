"""Problems on merging, overlaps and disjoint choices of intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import Condition, condition
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Intervals:
    level: int
    gap: int
    """Distance between intervals (levels 1 and 3)."""
    k: int
    """Minimum number of intervals that cover a point (level 2)."""
    pad: int
    """Amount by which both ends are extended."""
    left_out: Condition
    """Condition on lengths; intervals that meet it do not count."""
    w: int
    """Points for one interval."""


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
        f"p: pairs -> {'ints' if level == 1 else 'int'}",
        WORDINGS.source(f"intervals solution {level}", pad=rules.pad, gap=gap, k=k, w=w, cond=cond),
        partial(_intervals_brute, rules),
        draw,
        key,
        (([],),),
    )


def _intervals_statement(rules: _Intervals) -> str:
    gap, pad, w = rules.gap, rules.pad, rules.w
    grow = f" Each of the others is first lengthened by {pad} at both ends." if pad else ""
    start = WORDINGS.one("intervals statement start", text=rules.left_out.text, grow=grow)
    what = {
        1: WORDINGS.one("intervals", gap=gap),
        2: WORDINGS.one("intervals 2", rules=rules, w=w),
        3: WORDINGS.one("intervals 3", gap=gap, w=w),
    }
    return start + what[rules.level]


def _intervals_brute(rules: _Intervals, p: list[list[int]]) -> Any:
    pad = rules.pad
    intervals = [(x - pad, y + pad) for x, y in p if not rules.left_out.holds(y - x)]
    if rules.level == 1:
        return _joined(intervals, rules.gap)
    if rules.level == 2:
        covered = sum(sum(x <= t < y for x, y in intervals) >= rules.k for t in range(-9, 99))
        return covered + rules.w * len(intervals)
    return _most(intervals, rules.gap, rules.w)


def _joined(intervals: list[tuple[int, int]], gap: int) -> list[int]:
    left = [*intervals]
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


def _most(intervals: list[tuple[int, int]], gap: int, w: int) -> int:
    if not intervals:
        return 0
    (x, y), rest = intervals[0], intervals[1:]
    free = [(u, v) for u, v in rest if u - y >= gap or x - v >= gap]
    return max(_most(rest, gap, w), y - x + w + _most(free, gap, w))


FAMILIES = (code_family("interval_sets", "joined, cut, measured", _intervals),)
