"""Shares: ratios, ages, things given away, mixtures, heads and legs."""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import (
    count,
    money,
    people,
    plural,
    with_article,
)

_SMALL = ("marble", "stamp", "sticker", "shell", "card", "coin", "walnut", "bead", "comic book")
_PARTS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 6: "a sixth"}


def _parts(rng: Random) -> Problem:
    m = money(rng)
    p, q, r = people(rng, 3)
    a, b, c = redrawn(
        lambda: (rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)),
        lambda t: len(set(t)) == 3 and gcd(*t) == 1,
    )
    unit = rng.randint(3, 40)
    total = (a + b + c) * unit
    say = rng.choice(
        (
            (
                f"How many {m.name} does {q.name} receive when {m.whole(total)} are split between {p.name}, {q.name} and "
                f"{r.name} so that for every {a} of {p.name}'s there are {b} of {q.name}'s and {c} of {r.name}'s?"
            ),
            (
                f"{p.name}, {q.name} and {r.name} share a prize of {m.whole(total)} in the ratio "
                f"{a} : {b} : {c}. How many {m.name} does {q.name} get?"
            ),
            (
                f"A profit of {m.whole(total)} is divided among {p.name}, {q.name} and {r.name}, who put "
                f"money into a shop in the ratio {a} : {b} : {c}, in the same ratio. What is {q.name}'s share "
                f"in {m.name}?"
            ),
        )
    )
    return posed("parts", say, b * unit, ratio=[a, b, c], total=total)


def _parts_gap(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    thing = rng.choice(_SMALL)
    a, b, c = redrawn(
        lambda: (rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 9)),
        lambda t: len(set(t)) == 3 and gcd(*t) == 1 and t[0] > t[2] + 1,
    )
    unit = rng.randint(2, 15)
    ask = rng.choice(("total", "middle"))
    want = (
        f"How many {plural(thing)} do the three have altogether?"
        if ask == "total"
        else f"How many {plural(thing)} does {q.name} have?"
    )
    say = rng.choice(
        (
            (
                f"For every {a} {plural(thing)} of {p.name}'s, {q.name} has {b} and {r.name} has {c}. Between {p.name} and "
                f"{r.name} there is a difference of {(a - c) * unit}. {want}"
            ),
            (
                f"The numbers of {plural(thing)} that {p.name}, {q.name} and {r.name} own are in the ratio "
                f"{a} : {b} : {c}. {p.name} has {(a - c) * unit} more than {r.name}. {want}"
            ),
            (
                f"{p.name}, {q.name} and {r.name} divided a bag of {plural(thing)} as {a} to {b} to {c}. "
                f"{r.name} got {(a - c) * unit} fewer than {p.name}. {want}"
            ),
        )
    )
    return posed(
        "gap",
        say,
        (a + b + c) * unit if ask == "total" else b * unit,
        ratio=[a, b, c],
        gap=(a - c) * unit,
        asked=ask,
    )


def _ratio_changes(rng: Random) -> Problem:
    p, q = people(rng, 2)
    thing = rng.choice(_SMALL)

    def draw() -> tuple[int, ...]:
        a, b, unit = rng.randint(2, 9), rng.randint(1, 8), rng.randint(3, 15)
        return a, b, unit, rng.randint(2, 30)

    def new(t: tuple[int, ...]) -> Fraction:
        a, b, unit, moved = t
        return Fraction(a * unit - moved, b * unit + moved)

    a, b, unit, moved = t = redrawn(
        draw,
        lambda t: (
            t[0] > t[1]
            and gcd(t[0], t[1]) == 1
            and t[0] * t[2] > t[3] + 2
            and new(t).numerator < 10
            and new(t).denominator < 10
        ),
    )
    later = new(t)
    say = rng.choice(
        (
            (
                f"The ratio of {p.name}'s {plural(thing)} to {q.name}'s was {a} : {b}. After {p.name} gave "
                f"{q.name} {count(moved, thing)}, the ratio was {later.numerator} : {later.denominator}. How "
                f"many {plural(thing)} did {p.name} have at first?"
            ),
            (
                f"{p.name} and {q.name} had {plural(thing)} in the ratio {a} : {b}. {p.name} lost {moved} "
                f"of them to {q.name} in a game, and now they have them in the ratio "
                f"{later.numerator} : {later.denominator}. How many had {p.name} before the game?"
            ),
        )
    )
    return posed(
        "changes",
        say,
        a * unit,
        before=[a, b],
        moved=moved,
        after=[later.numerator, later.denominator],
    )


