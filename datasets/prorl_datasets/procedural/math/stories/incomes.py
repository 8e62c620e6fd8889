"""Money over time: saving, wages, interest, changing currencies."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import amount, article, money, people

_GOALS = ("bicycle", "guitar", "telescope", "camera", "skateboard", "sewing machine", "drum kit",
          "laptop", "surfboard", "pair of skis")  # fmt: skip


def _weekly(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    goal = rng.choice(_GOALS)
    start, earn, spend = rng.randint(10, 90), rng.randint(12, 40), rng.randint(3, 11)
    weeks = rng.randint(6, 20)
    price = start + weeks * (earn - spend)
    say = rng.choice(
        (
            (
                f"{p.name} wants to buy {article(goal)} for {m.whole(price)}. {p.He} already has "
                f"{m.whole(start)}. Every week {p.he} earns {m.whole(earn)} by walking dogs and spends "
                f"{m.whole(spend)} of it. After how many weeks can {p.he} afford it?"
            ),
            (
                f"The {goal} that {p.name} would like costs {m.whole(price)}. From a weekly allowance of "
                f"{m.whole(earn)} {p.he} keeps everything but {m.whole(spend)}, and {p.his} grandmother "
                f"has given {p.him} {m.whole(start)} to begin with. How many weeks will {p.he} have to save?"
            ),
            (
                f"In how many weeks will {p.name}, who has {m.whole(start)} now, gets {m.whole(earn)} a "
                f"week for delivering newspapers and uses up {m.whole(spend)} a week, have enough for "
                f"{article(goal)} at {m.whole(price)}?"
            ),
        )
    )
    return posed("weekly", say, weeks, price=price, start=start, earn=earn, spend=spend)


def _growing(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    first, step, n = rng.randint(2, 20), rng.randint(1, 6), rng.randint(8, 24)
    total = n * first + step * n * (n - 1) // 2
    taken = rng.randint(5, total // 3)
    say = rng.choice(
        (
            (
                f"{p.name} puts {m.whole(first)} into a money box in the first week and in every week "
                f"after that {m.whole(step)} more than in the week before. After {n} weeks {p.he} takes "
                f"out {m.whole(taken)}. How many {m.name} are left in it?"
            ),
            (
                f"During {n} weeks {p.name} saves a sum that grows by {m.whole(step)} each week, starting "
                f"with {m.whole(first)}. {p.He} then spends {m.whole(taken)} of all {p.he} has saved. Find "
                f"what remains, in {m.name}."
            ),
            (
                f"A savings plan begins with a deposit of {m.whole(first)}. Each weekly deposit is "
                f"{m.whole(step)} larger than the last one. {p.name} follows the plan for {n} deposits and "
                f"withdraws {m.whole(taken)}. What is now in the account, in {m.name}, if there is no "
                "interest?"
            ),
        )
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
    say = rng.choice(
        (
            f"{now}. {then}. After how many weeks will the two have {wish}?"
            if k == 1
            else f"{now}. {then}. After how many weeks will {q.name} have exactly twice as much as "
            f"{p.name}?",
            (
                f"{q.name} starts with {m.whole(high)}, {p.name} with only {m.whole(low)}. Each week "
                f"{q.name} adds {m.whole(slow)} while {p.name} adds {m.whole(slow + gap)}. In how many "
                f"weeks will {q.name}'s savings be {'equal to' if k == 1 else 'exactly double'} "
                f"{p.name}'s?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"What does {p.name} earn, in {m.name}, for {normal + extra} hours of work in one week, when an hour is paid "
                f"{m.whole(rate)} and every hour after the first {normal} counts {words} as much?"
            ),
            (
                f"{p.name} works in {rng.choice(_JOBS)} for {m.whole(rate)} an hour. Hours beyond {normal} "
                f"in a week are paid at {words} the normal rate. How many {m.name} does {p.he} earn in a "
                f"week of {normal + extra} hours?"
            ),
            (
                f"Last week {p.name} worked {normal + extra} hours. Up to {normal} hours {p.he} gets "
                f"{m.whole(rate)} per hour, and for each hour of overtime {words} as much. What was "
                f"{p.his} pay in {m.name}?"
            ),
        )
    )
    return posed(
        "overtime", say, pay, normal=normal, rate=rate, hours=normal + extra, factor=factor
    )


def _plain_wage(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    long, short = rng.randint(6, 9), rng.randint(2, 5)
    days, rate = rng.randint(2, 4), rng.randint(9, 26)
    fare = rng.randint(2, 8)
    say = rng.choice(
        (
            (
                f"How much of {p.his} weekly pay, in {m.name}, is left to {p.name} if {p.he} works {long} hours on each of "
                f"{days} days and {short} hours on one more day for {m.whole(rate)} an hour, and if every working day costs "
                f"{p.him} {m.whole(fare)} for the bus?"
            ),
            (
                f"{p.name} works {long} hours a day on {days} days of the week and {short} hours on "
                f"Saturday, at {m.whole(rate)} an hour. The way to work costs {p.him} {m.whole(fare)} on "
                f"each of these days. How many {m.name} a week does {p.he} keep after paying for it?"
            ),
            (
                f"In {rng.choice(_JOBS)} {p.name} is paid {m.whole(rate)} per hour. {p.He} worked {days} "
                f"days of {long} hours each and one of {short} hours, and spent {m.whole(fare)} on lunch on "
                f"every one of those days. What did {p.he} have left of {p.his} pay, in {m.name}?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name} received {m.whole(net)} this week, after taxes of {tax}% on everything earned. What {p.he} earned "
                f"was {m.whole(rate)} for each of the first {normal} hours, one and a half times as much for each later hour, "
                f"and a bonus of {m.whole(bonus)}. How many hours was {p.he} at work?"
            ),
            (
                f"{p.name} is paid {m.whole(rate)} an hour for the first {normal} hours of a week and half "
                f"as much again for every further hour. For good work {p.he} got a bonus of "
                f"{m.whole(bonus)} this week. After {tax}% of everything had been taken off for taxes, "
                f"{m.whole(net)} were left. How many hours did {p.he} work?"
            ),
            (
                f"This week {p.name} took home {m.whole(net)}. This is what remained of {p.his} pay and a "
                f"bonus of {m.whole(bonus)} when {tax}% of the total had been kept back. The hourly rate is "
                f"{m.whole(rate)} up to {normal} hours and one and a half times that beyond. Find the number "
                "of hours worked."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"At {rate}% simple interest a year, {p.name} puts {m.whole(sum_)} into a fund and leaves it there for "
                f"{years} years. {what}"
            ),
            (
                f"{p.name} lends {m.whole(sum_)} to a friend for {years} years at {rate}% simple interest "
                f"a year. {what}"
            ),
            (
                f"A bond of {m.whole(sum_)} pays {rate} percent of this sum as interest every year. "
                f"{p.name} keeps it for {years} years, puts the interest aside without investing it, and is "
                f"paid back the {m.whole(sum_)} at the end. {what}"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name} has {m.whole(base)} in the bank, which adds {rate}% to whatever is there at the end of each year. "
                f"After the first time this has happened, {p.he} brings {m.whole(added)} more, and then waits for the second "
                f"time. Find the balance after that, in {m.name}."
            ),
            (
                f"{p.name} opens an account with {m.whole(base)}. At the end of each year {rate}% interest "
                f"is added. Right after the first year's interest has been added, {p.he} pays in another "
                f"{m.whole(added)}. How many {m.name} are in the account at the end of the second year, "
                "after the interest?"
            ),
            (
                f"A savings account pays {rate} percent a year, and the interest stays in the account. "
                f"{p.name} deposits {m.whole(base)} now and {m.whole(added)} exactly one year later. What "
                f"will the account hold two years from now, in {m.name}?"
            ),
        )
    )
    return posed("compound", say, amount(cents), base=base, rate=rate, added=added)


def _two_accounts(rng: Random) -> Problem:
    m, (p,) = money(rng), people(rng, 1)
    r, s = redrawn(lambda: (rng.randint(2, 9), rng.randint(2, 12)), lambda t: t[0] != t[1])
    x, y = rng.randint(2, 60) * 100, rng.randint(2, 60) * 100
    gain = (x * r + y * s) // 100
    say = rng.choice(
        (
            (
                f"Two loans add up to {m.whole(x + y)}. For one, {p.name} pays {r}% interest a year, for the other {s}%, and "
                f"that is {m.whole(gain)} a year in all. How large is the loan at {r}%, in {m.name}?"
            ),
            (
                f"{p.name} invested {m.whole(x + y)}, one part at {r}% and the rest at {s}% a year. After "
                f"one year the two investments brought {m.whole(gain)} of interest together. How many "
                f"{m.name} were invested at {r}%?"
            ),
            (
                f"Of {m.whole(x + y)} that {p.name} inherited, {p.he} lent some to a bank, which pays {s}% a "
                f"year, and all the rest to a cooperative paying {r}%. The first year's interest was "
                f"{m.whole(gain)} in total. What sum, in {m.name}, did the cooperative get?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name} hands {m.whole(have)} over a counter in {land}. {m.whole(fee)} are kept for the service, and for "
                f"each {m.name[:-1]} of the rest {p.he} is given {rate} {coin}. Then {p.he} pays {nights} bills of {cost} "
                f"{coin} each. What is left, in {coin}?"
            ),
            (
                f"Before a trip to {land}, {p.name} takes {m.whole(have)} to a bank. The bank keeps a fee of "
                f"{m.whole(fee)} and changes the rest at {rate} {coin} for one {m.name[:-1]}. {p.name} pays "
                f"{cost} {coin} for each of {nights} nights in a hostel. How many {coin} does {p.he} have "
                "left?"
            ),
            (
                f"One {m.name[:-1]} buys {rate} {coin}. {p.name} changed {m.whole(have)}, from which "
                f"{m.whole(fee)} had been deducted beforehand as a fee, and later spent {cost} {coin} on "
                f"each of {nights} days. Find the number of {coin} that remained."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{_IN[land]} a money changer gives {sell} {coin} for a {m.name[:-1]} but asks {buy} {coin} "
                f"for a {m.name[:-1]}. {p.name} changed {m.whole(have)} on arrival, spent {spent} {coin}, "
                f"and changed what was left back. How many {m.name} did {p.he} get?"
            ),
            (
                f"{p.name} bought {coin} for {m.whole(have)} at a rate of {sell} {coin} per {m.name[:-1]}. "
                f"At the end of the trip, after spending {spent} of them, {p.he} sold the rest at {buy} "
                f"{coin} per {m.name[:-1]}. With how many {m.name} did {p.he} come home?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"A bank {_IN[land].lower()} keeps the same fee from every customer and changes the rest of the money "
                f"at a fixed rate. For {m.whole(have)} {p.name} received {got} {coin}, and for "
                f"{m.whole(have + more)} {q.name} received {other} {coin}. {want}"
            ),
            (
                f"{p.name} and {q.name} change money at the same counter, where a fixed fee is taken off "
                f"each amount before it is changed. {q.name} hands over {m.whole(have + more)} and gets "
                f"{other} {coin}; {p.name} hands over {m.whole(have)} and gets {got} {coin}. {want}"
            ),
        )
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
