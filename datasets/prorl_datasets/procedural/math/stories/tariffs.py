"""Word problems on tariffs, tickets and break-even points."""

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
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

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
    say = WORDINGS.draw(
        rng,
        "base and rate",
        service=service,
        base_paid=m.of(base),
        per_paid=m.of(per),
        u=u,
        m=m,
        phrase=phrase,
        n=n,
        p=p,
        tip_paid=m.whole(tip),
        what=what,
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
    say = WORDINGS.draw(
        rng,
        "tiered",
        seller=seller,
        what=what,
        low_paid=m.of(low),
        first=first,
        u=u,
        high_paid=m.of(high),
        base_paid=m.of(base),
        p=p,
        n=n,
        m=m,
    )
    return posed("tiered", say, amount(bill), first=first, prices=[low, high], n=n, base=base)


def _tiered_back(rng: Random) -> Problem:
    m = money(rng)
    p, q = people(rng, 2)
    what, u, seller, first, low, high, n, base = _tiers(rng)
    bill = base + low * first + high * (n - first)
    say = WORDINGS.draw(
        rng,
        "tiered back",
        p=p,
        what=what,
        bill_paid=m.of(bill),
        base_paid=m.of(base),
        low_paid=m.of(low),
        first=first,
        u=u,
        high_paid=m.of(high),
        seller=seller,
        q=q,
        first_minus_three=first - 3,
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
    say = WORDINGS.draw(
        rng,
        "two offers",
        p=p,
        base1_paid=m.of(base1),
        per1_paid=m.of(per1),
        u=u,
        base2_paid=m.of(base2),
        per2_paid=m.of(per2),
        units=units,
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
    say = WORDINGS.draw(
        rng,
        "seats",
        adults=adults,
        children=children,
        show=show,
        a_paid=m.whole(a),
        c_paid=m.whole(c),
        cost_paid=m.whole(cost),
        m=m,
        p=p,
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
    say = WORDINGS.draw(
        rng,
        "how many adults",
        total=x + y,
        show=show,
        x_times_a_plus_y_times_c_paid=m.whole(x * a + y * c),
        a_paid=m.whole(a),
        c_paid=m.whole(c),
        end=end,
        p=p,
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
            WORDINGS.draw(rng, "three kinds", times=times, k=k),
            WORDINGS.draw(
                rng, "three kinds, 2", b_paid=m.whole(b), a_paid=m.whole(a), c_paid=m.whole(c)
            ),
            WORDINGS.draw(rng, "three kinds 2", total=total, whole_takings=m.whole(takings)),
        ],
        rng.choice((f"{end} were sold?", f"{end} were taken that night?")),
        WORDINGS.draw(rng, "three kinds, 3", show=show),
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
    say = WORDINGS.draw(
        rng,
        "profit",
        p=p,
        m=m.whole(fee),
        n=n,
        thing=plural(thing),
        m_2=m.whole(price),
        thing_2=thing,
        m_3=m.whole(cost),
        m_4=m,
        article_thing=article(thing),
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
    say = WORDINGS.draw(
        rng,
        "break even",
        thing=plural(thing),
        p=p,
        m=m.whole(fee),
        thing_2=thing,
        m_2=m.whole(cost),
        m_3=m.whole(price),
        want=want,
        article_thing=article(thing),
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
    say = WORDINGS.draw(
        rng,
        "price for goal",
        p=p,
        n_thing=count(n, thing),
        cost_paid=m.whole(cost),
        fee_paid=m.whole(fee),
        broken=broken,
        gain_paid=m.whole(gain),
        m=m,
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
