"""Problems on people around a table under seating rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import comb, factorial, prod
from random import Random

from prorl_datasets.procedural.math.counting.rows import Rule, sentences
from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _table_holds(rule: Rule, at: Sequence[int], n: int) -> bool:
    kind, numbers = rule[0], [int(str(x)) for x in rule[1:]]
    turn = (at[numbers[1]] - at[numbers[0]]) % n
    if kind == "next":
        return turn in (1, n - 1)
    if kind == "apart":
        return turn not in (1, n - 1)
    if kind == "left":
        return turn == 1
    if kind == "opposite":
        return 2 * turn == n
    if kind == "not opposite":
        return 2 * turn != n
    if kind == "gap":
        return numbers[2] + 1 in (turn, n - turn)
    raise ValueError(f"unknown seating rule {kind!r}")


def _table_text(rng: Random, rule: Rule, names: Sequence[str]) -> str:
    kind, x, y = rule[0], names[int(str(rule[1]))], names[int(str(rule[2]))]
    if kind == "gap":
        people = "person" if rule[3] == 1 else "people"
        ways = f"on one of the two ways around the table from {x} to {y}"
        return (
            f"{ways}, exactly {rule[3]} {people} {'sits' if rule[3] == 1 else 'sit'} between them"
        )
    return rng.choice({
        "next": (f"{x} and {y} sit next to each other", f"{y} takes a chair beside {x}"),
        "apart": (f"{x} and {y} do not sit next to each other", f"{x} and {y} are not neighbors"),
        "left": (f"{y} sits directly to the left of {x}", f"{y} is the left neighbor of {x}"),
        "opposite": (f"{x} and {y} sit exactly opposite each other",),
        "not opposite": (f"{x} and {y} do not sit exactly opposite each other",),
    }[str(kind)])  # fmt: skip


def _around(rng: Random) -> tuple[str, str]:
    same = WORDINGS.draw(rng, "around")
    end = rng.choice((
        "How many different seatings are there?",
        "In how many ways can they be seated?",
        "Find the number of seatings.",
    ))  # fmt: skip
    return same, end


def _tables(rng: Random, level: int) -> Problem:
    if level == 3 and rng.random() < 0.5:
        return _special_tables(rng)
    if level == 2 and rng.random() < 0.3:
        return _kinds_around_a_table(rng)

    def draw() -> tuple[int, list[Rule], int, int]:
        n = rng.randint(5, 9)
        kinds = (
            "next",
            "apart",
            "left",
            "gap",
            *(("opposite", "not opposite") if n % 2 == 0 else ()),
        )

        def rule(x: int, y: int) -> Rule:
            kind = rng.choice(kinds)
            return [kind, x, y, *([rng.randint(1, (n - 2) // 2)] if kind == "gap" else [])]

        rules = [rule(0, 1)]
        if level > 1:
            rules.append(rule(rng.choice((0, 1)), 2))
        if level > 2:
            rules.append(rule(rng.choice((1, 2)), 3))
        named = level + 1
        count = sum(
            all(_table_holds(r, (0, *rest), n) for r in rules)
            for rest in permutations(range(1, n), named - 1)
        )
        return n, rules, named, count * factorial(n - named)

    n, rules, named, answer = redrawn(draw, lambda d: 1 < d[3] < factorial(d[0] - 1))
    names = rng.sample(PEOPLE, named)
    several = ", ".join(names[:-1]) + f" and {names[-1]}"
    same, end = _around(rng)
    rule_text = sentences(rng, [_table_text(rng, rule, names) for rule in rules])
    others = n - named
    rest = f"{others} other {'person' if others == 1 else 'people'}"
    text = WORDINGS.draw(
        rng,
        "tables",
        several=several.replace(" and ", ", "),
        rest=rest,
        n=n,
        rule_text=rule_text,
        same=same,
        end=end,
        several_2=several,
    )
    if level == 1:
        text = text.replace("under the following conditions", "under the following condition")
    return Problem(text, str(answer), {"n": n, "rules": rules})


def _kinds_around_a_table(rng: Random) -> Problem:
    same, end = _around(rng)
    k = rng.choice((3, 4))
    kind = rng.choice(("alternate", "alternate couples", "blocks"))
    if kind == "alternate":
        texts = WORDINGS.all("kinds around a table, alternate", k=k, same=same, end=end)
        answer = factorial(k) * factorial(k - 1)
        return Problem(rng.choice(texts), str(answer), {"ask": kind, "k": k})
    if kind == "alternate couples":
        texts = WORDINGS.all("kinds around a table 3", k=k, same=same, end=end, k_times_2=2 * k)
        return Problem(rng.choice(texts), str(2 * factorial(k - 1)), {"ask": kind, "k": k})
    sizes = [rng.randint(1, 4), rng.randint(2, 3), rng.randint(1, 3)]
    x, y, z = sizes
    texts = WORDINGS.all(
        "kinds around a table 4", x=x, y=y, z=z, same=same, end=end, sum_sizes=sum(sizes)
    )
    answer = 2 * prod(map(factorial, sizes))
    return Problem(rng.choice(texts), str(answer), {"ask": kind, "sizes": sizes})


def _special_tables(rng: Random) -> Problem:
    same, end = _around(rng)
    a, b, c = rng.sample(PEOPLE, 3)
    kind = rng.choice(("couples", "three apart", "flips", "empty", "empty"))
    if kind == "couples":
        k, j = rng.choice((3, 4)), rng.choice((0, 1, 2))
        answer = sum(
            (-1) ** (i - j) * comb(i, j) * comb(k, i) * 2**i * factorial(2 * k - i - 1)
            for i in range(j, k + 1)
        )
        wish = (
            "nobody sits next to his or her spouse",
            "exactly one couple sits together",
            "exactly two of the couples sit together",
        )[j]
        texts = WORDINGS.all(
            "special tables 5", k=k, k_times_2=2 * k, wish=wish, same=same, end=end
        )
        return Problem(rng.choice(texts), str(answer), {"ask": kind, "k": k, "exactly": j})
    if kind == "three apart":
        n = rng.randint(6, 9)
        answer = factorial(n - 4) * comb(n - 3, 3) * 6
        texts = WORDINGS.all(
            "special tables 6", n=n, a=a, b=b, c=c, same=same, end=end, n_minus_3=n - 3
        )
        return Problem(rng.choice(texts), str(answer), {"ask": kind, "n": n})
    if kind == "flips":
        n = rng.randint(5, 8)
        k = rng.randint(2, n - 2)
        answer = factorial(n - k) * factorial(k) // 2
        texts = WORDINGS.all("special tables, flips", n=n, k=k, n_minus_k=n - k)
        return Problem(rng.choice(texts), str(answer), {"ask": kind, "n": n, "k": k})
    n = rng.randint(6, 12)
    k = rng.randint(2, n // 2)
    k = min(k, 5)
    answer = comb(n - k - 1, k - 1) * factorial(k - 1)
    texts = WORDINGS.all("special tables", k=k, n=n, same=same, end=end)
    return Problem(rng.choice(texts), str(answer), {"ask": kind, "n": n, "k": k})


FAMILIES = (math_family("counting_tables", _tables, "people around a round table"),)
