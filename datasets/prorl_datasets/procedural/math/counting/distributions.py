"""Sharing out: equal or different things among people or boxes.

Leaves out: selections (``selections``) and numbers as sums (``sums``).
"""

from __future__ import annotations

from itertools import product
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family

THINGS = ("marbles", "cookies", "coins", "balloons", "stickers", "apples", "tickets", "pencils")


KINDS = (
    ("doughnuts", "flavors"), ("flowers", "colors"), ("postcards", "motifs"), ("scoops", "flavors"),
    ("fruits", "sorts"), ("bagels", "varieties"),
)  # fmt: skip


def _equal_things(rng: Random, level: int) -> Problem:
    who, things = rng.choice(PEOPLE), rng.choice(THINGS)
    n, k = rng.randint(6, 16), rng.randint(3, 5)
    letters = ("x", "y", "z", "w", "v")[:k]
    equation = " + ".join(letters) + f" = {n}"
    tuple_text = f"({', '.join(letters)})"
    if level == 1:
        least = rng.choice((0, 1))
        answer = comb(n + k - 1, k - 1) if not least else comb(n - 1, k - 1)
        kind = ("nonnegative", "positive")[least]
        rule = (
            ("some may get nothing", "nobody has to get any", "a child may end up with none"),
            ("everyone gets at least one", "no one goes away empty-handed", "each child gets some"),
        )[least]
        sorts, name = rng.choice(KINDS)
        more = (
            "it is allowed to take only some of the " + name,
            "each of the " + name + " is taken at least once",
        )[least]
        texts = phrasings(
            f"In how many ways can {n} identical {things} be shared among {k} children if "
            f"{rng.choice(rule)}?",
            f"How many ordered {'tuples' if k > 3 else 'triples'} ${tuple_text}$ of {kind} "
            "integers "
            f"satisfy ${equation}$?",
            f"A shop has {sorts} in {k} {name}, a large supply of each. {who} takes {n} of them; "
            f"{more}. "
            f"Only the numbers of each kind matter. How many selections are possible?",
            f"{who} drops {n} indistinguishable balls into {k} numbered boxes, and "
            f"{'boxes may stay empty' if not least else 'afterwards no box is empty'}. How many "
            "distributions of the balls are there?",
            f"A row of {n} stars is divided into {k} sections by {k - 1} bars, "
            f"{'where sections may be empty' if not least else 'and every section holds a star'}. "
            "In how "
            "many ways can the bars be placed?",
        )
        return Problem(
            rng.choice(texts), str(answer), {"ask": "plain", "n": n, "k": k, "least": least}
        )
    if level == 2:
        ask = rng.choice(("lower", "at most", "odd", "special"))
        if ask == "lower":
            lows = [rng.randint(0, 3) for _ in range(k)]
            n = sum(lows) + rng.randint(3, 9)
            answer = comb(n - sum(lows) + k - 1, k - 1)
            conditions = ", ".join(f"{x} \\ge {low}" for x, low in zip(letters, lows, strict=True))
            texts = phrasings(
                f"How many integer solutions does ${' + '.join(letters)} = {n}$ have with "
                f"${conditions}$?",
                f"{n} identical {things} are given to {k} children. The first child must get at "
                "least "
                f"{lows[0]}, and the others at least {listed(lows[1:])}, in this order. How many "
                "distributions are possible?",
                f"Find the number of integer tuples ${tuple_text}$ with sum ${n}$ such that "
                f"${conditions}$.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "lows": lows})
        if ask == "at most":
            k = min(k, 4)
            letters = letters[:k]
            answer = comb(n + k, k)
            texts = phrasings(
                f"How many ordered {'tuples' if k > 3 else 'triples'} $({', '.join(letters)})$ of "
                f"nonnegative integers satisfy ${' + '.join(letters)} \\le {n}$?",
                f"{who} has {n} identical {things} and gives some, all or none of them to {k} "
                "friends; "
                "a friend may get none. In how many ways can this be done?",
                f"A budget of {n} equal grants may be spent, completely or in part, on {k} "
                "projects. "
                "How many ways are there to decide how many grants each project gets?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "odd":
            half = rng.randint(3, 9)
            odd = rng.random() < 0.5
            n = 2 * half + (k if odd else 0)
            answer = comb(half + k - 1, k - 1)
            name = "odd positive" if odd else "even nonnegative"
            texts = phrasings(
                f"In how many ways can ${n}$ be written as an ordered sum of ${k}$ {name} "
                "integers?",
                f"How many ordered {'tuples' if k > 3 else 'triples'} ${tuple_text}$ of {name} "
                "integers "
                f"have the sum ${n}$?",
                f"{n} identical {things} are put into {k} different bags so that each bag holds an "
                f"{'odd' if odd else 'even'} number of "
                f"them{'' if odd else ' (zero counts as even)'}. "
                "How many ways are there?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "odd": odd})
        m = rng.randint(3, 7)
        answer = comb(n + k - 1, k - 1) * comb(m + k - 1, k - 1)
        least = rng.choice((0, 1))
        if least:
            answer = comb(n - 1, k - 1) * comb(m + k - 1, k - 1)
        one, two = rng.sample(THINGS, 2)
        texts = phrasings(
            f"{n} identical {one} and {m} identical {two} are shared among {k} children. "
            f"{'Every child gets at least one of the ' + one if least else 'There is no rule about who gets how many'}"
            f"{'; for the ' + two + ' there is no rule' if least else ''}. In how many ways can "
            "this be done?",
            f"In how many ways can {n} equal {one} and {m} equal {two} be put into {k} numbered "
            "boxes, if "
            f"{'each box must contain at least one of the ' + one if least else 'any box may also stay empty'}?",
        )
        values = {"ask": "two kinds", "n": n, "m": m, "k": k, "least": least}
        return Problem(rng.choice(texts), str(answer), values)
    k = rng.choice((3, 4))
    letters = letters[:k] if len(letters) >= k else ("x", "y", "z", "w")[:k]
    ask = rng.choice(("upper", "order", "exactly empty"))
    if ask == "upper":
        low = rng.choice((0, 1))
        tops = [rng.randint(3, 7) for _ in range(k)]
        if rng.random() < 0.5:
            tops = [tops[0]] * k
        n = rng.randint(sum(tops) // 2 - 1, sum(tops) // 2 + 3)
        answer = sum(sum(t) == n for t in product(*(range(low, top + 1) for top in tops)))
        if len(set(tops)) == 1:
            texts = (
                f"In how many ways can {n} identical {things} be shared among {k} children if "
                "each of "
                f"them gets at {'least one and at' if low else ''} most {tops[0]}?".replace(
                    "  ", " "
                ),
                (
                    f"How many ordered {'quadruples' if k == 4 else 'triples'} of integers from "
                    f"${low}$ to "
                    f"${tops[0]}$ have the sum ${n}$?"
                ),
                (
                    f"{k} different jars can hold {tops[0]} {things} each. {who} fills exactly "
                    f"{n} identical "
                    f"{things} into the jars, "
                    f"{'none of which may stay empty' if low else 'some of which may stay empty'}. "
                    "In how many ways is this possible?"
                ),
            )
        else:
            bounds = ", ".join(
                f"{low} \\le {x} \\le {top}" for x, top in zip(letters, tops, strict=True)
            )
            texts = phrasings(
                f"Find the number of integer solutions of ${' + '.join(letters)} = {n}$ with "
                f"${bounds}$.",
                "A bag holds "
                f"{listed([f'{t} {c}' for t, c in zip(tops, ('red', 'blue', 'green', 'white'), strict=False)])} "
                f"{things}; equally colored ones cannot be told apart. In how many ways can {n} "
                "of them "
                f"be taken{', at least one of each color' if low else ''}?",
            )
        if answer < 2:
            return _equal_things(rng, level)
        values = {"ask": ask, "n": n, "tops": tops, "low": low}
        return Problem(rng.choice(texts), str(answer), values)
    if ask == "order":
        n = rng.randint(10, 30)
        answer = sum(a < b < n - a - b for a in range(1, n) for b in range(1, n - a))
        strict = rng.random() < 0.5
        if not strict:
            answer = sum(a <= b <= n - a - b for a in range(1, n) for b in range(1, n - a))
        triangle = rng.random() < 0.3
        if triangle:
            answer = sum(a <= b <= n - a - b < a + b for a in range(1, n) for b in range(1, n - a))
            texts = phrasings(
                f"How many triangles with integer side lengths have perimeter ${n}$? Congruent "
                "triangles "
                "count once.",
                f"{who} has a closed chain of {n} equal links and pulls it tight into a triangle "
                "whose "
                "corners lie at joints between links. How many triangles that are not congruent "
                "are "
                "possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": "triangles", "n": n})
        sign = "<" if strict else "\\le"
        texts = phrasings(
            f"How many triples of integers satisfy $0 < a {sign} b {sign} c$ and $a + b + c = "
            f"{n}$?",
            f"In how many ways can {n} identical {things} be divided into three nonempty heaps"
            f"{' of three different sizes' if strict else ''}? The order of the heaps is "
            "irrelevant.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "strict": strict})
    k = rng.randint(4, 6)
    j = rng.randint(1, k - 2)
    answer = comb(k, j) * comb(n - 1, k - j - 1)
    texts = phrasings(
        f"{n} identical balls are put into {k} numbered boxes so that exactly {j} "
        f"{'box stays' if j == 1 else 'boxes stay'} empty. In how many ways can this be done?",
        f"{who} shares {n} identical {things} among {k} friends, and exactly {j} of the friends "
        f"{'gets' if j == 1 else 'get'} nothing. Count the possible distributions.",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "j": j})


def _onto(n: int, k: int) -> int:
    return sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1))


def _different_things(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n, k = redrawn(
        lambda: (rng.randint(4, 9), rng.randint(2, 6)),
        lambda p: p[1] < p[0] and p[1] ** p[0] < 80_000,
    )
    if level == 1:
        if rng.random() < 0.5:
            texts = phrasings(
                f"In how many ways can {n} different books be given to {k} people if everyone "
                "may get "
                "any number of books, also none?",
                f"{n} passengers are on a bus that still has {k} stops. In how many ways can the "
                "passengers get off, if it matters who leaves at which stop?",
                f"How many ways are there to put {n} labeled letters into {k} different mailboxes?",
                f"Each of {n} campers signs up for exactly one of {k} activities. How many "
                "sign-up lists "
                "are possible?",
            )
            return Problem(rng.choice(texts), str(k**n), {"ask": "any", "n": n, "k": k})
        sizes = [rng.randint(1, 4) for _ in range(rng.choice((2, 3)))]
        n = sum(sizes)
        answer = factorial(n)
        for size in sizes:
            answer //= factorial(size)
        people = rng.sample(PEOPLE, len(sizes))
        shares = listed([f"{p} {s}" for p, s in zip(people, sizes, strict=True)])
        texts = phrasings(
            f"{n} different presents are handed out completely, and the numbers received are: "
            f"{shares}. "
            "In how many ways can this be done?",
            f"A deck of {n} different cards is dealt out completely: {shares}. How many deals are "
            "possible, if the order of the cards in a hand is irrelevant?",
            f"{n} volunteers are to be split among {len(sizes)} leaders, with the following "
            "numbers: "
            f"{shares}. Find the number of ways to decide who goes with whom.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "sizes", "sizes": sizes})
    if level == 2:
        ask = rng.choice(("onto", "boxes", "one empty"))
        if ask == "onto":
            answer = _onto(n, k)
            texts = phrasings(
                f"In how many ways can {n} different books be given to {k} children so that "
                "every child "
                "gets at least one?",
                f"{n} students are assigned to {k} different teachers, and each teacher gets at "
                "least "
                "one student. How many assignments are possible?",
                f"How many functions from a set with {n} elements to a set with {k} elements "
                "take every "
                "value at least once?",
                f"{who} colors the {n} numbered squares of a strip, each with one of {k} colors, "
                "and uses "
                "all the colors. How many colorings are possible?",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        if ask == "boxes":
            answer = _onto(n, k) // factorial(k)
            texts = phrasings(
                f"In how many ways can {n} people be split into {k} nonempty teams, if the teams "
                "have no "
                "names and their order is irrelevant?",
                f"How many ways are there to distribute {n} different toys over {k} identical "
                "boxes so "
                "that no box is empty?",
                f"Find the number of partitions of the set $\\{{1, 2, \\ldots, {n}\\}}$ into "
                f"exactly {k} "
                "nonempty subsets.",
            )
            return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
        k = rng.randint(3, 5)
        answer = k * _onto(n, k - 1)
        texts = phrasings(
            f"{n} different balls are put into {k} different boxes so that exactly one box stays "
            "empty. "
            "How many ways are there?",
            f"{n} guests choose among {k} rooms of an inn, each guest one room, and exactly one "
            "of the "
            "rooms is chosen by nobody. In how many ways can this happen?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k})
    ask = rng.choice(("capacity", "apart", "first at least"))
    if ask == "capacity":
        n, k, top = redrawn(
            lambda: (rng.randint(4, 9), rng.randint(2, 5), rng.randint(2, 4)),
            lambda t: t[2] + 1 < t[0] < t[1] * t[2] and t[1] ** t[0] < 80_000,
        )
        answer = sum(all(t.count(j) <= top for j in range(k)) for t in product(range(k), repeat=n))
        texts = phrasings(
            f"{n} different people get into {k} different cars, at most {top} people in a car. "
            "In how "
            "many ways can they choose their cars? Seats do not matter, and cars may stay empty.",
            f"In how many ways can {n} different books be distributed over {k} different drawers "
            "if no "
            f"drawer may hold more than {top} of them? Order within a drawer is irrelevant.",
            f"Count the strings of length {n} over an alphabet of {k} letters in which no letter "
            "occurs "
            f"more than {top} times.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "top": top})
    if ask == "apart":
        n, k = redrawn(
            lambda: (rng.randint(4, 9), rng.randint(2, 5)),
            lambda p: p[1] < p[0] and p[1] ** p[0] < 80_000,
        )
        answer = _onto(n, k) - _onto(n - 1, k)
        x, y = rng.sample(PEOPLE, 2)
        named = rng.random() < 0.5
        if not named:
            answer //= factorial(k)
        label = "different" if named else "unnamed"
        texts = phrasings(
            f"{n} people, among them {x} and {y}, form {k} {label} nonempty groups, and {x} and "
            f"{y} must "
            "not be in the same group. "
            f"{'It matters which group is which.' if named else 'The order of the groups is irrelevant.'} "
            "In how many ways can the groups be formed?",
            f"{x}, {y} and {n - 2} others are divided among {k} "
            f"{'different boats' if named else 'boats that need not be told apart'} so that no "
            "boat is "
            f"empty and {x} and {y} sit in different boats. How many divisions are possible?",
        )
        values = {"ask": ask, "n": n, "k": k, "named": named}
        return Problem(rng.choice(texts), str(answer), values)
    low = rng.randint(2, 4)
    n, k = redrawn(
        lambda: (rng.randint(low + 2, 9), rng.randint(2, 4)),
        lambda p: p[0] >= low + p[1] - 1 and p[1] ** p[0] < 80_000,
    )
    answer = sum(
        t.count(0) >= low and all(j in t for j in range(1, k)) for t in product(range(k), repeat=n)
    )
    if answer < 2:
        return _different_things(rng, level)
    x = rng.choice(PEOPLE)
    texts = phrasings(
        f"{n} different prizes go to {x} and {k - 1} other people. {x} gets at least {low} of "
        "them, and "
        "each of the others at least one. In how many ways can the prizes be given out?",
        f"In how many ways can {n} different tasks be assigned to {k} employees so that {x}, who "
        "is one "
        f"of them, has at least {low} tasks and nobody is without a task?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n, "k": k, "low": low})


FAMILIES = (
    math_family("counting_equal_things", _equal_things, "equal things shared out, with bounds"),
    math_family("counting_different_things", _different_things, "different things in boxes"),
)
