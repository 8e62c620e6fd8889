from __future__ import annotations

from fractions import Fraction
from typing import Any

from measuring import by_kind, one


def cents(value: Any) -> Fraction:
    return Fraction(value) / 100


def change(counts: Any, prices: Any, paid: int) -> Fraction:
    for n, price in zip(counts, prices, strict=True):
        for _ in range(n):
            paid -= price
    assert paid > 0
    return cents(paid)


def free(n: int, group: int, prices: Any, y: int) -> Fraction:
    # the cheapest number of paid items that gives at least n, with one free per group - 1 paid
    paid = min(k for k in range(n + 1) if k + k // (group - 1) >= n)
    return cents(paid * prices[0] + y * prices[1])


def bills(first: Any, second: Any, wanted: Any) -> Fraction:
    found = []
    for c in range(50, 2000, 25):
        rest = first[2] - first[0] * c
        if rest > 0 and rest % first[1] == 0:
            d = rest // first[1]
            if second[0] * c + second[1] * d == second[2]:
                found.append((c, d))
    c, d = one(found)
    return cents(wanted[0] * c + wanted[1] * d)


def off(rates: Any, price: int, n: int) -> Fraction:
    return sum((price - Fraction(price) / 100 * rates[0] for _ in range(n)), Fraction(0))


def chain(price: int, rates: Any, off: int, coupon_first: bool) -> Fraction:
    left = Fraction(price)
    steps: list[Any] = [*rates]
    steps = ["off", *steps] if coupon_first else [*steps, "off"]
    for step in steps:
        left -= off if step == "off" else left / 100 * step
    assert left > 0
    return left


def original(paid: int, rates: Any, up: bool) -> int:
    found = []
    for price in range(1, 3000):
        left = Fraction(price)
        left -= left * rates[0] / 100
        left += left * rates[1] / 100 if up else -left * rates[1] / 100
        if left * 100 == paid:
            found.append(price)
    return int(one(found))


def metered(base: int, per: int, n: int, tip: int) -> Fraction:
    bill = base
    for _ in range(n):
        bill += per
    return cents(bill) + tip


def _tariff(n: int, first: int, prices: Any, base: int) -> int:
    bill = base
    for i in range(1, n + 1):
        bill += prices[0] if i <= first else prices[1]
    return bill


def tiered(first: int, prices: Any, n: int, base: int) -> Fraction:
    assert n > first and prices[0] < prices[1]
    return cents(_tariff(n, first, prices, base))


def tiered_back(first: int, prices: Any, bill: int, base: int) -> int:
    return int(one(n for n in range(600) if _tariff(n, first, prices, base) == bill))


def offers(bases: Any, pers: Any) -> int:
    return int(one(n for n in range(1, 1000) if bases[0] + pers[0] * n == bases[1] + pers[1] * n))


def seats(counts: Any, prices: Any, cost: int) -> int:
    left = sum([prices[0]] * counts[0]) + sum([prices[1]] * counts[1]) - cost
    assert left > 0
    return int(left)


def adults(total: int, prices: Any, sum: int, asked: str) -> int:
    x = one(n for n in range(total + 1) if n * prices[0] + (total - n) * prices[1] == sum)
    return int(x if asked == "adults" else total - x)


def three(k: int, prices: Any, total: int, sum: int, asked: str) -> int:
    a, b, c = prices
    found = [
        (k * y, total - y - k * y)
        for y in range(total)
        if total - y - k * y >= 0 and a * y + b * k * y + c * (total - y - k * y) == sum
    ]
    floor, box = one(found)
    return int(box if asked == "box" else floor)


def profit(fee: int, cost: int, price: int, n: int) -> int:
    purse = -fee
    for _ in range(n):
        purse += price - cost
    return purse


def even(fee: int, cost: int, price: int, goal: int) -> int:
    return next(n for n in range(10_000) if profit(fee, cost, price, n) >= goal)


def goal(n: int, lost: int, fee: int, cost: int, gain: int) -> int:
    return int(one(p for p in range(1, 500) if (n - lost) * p - n * cost - fee == gain))


def weekly(price: int, start: int, earn: int, spend: int) -> int:
    weeks = 0
    while start < price:
        start += earn - spend
        weeks += 1
    return weeks


def growing(first: int, step: int, n: int, taken: int) -> int:
    box, deposit = 0, first
    for _ in range(n):
        box += deposit
        deposit += step
    assert taken <= box
    return box - taken


def overtake(starts: Any, weekly: Any, times: int) -> int:
    found = [
        w for w in range(1, 500) if times * (starts[0] + weekly[0] * w) == starts[1] + weekly[1] * w
    ]
    return int(one(found))


def wage(days: int, long: int, short: int, rate: int, fare: int) -> int:
    return sum(h * rate - fare for h in [long] * days + [short])


def overtime(normal: int, rate: int, hours: int, factor: int) -> Fraction:
    pay = Fraction(0)
    for hour in range(1, hours + 1):
        pay += rate if hour <= normal else Fraction(rate * factor, 100)
    return pay


def hours(normal: int, rate: int, bonus: int, tax: int, net: int) -> int:
    return int(
        one(
            h
            for h in range(1, 100)
            if (overtime(normal, rate, h, 150) + bonus) * (100 - tax) == net * 100
        )
    )


def simple(sum: int, rate: int, years: int, asked: str) -> Fraction:
    gain = Fraction(0)
    for _ in range(years):
        gain += Fraction(sum * rate, 100)
    return gain + sum if asked == "total" else gain


def compound(base: int, rate: int, added: int) -> Fraction:
    account = Fraction(base)
    account += account * rate / 100
    account += added
    return account + account * rate / 100


def accounts(total: int, rates: Any, gain: int) -> int:
    return int(
        one(x for x in range(total + 1) if x * rates[0] + (total - x) * rates[1] == gain * 100)
    )


def exchange(have: int, fee: int, rate: int, n: int, cost: int) -> int:
    coins = sum(rate for _ in range(have - fee))
    for _ in range(n):
        coins -= cost
    assert coins > 0
    return coins


def back(have: int, sell: int, buy: int, spent: int) -> Fraction:
    return Fraction(have * sell - spent, buy)


def rate(amounts: Any, got: Any, asked: str) -> int:
    found = [
        (r, f)
        for r in range(1, 200)
        for f in range(amounts[0])
        if [(a - f) * r for a in amounts] == got
    ]
    r, f = one(found)
    return int(r if asked == "rate" else f)


def toward(apart: int, speeds: Any, asked: str) -> int:
    left, right, time = 0, apart, 0
    while left < right:
        left, right, time = left + speeds[0], right - speeds[1], time + 1
    assert left == right
    return time if asked == "time" else left


def head_start(speeds: Any, early: int, asked: str) -> int:
    ahead, behind, time = speeds[0] * early, 0, 0
    while behind < ahead:
        ahead, behind, time = ahead + speeds[0], behind + speeds[1], time + 1
    assert ahead == behind
    return time if asked == "time" else behind


def late(apart: int, given: Any, since: bool) -> int:
    u, waits, drives = given
    drives = drives - waits if since else drives
    return int(one(v for v in range(1, 200) if u * (waits + drives) + v * drives == apart))


def drone(apart: int, speeds: Any, drone: int) -> Fraction:
    """Sum the flights back and forth until the rest is negligible."""
    gap, way, leg = Fraction(apart), Fraction(0), 0
    for leg in range(60):
        time = gap / (drone + speeds[1 - leg % 2])
        way += drone * time
        gap -= sum(speeds) * time
    return way.limit_denominator(100)


def legs(speeds: Any, parts: Any, how: str) -> object:
    if how == "times":
        return Fraction(sum(v * t for v, t in zip(speeds, parts, strict=True)), sum(parts))
    return sum(parts) / sum(
        (Fraction(s, v) for v, s in zip(speeds, parts, strict=True)), Fraction(0)
    )


def same_way(speeds: Any, far: int, rest: int) -> Fraction:
    hours = sum((Fraction(far, v) for v in speeds), Fraction(rest))
    return 2 * far / hours


def needed(far: int, there: int, average: int) -> int:
    return int(one(v for v in range(1, 500) if same_way([there, v], far, 0) == average))


def current(own: int, stream: int, hours: int, up: bool) -> int:
    way = 0
    for _ in range(hours):
        way += own
        way += -stream if up else stream
    assert way > 0
    return way


def up_down(own: int, stream: int, far: int, stay: int) -> Fraction:
    return Fraction(far, own + stream) + stay + Fraction(far, own - stream)


def find(far: int, times: Any, asked: str) -> Fraction:
    found = [
        (v, w)
        for v in range(1, 100)
        for w in range(1, v)
        if (v + w) * times[0] == far and (v - w) * times[1] == far
    ]
    v, w = one(found)
    return {"stream": Fraction(w), "own": Fraction(v), "raft": Fraction(far, w)}[asked]


def walkway(how: str, given: Any) -> int:
    if how == "both":  # on a route of length 1
        return int(
            one(
                t for t in range(1, 500) if t * (Fraction(1, given[0]) + Fraction(1, given[1])) == 1
            )
        )
    return int(
        one(t for t in range(1, 500) if given[0] * (Fraction(1, given[1]) + Fraction(1, t)) == 1)
    )


def fuel(use: int, tank: int, far: int) -> Fraction:
    left = tank - Fraction(use, 100) * far
    assert left > 0
    return left


def fuel_cost(use: int, far: int, price: int, toll: int, n: int) -> Fraction:
    liters = Fraction(use, 100) * far * 2
    return (liters * price / 100 + toll) / n


def two_cars(uses: Any, tanks: Any) -> int:
    found = [
        d
        for d in range(1, 3000)
        if tanks[0] - Fraction(uses[0] * d, 100) == tanks[1] - Fraction(uses[1] * d, 100) > 0
    ]
    return int(one(found))


CHECKS = {
    "stories_shopping": by_kind(change=change, free=free, bills=bills),
    "stories_discounts": by_kind(off=off, chain=chain, original=original),
    "stories_tariffs": by_kind(
        metered=metered, tiered=tiered, tiered_back=tiered_back, offers=offers
    ),
    "stories_tickets": by_kind(seats=seats, adults=adults, three=three),
    "stories_break_even": by_kind(profit=profit, even=even, goal=goal),
    "stories_savings": by_kind(weekly=weekly, growing=growing, overtake=overtake),
    "stories_wages": by_kind(wage=wage, overtime=overtime, hours=hours),
    "stories_interest": by_kind(simple=simple, compound=compound, accounts=accounts),
    "stories_currency": by_kind(exchange=exchange, back=back, rate=rate),
    "stories_meeting": by_kind(toward=toward, head_start=head_start, late=late, drone=drone),
    "stories_average_speed": by_kind(legs=legs, same_way=same_way, needed=needed),
    "stories_currents": by_kind(current=current, up_down=up_down, find=find, walkway=walkway),
    "stories_fuel": by_kind(fuel=fuel, fuel_cost=fuel_cost, two_cars=two_cars),
}
