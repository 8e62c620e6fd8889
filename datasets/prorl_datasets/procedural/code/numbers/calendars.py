"""Clocks and calendars of invented planets.

Leaves out: real calendars.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.code.numbers.common import draw_span, leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family


def _clock(rng: Random) -> Problem:
    hours, minutes = rng.choice((10, 12, 16, 20, 24, 30)), rng.choice((40, 50, 60, 64, 80, 90, 100))
    back, k = rng.random() < 0.5, rng.randint(1, 9)
    sign, word = ("-", "earlier") if back else ("+", "later")
    code = f"""
        def solve(h, m, t):
            total = (h * {minutes} + m {sign} {k} * t) % {hours * minutes}
            return [total // {minutes}, total % {minutes}]
    """

    def brute(h: int, m: int, t: int) -> list[int]:
        for _ in range(k * t):
            m += -1 if back else 1
            if m in (-1, minutes):
                m = minutes - 1 if back else 0
                h += -1 if back else 1
                h = hours - 1 if h < 0 else 0 if h == hours else h
        return [h, m]

    return Problem(
        f"On a planet a day has {hours} hours of {minutes} minutes; a clock shows the hour (0 to "
        f"{hours - 1}) "
        f"and the minute (0 to {minutes - 1}). It shows `h` hours and `m` minutes now. Given also "
        "an "
        f"integer `t` (0 <= t <= 10^6), find the hour and the minute that it "
        f"{'showed' if back else 'will show'} {k} * t minutes {word}.",
        (("h", "int"), ("m", "int"), ("t", "int")),
        "ints",
        source(code),
        brute,
        lambda r: (r.randrange(hours), r.randrange(minutes), r.randint(1, 600)),
        {"v": 1, "hours": hours, "minutes": minutes, "back": back, "k": k},
        ((0, 0, 0),),
    )


def _calendar_gold(months: list[int], year: int, first: int, week: int) -> str:
    return f"""
        def solve(y, k, d, t):
            months = {months}
            day = (y - 1) * {year} + sum(months[: k - 1]) + d - 1 + t
            weekday = (day + {first}) % {week}
            y, day = day // {year} + 1, day % {year}
            k = 0
            while day >= months[k]:
                day -= months[k]
                k += 1
            return [y, k + 1, day + 1, weekday]
    """


def _calendar_brute(
    first: int, months: list[int], week: int
) -> Callable[[int, int, int, int], list[int]]:
    def brute(y: int, k: int, d: int, t: int) -> list[int]:
        now, weekday = [1, 1, 1], first
        target = -1
        while True:
            if now == [y, k, d]:
                target = t
            if target == 0:
                return [*now, weekday]
            target -= 1
            weekday = (weekday + 1) % week
            now[2] += 1
            if now[2] > months[now[1] - 1]:
                now[1:] = [now[1] + 1, 1]
            if now[1] > len(months):
                now = [now[0] + 1, 1, 1]

    return brute


def _calendar(rng: Random) -> Problem:
    months = [rng.randint(18, 36) for _ in range(rng.randint(4, 9))]
    week, first = rng.randint(5, 10), rng.randint(0, 4)
    year = sum(months)
    code = _calendar_gold(months, year, first, week)

    brute = _calendar_brute(first, months, week)

    def draw(r: Random) -> tuple[int, int, int, int]:
        k = r.randint(1, len(months))
        return r.randint(1, 3), k, r.randint(1, months[k - 1]), r.randint(1, 500)

    return Problem(
        f"A calendar has {len(months)} months of {', '.join(map(str, months))} days, in this "
        "order, every year, "
        f"and a week of {week} weekdays, numbered 0 to {week - 1}. Day 1 of month 1 of year 1 has "
        "the "
        f"weekday {first}. Given a date as the integers `y` (year, 1 <= y <= 1000), `k` (month, "
        "from 1) and "
        "`d` (day, from 1), and an integer `t` (0 <= t <= 10^6), find the year, the month, the day "
        "and "
        "the weekday of the date t days later.",
        (("y", "int"), ("k", "int"), ("d", "int"), ("t", "int")),
        "ints",
        source(code),
        brute,
        draw,
        {"v": 2, "months": months, "week": week, "first": first},
        ((1, 1, 1, 0),),
    )


def _leap_days_gold(a: int, b: int, week: int, year: int, c: int, day: int) -> str:
    return f"""
        def solve(y, z):
            def leaps(year):
                return year // {a} - year // {b} + year // {b * 3}

            counts = [0] * {week}
            for year in range(y, z + 1):
                days = {year} * (year - 1) + leaps(year - 1) + {c}
                counts[(days + {day}) % {week}] += 1
            return counts
    """


def _leap_days(rng: Random) -> Problem:
    a = rng.randint(2, 6)
    b, c = a * rng.randint(3, 8), rng.randint(0, 40)
    year, week, day = rng.randint(40, 400), rng.randint(5, 13), rng.randint(0, 4)
    code = _leap_days_gold(a, b, week, year, c, day)

    def brute(y: int, z: int) -> list[int]:
        weekday, counts = (c + day) % week, [0] * week
        for now in range(1, z + 1):
            counts[weekday] += now >= y
            leap = now % (b * 3) == 0 or (now % a == 0 and now % b != 0)
            weekday = (weekday + year + leap) % week
        return counts

    return Problem(
        f"In a calendar a year has {year} days, and a leap year has one day more. A year is a leap "
        "year if its "
        f"number is divisible by {a} but not by {b}; years divisible by {b * 3} are leap years all "
        "the same. "
        f"The weekdays are numbered 0 to {week - 1} and follow each other in this order, 0 again "
        "after "
        f"{week - 1}. Year 1 begins on weekday {(c + day) % week}. Given integers `y` and `z` (1 "
        "<= y <= z "
        f"<= 10^5), find {week} integers: for each weekday 0, ..., {week - 1}, how many of the "
        "years y, ..., "
        "z begin on it.",
        (("y", "int"), ("z", "int")),
        "ints",
        source(code),
        brute,
        lambda r: draw_span(r, 0, 400, 120),
        {"v": 3, "a": a, "b": b, "c": (c + day) % week, "year": year, "week": week},
        ((1, 1),),
    )


FAMILIES = (
    code_family(
        "calendars",
        "dates and clocks of invented calendars",
        leveled(_clock, _calendar, _leap_days),
    ),
)
