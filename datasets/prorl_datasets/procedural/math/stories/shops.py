"""Word problems on shopping."""

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
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

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
    say = WORDINGS.draw(
        rng,
        "change",
        p=p,
        x=count(x, a),
        m=m.of(c),
        y=count(y, b),
        m_2=m.of(d),
        shop=shop,
        m_3=m,
        m_4=m.of(note),
        a=article(a),
        b=article(b),
        x_2=x,
        y_2=y,
        note_by_100=note // 100,
        name=m.name[:-1],
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
    say = WORDINGS.draw(
        rng,
        "free ones",
        shop=shop,
        nth_group=_NTH[group],
        a=a,
        group=group,
        group_minus_one=group - 1,
        c_paid=m.of(c),
        p=p,
        n_a=count(n, a),
        y_b=count(y, b),
        d_paid=m.of(d),
        m=m,
        plural_a=plural(a),
        n=n,
        b=plural(b),
        a_a=article(a),
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
    say = WORDINGS.draw(
        rng,
        "two bills",
        shop=shop,
        p=p,
        s_paid=m.of(s),
        x1_a=count(x1, a),
        y1_b=count(y1, b),
        q=q,
        x2_a=count(x2, a),
        y2_b=count(y2, b),
        t_paid=m.of(t),
        end=end,
        capitalize_x1_a=count(x1, a).capitalize(),
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
    say = WORDINGS.draw(
        rng,
        "percent off",
        capitalize_a_thing=article(thing).capitalize(),
        price_paid=m.whole(price),
        rate=rate,
        p=p,
        n=n,
        m=m,
        a_thing=article(thing),
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
        say = WORDINGS.draw(
            rng,
            "chain, coupon_first",
            p=p,
            off_paid=m.whole(off),
            a_thing=article(thing),
            price_paid=m.whole(price),
            r=r,
            s=s,
            m=m,
            capitalize_a_thing=article(thing).capitalize(),
        )
    else:
        cents -= off * 100
        say = WORDINGS.draw(
            rng,
            "chain",
            a_thing=article(thing),
            price_paid=m.whole(price),
            r=r,
            s=s,
            p=p,
            off_paid=m.whole(off),
            m=m,
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
        WORDINGS.draw(
            rng, "original, up", r=r, a_thing=article(thing), s=s, cents_paid=m.of(cents), m=m, p=p
        )
        if up
        else WORDINGS.draw(
            rng, "original", p=p, a_thing=article(thing), cents_paid=m.of(cents), r=r, s=s, m=m
        )
    )
    return posed("original", say, price, paid=cents, rates=[r, s], up=up)


FAMILIES = (
    of_kinds("stories_shopping", (_change,), (_free_ones,), (_two_bills,), "prices and change"),
    of_kinds("stories_discounts", (_percent_off,), (_chain,), (_original,), "chains of discounts"),
)
