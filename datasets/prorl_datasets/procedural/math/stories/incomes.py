"""Word problems on saving, wages, interest and currencies."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import amount, article, money, people
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

_GOALS = ("bicycle", "guitar", "telescope", "camera", "skateboard", "sewing machine", "drum kit",
          "laptop", "surfboard", "pair of skis")  # fmt: skip


def _weekly(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    goal = rng.choice(_GOALS)
    start, earn, spend = rng.randint(10, 90), rng.randint(12, 40), rng.randint(3, 11)
    weeks = rng.randint(6, 20)
    price = start + weeks * (earn - spend)
    say = WORDINGS.draw(
        rng,
        "weekly",
        p=p,
        a_goal=article(goal),
        price_paid=m.whole(price),
        start_paid=m.whole(start),
        earn_paid=m.whole(earn),
        spend_paid=m.whole(spend),
        goal=goal,
    )
    return posed("weekly", say, weeks, price=price, start=start, earn=earn, spend=spend)


def _growing(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    first, step, n = rng.randint(2, 20), rng.randint(1, 6), rng.randint(8, 24)
    total = n * first + step * n * (n - 1) // 2
    taken = rng.randint(5, total // 3)
    say = WORDINGS.draw(
        rng,
        "growing",
        p=p,
        first_paid=m.whole(first),
        step_paid=m.whole(step),
        n=n,
        taken_paid=m.whole(taken),
        m=m,
    )
    return posed("growing", say, total - taken, first=first, step=step, n=n, taken=taken)


def _overtake(rng: Random) -> Problem:
    m = money(rng)
    p, q = people(rng, 2)
    n, slow = rng.randint(6, 30), rng.randint(3, 15)
    gap = rng.randint(2, 12)
    low = rng.randint(5, 80)
    high, k = low + gap * n, rng.choice((1, 2))
    if k == 2:  # q has twice as much as p after n weeks
        high = 2 * (low + (slow + gap) * n) - slow * n
        if not low < high < 600:
            return _overtake(rng)
    now = f"{p.name} has {m.whole(low)} and saves {m.whole(slow + gap)} a week"
    then = f"{q.name} has {m.whole(high)} and saves {m.whole(slow)} a week"
    wish = (
        "the same amount"
        if k == 1
        else f"so much that {q.name} has exactly twice as much as {p.name}"
    )
    say = pick(
        rng,
        f"{now}. {then}. After how many weeks will the two have {wish}?"
        if k == 1
        else WORDINGS.one("overtake 2", now=now, then=then, q=q, p=p),
        WORDINGS.one(
            "overtake",
            q=q,
            m=m.whole(high),
            p=p,
            m_2=m.whole(low),
            m_3=m.whole(slow),
            m_4=m.whole(slow + gap),
            equal_to="equal to" if k == 1 else "exactly double",
        ),
    )
    return posed("overtake", say, n, starts=[low, high], weekly=[slow + gap, slow], times=k)


_JOBS = ("a nursery", "a bakery", "a call center", "a boatyard", "a library", "a garage", "a farm")


def _overtime(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    normal, rate = rng.choice((30, 35, 36, 38, 40)), rng.randint(9, 26) * 2
    extra = rng.randint(2, 12)
    factor = rng.choice((150, 200))
    pay = normal * rate + extra * rate * factor // 100
    words = {150: "one and a half times", 200: "twice"}[factor]
    say = WORDINGS.draw(
        rng,
        "overtime",
        p=p,
        m=m,
        normal_plus_extra=normal + extra,
        m_2=m.whole(rate),
        normal=normal,
        words=words,
        drawn=rng.choice(_JOBS),
    )
    return posed(
        "overtime", say, pay, normal=normal, rate=rate, hours=normal + extra, factor=factor
    )


def _plain_wage(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    long, short = rng.randint(6, 9), rng.randint(2, 5)
    days, rate = rng.randint(2, 4), rng.randint(9, 26)
    fare = rng.randint(2, 8)
    say = WORDINGS.draw(
        rng,
        "plain wage",
        p=p,
        m=m,
        long=long,
        days=days,
        short=short,
        m_2=m.whole(rate),
        m_3=m.whole(fare),
        drawn=rng.choice(_JOBS),
    )
    return posed(
        "wage",
        say,
        (long * days + short) * rate - fare * (days + 1),
        days=days,
        long=long,
        short=short,
        rate=rate,
        fare=fare,
    )


def _hours_back(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    normal, rate = rng.choice((30, 35, 36, 38, 40)), rng.randint(9, 26) * 2
    extra, bonus, tax = rng.randint(2, 14), rng.randint(10, 60), rng.choice((10, 20, 25))
    gross = normal * rate + extra * rate * 3 // 2 + bonus
    if gross * (100 - tax) % 100:
        return _hours_back(rng)
    net = gross * (100 - tax) // 100
    say = WORDINGS.draw(
        rng,
        "hours back",
        p=p,
        net_paid=m.whole(net),
        tax=tax,
        rate_paid=m.whole(rate),
        normal=normal,
        bonus_paid=m.whole(bonus),
    )
    return posed(
        "hours", say, normal + extra, normal=normal, rate=rate, bonus=bonus, tax=tax, net=net
    )


def _simple_interest(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    rate, years, sum_ = rng.randint(2, 9), rng.randint(2, 8), rng.randint(4, 90) * 100
    ask = rng.choice(("total", "interest"))
    gain = sum_ * rate * years // 100
    what = (
        f"How much will {p.he} have then, in {m.name}?"
        if ask == "total"
        else f"How many {m.name} of interest does this bring {p.him} altogether?"
    )
    say = WORDINGS.draw(
        rng, "simple interest", rate=rate, p=p, sum_paid=m.whole(sum_), years=years, what=what
    )
    return posed(
        "simple",
        say,
        sum_ + gain if ask == "total" else gain,
        sum=sum_,
        rate=rate,
        years=years,
        asked=ask,
    )


def _compound(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    rate = rng.choice((2, 4, 5, 10, 20))
    base, added = rng.randint(1, 30) * 400, rng.randint(1, 8) * 100
    once = base * 100 * (100 + rate)  # ten-thousandths
    second = (once + added * 10000) * (100 + rate)
    if second % 10000:
        return _compound(rng)
    cents = second // 10000
    say = WORDINGS.draw(
        rng, "compound", p=p, base_paid=m.whole(base), rate=rate, added_paid=m.whole(added), m=m
    )
    return posed("compound", say, amount(cents), base=base, rate=rate, added=added)


def _two_accounts(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    r, s = redrawn(lambda: (rng.randint(2, 9), rng.randint(2, 12)), lambda t: t[0] != t[1])
    x, y = rng.randint(2, 60) * 100, rng.randint(2, 60) * 100
    gain = (x * r + y * s) // 100
    say = WORDINGS.draw(
        rng,
        "two accounts",
        x_plus_y_paid=m.whole(x + y),
        p=p,
        r=r,
        s=s,
        gain_paid=m.whole(gain),
        m=m,
    )
    return posed("accounts", say, x, total=x + y, rates=[r, s], gain=gain)


_LANDS = (("crowns", "a northern country"), ("pesos", "a southern country"), ("lira", "an island"),
          ("francs", "a mountain country"), ("rupees", "a big country"))  # fmt: skip
_IN = {land: f"{'On' if land == 'an island' else 'In'} {land}" for _, land in _LANDS}


def _exchange(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    coin, land = rng.choice(_LANDS)
    rate = rng.randint(5, 95)
    have, fee = rng.randint(8, 60) * 10, rng.randint(2, 9)
    nights, cost = rng.randint(2, 6), rng.randint(5, 30) * rate // 5
    left = (have - fee) * rate - nights * cost
    if left < 10:
        return _exchange(rng)
    say = WORDINGS.draw(
        rng,
        "exchange",
        p=p,
        have_paid=m.whole(have),
        land=land,
        fee_paid=m.whole(fee),
        coin_text=m.name[:-1],
        rate=rate,
        coin=coin,
        nights=nights,
        cost=cost,
    )
    return posed("exchange", say, left, have=have, fee=fee, rate=rate, n=nights, cost=cost)


def _there_and_back(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    coin, land = rng.choice(_LANDS)
    sell = rng.randint(4, 40)
    buy = sell + rng.randint(1, 6)
    have, spent = rng.randint(10, 90) * 10, 0
    back = rng.randint(2, 30)
    spent = have * sell - back * buy
    if spent < have * sell // 3:
        return _there_and_back(rng)
    say = WORDINGS.draw(
        rng,
        "there and back",
        in_=_IN[land],
        sell=sell,
        coin=coin,
        name=m.name[:-1],
        buy=buy,
        p=p,
        m=m.whole(have),
        spent=spent,
        m_2=m,
    )
    return posed("back", say, back, have=have, sell=sell, buy=buy, spent=spent)


def _find_rate(rng: Random) -> Problem:
    m = money(rng)
    p, q = people(rng, 2)
    coin, land = rng.choice(_LANDS)
    rate, fee = rng.randint(6, 60), rng.randint(2, 9)
    have, more = rng.randint(5, 40) * 10, rng.randint(3, 30) * 10
    got, other = (have - fee) * rate, (have + more - fee) * rate
    ask = rng.choice(("rate", "fee"))
    want = (
        f"How many {coin} is one {m.name[:-1]} worth there?"
        if ask == "rate"
        else f"How high is the fee, in {m.name}?"
    )
    say = WORDINGS.draw(
        rng,
        "find rate",
        in_=_IN[land].lower(),
        m=m.whole(have),
        p=p,
        got=got,
        coin=coin,
        m_2=m.whole(have + more),
        q=q,
        other=other,
        want=want,
    )
    return posed(
        "rate",
        say,
        rate if ask == "rate" else fee,
        amounts=[have, have + more],
        got=[got, other],
        asked=ask,
    )


FAMILIES = (
    of_kinds("stories_savings", (_weekly,), (_growing,), (_overtake,), "saving week by week"),
    of_kinds("stories_wages", (_plain_wage,), (_overtime,), (_hours_back,), "pay and overtime"),
    of_kinds("stories_interest", (_simple_interest,), (_compound,), (_two_accounts,), "interest"),
    of_kinds(
        "stories_currency", (_exchange,), (_there_and_back,), (_find_rate,), "changing currencies"
    ),
)