def _age_sum(rng: Random) -> Problem:
    p, q = people(rng, 2)
    x, k, more = rng.randint(4, 15), rng.randint(2, 4), rng.randint(1, 6)
    old = k * x + more
    if old > 60:
        return _age_sum(rng)
    years = rng.randint(2, 12)
    times = {2: "twice", 3: "three times", 4: "four times"}[k]
    say = rng.choice(
        (
            (
                f"Take {times} {p.name}'s age and add {more}: that is the age of {q.name}. {p.name} is {x}. How many years "
                f"old will both together be {years} years from now?"
            ),
            (
                f"{p.name} is {x} years old. {q.name} is {more} {'year' if more == 1 else 'years'} older "
                f"than {times} {p.name}'s age. What will be the sum of their ages in {years} years?"
            ),
            (
                f"{years} years from now, how old will {p.name} and {q.name} be together, if {p.name} is {x} "
                f"now and {q.name}'s age is {more} more than {times} {p.name}'s?"
            ),
        )
    )
    return posed("age_sum", say, x + old + 2 * years, age=x, times=k, more=more, years=years)


def _age_then(rng: Random) -> Problem:
    p, _q = people(rng, 2)
    k, j, years = (
        *rng.choice(((3, 2), (4, 2), (4, 3), (5, 3), (5, 2), (6, 4), (7, 4))),
        rng.randint(2, 18),
    )
    # now old = k x; in years: k x + y = j (x + y)
    if (j - 1) * years % (k - j):
        return _age_then(rng)
    x = (j - 1) * years // (k - j)
    if not 2 <= x <= 25 or k * x > 80:
        return _age_then(rng)
    words = {
        2: "twice",
        3: "three times",
        4: "four times",
        5: "five times",
        6: "six times",
        7: "seven times",
    }
    ask = rng.choice(("young", "old"))
    kin = rng.choice(("father", "mother", "aunt", "uncle"))
    want = f"How old is {p.name} now?" if ask == "young" else f"How old is {p.name}'s {kin} now?"
    say = rng.choice(
        (
            (
                f"{p.name}'s {kin} is {words[k]} as old as {p.name}. In {years} years {p.his} {kin} will be "
                f"only {words[j]} as old as {p.he}. {want}"
            ),
            (
                f"Today {p.name} is {fraction_word(k)} as old as {p.his} {kin}; {years} years from now "
                f"{p.he} will be {fraction_word(j)} as old. {want}"
            ),
        )
    )
    return posed(
        "age_then", say, x if ask == "young" else k * x, now=k, later=j, years=years, asked=ask
    )


def fraction_word(k: int) -> str:
    """Write "half" or "one fifth"."""
    return {
        2: "half",
        3: "one third",
        4: "one fourth",
        5: "one fifth",
        6: "one sixth",
        7: "one seventh",
    }[k]


