"""Problems on polynomials."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, listed, polynomial, power, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

PLACES = {1: "first", 2: "second", 3: "third"}


def _factor(r: int) -> str:
    return polynomial((1, -r))


def _value(coefficients: list[int], x: int) -> int:
    total = 0
    for c in coefficients:
        total = total * x + c
    return total


def _remainder_direct(rng: Random) -> Problem:
    name, r = rng.choice("Pfgpq"), signed(rng, 1, 3)
    if rng.random() < 0.5:
        degree = rng.choice((3, 4))
        coefficients = [rng.choice((1, 1, 2, 3)), *(signed(rng, 1, 9) for _ in range(degree))]
        if rng.random() < 0.4:
            coefficients[rng.randint(1, degree - 1)] = 0
        formula, value = polynomial(coefficients), _value(coefficients, r)
    else:
        r = rng.choice((1, -1))
        top, low = rng.randint(20, 99), rng.randint(3, 19)
        a, b, c = rng.randint(1, 6), signed(rng, 1, 7), signed(rng, 1, 9)
        formula = terms([(a, power("x", top)), (b, power("x", low)), (c, "")])
        value = a * r**top + b * r**low + c
    question = WORDINGS.draw(
        rng, "remainder direct", formula=formula, factor_r=_factor(r), name=name
    )
    return Problem(question, str(value), {"formula": formula, "r": r, "ask": "value"})


def _remainder_unknown(rng: Random) -> Problem:
    name, k = rng.choice("Pfg"), rng.choice("kcm")
    r = rng.choice((-3, -2, -1, 1, 2, 3))
    coefficients = [rng.choice((1, 1, 2)), *(signed(rng, 1, 7) for _ in range(3))]
    place = rng.randint(1, 2)
    value = coefficients[place]
    shown = terms(
        [
            (c if i != place else 1, f"{k}{power('x', 3 - i)}" if i == place else power("x", 3 - i))
            for i, c in enumerate(coefficients)
        ]
    )
    remainder = _value(coefficients, r)
    if remainder == 0:
        facts = (f"is divisible by ${_factor(r)}$", f"has ${_factor(r)}$ as a factor")
    else:
        facts = (
            f"leaves the remainder ${remainder}$ on division by ${_factor(r)}$",
            f"has remainder ${remainder}$ when it is divided by ${_factor(r)}$",
        )
    fact = rng.choice(facts)
    other = rng.choice([n for n in (-2, -1, 1, 2, 3) if n != r])
    again = _value(coefficients, other)
    question, asked, answer = pick(
        rng,
        (f"The polynomial ${shown}$ {fact}. Find ${k}$.", None, value),
        (f"For what number ${k}$ is it true that ${shown}$ {fact}?", None, value),
        (f"Choose ${k}$ so that ${shown}$ {fact}. What must ${k}$ be?", None, value),
        (f"If ${name}(x) = {shown}$ {fact}, what is ${name}({other})$?", other, again),
        (
            (
                f"Knowing that \\[{name}(x) = {shown}\\] {fact}, find the remainder when "
                f"${name}(x)$ is divided by ${_factor(other)}$."
            ),
            other,
            again,
        ),
    )
    parameters = {"formula": shown, "k": k, "r": r, "remainder": remainder}
    parameters |= {"ask": "constant"} if asked is None else {"ask": "other", "other": asked}
    return Problem(tidy(question), str(answer), parameters)


def _remainder_two(rng: Random) -> Problem:
    name = rng.choice("Pfg")
    while True:
        a, b = rng.sample((-4, -3, -2, -1, 1, 2, 3, 4, 5), 2)
        m, n = signed(rng, 1, 6), signed(rng, 1, 9)
        u, v = m * a + n, m * b + n
        if abs(m) + abs(n) > 2 and u and v:
            break
    if rng.random() < 0.5:
        divisor = rng.choice((f"({_factor(a)})({_factor(b)})", polynomial((1, -a - b, a * b))))
        question = WORDINGS.draw(
            rng,
            "remainder two",
            name=name,
            factor_a=_factor(a),
            u=u,
            factor_b=_factor(b),
            v=v,
            divisor=divisor,
            a=a,
            b=b,
        )
        return Problem(
            question, polynomial((m, n)), {"points": sorted([[a, u], [b, v]]), "ask": "two"}
        )
    top = rng.choice((10, 11, 12, 15, 20, 25, 50, 99, 100))
    kind = rng.choice(("square", "unit", "cyclic"))
    c = signed(rng, 1, 5)
    if kind == "square":
        divisor = rng.choice(("x^2 - 2x + 1", "(x - 1)^2"))
        # x^n + c x at 1: value 1 + c, slope n + c
        formula = terms([(1, power("x", top)), (c, "x")])
        rest = (top + c, 1 - top)
    elif kind == "unit":
        divisor = "x^2 - 1"
        low = rng.choice((3, 5, 7, 9))
        formula = terms([(1, power("x", top)), (c, power("x", low)), (2, "")])
        even = 2 + (top % 2 == 0)
        rest = (c + (top % 2), even)
    else:
        divisor = "x^2 + 1"
        low = rng.choice((3, 5, 7, 9))
        formula = terms([(1, power("x", top)), (c, power("x", low)), (3, "")])
        parts = [0, 3]
        for exponent, weight in ((top, 1), (low, c)):
            parts[1 - exponent % 2] += weight * (1 if exponent % 4 in (0, 1) else -1)
        rest = (parts[0], parts[1])
    if rest[0] == 0 or rest[1] == 0:
        return _remainder_two(rng)
    question = pick(
        rng,
        f"Find the remainder when ${formula}$ is divided by ${divisor}$.",
        WORDINGS.one("remainder two 3", formula=formula, divisor=divisor),
        (
            WORDINGS.one(
                "remainder two 2",
                formula=formula,
                divisor=divisor.strip("()") if divisor[0] != "(" else divisor,
            )
        ).replace("((x - 1)^2)", "(x - 1)^2"),
        WORDINGS.one("remainder two 4", formula=formula, divisor=divisor),
    )
    return Problem(
        question, polynomial(rest), {"formula": formula, "divisor": divisor, "ask": "power"}
    )


def _remainder(rng: Random, level: int) -> Problem:
    return (_remainder_direct, _remainder_unknown, _remainder_two)[level - 1](rng)


def _interpolation(rng: Random, level: int) -> Problem:
    name = rng.choice(("P", "f", "p", "g"))
    if level < 3:
        degree = level + 1
        coefficients = [rng.choice((-2, -1, 1, 2, 3)), *(signed(rng, 1, 6) for _ in range(degree))]
        if level == 1:
            points = rng.choice(((0, 1, 2), (1, 2, 3), (-1, 0, 1), (-1, 1, 2), (0, 1, 3)))
        else:
            points = rng.choice(((0, 1, 2, 3), (1, 2, 3, 4), (-1, 0, 1, 2), (-2, -1, 0, 1)))
        at = points[-1] + rng.randint(1, 3)
        values = [_value(coefficients, x) for x in points]
        facts = listed([f"${name}({x}) = {v}$" for x, v in zip(points, values, strict=True)])
        word = {2: "quadratic", 3: "cubic"}[degree]
        asks = {
            f"{name}({at})": _value(coefficients, at),
            f"{name}({points[0] - 1})": _value(coefficients, points[0] - 1),
        }
        if 0 not in points:
            asks[f"{name}(0)"] = coefficients[-1]
        ask = rng.choice(list(asks))
        table = " & ".join(str(x) for x in points), " & ".join(str(v) for v in values)
        columns = "c|" + "c" * len(points)
        question = WORDINGS.draw(
            rng,
            "interpolation",
            word=word,
            name=name,
            facts=facts,
            ask=ask,
            degree=degree,
            points_shown=listed([f"$({x}, {v})$" for x, v in zip(points, values, strict=True)]),
            argument=ask[2:-1],
            columns=columns,
            table=table,
        )
        return Problem(
            question,
            str(asks[ask]),
            {
                "points": [[x, v] for x, v in zip(points, values, strict=True)],
                "at": int(ask[2:-1]),
                "degree": degree,
            },
        )
    kind = rng.choice(("monic", "reciprocal", "powers"))
    degree = rng.randint(3, 5)
    if kind == "monic":
        # P(j) = m j + c at j = 1..n, monic of degree n
        m, c, at = rng.randint(1, 5), rng.randint(-6, 9), degree + rng.randint(1, 2)
        if rng.random() < 0.4:
            at = 0
        shape = terms([(m, "j"), (c, "")])
        value = m * at + c
        product = 1
        for j in range(1, degree + 1):
            product *= at - j
        answer = Fraction(value + product)
        lead = f"a monic polynomial of degree ${degree}$"
    elif kind == "reciprocal":
        degree = rng.randint(3, 6)
        shape = rng.choice((r"\frac{1}{j}", r"\frac{j}{j + 1}"))
        start = 1 if shape == r"\frac{1}{j}" else 0
        lead = (
            f"a polynomial of degree at most ${degree}$"
            if start == 0
            else f"a polynomial of degree at most ${degree - 1}$"
        )
        at = degree + 1
        if start == 1:  # j P(j) - 1 vanishes at 1..n, value -1 at 0
            n = degree
            answer = (
                (
                    1
                    + Fraction(
                        (-1) ** (n + 1) * factorial(at - 1), factorial(n) * factorial(at - 1 - n)
                    )
                )
                / at
                if n
                else Fraction(0)
            )
        else:  # (j + 1) P(j) - j vanishes at 0..n, value 1 at -1
            n = degree
            product = Fraction(1)
            for j in range(n + 1):
                product *= Fraction(at - j, -1 - j)
            answer = (at + product) / (at + 1)
    else:
        base = rng.choice((2, 3))
        degree = rng.randint(3, 5) if base == 3 else rng.randint(4, 7)
        at, start = degree + 1, 0
        shape, lead = f"{base}^j", f"a polynomial of degree at most ${degree}$"
        answer = Fraction(sum(comb(at, i) * (base - 1) ** i for i in range(degree + 1)))
    first = 1 if kind == "monic" or (kind == "reciprocal" and start == 1) else 0
    listing = ", ".join(str(j) for j in range(first, degree + 1))
    if degree - first > 3:
        listing = f"{first}, {first + 1}, \\ldots, {degree}"
    example = f"$j = {listing}$"
    question = WORDINGS.draw(
        rng,
        "interpolation, 2",
        name=name,
        lead=lead,
        shape=shape,
        example=example,
        at=at,
        first=first,
        degree=degree,
    )
    return Problem(
        question,
        fraction(answer),
        {"shape": shape, "degree": degree, "first": first, "at": at, "kind": kind},
    )


def _coefficient_sums(rng: Random, level: int) -> Problem:
    if level == 1:
        while True:
            a, b, n = signed(rng, 1, 5), signed(rng, 1, 5), rng.randint(4, 7)
            if abs(a + b) in (2, 3, 4, 5) and (a > 0 or b > 0):
                break
        formula = f"({polynomial((a, b)) if a > 0 else terms([(b, ''), (a, 'x')])})^{n}"
        total = (a + b) ** n
        asks = {"all": total, "without": total - b**n, "alternating": (b - a) ** n}
        ask = rng.choice([key for key, value in asks.items() if abs(value) < 10**5 and value])
        expansion = f"{formula} = a_{n}x^{n} + \\cdots + a_1x + a_0".replace("a_1x", "a_{1}x")
        question = WORDINGS.draw(
            rng,
            f"coefficient sums, level 1, {ask}",
            formula=formula,
            expansion=expansion,
            n=n,
            sign="+" if n % 2 == 0 else "-",
        )
        return Problem(tidy(question), str(asks[ask]), {"formula": formula, "ask": ask})
    if level == 2:
        while True:
            q = [rng.randint(1, 3), signed(rng, 1, 4), signed(rng, 1, 4)]
            n = rng.randint(3, 6)
            one, minus = _value(q, 1) ** n, _value(q, -1) ** n
            if abs(one) < 50000 and abs(minus) < 50000 and one != minus and one * minus:
                break
        formula = f"({polynomial(q)})^{n}"
        even, odd = (one + minus) // 2, (one - minus) // 2
        asks = {"even": even, "odd": odd, "even without": even - q[2] ** n}
        ask = rng.choice(list(asks))
        top = 2 * n
        expansion = f"{formula} = a_{{{top}}}{power('x', top)} + \\cdots + a_{{1}}x + a_0"
        question = WORDINGS.draw(
            rng,
            f"coefficient sums, level 2, {ask}",
            expansion=expansion,
            top=top,
            formula=formula,
            x=power("x", top),
            top_minus_one=top - 1,
        )
        return Problem(tidy(question), str(asks[ask]), {"formula": formula, "ask": ask})
    # expansion in powers of (x - c)
    c, n = rng.choice((1, 2, -1)), rng.randint(4, 7)
    a, b = rng.randint(1, 2), signed(rng, 1, 3)
    while a * c + b == 0 or a * (c + 1) + b == 0 or (a * (c - 1) + b) == 0:
        b = signed(rng, 1, 4)
    formula = f"({polynomial((a, b))})^{n}"
    around = f"({_factor(c)})"
    expansion = f"{formula} = a_0 + a_{{1}}{around} + a_2{around}^2 + \\cdots + a_{n}{around}^{n}"
    value1, value0 = (a * (c + 1) + b) ** n, (a * c + b) ** n
    minus1 = (a * (c - 1) + b) ** n
    place = rng.choice((1, 2, n - 1))
    weighted = n * a * (a * (c + 1) + b) ** (n - 1)
    asks3 = {
        f"a_0 + a_1 + a_2 + \\cdots + a_{n}": value1,
        f"a_1 + a_2 + \\cdots + a_{n}": value1 - value0,
        f"a_{place}": comb(n, place) * a**place * (a * c + b) ** (n - place),
        f"a_1 + 2a_2 + 3a_3 + \\cdots + {n}a_{n}": weighted,
        f"a_0 - a_1 + a_2 - \\cdots {'+' if n % 2 == 0 else '-'} a_{n}": minus1,
    }
    ask = rng.choice(list(asks3))
    question = WORDINGS.draw(
        rng,
        "coefficient sums",
        n=n,
        expansion=expansion,
        ask=ask,
        formula=formula,
        factor_c=_factor(c),
    )
    return Problem(question, str(asks3[ask]), {"a": a, "b": b, "n": n, "c": c, "ask": ask})


def _binomial(rng: Random, level: int) -> Problem:
    if level == 1:
        a, b, n = rng.randint(1, 4), signed(rng, 1, 4), rng.randint(4, 8)
        while a == 1 and abs(b) == 1:
            b = signed(rng, 1, 4)
        k = rng.randint(1, n - 1) if n < 7 else rng.choice((1, 2, n - 2, n - 1))
        inside, term = polynomial((a, b)), f"${power('x', k)}$"
        formula = f"({inside})^{n}"
        value = comb(n, k) * a**k * b ** (n - k)
    elif level == 2:
        while True:
            a, b, n = rng.randint(1, 3), signed(rng, 1, 3), rng.randint(5, 10)
            p, q = rng.choice(((1, 1), (2, 1), (1, 2), (3, 1), (3, 2)))
            k = rng.randint(1, n - 1)  # the power of the second term
            exponent = p * (n - k) - q * k
            value = comb(n, k) * a ** (n - k) * b**k
            if (exponent == 0 or (abs(exponent) < 6 and rng.random() < 0.2)) and abs(value) < 60000:
                break
        second = f"\\frac{{{abs(b)}}}{{{power('x', q)}}}"
        formula = WORDINGS.one(
            "binomial formula",
            terms=terms([(a, power("x", p))]),
            value="+" if b > 0 else "-",
            second=second,
            n=n,
        )
        term = "constant" if exponent == 0 else f"${power('x', exponent)}$"
    else:
        while True:
            n, m = rng.randint(4, 8), rng.randint(1, 3)
            a, b, c = rng.choice((1, 2, -1, -2)), signed(rng, 1, 3), rng.choice((1, -1, 2))
            form = rng.choice(("trinomial", "product"))
            k = rng.randint(2, 5)
            if form == "trinomial":
                base = {0: 1, 1: a, 2: b}
                expanded = {0: 1}
                for _ in range(n):
                    new: dict[int, int] = {}
                    for e, w in expanded.items():
                        for f, v in base.items():
                            new[e + f] = new.get(e + f, 0) + w * v
                    expanded = new
                formula, value = f"({terms([(1, ''), (a, 'x'), (b, 'x^2')])})^{n}", expanded[k]
            else:
                value = sum(
                    comb(n, i) * a**i * comb(m + 2, k - i) * c ** (k - i)
                    for i in range(k + 1)
                    if k - i <= m + 2
                )
                formula = WORDINGS.one(
                    "binomial formula 2",
                    terms=terms([(1, ""), (a, "x")]),
                    n=n,
                    terms_terms=terms([(1, ""), (c, "x")]),
                    m_plus_2=m + 2,
                )
                if a == c:
                    continue
            if value and abs(value) < 30000:
                break
        term = f"${power('x', k)}$"
    if term == "constant":
        question = WORDINGS.draw(rng, "binomial, constant", formula=formula)
    else:
        question = WORDINGS.draw(
            rng, "binomial", wanted=term, formula=formula, strip_sign=term.strip("$")
        )
    if question.endswith("\\]"):
        question += "."
    return Problem(tidy(question), str(value), {"formula": formula, "wanted": term})


def _partial(rng: Random, level: int) -> Problem:
    if level == 1:
        while True:
            a, b = rng.sample([n for n in range(-6, 7) if n], 2)
            A, B = signed(rng, 1, 6), signed(rng, 1, 6)
            top = (A + B, -A * b - B * a)
            if top[0] and top[1]:
                break
        bottom = rng.choice((f"({_factor(a)})({_factor(b)})", polynomial((1, -a - b, a * b))))
        right = f"\\frac{{A}}{{{_factor(a)}}} + \\frac{{B}}{{{_factor(b)}}}"
        values = {"A": A, "B": B, "AB": A * B, "A - B": A - B, "A^2 + B^2": A * A + B * B}
    elif level == 2:
        while True:
            roots = rng.sample(range(-4, 5), 3)
            A, B, C = (signed(rng, 1, 6) for _ in range(3))
            a, b, c = roots
            top3 = (
                A + B + C,
                -A * (b + c) - B * (a + c) - C * (a + b),
                A * b * c + B * a * c + C * a * b,
            )
            if sum(t != 0 for t in top3) > 1:
                break
        top = top3
        bottom = "".join(f"({_factor(r)})" if r else "x" for r in sorted(roots, key=abs))
        right = " + ".join(
            f"\\frac{{{n}}}{{{_factor(r)}}}" for n, r in zip("ABC", roots, strict=True)
        )
        values = {"A": A, "C": C, "ABC": A * B * C, "A + 2B": A + 2 * B, "B - C": B - C}
    else:
        while True:
            a, b = rng.sample(range(-4, 5), 2)
            A, B, C = (signed(rng, 1, 6) for _ in range(3))
            # A/(x-a) + B/(x-a)^2 + C/(x-b)  or  A/(x-a) + (Bx+C)/(x^2+m)
            m = rng.randint(1, 5)
            double = rng.random() < 0.5
            if double:
                top = (A + C, -A * (a + b) + B - 2 * a * C, A * a * b - B * b + C * a * a)
            else:
                top = (A + B, C - a * B, A * m - a * C)
            if sum(t != 0 for t in top) > 1:
                break
        near = f"({_factor(a)})" if a else "x"
        if double:
            bottom = f"{near}^2{f'({_factor(b)})' if b else ' x'}" if b else f"x{near}^2"
            right = WORDINGS.one("partial right", a=_factor(a), near=near, b=_factor(b))
        else:
            bottom = f"{near}(x^2 + {m})"
            right = f"\\frac{{A}}{{{_factor(a)}}} + \\frac{{Bx + C}}{{x^2 + {m}}}"
        values = {"A": A, "B": B, "C": C, "A + B + 2C": A + B + 2 * C, "ABC": A * B * C}
    left = f"\\frac{{{polynomial(top)}}}{{{bottom}}}"
    letters = "A, B" if level == 1 else "A, B, C"
    tuple_value = str((A, B) if level == 1 else (A, B, C))
    values[f"({letters})"] = 0
    ask = rng.choice(list(values))
    answer = tuple_value if ask.startswith("(") else str(values[ask])
    what = (
        f"the ordered {'pair' if level == 1 else 'triple'} ${ask}$"
        if ask.startswith("(")
        else f"${ask}$"
    )
    question = pick(
        rng,
        WORDINGS.one("partial", letters=letters, left=left, right=right, what=what),
        WORDINGS.one("partial 2", left=left, right=right, what=what),
        WORDINGS.one("partial 3", left=left, right=right, what=what),
        f"Find {what} so that ${left}$ and ${right}$ are the same function of $x$."
        if ask.startswith("(")
        else WORDINGS.one("partial 4", letters=letters, left=left, right=right, what=what),
        WORDINGS.one("partial 5", left=left, right=right, letters=letters, what=what),
    )
    return Problem(question, answer, {"left": left, "right": right, "ask": ask})


FAMILIES = (
    math_family("algebra_remainder", _remainder, "Remainders of polynomials, also of high powers"),
    math_family("algebra_interpolation", _interpolation, "Polynomials from their values"),
    math_family("algebra_coefficient_sum", _coefficient_sums, "Sums of coefficients"),
    math_family("algebra_binomial_coefficient", _binomial, "One coefficient of an expansion"),
    math_family("algebra_partial_fractions", _partial, "Identities between fractions"),
)
