"""Word problems on ratios, ages, gifts, mixtures, heads and legs."""

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
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

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
    say = WORDINGS.draw(rng, "parts", m=m, q=q, total_paid=m.whole(total), p=p, r=r, a=a, b=b, c=c)
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
    say = WORDINGS.draw(
        rng,
        "parts gap",
        a=a,
        thing=plural(thing),
        p=p,
        q=q,
        b=b,
        r=r,
        c=c,
        gap=(a - c) * unit,
        want=want,
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
    say = WORDINGS.draw(
        rng,
        "ratio changes",
        p=p,
        thing=plural(thing),
        q=q,
        a=a,
        b=b,
        moved=count(moved, thing),
        later=later,
        moved_2=moved,
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
    say = WORDINGS.draw(
        rng,
        "age sum",
        times=times,
        p=p,
        more=more,
        q=q,
        x=x,
        years=years,
        year_or_years="year" if more == 1 else "years",
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
    say = WORDINGS.draw(
        rng,
        "age then",
        p=p,
        kin=kin,
        words=words[k],
        years=years,
        words_2=words[j],
        want=want,
        k=fraction_word(k),
        j=fraction_word(j),
    )
    return posed(
        "age_then", say, x if ask == "young" else k * x, now=k, later=j, years=years, asked=ask
    )


def fraction_word(k: int) -> str:
    """Return "half" or "one fifth"."""
    return WORDINGS.one(f"fraction word {k}")


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
    say = WORDINGS.draw(
        rng,
        "three ages",
        p=p,
        q=q,
        gap=gap,
        r=r,
        times=times,
        ago=ago,
        year_or_years="year" if ago == 1 else "years",
        total=total,
        who=who,
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
    say = WORDINGS.draw(
        rng,
        "give away",
        p=p,
        start=start,
        thing=plural(thing),
        parts_a=_PARTS[a],
        q=q,
        parts_b=_PARTS[b],
        r=r,
        found=found,
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
    say = WORDINGS.draw(
        rng,
        "give back",
        thing=plural(thing),
        p=p,
        parts_a=_PARTS[a],
        x=x,
        parts_b=_PARTS[b],
        y=y,
        end=end,
        q=q,
        r=r,
    )
    return posed("back", say, int(start), parts=[a, b], more=[x, y], end=end)


def _doubling(rng: Random) -> Problem:
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
    say = WORDINGS.draw(rng, "doubling", p=p, q=q, r=r, thing=plural(thing), end=end, who=who)
    return posed("doubling", say, hands[ask], end=end, asked=ask)


_LIQUIDS = (("salt", "brine"), ("sugar", "syrup"), ("acid", "solution"), ("fruit juice", "drink"))


def _blend(rng: Random) -> Problem:
    stuff, what = rng.choice(_LIQUIDS)
    x, y = rng.randint(1, 12), rng.randint(1, 12)
    a, b = redrawn(lambda: (rng.randint(1, 16) * 5, rng.randint(1, 16) * 5), lambda t: t[0] != t[1])
    total = x * a + y * b
    if total % (x + y):
        return _blend(rng)
    say = WORDINGS.draw(
        rng,
        "blend",
        x=x,
        liters_x=_liters(x),
        what=what,
        a=a,
        stuff=stuff,
        y=y,
        liters_y=_liters(y),
        b=b,
        with_article_b=with_article(b),
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
    say = WORDINGS.draw(
        rng, "dilute", what=what, a=a, stuff=stuff, x=x, b=b, with_article_a=with_article(a)
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
        say = WORDINGS.draw(
            rng,
            "replace 2",
            a=with_article(a),
            b=with_article(b),
            what=what,
            total=total,
            c=c,
            stuff=stuff,
            b_2=b,
            with_article_c=with_article(c),
            a_2=a,
        )
    else:
        say = WORDINGS.draw(rng, "replace", total=total, what=what, a=a, stuff=stuff, b=b, c=c)
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
    say = WORDINGS.draw(
        rng,
        "count legs",
        part=part,
        n=n,
        many_a=_many(a),
        m=m,
        many_b=_many(b),
        sold=sold,
        p=p,
        kind=kind,
    )
    return posed("legs", say, n * x + (m - sold) * y, counts=[n, m], sold=sold, legs=[x, y])


def _heads(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    a, b, x, y = rng.choice(_BEASTS)
    n, m = rng.randint(4, 60), rng.randint(4, 60)
    part, kind = _legs_of(a)
    say = WORDINGS.draw(
        rng,
        "heads",
        total=n + m,
        kind=kind,
        many_a=_many(a),
        many_b=_many(b),
        part=part,
        p=p,
        parts=n * x + m * y,
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
    say = WORDINGS.draw(
        rng,
        "heads after",
        p=p,
        times=times,
        a=_many(a),
        b=_many(b),
        gone=gone,
        new=new,
        total=total,
        part=part,
        k=k,
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
