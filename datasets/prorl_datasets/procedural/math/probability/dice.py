"""Problems on dice, numbered cards and random integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.probability.asking import probability
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _share(outcomes: Sequence[Sequence[int]], good: Callable[[Sequence[int]], bool]) -> Fraction:
    return Fraction(sum(good(o) for o in outcomes), len(outcomes))


def _faces(faces: int) -> str:
    return "1, 2, 3, 4" if faces == 4 else f"1, 2, \\ldots, {faces}"


def _dice(rng: Random, count: int, faces: int) -> str:
    who = rng.choice(PEOPLE)
    word = {2: "Two", 3: "Three", 4: "Four"}[count]
    kind = (
        "fair six-sided dice" if faces == 6 else f"fair dice with faces numbered $1$ to ${faces}$"
    )
    return rng.choice((
        f"{word} {kind} are rolled.",
        f"{who} throws {word.lower()} {kind}.",
        f"A fair die with the faces ${_faces(faces)}$ is rolled {word.lower()} times."
        .replace("two times", "twice"),
        f"In a board game, a move begins with a roll of {word.lower()} {kind}.",
    ))  # fmt: skip


def _dice_sums(rng: Random, level: int) -> Problem:
    faces = rng.choice((4, 6, 6, 6, 8, 10, 12))
    count = 2 if level == 1 else rng.choice((2, 3))
    if faces > 8:
        count = 2
    every = list(product(range(1, faces + 1), repeat=count))
    scene = _dice(rng, count, faces)
    values: dict[str, object] = {"faces": faces, "count": count}

    def draw() -> tuple[str, str, Fraction, dict[str, object]]:
        kinds = {
            1: ("equals", "at least", "multiple"),
            2: ("product multiple", "difference", "prime", "between"),
            3: ("product equals", "sum divides", "one is sum", "square"),
        }[level]
        ask = rng.choice(kinds)
        if ask == "equals":
            s = rng.randint(count + 1, count * faces - 1)
            return (
                ask,
                f"the sum of the results is ${s}$",
                _share(every, lambda o: sum(o) == s),
                {"s": s},
            )
        if ask == "at least":
            s = rng.randint(count + 2, count * faces - 1)
            more = rng.random() < 0.5
            event = f"the total is {'at least' if more else 'less than'} ${s}$"
            share = _share(every, lambda o: sum(o) >= s)
            return ask, event, share if more else 1 - share, {"s": s, "more": more}
        if ask == "multiple":
            d = rng.choice((3, 4, 5, 6, 7))
            return (
                ask,
                f"the sum of the numbers shown is a multiple of ${d}$",
                _share(every, lambda o: sum(o) % d == 0),
                {"d": d},
            )
        if ask == "product multiple":
            d = rng.choice((3, 4, 5, 6, 8, 9, 10, 12))
            return (
                ask,
                f"the product of the results is divisible by ${d}$",
                _share(every, lambda o: _product(o) % d == 0),
                {"d": d},
            )
        if ask == "difference":
            d = rng.randint(1, faces - 2)
            return (
                ask,
                f"the largest and the smallest result differ by exactly ${d}$",
                _share(every, lambda o: max(o) - min(o) == d),
                {"d": d},
            )
        if ask == "prime":
            return (
                ask,
                "the sum of the results is a prime number",
                _share(every, lambda o: _prime(sum(o))),
                {},
            )
        if ask == "between":
            low = rng.randint(count + 1, count * faces - 4)
            high = low + rng.randint(2, 4)
            return (
                ask,
                f"the sum of the numbers rolled is between ${low}$ and ${high}$, inclusive",
                _share(every, lambda o: low <= sum(o) <= high),
                {"low": low, "high": high},
            )
        if ask == "product equals":
            t = rng.choice([_product(o) for o in every])
            return (
                ask,
                f"the product of the results is exactly ${t}$",
                _share(every, lambda o: _product(o) == t),
                {"t": t},
            )
        if ask == "sum divides":
            return (
                ask,
                "the product of the results is a multiple of their sum",
                _share(every, lambda o: _product(o) % sum(o) == 0),
                {},
            )
        if ask == "square":
            return (
                ask,
                "the product of the results is a perfect square",
                _share(every, lambda o: round(_product(o) ** 0.5) ** 2 == _product(o)),
                {},
            )
        k = rng.randint(1, 3)
        event = (
            f"the largest result exceeds the sum of the other results by ${k}$"
            if count > 2
            else f"one of the results is ${k}$ more than twice the other"
        )
        good = (
            (lambda o: 2 * max(o) == sum(o) + k)
            if count > 2
            else (lambda o: any(x == 2 * y + k for x, y in (o, o[::-1])))
        )
        return ask, event, _share(every, good), {"k": k}

    ask, event, value, more = redrawn(draw, lambda d: 0 < d[2] < 1)
    return probability(rng, scene, event, value, {**values, "ask": ask, **more}, level)


def _product(numbers: Sequence[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result


def _prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, n))


def _orders(rng: Random, level: int) -> Problem:
    faces = rng.choice((4, 6, 6, 8, 10, 12, 20))
    count = 2 if level == 1 else 3 if faces > 8 else rng.choice((3, 4))
    if faces == 20 and count > 2:
        faces = 9
    every = list(product(range(1, faces + 1), repeat=count))
    scene = _dice(rng, count, faces)
    word = {2: "two", 3: "three", 4: "four"}[count]

    def draw() -> tuple[str, str, Fraction, dict[str, int]]:
        k = rng.randint(2, faces - 1)
        kinds = {
            1: ("max", "min", "greater"),
            2: ("max", "different", "min at least", "exactly"),
            3: ("increasing", "max given place", "median", "two equal", "neighbors"),
        }[level]
        ask = rng.choice(kinds)
        event, good = {
            "max": (f"the highest of the {word} results is exactly ${k}$", lambda o: max(o) == k),
            "min": (f"the lowest of the {word} results is exactly ${k}$", lambda o: min(o) == k),
            "greater": (
                f"one of the {word} results is at least ${k}$ greater than the other",
                lambda o: abs(o[0] - o[1]) >= k,
            ),
            "different": (f"all {word} results are different", lambda o: len(set(o)) == count),
            "min at least": (WORDINGS.one("orders", word=word, k=k), lambda o: min(o) == k),
            "exactly": (
                f"exactly two of the {word} results are greater than ${k}$",
                lambda o: sum(x > k for x in o) == 2,
            ),
            "increasing": (
                WORDINGS.one("orders 2", word=word),
                lambda o: all(x < y for x, y in pairwise(o)),
            ),
            "max given place": (
                f"the first result is greater than each of the {count - 1} others",
                lambda o: all(o[0] > x for x in o[1:]),
            ),
            "median": (
                WORDINGS.one("orders 4", word=word, k=k),
                lambda o: sum(x < k for x in o) == 1 == sum(x > k for x in o),
            ),
            "two equal": (WORDINGS.one("orders 3", word=word), lambda o: len(set(o)) == count - 1),
            "neighbors": (
                f"the {word} results are consecutive integers in some order",
                lambda o: len(set(o)) == count and max(o) - min(o) == count - 1,
            ),
        }[ask]
        return ask, event, _share(every, good), {"k": k} if f"${k}$" in event else {}

    ask, event, value, more = redrawn(draw, lambda d: 0 < d[2] < 1)
    if "written in order" in event or ask == "max given place":
        kind = (
            "with the faces $1, 2, \\ldots, 6$"
            if faces == 6
            else f"with faces numbered $1$ to ${faces}$"
        )
        scene = f"{rng.choice(PEOPLE)} rolls a fair die {kind} {word} times."
    values = {"ask": ask, "faces": faces, "count": count, **more}
    return probability(rng, scene, event, value, values, level)


def _cards(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    n = rng.randint(6, 20) if level < 3 else rng.randint(6, 13)
    k = 2 if level == 1 else 3
    word = {2: "two", 3: "three"}[k]
    scene = WORDINGS.draw(rng, "cards", n=n, who=who, word=word, word_2=word.capitalize())
    every = list(combinations(range(1, n + 1), k))

    def draw() -> tuple[str, str, Fraction, dict[str, int]]:
        kinds = {
            1: ("sum even", "sum", "contains", "apart"),
            2: ("sum even", "max", "product", "gap"),
            3: ("progression", "triangle", "sum of two", "coprime"),
        }[level]
        ask = rng.choice(kinds)
        a = rng.randint(2, n - 1)
        d = rng.choice((3, 4, 5))
        event, good, more = {
            "sum even": (
                f"the sum of the {word} numbers is a multiple of ${d}$",
                lambda c: sum(c) % d == 0,
                {"d": d},
            ),
            "sum": (
                f"the {word} numbers add up to more than ${a + 3}$",
                lambda c: sum(c) > a + 3,
                {"a": a + 3},
            ),
            "contains": (
                f"the number ${a}$ is the larger of the two numbers drawn",
                lambda c: max(c) == a,
                {"a": a},
            ),
            "apart": (
                f"the {word} numbers differ by at least ${d}$",
                lambda c: max(c) - min(c) >= d,
                {"d": d},
            ),
            "max": (
                WORDINGS.one("cards 2", word=word, a=a, most=min(a // 3, 3)),
                lambda c: max(c) <= a and min(c) > min(a // 3, 3),
                {"a": a, "low": min(a // 3, 3)},
            ),
            "product": (
                f"the product of the {word} numbers is divisible by ${d}$",
                lambda c: _product(c) % d == 0,
                {"d": d},
            ),
            "gap": (
                f"no two of the {word} numbers are consecutive integers",
                lambda c: all(y - x > 1 for x, y in combinations(c, 2)),
                {},
            ),
            "progression": (
                "the three numbers, put in increasing order, form an arithmetic progression",
                lambda c: c[0] + c[2] == 2 * c[1],
                {},
            ),
            "triangle": (
                "the three numbers are the side lengths of a triangle with positive area",
                lambda c: c[0] + c[1] > c[2],
                {},
            ),
            "sum of two": (
                "one of the three numbers is the sum of the other two",
                lambda c: c[0] + c[1] == c[2],
                {},
            ),
            "coprime": (
                f"the product of the three numbers is a multiple of ${2 * d}$",
                lambda c: _product(c) % (2 * d) == 0,
                {"d": 2 * d},
            ),
        }[ask]
        return ask, event, _share(every, good), more

    ask, event, value, more = redrawn(draw, lambda x: 0 < x[2] < 1)
    return probability(rng, scene, event, value, {"ask": ask, "n": n, "k": k, **more}, level)


def _integers(rng: Random, level: int) -> Problem:
    n = rng.randint(20, 200)
    a, b = redrawn(lambda: sorted(rng.sample(range(2, 13), 2)), lambda p: p[1] % p[0] > 0)
    scene = WORDINGS.draw(rng, "integers", n=n, drawn=rng.choice(PEOPLE))
    subject = "the page number" if "book" in scene else "the chosen integer"
    if level == 1:
        ask = rng.choice(("either", "one not other", "neither"))
        event = WORDINGS.one(f"integers {ask}", subject=subject, a=a, b=b)
        tests: dict[str, Callable[[int], bool]] = {
            "either": lambda x: x % a == 0 or x % b == 0,
            "one not other": lambda x: x % a == 0 and x % b > 0,
            "neither": lambda x: x % a > 0 and x % b > 0,
        }
        good = tests[ask]
        value = Fraction(sum(good(x) for x in range(1, n + 1)), n)
        return probability(rng, scene, event, value, {"ask": ask, "n": n, "a": a, "b": b}, level)
    if level == 2:
        m = rng.choice((6, 10, 12, 14, 15, 18, 20, 21, 24, 28, 30, 35, 36, 42))
        d = rng.randint(0, 9)
        ask = rng.choice(("coprime", "digit", "divisor"))
        if ask == "divisor":
            factors = {
                2: rng.randint(1, 4),
                3: rng.randint(1, 3),
                rng.choice((5, 7)): rng.randint(1, 2),
            }
            whole = _product([p**e for p, e in factors.items()])
            multiple = redrawn(
                lambda: rng.choice((2, 3, 4, 6, 9, 12, 5, 7, 10)), lambda k: whole % k == 0
            )
            divisors = [x for x in range(1, whole + 1) if whole % x == 0]
            value = Fraction(sum(x % multiple == 0 for x in divisors), len(divisors))
            scene = f"One of the positive divisors of ${whole}$ is chosen at random."
            event = f"it is a multiple of ${multiple}$"
            if value == 1:
                return _integers(rng, level)
            values = {"ask": ask, "whole": whole, "multiple": multiple}
            return probability(rng, scene, event, value, values, level)
        event, hits = (
            (
                f"{subject} has no common divisor with ${m}$ other than $1$",
                [x for x in range(1, n + 1) if gcd(x, m) == 1],
            )
            if ask == "coprime"
            else (
                f"{subject} contains the digit ${d}$ at least once",
                [x for x in range(1, n + 1) if str(d) in str(x)],
            )
        )
        values = {"ask": ask, "n": n, **({"m": m} if ask == "coprime" else {"d": d})}
        return probability(rng, scene, event, Fraction(len(hits), n), values, level)
    n = rng.randint(6, 30)
    d = rng.choice((3, 4, 5, 6))
    scene = WORDINGS.draw(rng, "integers 2", n=n, drawn=" and ".join(rng.sample(PEOPLE, 2)))
    ask = rng.choice(("sum", "squares", "product", "power"))
    cases: dict[str, tuple[str, Callable[[int, int], bool]]] = {
        "sum": (f"$a + b$ is divisible by ${d}$", lambda a, b: (a + b) % d == 0),
        "squares": (f"$a^2 + b^2$ is divisible by ${d}$", lambda a, b: (a * a + b * b) % d == 0),
        "product": (
            f"$ab$ leaves remainder $1$ when divided by ${d}$",
            lambda a, b: a * b % d == 1,
        ),
        "power": ("$2^a + 3^b$ is divisible by $5$", lambda a, b: (2**a + 3**b) % 5 == 0),
    }
    event, test = cases[ask]
    hits_count = sum(test(x, y) for x in range(1, n + 1) for y in range(1, n + 1))
    value = Fraction(hits_count, n * n)
    if not 0 < value < 1:
        return _integers(rng, level)
    values = {"ask": f"two {ask}", "n": n, **({} if ask == "power" else {"d": d})}
    return probability(rng, scene, event, value, values, level)


FAMILIES = (
    math_family("probability_dice", _dice_sums, "sums and products of dice"),
    math_family("probability_order", _orders, "highest, lowest and ordered results of dice"),
    math_family("probability_cards", _cards, "numbered cards drawn without replacement"),
    math_family("probability_integers", _integers, "random integers and divisibility"),
)
