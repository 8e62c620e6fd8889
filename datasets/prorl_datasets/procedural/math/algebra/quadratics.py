"""Quadratic equations with a parameter: double roots, regions, common roots, integer roots."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


def _linear_in(k: str, m: int, n: int) -> str:
    return terms([(m, k), (n, "")])


def _in_brackets(k: str, m: int, n: int) -> str:
    """Write ``+ (3k - 2)``, ``+ 3k``, ``- 2``: the constant term of a polynomial."""
    if not n:
        return f"{'+' if m > 0 else '-'} {terms([(abs(m), k)])}"
    if m < 0 < n:
        return f"+ ({terms([(n, ''), (m, k)])})"
    return f"- ({_linear_in(k, -m, -n)})" if m < 0 else f"+ ({_linear_in(k, m, n)})"


def _double_root(rng: Random) -> Problem:
    k = rng.choice("kbmp")
    a, c = rng.randint(1, 12), rng.randint(1, 30)
    if rng.random() < 0.6:
        a, c = rng.choice((1, 2, 3, 5)), 0
        c = a * rng.randint(1, 9) ** 2
    x = rng.choice("xtz")
    equation = f"{terms([(a, f'{x}^2')])} + {k}{x} + {c} = 0"
    question = rng.choice(
        (
            f"For which positive value of ${k}$ does ${equation}$ have exactly one real solution?",
            (
                f"The parabola $y = {equation[:-4].replace(x, 'x')}$ just touches the $x$-axis. "
                f"If ${k}$ is positive, what is ${k}$?"
            ),
            f"Find the positive number ${k}$ for which the two roots of ${equation}$ coincide.",
            f"Let ${k} > 0$. If the equation \\[{equation}\\] has a repeated root, determine ${k}$.",
            (
                f"There is one positive constant ${k}$ that makes the left side of ${equation}$ "
                "a constant times the square of a linear polynomial. What is this constant?"
            ),
        )
    )
    return Problem(question, root(4 * a * c), {"a": a, "c": c})


def _double_root_twice(rng: Random) -> Problem:
    k = rng.choice("kbmp")
    while True:
        m, r = _signed(rng, 1, 6), rng.randint(1, 9)
        n = r * r - m * m
        if n and abs(m) != r:
            break
    equation = f"x^2 + {k}x {_in_brackets(k, m, n)} = 0"
    low, high = 2 * m - 2 * r, 2 * m + 2 * r
    asks = {
        "set": (
            f"\\{{{low}, {high}\\}}",
            (
                (
                    f"Find all real ${k}$ for which ${equation}$ has exactly one real root. Answer "
                    "with a set."
                ),
                (
                    f"The set of real numbers ${k}$ for which \\[{equation}\\] has a double root "
                    f"has two elements. List them in the form $\\{{a, b\\}}$."
                ),
            ),
        ),
        "product": (
            str(low * high),
            (
                (
                    f"The equation ${equation}$ has a double root for two values of ${k}$. What is "
                    "the product of these values?"
                ),
                (
                    f"Multiply together all the real values of ${k}$ for which the quadratic "
                    f"equation ${equation}$ has just one real solution. What do you get?"
                ),
            ),
        ),
        "larger": (
            str(high),
            (
                (
                    f"What is the largest real ${k}$ such that the graph of $y = {equation[:-4]}$ "
                    "is tangent to the $x$-axis?"
                ),
                (
                    f"Two different parabolas of the form $y = {equation[:-4]}$ touch the $x$-axis "
                    f"without crossing it. Find the larger of the two values of ${k}$."
                ),
            ),
        ),
        "root": (
            fraction(Fraction(-high, 2)),
            (
                (
                    f"When the constant ${k}$ is chosen as large as possible so that ${equation}$ "
                    "has a repeated root, what is that root?"
                ),
            ),
        ),
    }
    ask = rng.choice(list(asks))
    answer, questions = asks[ask]
    return Problem(tidy(rng.choice(questions)), answer, {"m": m, "n": n, "ask": ask})


def _region(rng: Random) -> Problem:
    k = rng.choice("kcmp")
    ask = rng.choice(("always positive", "count", "two positive"))
    if ask == "two positive":
        m = rng.randint(1, 3)
        r = m + rng.randint(1, 6)
        n = r * r - m * m
        equation = f"x^2 - {k}x {_in_brackets(k, -m, n)} = 0"
        low, high = Fraction(2 * (r - m)), Fraction(n, m)
        question = rng.choice(
            (
                (
                    f"Determine the interval of real numbers ${k}$ for which ${equation}$ has two "
                    "different positive roots."
                ),
                (
                    f"For which real ${k}$ are both roots of \\[{equation}\\] real, distinct and "
                    "greater than zero? Answer in interval notation."
                ),
                (
                    f"The parabola $y = {equation[:-4]}$ meets the positive $x$-axis in two points. "
                    f"Describe all such constants ${k}$ as an interval."
                ),
            )
        )
        return Problem(
            tidy(question), f"({fraction(low)}, {fraction(high)})", {"m": -m, "n": n, "ask": ask}
        )
    while True:
        m, r = _signed(rng, 1, 6), rng.randint(2, 9)
        n = r * r - m * m
        if n:
            break
    left = f"x^2 + {k}x {_in_brackets(k, m, n)}"
    if ask == "count":
        answer = str(4 * r - 1)
        question = rng.choice(
            (
                f"How many integers ${k}$ are there for which ${left} = 0$ has no real solutions?",
                (
                    f"Count the integer values of ${k}$ such that the graph of $y = {left}$ lies "
                    "entirely above the $x$-axis."
                ),
                (
                    f"If ${k}$ is an integer and the roots of \\[{left} = 0\\] are not real, how "
                    f"many values can ${k}$ take?"
                ),
            )
        )
    else:
        answer = f"({2 * m - 2 * r}, {2 * m + 2 * r})"
        question = rng.choice(
            (
                (
                    f"Find all real values of ${k}$ such that ${left} > 0$ for every real number "
                    "$x$. Write your answer as an interval."
                ),
                (
                    f"The inequality \\[{left} > 0\\] is true for all real $x$ exactly when ${k}$ "
                    "lies in a certain open interval. What is that interval?"
                ),
                (
                    f"For which values of ${k}$ does the polynomial ${left}$ take only positive "
                    "values on the real line? Use interval notation."
                ),
            )
        )
    return Problem(tidy(question), answer, {"m": m, "n": n, "ask": ask})


def _discriminant(rng: Random, level: int) -> Problem:
    return (_double_root, _double_root_twice, _region)[level - 1](rng)


def _common_root(rng: Random, level: int) -> Problem:
    k = rng.choice("kcmp")
    if level == 1:
        a, r, s = rng.choice((1, 1, 2, 3, 4)), _signed(rng, 1, 9), _signed(rng, 1, 9)
        while s == a * r:
            s = _signed(rng, 1, 9)
        other = Fraction(s, a)
        # (x - r)(a x - s)
        if rng.random() < 0.5:
            equation = f"{polynomial((a, -s - a * r))} + {k} = 0".replace(" + 0", "")
            if s + a * r == 0:
                return _common_root(rng, level)
            equation = f"{terms([(a, 'x^2'), (-s - a * r, 'x')])} + {k} = 0"
        else:
            equation = f"{terms([(a, 'x^2')])} + {k}x {'+' if r * s > 0 else '-'} {abs(r * s)} = 0"
        question = rng.choice(
            (
                f"One solution of ${equation}$ is $x = {r}$. What is the other solution?",
                (
                    f"The number ${r}$ is a root of the quadratic equation ${equation}$, where "
                    f"${k}$ is a constant. Find the second root."
                ),
                f"If $x = {r}$ satisfies \\[{equation},\\] which other value of $x$ does?",
                (
                    f"The parabola $y = {equation[:-4]}$ crosses the $x$-axis at $({r}, 0)$ and at "
                    "one more point. Find the $x$-coordinate of that point."
                ),
                f"For some constant ${k}$, the roots of ${equation}$ are ${r}$ and $q$. Determine $q$.",
            )
        )
        return Problem(tidy(question), fraction(other), {"equation": equation, "r": r})
    if level == 2:
        while True:
            r, s, t = _signed(rng, 1, 8), _signed(rng, 1, 9), _signed(rng, 1, 9)
            a, b, c = -(r + s), -(r + t), r * s
            # x^2 + a x + k and x^2 + b x + m' k with m' = t/s
            if t % s == 0 and t != s and a and b and abs(t // s) <= 5:
                break
        times = t // s
        first = f"{terms([(1, 'x^2'), (a, 'x')])} + {k} = 0"
        second = (
            f"{terms([(1, 'x^2'), (b, 'x')])} {'+' if times > 0 else '-'} "
            f"{terms([(abs(times), k)])} = 0"
        )
        asks = {"k": (k, c), "common": ("their common root", r)}
        ask = rng.choice(list(asks))
        what, value = asks[ask]
        wanted = f"${what}$" if ask == "k" else what
        question = rng.choice(
            (
                (
                    f"For a nonzero constant ${k}$, the equations ${first}$ and ${second}$ have a "
                    f"root in common. Find {wanted}."
                ),
                (
                    f"The quadratics ${first}$ and ${second}$, where ${k} \\neq 0$, share exactly "
                    f"one root. What is {wanted}?"
                ),
                (
                    f"Suppose some number is a solution of both \\[{first} \\quad \\text{{and}} "
                    f"\\quad {second}.\\] If ${k}$ is not zero, determine {wanted}."
                ),
                (
                    f"Let ${k} \\neq 0$. A certain $x$ satisfies ${first}$ and also ${second}$. "
                    f"Find the value of {wanted if ask == 'k' else 'this $x$'}."
                ),
            )
        )
        return Problem(tidy(question), str(value), {"first": first, "second": second, "ask": ask})
    while True:
        a, b, p = _signed(rng, 1, 9), _signed(rng, 1, 9), _signed(rng, 2, 12)
        if a != b:
            break
    q, r = a * p, b * p
    first = f"{terms([(1, 'x^3'), (a, 'x^2')])} + px {'+' if q > 0 else '-'} {abs(q)} = 0"
    second = f"{terms([(1, 'x^3'), (b, 'x^2')])} + px + r = 0"
    asks3 = {"p + r": p + r, "r": r, "p": p, "r - p": r - p}
    want = rng.choice(list(asks3))
    question = rng.choice(
        (
            f"The equations ${first}$ and ${second}$ have two roots in common. Find ${want}$.",
            (
                f"Two different roots of ${first}$ are also roots of ${second}$. What is the "
                f"value of ${want}$?"
            ),
            (
                f"Let $p$ and $r$ be constants for which \\[{first} \\quad \\text{{and}} \\quad "
                f"{second}\\] share exactly two roots. Compute ${want}$."
            ),
            (
                f"A cubic polynomial equation ${first}$ has roots $u$, $v$, $w$, and ${second}$ "
                f"has roots $u$, $v$, $z$ with $z \\neq w$. Determine ${want}$."
            ),
        )
    )
    return Problem(tidy(question), str(asks3[want]), {"a": a, "b": b, "q": q, "ask": want})


def _integer_roots(rng: Random, level: int) -> Problem:
    k = rng.choice("kbcm")
    if level == 3:
        while True:
            m, n = _signed(rng, 1, 6), _signed(rng, 1, 40)
            product = n + m * m
            if product and abs(product) >= 4 and abs(n) > 1:
                break
        equation = f"x^2 - {k}x {_in_brackets(k, m, n)} = 0"
        pairs = {
            (d, product // d)
            for d in range(-abs(product), abs(product) + 1)
            if d and product % d == 0
        }
        found = sorted({d + e + 2 * m for d, e in pairs})
    else:
        product = (
            _signed(rng, 6, 60)
            if level == 2
            else rng.choice(
                (
                    6,
                    8,
                    10,
                    12,
                    14,
                    15,
                    16,
                    18,
                    20,
                    24,
                    27,
                    28,
                    30,
                    32,
                    36,
                    40,
                    42,
                    45,
                    48,
                    50,
                    54,
                    60,
                    64,
                    72,
                )
            )
        )
        m, n = 0, product
        equation = f"x^2 + {k}x {'+' if n > 0 else '-'} {abs(n)} = 0"
        pairs = {(d, n // d) for d in range(-abs(n), abs(n) + 1) if d and n % d == 0}
        found = sorted({-d - e for d, e in pairs})
    counts = {"number": len(found)}
    counts |= (
        {"largest": found[-1]} if level > 1 else {"positive": sum(value > 0 for value in found)}
    )
    if level == 1:
        counts["sum positive"] = sum(value for value in found if value > 0)
    if level == 2:
        counts["sum of absolute values"] = sum(map(abs, found))
    if level == 3:
        counts |= {"sum": sum(found), "smallest": found[0]}
    ask = rng.choice([name for name in counts if name != "number" or rng.random() < 0.6])
    subject = f"both roots of ${equation}$ are integers"
    question = rng.choice(
        {
            "number": (
                f"For how many integers ${k}$ can it be said that {subject}, possibly equal?",
                (
                    f"How many values of ${k}$ are there such that the polynomial ${equation[:-4]}$ "
                    "factors into two linear polynomials with integer coefficients?"
                ),
            ),
            "largest": (
                f"What is the largest ${k}$ for which {subject}?",
                f"Suppose {subject}. How large can ${k}$ be?",
            ),
            "smallest": (f"Find the least value of ${k}$ for which {subject}.",),
            "positive": (
                (
                    f"How many positive integers ${k}$ make ${equation[:-4]}$ a product of two "
                    "linear factors with integer coefficients?"
                ),
                (
                    f"Count the positive values of ${k}$ such that {subject}. A double root counts "
                    "as two equal roots."
                ),
            ),
            "sum positive": (
                f"Find the sum of all positive integers ${k}$ for which {subject}.",
                (
                    f"The equation ${equation}$ has only integer solutions (possibly equal). Add up "
                    f"all the positive values that the integer ${k}$ can take."
                ),
            ),
            "sum of absolute values": (
                (
                    f"Let $S$ be the set of all ${k}$ such that {subject}. Find the sum of the "
                    "absolute values of the elements of $S$."
                ),
            ),
            "sum": (
                f"What is the sum of all different numbers ${k}$ such that {subject}?",
                (
                    f"Determine the sum of all integers ${k}$ for which the equation "
                    f"\\[{equation}\\] has no solutions other than integers (a double integer root "
                    "is allowed)."
                ),
            ),
        }[ask]
    )
    if ask == "sum" and "no solutions other" in question:
        question = (
            f"Determine the sum of all integers ${k}$ for which the equation "
            f"\\[{equation}\\] has two integer solutions, where a double root counts twice."
        )
    return Problem(question, str(counts[ask]), {"m": m, "n": n, "ask": ask})


FAMILIES = (
    math_family("algebra_discriminant_parameter", _discriminant, "Parameters by the discriminant"),
    math_family("algebra_common_root", _common_root, "Equations that share roots"),
    math_family("algebra_integer_roots", _integer_roots, "Parameters that make the roots integers"),
)
