"""What things cost and bring in: tariffs, tickets, break-even."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import (
    amount,
    article,
    count,
    money,
    people,
    plural,
    told,
)

_METERED = (
    ("taxi", "kilometer", "a ride of", "ride", 200, 600, 3),
    ("van rental", "mile", "a trip of", "trip", 2000, 6000, 8),
    ("courier", "kilometer", "a delivery over", "delivery", 300, 900, 3),
)


def _base_and_rate(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    service, u, phrase, what, low, high, _ = rng.choice(_METERED)
    base, per = rng.randint(low // 50, high // 50) * 50, rng.randint(3, 14) * 20
    n, tip = rng.randint(6, 40), rng.randint(1, 6)
    say = rng.choice(
        (
            (
                f"A {service} charges a fixed {m.of(base)} plus {m.of(per)} for every {u}. How many "
                f"{m.name} does {phrase} {n} {u}s cost if {p.name} adds a tip of {m.whole(tip)}?"
            ),
            (
                f"{p.name} orders a {service}. Whatever the distance, there is a fee of {m.of(base)}, and "
                f"each {u} costs {m.of(per)}. The {what} covers {n} {u}s, and {p.name} gives the driver "
                f"{m.whole(tip)} on top. What does {p.he} spend in all, in {m.name}?"
            ),
            (
                f"For {phrase} {n} {u}s with a {service}, {p.name} was charged {m.of(per)} per {u} and a "
                f"flat fee of {m.of(base)}; {p.he} also left a tip of {m.whole(tip)}. Find the total in "
                f"{m.name}."
            ),
        )
    )
    return posed(
        "metered", say, amount(base + per * n + 100 * tip), base=base, per=per, n=n, tip=tip
    )


_USED = (
    ("electricity", "kilowatt-hour", "power company", 60, 40),
    ("water", "cubic meter", "water works", 20, 8),
    ("mobile data", "gigabyte", "phone company", 10, 5),
)


def _tiers(rng: Random) -> tuple[str, str, str, int, int, int, int, int]:
    what, u, seller, top, step = rng.choice(_USED)
    first = rng.randint(top // 2, top * 2)
    low = rng.randint(4, 30) * 5
    high = low + rng.randint(1, 12) * 5
    n = first + rng.randint(step // 2, step * 3)
    base = rng.randint(2, 12) * 100
    return what, u, seller, first, low, high, n, base


def _tiered(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    what, u, seller, first, low, high, n, base = _tiers(rng)
    bill = base + low * first + high * (n - first)
    say = rng.choice(
        (
            (
                f"A {seller} bills {what} like this: {m.of(low)} for each of the first {first} {u}s in a "
                f"month and {m.of(high)} for each further one, plus a monthly charge of {m.of(base)}. "
                f"{p.name}'s household used {n} {u}s in May. What was its bill for May, in {m.name}?"
            ),
            (
                f"In {p.name}'s town, up to {first} {u}s of {what} a month cost {m.of(low)} each. Only what "
                f"goes beyond that is charged at {m.of(high)} per {u}. A fixed {m.of(base)} is added to "
                f"every bill. How many {m.name} must {p.name} pay for {n} {u}s?"
            ),
            (
                f"{p.name} used {n} {u}s of {what} last month. The tariff has a basic fee of {m.of(base)}; "
                f"the first {first} {u}s are {m.of(low)} each, all others {m.of(high)} each. Find the "
                f"amount due in {m.name}."
            ),
        )
    )
    return posed("tiered", say, amount(bill), first=first, prices=[low, high], n=n, base=base)


def _tiered_back(rng: Random) -> Problem:
    m = money(rng)
    p, q = people(rng, 2)
    what, u, seller, first, low, high, n, base = _tiers(rng)
    bill = base + low * first + high * (n - first)
    say = rng.choice(
        (
            (
                f"{p.name}'s monthly bill for {what} came to {m.of(bill)}. It consists of a fixed charge of "
                f"{m.of(base)}, {m.of(low)} for each of the first {first} {u}s and {m.of(high)} for each "
                f"{u} beyond them. How many {u}s were used?"
            ),
            (
                f"A {seller} asks {m.of(base)} a month, and in addition {m.of(low)} per {u} of {what} up to "
                f"{first} {u}s and {m.of(high)} per {u} above. {q.name} used {first - 3} {u}s last month. "
                f"{p.name} had to pay {m.of(bill)}. How many {u}s did {p.name} use?"
            ),
            (
                f"How many {u}s of {what} did a family use if they paid {m.of(bill)}, the basic fee was "
                f"{m.of(base)}, and the price per {u} was {m.of(low)} for the first {first} and "
                f"{m.of(high)} for the rest?"
            ),
        )
    )
    return posed("tiered_back", say, n, first=first, prices=[low, high], bill=bill, base=base)


def _two_offers(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    base1, per1 = rng.randint(5, 20) * 100, rng.randint(6, 20) * 10
    n, gap = rng.randint(15, 90), rng.randint(1, 5) * 10
    if per1 - gap < 10:
        return _two_offers(rng)
    base2, per2 = base1 + gap * n, per1 - gap
    u = rng.choice(("minute of calls", "kilometer", "copy", "visit"))
    units = plural(u)
    say = rng.choice(
        (
            (
                f"{p.name} compares two offers. The first has a monthly fee of {m.of(base1)} and costs "
                f"{m.of(per1)} per {u}, the second has a fee of {m.of(base2)} and costs {m.of(per2)} per "
                f"{u}. For how many {units} a month do both cost the same?"
            ),
            (
                f"Plan A: {m.of(base1)} a month plus {m.of(per1)} for every {u}. Plan B: {m.of(base2)} a "
                f"month, and {m.of(per2)} for every {u}. At what number of {units} per month is it all the "
                f"same to {p.name} which plan {p.he} chooses?"
            ),
            (
                f"By changing to a tariff with a basic fee of {m.of(base2)} instead of {m.of(base1)}, "
                f"{p.name} would pay only {m.of(per2)} instead of {m.of(per1)} per {u}. With {p.his} usual "
                f"number of {units} a month, the change makes no difference. What is that number?"
            ),
        )
    )
    return posed("offers", say, n, bases=[base1, base2], pers=[per1, per2])


_SHOWS = (
    "school play",
    "concert",
    "circus show",
    "film festival",
    "museum night",
    "puppet theater",
)


def _seats(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    show = rng.choice(_SHOWS)
    adults, children = rng.randint(20, 150), rng.randint(15, 120)
    a, c = redrawn(lambda: (rng.randint(5, 25), rng.randint(2, 12)), lambda t: t[1] < t[0])
    cost = redrawn(lambda: rng.randint(50, 900), lambda v: v < adults * a + children * c - 20)
    say = rng.choice(
        (
            (
                f"{adults} adults and {children} children came to a {show}. Tickets were {m.whole(a)} for "
                f"adults and {m.whole(c)} for children. The organizers spent {m.whole(cost)} on the hall. "
                f"How many {m.name} did they have left?"
            ),
            (
                f"For a {show}, {p.name} sold {children} children's tickets at {m.whole(c)} and {adults} "
                f"full-price tickets at {m.whole(a)}. After paying {m.whole(cost)} in expenses, what profit "
                f"in {m.name} remained?"
            ),
            (
                f"A {show} cost {m.whole(cost)} to put on. It was seen by {adults} people who paid "
                f"{m.whole(a)} each and {children} who paid the reduced price of {m.whole(c)}. By how many "
                f"{m.name} did the ticket money exceed the cost?"
            ),
        )
    )
    return posed(
        "seats",
        say,
        adults * a + children * c - cost,
        counts=[adults, children],
        prices=[a, c],
        cost=cost,
    )


def _how_many_adults(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    show = rng.choice(_SHOWS)
    x, y = rng.randint(12, 160), rng.randint(12, 160)
    a, c = redrawn(lambda: (rng.randint(5, 25), rng.randint(2, 14)), lambda t: t[1] < t[0])
    ask = rng.choice(("adults", "children"))
    end = f"How many {'adult' if ask == 'adults' else 'child'} tickets were sold?"
    say = rng.choice(
        (
            (
                f"{x + y} tickets for a {show} brought in {m.whole(x * a + y * c)}. Adults paid "
                f"{m.whole(a)} and children {m.whole(c)}. {end}"
            ),
            (
                f"At a {show}, an adult ticket was {m.whole(a)}, a child ticket {m.whole(c)}. {p.name}, who "
                f"ran the box office, counted {m.whole(x * a + y * c)} for {x + y} tickets. {end}"
            ),
            (
                f"The box office of a {show} took {m.whole(x * a + y * c)} in one evening, at "
                f"{m.whole(c)} for each child and {m.whole(a)} for each adult, and the hall, with "
                f"{x + y} seats, was sold out. {end}"
            ),
        )
    )
    return posed(
        "adults",
        say,
        x if ask == "adults" else y,
        total=x + y,
        prices=[a, c],
        sum=x * a + y * c,
        asked=ask,
    )


def _three_kinds(rng: Random) -> Problem:
    m = money(rng)
    show = rng.choice(_SHOWS)
    k = rng.randint(2, 4)
    balcony, box = rng.randint(10, 60), rng.randint(5, 30)
    floor = k * balcony
    a, b, c = sorted(rng.sample(range(4, 40), 3))
    total, takings = floor + balcony + box, floor * b + balcony * a + box * c
    ask = rng.choice(("box", "floor"))
    times = {2: "twice", 3: "three times", 4: "four times"}[k]
    det = (k * b + a) - (k + 1) * c
    if det == 0:
        return _three_kinds(rng)
    end = "How many box seats" if ask == "box" else "How many floor seats"
    say = told(
        rng,
        [
            rng.choice(
                (
                    f"There were {times} as many seats on the floor as on the balcony.",
                    f"For each visitor on the balcony there were {k} on the floor.",
                )
            ),
            rng.choice(
                (
                    (
                        f"A floor seat cost {m.whole(b)}, a balcony seat {m.whole(a)} and a box seat "
                        f"{m.whole(c)}."
                    ),
                    (
                        f"Prices were {m.whole(a)} for the balcony, {m.whole(b)} for the floor and "
                        f"{m.whole(c)} for a box seat."
                    ),
                )
            ),
            rng.choice(
                (
                    f"Altogether {total} seats were sold, for {m.whole(takings)}.",
                    f"The {total} visitors paid {m.whole(takings)} in all.",
                )
            ),
        ],
        rng.choice((f"{end} were sold?", f"{end} were taken that night?")),
        rng.choice(
            (
                f"A {show} sold out.",
                f"This is known about the tickets of a {show}.",
                f"A hall with floor, balcony and box seats was full for a {show}.",
            )
        ),
    )
    return posed(
        "three",
        say,
        box if ask == "box" else floor,
        k=k,
        prices=[a, b, c],
        total=total,
        sum=takings,
        asked=ask,
    )


_MADE = ("candle", "mug", "T-shirt", "birdhouse", "scarf", "calendar", "necklace", "wooden toy")


def _profit(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_MADE)
    fee, cost = rng.randint(20, 120), rng.randint(2, 9)
    price = cost + rng.randint(2, 14)
    n = rng.randint(30, 120)
    gain = n * (price - cost) - fee
    if gain < 10:
        return _profit(rng)
    say = rng.choice(
        (
            (
                f"{p.name} rents a stall at a fair for {m.whole(fee)} and sells {n} {plural(thing)} at "
                f"{m.whole(price)} each. Making one {thing} costs {p.him} {m.whole(cost)}. How many "
                f"{m.name} does {p.he} earn?"
            ),
            (
                f"It costs {p.name} {m.whole(cost)} to make {article(thing)}, which {p.he} sells for "
                f"{m.whole(price)}. One Saturday {p.he} sold {n} of them at a market where a place costs "
                f"{m.whole(fee)}. What was the profit in {m.name}?"
            ),
        )
    )
    return posed("profit", say, gain, fee=fee, cost=cost, price=price, n=n)


def _break_even(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_MADE)
    fee, cost = rng.randint(60, 900), rng.randint(2, 9)
    price = cost + rng.randint(2, 14)
    goal = rng.choice((0, rng.randint(5, 40) * 10))
    n = -(-(fee + goal) // (price - cost))
    if (fee + goal) % (price - cost) == 0 and not goal:
        return _break_even(rng)
    want = "not make a loss" if not goal else f"make a profit of at least {m.whole(goal)}"
    say = rng.choice(
        (
            (
                f"To make {plural(thing)}, {p.name} first spends {m.whole(fee)} on tools; each {thing} then "
                f"needs material for {m.whole(cost)} and sells for {m.whole(price)}. What is the least "
                f"number of {plural(thing)} {p.he} must sell to {want}?"
            ),
            (
                f"{p.name}'s workshop has fixed costs of {m.whole(fee)} a month. Producing "
                f"{article(thing)} costs another {m.whole(cost)}, and it is sold for {m.whole(price)}. How "
                f"many {plural(thing)} must be sold in a month, at least, to {want}?"
            ),
        )
    )
    return posed("even", say, n, fee=fee, cost=cost, price=price, goal=goal)


def _price_for_goal(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_MADE)
    n, broken = rng.randint(40, 150), rng.randint(3, 20)
    fee, cost = rng.randint(30, 300), rng.randint(2, 9)
    price = cost + rng.randint(2, 12)
    gain = (n - broken) * price - n * cost - fee
    if gain < 20:
        return _price_for_goal(rng)
    say = rng.choice(
        (
            (
                f"{p.name} ordered {count(n, thing)} at {m.whole(cost)} each and paid {m.whole(fee)} for "
                f"shipping. {broken} of them arrived damaged and could not be sold. {p.He} sold all the "
                f"others at one price and made a profit of {m.whole(gain)}. What was the price of one, in "
                f"{m.name}?"
            ),
            (
                f"A club had {count(n, thing)} made for {m.whole(cost)} apiece plus {m.whole(fee)} for the "
                f"design. It gave {broken} away and sold the rest, ending up {m.whole(gain)} richer than "
                f"before. At how many {m.name} apiece were they sold?"
            ),
        )
    )
    return posed("goal", say, price, n=n, lost=broken, fee=fee, cost=cost, gain=gain)


FAMILIES = (
    of_kinds(
        "stories_tariffs", (_base_and_rate,), (_tiered,), (_tiered_back, _two_offers), "tariffs"
    ),
    of_kinds(
        "stories_tickets",
        (_seats,),
        (_how_many_adults,),
        (_three_kinds,),
        "tickets of several kinds",
    ),
    of_kinds(
        "stories_break_even", (_profit,), (_break_even,), (_price_for_goal,), "costs and profit"
    ),
)
