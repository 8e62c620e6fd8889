"""Journeys: meeting and overtaking, average speed, currents and walkways, fuel."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem, seldom
from prorl_datasets.procedural.math.stories.telling import people, told

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
    say = rng.choice(
        (
            (
                f"{p.name} in {a} and {q.name} in {b} want to meet. The road between the two towns is {apart} km long. They "
                f"start on their bicycles at the same time, {p.name} at {u} km/h and {q.name} at {v} km/h. {want}"
            ),
            (
                f"{a} and {b} are {apart} km apart. {p.name} cycles from {a} to {b} at {u} km/h, and at the "
                f"same time {q.name} sets out from {b} to {a} on the same road at {v} km/h. {want}"
            ),
            (
                f"At noon {p.name} leaves {a} on a bicycle for {b}, {apart} km away, and {q.name} leaves {b} "
                f"for {a}. {p.name} rides {u} km each hour, {q.name} {v} km each hour. {want}"
            ),
        )
    )
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
    say = rng.choice(
        (
            (
                f"Two travelers take the same road out of {a}. {p.name} moves at {slow} km/h and has a head start of {early} "
                f"{word}; {q.name} moves at {fast} km/h. {want}"
            ),
            (
                f"{p.name} leaves {a} and travels at {slow} km/h. {q.name} follows {p.him} on the same road "
                f"{early} {word} later at {fast} km/h. {want}"
            ),
            (
                f"Going at a steady {slow} km/h, {p.name} has been on the road from {a} for {early} {word} "
                f"when {q.name} sets out after {p.him} from the same place at {fast} km/h. {want}"
            ),
        )
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
        say = rng.choice(
            (
                (
                    f"{p.name} drives from {a} toward {b}, {apart} km away, at {u} km/h. {late} {word} "
                    f"later {q.name} starts from {b} and drives toward {a}. They meet {together} "
                    f"{'hour' if together == 1 else 'hours'} after {q.name}'s start. What is {q.name}'s "
                    "speed in km/h?"
                ),
                (
                    f"The road from {a} to {b} is {apart} km long. {p.name} sets out from {a} at {u} km/h, "
                    f"{q.name} from {b} at another constant speed, {late} {word} after {p.name}. When they "
                    f"meet, {p.name} has been on the way for {late + together} hours. How many km does "
                    f"{q.name} travel per hour?"
                ),
            )
        )
        given = [u, late, late + together if "road from" in say else together]
        return posed("late", say, v, apart=apart, given=given, since="road from" in say)
    bird = rng.randint(5, 12) * 10 + 40
    say = (
        f"{p.name} and {q.name} drive toward each other from {a} and {b}, {(u + v) * together} km apart, "
        f"starting at the same moment, at {u} km/h and {v} km/h. A drone flies back and forth between "
        f"the two cars at {bird} km/h from their start until they meet. How many km does it fly in all?"
    )
    return posed("drone", say, bird * together, apart=(u + v) * together, speeds=[u, v], drone=bird)


def _two_legs(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    u, v = redrawn(lambda: (rng.randint(3, 16) * 5, rng.randint(3, 16) * 5), lambda t: t[0] != t[1])
    s, t = rng.randint(1, 5), rng.randint(1, 5)
    far = u * s + v * t
    say = rng.choice(
        (
            (
                f"Find the mean speed, in km/h, of a drive on which {p.name} kept to {u} km/h for {s} "
                f"{'hour' if s == 1 else 'hours'} and to {v} km/h for {t} more."
            ),
            (
                f"{p.name} drove for {s} {'hour' if s == 1 else 'hours'} at {u} km/h and then for {t} "
                f"{'hour' if t == 1 else 'hours'} at {v} km/h. What was {p.his} average speed for the whole "
                "trip, in km/h?"
            ),
            (
                f"A coach covers {u * s} km at {u} km/h, and without a break {v * t} more km at {v} km/h. "
                "Find its average speed over the entire distance in km/h."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"A delivery van goes from {a} to {b}, {far} km away, at {u} km/h.{pause.replace(p.He, 'It')} It then "
                f"returns by the same road at {v} km/h. Over the time from leaving {a} to being back there, what is its "
                "average speed in km/h?"
            ),
            (
                f"{p.name} rides a motorbike from {a} to {b}, {far} km, at {u} km/h.{pause} {p.He} comes back "
                f"the same way at {v} km/h. What is {p.his} average speed for the round trip in km/h{all_in}?"
            ),
            (
                f"The way from {a} to {b} is {far} km. {p.name} goes there at an average of {u} km/h and "
                f"returns at {v} km/h.{pause} Find the average speed, in km/h, for the whole outing{all_in}."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name} has averaged {u} km/h over the {far} km from {a} to {b} and would like the average for there and "
                f"back to be {average} km/h. What average speed in km/h does the return trip need?"
            ),
            (
                f"{p.name} drove the {far} km from {a} to {b} at {u} km/h. At what speed, in km/h, must "
                f"{p.he} drive back on the same road for an average of {average} km/h on the whole trip?"
            ),
            (
                f"On the way from {a} to {b}, {far} km, a truck averaged {u} km/h; for the way there and back "
                f"together, pauses left out, it averaged {average} km/h. What was its average speed on the "
                "way back, in km/h?"
            ),
        )
    )
    return posed("needed", say, back, far=far, there=u, average=average)


def _boat(rng: Random, own: int) -> str:
    """A boat that can go at this speed."""
    return rng.choice(
        ("rowing boat", "canoe", "kayak") if own < 9 else ("motorboat", "ferry", "barge")
    )


def _current(rng: Random) -> Problem:
    own, stream = redrawn(
        lambda: (rng.randint(4, 24), rng.randint(1, 6)), lambda t: t[0] > t[1] + 2
    )
    hours = rng.randint(2, 5)
    up, boat = rng.choice((True, False)), _boat(rng, own)
    speed = own - stream if up else own + stream
    say = rng.choice(
        (
            (
                f"How many km along the bank does a {boat} advance in {hours} hours if it is driven {'against' if up else 'along with'} "
                f"a current of {stream} km/h at a speed of {own} km/h relative to the water?"
            ),
            (
                f"In still water a {boat} makes {own} km/h. How many km does it cover in {hours} hours going "
                f"{'up' if up else 'down'} a river whose current flows at {stream} km/h?"
            ),
            (
                f"A river flows at {stream} km/h. A {boat} that would travel at {own} km/h on a lake goes "
                f"{'against' if up else 'with'} the current for {hours} hours. How far, in km, does it get?"
            ),
        )
    )
    return posed("current", say, speed * hours, own=own, stream=stream, hours=hours, up=up)


def _up_and_down(rng: Random) -> Problem:
    a, b = rng.sample(_TOWNS, 2)
    own, stream, far = redrawn(
        lambda: (rng.randint(5, 24), rng.randint(1, 6), rng.randint(6, 120)),
        lambda t: (
            t[0] > t[1] + 2
            and t[2] % (t[0] + t[1]) == 0
            and t[2] % (t[0] - t[1]) == 0
            and t[2] // (t[0] - t[1]) <= 9
        ),
    )
    stay, boat = rng.choice((1, 2)), _boat(rng, own)
    total = far // (own + stream) + far // (own - stream) + stay
    say = rng.choice(
        (
            (
                f"The crew of a {boat}, which moves at {own} km/h through the water, leave {a} for {b}, {far} km downstream. "
                f"They spend {stay} {'hour' if stay == 1 else 'hours'} there and go home. The water flows at {stream} km/h. "
                "How many hours are they away?"
            ),
            (
                f"{b} lies {far} km down the river from {a}. A {boat} with a speed of {own} km/h in still "
                f"water goes from {a} to {b}, stops for {stay} {'hour' if stay == 1 else 'hours'} and "
                f"returns. The current runs at {stream} km/h. How many hours pass from its departure to its "
                "return?"
            ),
            (
                f"A {boat} travels {far} km upstream, waits {stay} {'hour' if stay == 1 else 'hours'}, and "
                f"comes back. It does {own} km/h in still water, and the river flows at {stream} km/h. After "
                "how many hours is it back?"
            ),
        )
    )
    return posed("up_down", say, total, own=own, stream=stream, far=far, stay=stay)


def _find_current(rng: Random) -> Problem:
    s, t, own, stream = redrawn(
        lambda: (rng.randint(2, 6), rng.randint(3, 12), rng.randint(4, 24), rng.randint(1, 6)),
        lambda v: v[2] > v[3] + 1 and v[0] < v[1] and (v[2] + v[3]) * v[0] == (v[2] - v[3]) * v[1],
    )
    far, boat = (own + stream) * s, _boat(rng, own)
    ask = rng.choice(("stream", "own", "raft"))
    end = {
        "stream": "What is the speed of the current, in km/h?",
        "own": f"What is the speed of the {boat} in still water, in km/h?",
        "raft": "How many hours would a raft need to drift down the same stretch?",
    }[ask]
    if ask == "raft" and far % stream:
        return _find_current(rng)
    say = rng.choice(
        (
            (
                f"Between two landings on a river, {far} km apart, a {boat} takes {s} hours in the direction of the current "
                f"and {t} hours in the other. {end}"
            ),
            (
                f"A {boat} needs {s} hours to travel {far} km down a river and {t} hours for the same way "
                f"back up. {end}"
            ),
            (
                f"Going downstream, a {boat} covers a stretch of {far} km in {s} hours; upstream it takes "
                f"{t} hours. Its engine or crew works equally hard both ways. {end}"
            ),
        )
    )
    answer = {"stream": stream, "own": own, "raft": far // stream}[ask]
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
        say = rng.choice(
            (
                (
                    f"Standing still on a {place}, {p.name} is carried from one end to the other in {stand} "
                    f"seconds. When it is switched off, {p.he} needs {walk} seconds to walk its length. How "
                    f"many seconds does it take {p.him} if {p.he} walks on it, at the same pace, while it "
                    "moves?"
                ),
                (
                    f"A {place} takes {stand} seconds to carry a person who does not move. {q.name} can walk "
                    f"the same distance beside it in {walk} seconds. In how many seconds does {q.he} reach "
                    f"the other end by walking on it in its direction?"
                ),
            )
        )
        return posed("walkway", say, both, how=how, given=[stand, walk])
    say = (
        f"{p.name} walks on a {place} while it runs and reaches the end after {both} seconds. {q.name}, "
        f"who just stands on it, arrives after {stand} seconds. How many seconds would {p.name} need, at "
        "the same pace, if it did not run?"
    )
    return posed("walkway", say, walk, how=how, given=[both, stand])


def _fuel(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    use, tank, far = redrawn(
        lambda: (rng.randint(4, 12), rng.randint(30, 70), rng.randint(1, 9) * 50),
        lambda t: t[0] * t[2] % 100 == 0 and t[0] * t[2] // 100 < t[1] - 3,
    )
    say = rng.choice(
        (
            (
                f"How much fuel, in liters, remains after {far} km in a car that started with {tank} liters and needs {use} "
                "liters for 100 km?"
            ),
            (
                f"{p.name}'s car uses {use} liters of fuel per 100 km. {p.He} starts with {tank} liters in the "
                f"tank and drives {far} km. How many liters are left?"
            ),
            (
                f"With {tank} liters in the tank, {p.name} sets off on a trip of {far} km. Every 100 km take "
                f"{use} liters. What is in the tank on arrival, in liters?"
            ),
        )
    )
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
            rng.choice(
                (
                    f"The car uses {use} liters per 100 km.",
                    f"For 100 km the car needs {use} liters.",
                )
            ),
            f"A liter of fuel costs €{price / 100:.2f}.",
            rng.choice(
                (
                    f"Tolls add up to €{toll} for both ways together.",
                    f"For the whole trip they also pay €{toll} in tolls.",
                )
            ),
        ],
        f"The {word} of them share all these costs equally. How many euros does each of them pay?",
        rng.choice(
            (
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
            )
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
    say = rng.choice(
        (
            (
                f"{full} liters are in the tank of a van that burns {a} liters per 100 km, and {less} liters in that of a car "
                f"that burns {b}. {p.name} and {q.name} drive them along the same road, starting together. After what "
                "distance, in km, do the tanks hold the same?"
            ),
            (
                f"{p.name}'s van takes {a} liters of fuel per 100 km, {q.name}'s car only {b}. They start a "
                f"trip together with {full} liters in the van and {less} liters in the car. After how many km "
                "will both have the same amount left?"
            ),
            (
                f"Two vehicles drive the same route. One begins with {less} liters and uses {b} liters every "
                f"100 km; the other begins with {full} liters and uses {a} liters every 100 km. At what "
                "distance from the start, in km, are the amounts in their tanks equal?"
            ),
        )
    )
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
