"""Rates: people and machines at work, tanks, batteries, clocks and timetables."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem, seldom
from prorl_datasets.procedural.math.stories.telling import count, people

_JOBS = ("paint a fence", "mow a meadow", "clean the windows of a school", "pack an order of parcels",
         "weed a garden", "sort a pile of mail", "type a manuscript", "clear a yard of snow")  # fmt: skip


def _together(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = redrawn(
        lambda: (rng.randint(2, 60), rng.randint(2, 60)),
        lambda t: t[0] != t[1] and t[0] * t[1] % (t[0] + t[1]) == 0,
    )
    job, u = rng.choice(_JOBS), rng.choice(("hours", "minutes")) if max(a, b) > 15 else "hours"
    say = rng.choice(
        (
            (
                f"{p.name} needs {a} {u} to {job}, {q.name} needs {b} {u}. How many {u} do they need "
                "together?"
            ),
            (
                f"Alone, {p.name} can {job} in {a} {u}. {q.name} would take {b} {u} for the same job. If "
                f"both start at the same time and share the work, after how many {u} are they done?"
            ),
            (
                f"It takes {a} {u} for {p.name} to {job} and {b} {u} for {q.name}. Working side by side "
                f"without getting in each other's way, how many {u} do the two take?"
            ),
        )
    )
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
    rest = int((1 - Fraction(alone, a)) / (Fraction(1, a) + Fraction(1, b)))
    ask = rng.choice(("rest", "all"))
    word = "hour" if alone == 1 else "hours"
    want = (
        "For how many more hours do they work until the job is done?"
        if ask == "rest"
        else f"How many hours after {p.name}'s start is the job done?"
    )
    say = rng.choice(
        (
            (
                f"One person, {p.name}, takes {a} hours to {job}; another, {q.name}, takes {b} hours. {p.name} starts, and "
                f"{alone} {word} later {q.name} begins to help until everything is done. {want}"
            ),
            (
                f"{p.name} could {job} in {a} hours by {p.him}self, and {q.name} in {b} hours. {p.name} "
                f"begins alone. After {alone} {word} {q.name} comes to help. {want}"
            ),
            (
                f"{p.name}, who would need {a} hours to {job}, works at it alone for {alone} {word}. Then "
                f"{q.name} joins in; {q.he} would need {b} hours for the whole job. {want}"
            ),
        )
    )
    return posed(
        "joins", say, rest if ask == "rest" else rest + alone, times=[a, b], alone=alone, asked=ask
    )


def _crew(rng: Random) -> Problem:
    n, days, less = redrawn(
        lambda: (rng.randint(4, 24), rng.randint(4, 30), rng.randint(1, 10)),
        lambda t: t[2] < t[0] - 1,
    )
    done = rng.randint(1, days - 2)
    rest = Fraction(n * (days - done), n - less)
    if rest.denominator > 1:
        return _crew(rng)
    who = rng.choice(("workers", "masons", "gardeners", "volunteers", "machines"))
    what = rng.choice(("lay a road", "restore a wall", "harvest a vineyard", "empty a warehouse"))
    verb = "break down" if who == "machines" else "fall ill"
    say = rng.choice(
        (
            (
                f"It was planned that {n} {who} should {what} in {days} days. They began, but {less} of them left for good "
                f"after {done} {'day' if done == 1 else 'days'}. Supposing that each does the same amount of work a day, how "
                "many days did it take in the end, counted from the first?"
            ),
            (
                f"{n} {who} would {what} in {days} days. After {done} {'day' if done == 1 else 'days'} "
                f"{less} of them {verb} and do not come back. How many days does the whole job take, all "
                f"{who} being equally fast?"
            ),
            (
                f"To {what} takes {n} {who} {days} days. All of them work for {done} "
                f"{'day' if done == 1 else 'days'}; from then on there are only {n - less}. In how many days "
                "from the beginning is everything finished, if each does the same amount in a day?"
            ),
        )
    )
    given = n - less if "only" in say else less
    return posed(
        "crew", say, done + int(rest), n=n, days=days, done=done, less=given, left="only" in say
    )


def _one_alone(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, gap = redrawn(
        lambda: (rng.randint(2, 40), rng.randint(1, 40)),
        lambda t: t[0] * (t[0] + t[1]) % (2 * t[0] + t[1]) == 0,
    )
    both = a * (a + gap) // (2 * a + gap)
    job = rng.choice(_JOBS)
    say = rng.choice(
        (
            (
                f"To {job}, {p.name} and {q.name} need {both} hours if they work at it together. Each has also done it alone, "
                f"and {q.name} then spent {gap} {'hour' if gap == 1 else 'hours'} more than {p.name}. How many hours did it "
                f"take {p.name} alone?"
            ),
            (
                f"Together {p.name} and {q.name} can {job} in {both} hours. Working alone, {q.name} would need "
                f"{gap} {'hour' if gap == 1 else 'hours'} longer than {p.name}. How many hours would {p.name} "
                "need alone?"
            ),
            (
                f"{p.name} is faster than {q.name}: to {job}, {q.name} takes {gap} "
                f"{'hour' if gap == 1 else 'hours'} more. When they work at it together, it takes {both} "
                f"hours. In how many hours does {p.name} do it without help?"
            ),
        )
    )
    return posed("alone", say, a, both=both, gap=gap)


_TANKS = ("rainwater tank", "fish pond", "cistern", "water trough", "paddling pool")


def _filling(rng: Random) -> Problem:
    tank = rng.choice(_TANKS)
    fill, leak = redrawn(
        lambda: (rng.randint(8, 60), rng.randint(2, 20)), lambda t: t[1] < t[0] - 2
    )
    minutes, start = rng.randint(6, 60), rng.randint(10, 400)
    say = rng.choice(
        (
            (
                f"After a storm a {tank} contains {start} liters. A hose adds {fill} liters every minute, and through a "
                f"crack {leak} liters every minute are lost. How much water, in liters, is in it {minutes} minutes "
                "later, supposing there is room for it?"
            ),
            (
                f"A {tank} holds {start} liters of water. A pipe brings in {fill} liters a minute while "
                f"{leak} liters a minute run out. How many liters are in it after {minutes} minutes, if it "
                "does not overflow?"
            ),
            (
                f"Every minute {fill} liters flow into a large {tank} and {leak} liters leave it through a "
                f"drain. There were {start} liters in it at first. What is its content in liters "
                f"{minutes} minutes later, before it is full?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"By its first pipe alone a {tank} is filled in {a} hours, by its second alone in {b} hours. Its plug leaks so "
                f"much that, full and with both pipes shut, it would be empty after {c} hours. How long, in hours, do "
                "the two pipes need to fill it together?"
            ),
            (
                f"One pipe fills an empty {tank} in {a} hours, another in {b} hours. A drain empties the full "
                f"{tank} in {c} hours. If both pipes and the drain are open, how many hours does it take to "
                "fill it?"
            ),
            (
                f"An empty {tank} has two taps, which fill it in {a} hours and in {b} hours when used alone. "
                f"By mistake the outlet, through which the full tank runs dry in {c} hours, is left open. "
                "After how many hours is it full with both taps running?"
            ),
        )
    )
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
    say = rng.choice(
        (
            (
                f"For {minutes} minutes a pump sent {rate} liters a minute into a {tank} from which a garden hose took "
                f"{used} {'liter' if used == 1 else 'liters'} a minute. The gauge went from ${first}$ to ${last}$. How "
                "many liters make it full?"
            ),
            (
                f"A {tank} was ${first}$ full. For {minutes} minutes {rate} liters a minute ran in and "
                f"{used} {'liter' if used == 1 else 'liters'} a minute ran out, and then it was ${last}$ full. "
                "How many liters does it hold when full?"
            ),
            (
                f"Within {minutes} minutes the content of a {tank} rose from ${first}$ to ${last}$ of its "
                f"capacity. The inflow was {rate} liters per minute; at the same time {used} "
                f"{'liter' if used == 1 else 'liters'} per minute were drawn off. What is the capacity in "
                "liters?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"The battery of {p.name}'s {gadget} loses {x} percentage points an hour while {busy} and "
                f"{y} while {calm}. It stands at {start}%. What percentage is left after {count(s, 'hour')} of "
                f"{busy} and {count(t, 'hour')} of {calm}?"
            ),
            (
                f"{p.name} unplugs a {gadget} at a charge of {start}%. It spends {count(s, 'hour')} {busy}, "
                f"which takes {x} percentage points per hour, and {count(t, 'hour')} {calm}, which takes {y} "
                "per hour. At what percentage is it then?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"A charger raises the charge of a {gadget} by {gain} percentage points a minute. Starting from {start}%, it "
                f"is charged up to {target}%. {p.name} then spends {count(hours, 'hour')} {busy}, each of which takes {use} "
                f"percentage points, and after that charges it to {target}% again. For how many minutes is the charger in "
                "use altogether?"
            ),
            (
                f"On the charger a {gadget} gains {gain} percentage points every minute. {p.name} charges it "
                f"from {start}% to {target}%, uses it for {count(hours, 'hour')} of {busy} at {use} percentage "
                f"points an hour, and charges it back to {target}%. How many minutes was it on the charger in "
                "all?"
            ),
            (
                f"{p.name}'s {gadget} has {start}% left. It is charged at {gain} percentage points a minute to "
                f"{target}%; then {count(hours, 'hour')} of {busy} cost {use} percentage points each, and it "
                f"is charged to {target}% once more. Find the total charging time in minutes."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name}'s {gadget} loses {x} percentage points in an hour of {busy}, but only {y} in an "
                f"hour of {calm}. At {start}% it was unplugged, and {s + t} hours later, all of them spent on "
                f"one or the other, it was {end}. For how many hours was it {busy}?"
            ),
            (
                f"A {gadget} with a charge of {start}% was used for {s + t} hours and was then {end}. {busy.capitalize()} "
                f"costs {x} percentage points an hour and {calm} costs {y}. How many of the hours went into "
                f"{busy}?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"School begins at {_clock(start)} a.m. There are {n} lessons of {long} minutes. One of the "
                f"breaks between them is {big} minutes long, the others {gap} minutes. How many minutes is it "
                "from the beginning of the first lesson to the end of the last?"
            ),
            (
                f"{p.name} has {n} lessons of {long} minutes each in a row, with breaks of {gap} minutes "
                f"between them, except that one break lasts {big} minutes. The first lesson starts at "
                f"{_clock(start)}. How many minutes after that is {p.he} free?"
            ),
        )
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
        say = rng.choice(
            (
                (
                    f"At {start}:00 a.m. {many} buses of different lines leave a station at the same time. "
                    f"From then on the lines run {lines}. After how many minutes do buses of all {many} lines "
                    "next leave together?"
                ),
                (
                    f"{many.capitalize()} bells strike together at midnight. They strike {lines}. How many "
                    "minutes pass until they next strike together?"
                ),
            )
        )
        return posed("buses", say, together, times=times, hours=0)
    say = (
        f"{many.capitalize()} bus lines start at the same station at {start}:00 a.m. and run {lines}. How "
        f"many times do buses of all {many} lines leave together in the {hours} hours from then on, the "
        "start and the very end of this time counted in?"
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
        say = rng.choice(
            (
                (
                    f"At noon {p.name} sets a clock that {word} {slip} minutes each hour. How many "
                    f"minutes does its dial advance in the next {hours} hours of real time?"
                ),
                (
                    f"An old clock {word} {slip} minutes in every hour. It is set to the right time. How many "
                    f"minutes does it count while {hours} hours really pass?"
                ),
            )
        )
        rate = 60 + slip if fast else 60 - slip
        return posed("clock", say, hours * rate, slip=slip, fast=fast, hours=hours, how=how)
    rate = 60 + slip if fast else 60 - slip
    say = rng.choice(
        (
            (
                f"A clock {word} {slip} minutes every hour. {p.name} set it correctly in the morning. Now its "
                f"dial has advanced by {hours * rate} minutes. How many hours have really passed?"
            ),
            (
                f"Since {p.name} set it right, a clock that {word} {slip} minutes each hour has moved on by "
                f"{hours * rate} minutes. What is the true time since then, in hours?"
            ),
        )
    )
    return posed("clock", say, hours, slip=slip, fast=fast, hours=hours * rate, how=how)


def _two_clocks(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = rng.randint(1, 10), rng.randint(1, 10)
    same = rng.choice((True, False))
    apart = rng.randint(10, 180)
    speed = abs(a - b) if same else a + b
    if speed == 0 or apart % speed:
        return _two_clocks(rng)
    say = rng.choice(
        (
            (
                f"At noon two watches show the right time. In each hour, {p.name}'s gets ahead by {a} {_minute(a)} and "
                f"{q.name}'s {'gets ahead' if same else 'falls behind'} by {b} {_minute(b)}. After how many hours is there a "
                f"difference of {apart} minutes between them?"
            ),
            (
                f"{p.name}'s watch gains {a} {_minute(a)} an hour and {q.name}'s watch "
                f"{'gains' if same else 'loses'} {b} {_minute(b)} an hour. Both are set to the right time at "
                f"noon. After how many hours do they differ by {apart} minutes?"
            ),
            (
                f"Two watches are set together. Per hour, one runs {a} {_minute(a)} fast, the other {b} "
                f"{_minute(b)} {'fast' if same else 'slow'}. How many hours later do they show times that are "
                f"{apart} minutes apart?"
            ),
        )
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
