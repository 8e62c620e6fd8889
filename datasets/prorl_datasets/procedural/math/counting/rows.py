"""People in a row: together, apart, in a given order, couples kept apart.

A rule is a key with the numbers of the people it binds and, for some, a count. Leaves out: people
around a table (``tables``), letters of a word (``words``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, phrasings, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family

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
    raise ValueError(f"no rule {kind!r} for a row")


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
        return rng.choice(
            (
                f"{x} has to be among the first {rule[2]}",
                f"{x} wants one of the first {rule[2]} places",
            )
        )
    if kind == "not place":
        return rng.choice(
            (f"{x} must not get place number {rule[2]}", f"place number {rule[2]} is not for {x}")
        )
    if kind == "end":
        return rng.choice((f"{x} must be first or last", f"{x} gets one of the two end places"))
    if kind == "inside":
        return rng.choice(
            (f"{x} must be neither first nor last", f"{x} does not want to be at either end")
        )
    y = names[int(str(rule[2]))]
    if kind == "next":
        return rng.choice((
            f"{x} and {y} want to be directly next to each other, in either order",
            f"nobody may come between {x} and {y}, whichever of them is first",
        ))  # fmt: skip
    if kind == "apart":
        return rng.choice((
            f"{x} and {y} refuse to be directly next to each other",
            f"there has to be at least one other person between {x} and {y}",
        ))  # fmt: skip
    if kind == "before":
        return rng.choice((
            f"{x} has to come somewhere before {y}, not necessarily directly before",
            f"{y} must come later than {x}, though others may be between them",
        ))  # fmt: skip
    people = "person" if rule[3] == 1 else "people"
    return rng.choice((
        f"exactly {rule[3]} {people} must be between {x} and {y}, whichever of them is first",
        f"{x} and {y} are to be separated by exactly {rule[3]} {people}",
    ))  # fmt: skip


PAIRED, SINGLE = ("next", "apart", "before", "gap"), ("first", "not place", "end", "inside")


def sentences(rng: Random, texts: list[str]) -> str:
    """Join the texts of rules to one or more sentences."""
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
    places = rng.choice((
        "stand in a line for a photo", "sit down side by side on a bench",
        "queue at a ticket office", "give their talks one after another",
        "run a relay, each one leg", "walk in single file along a narrow path",
        "take the seats of one row in a cinema", "perform one after another in a show",
    ))  # fmt: skip
    several = ", ".join(names[:-1]) + f" and {names[-1]}"
    lead = rng.choice((
        f"{n} friends, among them {several}, {places}.",
        f"{n} people, {several} and {n - named} more, {places}.",
        f"{several} belong to a group of {n} people who {places}.",
    ))  # fmt: skip
    end = rng.choice((
        "In how many different orders is this possible?",
        "How many orders of all the people satisfy this?",
        "Find the number of possible orders.",
        "Count the orders of the whole group that are allowed.",
    ))  # fmt: skip
    rule_text = sentences(rng, [_row_text(rng, rule, names) for rule in rules])
    return Problem(f"{lead} {rule_text} {end}", str(answer), {"n": n, "rules": rules})


def _kinds_in_a_row(rng: Random) -> Problem:
    if rng.random() < 0.4:
        one = rng.randint(3, 5)
        two = one + rng.choice((0, -1, 1))
        answer = factorial(one) * factorial(two) * (2 if one == two else 1)
        texts = phrasings(
            f"{one} girls and {two} boys form a line so that no two girls and no two boys are "
            "next to "
            "each other. In how many ways can they line up?",
            f"A shelf holds {one} different novels and {two} different atlases in one row. The two "
            "kinds of books alternate. How many orders are possible?",
            f"{one} different red flags and {two} different blue flags hang on a line, and the "
            "colors "
            "alternate all along the line. Find the number of possible orders.",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "alternate", "sizes": [one, two]})
    sizes = [rng.randint(2, 4) for _ in range(rng.choice((2, 3)))]
    if len(sizes) == 2:
        one, two = sizes
        answer = factorial(one) * factorial(two + 1)
        texts = phrasings(
            f"{one} different cookbooks and {two} different novels stand in one row on a shelf. "
            "All "
            "the cookbooks are next to each other, while the novels may stand anywhere. How many "
            "orders of the books are possible?",
            f"{one} tenors and {two} basses line up for a concert. The tenors form one block "
            "without "
            "anybody between them; for the basses there is no such rule. In how many ways can the "
            "singers line up?",
        )
        return Problem(rng.choice(texts), str(answer), {"ask": "one block", "sizes": sizes})
    one, two, three = sizes
    answer = 6 * prod(map(factorial, sizes))
    texts = phrasings(
        f"{one} different mathematics books, {two} different novels and {three} different atlases "
        "stand in one row on a shelf, and books of the same kind stand together. How many "
        "orders of "
        "the books are possible?",
        f"{one} Danes, {two} Finns and {three} Poles sit in a row of {sum(sizes)} seats. People "
        "from "
        "the same country sit next to each other, so that each country fills one block. In how "
        "many "
        "ways can they be seated?",
        f"In a concert, {one} songs, {two} dances and {three} poems, all different, are "
        "performed one "
        "after another. Each of the three kinds forms one part without interruption. Find the "
        "number "
        "of possible programs.",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "blocks", "sizes": sizes})


def _couples_in_a_row(rng: Random) -> Problem:
    a, b, c = rng.sample(PEOPLE, 3)
    if rng.random() < 0.4:
        n = rng.randint(5, 8)
        k = rng.randint(2, n - 2)
        if rng.random() < 0.4:
            texts = phrasings(
                f"{n} people of different heights stand in a row so that the heights increase up "
                "to "
                f"the tallest person, who has place number {k} from the left, and decrease after "
                "that. In how many ways can they stand?",
                f"How many permutations of the numbers $1, 2, \\ldots, {n}$ have the number "
                f"${n}$ in "
                f"place ${k}$, are increasing before it and decreasing after it?",
            )
            values = {"ask": "peak", "n": n, "k": k}
            return Problem(rng.choice(texts), str(comb(n - 1, k - 1)), values)
        answer = k * sum(factorial(n - 1) // (i - 1) for i in range(k + 1, n + 1))
        texts = phrasings(
            f"{n} runners of different heights line up one behind another. A coach walks along the "
            f"line from the front, only looks at the first {k}, and then picks the first later "
            "runner "
            f"who is taller than all of those {k}. In how many of the orders does the coach pick "
            "the "
            "tallest of all?",
            f"Consider the permutations $p_1, p_2, \\ldots, p_{n}$ of $1, 2, \\ldots, {n}$. In how "
            f"many of them is there a term after $p_{k}$ that exceeds all of the first ${k}$ "
            "terms, "
            f"the earliest such term being equal to ${n}$?",
        )
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
            else f"{a}, {b} and {c} must not occupy three consecutive places, but two of them "
            "may be "
            "neighbors."
        )
        texts = phrasings(
            f"{n} people, among them {a}, {b} and {c}, are photographed in one row. {rule} In "
            "how many "
            "different orders can the people stand?",
            f"{a}, {b}, {c} and {n - 3} other people sit in a row of {n} seats. {rule} Count the "
            "possible seating orders.",
        )
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
    texts = phrasings(
        f"{word} married couples take the {total} seats of one row in a theater. In how many "
        "ways can "
        f"they sit down so that {wish}?",
        f"{total} people, namely {word.lower()} married couples, sit in one row on a long bench. "
        "Count "
        f"the seating orders in which {wish}.",
        f"Among all the ways in which {word.lower()} married couples can occupy a row of {total} "
        f"chairs, in how many is it true that {wish}?",
    )
    return Problem(rng.choice(texts), str(answer), {"ask": "couples", "pairs": pairs, "exactly": j})


FAMILIES = (math_family("counting_rows", _rows, "people in a row, together or apart"),)
