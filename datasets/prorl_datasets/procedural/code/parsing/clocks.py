"""Code problems on times of day on planets with other clocks.

Leaves out: expressions (``parsing.expressions``), numerals (``parsing.numerals``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import source
from prorl_datasets.procedural.code.problem import Problem, code_family

_CLOCKS_GOLD = {
    1: """
    def solve(s, k):
        h, m = map(int, s.split("$sep"))
        t = (h * $minutes + m + $k * k) % ($hours * $minutes)
        return f"{t // $minutes}$sep{t % $minutes}"
    """,
    2: """
    def solve(times):
        values = []
        for s in times:
            h, m = map(int, s.split("$sep"))
            values.append(h * $minutes + m)
        gaps = []
        for x, y in zip(values, values[1:]):
            gaps.append((y - x - 1) % ($hours * $minutes) + 1)
        return [gap for gap in gaps if gap >= $least]
    """,
    3: """
    def solve(times):
        day = $hours * $minutes
        values = []
        for s in times:
            h, m = map(int, s.split("$sep"))
            values.append(h * $minutes + m)
        out = []
        for x, y in zip(values[::2], values[1::2]):
            if y <= x:
                y += day
            paid = 0
            for shift in (0, day):
                paid += max(0, min(y, $end * $minutes + shift) - max(x, $begin * $minutes + shift))
            earned = paid * $k + (y - x - paid) * $b
            if y - x > 3 * $minutes:
                earned += $k * $b
            out.append(earned)
        return out
    """,
}


@dataclass(frozen=True, slots=True)
class _Clock:
    """What is drawn for one problem on times of day."""

    level: int
    hours: int
    minutes: int
    base: int
    begin: int
    end: int
    rate: int
    sep: str


def _draw_clock(rng: Random, level: int) -> _Clock:
    hours, minutes = rng.randint(5, 40), rng.randint(20, 99)
    a, b = rng.randint(0, hours - 3), rng.randint(2, 9)
    begin, end = a, rng.randint(a + 2, hours)
    k, sep = rng.randint(2, 9), rng.choice(":.h")
    return _Clock(level, hours, minutes, b, begin, end, k, sep)


def _clock_statement(p: _Clock) -> str:
    head = (
        f"On a planet a day has {p.hours} hours of {p.minutes} minutes. A time is written "
        f"H{p.sep}M "
        f"with hours from 0 to {p.hours - 1} and minutes from 0 to {p.minutes - 1}, without "
        "leading zeros. "
    )
    what = {
        1: "`s` is a time and `k` a whole number from -9999 to 9999. Give the time (in the "
        f"same form) that is k times {p.rate} minutes after s (before s if k is negative); "
        "days are not told apart.",
        2: "`times` is a list of 1 to 9 times, in the order in which they came; each came "
        "less than a day after the one before it (if it is not later on the clock it is "
        "of the next day; an equal one a whole day later). Give the list of the gaps, in "
        f"minutes, between successive times, without the gaps that are less than {p.base * 10} "
        "minutes.",
        3: "`times` is a list of an even number of at most 12 times: the first and the "
        "second are the start and the end of a shift, the third and the fourth those of "
        "the next shift, and so on. An end that is not later on the clock than its start "
        f"is on the next day. The minutes of a shift from {p.begin}{p.sep}0 to {p.end}{p.sep}0 "
        f"(on whatever day) are paid {p.rate} coins each, all others {p.base}. "
        f"A shift of more than {p.minutes * 3} minutes earns {p.rate * p.base} coins more. Give "
        "the "
        "list of the earnings of the shifts.",
    }[p.level]
    return head + what


def _clock_brute(p: _Clock, *args: Any) -> Any:
    clock = [f"{h}{p.sep}{m}" for h in range(p.hours) for m in range(p.minutes)]
    if p.level == 1:
        return clock[(clock.index(args[0]) + p.rate * args[1]) % len(clock)]
    values = [clock.index(t) for t in args[0]]
    if p.level == 2:
        gaps = [y - x if y > x else y + len(clock) - x for x, y in pairwise(values)]
        return [gap for gap in gaps if not gap < 10 * p.base]
    pay = [
        p.rate if p.begin * p.minutes <= t < p.end * p.minutes else p.base
        for t in range(len(clock))
    ] * 2
    out = []
    for x, y in zip(values[::2], values[1::2], strict=True):
        worked = pay[x:y] if y > x else pay[x : y + len(clock)]
        out.append(sum(worked) + (p.rate * p.base if len(worked) > p.minutes * 3 else 0))
    return out


def _clock_draw(p: _Clock, r: Random) -> tuple[Any, ...]:
    count = {1: 1, 2: r.randint(3, 9), 3: 2 * r.randint(2, 5)}[p.level]
    times = [
        f"{r.randint(0, p.hours - 1)}{p.sep}{r.randint(0, p.minutes - 1)}" for _ in range(count)
    ]
    return (times[0], r.randint(-999, 999)) if p.level == 1 else (times,)


def _clocks(rng: Random, level: int) -> Problem:
    p = _draw_clock(rng, level)
    key: dict[str, Any] = {"level": p.level, "hours": p.hours, "minutes": p.minutes}
    key |= ({"k": p.rate}, {"least": p.base}, {"span": [p.begin, p.end], "k": p.rate, "b": p.base})[
        p.level - 1
    ]
    text = source(
        _CLOCKS_GOLD[p.level],
        sep=p.sep,
        minutes=p.minutes,
        hours=p.hours,
        k=p.rate,
        b=p.base,
        least=10 * p.base,
        begin=p.begin,
        end=p.end,
    )
    inputs = (("s", "str"), ("k", "int")) if p.level == 1 else (("times", "strs"),)
    return Problem(
        _clock_statement(p),
        inputs,
        "str" if p.level == 1 else "ints",
        text,
        partial(_clock_brute, p),
        partial(_clock_draw, p),
        key,
    )


FAMILIES = (code_family("planet_clocks", "clocks with other hours and minutes", _clocks),)
