"""Word problems on reading, stocks, recipes, planting and fencing."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import people, plural
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

_BOOKS = ("a novel", "a biography", "a book about whales", "a crime story", "an atlas of the stars",
          "a history of tea", "a travel diary")  # fmt: skip


def _pages(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    book = rng.choice(_BOOKS)
    a, b, s, t = rng.randint(12, 40), rng.randint(12, 50), rng.randint(2, 6), rng.randint(2, 8)
    if a == b:
        return _pages(rng)
    total = a * s + b * t + rng.randint(15, 150)
    say = WORDINGS.draw(rng, "pages", total=total, book=book, p=p, a=a, s=s, b=b, t=t)
    return posed("pages", say, total - a * s - b * t, total=total, pages=[a, b], days=[s, t])


def _growing_pages(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    book = rng.choice(_BOOKS)
    first, step, n = rng.randint(5, 25), rng.randint(1, 6), rng.randint(5, 14)
    total = n * first + step * n * (n - 1) // 2
    say = WORDINGS.draw(
        rng,
        "growing pages",
        p=p,
        book=book,
        total=total,
        step=step,
        page_or_pages="page" if step == 1 else "pages",
        first=first,
        capitalize_book=book.capitalize(),
    )
    return posed("growing", say, n, first=first, step=step, total=total)


def _pages_back(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    book = rng.choice(_BOOKS)
    n, d = rng.choice(((1, 3), (1, 4), (2, 5), (1, 5), (3, 8), (2, 7)))
    m, e = rng.choice(((1, 2), (1, 3), (2, 3), (3, 4), (2, 5)))
    x = rng.randint(0, 3) * 6
    left = rng.randint(15, 120)
    rest = Fraction(left + x) / (1 - Fraction(m, e))
    total = rest / (1 - Fraction(n, d))
    if total.denominator > 1 or rest.denominator > 1 or not 90 <= total <= 600:
        return _pages_back(rng)
    one, two = f"\\frac{{{n}}}{{{d}}}", f"\\frac{{{m}}}{{{e}}}"
    more = f" and {x} more pages" if x else ""
    say = WORDINGS.draw(rng, "pages back", p=p, one=one, book=book, two=two, more=more, left=left)
    return posed("pages_back", say, total, first=[n, d], second=[m, e], more=x, left=left)


_GOODS = ("light bulb", "bicycle helmet", "sack of flour", "tin of paint", "umbrella", "box of nails",
          "desk lamp", "bottle of juice", "garden chair")  # fmt: skip


def _stock(rng: Random) -> Problem:
    good = rng.choice(_GOODS)
    start, sold, days = rng.randint(80, 300), rng.randint(6, 25), rng.randint(3, 7)
    came, box = rng.randint(2, 6), rng.choice((6, 8, 10, 12, 20, 24))
    end = start - sold * days + came * box
    if end < 0 or start < sold * days:
        return _stock(rng)
    back = rng.randint(2, 9)
    say = WORDINGS.draw(
        rng,
        "stock",
        sold=sold,
        good=plural(good),
        days=days,
        start=start,
        came=came,
        box=box,
        back=back,
    )
    return posed(
        "stock", say, end + back, start=start, sold=sold, days=days, crates=[came, box], back=back
    )


def _runs_out(rng: Random) -> Problem:
    good = rng.choice(_GOODS)
    start, sold, every, batch = redrawn(
        lambda: (rng.randint(60, 300), rng.randint(8, 40), rng.randint(3, 6), rng.randint(10, 90)),
        lambda t: t[3] < t[1] * t[2] - 4,
    )
    stock, day = start, 0
    while stock >= sold:
        day += 1
        stock -= sold
        if day % every == 0:
            stock += batch
    if not 8 <= day <= 60:
        return _runs_out(rng)
    say = WORDINGS.draw(
        rng,
        "runs out",
        sold=sold,
        good=plural(good),
        start=start,
        everyth=_ordinal(every),
        batch=batch,
        every=every,
        twice_every=2 * every,
        three_times_every=3 * every,
    )
    return posed("runs_out", say, day, start=start, sold=sold, every=every, batch=batch)


def _ordinal(n: int) -> str:
    return {3: "third", 4: "fourth", 5: "fifth", 6: "sixth"}[n]


def _stock_back(rng: Random) -> Problem:
    good = rng.choice(_GOODS)
    n, d = rng.choice(((1, 3), (1, 4), (2, 5), (1, 2), (3, 5)))
    came, rate = rng.randint(10, 80), rng.choice((10, 20, 25, 40, 50))
    start = rng.randint(3, 60) * d
    after = start - start * n // d + came
    end = after * (100 - rate)
    if end % 100:
        return _stock_back(rng)
    end //= 100
    say = WORDINGS.draw(
        rng,
        "stock back",
        tex_n_d=f"\\frac{{{n}}}{{{d}}}",
        good=plural(good),
        came=came,
        rate=rate,
        end=end,
    )
    return posed("stock_back", say, start, sold=[n, d], came=came, rate=rate, end=end)


_DISHES = (("pancakes", "flour", "milk", "eggs"), ("vegetable soup", "carrots", "beans", "onions"),
           ("apple pie", "apples", "butter", "eggs"), ("rice pudding", "rice", "cream", "figs"),
           ("curry", "rice", "lentils", "peppers"), ("cheesecake", "cheese", "sugar", "eggs"))  # fmt: skip


def _scaled(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    dish, first, second, _ = rng.choice(_DISHES)
    serves, guests = redrawn(lambda: (rng.randint(2, 8), rng.randint(5, 30)), lambda t: t[1] > t[0])
    a, b = rng.randint(4, 40) * 10 * serves // 2, rng.randint(3, 30) * 10 * serves // 2
    have = rng.randint(2, 20) * 10
    need = Fraction(a * guests, serves)
    if need.denominator > 1 or need <= have or a == b:
        return _scaled(rng)
    say = WORDINGS.draw(
        rng,
        "scaled",
        first=first,
        p=p,
        dish=dish,
        guests=guests,
        serves=serves,
        a=a,
        b=b,
        second=second,
        have=have,
    )
    return posed(
        "scaled", say, need - have, serves=serves, amounts=[a, b], guests=guests, have=have
    )


def _how_many_servings(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    dish, first, second, third = rng.choice(_DISHES)
    serves = rng.randint(2, 6)
    a, b, c = rng.randint(5, 40) * 10, rng.randint(5, 40) * 10, rng.randint(1, 6)
    x, y, z = rng.randint(10, 250) * 10, rng.randint(10, 250) * 10, rng.randint(4, 40)
    batches = [Fraction(x, a), Fraction(y, b), Fraction(z, c)]
    most = min(int(v) for v in batches)
    if most < 2 or len({int(v) for v in batches}) < 3 or a == b:
        return _how_many_servings(rng)
    word = third if c > 1 else third[:-1]
    say = WORDINGS.draw(
        rng,
        "how many servings",
        dish=dish,
        serves=serves,
        a=a,
        first=first,
        b=b,
        second=second,
        c=c,
        word=word,
        p=p,
        x=x,
        y=y,
        z=z,
        third=third,
    )
    return posed("servings", say, most * serves, serves=serves, needs=[a, b, c], has=[x, y, z])


def _recipe_back(rng: Random) -> Problem:
    p, q = people(rng, 2)
    dish, first, second, _ = rng.choice(_DISHES)
    a, b = redrawn(lambda: (rng.randint(2, 7), rng.randint(1, 6)), lambda t: t[0] > t[1])
    unit, extra = rng.randint(10, 80), rng.randint(20, 200)
    guests = rng.randint(3, 9)
    total = (a + b) * unit + extra
    say = WORDINGS.draw(
        rng,
        "recipe back",
        dish=dish,
        guests=guests,
        extra=extra,
        first=first,
        second=second,
        a=a,
        b=b,
        total=total,
        p=p,
        q=q,
    )
    return posed("recipe_back", say, a * unit, ratio=[a, b], extra=extra, total=total)


_ROWS = ("tree", "rose bush", "street lamp", "flag", "bench", "post")


def _along(rng: Random) -> Problem:
    thing = rng.choice(_ROWS)
    gap, n = rng.randint(3, 25), rng.randint(9, 60)
    sides = rng.choice((1, 2))
    ring = rng.choice((True, False))
    place = "around a lake" if ring else "along a straight road"
    far = gap * n if ring else gap * (n - 1)
    if ring:
        sides = 1
        say = WORDINGS.draw(
            rng,
            "along",
            thing=plural(thing).capitalize(),
            place=place,
            gap=gap,
            far=far,
            n_plus_5=n + 5,
            plural_thing=plural(thing),
            a_thing=_a(thing),
        )
        return posed("along", say, n, gap=gap, far=far, sides=1, ring=True)
    both = "on both sides" if sides == 2 else "on one side"
    say = WORDINGS.draw(
        rng,
        "along 2",
        thing=plural(thing).capitalize(),
        place=place,
        far=far,
        both=both,
        gap=gap,
        both_2=both.capitalize(),
        a_thing=_a(thing),
        plural_thing=plural(thing),
    )
    return posed("along", say, sides * n, gap=gap, far=far, sides=sides, ring=False)


def _a(noun: str) -> str:
    return f"a {noun}"


def _replant(rng: Random) -> Problem:
    thing = rng.choice(_ROWS)
    p, q, step, k = redrawn(
        lambda: (rng.randint(1, 6), rng.randint(1, 6), rng.randint(2, 10), rng.randint(3, 14)),
        lambda t: gcd(t[0], t[1]) == 1 and max(t[:2]) > 1 and t[0] * t[1] * t[2] * t[3] <= 2000,
    )
    old, new, far = p * step, q * step, p * q * step * k
    stay = k + 1
    say = WORDINGS.draw(
        rng,
        "replant",
        capitalize_thing=plural(thing).capitalize(),
        far=far,
        old=old,
        new=new,
        thing=plural(thing),
    )
    return posed("replant", say, stay, far=far, old=old, new=new)


def _gap_back(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    thing = rng.choice(_ROWS)
    small, more, k = rng.randint(2, 9), rng.randint(1, 6), rng.randint(2, 12)
    far = lcm(small, small + more) * k
    spare = far // small - far // (small + more)
    if far > 400 or spare < 2:
        return _gap_back(rng)
    say = WORDINGS.draw(
        rng,
        "gap back",
        p=p,
        thing=plural(thing),
        small=small,
        small_plus_more=small + more,
        spare=spare,
    )
    return posed("gap_back", say, far, gaps=[small, small + more], spare=spare)


FAMILIES = (
    of_kinds("stories_reading", (_pages,), (_growing_pages,), (_pages_back,), "reading plans"),
    of_kinds("stories_stocks", (_stock,), (_runs_out,), (_stock_back,), "stocks over days"),
    of_kinds("stories_recipes", (_scaled,), (_how_many_servings,), (_recipe_back,), "recipes"),
    of_kinds("stories_rows", (_along,), (_replant,), (_gap_back,), "things set up in a row"),
)
