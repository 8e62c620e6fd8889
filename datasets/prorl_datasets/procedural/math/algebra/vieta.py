"""Problems on Vieta's formulas."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, listed, polynomial, power, terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _discriminant(a: int, b: int, c: int, d: int) -> int:
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
        coefficients = [signed(rng, 1, 9) for _ in range(2 if level == 1 else 3)]
        if level > 1 and rng.random() < 0.4:
            coefficients[rng.randrange(2)] = 0
        if level > 1:
            distinct = _discriminant(a, coefficients[0], coefficients[1], coefficients[2])
        else:
            distinct = coefficients[0] ** 2 - 4 * a * coefficients[1]
        if distinct:
            break
    names = rng.choice(("rs", "ab", "pq", "uv") if level == 1 else ("rst", "abc", "pqr", "uvw"))
    m = rng.randint(2, 4)
    if level == 1:
        asks = _quadratic_asks(
            Fraction(-coefficients[0], a), Fraction(coefficients[1], a), names[0], names[1], m
        )
    else:
        asks = _cubic_asks(
            level,
            Fraction(-coefficients[0], a),
            Fraction(coefficients[1], a),
            Fraction(-coefficients[2], a),
            names,
            m,
        )
    ask = rng.choice(list(asks))
    formula = polynomial((a, *coefficients))
    roots = listed([f"${name}$" for name in names])
    word = "quadratic" if level == 1 else "cubic"
    question = WORDINGS.draw(
        rng,
        "sums",
        roots=roots,
        formula=formula,
        ask=ask,
        word=word,
        shown_a="" if a == 1 else a,
        factors="".join(f"(x - {name})" for name in names),
        two_or_three="two" if level == 1 else "three",
    )
    return Problem(question, fraction(asks[ask]), {"coefficients": [a, *coefficients], "ask": ask})


def _relation_quadratic(rng: Random) -> Problem:
    k = rng.choice("kmc")
    while True:
        a, n = rng.choice((1, 1, 2, 3)), rng.choice((2, 3, 4, 5))
        r = signed(rng, 1, 6)
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
    question = WORDINGS.draw(
        rng,
        "relation quadratic",
        equation=equation,
        condition_or_constant=condition or f"${k}$ is a constant and ",
        times=times,
        k=k,
        condition=condition,
        n=n,
        determine=f"If ${k} > 0$, determine" if condition else "Determine",
        positive="positive " if condition else "",
    )
    return Problem(question, value, {"equation": equation, "kind": "ratio", "n": n, "k": k})


def _relation_difference(rng: Random) -> Problem:
    k = rng.choice("kmc")
    while True:
        r, d = signed(rng, 1, 9), rng.randint(2, 9)
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
    question = WORDINGS.draw(
        rng,
        "relation difference",
        k=k,
        equation=equation,
        fact=fact,
        fact_capital=fact[0].upper(),
        fact_rest=fact[1:],
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
        middle, d = signed(rng, 1, 6), rng.randint(1, 7)
        roots = [middle - d, middle, middle + d]
        if 0 in roots:
            return _relation_progression(rng)
        fact = "the roots form an arithmetic progression"
    elif form == "geometric":
        middle, ratio = signed(rng, 2, 6) * 2, rng.choice((2, -2))
        roots = [middle // ratio, middle, middle * ratio]
        fact = "the roots form a geometric progression"
    elif form == "opposite":
        r, s = rng.randint(1, 7), signed(rng, 1, 9)
        if r == abs(s):
            return _relation_progression(rng)
        roots = [r, -r, s]
        fact = "two of the roots add up to zero"
    else:
        d = rng.randint(1, 5)
        equation = f"x^4 - {k}x^2 + {9 * d**4} = 0"
        question = WORDINGS.draw(
            rng, "relation progression", equation=equation, k=k, left_side=equation[:-4]
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
    question = WORDINGS.draw(rng, "relation progression, 2", k=k, equation=equation, fact=fact)
    question = question.replace(
        f"given that ${equation}$ and {fact}", f"given that {fact} in the case of ${equation}$"
    )
    return Problem(question, str(value), {"equation": equation, "kind": form, "k": k})


def _relation(rng: Random, level: int) -> Problem:
    return (_relation_quadratic, _relation_difference, _relation_progression)[level - 1](rng)


def _transformed(rng: Random, level: int) -> Problem:
    r, s, t = names = rng.choice(("rst", "abc", "pqr", "uvw"))
    if level < 3:
        while True:
            b, c = signed(rng, 1, 9), signed(rng, 1, 9)
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
            b, c, d = rng.choice((0, signed(rng, 1, 5))), signed(rng, 1, 6), signed(rng, 1, 6)
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
    question = WORDINGS.draw(
        rng,
        "transformed",
        formula=formula,
        old=old,
        degree=degree,
        shown=shown,
        len_names=len(names) if level == 3 else 2,
    )
    parameters = {"coefficients": coefficients, "new": shown}
    return Problem(question, answer, parameters)


def _given_root(rng: Random, level: int) -> Problem:
    x = rng.choice("xz")
    p, q = signed(rng, 1, 5), rng.choice((2, 3, 5, 6, 7))
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
        question = WORDINGS.draw(
            rng, "given root, level 1", form=form, number=number, field=field, ask=ask, x=x
        )
        return Problem(question, str(asks[ask]), {"number": number, "ask": ask, "degree": 2})
    r = signed(rng, 1, 6)
    if level == 2:
        # (x^2 - 2px + size)(x - r)
        root_sum = -2 * p - r
        a, b = size + 2 * p * r, -size * r
        if not root_sum:
            return _given_root(rng, level)
        form = f"{terms([(1, f'{x}^3'), (root_sum, f'{x}^2')])} + a{x} + b"
        asks = {
            "a": a,
            "b": b,
            "a + b": a + b,
            "the real root" if complex_root else "the rational root": r,
        }
        ask = rng.choice(list(asks))
        shown = f"${ask}$" if len(ask) < 8 else ask
        question = WORDINGS.draw(
            rng, "given root, level 2", field=field, form=form, number=number, shown=shown, x=x
        )
        return Problem(
            question, str(asks[ask]), {"number": number, "ask": ask, "degree": 3, "known": root_sum}
        )
    u, v = signed(rng, 1, 4), rng.choice((2, 3, 5, 7))
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
    question = WORDINGS.draw(rng, "given root", number=number, second=second, shown=shown)
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
