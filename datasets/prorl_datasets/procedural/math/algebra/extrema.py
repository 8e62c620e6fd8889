"""Problems on extreme values without derivatives."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import gcd, isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _surd(a: Fraction | int, factor: Fraction | int, radicand: int) -> str:
    side = isqrt(radicand)
    if side * side == radicand:
        return fraction(a + factor * Fraction(side))
    part = root(radicand, factor)
    if not a:
        return part
    return f"{fraction(a)} - {part[1:]}" if part.startswith("-") else f"{fraction(a)} + {part}"


def _square_one(rng: Random) -> Problem:
    x = rng.choice("xtn")
    a, h, k = (
        signed(rng, 1, 5),
        Fraction(signed(rng, 1, 9), rng.choice((1, 1, 2))),
        rng.randint(-30, 30),
    )
    value = Fraction(k)
    coefficients = (a, -2 * a * h, a * h * h + k)
    if any(Fraction(c).denominator > 1 for c in coefficients):
        value += -(a * h * h) % 1
        coefficients = (a, -2 * a * h, a * h * h + value)
    formula = polynomial(coefficients, x)
    kind = "least" if a > 0 else "greatest"
    word = {"least": "minimum", "greatest": "maximum"}[kind]
    relation = "\\ge" if a > 0 else "\\le"
    if rng.random() < 0.7:
        question = pick(
            rng,
            f"What is the {kind} value of ${formula}$ as ${x}$ runs through the real numbers?",
            f"Find the {word} of ${formula}$ over all real ${x}$.",
            WORDINGS.one("square one 2", formula=formula.replace(x, "x")),
            (
                f"For every real ${x}$ we have ${formula} {relation} m$, "
                f"with equality for one value of ${x}$. What is $m$?"
            ).replace("\\\\", "\\"),
        )
        return Problem(question, fraction(value), {"formula": formula, "ask": "value"})
    question = WORDINGS.draw(
        rng,
        "square one",
        x=x,
        formula=formula,
        kind=kind,
        small="small" if a > 0 else "large",
        word=word,
    )
    return Problem(question, fraction(h), {"formula": formula, "ask": "place"})


def _square_two(rng: Random) -> Problem:
    if rng.random() < 0.5:
        while True:
            a, b, c = rng.randint(1, 5), rng.randint(1, 5), rng.randint(2, 30)
            if gcd(gcd(a, b), c) == 1 and a + b > 2:
                break
        line = f"{terms([(a, 'x'), (b, 'y')])} = {c}"
        kind = rng.choice(("product", "squares", "weighted"))
        if kind == "product":
            value, shown, word = Fraction(c * c, 4 * a * b), "xy", "greatest"
        elif kind == "squares":
            value, shown, word = Fraction(c * c, a * a + b * b), "x^2 + y^2", "least"
        else:
            m = rng.randint(2, 4)
            value, shown, word = Fraction(c * c * m, a * a * m + b * b), f"x^2 + {m}y^2", "least"
        question = WORDINGS.draw(
            rng,
            "square two",
            line=line,
            word=word,
            shown=shown,
            maximum_or_minimum="maximum" if word == "greatest" else "minimum",
            large_or_small="large" if word == "greatest" else "small",
        )
        return Problem(question, fraction(value), {"line": line, "shown": shown, "word": word})
    while True:
        p, q, k = signed(rng, 1, 6), signed(rng, 1, 6), rng.randint(-20, 40)
        a, b = rng.choice((1, 1, 2)), rng.choice((1, 2, 3))
        constant = a * p * p + b * q * q + k
        if constant and k:
            break
    formula = terms([(a, "x^2"), (b, "y^2"), (-2 * a * p, "x"), (-2 * b * q, "y"), (constant, "")])
    question = WORDINGS.draw(rng, "square two, 2", formula=formula)
    return Problem(tidy(question), str(k), {"line": "", "shown": formula, "word": "least"})


def _square_three(rng: Random) -> Problem:
    if rng.random() < 0.6:
        while True:
            c, d = signed(rng, 1, 3), rng.randint(1, 3)
            p, q, k = signed(rng, 1, 5), signed(rng, 1, 5), rng.randint(-20, 30)
            # x^2 + c^2 y^2 + p^2 - 2c xy + 2p x - 2cp y + d y^2 - 2dq y + d q^2 + k
            y_part, constant = -2 * c * p - 2 * d * q, p * p + d * q * q + k
            if y_part and constant and k:
                break
        formula = terms(
            [
                (1, "x^2"),
                (-2 * c, "xy"),
                (c * c + d, "y^2"),
                (2 * p, "x"),
                (y_part, "y"),
                (constant, ""),
            ]
        )
        x, y = c * q - p, q
        asks = {"value": k, "sum": x + y, "x": x}
        ask = rng.choice(("value", "value", "sum", "x"))
        question = WORDINGS.draw(rng, f"square three, {ask}", formula=formula)
        return Problem(
            tidy(question),
            str(asks[ask]),
            {"line": "", "shown": formula, "word": "least", "ask": ask},
        )
    a, b, c = rng.choice((
        (1, 2, 3), (1, 2, 2), (2, 3, 6), (1, 3, 5), (3, 4, 5), (1, 1, 4), (2, 3, 4), (1, 2, 5),
        (1, 4, 8), (2, -1, 3), (1, -2, 4)
    ))  # fmt: skip
    s = rng.randint(1, 6)
    line = WORDINGS.one(
        "square three line",
        terms=terms([(a, "x"), (b, "y"), (c, "z")]),
        s_value=s * (a * a + b * b + c * c) if rng.random() < 0.6 else s * 7,
    )
    total = int(line.split("= ")[1])
    shown, value = "x^2 + y^2 + z^2", Fraction(total * total, a * a + b * b + c * c)
    question = WORDINGS.draw(rng, "square three, 2", line=line, shown=shown)
    return Problem(tidy(question), fraction(value), {"line": line, "shown": shown, "word": "least"})


def _squares(rng: Random, level: int) -> Problem:
    return (_square_one, _square_two, _square_three)[level - 1](rng)


def _means(rng: Random, level: int) -> Problem:
    if level == 1:
        x = rng.choice("xta")
        a, b = rng.randint(1, 9), rng.randint(2, 60)
        if rng.random() < 0.6:
            a, b = rng.choice((
                (1, 4), (1, 9), (1, 16), (1, 25), (2, 8), (2, 18), (2, 32), (3, 12), (3, 27),
                (4, 9), (4, 25), (5, 20), (9, 4), (1, 36), (8, 18), (3, 48), (1, 49), (5, 45)
            ))  # fmt: skip
        shown = f"{terms([(a, x)])} + \\frac{{{b}}}{{{x}}}"
        value = root(a * b, 2)
        question = pick(
            rng,
            f"For positive ${x}$, what is the least value of ${shown}$?",
            f"Find the minimum of ${shown}$ as ${x}$ varies over the positive real numbers.",
            f"If ${x} > 0$, how small can \\[{shown}\\] be?",
            f"Determine the largest number $m$ such that ${shown} \\ge m$ for every ${x} > 0$.",
            WORDINGS.one("means 2", a=a, b=b) if a > 1 else WORDINGS.one("means 3", b=b),
        )
        return Problem(tidy(question), value, {"shown": shown, "range": "positive", "a": a, "b": b})
    if level == 2:
        form = rng.choice(("shifted", "quotient", "squares", "cube"))
        p = rng.randint(1, 6)
        if form == "shifted":
            b, a = rng.choice((4, 9, 16, 25, 12, 8, 18)), rng.randint(1, 4)
            shown, domain = f"{terms([(a, 'x')])} + \\frac{{{b}}}{{x - {p}}}", f"x > {p}"
            value = _surd(a * p, 2, a * b)
        elif form == "quotient":
            # (x^2 + m x + n)/(x + p) = (x + p) + (m - 2p) + c/(x + p)
            c, s = rng.choice((1, 4, 9, 16, 25, 3, 8, 12)), rng.randint(-3, 6)
            m = s + 2 * p
            n = c + p * p + s * p
            shown, domain = f"\\frac{{{polynomial((1, m, n))}}}{{x + {p}}}", f"x > -{p}"
            value = _surd(s, 2, c)
        elif form == "squares":
            b = rng.choice((4, 9, 16, 25, 36, 5, 10, 12))
            p = rng.randint(1, min(6, int((b) ** 0.5)))
            shown, domain = f"x^2 + \\frac{{{b}}}{{x^2 + {p}}}", "x \\text{ real}"
            value = _surd(-p, 2, b)
        else:
            b = rng.choice((1, 2, 3, 4)) ** 3 * 4
            # x^2 + 16c^3/x = x^2 + 8c^3/x + 8c^3/x >= 3 (64 c^6)^(1/3) = 12c^2
            c = rng.choice((1, 2, 3))
            shown, domain = f"x^2 + \\frac{{{16 * c**3}}}{{x}}", "x > 0"
            value = str(12 * c * c)
        question = WORDINGS.draw(rng, "means, level 2", shown=shown, domain=domain)
        return Problem(tidy(question), value, {"shown": shown, "range": domain})
    form = rng.choice(("product", "cubic product", "reciprocals", "two factors"))
    x, y = rng.choice(("xy", "ab", "pq", "uv"))
    if form == "product":
        a, b, n = rng.randint(1, 5), rng.randint(1, 5), rng.randint(2, 60)
        fact, shown, value, word = (
            f"{x}{y} = {n}",
            terms([(a, x), (b, y)]),
            root(a * b * n, 2),
            "least",
        )
    elif form == "cubic product":
        # a x + b y = 3 s : x^2 y largest: a x/2 + a x/2 + b y -> (a x/2)^2 b y <= s^3
        a, b, s = rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, 6)
        fact, shown, word = f"{terms([(a, x), (b, y)])} = {3 * s}", f"{x}^2{y}", "greatest"
        value = fraction(Fraction(4 * s**3, a * a * b))
    elif form == "reciprocals":
        a, b, n = rng.randint(1, 9), rng.randint(1, 9), rng.randint(1, 8)
        c, d = rng.randint(1, 3), rng.randint(1, 3)
        fact, shown, word = (
            f"{terms([(c, x), (d, y)])} = {n}",
            f"\\frac{{{a}}}{{{x}}} + \\frac{{{b}}}{{{y}}}",
            "least",
        )
        # (sqrt(ac) + sqrt(bd))^2 / n = (ac + bd + 2 sqrt(abcd))/n
        inner = a * b * c * d
        value = _surd(Fraction(a * c + b * d, n), Fraction(2, n), inner)
    else:
        a, b = rng.randint(1, 9), rng.randint(1, 9)
        fact, shown, word = (
            "",
            f"\\left({x} + \\frac{{{a}}}{{{y}}}\\right)\\left({y} + \\frac{{{b}}}{{{x}}}\\right)",
            "least",
        )
        inner = a * b
        value = _surd(a + b, 2, inner)
    given = f"with ${fact}$" if fact else ""
    relation = "\\ge" if word == "least" else "\\le"
    question = WORDINGS.draw(
        rng,
        "means",
        x=x,
        y=y,
        given=given,
        minimum_or_maximum="minimum" if word == "least" else "maximum",
        shown=shown,
        condition_first=given + ", " if given else "",
        word=word,
        small_or_large="small" if word == "least" else "large",
        and_fact=f" and ${fact}$" if fact else "",
        so_that_fact=f" so that ${fact}$ always holds" if fact else "",
        largest_or_smallest="largest" if word == "least" else "smallest",
        relation=relation,
        such_that_fact=f" such that ${fact}$" if fact else "",
    )
    question = question.replace("numbers . ", "numbers. ")
    return Problem(tidy(question), value, {"shown": shown, "fact": fact, "word": word})


def _cauchy(rng: Random, level: int) -> Problem:
    if level == 1:
        a, b = rng.choice((
            (3, 4), (5, 12), (6, 8), (1, 2), (2, 3), (1, 1), (1, 3), (4, 3), (8, 15), (2, 5),
            (3, 5), (7, 24)
        ))  # fmt: skip
        b *= rng.choice((1, -1))
        n = rng.choice((1, 2, 3, 4, 5, 8, 9, 10, 16, 20, 25, 36, 49))
        fact, shown = f"x^2 + y^2 = {n}", terms([(a, "x"), (b, "y")])
        value = root((a * a + b * b) * n)
    elif level == 2:
        form = rng.choice(("moved circle", "ellipse"))
        a, b = rng.choice(((3, 4), (5, 12), (4, 3), (1, 2), (2, 1), (1, 1), (8, 6)))
        if form == "moved circle":
            h, k, r = signed(rng, 1, 6), signed(rng, 1, 6), rng.randint(1, 6)
            fact = f"({polynomial((1, -h))})^2 + ({polynomial((1, -k), 'y')})^2 = {r * r}"
            if rng.random() < 0.5 and h * h + k * k != r * r:
                constant = h * h + k * k - r * r
                circle = [(1, "x^2"), (1, "y^2"), (-2 * h, "x"), (-2 * k, "y"), (constant, "")]
                fact = f"{terms(circle)} = 0"
            shown = terms([(a, "x"), (b, "y")])
            value = _surd(a * h + b * k, r, a * a + b * b)
        else:
            m, n, c = rng.randint(2, 6), rng.randint(1, 6), rng.randint(1, 30)
            fact, shown = f"{terms([(m, 'x^2'), (n, 'y^2')])} = {c}", terms([(a, "x"), (b, "y")])
            # (a^2/m + b^2/n) c
            inside = (Fraction(a * a, m) + Fraction(b * b, n)) * c
            value = root(inside.numerator * inside.denominator, Fraction(1, inside.denominator))
    else:
        form = rng.choice(("roots", "sphere", "ratio"))
        if form == "roots":
            a, b = rng.randint(1, 4), rng.randint(1, 4)
            low, high = rng.randint(-3, 3), rng.randint(4, 20)
            fact = ""
            shown = WORDINGS.one(
                "cauchy shown",
                value="" if a == 1 else a,
                polynomial=polynomial((1, -low)),
                value_2="" if b == 1 else b,
                terms=terms([(high, ""), (-1, "x")]),
            )
            value = root((a * a + b * b) * (high - low))
        elif form == "sphere":
            a, b, c = rng.choice((
                (1, 2, 2), (2, 3, 6), (1, 4, 8), (2, 6, 9), (1, 1, 1), (1, 2, 3), (4, 4, 7),
                (1, 1, 2)
            ))  # fmt: skip
            n = rng.randint(1, 20)
            fact, shown = f"x^2 + y^2 + z^2 = {n}", terms([(a, "x"), (b, "y"), (c, "z")])
            value = root((a * a + b * b + c * c) * n)
        else:
            # slope y/(x + h) of the line from (-h, 0) to a point of a circle of radius r < h
            r, h = rng.choice((
                (3, 5), (4, 5), (1, 2), (1, 3), (2, 3), (5, 13), (12, 13), (8, 17), (2, 4),
                (3, 4), (6, 10)
            ))  # fmt: skip
            fact, shown = f"x^2 + y^2 = {r * r}", f"\\frac{{y}}{{x + {h}}}"
            inside = h * h - r * r
            value = root(inside, Fraction(r, inside))
    question = (
        WORDINGS.draw(
            rng,
            "cauchy, fact",
            fact=fact,
            shown=shown,
            sphere_or_curve="sphere" if "z" in fact else "curve",
        )
        if fact
        else WORDINGS.draw(rng, "cauchy", shown=shown)
    )
    return Problem(tidy(question), value, {"fact": fact, "shown": shown})


FAMILIES = (
    math_family("algebra_completed_squares", _squares, "Extreme values by completing squares"),
    math_family("algebra_mean_inequality", _means, "Extreme values by means"),
    math_family("algebra_cauchy_inequality", _cauchy, "Extreme values by Cauchy's inequality"),
)
