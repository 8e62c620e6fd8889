"""Roots of polynomials without finding them: Vieta's formulas and what follows."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, listed, polynomial, power, terms
from prorl_datasets.procedural.math.problem import Problem, math_family


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


def _discriminant(a: int, b: int, c: int, d: int) -> int:
    """Return the discriminant of a cubic; zero where it has a double root."""
    return 18 * a * b * c * d - 4 * b**3 * d + b * b * c * c - 4 * a * c**3 - 27 * a * a * d * d


def _quadratic_asks(e1: Fraction, e2: Fraction, r: str, s: str, m: int) -> dict[str, Fraction]:
    p2 = e1 * e1 - 2 * e2
    return {
        f"{r}^2 + {s}^2": p2,
        f"\\frac{{1}}{{{r}}} + \\frac{{1}}{{{s}}}": e1 / e2,
        f"({r} - {s})^2": e1 * e1 - 4 * e2,
        f"({r} + {m})({s} + {m})": e2 + m * e1 + m * m,
        f"(2{r} - 1)(2{s} - 1)": 4 * e2 - 2 * e1 + 1,
        f"{r}^2{s} + {r}{s}^2": e1 * e2,
        f"\\frac{{{r}}}{{{s}}} + \\frac{{{s}}}{{{r}}}": p2 / e2,
        f"{r}^3 + {s}^3": e1**3 - 3 * e1 * e2,
    }


def _cubic_asks(
    level: int, e1: Fraction, e2: Fraction, e3: Fraction, names: str, m: int
) -> dict[str, Fraction]:
    r, s, t = tuple(names)
    p2 = e1 * e1 - 2 * e2
    p3 = e1 * p2 - e2 * e1 + 3 * e3
    if level == 2:
        return {
            f"{r}^2 + {s}^2 + {t}^2": p2,
            f"\\frac{{1}}{{{r}}} + \\frac{{1}}{{{s}}} + \\frac{{1}}{{{t}}}": e2 / e3,
            f"({r} + {m})({s} + {m})({t} + {m})": m**3 + m * m * e1 + m * e2 + e3,
            f"({r} + {s})({s} + {t})({t} + {r})": e1 * e2 - e3,
            f"{r}^2{s}^2 + {s}^2{t}^2 + {t}^2{r}^2": e2 * e2 - 2 * e1 * e3,
            f"\\frac{{1}}{{{r}{s}}} + \\frac{{1}}{{{s}{t}}} + \\frac{{1}}{{{t}{r}}}": e1 / e3,
        }
    value = m**3 - e1 * m * m + e2 * m - e3
    slope = 3 * m * m - 2 * e1 * m + e2
    asks = {
        f"{r}^3 + {s}^3 + {t}^3": p3,
        f"({r}^2 + 1)({s}^2 + 1)({t}^2 + 1)": (e1 - e3) ** 2 + (e2 - 1) ** 2,
        f"\\frac{{{r}{s}}}{{{t}}} + \\frac{{{s}{t}}}{{{r}}} + \\frac{{{t}{r}}}{{{s}}}": (
            e2 * e2 - 2 * e1 * e3
        )
        / e3,
        f"{r}^4 + {s}^4 + {t}^4": e1 * p3 - e2 * p2 + e3 * e1,
        f"\\frac{{1}}{{{r}^2}} + \\frac{{1}}{{{s}^2}} + \\frac{{1}}{{{t}^2}}": (
            e2 * e2 - 2 * e1 * e3
        )
        / e3**2,
    }
    if value:
        asks[f"\\frac{{1}}{{{r} - {m}}} + \\frac{{1}}{{{s} - {m}}} + \\frac{{1}}{{{t} - {m}}}"] = (
            -slope / value
        )
    return asks


def _sums(rng: Random, level: int) -> Problem:
    while True:
        a = rng.choice((1, 1, 1, 2, 3, 4))
        rest = [_signed(rng, 1, 9) for _ in range(2 if level == 1 else 3)]
        if level > 1 and rng.random() < 0.4:
            rest[rng.randrange(2)] = 0
        if level > 1:
            distinct = _discriminant(a, rest[0], rest[1], rest[2])
        else:
            distinct = rest[0] ** 2 - 4 * a * rest[1]
        if distinct:
            break
    names = rng.choice(("rs", "ab", "pq", "uv") if level == 1 else ("rst", "abc", "pqr", "uvw"))
    m = rng.randint(2, 4)
    if level == 1:
        asks = _quadratic_asks(Fraction(-rest[0], a), Fraction(rest[1], a), names[0], names[1], m)
    else:
        asks = _cubic_asks(
            level, Fraction(-rest[0], a), Fraction(rest[1], a), Fraction(-rest[2], a), names, m
        )
    ask = rng.choice(list(asks))
    formula = polynomial((a, *rest))
    roots = listed([f"${name}$" for name in names])
    word = "quadratic" if level == 1 else "cubic"
    question = rng.choice(
        (
            f"Let {roots} be the roots of ${formula} = 0$. Compute ${ask}$.",
            f"If {roots} are the solutions, real or complex, of ${formula} = 0$, what is ${ask}$?",
            (
                f"The {word} polynomial ${formula}$ has zeros {roots}. Find the value of "
                f"\\[{ask}.\\] Give an exact answer."
            ),
            (
                f"Suppose ${formula}$ is equal to "
                f"${'' if a == 1 else a}{''.join(f'(x - {name})' for name in names)}$ for all "
                f"$x$. Evaluate ${ask}$."
            ),
            f"Without solving ${formula} = 0$, determine ${ask}$, where {roots} denote its roots.",
            (
                f"What is the value of ${ask}$ when {roots} are the "
                f"{'two' if level == 1 else 'three'} complex roots of the equation \\[{formula} "
                "= 0?\\] Simplify fully."
            ),
        )
    )
    return Problem(question, fraction(asks[ask]), {"coefficients": [a, *rest], "ask": ask})


def _relation_quadratic(rng: Random) -> Problem:
    k = rng.choice("kmc")
    while True:
        a, n = rng.choice((1, 1, 2, 3)), rng.choice((2, 3, 4, 5))
        r = _signed(rng, 1, 6)
        s = n * r
        b, c = -a * (r + s), a * r * s
        if abs(b) < 60:
            break
    times = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}[n]
    if rng.random() < 0.6:
        equation, value = f"{terms([(a, 'x^2'), (b, 'x')])} + {k} = 0", str(c)
        condition = ""
    else:
        if r < 0:
            r, s, b = -r, -s, -b
        equation, value = f"{terms([(a, 'x^2')])} - {k}x + {c} = 0", str(-b)
        condition = f"${k}$ is positive and "
    question = rng.choice(
        (
            (
                f"In the equation ${equation}$, {condition or f'${k}$ is a constant and '}one "
                f"root is {times} the other. Find ${k}$."
            ),
            (
                f"Given that {condition}one of the roots of ${equation}$ equals {times} the "
                f"other one, what is ${k}$?"
            ),
            (
                f"The solutions of ${equation}$ are in the ratio $1 : {n}$. "
                f"{f'If ${k} > 0$, determine' if condition else 'Determine'} the value of ${k}$."
            ),
            (
                f"A {'positive ' if condition else ''}constant ${k}$ is chosen so that "
                f"\\[{equation}\\] has two nonzero roots, one of them {times} the other. Which "
                "constant is it?"
            ),
        )
    )
    return Problem(question, value, {"equation": equation, "kind": "ratio", "n": n, "k": k})


def _relation_difference(rng: Random) -> Problem:
    k = rng.choice("kmc")
    while True:
        r, d = _signed(rng, 1, 9), rng.randint(2, 9)
        s = r + d
        if s and r + s:
            break
    equation = f"{terms([(1, 'x^2'), (-r - s, 'x')])} + {k} = 0"
    squares = rng.random() < 0.5
    fact = (
        f"the sum of the squares of the roots is ${r * r + s * s}$"
        if squares
        else f"the roots differ by ${d}$"
    )
    question = rng.choice(
        (
            f"For what value of ${k}$ is it true of ${equation}$ that {fact}?",
            f"The equation ${equation}$ is such that {fact}. Find ${k}$.",
            (
                f"Suppose that in ${equation}$ the constant ${k}$ has been chosen so that "
                f"{fact}. What is the larger root?"
            ),
            (
                f"{fact[0].upper()}{fact[1:]} in the equation \\[{equation}.\\] Determine the "
                f"constant ${k}$."
            ),
        )
    )
    value = max(r, s) if "larger" in question else r * s
    return Problem(
        question,
        str(value),
        {
            "equation": equation,
            "kind": "squares" if squares else "difference",
            "k": k,
            "n": r * r + s * s if squares else d,
        },
    )


def _relation_progression(rng: Random) -> Problem:
    k = rng.choice("kmc")
    form = rng.choice(("arithmetic", "geometric", "quartic", "opposite"))
    if form == "arithmetic":
        middle, d = _signed(rng, 1, 6), rng.randint(1, 7)
        roots = [middle - d, middle, middle + d]
        if 0 in roots:
            return _relation_progression(rng)
        fact = "the roots form an arithmetic progression"
    elif form == "geometric":
        middle, ratio = _signed(rng, 2, 6) * 2, rng.choice((2, -2))
        roots = [middle // ratio, middle, middle * ratio]
        fact = "the roots form a geometric progression"
    elif form == "opposite":
        r, s = rng.randint(1, 7), _signed(rng, 1, 9)
        if r == abs(s):
            return _relation_progression(rng)
        roots = [r, -r, s]
        fact = "two of the roots add up to zero"
    else:
        d = rng.randint(1, 5)
        equation = f"x^4 - {k}x^2 + {9 * d**4} = 0"
        question = rng.choice(
            (
                f"The four real roots of ${equation}$ are in arithmetic progression. Find ${k}$.",
                (
                    f"For which ${k}$ does the graph of $y = {equation[:-4]}$ cut the $x$-axis in "
                    "four equally spaced points?"
                ),
                (
                    f"If the equation \\[{equation}\\] has four distinct real solutions that are "
                    f"equally spaced on the number line, what is ${k}$?"
                ),
            )
        )
        return Problem(question, str(10 * d * d), {"equation": equation, "kind": "quartic", "k": k})
    e1 = sum(roots)
    e2 = roots[0] * roots[1] + roots[1] * roots[2] + roots[2] * roots[0]
    e3 = roots[0] * roots[1] * roots[2]
    if not e1 or not e2:
        return _relation_progression(rng)
    sign = "+" if -e3 > 0 else "-"
    hidden = rng.choice(("pairs", "product"))
    if form == "geometric":
        hidden = "pairs"
    if hidden == "pairs":
        equation, value = f"{terms([(1, 'x^3'), (-e1, 'x^2')])} + {k}x {sign} {abs(e3)} = 0", e2
        if form == "opposite":  # the product is then s * (-r^2): k = -r^2
            value = e2
    else:
        equation, value = f"{terms([(1, 'x^3'), (-e1, 'x^2'), (e2, 'x')])} + {k} = 0", -e3
    question = rng.choice(
        (
            f"Find ${k}$, given that ${equation}$ and {fact}.",
            f"The constant ${k}$ in ${equation}$ is such that {fact}. What is ${k}$?",
            (
                f"When ${k}$ has the right value, {fact} in the cubic equation "
                f"\\[{equation}.\\] Determine this value."
            ),
            f"Suppose {fact} for the equation ${equation}$. Find the value of the constant ${k}$.",
            f"All three roots of ${equation}$ are real, and {fact}. Compute ${k}$.",
        )
    )
    question = question.replace(
        f"given that ${equation}$ and {fact}", f"given that {fact} in the case of ${equation}$"
    )
    return Problem(question, str(value), {"equation": equation, "kind": form, "k": k})


def _relation(rng: Random, level: int) -> Problem:
    return (_relation_quadratic, _relation_difference, _relation_progression)[level - 1](rng)


def _transformed(rng: Random, level: int) -> Problem:
    """The polynomial whose roots are changed roots of another."""
    r, s, t = names = rng.choice(("rst", "abc", "pqr", "uvw"))
    if level < 3:
        while True:
            b, c = _signed(rng, 1, 9), _signed(rng, 1, 9)
            if b * b != 4 * c:
                break
        e1, e2 = Fraction(-b), Fraction(c)
        m = rng.choice((1, 2, 3, -1, -2, -3))
        shifted = (terms([(1, r), (m, "")]), terms([(1, s), (m, "")]))
        new: dict[tuple[str, str], tuple[Fraction, Fraction]]
        if level == 1:
            new = {
                shifted: (e1 + 2 * m, e2 + m * e1 + m * m),
                (f"{abs(m) + 1}{r}", f"{abs(m) + 1}{s}"): (
                    (abs(m) + 1) * e1,
                    (abs(m) + 1) ** 2 * e2,
                ),
                (f"-{r}", f"-{s}"): (-e1, e2),
            }
        else:
            new = {
                (f"{r}^2", f"{s}^2"): (e1 * e1 - 2 * e2, e2 * e2),
                (f"\\frac{{1}}{{{r}}}", f"\\frac{{1}}{{{s}}}"): (e1 / e2, 1 / e2),
                (f"2{r} + {s}", f"{r} + 2{s}"): (3 * e1, 2 * e1 * e1 + e2),
                (f"{r}^3", f"{s}^3"): (e1**3 - 3 * e1 * e2, e2**3),
                (f"{r} + \\frac{{1}}{{{s}}}", f"{s} + \\frac{{1}}{{{r}}}"): (
                    e1 + e1 / e2,
                    e2 + 2 + 1 / e2,
                ),
            }
        roots = rng.choice(list(new))
        total, product = new[roots]
        answer = polynomial((1, -total, product))
        coefficients = [1, b, c]
        degree, old = "quadratic", f"${r}$ and ${s}$"
        shown = f"${roots[0]}$ and ${roots[1]}$"
    else:
        b, c, d = 0, -3, 2
        while not _discriminant(1, b, c, d):
            b, c, d = rng.choice((0, _signed(rng, 1, 5))), _signed(rng, 1, 6), _signed(rng, 1, 6)
        e1, e2, e3 = Fraction(-b), Fraction(c), Fraction(-d)
        three = {
            (f"{r}^2", f"{s}^2", f"{t}^2"): (e1 * e1 - 2 * e2, e2 * e2 - 2 * e1 * e3, e3 * e3),
            (f"{r}{s}", f"{s}{t}", f"{t}{r}"): (e2, e1 * e3, e3 * e3),
            (f"{r} + {s}", f"{s} + {t}", f"{t} + {r}"): (2 * e1, e1 * e1 + e2, e1 * e2 - e3),
            (f"{r} + 1", f"{s} + 1", f"{t} + 1"): (e1 + 3, e2 + 2 * e1 + 3, 1 + e1 + e2 + e3),
        }
        roots3 = rng.choice(list(three))
        n1, n2, n3 = three[roots3]
        answer = polynomial((1, -n1, n2, -n3))
        coefficients = [1, b, c, d]
        degree, old = "cubic", f"${r}$, ${s}$ and ${t}$"
        shown = listed([f"${part}$" for part in roots3])
        roots = ("", "")
    formula = polynomial(coefficients)
    question = rng.choice(
        (
            (
                f"The roots of ${formula} = 0$ are {old}. Find the monic {degree} polynomial in "
                f"$x$ whose roots are {shown}."
            ),
            (
                f"Let {old} be the zeros of ${formula}$. Which polynomial in $x$ with leading "
                f"coefficient $1$ and of degree ${len(names) if level == 3 else 2}$ has the "
                f"zeros {shown}?"
            ),
            (
                f"If {old} are the solutions of \\[{formula} = 0,\\] then {shown} are the "
                f"solutions of $P(x) = 0$ for exactly one monic {degree} $P$. Determine $P(x)$."
            ),
            (
                f"Write down, in expanded form, the monic {degree} polynomial in $x$ that "
                f"vanishes at {shown}, where {old} are the roots of ${formula}$."
            ),
            (
                f"Given that ${formula}$ has roots {old}, find a {degree} polynomial in $x$, "
                f"with leading coefficient $1$, that has roots {shown}."
            ),
        )
    )
    parameters = {"coefficients": coefficients, "new": shown}
    return Problem(question, answer, parameters)


def _given_root(rng: Random, level: int) -> Problem:
    """Rational coefficients bring the conjugate root along."""
    x = rng.choice("xz")
    p, q = _signed(rng, 1, 5), rng.choice((2, 3, 5, 6, 7))
    complex_root = rng.random() < 0.5
    if complex_root:
        q = rng.randint(1, 5)
        size, number = p * p + q * q, terms([(p, ""), (rng.choice((q, -q)), "i")])
    else:
        size, number = p * p - q, terms([(p, ""), (rng.choice((1, -1)), f"\\sqrt{{{q}}}")])
    field = "real" if complex_root else "rational"
    if level == 1:
        b, c = -2 * p, size
        asks = {"bc": b * c, "b + c": b + c, "c": c, "b - c": b - c}
        ask = rng.choice(list(asks))
        form = f"{x}^2 + b{x} + c"
        question = rng.choice(
            (
                (
                    f"One root of ${form} = 0$ is ${number}$, and $b$ and $c$ are {field} numbers. "
                    f"Find ${ask}$."
                ),
                (
                    f"If $b$ and $c$ are {field} and ${x} = {number}$ is a zero of ${form}$, what "
                    f"is ${ask}$?"
                ),
                (
                    f"The number ${number}$ satisfies ${form} = 0$ for certain {field} constants "
                    f"$b$ and $c$. Compute ${ask}$."
                ),
                (
                    f"Determine ${ask}$, given that ${form}$ has {field} coefficients and vanishes "
                    f"at ${x} = {number}$."
                ),
            )
        )
        return Problem(question, str(asks[ask]), {"number": number, "ask": ask, "degree": 2})
    r = _signed(rng, 1, 6)
    if level == 2:
        # (x^2 - 2px + size)(x - r)
        known = -2 * p - r
        a, b = size + 2 * p * r, -size * r
        if not known:
            return _given_root(rng, level)
        form = f"{terms([(1, f'{x}^3'), (known, f'{x}^2')])} + a{x} + b"
        asks = {
            "a": a,
            "b": b,
            "a + b": a + b,
            "the real root" if complex_root else "the rational root": r,
        }
        ask = rng.choice(list(asks))
        shown = f"${ask}$" if len(ask) < 8 else ask
        question = rng.choice(
            (
                (
                    f"For {field} numbers $a$ and $b$, one root of ${form} = 0$ is ${number}$. Find "
                    f"{shown}."
                ),
                (
                    f"The cubic ${form}$ has {field} coefficients, and ${number}$ is one of its "
                    f"zeros. What is {shown}?"
                ),
                (
                    f"Suppose that $a$ and $b$ are {field} and that \\[{form} = 0\\] holds for ${x} "
                    f"= {number}$. Determine {shown}."
                ),
                (
                    f"Knowing that ${x} = {number}$ solves ${form} = 0$, where $a$ and $b$ are "
                    f"{field} constants, find {shown}."
                ),
            )
        )
        return Problem(
            question, str(asks[ask]), {"number": number, "ask": ask, "degree": 3, "known": known}
        )
    u, v = _signed(rng, 1, 4), rng.choice((2, 3, 5, 7))
    second, size2 = terms([(u, ""), (1, f"\\sqrt{{{v}}}")]), u * u - v
    if not complex_root and v == q and abs(u) == abs(p):
        return _given_root(rng, level)
    # product of two quadratics
    one, two = (1, -2 * p, size), (1, -2 * u, size2)
    product = [sum(one[i] * two[n - i] for i in range(3) if 0 <= n - i < 3) for n in range(5)]
    value_at = rng.choice((1, -1, 2))
    values = {
        f"P({value_at})": sum(c * value_at ** (4 - i) for i, c in enumerate(product)),
        "P(0)": product[4],
        "the sum of the coefficients of $P$": sum(product),
        f"the coefficient of ${power('x', 2)}$ in $P(x)$": product[2],
    }
    ask = rng.choice(list(values))
    shown = f"${ask}$" if ask.startswith("P") else ask
    question = rng.choice(
        (
            (
                "A monic polynomial $P(x)$ of degree $4$ with rational coefficients has "
                f"${number}$ and ${second}$ among its roots. Find {shown}."
            ),
            (
                "Let $P(x)$ be the polynomial with rational coefficients, leading coefficient "
                f"$1$ and least possible degree such that $P({number}) = P({second}) = 0$. What "
                f"is {shown}?"
            ),
            (
                f"The numbers ${number}$ and ${second}$ are zeros of a fourth-degree polynomial "
                "$P(x) = x^4 + ax^3 + bx^2 + cx + d$, where $a, b, c, d$ are rational. "
                f"Determine {shown}."
            ),
            (
                "If $P$ is monic of degree four, has rational coefficients, and vanishes at $x "
                f"= {number}$ and at $x = {second}$, compute {shown}."
            ),
        )
    )
    return Problem(
        question, str(values[ask]), {"number": number, "second": second, "ask": ask, "degree": 4}
    )


FAMILIES = (
    math_family("algebra_vieta_sums", _sums, "Symmetric values of roots"),
    math_family(
        "algebra_root_relation", _relation, "A coefficient from a relation between the roots"
    ),
    math_family("algebra_transformed_roots", _transformed, "Polynomials with changed roots"),
    math_family("algebra_conjugate_root", _given_root, "Roots that bring their conjugates along"),
)
