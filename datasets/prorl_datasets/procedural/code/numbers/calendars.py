"""Problems on clocks and calendars of invented planets."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import draw_span, leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _clock(rng: Random) -> Problem:
    hours, minutes = rng.choice((10, 12, 16, 20, 24, 30)), rng.choice((40, 50, 60, 64, 80, 90, 100))
    back, k = rng.random() < 0.5, rng.randint(1, 9)
    sign, word = ("-", "earlier") if back else ("+", "later")
    code = WORDINGS.source(
        "clock solution", minutes=minutes, sign=sign, k=k, hours_times_minutes=hours * minutes
    )

    def brute(h: int, m: int, t: int) -> list[int]:
        for _ in range(k * t):
            m += -1 if back else 1
            if m in (-1, minutes):
                m = minutes - 1 if back else 0
                h += -1 if back else 1
                h = hours - 1 if h < 0 else 0 if h == hours else h
        return [h, m]

    return Problem(
        WORDINGS.one(
            "clock",
            hours=hours,
            minutes=minutes,
            hours_minus_1=hours - 1,
            minutes_minus_1=minutes - 1,
            showed="showed" if back else "will show",
            k=k,
            word=word,
        ),
        "h: int, m: int, t: int -> ints",
        code,
        brute,
        lambda r: (r.randrange(hours), r.randrange(minutes), r.randint(1, 600)),
        {"v": 1, "hours": hours, "minutes": minutes, "back": back, "k": k},
        ((0, 0, 0),),
    )


def _calendar(rng: Random) -> Problem:
    months = [rng.randint(18, 36) for _ in range(rng.randint(4, 9))]
    week, first = rng.randint(5, 10), rng.randint(0, 4)
    year = sum(months)
    code = WORDINGS.source("calendar solution", months=months, year=year, first=first, week=week)

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

    def draw(r: Random) -> tuple[int, int, int, int]:
        k = r.randint(1, len(months))
        return r.randint(1, 3), k, r.randint(1, months[k - 1]), r.randint(1, 500)

    return Problem(
        WORDINGS.one(
            "calendar",
            months=len(months),
            months_2=", ".join(map(str, months)),
            week=week,
            week_minus_1=week - 1,
            first=first,
        ),
        "y: int, k: int, d: int, t: int -> ints",
        code,
        brute,
        draw,
        {"v": 2, "months": months, "week": week, "first": first},
        ((1, 1, 1, 0),),
    )


def _leap_days(rng: Random) -> Problem:
    a = rng.randint(2, 6)
    b, c = a * rng.randint(3, 8), rng.randint(0, 40)
    year, week, day = rng.randint(40, 400), rng.randint(5, 13), rng.randint(0, 4)
    code = WORDINGS.source(
        "leap days solution", a=a, b=b, b_times_3=b * 3, week=week, year=year, c=c, day=day
    )

    def brute(y: int, z: int) -> list[int]:
        weekday, counts = (c + day) % week, [0] * week
        for now in range(1, z + 1):
            counts[weekday] += now >= y
            leap = now % (b * 3) == 0 or (now % a == 0 and now % b != 0)
            weekday = (weekday + year + leap) % week
        return counts

    return Problem(
        WORDINGS.one(
            "leap days",
            year=year,
            a=a,
            b=b,
            b_times_3=b * 3,
            week_minus_1=week - 1,
            week_value=(c + day) % week,
            week=week,
        ),
        "y: int, z: int -> ints",
        code,
        brute,
        lambda r: draw_span(r, 0, 400, 120),
        {"v": 3, "a": a, "b": b, "c": (c + day) % week, "year": year, "week": week},
        ((1, 1),),
    )


FAMILIES = (
    leveled_family(
        "calendars", "dates and clocks of invented calendars", _clock, _calendar, _leap_days
    ),
)
