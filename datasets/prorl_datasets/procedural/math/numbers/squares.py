"""Problems on differences of squares, right triangles and consecutive integers."""

from __future__ import annotations

from math import isqrt, prod
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family, seldom
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _is_square(n: int) -> bool:
    return n >= 0 and isqrt(n) ** 2 == n


def _square_differences(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)

    def pairs(n: int) -> list[tuple[int, int]]:
        return [
            ((d + n // d) // 2, (n // d - d) // 2)
            for d in range(1, isqrt(n) + 1)
            if n % d == 0 and (d + n // d) % 2 == 0 and d * d < n
        ]

    if level == 1:
        n = redrawn(lambda: rng.randint(15, 240), lambda n: len(pairs(n)) >= 2)
        solutions = pairs(n)
        ask = rng.choice(("count", "largest", "smallest"))
        if ask == "count":
            answer = len(solutions)
            texts = WORDINGS.all("square differences, level 1, count", n=n, who=who)
        else:
            answer = (
                max(x for x, _ in solutions)
                if ask == "largest"
                else min(x + y for x, y in solutions)
            )
            wish = (
                "What is the largest possible value of $x$?"
                if ask == "largest"
                else "Find the smallest possible value of $x + y$."
            )
            texts = WORDINGS.all("square differences, level 1", n=n, wish=wish)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "n": n})
    if level == 2:
        ask = rng.choice(("polynomial", "shifted", "never"))
        if ask == "polynomial":
            b = rng.randint(2, 16)
            c = redrawn(
                lambda: rng.randint(5, 150),
                lambda c: (
                    1 <= len([n for n in range(1, 400) if _is_square(n * n + b * n + c)]) <= 6
                ),
            )
            found_n = [n for n in range(1, 3000) if _is_square(n * n + b * n + c)]
            expression = terms([(1, "n^2"), (b, "n"), (c, "")])
            texts = WORDINGS.all(
                "square differences, level 2, polynomial", expression=expression, who=who
            )
            values = {"ask": ask, "b": b, "c": c}
            return Problem(rng.choice(texts), str(sum(found_n)), values)
        if ask == "shifted":
            a, b = redrawn(
                lambda: (rng.randint(-60, 90), rng.randint(-60, 200)),
                lambda p: p[1] - p[0] > 10
                and len([x for x in range(200) if _is_square(x * x - p[0] + p[1]) and x * x > p[0]]) == 1
                and p[0] != 0 and p[1] != 0 and (p[1] - p[0]) % 4 != 2,
            )  # fmt: skip
            x = next(x for x in range(200) if _is_square(x * x - a + b) and x * x > a)
            one, two = terms([(1, "n"), (a, "")]), terms([(1, "n"), (b, "")])
            texts = WORDINGS.all("square differences, level 2, shifted", one=one, two=two)
            return Problem(rng.choice(texts), str(x * x - a), {"ask": ask, "a": a, "b": b})
        top = rng.randint(60, 900)
        zero = rng.random() < 0.5
        answer = sum(not (n % 4 != 2 if zero else bool(pairs(n))) for n in range(1, top + 1))
        kind = "nonnegative" if zero else "positive"
        texts = WORDINGS.all("square differences, level 2", top=top, kind=kind, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": ask, "top": top, "zero": zero})
    ask = rng.choice(("leg", "hypotenuse", "sums"))
    if ask == "leg":
        n = redrawn(lambda: rng.randint(12, 90), lambda n: len(pairs(n * n)) >= 3)
        solutions = pairs(n * n)
        wish, answer = rng.choice((
            ("How many such triangles are there?", len(solutions)),
            ("What is the greatest possible length of the hypotenuse?", max(x for x, _ in solutions)),
            ("Find the smallest possible perimeter.", min(x + y for x, y in solutions) + n),
        ))  # fmt: skip
        kind = {"How": "count", "Wha": "largest", "Fin": "perimeter"}[wish[:3]]
        texts = WORDINGS.all("square differences, leg", n=n, wish=wish, who=who)
        return Problem(rng.choice(texts), str(answer), {"ask": f"leg {kind}", "n": n})
    if ask == "sums":
        top = rng.choice((50, 60, 80, 100, 120, 150, 200, 250, 300))
        top += rng.randint(-9, 9)
        reached = {
            a * a + b * b for a in range(1, 30) for b in range(1, 30) if a * a + b * b <= top
        }
        texts = WORDINGS.all("square differences, sums", top=top)
        return Problem(rng.choice(texts), str(len(reached)), {"ask": ask, "top": top})
    n = redrawn(
        lambda: prod(rng.choices((5, 13, 17, 25, 29, 2, 4, 10), k=2)),
        lambda n: 20 < n < 1500 and n % 5 == 0,
    )
    points = [(a, b) for a in range(-40, 41) for b in range(-40, 41) if a * a + b * b == n]
    positive = [(a, b) for a, b in points if a > 0 and b > 0]
    if rng.random() < 0.5 or len(positive) < 2:
        texts = WORDINGS.all("square differences", n=n)
        return Problem(rng.choice(texts), str(len(points)), {"ask": "circle", "n": n})
    best = max(a + b for a, b in positive)
    texts = WORDINGS.all("square differences, 2", n=n)
    pick = rng.randrange(2)
    values = {"ask": ("sum", "rectangle")[pick], "n": n}
    return Problem(texts[pick], str(best * (1 + pick)), values)


def _consecutive(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        step = rng.choice((1, 1, 2))
        kind = rng.choice(("even", "odd")) if step == 2 else ""
        k = rng.choice((3, 4, 5, 6, 7))
        first = rng.randint(5, 150)
        if kind:
            first += (first % 2) != (kind == "odd")
        terms_ = [first + step * i for i in range(k)]
        total = sum(terms_)
        word = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}[k]
        which = rng.choice(("largest", "smallest"))
        name = f"consecutive {kind} integers" if kind else "consecutive integers"
        texts: tuple[str, ...] = (
            f"The sum of {word} {name} is ${total}$. What is the {which} of them?",
            WORDINGS.one("consecutive 3", who=who, word=word, name=name, total=total, which=which),
            f"Find the {which} of {word} {name} that add up to ${total}$.",
            WORDINGS.one(
                "consecutive 2", word=word.capitalize(), name=name, total=total, which=which
            ),
            f"If $S$ is the sum of {word} {name} and $S = {total}$, how large is the {which} one?",
        )
        answer = terms_[-1] if which == "largest" else terms_[0]
        values = {"ask": which, "count": k, "total": total, "kind": kind}
        return Problem(rng.choice(texts), str(answer), values)
    if level == 2:
        ask = rng.choice(("product", "longest", "count"))
        if ask == "product":
            k = rng.choice((2, 3, 4))
            first = rng.randint(7, (90, 30, 14)[k - 2])
            total = prod(range(first, first + k))
            word = {2: "two", 3: "three", 4: "four"}[k]
            texts = WORDINGS.all(
                "consecutive, level 2, product",
                word=word,
                total=total,
                capitalize_word=word.capitalize(),
                who=who,
            )
            values = {"ask": ask, "count": k, "total": total}
            return Problem(rng.choice(texts), str(sum(range(first, first + k))), values)
        n = redrawn(lambda: rng.randint(30, 700), lambda n: len(_runs(n)) >= 2)
        runs = _runs(n)
        if ask == "longest":
            texts = WORDINGS.all("consecutive, level 2, longest", n=n, who=who)
            return Problem(rng.choice(texts), str(max(k for k, _ in runs)), {"ask": ask, "n": n})
        texts = WORDINGS.all("consecutive, level 2", n=n)
        return Problem(rng.choice(texts), str(len(runs)), {"ask": ask, "n": n})
    ask = rng.choice(("integers", "odd", "missing"))
    if ask == "integers":
        n = redrawn(lambda: rng.randint(30, 900), lambda n: len(_runs(n)) >= 2)
        m = n
        while m % 2 == 0:
            m //= 2
        odd = sum(m % d == 0 for d in range(1, m + 1))
        texts = WORDINGS.all("consecutive, integers", n=n)
        return Problem(rng.choice(texts), str(2 * odd - 1), {"ask": ask, "n": n})
    if ask == "odd":
        n = redrawn(
            lambda: rng.randint(40, 1200),
            lambda n: len([k for k in range(2, n) if _odd_run(n, k)]) >= 2,
        )
        ks = [k for k in range(2, n) if _odd_run(n, k)]
        pick = rng.randrange(2)
        texts = WORDINGS.all("consecutive, odd", n=n)
        more = WORDINGS.all("consecutive, odd, 2", who=who, n=n)
        values = {"ask": ("odd count", "odd longest")[pick], "n": n}
        return Problem(
            rng.choice((texts[pick], more[pick])), str(max(ks) if pick else len(ks)), values
        )
    n = rng.randint(15, 80)
    removed = rng.randint(2, n - 1)
    left = n * (n + 1) // 2 - removed
    twice = rng.random() < 0.5
    if twice:
        left = n * (n + 1) // 2 + removed
    solutions = [
        (m, g)
        for m in range(2, 200)
        for g in range(1, m + 1)
        if m * (m + 1) // 2 + (g if twice else -g) == left
    ]
    if len(solutions) != 1:
        return _consecutive(rng, level)
    texts = (
        WORDINGS.all("consecutive, twice", who=who, left=left)
        if twice
        else WORDINGS.all("consecutive", left=left, who=who)
    )
    values = {"ask": "twice" if twice else "erased", "sum": left}
    return Problem(rng.choice(texts), str(removed), values)


def _runs(n: int) -> list[tuple[int, int]]:
    """Return (length, first) of each run of two or more positive integers with sum n."""
    return [
        (k, (n - k * (k - 1) // 2) // k)
        for k in range(2, isqrt(2 * n) + 1)
        if n > k * (k - 1) // 2 and (n - k * (k - 1) // 2) % k == 0
    ]


def _odd_run(n: int, k: int) -> bool:
    first = n - k * (k - 1)
    return first > 0 and first % k == 0 and first // k % 2 == 1


FAMILIES = (
    seldom(
        math_family("numbers_squares", _square_differences, "sums and differences of squares"), "2"
    ),
    seldom(
        math_family(
            "numbers_consecutive", _consecutive, "sums and products of consecutive integers"
        ),
        "3",
        "7",
    ),
)
