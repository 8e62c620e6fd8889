"""Word problems on work rates, tanks, batteries, clocks and timetables."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem, seldom
from prorl_datasets.procedural.math.stories.telling import count, people
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_JOBS = ("paint a fence", "mow a meadow", "clean the windows of a school", "pack an order of parcels",
         "weed a garden", "sort a pile of mail", "type a manuscript", "clear a yard of snow")  # fmt: skip


def _together(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = redrawn(
        lambda: (rng.randint(2, 60), rng.randint(2, 60)),
        lambda t: t[0] != t[1] and t[0] * t[1] % (t[0] + t[1]) == 0,
    )
    job, u = rng.choice(_JOBS), rng.choice(("hours", "minutes")) if max(a, b) > 15 else "hours"
    say = WORDINGS.draw(rng, "together", p=p, a=a, u=u, job=job, q=q, b=b)
    return posed("together", say, a * b // (a + b), times=[a, b])


def _joins_later(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b, alone = redrawn(
        lambda: (rng.randint(3, 24), rng.randint(3, 24), rng.randint(1, 6)),
        lambda t: (
            t[0] != t[1]
            and t[2] < t[0]
            and ((1 - Fraction(t[2], t[0])) / (Fraction(1, t[0]) + Fraction(1, t[1]))).denominator
            == 1
        ),
    )
    job = rng.choice(_JOBS)
    remaining = int((1 - Fraction(alone, a)) / (Fraction(1, a) + Fraction(1, b)))
    ask = rng.choice(("rest", "all"))
    word = "hour" if alone == 1 else "hours"
    want = (
        "For how many more hours do they work until the job is done?"
        if ask == "rest"
        else f"How many hours after {p.name}'s start is the job done?"
    )
    say = WORDINGS.draw(
        rng, "joins later", p=p, a=a, job=job, q=q, b=b, alone=alone, word=word, want=want
    )
    return posed(
        "joins",
        say,
        remaining if ask == "rest" else remaining + alone,
        times=[a, b],
        alone=alone,
        asked=ask,
    )


def _crew(rng: Random) -> Problem:
    n, days, less = redrawn(
        lambda: (rng.randint(4, 24), rng.randint(4, 30), rng.randint(1, 10)),
        lambda t: t[2] < t[0] - 1,
    )
    done = rng.randint(1, days - 2)
    remaining = Fraction(n * (days - done), n - less)
    if remaining.denominator > 1:
        return _crew(rng)
    who = rng.choice(("workers", "masons", "gardeners", "volunteers", "machines"))
    what = rng.choice(("lay a road", "restore a wall", "harvest a vineyard", "empty a warehouse"))
    verb = "break down" if who == "machines" else "fall ill"
    say = WORDINGS.draw(
        rng,
        "crew",
        n=n,
        who=who,
        what=what,
        days=days,
        less=less,
        done=done,
        day_or_days="day" if done == 1 else "days",
        verb=verb,
        n_minus_less=n - less,
    )
    given = n - less if "only" in say else less
    return posed(
        "crew",
        say,
        done + int(remaining),
        n=n,
        days=days,
        done=done,
        less=given,
        left="only" in say,
    )


def _one_alone(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, gap = redrawn(
        lambda: (rng.randint(2, 40), rng.randint(1, 40)),
        lambda t: t[0] * (t[0] + t[1]) % (2 * t[0] + t[1]) == 0,
    )
    both = a * (a + gap) // (2 * a + gap)
    job = rng.choice(_JOBS)
    say = WORDINGS.draw(
        rng,
        "one alone",
        job=job,
        p=p,
        q=q,
        both=both,
        gap=gap,
        hour_or_hours="hour" if gap == 1 else "hours",
    )
    return posed("alone", say, a, both=both, gap=gap)


_TANKS = ("rainwater tank", "fish pond", "cistern", "water trough", "paddling pool")


def _filling(rng: Random) -> Problem:
    tank = rng.choice(_TANKS)
    fill, leak = redrawn(
        lambda: (rng.randint(8, 60), rng.randint(2, 20)), lambda t: t[1] < t[0] - 2
    )
    minutes, start = rng.randint(6, 60), rng.randint(10, 400)
    say = WORDINGS.draw(
        rng, "filling", tank=tank, start=start, fill=fill, leak=leak, minutes=minutes
    )
    return posed(
        "filling",
        say,
        start + (fill - leak) * minutes,
        fill=fill,
        leak=leak,
        start=start,
        minutes=minutes,
    )


def _two_pipes(rng: Random) -> Problem:
    tank = rng.choice(_TANKS)
    a, b, c = redrawn(
        lambda: (rng.randint(2, 20), rng.randint(2, 20), rng.randint(4, 40)),
        lambda t: (
            t[0] != t[1]
            and (rate := Fraction(1, t[0]) + Fraction(1, t[1]) - Fraction(1, t[2])) > 0
            and rate.numerator == 1
            and rate.denominator <= 48
        ),
    )
    total = lcm(a, b, c)
    answer = Fraction(total, total // a + total // b - total // c)
    say = WORDINGS.draw(rng, "two pipes", tank=tank, a=a, b=b, c=c)
    return posed("pipes", say, answer, fills=[a, b], drain=c)


def _tank_back(rng: Random) -> Problem:
    tank = rng.choice(_TANKS)
    n, d = rng.choice(((1, 4), (1, 3), (2, 5), (1, 2), (3, 8), (1, 6), (2, 3)))
    e, f = rng.choice(((3, 4), (2, 3), (4, 5), (5, 6), (7, 8)))
    gap = Fraction(e, f) - Fraction(n, d)
    if gap <= 0:
        return _tank_back(rng)
    rate, used = rng.randint(2, 9), rng.randint(1, 4)
    minutes = rng.randint(4, 40)
    added = (rate - used) * minutes
    if rate <= used:
        return _tank_back(rng)
    size = added / gap
    if size.denominator > 1 or not 10 <= size <= 900:
        return _tank_back(rng)
    first, last = f"\\frac{{{n}}}{{{d}}}", f"\\frac{{{e}}}{{{f}}}"
    say = WORDINGS.draw(
        rng,
        "tank back",
        minutes=minutes,
        rate=rate,
        tank=tank,
        used=used,
        liter_or_liters="liter" if used == 1 else "liters",
        first=first,
        last=last,
    )
    return posed(
        "capacity", say, size, first=[n, d], last=[e, f], minutes=minutes, rate=rate, used=used
    )


_GADGETS = (("phone", "watching films", "being idle"), ("laptop", "editing videos", "reading"),
            ("camera", "filming", "standing by"), ("tablet", "playing games", "showing books"),
            ("drone", "flying", "waiting on the ground"))  # fmt: skip


def _drain(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    gadget, busy, calm = rng.choice(_GADGETS)
    x, y = redrawn(lambda: (rng.randint(6, 20), rng.randint(1, 5)), lambda t: t[0] > t[1])
    s, t = rng.randint(1, 5), rng.randint(1, 6)
    start = rng.randint(60, 100)
    left = start - x * s - y * t
    if left < 3:
        return _drain(rng)
    say = WORDINGS.draw(
        rng,
        "drain",
        p=p,
        gadget=gadget,
        x=x,
        busy=busy,
        y=y,
        calm=calm,
        start=start,
        s=count(s, "hour"),
        t=count(t, "hour"),
    )
    return posed("drain", say, left, start=start, rates=[x, y], hours=[s, t])


def _full_again(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    gadget, busy, _calm = rng.choice(_GADGETS)
    gain, use = rng.randint(2, 5), rng.randint(5, 20)
    start, target = rng.randint(2, 30), rng.choice((80, 90, 100))
    hours = rng.randint(1, 4)
    need = target - start + use * hours
    if need % gain or target - use * hours < 0:
        return _full_again(rng)
    minutes = (target - start) // gain if (target - start) % gain == 0 else 0
    if not minutes or (use * hours) % gain:
        return _full_again(rng)
    say = WORDINGS.draw(
        rng,
        "full again",
        gadget=gadget,
        gain=gain,
        start=start,
        target=target,
        p=p,
        hours_hour=count(hours, "hour"),
        busy=busy,
        use=use,
    )
    return posed(
        "again", say, need // gain, gain=gain, use=use, start=start, target=target, hours=hours
    )


def _mixed_use(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    gadget, busy, calm = rng.choice(_GADGETS)
    x, y = redrawn(lambda: (rng.randint(3, 20), rng.randint(1, 6)), lambda t: t[0] > t[1])
    s, t = rng.randint(1, 8), rng.randint(1, 12)
    start = x * s + y * t + rng.choice((0, 5, 10, 20))
    if start > 100 or s == t:
        return _mixed_use(rng)
    left = start - x * s - y * t
    end = "empty" if left == 0 else f"at {left}%"
    say = WORDINGS.draw(
        rng,
        "mixed use",
        p=p,
        gadget=gadget,
        x=x,
        busy=busy,
        y=y,
        calm=calm,
        start=start,
        s_plus_t=s + t,
        end=end,
        busy_2=busy.capitalize(),
    )
    return posed("mixed", say, s, start=start, left=left, rates=[x, y], hours=s + t)


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02d}"


def _lessons(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    n, long, gap, big = (
        rng.randint(3, 6),
        rng.choice((40, 45, 50)),
        rng.choice((5, 10)),
        rng.choice((20, 25, 30)),
    )
    start = rng.choice((470, 480, 485, 495, 510))
    end = start + n * long + (n - 2) * gap + big
    say = WORDINGS.draw(
        rng, "lessons", clock_start=_clock(start), n=n, long=long, big=big, gap=gap, p=p
    )
    return posed("lessons", say, end - start, n=n, long=long, gap=gap, big=big)


def _buses(rng: Random) -> Problem:
    a, b = redrawn(
        lambda: (rng.randint(6, 40), rng.randint(6, 40)),
        lambda t: t[0] != t[1] and 30 <= lcm(*t) <= 240 and lcm(*t) not in t,
    )
    c = rng.choice((0, *(n for n in range(5, 40) if lcm(a, b, n) <= 360 and n not in (a, b))))
    times = [a, b] + ([c] if c else [])
    together = lcm(*times)
    hours = rng.randint(4, 9)
    how = rng.choice(("next", "often"))
    lines = f"every {a} minutes, every {b} minutes" + (f" and every {c} minutes" if c else "")
    if not c:
        lines = f"every {a} minutes and every {b} minutes"
    many = {2: "two", 3: "three"}[len(times)]
    start = rng.randint(5, 8)
    if how == "next":
        say = WORDINGS.draw(
            rng,
            "buses, next",
            start=start,
            many=many,
            lines=lines,
            capitalize_many=many.capitalize(),
        )
        return posed("buses", say, together, times=times, hours=0)
    say = WORDINGS.one(
        "buses", many=many.capitalize(), start=start, lines=lines, many_2=many, hours=hours
    )
    return posed("buses", say, hours * 60 // together + 1, times=times, hours=hours)


def _wrong_clock(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    slip = rng.randint(2, 12)
    fast = rng.choice((True, False))
    hours = rng.randint(5, 40)
    how = rng.choice(("show", "real"))
    word = "gains" if fast else "loses"
    if how == "show":
        say = WORDINGS.draw(rng, "wrong clock, show", p=p, word=word, slip=slip, hours=hours)
        rate = 60 + slip if fast else 60 - slip
        return posed("clock", say, hours * rate, slip=slip, fast=fast, hours=hours, how=how)
    rate = 60 + slip if fast else 60 - slip
    say = WORDINGS.draw(rng, "wrong clock", word=word, slip=slip, p=p, hours=hours * rate)
    return posed("clock", say, hours, slip=slip, fast=fast, hours=hours * rate, how=how)


def _two_clocks(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = rng.randint(1, 10), rng.randint(1, 10)
    same = rng.choice((True, False))
    apart = rng.randint(10, 180)
    speed = abs(a - b) if same else a + b
    if speed == 0 or apart % speed:
        return _two_clocks(rng)
    say = WORDINGS.draw(
        rng,
        "two clocks",
        p=p,
        a=a,
        minute_a=_minute(a),
        q=q,
        gets_ahead_or_falls_behind="gets ahead" if same else "falls behind",
        b=b,
        minute_b=_minute(b),
        apart=apart,
        gains_or_loses="gains" if same else "loses",
        fast_or_slow="fast" if same else "slow",
    )
    return posed("two_clocks", say, apart // speed, slips=[a, b], same=same, apart=apart)


def _minute(n: int) -> str:
    return "minute" if n == 1 else "minutes"


FAMILIES = (
    of_kinds(
        "stories_work_rates", (_together,), (_joins_later,), (_crew, _one_alone), "work together"
    ),
    of_kinds("stories_tanks", (_filling,), (_two_pipes,), (_tank_back,), "pipes, drains, tanks"),
    seldom(
        of_kinds(
            "stories_batteries", (_drain,), (_full_again,), (_mixed_use,), "charging and draining"
        ),
        "1",
        "2",
        "3",
        "4",
    ),
    of_kinds(
        "stories_timetables",
        (_lessons,),
        (_buses, _wrong_clock),
        (_two_clocks, _buses),
        "lessons, buses and clocks",
    ),
)
