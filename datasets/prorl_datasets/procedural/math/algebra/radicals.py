"""Problems on square roots."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _square(n: int) -> bool:
    return n >= 0 and isqrt(n) ** 2 == n


def _joined(first: str, second: str) -> str:
    if first == "0" or second == "0":
        return second if first == "0" else first
    return f"{first} - {second[1:]}" if second.startswith("-") else f"{first} + {second}"


def _pair(rng: Random) -> tuple[int, int]:
    """Return m > n such that sqrt(m), sqrt(n) and sqrt(mn) are not all rational."""
    while True:
        m, n = rng.randint(2, 24), rng.randint(1, 15)
        if m > n and not _square(m * n) and not (_square(m) and _square(n)):
            return m, n


def _squarefree(n: int) -> tuple[int, int]:
    """Return (f, s) with n = f^2 s and s squarefree."""
    factor = max(d for d in range(1, isqrt(n) + 1) if n % (d * d) == 0)
    return factor, n // (factor * factor)


def _nested_two(rng: Random, level: int) -> Problem:
    m, n = _pair(rng)
    sign = rng.choice((1, -1))
    op = "+" if sign > 0 else "-"
    if level == 1 and rng.random() < 0.5:
        plus, minus = (f"\\sqrt{{{m + n} {o} {root(m * n, 2)}}}" for o in "+-")
        add = rng.random() < 0.5
        whole = f"{plus} {'+' if add else '-'} {minus}"
        question = WORDINGS.draw(rng, "nested two, level 1", whole=whole)
        return Problem(question, str(4 * (m if add else n)), {"shown": whole, "ask": "square"})
    k = rng.choice((2, 3, 5)) if level == 2 and rng.random() < 0.4 else 1
    m, n = k * m, k * n
    inner = f"{m + n} {op} {root(m * n, 2)}"
    shown, shape = f"\\sqrt{{{inner}}}", f"\\sqrt{{a}} {op} \\sqrt{{b}}"
    asks = {"a - b": m - n, "ab": m * n, "2a + b": 2 * m + n, "(a, b)": 0}
    if level == 2:
        asks = {"a^2 + b^2": m * m + n * n, "a^2 - b^2": m * m - n * n, "a - 2b": m - 2 * n}
    ask = rng.choice(list(asks))
    answer = f"({m}, {n})" if ask == "(a, b)" else str(asks[ask])
    question = WORDINGS.draw(rng, "nested two", shown=shown, shape=shape, ask=ask, inner=inner)
    return Problem(question, answer, {"shown": shown, "ask": ask, "op": op})


def _nested_endless(rng: Random) -> Problem:
    while True:
        c, b = (
            rng.choice((2, 6, 12, 20, 30, 42, 56, 72, 90, 1, 3, 5, 7, 11, 13, 15)),
            rng.choice((1, 1, 2, 3)),
        )
        minus = rng.random() < 0.4
        if not minus or b * b < c:
            break
    lead, op = "" if b == 1 else str(b), "-" if minus else "+"
    tower = f"\\sqrt{{{c} {op} {lead}\\sqrt{{{c} {op} {lead}\\sqrt{{{c} {op} \\cdots}}}}}}"
    # x^2 = c + b x, or c - b x
    half, inside = Fraction(-b if minus else b, 2), b * b + 4 * c
    if _square(inside):
        value = fraction(half + Fraction(isqrt(inside), 2))
    else:
        value = _joined(fraction(half), root(inside, Fraction(1, 2)))
    question = WORDINGS.draw(rng, "nested endless", tower=tower, c=c, op=op, lead=lead)
    return Problem(question, value, {"c": c, "b": -b if minus else b})


def _nested_cubes(rng: Random) -> Problem:
    # (p + sqrt q)^3 = p^3 + 3pq + (3p^2 + q) sqrt q
    p, q = rng.randint(1, 5), rng.choice((2, 3, 5, 6, 7, 10, 11, 13))
    a, b = p**3 + 3 * p * q, 3 * p * p + q
    first = f"\\sqrt[3]{{{a} + {root(q, b)}}}"
    positive = p * p > q
    second = f"\\sqrt[3]{{{a} - {root(q, b)}}}" if positive else f"\\sqrt[3]{{{root(q, b)} - {a}}}"
    op = rng.choice("+-")
    square = 4 * p * p if (op == "+") == positive else 4 * q
    whole = f"{first} {op} {second}"
    exponent = rng.choice((2, 4))
    question = WORDINGS.draw(
        rng,
        "nested cubes",
        whole=whole,
        exponent=exponent,
        square_or_fourth_power="square" if exponent == 2 else "fourth power",
    )
    return Problem(
        question,
        str(square ** (exponent // 2)),
        {"shown": whole, "ask": "power", "exponent": exponent},
    )


def _nested_three(rng: Random) -> Problem:
    a, b, c = sorted(rng.sample((2, 3, 5, 6, 7, 10, 11, 13), 3))
    inner = f"{a + b + c} + {root(a * b, 2)} + {root(b * c, 2)} + {root(a * c, 2)}"
    whole = f"\\sqrt{{{inner}}}"
    asks = {"pqr": a * b * c, "pq + r": a * b + c, "p^2 + r^2": a * a + c * c, "(p, q, r)": 0}
    ask = rng.choice(list(asks))
    question = WORDINGS.draw(rng, "nested three", whole=whole, ask=ask, inner=inner)
    answer = f"({a}, {b}, {c})" if ask == "(p, q, r)" else str(asks[ask])
    return Problem(question, answer, {"shown": whole, "ask": ask, "three": True})


def _nested(rng: Random, level: int) -> Problem:
    if level == 3:
        return rng.choice((_nested_cubes, _nested_three))(rng)
    return _nested_endless(rng) if level == 2 and rng.random() < 0.4 else _nested_two(rng, level)


def _radical_equation(rng: Random, level: int) -> Problem:
    x = rng.choice("xxty")
    if level == 1:
        form = rng.choice(("number", "line"))
        if form == "number":
            a, c = rng.randint(2, 7), rng.randint(2, 12)
            b = rng.randint(-20, 20) or 3
            equation, solutions = (
                f"\\sqrt{{{polynomial((a, b), x)}}} = {c}",
                [Fraction(c * c - b, a)],
            )
        else:
            while True:  # sqrt(a x + b) = x - d with one true and one false root
                d, r, s = signed(rng, 1, 7), rng.randint(-6, 12), rng.randint(-12, 10)
                # (x - d)^2 - (a x + b) = (x - r)(x - s)
                a, b = r + s - 2 * d, d * d - r * s
                if r > d > s and a and b:
                    break
            inside = polynomial((a, b), x) if a > 0 or b < 0 else terms([(b, ""), (a, x)])
            equation, solutions = f"\\sqrt{{{inside}}} = {polynomial((1, -d), x)}", [Fraction(r)]
        question = WORDINGS.draw(rng, "radical equation, level 1", equation=equation, x=x)
        return Problem(question, fraction(solutions[0]), {"equation": equation, "ask": "only"})
    if level == 2:
        form = rng.choice(("two", "two", "power"))
        if form == "two":
            u, v = rng.randint(1, 9), rng.randint(1, 9)
            k = rng.choice((1, 1, 2))
            solution = rng.randint(-10, 20)
            a, b = u * u - k * solution, v * v - solution
            op = "+" if rng.random() < 0.6 or u <= v else "-"
            total = u + v if op == "+" else u - v
            if not a or not b or not total or (k == 1 and a == b) or (op == "-" and k == 2):
                return _radical_equation(rng, level)
            equation = WORDINGS.one(
                "radical equation equation",
                polynomial=polynomial((k, a), x),
                op=op,
                polynomial_polynomial=polynomial((1, b), x),
                total=total,
            )
            question = WORDINGS.draw(rng, "radical equation, level 2, two", x=x, equation=equation)
            return Problem(question, str(solution), {"equation": equation, "ask": "only"})
        p, q = rng.randint(1, 8), rng.randint(1, 8)
        if p == q:
            q += 1
        # x - (p + q) sqrt(x) + pq = 0
        equation = f"{x} - {p + q}\\sqrt{{{x}}} + {p * q} = 0"
        asks = {"sum": p * p + q * q, "product": p * p * q * q, "difference": abs(p * p - q * q)}
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(
            rng,
            "radical equation, level 2",
            equation=equation,
            ask=ask if ask != "difference" else "positive difference",
        )
        return Problem(question, str(asks[ask]), {"equation": equation, "ask": ask})
    # x^2 + a x + k sqrt(x^2 + a x + b) = c : u^2 + k u = b + c, u >= 0
    while True:
        u, k, a, r = rng.randint(1, 9), signed(rng, 1, 5), signed(rng, 1, 9), rng.randint(-9, 9)
        b = u * u - r * r - a * r
        c = u * u + k * u - b
        other = -u - k  # the second root of u^2 + k u = b + c
        if b and c and other < 0 and a * a - 4 * (b - u * u) > 0 and abs(b) < 60:
            break
    equation = WORDINGS.one(
        "radical equation equation 2",
        terms=terms([(1, f"{x}^2"), (a, x)]),
        value="+" if k > 0 else "-",
        value_2="" if abs(k) == 1 else abs(k),
        terms_terms=terms([(1, f"{x}^2"), (a, x), (b, "")]),
        c=c,
    )
    s = -a - r
    asks3 = {
        "product": r * s,
        "sum of squares": r * r + s * s,
        "largest": max(r, s),
        "difference": abs(r - s),
    }
    ask = rng.choice(list(asks3))
    what = WORDINGS.one(f"radical equation {ask}")
    question = WORDINGS.draw(rng, "radical equation", what=what, equation=equation)
    return Problem(tidy(question), str(asks3[ask]), {"equation": equation, "ask": ask})


def _conjugates(rng: Random, level: int) -> Problem:
    if level == 1:
        while True:
            m, n = _pair(rng)
            (f, sm), (g, sn) = _squarefree(m), _squarefree(n)
            if sm > 1:
                break
        top, op = rng.randint(1, 12), rng.choice("+-")
        shown = f"\\frac{{{top}}}{{{root(m)} {op} {root(n)}}}"
        p, q = Fraction(top * f, m - n), Fraction(top * g * (1 if op == "-" else -1), m - n)
        shape = f"p\\sqrt{{{sm}}} + q" + (f"\\sqrt{{{sn}}}" if sn > 1 else "")
        asks = {
            "p + q": fraction(p + q),
            "(p, q)": f"({fraction(p)}, {fraction(q)})",
            "pq": fraction(p * q),
            "p - q": fraction(p - q),
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "conjugates, level 1", shown=shown, shape=shape, ask=ask)
        return Problem(tidy(question), asks[ask], {"shown": shown, "shape": shape, "ask": ask})
    if level == 2:
        p, q = rng.randint(1, 7), rng.choice((2, 3, 5, 6, 7, 8, 10, 11, 13))
        if p * p == q:
            p += 1
        norm = p * p - q
        x = rng.choice("xat")
        start = terms([(p, ""), (1, root(q))])
        s, t = 2 * p, norm
        asks = {
            f"{x}^2 - {s}{x}": Fraction(-t),
            f"{x}^2 + \\frac{{{t * t}}}{{{x}^2}}": Fraction(s * s - 2 * t),
            f"{x} + \\frac{{{t}}}{{{x}}}" if t > 0 else f"{x} - \\frac{{{-t}}}{{{x}}}": Fraction(s),
            f"{terms([(1, f'{x}^4'), (-s, f'{x}^3'), (t + 1, f'{x}^2'), (-s, x)])}": Fraction(-t),
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "conjugates, level 2", x=x, start=start, ask=ask)
        return Problem(question, fraction(asks[ask]), {"number": start, "ask": ask, "letter": x})
    while True:
        u, v = rng.randint(3, 14), rng.randint(1, 9)
        d = u * u - v * v
        if u > v:
            break
    shift = rng.randint(-9, 9)
    form = rng.choice(("linear", "square", "opposite"))
    if form == "linear":
        a, b = shift + d, shift
        one, two = (
            f"\\sqrt{{{polynomial((1, a))}}}" if a else "\\sqrt{x}",
            f"\\sqrt{{{polynomial((1, b))}}}" if b else "\\sqrt{x}",
        )
    elif form == "square":
        a, b = shift + d, shift
        one, two = (
            f"\\sqrt{{{terms([(1, 'x^2'), (a, '')])}}}",
            f"\\sqrt{{{terms([(1, 'x^2'), (b, '')])}}}",
        )
    else:
        b = rng.randint(10, 40)
        a = b + d
        one, two = f"\\sqrt{{{a} - x^2}}", f"\\sqrt{{{b} - x^2}}"
    plus, minus = f"{one} + {two}", f"{one} - {two}"
    given, ask, g, answer = rng.choice(((plus, minus, u + v, u - v), (minus, plus, u - v, u + v)))
    x2 = u * u - a if form != "opposite" else a - u * u
    if form != "linear" and x2 < 0:
        return _conjugates(rng, level)
    question = WORDINGS.draw(rng, "conjugates", given=given, g=g, ask=ask)
    return Problem(question, str(answer), {"given": given, "value": g, "ask": ask})


FAMILIES = (
    math_family("algebra_nested_radical", _nested, "Roots inside roots"),
    math_family("algebra_radical_equation", _radical_equation, "Equations with square roots"),
    math_family("algebra_conjugate_surds", _conjugates, "Conjugates of surds"),
)