def _three_ages(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    x, gap, k = rng.randint(4, 16), rng.randint(2, 9), rng.choice((2, 3))
    ages = [x, x + gap, k * x]
    ago = rng.randint(1, 3)
    total = sum(ages) - 3 * ago
    if ago >= x or ages[2] == ages[1]:
        return _three_ages(rng)
    times = {2: "twice", 3: "three times"}[k]
    ask = rng.choice(("q", "r"))
    who = q if ask == "q" else r
    say = rng.choice(
        (
            (
                f"{p.name} is the youngest of three. {q.name} was born {gap} years before {p.name}, and {r.name} is now "
                f"{times} as old as {p.name}. {ago} "
                f"{'year' if ago == 1 else 'years'} ago the sum of their ages was {total}. What is {who.name}'s age today?"
            ),
            (
                f"{q.name} is {gap} years older than {p.name}, and {r.name} is {times} as old as {p.name}. "
                f"{ago} {'year' if ago == 1 else 'years'} ago the ages of the three added up to {total}. How "
                f"old is {who.name} now?"
            ),
            (
                f"Three cousins, {p.name}, {q.name} and {r.name}, had a combined age of {total} {ago} "
                f"{'year' if ago == 1 else 'years'} ago. Today {r.name}'s age is {times} {p.name}'s, while "
                f"{p.name} is {gap} years younger than {q.name}. Find {who.name}'s present age."
            ),
        )
    )
    return posed(
        "three_ages",
        say,
        ages[1] if ask == "q" else ages[2],
        gap=gap,
        times=k,
        ago=ago,
        total=total,
        asked=ask,
    )


def _give_away(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    thing = rng.choice(_SMALL)
    a, b = rng.choice((2, 3, 4, 5)), rng.choice((2, 3, 4, 5))
    start = a * b * rng.randint(2, 12)
    found = rng.randint(2, 20)
    left = start - start // a
    left = left - left // b + found
    say = rng.choice(
        (
            (
                f"Two presents have made {p.name}'s {start} {plural(thing)} fewer: {_PARTS[a]} of all went to {q.name}, and "
                f"{_PARTS[b]} of what was then left went to {r.name}. But {found} others have come in since. How many are "
                f"in {p.his} box now?"
            ),
            (
                f"{p.name} has {start} {plural(thing)}. {p.He} gives {_PARTS[a]} of them to {q.name} and "
                f"then {_PARTS[b]} of the rest to {r.name}. Later {p.he} gets {found} new ones. How many "
                f"does {p.he} have now?"
            ),
            (
                f"Out of {start} {plural(thing)}, {q.name} received {_PARTS[a]} from {p.name}, and {r.name} "
                f"received {_PARTS[b]} of what {p.name} still had. {p.name} then bought {found} more. With "
                f"how many {plural(thing)} did {p.he} end up?"
            ),
        )
    )
    return posed("give", say, left, start=start, parts=[a, b], found=found)


def _give_back(rng: Random) -> Problem:
    p, q, r = people(rng, 3)
    thing = rng.choice(_SMALL)
    a, b = rng.choice((2, 3, 4, 5)), rng.choice((2, 3, 4))
    x, y, end = rng.randint(1, 9), rng.randint(1, 9), rng.randint(3, 20)
    # before the second: (n - n/b) - y = end
    middle = Fraction((end + y) * b, b - 1)
    start = (middle + x) * a / (a - 1)
    if middle.denominator > 1 or start.denominator > 1 or int(middle) % b or int(start) % a:
        return _give_back(rng)
    if start > 200:
        return _give_back(rng)
    say = rng.choice(
        (
            (
                f"How many {plural(thing)} did {p.name} own before {p.he} parted with {_PARTS[a]} of them and {x} besides, "
                f"and after that with {_PARTS[b]} of those that remained and {y} besides, if {end} are left to {p.him} now?"
            ),
            (
                f"{p.name} gave {_PARTS[a]} of {p.his} {plural(thing)} and {x} more to {q.name}. Then {p.he} "
                f"gave {_PARTS[b]} of the remaining {plural(thing)} and {y} more to {r.name}. {end} "
                f"{plural(thing)} were left. How many did {p.name} have at the beginning?"
            ),
            (
                f"On Monday {p.name} sold {_PARTS[a]} of {p.his} collection of {plural(thing)} and another "
                f"{x}; on Tuesday, {_PARTS[b]} of what remained and another {y}. {p.He} still had {end} on "
                f"Wednesday. How many {plural(thing)} were there to start with?"
            ),
        )
    )
    return posed("back", say, int(start), parts=[a, b], more=[x, y], end=end)


def _doubling(rng: Random) -> Problem:
    """Each in turn doubles what the two others have; all end with the same."""
    p, q, r = people(rng, 3)
    thing = rng.choice(_SMALL)
    unit = rng.randint(1, 8)
    end = 8 * unit
    hands = [end, end, end]
    for giver in (2, 1, 0):
        before = [h // 2 for h in hands]
        before[giver] = hands[giver] + sum(hands[i] // 2 for i in range(3) if i != giver)
        hands = before
    ask = rng.choice((0, 1, 2))
    who = (p, q, r)[ask]
    say = rng.choice(
        (
            (
                f"{p.name}, {q.name} and {r.name} play with {plural(thing)}. First {p.name} gives each of the "
                f"others as many as that player already has; then {q.name} does the same, and at last "
                f"{r.name}. Now each of them has {end}. How many did {who.name} have before the game?"
            ),
            (
                f"In a game for three, whoever loses a round must hand over {plural(thing)} until each of "
                f"the other two has twice as many as before the round. {p.name} lost the first round, {q.name} the second "
                f"and {r.name} the third, and then they had {end} each. With how many did {who.name} start?"
            ),
        )
    )
    return posed("doubling", say, hands[ask], end=end, asked=ask)


_LIQUIDS = (("salt", "brine"), ("sugar", "syrup"), ("acid", "solution"), ("fruit juice", "drink"))


def _blend(rng: Random) -> Problem:
    stuff, what = rng.choice(_LIQUIDS)
    x, y = rng.randint(1, 12), rng.randint(1, 12)
    a, b = redrawn(lambda: (rng.randint(1, 16) * 5, rng.randint(1, 16) * 5), lambda t: t[0] != t[1])
    total = x * a + y * b
    if total % (x + y):
        return _blend(rng)
    say = rng.choice(
        (
            (
                f"In one can there are {x} {_liters(x)} of a {what}, {a}% of it {stuff}; in another there are {y} "
                f"{_liters(y)}, {b}% of it {stuff}. Both are emptied into one bucket. Find the percentage of {stuff} in "
                "the bucket."
            ),
            (
                f"What is the strength, in percent, of the {what} that one gets by mixing {y} {_liters(y)} at {b}% and "
                f"{x} {_liters(x)} at {a}% {stuff}?"
            ),
            (
                f"{x} {_liters(x)} of a {what} with {a}% {stuff} and {y} {_liters(y)} of one with {b}% "
                f"{stuff} are poured together. What percentage of the mixture is {stuff}?"
            ),
            (
                f"A barrel holds {x} {_liters(x)} of {what} that contains {a}% {stuff}. Then {y} "
                f"{_liters(y)} of {with_article(b)}% {what} are added. How many percent {stuff} does it contain now?"
            ),
        )
    )
    return posed("blend", say, total // (x + y), amounts=[x, y], rates=[a, b])


def _liters(n: int) -> str:
    return "liter" if n == 1 else "liters"


def _dilute(rng: Random) -> Problem:
    stuff, what = rng.choice(_LIQUIDS)
    x, a, b = redrawn(
        lambda: (rng.randint(2, 60), rng.randint(2, 16) * 5, rng.randint(1, 15) * 5),
        lambda t: t[1] > t[2] and t[0] * t[1] % t[2] == 0,
    )
    water = x * a // b - x
    say = rng.choice(
        (
            (
                f"A {what} is {a}% {stuff}. After some water has been added to {x} liters of it, only {b}% is {stuff}. "
                "How many liters of water was that?"
            ),
            (
                f"Of {x} liters of {what}, {a} percent is {stuff}. What quantity of water, in liters, lowers this to {b} "
                "percent?"
            ),
            (
                f"How many liters of water must be added to {x} liters of a {what} with {a}% {stuff} to "
                f"bring it down to {b}%?"
            ),
            (
                f"Of the {x} liters of {what} in a barrel, {a}% is {stuff}. It should be only {b}%. What "
                "amount of water, in liters, has to be stirred in?"
            ),
            (
                f"By adding pure water, {x} liters of {with_article(a)}% {what} are thinned until {stuff} makes up {b}% "
                "of it. How many liters of water were used?"
            ),
        )
    )
    return posed("dilute", say, water, x=x, rates=[a, b])


def _replace(rng: Random) -> Problem:
    stuff, what = rng.choice(_LIQUIDS)
    a, b, c = redrawn(
        lambda: (rng.randint(1, 9) * 5, rng.randint(2, 19) * 5, rng.randint(2, 18) * 5),
        lambda t: t[0] < t[2] < t[1],
    )
    total = rng.randint(5, 90)
    if total * (c - a) % (b - a):
        return _replace(rng)
    y = total * (c - a) // (b - a)
    how = rng.choice(("mix", "swap"))
    if how == "mix":
        say = rng.choice(
            (
                (
                    f"From {with_article(a)}% and {with_article(b)}% {what} one wants {total} liters with exactly {c}% {stuff}. How "
                    f"many liters of the {b}% {what} are needed?"
                ),
                (
                    f"A lab makes {total} liters of {with_article(c)}% {what} by mixing two stocks that contain {a}% and "
                    f"{b}% {stuff}. What quantity of the stronger stock, in liters, does it take?"
                ),
            )
        )
    else:
        say = rng.choice(
            (
                (
                    f"A tank contains {total} liters of a {what} with {a}% {stuff}. Some of it is drained and "
                    f"replaced by the same amount of a {what} with {b}% {stuff}, after which the tank has {c}% "
                    f"{stuff}. How many liters were replaced?"
                ),
                (
                    f"Somebody pours out part of {total} liters of a {what} that is {a}% {stuff} and fills up with the same "
                    f"quantity of another that is {b}% {stuff}. Now {c}% is {stuff}. What quantity, in liters, was exchanged?"
                ),
            )
        )
    return posed("mix", say, y, rates=[a, b, c], total=total, how=how)


_BEASTS = (("hen", "goat", 2, 4), ("duck", "pig", 2, 4), ("goose", "sheep", 2, 4),
           ("bicycle", "tricycle", 2, 3), ("motorbike", "car", 2, 4), ("ostrich", "zebra", 2, 4))  # fmt: skip


def _many(noun: str) -> str:
    return {"goose": "geese", "sheep": "sheep", "ostrich": "ostriches"}.get(noun) or plural(noun)


def _legs_of(noun: str) -> tuple[str, str]:
    return ("wheels", "vehicles") if noun in ("bicycle", "motorbike") else ("legs", "animals")


def _count_legs(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b, x, y = rng.choice(_BEASTS)
    n, m = rng.randint(4, 40), rng.randint(4, 40)
    part, kind = _legs_of(a)
    sold = rng.randint(2, min(n, m) - 1) if min(n, m) > 3 else 2
    say = rng.choice(
        (
            (
                f"How many {part} are there on {n} {_many(a)} and {m} {_many(b)} together, once {sold} of the {_many(b)} have "
                f"been taken away?"
            ),
            (
                f"{p.name} owns {n} {_many(a)} and {m} {_many(b)}. {p.He} sells {sold} of the {_many(b)}. How "
                f"many {part} do {p.his} {kind} have altogether after that?"
            ),
            (
                f"There are {m} {_many(b)} and {n} {_many(a)} in a yard. When {sold} {_many(b)} have left, "
                f"how many {part} are there in the yard, counting only these {kind}?"
            ),
        )
    )
    return posed("legs", say, n * x + (m - sold) * y, counts=[n, m], sold=sold, legs=[x, y])


def _heads(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b, x, y = rng.choice(_BEASTS)
    n, m = rng.randint(4, 60), rng.randint(4, 60)
    part, kind = _legs_of(a)
    say = rng.choice(
        (
            (
                f"{n + m} {kind} stand in a row, some of them {_many(a)}, the rest {_many(b)}. Counting {part}, {p.name} gets "
                f"{n * x + m * y}. How many of them are {_many(b)}?"
            ),
            (
                f"On {p.name}'s land there are {n + m} {kind}, all of them {_many(a)} or {_many(b)}. They have "
                f"{n * x + m * y} {part} in total. How many {_many(b)} are there?"
            ),
            (
                f"{p.name} counts {n * x + m * y} {part} on the {_many(a)} and {_many(b)} behind the house, "
                f"and {n + m} {kind}. Find the number of {_many(b)}."
            ),
        )
    )
    return posed("heads", say, m, total=n + m, parts=n * x + m * y, legs=[x, y])


def _heads_after(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b, x, y = rng.choice(_BEASTS)
    k = rng.randint(2, 4)
    m = rng.randint(4, 25)
    n = k * m
    gone, new = rng.randint(2, 6), rng.randint(2, 9)
    part, _ = _legs_of(a)
    total = (n - gone) * x + (m + new) * y
    times = {2: "twice", 3: "three times", 4: "four times"}[k]
    say = rng.choice(
        (
            (
                f"At first {p.name} had {times} as many {_many(a)} as {_many(b)}. Then {p.he} sold {gone} "
                f"{_many(a)} and bought {new} {_many(b)}. Now {p.his} {_many(a)} and {_many(b)} have {total} "
                f"{part} together. How many {_many(a)} did {p.he} have at first?"
            ),
            (
                f"{p.name} used to own {_many(a)} and {_many(b)}, {k} of the former for every one of the "
                f"latter. With {gone} {_many(a)} fewer and {new} {_many(b)} more, there are now {total} "
                f"{part} in all. What was the original number of {_many(a)}?"
            ),
        )
    )
    return posed("after", say, n, times=k, gone=gone, new=new, parts=total, legs=[x, y])


FAMILIES = (
    of_kinds(
        "stories_ratio_shares", (_parts,), (_parts_gap,), (_ratio_changes,), "shares by ratio"
    ),
    of_kinds("stories_ages", (_age_sum,), (_age_then,), (_three_ages,), "ages then and now"),
    of_kinds(
        "stories_giving", (_give_away,), (_give_back,), (_doubling, _give_back), "giving away"
    ),
    of_kinds("stories_mixtures", (_blend,), (_dilute,), (_replace,), "mixtures by percentage"),
    of_kinds(
        "stories_heads_and_legs", (_count_legs,), (_heads,), (_heads_after,), "heads and legs"
    ),
)
