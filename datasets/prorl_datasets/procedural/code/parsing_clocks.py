"""Code problems on times of day on planets with other clocks.

Leaves out: expressions and numerals (``parsing_values``).
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import source
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


def _clocks(rng: Random, level: int) -> Problem:
    hours, minutes = rng.randint(5, 40), rng.randint(20, 99)
    a, b = rng.randint(0, hours - 3), rng.randint(2, 9)
    begin, end = a, rng.randint(a + 2, hours)
    k, sep = rng.randint(2, 9), rng.choice(":.h")
    head = (
        f"On a planet a day has {hours} hours of {minutes} minutes. A time is written H{sep}M "
        f"with hours from 0 to {hours - 1} and minutes from 0 to {minutes - 1}, without "
        "leading zeros. "
    )
    what = {
        1: "`s` is a time and `k` a whole number from -9999 to 9999. Give the time (in the "
        f"same form) that is k times {k} minutes after s (before s if k is negative); "
        "days are not told apart.",
        2: "`times` is a list of 1 to 9 times, in the order in which they came; each came "
        "less than a day after the one before it (if it is not later on the clock it is "
        "of the next day; an equal one a whole day later). Give the list of the gaps, in "
        f"minutes, between successive times, without the gaps that are less than {b * 10} "
        "minutes.",
        3: "`times` is a list of an even number of at most 12 times: the first and the "
        "second are the start and the end of a shift, the third and the fourth those of "
        "the next shift, and so on. An end that is not later on the clock than its start "
        f"is on the next day. The minutes of a shift from {begin}{sep}0 to {end}{sep}0 "
        f"(on whatever day) are paid {k} coins each, all others {b}. "
        f"A shift of more than {minutes * 3} minutes earns {k * b} coins more. Give the "
        "list of the earnings of the shifts.",
    }[level]
    gold = _CLOCKS_GOLD[level]

    def brute(*args: Any) -> Any:
        clock = [f"{h}{sep}{m}" for h in range(hours) for m in range(minutes)]
        if level == 1:
            return clock[(clock.index(args[0]) + k * args[1]) % len(clock)]
        values = [clock.index(t) for t in args[0]]
        if level == 2:
            gaps = [y - x if y > x else y + len(clock) - x for x, y in pairwise(values)]
            return [gap for gap in gaps if not gap < 10 * b]
        pay = [k if begin * minutes <= t < end * minutes else b for t in range(len(clock))] * 2
        out = []
        for x, y in zip(values[::2], values[1::2], strict=True):
            worked = pay[x:y] if y > x else pay[x : y + len(clock)]
            out.append(sum(worked) + (k * b if len(worked) > minutes * 3 else 0))
        return out

    def draw(r: Random) -> tuple[Any, ...]:
        count = {1: 1, 2: r.randint(3, 9), 3: 2 * r.randint(2, 5)}[level]
        times = [f"{r.randint(0, hours - 1)}{sep}{r.randint(0, minutes - 1)}" for _ in range(count)]
        return (times[0], r.randint(-999, 999)) if level == 1 else (times,)

    key: dict[str, Any] = {"level": level, "hours": hours, "minutes": minutes}
    key |= ({"k": k}, {"least": b}, {"span": [begin, end], "k": k, "b": b})[level - 1]
    text = source(
        gold, sep=sep, minutes=minutes, hours=hours, k=k, b=b, least=10 * b, begin=begin, end=end
    )
    inputs = (("s", "str"), ("k", "int")) if level == 1 else (("times", "strs"),)
    return Problem(head + what, inputs, "str" if level == 1 else "ints", text, brute, draw, key)


FAMILIES = (code_family("planet_clocks", _clocks),)
