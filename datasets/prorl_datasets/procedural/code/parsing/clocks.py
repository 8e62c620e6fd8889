"""Problems on times of day on other planets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Clock:
    level: int
    hours: int
    minutes: int
    base: int
    begin: int
    end: int
    rate: int
    sep: str


def _clock_statement(p: _Clock) -> str:
    head = WORDINGS.one(
        "clock statement head", p=p, hours_minus_1=p.hours - 1, minutes_minus_1=p.minutes - 1
    )
    task = WORDINGS.one(
        f"clock {p.level}",
        p=p,
        base_times_10=p.base * 10,
        minutes_times_3=p.minutes * 3,
        rate_times_base=p.rate * p.base,
    )
    return head + task


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
    hours, minutes = rng.randint(5, 40), rng.randint(20, 99)
    a, b = rng.randint(0, hours - 3), rng.randint(2, 9)
    begin, end = a, rng.randint(a + 2, hours)
    k, sep = rng.randint(2, 9), rng.choice(":.h")
    p = _Clock(level, hours, minutes, b, begin, end, k, sep)
    key: dict[str, Any] = {"level": p.level, "hours": p.hours, "minutes": p.minutes}
    key |= ({"k": p.rate}, {"least": p.base}, {"span": [p.begin, p.end], "k": p.rate, "b": p.base})[
        p.level - 1
    ]
    text = WORDINGS.source(f"clocks solution {p.level}", p, least=10 * p.base)
    return Problem(
        _clock_statement(p),
        "s: str, k: int -> str" if p.level == 1 else "times: strs -> ints",
        text,
        partial(_clock_brute, p),
        partial(_clock_draw, p),
        key,
    )


FAMILIES = (code_family("planet_clocks", "clocks with other hours and minutes", _clocks),)
