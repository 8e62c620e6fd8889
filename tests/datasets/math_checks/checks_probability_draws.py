from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Any

from checks_probability_steps import formed

Values = Mapping[str, Any]


def share(outcomes: Iterable[Any], good: Callable[[Any], bool]) -> Fraction:
    hits = total = 0
    for outcome in outcomes:
        total += 1
        hits += bool(good(outcome))
    return Fraction(hits, total)


def is_prime(n: int) -> bool:
    return sum(n % d == 0 for d in range(1, n + 1)) == 2


def dice(p: Values, question: str) -> Fraction:
    ask = p["ask"]

    def good(roll: tuple[int, ...]) -> Any:
        total, times = sum(roll), math.prod(roll)
        if ask == "at least":
            return (total >= p["s"]) == p["more"]
        if ask == "one is sum":
            low, *_, high = sorted(roll)
            return high - (total - high) == p["k"] if len(roll) > 2 else high == 2 * low + p["k"]
        return {
            "equals": total == p.get("s"),
            "multiple": total % p.get("d", 1) == 0,
            "product multiple": times % p.get("d", 1) == 0,
            "difference": max(roll) - min(roll) == p.get("d"),
            "prime": is_prime(total),
            "between": p.get("low", 0) <= total <= p.get("high", 0),
            "product equals": times == p.get("t"),
            "sum divides": times % total == 0,
            "square": math.isqrt(times) ** 2 == times,
        }[ask]

    return share(product(range(1, p["faces"] + 1), repeat=p["count"]), good)


def order(p: Values, question: str) -> Fraction:
    ask, k, count = p["ask"], p.get("k", 0), p["count"]

    def good(roll: tuple[int, ...]) -> Any:
        ranked = sorted(roll)
        return {
            "max": ranked[-1] == k,
            "min": ranked[0] == k,
            "min at least": ranked[0] == k,
            "greater": ranked[-1] - ranked[0] >= k,
            "different": len(set(roll)) == count,
            "exactly": sum(x > k for x in roll) == 2,
            "increasing": ranked == list(roll) and len(set(roll)) == count,
            "max given place": all(roll[0] > x for x in roll[1:]),
            "median": sum(x < k for x in roll) == 1 and sum(x > k for x in roll) == 1,
            "two equal": len(set(roll)) == count - 1,
            "neighbors": ranked == list(range(ranked[0], ranked[0] + count)),
        }[ask]

    return share(product(range(1, p["faces"] + 1), repeat=count), good)


def cards(p: Values, question: str) -> Fraction:
    ask, d = p["ask"], p.get("d", 1)

    def good(drawn: tuple[int, ...]) -> Any:
        c = sorted(drawn)
        return {
            "sum even": sum(c) % d == 0,
            "sum": sum(c) > p.get("a", 0),
            "contains": c[-1] == p.get("a"),
            "apart": c[-1] - c[0] >= d,
            "max": c[-1] <= p.get("a", 0) and c[0] > p.get("low", 0),
            "product": math.prod(c) % d == 0,
            "coprime": math.prod(c) % d == 0,
            "gap": all(y - x != 1 for x, y in pairwise(c)),
            "progression": len(c) > 2 and c[2] - c[1] == c[1] - c[0],
            "triangle": len(c) > 2 and c[2] < c[0] + c[1],
            "sum of two": len(c) > 2 and c[2] == c[0] + c[1],
        }[ask]

    return share(permutations(range(1, p["n"] + 1), p["k"]), good)


