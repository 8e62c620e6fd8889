"""Problems on people in a row under seating rules.

A rule is a list such as ``["gap", 0, 3, 2]``: two people sit between persons 0 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

Rule = list[object]


def _row_holds(rule: Rule, at: Sequence[int], n: int) -> bool:
    kind, numbers = rule[0], [int(str(x)) for x in rule[1:]]
    x = at[numbers[0]]
    if kind == "first":
        return x < numbers[1]
    if kind == "not place":
        return x != numbers[1] - 1
    if kind == "end":
        return x in (0, n - 1)
    if kind == "inside":
        return 0 < x < n - 1
    y = at[numbers[1]]
    if kind == "next":
        return abs(x - y) == 1
    if kind == "apart":
        return abs(x - y) > 1
    if kind == "before":
        return x < y
    if kind == "gap":
        return abs(x - y) == numbers[2] + 1
    raise ValueError(f"unknown seating rule {kind!r}")


def _row_rule(rng: Random, kinds: Sequence[str], who: Sequence[int], n: int) -> Rule:
    kind = rng.choice(kinds)
    if kind in ("first", "not place"):
        return [kind, who[0], rng.randint(2, n - 2) if kind == "first" else rng.randint(1, n)]
    if kind in ("end", "inside"):
        return [kind, who[0]]
    return [kind, *who[:2], *([rng.randint(1, n - 3)] if kind == "gap" else [])]


def _row_text(rng: Random, rule: Rule, names: Sequence[str]) -> str:
    kind, x = rule[0], names[int(str(rule[1]))]
    if kind == "first":
        return WORDINGS.draw(rng, "row text, first", x=x, rule=rule)
    if kind == "not place":
        return pick(
            rng,
            f"{x} must not get place number {rule[2]}",
            f"place number {rule[2]} is not for {x}",
        )
    if kind == "end":
        return rng.choice((f"{x} must be first or last", f"{x} gets one of the two end places"))
    if kind == "inside":
        return pick(
            rng, f"{x} must be neither first nor last", f"{x} does not want to be at either end"
        )
    y = names[int(str(rule[2]))]
    if kind == "next":
        return WORDINGS.draw(rng, "row text, next", x=x, y=y)
    if kind == "apart":
        return WORDINGS.draw(rng, "row text, apart", x=x, y=y)
    if kind == "before":
        return WORDINGS.draw(rng, "row text, before", x=x, y=y)
    people = "person" if rule[3] == 1 else "people"
    return WORDINGS.draw(rng, "row", rule=rule, people=people, x=x, y=y)


PAIRED, SINGLE = ("next", "apart", "before", "gap"), ("first", "not place", "end", "inside")


def sentences(rng: Random, texts: list[str]) -> str:
    """Join the rules into sentences."""
    if len(texts) == 1:
        return texts[0][0].upper() + texts[0][1:] + "."
    if len(texts) == 2 and rng.random() < 0.5:
        return f"{texts[0][0].upper()}{texts[0][1:]}, and {texts[1]}."
    openings = rng.choice((("", "Moreover, ", "Finally, "), ("First, ", "second, ", "third, ")))
    if openings[0]:
        joined = "; ".join(f"{o}{t}" for o, t in zip(openings, texts, strict=False))
        return f"{joined}."
    joined = ". ".join(f"{o}{t}" for o, t in zip(openings, texts, strict=False))
    return f"{joined[0].upper()}{joined[1:]}."


def _rows(rng: Random, level: int) -> Problem:
    if level == 3 and rng.random() < 0.5:
        return _couples_in_a_row(rng)
    if level == 2 and rng.random() < 0.3:
        return _kinds_in_a_row(rng)

    def draw() -> tuple[int, list[Rule], int, int]:
        n = rng.choice((5, 6, 7, 7) if level > 1 else (4, 5, 6, 7, 7, 8))
        if level == 1:
            rules = [_row_rule(rng, (*PAIRED, "first", "inside"), (0, 1), n)]
        elif level == 2:
            rules = [
                _row_rule(rng, PAIRED, (0, 1), n),
                _row_rule(rng, SINGLE, (rng.choice((0, 2)),), n),
            ]
        else:
            rules = [
                _row_rule(rng, PAIRED, (0, 1), n),
                _row_rule(rng, PAIRED, (rng.choice((0, 1)), 2), n),
                _row_rule(rng, SINGLE, (rng.choice((0, 2, 3)),), n),
            ]
        named = 1 + max(int(str(x)) for r in rules for x in r[1 : 2 if r[0] in SINGLE else 3])
        named = max(named, 2)
        count = sum(
            all(_row_holds(rule, at, n) for rule in rules) for at in permutations(range(n), named)
        )
        return n, rules, named, count * factorial(n - named)

    n, rules, named, answer = redrawn(draw, lambda d: 4 < d[3] < factorial(d[0]))
    names = rng.sample(PEOPLE, named)
    places = WORDINGS.draw(rng, "rows 2")
    several = ", ".join(names[:-1]) + f" and {names[-1]}"
    lead = WORDINGS.draw(
        rng, "rows 3", n=n, several=several, places=places, n_minus_named=n - named
    )
    end = WORDINGS.draw(rng, "rows")
    rule_text = sentences(rng, [_row_text(rng, rule, names) for rule in rules])
    return Problem(f"{lead} {rule_text} {end}", str(answer), {"n": n, "rules": rules})


def _kinds_in_a_row(rng: Random) -> Problem:
    if rng.random() < 0.4:
        one = rng.randint(3, 5)
        two = one + rng.choice((0, -1, 1))
        answer = factorial(one) * factorial(two) * (2 if one == two else 1)
        texts = WORDINGS.all("kinds in a row", one=one, two=two)
        return Problem(rng.choice(texts), str(answer), {"ask": "alternate", "sizes": [one, two]})
    sizes = [rng.randint(2, 4) for _ in range(rng.choice((2, 3)))]
    if len(sizes) == 2:
        one, two = sizes
        answer = factorial(one) * factorial(two + 1)
        texts = WORDINGS.all("kinds in a row, one block", one=one, two=two)
        return Problem(rng.choice(texts), str(answer), {"ask": "one block", "sizes": sizes})
    one, two, three = sizes
    answer = 6 * prod(map(factorial, sizes))
    texts = WORDINGS.all(
        "kinds in a row, blocks", one=one, two=two, three=three, sum_sizes=sum(sizes)
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "blocks", "sizes": sizes})


def _couples_in_a_row(rng: Random) -> Problem:
    a, b, c = rng.sample(PEOPLE, 3)
    if rng.random() < 0.4:
        n = rng.randint(5, 8)
        k = rng.randint(2, n - 2)
        if rng.random() < 0.4:
            texts = WORDINGS.all("couples in a row", n=n, k=k)
            values = {"ask": "peak", "n": n, "k": k}
            return Problem(rng.choice(texts), str(comb(n - 1, k - 1)), values)
        answer = k * sum(factorial(n - 1) // (i - 1) for i in range(k + 1, n + 1))
        texts = WORDINGS.all("couples in a row, tallest", n=n, k=k)
        return Problem(rng.choice(texts), str(answer), {"ask": "tallest", "n": n, "k": k})
    if rng.random() < 0.4:
        n = rng.randint(6, 9)
        full = rng.random() < 0.5
        answer = (
            factorial(n - 3) * comb(n - 2, 3) * 6 if full else factorial(n) - 6 * factorial(n - 2)
        )
        rule = (
            f"No two of {a}, {b} and {c} may be next to each other."
            if full
            else WORDINGS.one("couples in a row 2", a=a, b=b, c=c)
        )
        texts = WORDINGS.all("couples in a row 4", n=n, a=a, b=b, c=c, rule=rule, n_minus_3=n - 3)
        values = {"ask": "no two" if full else "not three", "n": n}
        return Problem(rng.choice(texts), str(answer), values)
    pairs, j = rng.choice((3, 4)), rng.choice((0, 1, 2, -1))
    word = {3: "Three", 4: "Four"}[pairs]
    total = 2 * pairs

    def exactly(j: int) -> int:
        return sum(
            (-1) ** (i - j) * comb(i, j) * comb(pairs, i) * 2**i * factorial(total - i)
            for i in range(j, pairs + 1)
        )

    wish, answer = {
        0: ("nobody sits next to his or her spouse", exactly(0)),
        1: ("exactly one of the couples sits side by side", exactly(1)),
        2: ("exactly two of the couples sit side by side", exactly(2)),
        -1: ("at least one of the couples sits side by side", factorial(total) - exactly(0)),
    }[j]
    texts = WORDINGS.all(
        "couples in a row, 2", word=word, total=total, wish=wish, lower_word=word.lower()
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "couples", "pairs": pairs, "exactly": j})


FAMILIES = (math_family("counting_rows", _rows, "people in a row, together or apart"),)
