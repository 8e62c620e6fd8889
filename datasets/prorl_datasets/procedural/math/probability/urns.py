"""Problems on coloured balls, random boxes, orders and subsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE
from prorl_datasets.procedural.math.probability.asking import probability
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)

THINGS = (("balls", "an urn"), ("marbles", "a bag"), ("socks", "a drawer"), ("chips", "a jar"),
          ("pens", "a pencil case"), ("buttons", "a tin"))  # fmt: skip


def _urns(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    things, place = rng.choice(THINGS)
    r, b = rng.randint(2, 8), rng.randint(2, 8)
    n = r + b
    stock = f"{place[0].upper()}{place[1:]} contains {r} red and {b} blue {things}."
    if level == 1:
        k = rng.choice((2, 2, 3))
        word = {2: "two", 3: "three"}[k]
        back = rng.random() < 0.3
        j = rng.randint(0, k)
        scene = WORDINGS.draw(
            rng,
            "urns 2",
            stock=stock,
            who=who,
            word=word,
            putting_each="putting each back before the next draw"
            if back
            else "without putting any back",
            r=r,
            b=b,
            things=things,
            place=place,
            word_2=word.capitalize(),
            with_replacement="with replacement" if back else "without replacement",
            after_each="after each draw the drawn one is returned"
            if back
            else "no drawn one is returned",
        )
        if rng.random() < 0.5:
            event = (
                f"exactly {j} of the {word} are red"
                if 0 < j < k
                else f"all {word} are {'red' if j else 'blue'}"
            )
            event = (
                event.replace("exactly 1 of the two are", "exactly one of the two is")
                .replace("exactly 1 of the three are", "exactly one of the three is")
                .replace("all two", "both")
            )
            value = (
                Fraction(comb(k, j) * r**j * b ** (k - j), n**k)
                if back
                else Fraction(comb(r, j) * comb(b, k - j), comb(n, k))
            )
            ask = "exactly"
        else:
            j = -1
            event = (
                f"the {word} do not all have the same color"
                if k > 2
                else "the two have different colors"
            )
            same = (
                Fraction(r**k + b**k, n**k)
                if back
                else Fraction(comb(r, k) + comb(b, k), comb(n, k))
            )
            value, ask = 1 - same, "mixed"
        if not 0 < value < 1:
            return _urns(rng, level)
        values = {"ask": ask, "red": r, "blue": b, "k": k, "back": back, "j": j}
        return probability(rng, scene, event, value, values, level)
    g = rng.randint(2, 6)
    n += g
    stock = f"{place[0].upper()}{place[1:]} contains {r} red, {b} blue and {g} green {things}."
    if level == 2:
        ask = rng.choice(("all colors", "same", "at least", "two of three"))
        k = 3
        scene = WORDINGS.draw(
            rng, "urns 3", stock=stock, who=who, things=things, place=place, r=r, b=b, g=g
        )
        event, good = {
            "all colors": ("the three have three different colors", r * b * g),
            "same": ("all three have the same color", comb(r, 3) + comb(b, 3) + comb(g, 3)),
            "at least": ("at least two of the three are red", comb(r, 2) * (n - r) + comb(r, 3)),
            "two of three": (
                "exactly two different colors occur among the three",
                comb(n, 3) - r * b * g - comb(r, 3) - comb(b, 3) - comb(g, 3),
            ),
        }[ask]
        value = Fraction(good, comb(n, k))
        if not 0 < value < 1:
            return _urns(rng, level)
        values = {"ask": ask, "red": r, "blue": b, "green": g}
        return probability(rng, scene, event, value, values, level)
    ask = rng.choice(("runs out", "position", "transfer"))
    if ask == "runs out":
        # the last of all is blue, or the red ones are gone first
        scene = WORDINGS.one("urns scene", stock=stock)
        value = Fraction(b, r + b) * Fraction(g, n) + Fraction(g, r + g) * Fraction(b, n)
        event = WORDINGS.one("urns event")
    elif ask == "position":
        i = rng.randint(2, 5)
        scene = f"{stock} They are drawn one after another without replacement."
        value = Fraction(1)
        for step in range(i - 1):
            value *= Fraction(n - r - step, n - step)
        value *= Fraction(r, n - i + 1)
        event = f"the first red one comes at the {ordinal(i)} draw"
        if value == 0:
            return _urns(rng, level)
        values = {"ask": ask, "red": r, "blue": b, "green": g, "i": i}
        return probability(rng, scene, event, value, values, level)
    else:
        c, d = rng.randint(2, 6), rng.randint(2, 6)
        scene = WORDINGS.one("urns", r=r, b=b, things=things, c=c, d=d)
        value = sum(
            (
                Fraction(comb(r, j) * comb(b, 2 - j), comb(r + b, 2)) * Fraction(c + j, c + d + 2)
                for j in range(3)
            ),
            Fraction(0),
        )
        event = "the one drawn from the second box is red"
        values = {"ask": ask, "red": r, "blue": b, "c": c, "d": d}
        return probability(rng, scene, event, value, values, level)
    return probability(
        rng, scene, event, value, {"ask": ask, "red": r, "blue": b, "green": g}, level
    )


def _random_orders(rng: Random, level: int) -> Problem:
    a, b, c = rng.sample(PEOPLE, 3)
    n = rng.randint(4, 12)
    doing = WORDINGS.draw(rng, "random orders")
    if level == 1:
        ask = rng.choice(("together", "before", "ends", "first places"))
        scene = rng.choice((
            f"{n} people, {a} and {b} among them, {doing}.",
            f"{a}, {b} and {n - 2} others {doing}.",
        ))  # fmt: skip
        k = rng.randint(2, n - 1)
        event, value = {
            "together": (f"{a} and {b} come directly one after the other", Fraction(2, n)),
            "before": (
                f"{a} is somewhere before {b} but not at the very front",
                Fraction(1, 2) - Fraction(1, n),
            ),
            "ends": (
                f"{a} and {b} get the first and the last place, in one order or the other",
                Fraction(2, n * (n - 1)),
            ),
            "first places": (
                f"both {a} and {b} are among the first {k}",
                Fraction(k * (k - 1), n * (n - 1)),
            ),
        }[ask]
        values = {"ask": ask, "n": n, **({"k": k} if ask == "first places" else {})}
        return probability(rng, scene, event, value, values, level)
    if level == 2:
        ask = rng.choice(("gap", "circle", "between", "boys"))
        if ask == "boys":
            x, y = rng.randint(2, 5), rng.randint(2, 5)
            scene = f"{x} girls and {y} boys {doing}."
            block = rng.random() < 0.5
            event = (
                "all the girls are directly one after another"
                if block
                else "no two girls are directly next to each other"
            )
            value = Fraction((y + 1) if block else comb(y + 1, x), comb(x + y, x))
            if not 0 < value < 1:
                return _random_orders(rng, level)
            values = {"ask": "block" if block else "apart", "girls": x, "boys": y}
            return probability(rng, scene, event, value, values, level)
        k = rng.randint(1, n - 3)
        if ask == "circle":
            n = max(n, 5)
            scene = f"{n} people, {a}, {b} and {c} among them, sit down at a round table at random."
            event, value = rng.choice((
                (f"{a} sits next to both {b} and {c}", Fraction(2, (n - 1) * (n - 2))),
                (f"{a} sits next to neither {b} nor {c}", Fraction(comb(n - 3, 2), comb(n - 1, 2))),
            ))  # fmt: skip
            values = {"ask": "circle both" if "both" in event else "circle neither", "n": n}
            return probability(rng, scene, event, value, values, level)
        scene = f"{n} people, {a}, {b} and {c} among them, {doing}."
        if ask == "gap":
            event = f"exactly {k} {'person is' if k == 1 else 'people are'} between {a} and {b}"
            value = Fraction(2 * (n - 1 - k), n * (n - 1))
        else:
            event = f"{a} comes somewhere between {b} and {c} and is not next to either of them"
            good = sum(
                (x > y + 1 and z > x + 1) or (x > z + 1 and y > x + 1)
                for x, y, z in permutations(range(n), 3)
            )
            value = Fraction(good, n * (n - 1) * (n - 2))
        if value == 0:
            return _random_orders(rng, level)
        values = {"ask": ask, "n": n, **({"k": k} if ask == "gap" else {})}
        return probability(rng, scene, event, value, values, level)
    ask = rng.choice(("own", "records", "cycle", "split"))
    n = rng.randint(4, 7)
    if ask == "own":
        j = rng.randint(0, n - 2)
        good = comb(n, j) * _deranged(n - j)
        scene = f"{n} letters are put at random into {n} addressed envelopes, one letter in each."
        event = (
            "no letter is in the right envelope"
            if j == 0
            else f"exactly {j} of the letters {'is' if j == 1 else 'are'} in the right envelope"
        )
        value = Fraction(good, factorial(n))
        return probability(rng, scene, event, value, {"ask": ask, "n": n, "j": j}, level)
    if ask == "records":
        k = rng.randint(2, 3)
        good = sum(
            sum(x == max(p[: i + 1]) for i, x in enumerate(p)) == k for p in permutations(range(n))
        )
        scene = WORDINGS.one("random orders, records", n=n)
        event = f"there are exactly {k} leaders"
        value = Fraction(good, factorial(n))
        return probability(rng, scene, event, value, {"ask": ask, "n": n, "k": k}, level)
    if ask == "cycle":
        k = rng.randint(2, n)
        m = rng.randint(n, 12)
        k = rng.randint(2, m - 1)
        scene = WORDINGS.one("random orders, cycle", m=m)
        event = f"more than {k} numbers below are visited, the final $1$ included"
        return probability(
            rng, scene, event, Fraction(m - k, m), {"ask": ask, "m": m, "k": k}, level
        )
    teams = rng.choice((2, 3, 4))
    size = rng.randint(2, 6)
    total = teams * size
    if total < 4:
        return _random_orders(rng, level)
    three = rng.random() < 0.5 and size > 2
    word = {2: "two", 3: "three", 4: "four"}[teams]
    scene = f"{total} players are divided at random into {word} teams of {size}."
    if three:
        event = f"{a}, {b} and {c}, who are among the players, are all in the same team"
        value = Fraction((size - 1) * (size - 2), (total - 1) * (total - 2))
    else:
        event = WORDINGS.one("random orders event", a=a, b=b, c=c)
        value = Fraction(size - 1, total - 1) * Fraction(total - size, total - 2)
    values = {"ask": "same team" if three else "two of three", "teams": word, "size": size}
    return probability(rng, scene, event, value, values, level)


def _deranged(n: int) -> int:
    return 1 if n == 0 else n * _deranged(n - 1) + (-1) ** n


def _random_subsets(rng: Random, level: int) -> Problem:
    n = rng.randint(4, 10)
    if level == 1:
        k = rng.randint(2, n - 2)
        ask = rng.choice(("size", "at most", "least"))
        scene = WORDINGS.draw(rng, "random subsets 2", n=n, drawn=rng.choice(PEOPLE))
        name = "the subset" if "subset" in scene else "the set of the kept numbers"
        event, value = {
            "size": (f"{name} has exactly {k} elements", Fraction(comb(n, k), 2**n)),
            "at most": (
                f"{name} has at most {k} elements",
                Fraction(sum(comb(n, i) for i in range(k + 1)), 2**n),
            ),
            "least": (
                f"{name} has exactly {k} elements and contains ${n}$",
                Fraction(comb(n - 1, k - 1), 2**n),
            ),
        }[ask]
        return probability(rng, scene, event, value, {"ask": ask, "n": n, "k": k}, level)
    if level == 2:
        ask = rng.choice(("no two", "sum", "max min"))
        n = rng.randint(5, 10)
        scene = WORDINGS.one("random subsets scene", n=n)
        subsets = [s for k in range(n + 1) for s in combinations(range(1, n + 1), k)]
        total = rng.randint(4, n * (n + 1) // 2 - 4)
        gap = rng.randint(2, n - 1)
        cases: dict[str, tuple[str, Callable[[Sequence[int]], bool]]] = {
            "no two": (
                "the chosen subset contains no two consecutive integers",
                lambda s: all(y - x > 1 for x, y in combinations(s, 2)),
            ),
            "sum": (
                f"the elements of the chosen subset add up to ${total}$",
                lambda s: sum(s) == total,
            ),
            "max min": (
                WORDINGS.one("random subsets 3", gap=gap),
                lambda s: bool(s) and max(s) - min(s) == gap,
            ),
        }
        event, good = cases[ask]
        value = Fraction(sum(good(s) for s in subsets), len(subsets))
        values = {"ask": ask, "n": n} | (
            {"total": total} if ask == "sum" else {"gap": gap} if ask == "max min" else {}
        )
        return probability(rng, scene, event, value, values, level)
    n = rng.randint(2, 7)
    ask = rng.choice(("disjoint", "inside", "meet", "three", "sizes"))
    shown = (
        f"\\{{1, 2, \\ldots, {n}\\}}"
        if n > 3
        else f"\\{{{', '.join(map(str, range(1, n + 1)))}\\}}"
    )
    k = rng.randint(1, n - 1)
    scene = WORDINGS.one("random subsets", shown=shown)
    if ask == "three":
        scene = WORDINGS.one("random subsets scene 2", shown=shown)
    event, value = {
        "disjoint": (
            "$A$ and $B$ have no common element and are not both empty",
            Fraction(3**n - 1, 4**n),
        ),
        "inside": (
            "$A$ is a subset of $B$ or $B$ is a subset of $A$",
            Fraction(2 * 3**n - 2**n, 4**n),
        ),
        "meet": (
            f"$A \\cap B$ has exactly {k} {'element' if k == 1 else 'elements'}",
            Fraction(comb(n, k) * 3 ** (n - k), 4**n),
        ),
        "three": (
            f"$A \\cap B \\cap C$ has exactly {k} {'element' if k == 1 else 'elements'}",
            Fraction(comb(n, k) * 7 ** (n - k), 8**n),
        ),
        "sizes": ("$A$ has more elements than $B$", Fraction(4**n - comb(2 * n, n), 2 * 4**n)),
    }[ask]
    values = {"ask": ask, "n": n} | ({"k": k} if ask in ("meet", "three") else {})
    return probability(rng, scene, event, value, values, level)


FAMILIES = (
    math_family("probability_urns", _urns, "coloured things drawn with or without replacement"),
    math_family("probability_orders", _random_orders, "random orders, tables and teams"),
    math_family("probability_subsets", _random_subsets, "random subsets of a set"),
)