def integers(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask == "divisor":
        found = [x for x in range(1, p["whole"] + 1) if p["whole"] % x == 0]
        return share(found, lambda x: x % p["multiple"] == 0)
    numbers = range(1, p["n"] + 1)
    if ask.startswith("two"):
        d = p.get("d", 5)
        tests = {
            "two sum": lambda t: (t[0] + t[1]) % d == 0,
            "two squares": lambda t: (t[0] ** 2 + t[1] ** 2) % d == 0,
            "two product": lambda t: t[0] * t[1] % d == 1,
            "two power": lambda t: (2 ** t[0] + 3 ** t[1]) % 5 == 0,
        }
        return share(product(numbers, repeat=2), tests[ask])
    a, b = p.get("a", 1), p.get("b", 1)
    one, two = set(range(a, p["n"] + 1, a)), set(range(b, p["n"] + 1, b))
    if ask in ("either", "one not other", "neither"):
        hits = {
            "either": one | two,
            "one not other": one - two,
            "neither": set(numbers) - one - two,
        }
        return Fraction(len(hits[ask]), p["n"])
    if ask == "coprime":
        return share(
            numbers, lambda x: not any(x % q == 0 and p["m"] % q == 0 for q in range(2, 50))
        )
    return share(numbers, lambda x: str(p["d"]) in str(x))


def urns(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    balls = "r" * p["red"] + "b" * p["blue"] + "g" * p.get("green", 0)
    if ask in ("exactly", "mixed"):
        draws = product(balls, repeat=p["k"]) if p["back"] else permutations(balls, p["k"])
        if ask == "mixed":
            return share(draws, lambda t: len(set(t)) > 1)
        return share(draws, lambda t: t.count("r") == p["j"])
    if ask == "transfer":
        total = Fraction(0)
        pairs = list(combinations(balls, 2))
        for pair in pairs:
            second = "r" * p["c"] + "b" * p["d"] + "".join(pair)
            total += Fraction(second.count("r"), len(second) * len(pairs))
        return total
    if ask == "position":
        return share(permutations(balls, p["i"]), lambda t: "r" not in t[:-1] and t[-1] == "r")
    if ask == "runs out":
        states: dict[tuple[int, ...], Fraction] = {(p["red"], p["blue"], p["green"]): Fraction(1)}
        won = Fraction(0)
        while states:
            after: dict[tuple[int, ...], Fraction] = {}
            for state, chance in states.items():
                if state[0] == 0 or 0 in state[1:]:
                    won += chance * (state[0] == 0 and 0 not in state[1:])
                    continue
                for i in range(3):
                    left = tuple(s - (i == j) for j, s in enumerate(state))
                    part = chance * Fraction(state[i], sum(state))
                    after[left] = after.get(left, Fraction(0)) + part
            states = after
        return won
    return share(
        combinations(balls, 3),
        lambda t: {
            "all colors": len(set(t)) == 3,
            "same": len(set(t)) == 1,
            "at least": t.count("r") >= 2,
            "two of three": len(set(t)) == 2,
        }[ask],
    )


def orders(p: Values, question: str) -> Fraction:
    ask = p["ask"]
    if ask in ("block", "apart"):
        people = "g" * p["girls"] + "b" * p["boys"]
        places = combinations(range(len(people)), p["girls"])
        if ask == "block":
            return share(places, lambda c: c[-1] - c[0] == len(c) - 1)
        return share(places, lambda c: all(y - x > 1 for x, y in pairwise(c)))
    if ask in ("same team", "two of three"):
        teams = {"two": 2, "three": 3, "four": 4}[p["teams"]]
        seats = [team for team in range(teams) for _ in range(p["size"])]
        return share(
            permutations(seats, 3),
            lambda t: t[0] == t[1] and (t[1] == t[2]) == (ask == "same team"),
        )
    if ask in ("own", "records"):
        n = p["n"]
        if ask == "own":
            return share(
                permutations(range(n)), lambda f: sum(x == i for i, x in enumerate(f)) == p["j"]
            )
        return share(
            permutations(range(n)),
            lambda f: sum(all(y < x for y in f[:i]) for i, x in enumerate(f)) == p["k"],
        )
    if ask == "cycle":
        # after j visits without a return, the next number is one of the m - j that are left
        chance = Fraction(1)
        for visited in range(p["k"]):
            chance *= Fraction(p["m"] - visited - 1, p["m"] - visited)
        return chance
    n = p["n"]

    def near(x: int, y: int) -> bool:
        return (x - y) % n in (1, n - 1)

    return share(
        permutations(range(n), 3),
        lambda t: {
            "together": abs(t[0] - t[1]) == 1,
            "before": 0 < t[0] < t[1],
            "ends": {t[0], t[1]} == {0, n - 1},
            "first places": max(t[0], t[1]) < p.get("k", 0),
            "gap": abs(t[0] - t[1]) - 1 == p.get("k"),
            "between": min(t[1:]) + 1 < t[0] < max(t[1:]) - 1,
            "circle both": near(t[0], t[1]) and near(t[0], t[2]),
            "circle neither": not near(t[0], t[1]) and not near(t[0], t[2]),
        }[ask],
    )


def subsets(p: Values, question: str) -> Fraction:
    ask, n = p["ask"], p["n"]
    coins = product((0, 1), repeat=n)
    if ask in ("size", "at most", "least"):
        return share(
            coins,
            lambda t: {
                "size": sum(t) == p["k"],
                "at most": sum(t) <= p["k"],
                "least": sum(t) == p["k"] and t[-1] == 1,
            }[ask],
        )
    if ask in ("no two", "sum", "max min"):

        def good(t: tuple[int, ...]) -> Any:
            s = [i for i, x in enumerate(t, 1) if x]
            if ask == "no two":
                return (1, 1) not in list(pairwise(t))
            if ask == "sum":
                return sum(s) == p["total"]
            return bool(s) and s[-1] - s[0] == p["gap"]

        return share(coins, good)
    count = 3 if ask == "three" else 2
    # element by element: the number of subsets that contain it, and its effect on the event
    states: dict[tuple[int, ...], Fraction] = {(0, 0, 0, 0): Fraction(1)}
    for _ in range(n):
        after: dict[tuple[int, ...], Fraction] = {}
        for (met, only_a, only_b, _), chance in states.items():
            for where in product((0, 1), repeat=count):
                state = (
                    met + (sum(where) == count),
                    only_a + (where[:2] == (1, 0)),
                    only_b + (where[:2] == (0, 1)),
                    0,
                )
                after[state] = after.get(state, Fraction(0)) + chance / 2**count
        states = after
    total = Fraction(0)
    for (met, only_a, only_b, _), chance in states.items():
        total += (
            chance
            * {
                "disjoint": met == 0 and only_a + only_b > 0,
                "inside": only_a == 0 or only_b == 0,
                "meet": met == p.get("k"),
                "three": met == p.get("k"),
                "sizes": only_a > only_b,
            }[ask]
        )
    return total


CHECKS = {
    "probability_dice": formed(dice),
    "probability_order": formed(order),
    "probability_cards": formed(cards),
    "probability_integers": formed(integers),
    "probability_urns": formed(urns),
    "probability_orders": formed(orders),
    "probability_subsets": formed(subsets),
}
