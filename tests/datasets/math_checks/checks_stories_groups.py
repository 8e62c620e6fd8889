from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

from measuring import by_kind, one


def parts(ratio: Any, total: int) -> int:
    return int(one(ratio[1] * u for u in range(1, total) if sum(r * u for r in ratio) == total))


def gap(ratio: Any, gap: int, asked: str) -> int:
    u = one(u for u in range(1, 200) if (ratio[0] - ratio[2]) * u == gap)
    return int(sum(ratio) * u if asked == "total" else ratio[1] * u)


def changes(before: Any, moved: int, after: Any) -> int:
    found = [
        x
        for x in range(1, 400)
        if x * before[1] % before[0] == 0
        for y in [x * before[1] // before[0]]
        if x > moved and (x - moved) * after[1] == (y + moved) * after[0]
    ]
    return int(one(found))


def age_sum(age: int, times: int, more: int, years: int) -> int:
    young, old = age, times * age + more
    for _ in range(years):
        young, old = young + 1, old + 1
    assert old < 90
    return young + old


def age_then(now: int, later: int, years: int, asked: str) -> int:
    x, y = one(
        (x, y)
        for x in range(1, 100)
        for y in range(1, 120)
        if y == now * x and y + years == later * (x + years)
    )
    return int(x if asked == "young" else y)


def three_ages(gap: int, times: int, ago: int, total: int, asked: str) -> int:
    found = [
        (x + gap, times * x)
        for x in range(ago + 1, 100)
        if x + x + gap + times * x - 3 * ago == total
    ]
    return int(one(found)[0 if asked == "q" else 1])


def give(start: int, parts: Any, found: int) -> Fraction:
    left = Fraction(start)
    for part in parts:
        left -= left / part
        assert left.denominator == 1
    return left + found


def give_back(parts: Any, more: Any, end: int) -> int:
    def left(n: int) -> Fraction:
        now = Fraction(n)
        for part, extra in zip(parts, more, strict=True):
            now -= now / part
            now -= extra
        return now

    return int(one(n for n in range(1, 1000) if left(n) == end))


def doubling(end: int, asked: int) -> int:
    total = 3 * end
    found = []
    for a, b in product(range(1, total), repeat=2):
        hands = [a, b, total - a - b]
        for giver in (0, 1, 2):
            for i in range(3):
                if i != giver:
                    hands[giver] -= hands[i]
                    hands[i] *= 2
        if hands == [end] * 3:
            found.append((a, b, total - a - b))
    return int(one(found)[asked])


def blend(amounts: Any, rates: Any) -> object:
    pure = sum(Fraction(x * r, 100) for x, r in zip(amounts, rates, strict=True))
    return pure / sum(amounts) * 100


def dilute(x: int, rates: Any) -> int:
    return int(one(w for w in range(1, 2000) if x * rates[0] == rates[1] * (x + w)))


def mix(rates: Any, total: int, how: str) -> int:
    a, b, c = rates
    return int(one(y for y in range(1, total) if (total - y) * a + y * b == total * c))


def legs(counts: Any, sold: int, legs: Any) -> int:
    beasts = [legs[0]] * counts[0] + [legs[1]] * (counts[1] - sold)
    assert sold < counts[1]
    return sum(beasts)


def heads(total: int, parts: int, legs: Any) -> int:
    return int(one(m for m in range(total + 1) if (total - m) * legs[0] + m * legs[1] == parts))


def after(times: int, gone: int, new: int, parts: int, legs: Any) -> int:
    return int(
        one(
            times * m
            for m in range(1, 300)
            if times * m > gone and (times * m - gone) * legs[0] + (m + new) * legs[1] == parts
        )
    )


def together(times: Any) -> int:
    return int(one(t for t in range(1, 100) if sum(Fraction(t, x) for x in times) == 1))


def joins(times: Any, alone: int, asked: str) -> int:
    done, hours = Fraction(0), 0
    while done < 1:
        hours += 1
        done += Fraction(1, times[0]) + (Fraction(1, times[1]) if hours > alone else 0)
    assert done == 1 and hours > alone
    return hours - alone if asked == "rest" else hours


def crew(n: int, days: int, done: int, less: int, left: bool) -> int:
    few = less if left else n - less
    work, day = n * days, 0
    while work > 0:
        day += 1
        work -= n if day <= done else few
    assert work == 0 and 0 < few < n
    return day


def alone(both: int, gap: int) -> int:
    return int(one(t for t in range(1, 500) if Fraction(both, t) + Fraction(both, t + gap) == 1))


def filling(fill: int, leak: int, start: int, minutes: int) -> int:
    for _ in range(minutes):
        start += fill
        start -= leak
    return start


def pipes(fills: Any, drain: int) -> int:
    return int(
        one(
            t for t in range(1, 200) if sum(Fraction(t, f) for f in fills) - Fraction(t, drain) == 1
        )
    )


def capacity(first: Any, last: Any, minutes: int, rate: int, used: int) -> int:
    return int(
        one(
            size
            for size in range(1, 1000)
            if Fraction(*first) * size + (rate - used) * minutes == Fraction(*last) * size
        )
    )


def drain(start: int, rates: Any, hours: Any) -> int:
    for rate, many in zip(rates, hours, strict=True):
        for _ in range(many):
            start -= rate
    assert start > 0
    return start


def again(gain: int, use: int, start: int, target: int, hours: int) -> int:
    minutes = 0
    for low in (start, target - use * hours):
        level = low
        while level < target:
            level += gain
            minutes += 1
        assert level == target and low >= 0
    return minutes


def mixed(start: int, left: int, rates: Any, hours: int) -> int:
    return int(
        one(h for h in range(hours + 1) if start - rates[0] * h - rates[1] * (hours - h) == left)
    )


def lessons(n: int, long: int, gap: int, big: int) -> int:
    breaks = [big] + [gap] * (n - 2)
    assert len(breaks) == n - 1
    return n * long + sum(breaks)


def buses(times: Any, hours: int) -> int:
    if hours:
        return sum(all(t % x == 0 for x in times) for t in range(hours * 60 + 1))
    return next(t for t in range(1, 10_000) if all(t % x == 0 for x in times))


def clock(slip: int, fast: bool, hours: int, how: str) -> int:
    each = 60 + slip if fast else 60 - slip
    if how == "show":
        return sum(each for _ in range(hours))
    return int(one(h for h in range(1, 200) if each * h == hours))


def two_clocks(slips: Any, same: bool, apart: int) -> int:
    first = second = hours = 0
    while abs(first - second) < apart:
        hours += 1
        first += slips[0]
        second += slips[1] if same else -slips[1]
    assert abs(first - second) == apart
    return hours


def two_sets(n: int, sets: Any, third: int, how: str) -> int:
    found = []
    for both in range(min(sets) + 1):
        none = n - (sum(sets) - both)
        if none >= 0 and (none if how == "both" else both) == third:
            found.append({"none": none, "both": both, "one": sum(sets) - 2 * both}[how])
    return int(one(found))


def three_sets(n: int, sets: Any, pairs: Any, third: int, how: str) -> int:
    found = []
    for all_three in range(min(pairs) + 1):
        just = [p - all_three for p in pairs]  # ab, ac, bc only
        ones = [
            sets[0] - just[0] - just[1] - all_three,
            sets[1] - just[0] - just[2] - all_three,
            sets[2] - just[1] - just[2] - all_three,
        ]
        none = n - sum(ones) - sum(just) - all_three
        known = none if how == "all" else all_three
        if min([*ones, none]) >= 0 and known == third:
            found.append({"none": none, "all": all_three, "one": sum(ones)}[how])
    return int(one(found))


def shares(rates: Any, none: int, asked: str) -> int:
    p, q, both = rates
    found = [
        n * (both if asked == "both" else p - both) // 100
        for n in range(1, 5000)
        if n * (100 - p - q + both) == none * 100
    ]
    return int(one(found))


def votes(n: int, rates: Any, asked: str) -> Fraction:
    first, second = (Fraction(n * r, 100) for r in rates)
    assert first.denominator == second.denominator == 1
    return n - first - second if asked == "third" else first - second


def turnout(n: int, rates: Any, asked: str) -> object:
    came = Fraction(n * rates[0], 100)
    valid = came - came * rates[1] / 100
    winner = valid * rates[2] / 100
    loser = valid - winner
    assert all(v.denominator == 1 for v in (came, valid, winner))
    return winner - loser if asked == "lead" else loser


def leads(total: int, gaps: Any, asked: int) -> int:
    found = [
        (c + gaps[1] + gaps[0], c + gaps[1], c)
        for c in range(total)
        if 3 * c + 2 * gaps[1] + gaps[0] == total
    ]
    return int(one(found)[asked])


def swing(total: int, lead: int) -> int:
    first = one(a for a in range(total + 1) if a - (total - a) == lead)
    return next(k for k in range(total) if total - first + k > first - k)


def average(scores: Any, target: int) -> int:
    return int(one(s for s in range(101) if Fraction(sum(scores) + s, len(scores) + 1) == target))


def swap(n: int, mean: int, out: int, second: int, up: bool, full: bool) -> int:
    later = second if full else mean + (second if up else -second)
    return int(one(new for new in range(400) if n * mean - out + new == n * later))


def joined(n: int, mean: int, out: int, new: int) -> Fraction:
    return Fraction(n * mean - out + new, n)


def size(x: int, means: Any, mean: int) -> int:
    return int(one(y for y in range(1, 1000) if x * means[0] + y * means[1] == mean * (x + y)))


def other_mean(sizes: Any, mean: int, first: int) -> Fraction:
    return Fraction(mean * sum(sizes) - sizes[0] * first, sizes[1])


def league(points: Any, games: int, won: int, lost: int) -> int:
    played = ["w"] * won + ["l"] * lost
    played += ["d"] * (games - len(played))
    return sum({"w": points[0], "d": points[1], "l": 0}[g] for g in played)


def robin(n: int, win: int, given: int, how: str) -> int:
    games = len(list(combinations(range(n), 2)))

    def total(draws: int) -> int:
        return sum(2 if i < draws else win for i in range(games))

    if how == "points":
        return total(given)
    return int(one(d for d in range(games + 1) if total(d) == given))


def quiz(n: int, marks: Any, score: int, blank: int) -> int:
    return int(
        one(r for r in range(n - blank + 1) if marks[0] * r - marks[1] * (n - blank - r) == score)
    )


def pages(total: int, pages: Any, days: Any) -> int:
    for each, many in zip(pages, days, strict=True):
        for _ in range(many):
            total -= each
    assert total > 0
    return total


def growing(first: int, step: int, total: int) -> int:
    day, today = 0, first
    while total > 0:
        total -= today
        today += step
        day += 1
    assert total == 0
    return day


def pages_back(first: Any, second: Any, more: int, left: int) -> int:
    found = []
    for total in range(1, 1000):
        rest = total - total * Fraction(*first)
        rest -= rest * Fraction(*second) + more
        if rest == left:
            found.append(total)
    return int(one(found))


def stock(start: int, sold: int, days: int, crates: Any, back: int) -> int:
    for _ in range(days):
        start -= sold
        assert start >= 0
    for _ in range(crates[0]):
        start += crates[1]
    return start + back


def runs_out(start: int, sold: int, every: int, batch: int) -> int:
    # the total after d full days, without a loop over each one's stock
    return next(
        d
        for d in range(1, 10_000)
        if start + batch * (d // every) - sold * d < sold
        and all(start + batch * (e // every) >= sold * (e + 1) for e in range(d))
    )


def stock_back(sold: Any, came: int, rate: int, end: int) -> int:
    found = []
    for start in range(1, 1000):
        left = start - start * Fraction(*sold) + came
        left -= left * rate / 100
        if left == end:
            found.append(start)
    return int(one(found))


def scaled(serves: int, amounts: Any, guests: int, have: int) -> Fraction:
    need = sum((Fraction(amounts[0], serves) for _ in range(guests)), Fraction(0))
    assert need > have
    return need - have


def servings(serves: int, needs: Any, has: Any) -> int:
    left, made = list(has), 0
    while all(h >= n for h, n in zip(left, needs, strict=True)):
        left = [h - n for h, n in zip(left, needs, strict=True)]
        made += serves
    return made


def recipe_back(ratio: Any, extra: int, total: int) -> int:
    return int(
        one(ratio[0] * u for u in range(1, 500) if sum(r * u for r in ratio) + extra == total)
    )


def along(gap: int, far: int, sides: int, ring: bool) -> int:
    spots = [m for m in range(far + 1) if m % gap == 0]
    if ring:
        spots = sorted({m % far for m in spots})
    else:
        assert spots[-1] == far
    return len(spots) * sides


def replant(far: int, old: int, new: int) -> int:
    before, later = set(range(0, far + 1, old)), set(range(0, far + 1, new))
    assert far in before and far in later
    return len(before & later)


def gap_back(gaps: Any, spare: int) -> int:
    return int(
        one(
            far
            for far in range(1, 2000)
            if all(far % g == 0 for g in gaps) and far // gaps[0] + 1 == far // gaps[1] + 1 + spare
        )
    )


CHECKS = {
    "stories_ratio_shares": by_kind(parts=parts, gap=gap, changes=changes),
    "stories_ages": by_kind(age_sum=age_sum, age_then=age_then, three_ages=three_ages),
    "stories_giving": by_kind(give=give, back=give_back, doubling=doubling),
    "stories_mixtures": by_kind(blend=blend, dilute=dilute, mix=mix),
    "stories_heads_and_legs": by_kind(legs=legs, heads=heads, after=after),
    "stories_work_rates": by_kind(together=together, joins=joins, crew=crew, alone=alone),
    "stories_tanks": by_kind(filling=filling, pipes=pipes, capacity=capacity),
    "stories_batteries": by_kind(drain=drain, again=again, mixed=mixed),
    "stories_timetables": by_kind(lessons=lessons, buses=buses, clock=clock, two_clocks=two_clocks),
    "stories_overlaps": by_kind(two_sets=two_sets, shares=shares, three_sets=three_sets),
    "stories_elections": by_kind(votes=votes, turnout=turnout, leads=leads, swing=swing),
    "stories_averages": by_kind(
        average=average, swap=swap, joined=joined, size=size, other_mean=other_mean
    ),
    "stories_tournaments": by_kind(league=league, robin=robin, quiz=quiz),
    "stories_reading": by_kind(pages=pages, growing=growing, pages_back=pages_back),
    "stories_stocks": by_kind(stock=stock, runs_out=runs_out, stock_back=stock_back),
    "stories_recipes": by_kind(scaled=scaled, servings=servings, recipe_back=recipe_back),
    "stories_rows": by_kind(along=along, replant=replant, gap_back=gap_back),
}
