"""Word problems on travel."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem, seldom
from prorl_datasets.procedural.math.stories.telling import people, told
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

_TOWNS = ("Aldbury", "Brenton", "Corwick", "Dunmore", "Elmsford", "Farley", "Glenby", "Harwood",
          "Kelso", "Lindale", "Marlow", "Norwick", "Oakham", "Penrith", "Redhill", "Stanton")  # fmt: skip


def _toward(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = rng.sample(_TOWNS, 2)
    u, v = redrawn(lambda: (rng.randint(8, 24), rng.randint(8, 24)), lambda t: t[0] != t[1])
    hours = rng.randint(2, 6)
    apart = (u + v) * hours
    ask = rng.choice(("time", "place"))
    want = (
        "After how many hours do they meet?"
        if ask == "time"
        else f"How many km from {a} do they meet?"
    )
    say = WORDINGS.draw(rng, "toward", p=p, a=a, q=q, b=b, apart=apart, u=u, v=v, want=want)
    return posed(
        "toward", say, hours if ask == "time" else u * hours, apart=apart, speeds=[u, v], asked=ask
    )


def _head_start(rng: Random) -> Problem:
    p, q = people(rng, 2)
    (a,) = rng.sample(_TOWNS, 1)
    slow, fast, early = redrawn(
        lambda: (rng.randint(3, 60), rng.randint(8, 100), rng.randint(1, 4)),
        lambda t: (
            t[0] < t[1] < 4 * t[0]
            and t[0] * t[2] % (t[1] - t[0]) == 0
            and t[0] * t[2] <= 8 * (t[1] - t[0])
        ),
    )
    hours = slow * early // (fast - slow)
    ask = rng.choice(("time", "far"))
    want = (
        f"How many hours after {q.name}'s start does {q.he} catch up with {p.name}?"
        if ask == "time"
        else f"How far from {a}, in km, does {q.name} catch up with {p.name}?"
    )
    word = "hour" if early == 1 else "hours"
    say = WORDINGS.draw(
        rng, "head start", a=a, p=p, slow=slow, early=early, word=word, q=q, fast=fast, want=want
    )
    return posed(
        "head_start",
        say,
        hours if ask == "time" else fast * hours,
        speeds=[slow, fast],
        early=early,
        asked=ask,
    )


def _late_meeting(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = rng.sample(_TOWNS, 2)
    u, v = redrawn(lambda: (rng.randint(40, 90), rng.randint(40, 90)), lambda t: t[0] != t[1])
    late, together = rng.choice((1, 2)), rng.randint(1, 4)
    apart = u * late + (u + v) * together
    ask = rng.choice(("speed", "bird"))
    word = "hour" if late == 1 else "hours"
    if ask == "speed":
        say = WORDINGS.draw(
            rng,
            "late meeting",
            p=p,
            a=a,
            b=b,
            apart=apart,
            u=u,
            late=late,
            word=word,
            q=q,
            together=together,
            hour="hour" if together == 1 else "hours",
            late_plus_together=late + together,
        )
        given = [u, late, late + together if "road from" in say else together]
        return posed("late", say, v, apart=apart, given=given, since="road from" in say)
    bird = rng.randint(5, 12) * 10 + 40
    say = WORDINGS.one(
        "late meeting 2", p=p, q=q, a=a, b=b, together_value=(u + v) * together, u=u, v=v, bird=bird
    )
    return posed("drone", say, bird * together, apart=(u + v) * together, speeds=[u, v], drone=bird)


def _two_legs(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    u, v = redrawn(lambda: (rng.randint(3, 16) * 5, rng.randint(3, 16) * 5), lambda t: t[0] != t[1])
    s, t = rng.randint(1, 5), rng.randint(1, 5)
    far = u * s + v * t
    say = WORDINGS.draw(
        rng,
        "two legs",
        p=p,
        u=u,
        s=s,
        hour_or_hours="hour" if s == 1 else "hours",
        v=v,
        t=t,
        hour_or_hours_text="hour" if t == 1 else "hours",
        u_times_s=u * s,
        v_times_t=v * t,
    )
    how = "distances" if "coach" in say else "times"
    return posed(
        "legs",
        say,
        Fraction(far, s + t),
        speeds=[u, v],
        parts=[u * s, v * t] if how == "distances" else [s, t],
        how=how,
    )


def _same_way(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b = rng.sample(_TOWNS, 2)
    out, home, k, rest = redrawn(
        lambda: (
            rng.randint(1, 6),
            rng.randint(1, 6),
            rng.randint(3, 40) * 2,
            rng.choice((0, 0, 1, 2)),
        ),
        lambda t: (
            t[0] != t[1]
            and min(t[:2]) * t[2] >= 20
            and max(t[:2]) * t[2] <= 110
            and 2 * t[0] * t[1] * t[2] % (t[0] + t[1] + t[3]) == 0
        ),
    )
    u, v, far = home * k, out * k, out * home * k
    average = 2 * far // (out + home + rest)
    pause = f" {p.He} stays there for {rest} {'hour' if rest == 1 else 'hours'}." if rest else ""
    all_in = ", the stop included" if rest else ""
    say = WORDINGS.draw(
        rng,
        "same way",
        a=a,
        b=b,
        far=far,
        u=u,
        pause_of_it=pause.replace(p.He, "It"),
        v=v,
        p=p,
        pause=pause,
        all_in=all_in,
    )
    return posed("same_way", say, average, speeds=[u, v], far=far, rest=rest)


def _needed(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b = rng.sample(_TOWNS, 2)
    out, home, k = redrawn(
        lambda: (rng.randint(1, 8), rng.randint(1, 8), rng.randint(2, 60)),
        lambda t: (
            t[0] != t[1]
            and min(t[:2]) * t[2] >= 25
            and max(t[:2]) * t[2] <= 120
            and 2 * t[0] * t[1] * t[2] % (t[0] + t[1]) == 0
        ),
    )
    u, back, far = home * k, out * k, out * home * k
    average = 2 * far // (out + home)
    say = WORDINGS.draw(rng, "needed", p=p, u=u, far=far, a=a, b=b, average=average)
    return posed("needed", say, back, far=far, there=u, average=average)


def _boat(rng: Random, speed: int) -> str:
    return rng.choice(
        ("rowing boat", "canoe", "kayak") if speed < 9 else ("motorboat", "ferry", "barge")
    )


def _current(rng: Random) -> Problem:
    own, stream = redrawn(
        lambda: (rng.randint(4, 24), rng.randint(1, 6)), lambda t: t[0] > t[1] + 2
    )
    hours = rng.randint(2, 5)
    up, boat = rng.choice((True, False)), _boat(rng, own)
    speed = own - stream if up else own + stream
    say = WORDINGS.draw(
        rng,
        "current",
        boat=boat,
        hours=hours,
        against_or_along_with="against" if up else "along with",
        stream=stream,
        own=own,
        up_or_down="up" if up else "down",
        against_or_with="against" if up else "with",
    )
    return posed("current", say, speed * hours, own=own, stream=stream, hours=hours, up=up)


def _up_and_down(rng: Random) -> Problem:
    a, b = rng.sample(_TOWNS, 2)
    speed, stream, far = redrawn(
        lambda: (rng.randint(5, 24), rng.randint(1, 6), rng.randint(6, 120)),
        lambda t: (
            t[0] > t[1] + 2
            and t[2] % (t[0] + t[1]) == 0
            and t[2] % (t[0] - t[1]) == 0
            and t[2] // (t[0] - t[1]) <= 9
        ),
    )
    stay, boat = rng.choice((1, 2)), _boat(rng, speed)
    total = far // (speed + stream) + far // (speed - stream) + stay
    say = WORDINGS.draw(
        rng,
        "up and down",
        boat=boat,
        own=speed,
        a=a,
        b=b,
        far=far,
        stay=stay,
        hour_or_hours="hour" if stay == 1 else "hours",
        stream=stream,
    )
    return posed("up_down", say, total, own=speed, stream=stream, far=far, stay=stay)


def _find_current(rng: Random) -> Problem:
    s, t, speed, stream = redrawn(
        lambda: (rng.randint(2, 6), rng.randint(3, 12), rng.randint(4, 24), rng.randint(1, 6)),
        lambda v: v[2] > v[3] + 1 and v[0] < v[1] and (v[2] + v[3]) * v[0] == (v[2] - v[3]) * v[1],
    )
    far, boat = (speed + stream) * s, _boat(rng, speed)
    ask = rng.choice(("stream", "own", "raft"))
    end = WORDINGS.one(f"find current {ask}", boat=boat)
    if ask == "raft" and far % stream:
        return _find_current(rng)
    say = WORDINGS.draw(rng, "find current", far=far, boat=boat, s=s, t=t, end=end)
    answer = {"stream": stream, "own": speed, "raft": far // stream}[ask]
    return posed("find", say, answer, far=far, times=[s, t], asked=ask)


def _walkway(rng: Random) -> Problem:
    p, q = people(rng, 2)
    stand, walk = redrawn(
        lambda: (rng.randint(20, 180), rng.randint(20, 180)),
        lambda t: t[0] != t[1] and t[0] * t[1] % (t[0] + t[1]) == 0,
    )
    both = stand * walk // (stand + walk)
    how = rng.choice(("both", "walk"))
    place = rng.choice(("moving walkway in an airport", "long escalator"))
    if how == "both":
        say = WORDINGS.draw(rng, "walkway, both", place=place, p=p, stand=stand, walk=walk, q=q)
        return posed("walkway", say, both, how=how, given=[stand, walk])
    say = WORDINGS.one("walkway", p=p, place=place, both=both, q=q, stand=stand)
    return posed("walkway", say, walk, how=how, given=[both, stand])


def _fuel(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    use, tank, far = redrawn(
        lambda: (rng.randint(4, 12), rng.randint(30, 70), rng.randint(1, 9) * 50),
        lambda t: t[0] * t[2] % 100 == 0 and t[0] * t[2] // 100 < t[1] - 3,
    )
    say = WORDINGS.draw(rng, "fuel", far=far, tank=tank, use=use, p=p)
    return posed("fuel", say, tank - use * far // 100, use=use, tank=tank, far=far)


def _fuel_cost(rng: Random) -> Problem:
    p, q = people(rng, 2)
    use, far, price, toll, n = redrawn(
        lambda: (
            rng.randint(4, 12),
            rng.randint(3, 20) * 50,
            rng.choice((150, 160, 175, 180, 200)),
            rng.randint(4, 30),
            rng.randint(2, 5),
        ),
        lambda t: (
            t[0] * t[1] % 100 == 0
            and (2 * t[0] * t[1] // 100 * t[2] + t[3] * 100) % (t[4] * 100) == 0
        ),
    )
    total = 2 * use * far // 100 * price + toll * 100
    word = {2: "two", 3: "three", 4: "four", 5: "five"}[n]
    say = told(
        rng,
        [
            f"The way there is {far} km, and they take the same way back.",
            pick(
                rng,
                f"The car uses {use} liters per 100 km.",
                f"For 100 km the car needs {use} liters.",
            ),
            f"A liter of fuel costs €{price / 100:.2f}.",
            WORDINGS.draw(rng, "fuel cost", toll=toll),
        ],
        f"The {word} of them share all these costs equally. How many euros does each of them pay?",
        pick(
            rng,
            (
                f"{p.name}, {q.name} and their friends, {word} people in all, go on a trip by car."
                if n > 2
                else f"{p.name} and {q.name} go on a trip by car."
            ),
            (
                f"A group of {word}, among them {p.name}, drives to the sea."
                if n > 2
                else f"{p.name} drives to the sea with {q.name}."
            ),
        ),
    )
    return posed("fuel_cost", say, total // n // 100, use=use, far=far, price=price, toll=toll, n=n)


def _two_cars(rng: Random) -> Problem:
    p, q = people(rng, 2)
    a, b = redrawn(lambda: (rng.randint(4, 12), rng.randint(4, 12)), lambda t: t[0] > t[1])
    hundreds, extra = rng.randint(2, 14), rng.randint(1, 6)
    full = rng.randint(45, 95)
    # p has full, q has less; equal left after the distance
    less = full - (a - b) * hundreds
    if less - b * hundreds < extra or full <= less:
        return _two_cars(rng)
    say = WORDINGS.draw(rng, "two cars", full=full, a=a, less=less, b=b, p=p, q=q)
    return posed("two_cars", say, 100 * hundreds, uses=[a, b], tanks=[full, less])


FAMILIES = (
    of_kinds(
        "stories_meeting", (_toward,), (_head_start,), (_late_meeting,), "meeting, overtaking"
    ),
    of_kinds("stories_average_speed", (_two_legs,), (_same_way,), (_needed,), "average speeds"),
    of_kinds(
        "stories_currents",
        (_current,),
        (_up_and_down, _walkway),
        (_find_current, _walkway),
        "rivers, walkways and escalators",
    ),
    seldom(
        of_kinds("stories_fuel", (_fuel,), (_fuel_cost,), (_two_cars,), "fuel for trips"),
        "200",
        "300",
        "400",
    ),
)
