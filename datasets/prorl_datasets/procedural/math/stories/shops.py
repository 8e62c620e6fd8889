"""Shopping: change, two bills, chains of discounts."""

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
    n = redrawn(lambda: rng.randint(7, 23), lambda v: v % group != 0)
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
    x1, y1, x2, y2 = redrawn(
        lambda: tuple(rng.randint(2, 9) for _ in range(4)), lambda t: t[0] * t[3] != t[1] * t[2]
    )
    c, d = redrawn(
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
    price = redrawn(
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
    price = redrawn(
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


FAMILIES = (
    of_kinds("stories_shopping", (_change,), (_free_ones,), (_two_bills,), "prices and change"),
    of_kinds("stories_discounts", (_percent_off,), (_chain,), (_original,), "chains of discounts"),
)
