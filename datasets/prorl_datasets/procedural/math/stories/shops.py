"""Shops and bills: change, discounts, tariffs, tickets, break-even."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.kinds import drawn, of_kinds, posed
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

_SHOPS = (
    ("stationery shop", ("notebook", "pen", "eraser", "ruler", "folder", "marker"), 16),
    ("bakery", ("roll", "croissant", "bagel", "muffin", "pretzel", "slice of cake"), 14),
    ("garden center", ("tulip bulb", "flower pot", "bag of soil", "rose bush", "watering can"), 40),
    ("market stall", ("melon", "jar of honey", "mango", "cabbage", "bunch of grapes"), 16),
    ("toy store", ("puzzle", "ball", "kite", "model car", "yo-yo", "board game"), 70),
    ("hardware store", ("hammer", "paint brush", "roll of tape", "padlock", "light bulb"), 60),
)


def _change(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    shop, goods, top = rng.choice(_SHOPS)
    a, b = rng.sample(goods, 2)
    x, y = rng.randint(2, 6), rng.randint(2, 8)
    c, d = (rng.randint(3, top) * 25 for _ in range(2))
    cost = x * c + y * d
    if cost >= 10000 or c == d:
        return _change(rng)
    note = min(v for v in (1000, 2000, 5000, 10000) if v > cost)
    say = rng.choice(
        (
            (
                f"{p.name} buys {count(x, a)} at {m.of(c)} each and {count(y, b)} at {m.of(d)} each in a "
                f"{shop}. How much change, in {m.name}, does {p.he} get from {m.of(note)}?"
            ),
            (
                f"At a {shop}, {article(a)} costs {m.of(c)} and {article(b)} costs {m.of(d)}. "
                f"{p.name} takes {x} of the former and {y} of the latter and pays with a "
                f"{note // 100}-{m.name[:-1]} note. How many {m.name} does {p.he} get back?"
            ),
            (
                f"{p.name} went to the {shop} with {m.of(note)}. {p.He} bought {count(y, b)} for "
                f"{m.of(d)} apiece, and then {count(x, a)} for {m.of(c)} apiece. What amount, in "
                f"{m.name}, was left?"
            ),
        )
    )
    return posed("change", say, amount(note - cost), counts=[x, y], prices=[c, d], paid=note)


_NTH = {3: "third", 4: "fourth", 5: "fifth"}


def _free_ones(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    shop, goods, top = rng.choice(_SHOPS)
    a, b = rng.sample(goods, 2)
    group = rng.randint(3, 5)
    n = drawn(lambda: rng.randint(7, 23), lambda v: v % group != 0)
    c, d, y = rng.randint(3, top) * 25, rng.randint(3, top) * 25, rng.randint(2, 5)
    free = n // group
    say = rng.choice(
        (
            (
                f"A {shop} lets every {_NTH[group]} {a} go for free: of each {group} that are bought "
                f"together, only {group - 1} are paid for. The normal price is {m.of(c)}. {p.name} takes "
                f"{count(n, a)} and also {count(y, b)} at {m.of(d)} each, for which there is no offer. "
                f"How many {m.name} does {p.he} pay?"
            ),
            (
                f'"Take {group}, pay for {group - 1}!" says the sign above the {plural(a)} in a {shop}. '
                f"Each {a} costs {m.of(c)}; whatever does not make up a full set of {group} is charged "
                f"at that price. {p.name} puts {n} of them into {p.his} basket together with "
                f"{count(y, b)}, {m.of(d)} apiece. What is the total bill in {m.name}?"
            ),
            (
                f"{p.name} needs {count(n, a)} and {count(y, b)}. In the {shop} {plural(b)} are "
                f"{m.of(d)} each. The price of {article(a)} is {m.of(c)}, but for every {group - 1} that "
                f"are paid for, one more is given away. Find the least amount, in {m.name}, that "
                f"{p.he} can spend on exactly what {p.he} needs."
            ),
        )
    )
    return posed("free", say, amount((n - free) * c + y * d), n=n, group=group, prices=[c, d], y=y)


def _two_bills(rng: Random) -> Problem:
    m = money(rng)
    p, q, r = people(rng, 3)
    shop, goods, top = rng.choice(_SHOPS)
    a, b = rng.sample(goods, 2)
    x1, y1, x2, y2 = drawn(
        lambda: tuple(rng.randint(2, 9) for _ in range(4)), lambda t: t[0] * t[3] != t[1] * t[2]
    )
    c, d = drawn(
        lambda: (rng.randint(2, top // 2) * 50, rng.randint(2, top // 2) * 50),
        lambda t: t[0] != t[1],
    )
    s, t = x1 * c + y1 * d, x2 * c + y2 * d
    u, v = rng.randint(1, 6), rng.randint(2, 6)
    ask = rng.choice(("price", "third"))
    end = (
        f"What is the price of one {a}, in {m.name}?"
        if ask == "price"
        else f"How many {m.name} will {r.name} have to pay for {count(u, a)} and {count(v, b)}?"
    )
    say = rng.choice(
        (
            (
                f"In a {shop}, {p.name} paid {m.of(s)} for {count(x1, a)} and {count(y1, b)}. "
                f"{q.name} bought {count(x2, a)} and {count(y2, b)} at the same prices for {m.of(t)}. "
                f"{end}"
            ),
            (
                f"{count(x1, a).capitalize()} and {count(y1, b)} cost {m.of(s)} together, while "
                f"{count(x2, a)} and {count(y2, b)} cost {m.of(t)}. {end}"
            ),
            (
                f"The receipts of two customers of a {shop} show only the totals: {m.of(s)} for "
                f"{p.name}, who took {count(x1, a)} and {count(y1, b)}, and {m.of(t)} for {q.name} with "
                f"{count(x2, a)} and {count(y2, b)}. The shop opened at 9 o'clock. {end}"
            ),
        )
    )
    answer = c if ask == "price" else u * c + v * d
    wanted = [1, 0] if ask == "price" else [u, v]
    return posed("bills", say, amount(answer), first=[x1, y1, s], second=[x2, y2, t], wanted=wanted)


_THINGS = (
    "jacket", "tent", "bicycle", "camera", "guitar", "desk lamp", "backpack", "radio", "armchair",
    "washing machine", "pair of boots", "winter coat", "printer", "suitcase",
)  # fmt: skip


def _percent_off(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_THINGS)
    rate, price = rng.choice((10, 15, 20, 25, 30, 35, 40)), rng.randint(2, 40) * 20
    n = rng.randint(2, 5)
    say = rng.choice(
        (
            (
                f"{article(thing).capitalize()} that normally costs {m.whole(price)} is marked down by "
                f"{rate}%. {p.name} buys {n} of them. How many {m.name} does {p.he} pay?"
            ),
            (
                f"The price of {article(thing)} is {m.whole(price)}. During a sale it is reduced by "
                f"{rate} percent. What do {n} of them cost during the sale, in {m.name}?"
            ),
            (
                f"With a coupon {p.name} gets {rate}% off {article(thing)} priced at {m.whole(price)}. "
                f"{p.He} has {n} coupons and buys one such item with each. Find the sum {p.he} spends, "
                f"in {m.name}."
            ),
        )
    )
    return posed("off", say, amount(n * price * (100 - rate)), rates=[rate], price=price, n=n)


def _chain(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_THINGS)
    r, s = rng.choice((10, 20, 25, 30, 40)), rng.choice((5, 10, 20, 25, 50))
    off = rng.randint(2, 12)
    price = drawn(
        lambda: rng.randint(3, 45) * 20,
        lambda v: v * (100 - r) * (100 - s) % 100 == 0 and v * (100 - r) * (100 - s) > off * 20000,
    )
    cents = price * (100 - r) * (100 - s) // 100
    coupon_first = rng.choice((True, False))
    if coupon_first:
        cents = (price - off) * (100 - r) * (100 - s)
        if cents % 100:
            return _chain(rng)
        cents //= 100
        say = rng.choice(
            (
                (
                    f"{p.name} hands over a voucher worth {m.whole(off)} for {article(thing)} whose price "
                    f"tag reads {m.whole(price)}. From what is left the shop takes {r}% for the season "
                    f"sale, and from the new amount another {s}% for members. What does {p.name} pay, in "
                    f"{m.name}?"
                ),
                (
                    f"{article(thing).capitalize()} is listed at {m.whole(price)}. First {m.whole(off)} "
                    f"are deducted, then {r}% of the remaining sum, and at last {s}% of what then remains. "
                    f"Find the final price in {m.name}."
                ),
            )
        )
    else:
        cents -= off * 100
        say = rng.choice(
            (
                (
                    f"The price of {article(thing)}, {m.whole(price)}, is cut by {r}% in spring and by a "
                    f"further {s}% of the new price in summer. {p.name} also has a voucher for "
                    f"{m.whole(off)}, which is taken off at the very end. How many {m.name} does {p.he} "
                    "pay in summer?"
                ),
                (
                    f"In a clearance, {article(thing)} at {m.whole(price)} becomes {r}% cheaper. At the "
                    f"till, {p.name} gets {s}% off the reduced price, and finally {m.whole(off)} are "
                    f"deducted for returning an old one. What amount, in {m.name}, is left to pay?"
                ),
            )
        )
    return posed(
        "chain", say, amount(cents), price=price, rates=[r, s], off=off, coupon_first=coupon_first
    )


def _original(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    thing = rng.choice(_THINGS)
    r, s = rng.choice((10, 20, 25, 30, 40, 50)), rng.choice((5, 10, 20, 25))
    price = drawn(
        lambda: rng.randint(3, 60) * 20,
        lambda v: v * (100 - r) * (100 - s) % 100 == 0 and v * (100 - r) * (100 + s) % 100 == 0,
    )
    up = rng.choice((True, False))
    cents = price * (100 - r) * (100 + s if up else 100 - s) // 100
    say = (
        rng.choice(
            (
                (
                    f"After a reduction of {r}%, a merchant raised the price of {article(thing)} by {s}% "
                    f"of the reduced price. It then cost {m.of(cents)}. What had been its price, in "
                    f"{m.name}, before the two changes?"
                ),
                (
                    f"{p.name} paid {m.of(cents)} for {article(thing)}. This included {s}% sales tax on "
                    f"top of the sale price, which was {r}% lower than the regular price. Find the regular "
                    f"price without tax, in {m.name}."
                ),
            )
        )
        if up
        else rng.choice(
            (
                (
                    f"{p.name} bought {article(thing)} for {m.of(cents)} after two discounts: first {r}%, "
                    f"then {s}% of the already reduced price. What was the original price in {m.name}?"
                ),
                (
                    f"The price of {article(thing)} fell by {r}% in one year and by {s}% in the next. It is "
                    f"now {m.of(cents)}. How many {m.name} did it cost at the beginning?"
                ),
                (
                    f"A store sells {article(thing)} at {r}% below the list price. Employees like {p.name} "
                    f"get another {s}% off that. {p.name} paid {m.of(cents)}. Work out the list price in "
                    f"{m.name}."
                ),
            )
        )
    )
    return posed("original", say, price, paid=cents, rates=[r, s], up=up)


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
    a, c = drawn(lambda: (rng.randint(5, 25), rng.randint(2, 12)), lambda t: t[1] < t[0])
    cost = drawn(lambda: rng.randint(50, 900), lambda v: v < adults * a + children * c - 20)
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
    a, c = drawn(lambda: (rng.randint(5, 25), rng.randint(2, 14)), lambda t: t[1] < t[0])
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
    of_kinds("stories_shopping", (_change,), (_free_ones,), (_two_bills,), "prices and change"),
    of_kinds("stories_discounts", (_percent_off,), (_chain,), (_original,), "chains of discounts"),
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
