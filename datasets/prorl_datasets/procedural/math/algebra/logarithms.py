"""Problems on exponential and logarithmic equations."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _exponent(a: int, b: int, x: str) -> str:
    return polynomial((a, b), x)


def _exponential(rng: Random, level: int) -> Problem:
    x = rng.choice("xxtn")
    base = rng.choice((2, 3, 5))
    if level == 1:
        while True:
            p, q = rng.sample((1, 2, 3) if base > 2 else (1, 2, 3, 4), 2)
            a, b, c, d = (
                rng.randint(1, 4),
                rng.randint(-5, 7),
                rng.randint(1, 4),
                rng.randint(-5, 7),
            )
            if p * a != q * c:
                value = Fraction(q * d - p * b, p * a - q * c)
                if value and value.denominator < 6:
                    break
        left, right = f"{base**p}^{{{_exponent(a, b, x)}}}", f"{base**q}^{{{_exponent(c, d, x)}}}"
        if rng.random() < 0.3:
            d = rng.randint(2, 5)
            value = Fraction(d - p * b, p * a)
            right = str(base**d)
        equation = f"{left} = {right}"
        question = WORDINGS.draw(rng, "exponential", equation=equation, x=x, left=left, right=right)
        return Problem(
            question, fraction(value), {"equation": equation, "ask": "only", "letter": x}
        )
    if level == 2:
        u, v = sorted(rng.sample(range(5 if base == 2 else 4 if base == 3 else 3), 2))
        big, small = base**u, base**v
        form = rng.choice(("plain", "split", "reciprocal"))
        if form == "plain":
            equation = f"{base * base}^{x} - {big + small} \\cdot {base}^{x} + {big * small} = 0"
        elif form == "split":
            equation = f"{base}^{{2{x}}} + {big * small} = {big + small} \\cdot {base}^{x}"
        else:
            equation = f"{base}^{x} + {big * small} \\cdot {base}^{{-{x}}} = {big + small}"
        asks = {
            "set": f"\\{{{u}, {v}\\}}",
            "sum": str(u + v),
            "larger": str(v),
            "squares": str(u * u + v * v),
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, f"exponential, level 2, {ask}", x=x, equation=equation)
        return Problem(tidy(question), asks[ask], {"equation": equation, "ask": ask, "letter": x})
    form = rng.choice(("three bases", "squares", "power of log"))
    if form == "three bases":
        # A a^(2x) - B (ab)^x + C b^(2x) = 0 in t = (a/b)^x
        a, b = rng.choice(((2, 3), (3, 2), (2, 5), (3, 5), (5, 2)))
        u, v = rng.choice(((0, 1), (-1, 0), (-1, 1), (1, 2), (0, 2), (-2, 0), (-1, 2)))
        r, s = Fraction(a, b) ** u, Fraction(a, b) ** v
        scale = (r * s).denominator * (r + s).denominator
        A, B, C = Fraction(scale), (r + s) * scale, r * s * scale
        for prime in (2, 3, 5, 7):
            while all(value.numerator % prime == 0 for value in (A, B, C)):
                A, B, C = A / prime, B / prime, C / prime
        first = f"{'' if A == 1 else f'{A} DOT '}{a * a}^{x}"
        middle = f"{'' if B == 1 else f'{B} DOT '}{a * b}^{x}"
        last = f"{'' if C == 1 else f'{C} DOT '}{b * b}^{x}"
        equation = pick(
            rng, f"{first} - {middle} + {last} = 0", f"{first} + {last} = {middle}"
        ).replace("DOT", "\\cdot")
        solutions = [u, v]
    elif form == "squares":
        # b^(x^2 + p x + q) = c: x^2 + p x + q = log_b c
        r, s = sorted(rng.sample(range(-6, 8), 2))
        p, q = -(r + s), r * s
        t = rng.choice((1, 2)) if base > 2 else rng.choice((1, 2, 3))
        m = rng.randint(-3, 3)
        # base^(k(x^2 + ...)) with right side (base^t)^(m x + n)
        inner = (1, p + t * m, q)
        left = f"{base}^{{{polynomial(inner, x)}}}"
        right = f"{base**t}^{{{terms([(m, x)])}}}" if m else "1"
        if m and abs(m) == 1 and t == 1:
            right = f"{base}^{{{terms([(m, x)])}}}"
        equation, solutions = f"{left} = {right}", [r, s]
    else:
        # base one: (x - c)^(x^2 + p x + q) = 1 has solutions from exponent 0 and base +-1
        c = rng.randint(1, 6)
        r, s = sorted(rng.sample(range(-5, 10), 2))
        if c in (r, s):
            return _exponential(rng, level)
        exponent = polynomial((1, -r - s, r * s), x)
        found_set = {c + 1} | {n for n in (r, s) if n != c}
        if ((c - 1) ** 2 - (r + s) * (c - 1) + r * s) % 2 == 0:
            found_set.add(c - 1)
        equation, solutions = f"({polynomial((1, -c), x)})^{{{exponent}}} = 1", sorted(found_set)
        asks = {"sum": str(sum(solutions)), "set": "\\{" + ", ".join(map(str, solutions)) + "\\}"}
        ask = rng.choice(("sum", "set"))
        question = WORDINGS.draw(rng, f"exponential, {ask}", x=x, equation=equation)
        return Problem(
            question, asks[ask], {"equation": equation, "ask": ask, "letter": x, "whole": True}
        )
    asks = {
        "set": "\\{" + ", ".join(map(str, sorted(solutions))) + "\\}",
        "sum": str(sum(solutions)),
        "product": str(solutions[0] * solutions[1]),
    }
    ask = rng.choice([key for key, value in asks.items() if key != "product" or value != "0"])
    question = WORDINGS.draw(rng, f"exponential, 2, {ask}", x=x, equation=equation)
    return Problem(question, asks[ask], {"equation": equation, "ask": ask, "letter": x})


def _log(base: int, inside: str) -> str:
    return f"\\log_{{{base}}} {inside}" if base > 9 else f"\\log_{base} {inside}"


def _log_equation(rng: Random, level: int) -> Problem:
    base = rng.choice((2, 3, 5, 4, 10))
    x = rng.choice("xxty")
    if level == 1:
        form = rng.choice(("plain", "double", "base"))
        if form == "plain":
            a, b, k = (
                rng.randint(1, 6),
                signed(rng, 1, 20),
                rng.choice((1, 2, 3) if base > 3 else (2, 3, 4)),
            )
            equation, value = (
                f"{_log(base, f'({polynomial((a, b), x)})')} = {k}",
                Fraction(base**k - b, a),
            )
        elif form == "double":
            base, other = rng.choice(((2, 3), (3, 2), (2, 2), (2, 5), (3, 3), (5, 2), (4, 3)))
            k = rng.choice((0, 1, 2))
            shift = rng.randint(0, 9)
            inside = f"({polynomial((1, shift), x)})" if shift else x
            inner = f"({_log(other, inside)})"
            equation, value = f"{_log(base, inner)} = {k}", Fraction(other ** (base**k) - shift)
            if value.numerator > 10**5:
                return _log_equation(rng, level)
        else:
            value = Fraction(rng.randint(2, 12))
            k, shift = rng.choice((2, 3)), rng.randint(0, 9)
            inner = polynomial((1, shift), x)
            number = (int(value) + shift) ** k
            equation = f"\\log_{{{inner}}} {number} = {k}"
        question = WORDINGS.draw(rng, "log equation, level 1", equation=equation, x=x)
        return Problem(
            question, fraction(value), {"equation": equation, "ask": "only", "letter": x}
        )
    if level == 2:
        while True:
            k = rng.randint(1, 3)
            total = base**k
            form = rng.choice(("sum", "difference", "quadratic"))
            if form == "sum":
                divisors = [d for d in range(1, total) if total % d == 0]
                d = rng.choice(divisors)
                value = rng.randint(-8, 20)
                a, b = d - value, total // d - value
                if a != b and abs(a) < 40 and abs(b) < 40:
                    equation = WORDINGS.one(
                        "log equation equation",
                        base=_log(base, f"({polynomial((1, a), x)})"),
                        log_base=_log(base, f"({polynomial((1, b), x)})"),
                        k=k,
                    )
                    answer = Fraction(value)
                    break
            elif form == "difference":
                a, b, m = signed(rng, 1, 12), signed(rng, 1, 12), rng.choice((1, 2, 3))
                # (m x + a)/(x + b) = base^k
                if m != total:
                    answer = Fraction(total * b - a, m - total)
                    if answer + b > 0 and answer.denominator < 10:
                        equation = WORDINGS.one(
                            "log equation equation 2",
                            base=_log(base, f"({polynomial((m, a), x)})"),
                            log_base=_log(base, f"({polynomial((1, b), x)})"),
                            k=k,
                        )
                        break
            else:
                # 2 log(x + a) = log(m x + b)
                r, s = rng.randint(-5, 12), rng.randint(-12, 8)
                a = signed(rng, 1, 8)
                m, b = 2 * a + r + s, a * a - r * s
                if r + a > 0 >= s + a and r != s and m and b and abs(b) < 200:
                    equation = WORDINGS.one(
                        "log equation equation 3",
                        base=_log(base, f"({polynomial((1, a), x)})"),
                        log_base=_log(base, f"({polynomial((m, b), x)})"),
                    )
                    answer = Fraction(r)
                    break
        question = WORDINGS.draw(rng, "log equation, level 2", equation=equation, x=x)
        return Problem(
            tidy(question), fraction(answer), {"equation": equation, "ask": "only", "letter": x}
        )
    form = rng.choice(("mixed base", "square", "power"))
    u, v = sorted(rng.sample((-2, -1, 1, 2, 3, 4) if base < 5 else (-1, 1, 2, 3), 2))
    total, product = u + v, u * v
    if total == 0:
        return _log_equation(rng, level)
    if form == "mixed base":
        equation = WORDINGS.one(
            "log equation equation 4",
            base=_log(base, x),
            value="+" if product > 0 else "-",
            value_2="" if abs(product) == 1 else abs(product),
            x=x,
            base_2=base,
            total=total,
        )
    elif form == "square":
        equation = (
            (f"\\left({_log(base, x)}\\right)^2 + {product} = {terms([(total, _log(base, x))])}")
            if product > 0
            else (
                f"\\left({_log(base, x)}\\right)^2 - {-product} = {terms([(total, _log(base, x))])}"
            )
        )
    else:
        # x^(log_b x) = b^(-product) x^(total)
        right = f"{x}^{{{total}}}" if total != 1 else x
        equation = (
            f"{x}^{{{_log(base, x)}}} = \\frac{{{right}}}{{{base**product}}}"
            if product > 0
            else f"{x}^{{{_log(base, x)}}} = {base ** (-product)}{right}"
        )
    asks = {
        "product": Fraction(base) ** total,
        "sum": Fraction(base) ** u + Fraction(base) ** v,
        "larger": Fraction(base) ** v,
        "smaller": Fraction(base) ** u,
    }
    ask = rng.choice(list(asks))
    what = WORDINGS.one(f"log equation {ask}")
    question = WORDINGS.draw(rng, "log equation", equation=equation, what=what, x=x)
    return Problem(
        tidy(question), fraction(asks[ask]), {"equation": equation, "ask": ask, "letter": x}
    )


def _log_relations(rng: Random, level: int) -> Problem:
    if level == 1:
        base = rng.choice((2, 3, 5))
        form = rng.choice(("chain", "power", "combination"))
        if form == "chain":
            start, length = rng.randint(2, 5), rng.randint(3, 6)
            stop = rng.choice([start**k for k in (2, 3, 4, 5)])
            links = [
                start,
                *sorted(
                    rng.sample([n for n in range(start + 1, 30) if n != stop], min(length - 2, 3))
                ),
                stop,
            ]
            shown = " \\cdot ".join(_log(p, str(q)) for p, q in pairwise(links))
            value = Fraction(next(k for k in range(1, 8) if start**k == stop))
            if rng.random() < 0.5:
                extra = rng.choice((2, 3))
                shown = " \\cdot ".join(
                    _log(p, f"{q}" if i else f"({q}^{extra})")
                    for i, (p, q) in enumerate(pairwise(links))
                )
                value *= extra
        elif form == "power":
            p, q, r = rng.randint(1, 6), rng.randint(1, 5), rng.choice((2, 3, 5))
            shown = WORDINGS.one(
                "log relations shown",
                base_to_q=base**q,
                base_to_p=base**p,
                value="" if r == 2 else f"[{r}]",
                base=base,
            )
            value = (p + Fraction(1, r)) / q
        else:
            m, n, k = rng.randint(2, 12), rng.randint(2, 9), rng.randint(1, 4)
            total = base**k * n
            shown = f"{_log(base, str(total * m))} - {_log(base, str(m))} - {_log(base, str(n))}"
            value = Fraction(k)
            a = rng.randint(2, 4)
            if rng.random() < 0.6:
                shown = WORDINGS.one(
                    "log relations shown 2",
                    base=_log(base, str(total)),
                    log_base=_log(base, str(n)),
                    base_to_a=_log(base**a, str(base ** rng.choice((1, 2, 3, 5)))),
                )
                exponent = next(e for e in range(1, 8) if f"{base**e}" == shown.split()[-1])
                value = k + Fraction(exponent, a)
        question = WORDINGS.draw(rng, "log relations, level 1", shown=shown)
        return Problem(question, fraction(value), {"shown": shown, "form": "value"})
    if level == 2:
        a, b, c = rng.choice(("abc", "pqr", "xyz", "uvw"))
        p, q = rng.sample(range(2, 13), 2)
        n = rng.choice("nNtw")
        form = rng.choice(("product base", "three", "power base"))
        if form == "product base":
            given = f"\\log_{a} {n} = {p}$ and $\\log_{b} {n} = {q}"
            ask, value = f"\\log_{{{a}{b}}} {n}", Fraction(p * q, p + q)
            if rng.random() < 0.4:
                ask, value = f"\\log_{{{a}^2{b}}} {n}", 1 / (Fraction(2, p) + Fraction(1, q))
            parameters = {
                "logs": {a: str(Fraction(1, p)), b: str(Fraction(1, q)), n: "1"},
                "ask": ask,
            }
        elif form == "three":
            p, q = rng.sample(range(11, 40), 2)
            whole = rng.randint(2, 10)
            inverse = Fraction(1, whole) - Fraction(1, p) - Fraction(1, q)
            if inverse <= 0:
                return _log_relations(rng, level)
            given = WORDINGS.one("log relations given", a=a, n=n, p=p, b=b, q=q, c=c, whole=whole)
            ask, value = f"\\log_{c} {n}", 1 / inverse
            parameters = {
                "logs": {a: str(Fraction(1, p)), b: str(Fraction(1, q)), c: str(inverse), n: "1"},
                "ask": ask,
            }
        else:
            k, m = rng.randint(2, 5), rng.randint(2, 5)
            given = f"\\log_{a} {b} = {p}"
            ask, value = f"\\log_{{{a}^{m}}} ({a}^{{{q}}}{b}^{k})", Fraction(p * k + q, m)
            parameters = {"logs": {a: "1", b: str(p)}, "ask": ask}
        question = WORDINGS.draw(rng, "log relations, level 2", given=given, ask=ask)
        return Problem(question, fraction(value), {**parameters, "form": "given"})
    form = rng.choice(("swap", "ratio", "equal"))
    if form == "swap":
        # log_x y + k log_y x = c, xy = N
        t = rng.choice((2, 3, 4, 5))
        base = rng.choice((2, 3, 5)) if t < 4 else rng.choice((2, 3))
        x, y = base, base**t
        c = t + Fraction(1, t)
        number = x * y
        asks = {"x + y": x + y, "y": y, "y - x": y - x}
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "log relations, swap", number=number, c=fraction(c), ask=ask)
        return Problem(
            question, str(asks[ask]), {"form": form, "product": number, "sum": str(c), "ask": ask}
        )
    if form == "ratio":
        # log_p (x) = log_q (y) = log_r (x + y) with q^2 = p r
        a, b = rng.choice((
            (4, 6), (9, 12), (9, 15), (16, 20), (4, 10), (25, 35), (9, 21), (16, 28), (25, 30),
            (4, 14), (49, 56), (36, 42), (16, 36), (9, 6), (25, 10), (16, 12), (25, 15),
            (49, 14)
        ))  # fmt: skip
        r = b * b // a
        if r * a != b * b:
            return _log_relations(rng, level)
        k = rng.randint(1, 6)
        left = "x + y" if k == 1 else f"x + {k}y"
        # t = y/x: 1 + k t = t^2
        inside = k * k + 4
        value = f"\\frac{{{k} + \\sqrt{{{inside}}}}}{{2}}" if k % 2 else None
        if value is None:
            half = k // 2
            value = f"{half} + \\sqrt{{{half * half + 1}}}"
        question = WORDINGS.draw(rng, "log relations, ratio", a=a, b=b, r=r, left=left)
        return Problem(question, value, {"form": form, "bases": [a, b, r], "k": k})
    # a^x = b^y = (ab)^z: 1/x + 1/y = 1/z
    p, q = rng.sample((2, 3, 5, 6, 7, 10, 11, 12, 13), 2)
    m, n = rng.randint(1, 3), rng.randint(1, 3)
    number = p**m * q**n
    if number > 50000:
        return _log_relations(rng, level)
    left = f"\\frac{{{m}}}{{x}} + \\frac{{{n}}}{{y}}"
    c = rng.randint(2, 6)
    ask, value = f"z\\left({left}\\right)", Fraction(c)
    question = WORDINGS.draw(rng, "log relations", p=p, q=q, number=number, c=c, ask=ask)
    return Problem(
        question,
        fraction(value),
        {"form": form, "p": p, "q": q, "number": number, "c": c, "m": m, "n": n},
    )


FAMILIES = (
    math_family("algebra_exponential_equation", _exponential, "Unknown exponents"),
    math_family("algebra_logarithmic_equation", _log_equation, "Equations with logarithms"),
    math_family("algebra_logarithm_relations", _log_relations, "Logarithms expressed by others"),
)
