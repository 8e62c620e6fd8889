"""Plans: reading, stocks, recipes, planting and fencing."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import redrawn
from prorl_datasets.procedural.math.kinds import of_kinds, posed
from prorl_datasets.procedural.math.problem import Problem
from prorl_datasets.procedural.math.stories.telling import people, plural

_BOOKS = ("a novel", "a biography", "a book about whales", "a crime story", "an atlas of the stars",
          "a history of tea", "a travel diary")  # fmt: skip


def _pages(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    book = rng.choice(_BOOKS)
    a, b, s, t = rng.randint(12, 40), rng.randint(12, 50), rng.randint(2, 6), rng.randint(2, 8)
    if a == b:
        return _pages(rng)
    total = a * s + b * t + rng.randint(15, 150)
    say = rng.choice(
        (
            (
                f"How many of the {total} pages of {book} are still unread after {p.name} has read {a} pages on each of {s} "
                f"days and {b} pages on each of {t} more?"
            ),
            (
                f"{p.name} reads {book} of {total} pages. For {s} days {p.he} reads {a} pages a day, then for "
                f"{t} days {b} pages a day. How many pages are left?"
            ),
            (
                f"During {s} school days {p.name} got through {a} pages of {book} each day, and during {t} days "
                f"of vacation through {b} each day. The book has {total} pages. How many does {p.he} still have "
                "to read?"
            ),
        )
    )
    return posed("pages", say, total - a * s - b * t, total=total, pages=[a, b], days=[s, t])


def _growing_pages(rng: Random) -> Problem:
    (p,) = people(rng, 1)
    book = rng.choice(_BOOKS)
    first, step, n = rng.randint(5, 25), rng.randint(1, 6), rng.randint(5, 14)
    total = n * first + step * n * (n - 1) // 2
    say = rng.choice(
        (
            (
                f"{p.name} is reading {book}, {total} pages long. Day by day {p.he} reads {step} "
                f"{'page' if step == 1 else 'pages'} more than on the day before, and it was {first} on the first day. After "
                "how many days has {p.he} read exactly all of it?"
            ),
            (
                f"{p.name} starts {book} with {first} pages on the first day and reads {step} "
                f"{'page' if step == 1 else 'pages'} more each day than the day before. {p.He} finishes its "
                f"{total} pages exactly at the end of a day. On which day? Give its number."
            ),
            (
                f"{book.capitalize()} has {total} pages. {p.name} reads {first} of them today and on every "
                f"following day {step} more than on the previous one. How many days does {p.he} need in all?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"On Friday {p.name} read ${one}$ of {book}, on Saturday ${two}$ of the rest{more}. {left} pages "
                "remained for Sunday. How many pages has the book?"
            ),
            (
                f"{p.name} has {left} pages of {book} left. Last week {p.he} had read ${one}$ of the whole book, "
                f"and this week ${two}$ of what remained then{more}. Find the number of pages of the book."
            ),
        )
    )
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
    say = rng.choice(
        (
            (
                f"{sold} {plural(good)} a day went over the counter for {days} days in a row. Before that the shop had "
                f"{start}; afterwards it unpacked {came} crates of {box} and took back {back} from buyers. What number "
                "was on the shelves in the end?"
            ),
            (
                f"A shop had {start} {plural(good)}. It sold {sold} of them on each of {days} days, then "
                f"received {came} crates with {box} in each, and {back} were returned by customers. How many "
                "were in stock then?"
            ),
            (
                f"At the start of the week there were {start} {plural(good)} in a store. {came} crates of {box} "
                f"were delivered during the week, {back} sold earlier came back, and {sold} a day were sold for "
                f"{days} days. How many are there now?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"Each day, a dealer must ship {sold} {plural(good)}. {start} are in the warehouse to begin with, and "
                f"after every {_ordinal(every)} day's shipment {batch} more come in. How many days pass with a full "
                "shipment before there are too few?"
            ),
            (
                f"A depot starts with {start} {plural(good)}. Every day {sold} of them are sent out. At the end "
                f"of every {_ordinal(every)} day, after the dispatch, {batch} new ones arrive. For how many days "
                "in a row can the full daily number be sent out?"
            ),
            (
                f"{sold} {plural(good)} leave a warehouse each day. It holds {start} on the first morning, and "
                f"in the evening of days {every}, {2 * every}, {3 * every} and so on {batch} are added. On how "
                "many days can it deliver in full before, for the first time, it cannot?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"A dealer sold ${_tex(n, d)}$ of all {plural(good)} in stock in March, received {came} in April and sold "
                f"{rate}% of what was then there in May. That left {end}. With how many did the dealer begin?"
            ),
            (
                f"In the morning ${_tex(n, d)}$ of the {plural(good)} in a shop were sold. At noon {came} were "
                f"delivered, and in the afternoon {rate}% of those then on hand were sold. At closing time "
                f"{end} were left. How many {plural(good)} were there in the morning?"
            ),
            (
                f"After ${_tex(n, d)}$ of its {plural(good)} had been sold, a store bought {came} more. It then "
                f"sold {rate} percent of its stock and kept {end}. What was the stock at first?"
            ),
        )
    )
    return posed("stock_back", say, start, sold=[n, d], came=came, rate=rate, end=end)


def _tex(n: int, d: int) -> str:
    return f"\\frac{{{n}}}{{{d}}}"


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
    say = rng.choice(
        (
            (
                f"How many grams of {first} does {p.name} lack for {dish} for {guests}, given that for {serves} one takes {a} "
                f"grams of it (and {b} grams of {second}), and that there are {have} grams of it in the cupboard?"
            ),
            (
                f"A recipe of {dish} for {serves} people takes {a} grams of {first} and {b} grams of {second}. "
                f"{p.name} cooks for {guests} people and has {have} grams of {first} at home. How many grams of "
                f"{first} must {p.he} buy?"
            ),
            (
                f"For {serves} servings of {dish} one needs {b} grams of {second} and {a} grams of {first}. How "
                f"much {first}, in grams, is {p.name} short of if {p.he} has {have} grams and wants to make "
                f"{guests} servings?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"One batch of {dish} makes {serves} servings and takes {a} grams of {first}, {b} grams of "
                f"{second} and {c} {word}. {p.name} has {x} grams of {first}, {y} grams of {second} and {z} "
                f"{third}. How many servings can {p.he} make at most if {p.he} cooks only whole batches?"
            ),
            (
                f"{p.name}'s kitchen holds {z} {third}, {x} grams of {first} and {y} grams of {second}. For each "
                f"batch of {dish}, which feeds {serves}, {c} {word}, {a} grams of {first} and {b} grams of "
                f"{second} are used up. What is the greatest number of people that full batches can feed?"
            ),
        )
    )
    return posed("servings", say, most * serves, serves=serves, needs=[a, b, c], has=[x, y, z])


def _recipe_back(rng: Random) -> Problem:
    p, q = people(rng, 2)
    dish, first, second, _ = rng.choice(_DISHES)
    a, b = redrawn(lambda: (rng.randint(2, 7), rng.randint(1, 6)), lambda t: t[0] > t[1])
    unit, extra = rng.randint(10, 80), rng.randint(20, 200)
    guests = rng.randint(3, 9)
    total = (a + b) * unit + extra
    say = rng.choice(
        (
            (
                f"In {dish} made for {guests}, all but {extra} grams is {first} and {second}: {a} parts by weight of the "
                f"first to {b} of the second. All together it weighs {total} grams. How many grams of {first} are in it?"
            ),
            (
                f"For {dish}, {first} and {second} are mixed in the ratio {a} : {b} by weight, and {extra} grams "
                f"of other things are added. {p.name}'s bowl, {total} grams in all, was enough for {guests} "
                f"people. How many grams of {first} did it contain?"
            ),
            (
                f"{p.name} and {q.name} made {total} grams of {dish} for {guests} guests. Apart from {extra} grams "
                f"of spices and sauce, it was made of {first} and {second}, {a} parts to {b}. Find the weight "
                f"of the {first} in grams."
            ),
        )
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
        say = rng.choice(
            (
                (
                    f"{plural(thing).capitalize()} are set up {place}, {gap} m apart. The way around is {far} m "
                    f"long. One costs {n + 5} euros. How many {plural(thing)} are needed?"
                ),
                (
                    f"The path {place} is {far} m long. If there is {_a(thing)} every {gap} m, how many "
                    f"{plural(thing)} stand on it?"
                ),
            )
        )
        return posed("along", say, n, gap=gap, far=far, sides=1, ring=True)
    both = "on both sides" if sides == 2 else "on one side"
    say = rng.choice(
        (
            (
                f"{plural(thing).capitalize()} are placed {place} of {far} m, {both}, {gap} m apart, with one at "
                f"each end. How many are there altogether?"
            ),
            (
                f"{both.capitalize()} of a straight road {far} m long, from its very beginning to its very end, "
                f"there is {_a(thing)} every {gap} m. Find the total number of {plural(thing)}."
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{plural(thing).capitalize()} stand at both ends of a straight lane of {far} m and every {old} m in between. "
                f"New plans ask for one every {new} m instead, the two ends still included. How many of the old "
                "places are also new ones?"
            ),
            (
                f"Along a straight path of {far} m stand {plural(thing)}, one at each end and {old} m from each "
                f"to the next. The distance is to be changed to {new} m, again with one at each end. How many of "
                "them can stay where they are?"
            ),
            (
                f"A row of {plural(thing)} {old} m apart, from one end of a {far} m long street to the other, is "
                f"to be rearranged so that they are {new} m apart, still from end to end. For how many "
                f"{plural(thing)} does the place not change?"
            ),
        )
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
    say = rng.choice(
        (
            (
                f"{p.name} sets up {plural(thing)} along a straight drive, one at each end. With {small} m from "
                f"one to the next {p.he} would use up all {p.he} has; with {small + more} m {p.he} has {spare} "
                "to spare. How many meters long is the drive?"
            ),
            (
                f"If the {plural(thing)} that {p.name} bought stand {small} m apart, they just reach from one end "
                f"of a straight alley to the other. If they stand {small + more} m apart, again with one at "
                f"each end, {spare} are left over. How long is the alley in meters?"
            ),
        )
    )
    return posed("gap_back", say, far, gaps=[small, small + more], spare=spare)


FAMILIES = (
    of_kinds("stories_reading", (_pages,), (_growing_pages,), (_pages_back,), "reading plans"),
    of_kinds("stories_stocks", (_stock,), (_runs_out,), (_stock_back,), "stocks over days"),
    of_kinds("stories_recipes", (_scaled,), (_how_many_servings,), (_recipe_back,), "recipes"),
    of_kinds("stories_rows", (_along,), (_replant,), (_gap_back,), "things set up in a row"),
)
