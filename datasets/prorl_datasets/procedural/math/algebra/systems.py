"""Problems on systems of equations."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, listed, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

PAIRS = ("xy", "ab", "pq", "mn", "rs", "uv")
TRIPLES = ("xyz", "abc", "pqr")


def _system(rng: Random, equations: Sequence[str]) -> str:
    style = rng.randrange(3)
    if style == 0:
        return listed([f"${equation}$" for equation in equations])
    lines = r" \\ ".join(equations)
    if style == 1:
        return rf"\[\begin{{cases}} {lines} \end{{cases}}\]"
    aligned = lines.replace(" = ", " &= ")
    return rf"\[\begin{{aligned}} {aligned} \end{{aligned}}\]"


def _linear_two(rng: Random) -> Problem:
    x, y = letters = tuple(rng.choice(PAIRS))
    while True:
        values = [signed(rng, 1, 9), signed(rng, 1, 9)]
        rows = [[signed(rng, 1, 6), signed(rng, 1, 6)] for _ in range(2)]
        if rows[0][0] * rows[1][1] != rows[0][1] * rows[1][0] and values[0] != values[1]:
            break
    equations = [
        (
            f"{terms(list(zip(row, letters, strict=True)))} = "
            f"{row[0] * values[0] + row[1] * values[1]}"
        )
        for row in rows
    ]
    system = _system(rng, equations)
    if rng.random() < 0.35:
        ask, answer = f"({x}, {y})", f"({values[0]}, {values[1]})"
        question = WORDINGS.draw(rng, "linear two", ask=ask, system=system)
    else:
        while True:
            weights = (rng.choice((1, 1, 2, 3, 4)), signed(rng, 1, 4))
            if list(weights) not in rows:
                break
        ask = rng.choice((terms([(weights[0], x), (weights[1], y)]), f"{x}{y}", f"{x}^2 + {y}^2"))
        answer = {
            f"{x}{y}": str(values[0] * values[1]),
            f"{x}^2 + {y}^2": str(values[0] ** 2 + values[1] ** 2),
        }.get(ask, str(weights[0] * values[0] + weights[1] * values[1]))
        question = WORDINGS.draw(rng, "linear two, 2", system=system, ask=ask, x=x, y=y)
    return Problem(tidy(question), answer, {"equations": sorted(equations), "ask": ask})


def _linear_three(rng: Random) -> Problem:
    letters = tuple(rng.choice(TRIPLES))
    x, y, z = letters
    values = [signed(rng, 1, 9) for _ in range(3)]
    if rng.random() < 0.5:
        shape = rng.choice((
            (1, 1, 0), (2, 1, 0), (3, 1, 0), (1, 2, 0), (2, 1, 1), (3, 1, 1), (1, 2, 2),
            (1, 3, 0)
        ))  # fmt: skip
        rows = [[shape[(j - i) % 3] for j in range(3)] for i in range(3)]
        asks = (f"{x} + {y} + {z}", f"{x}{y}{z}", x, z, f"{x}{y} + {y}{z} + {z}{x}")
    else:
        while True:
            rows = [[signed(rng, 1, 3) for _ in range(3)] for _ in range(3)]
            (a, b, c), (d, e, f), (g, h, i) = rows
            if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g):
                break
        asks = (f"{x} + {y} + {z}", f"{x}{y}{z}", f"{x} - {y} + {z}", f"{x}^2 + {y}^2 + {z}^2")
    equations = []
    for row in rows:
        total = sum(r * v for r, v in zip(row, values, strict=True))
        equations.append(f"{terms(list(zip(row, letters, strict=True)))} = {total}")
    ask = rng.choice(asks)
    a, b, c = values
    answer = {
        f"{x} + {y} + {z}": a + b + c,
        f"{x}{y}{z}": a * b * c,
        x: a,
        z: c,
        f"{x} - {y} + {z}": a - b + c,
        f"{x}{y} + {y}{z} + {z}{x}": a * b + b * c + c * a,
        f"{x}^2 + {y}^2 + {z}^2": a * a + b * b + c * c,
    }[ask]
    system = _system(rng, equations)
    question = WORDINGS.draw(rng, "linear three", x=x, y=y, z=z, system=system, ask=ask)
    return Problem(tidy(question), str(answer), {"equations": sorted(equations), "ask": ask})


def _linear_parameter(rng: Random) -> Problem:
    k = rng.choice("kamt")
    x, y = "x", "y"
    r, q = rng.randint(2, 8), rng.randint(1, 6)
    while r % q and q % r and r * r % q:
        q = rng.randint(1, 6)
    p = r * r // q
    v = q * rng.randint(1, 4)
    sign = rng.choice((1, -1))
    u = v * r * sign // q
    # proportional rows at k = r*sign; only the left sides are proportional at k = -r*sign
    equations = [f"{k}x + {terms([(p, y)])} = {u}", f"{terms([(q, x)])} + {k}y = {v}"]
    if rng.random() < 0.5:
        equations = [f"{terms([(p, y)])} + {k}x = {u}", f"{k}y + {terms([(q, x)])} = {v}"]
    system = _system(rng, equations)
    infinite = rng.random() < 0.5
    answer = r * sign if infinite else -r * sign
    what = rng.choice(
        ("infinitely many solutions", "more than one solution $(x, y)$")
        if infinite
        else ("no solution", "no solutions $(x, y)$ at all")
    )
    question = pick(
        rng,
        f"For which real value of ${k}$ does the system {system} have {what}?",
        WORDINGS.one("linear parameter 2", system=system, k=k, what=what)
        if not infinite
        else WORDINGS.one("linear parameter 3", system=system, k=k, what=what),
        WORDINGS.one("linear parameter", system=system, k=k, what=what),
        (
            f"Determine the constant ${k}$, given that {system} "
            f"{'are satisfied by' if infinite else 'have'} {what}."
        ),
    )
    return Problem(
        tidy(question), str(answer), {"p": p, "q": q, "u": u, "v": v, "ask": int(infinite)}
    )


def _linear_relation(rng: Random) -> Problem:
    k = rng.choice("kamt")
    while True:
        x, y = signed(rng, 1, 8), signed(rng, 1, 8)
        a, b, c = signed(rng, 2, 7), signed(rng, 2, 7), rng.choice((2, 3, 4, 5))
        e = signed(rng, 1, 9)
        # relation y = c x + d;  a x + b y = s ; k x + e y = t
        d = y - c * x
        kk = Fraction(rng.randint(-9, 9))
        t = kk * x + e * y
        if a + b * c and a * e != b * kk and kk and d and abs(d) <= 20 and t and abs(x) != 1:
            break
    s = a * x + b * y
    first, second = (
        f"{terms([(a, 'x'), (b, 'y')])} = {s}",
        f"{k}x {'+' if e > 0 else '-'} {terms([(abs(e), 'y')])} = {t}",
    )
    more = "more" if d > 0 else "less"
    times = {2: "twice", 3: "three times", 4: "four times", 5: "five times"}[c]
    question = WORDINGS.draw(
        rng,
        "linear relation",
        system=_system(rng, [first, second]),
        size_of_d=abs(d),
        more=more,
        times=times,
        k=k,
        second=second,
        first=first,
        second_line=terms([(c, "x"), (d, "")]),
        system_2=_system(rng, [first, second]),
    )
    return Problem(
        tidy(question), fraction(kk), {"first": first, "c": c, "d": d, "e": e, "t": int(t)}
    )


def _linear(rng: Random, level: int) -> Problem:
    if level == 1:
        return _linear_two(rng)
    if level == 2:
        return _linear_three(rng)
    return rng.choice((_linear_parameter, _linear_relation))(rng)


def _symmetric(rng: Random, level: int) -> Problem:
    x, y = tuple(rng.choice(PAIRS))
    while True:
        s, p = signed(rng, 2, 12), signed(rng, 1, 15)
        if s * s != 4 * p:
            break
    squares, cubes = s * s - 2 * p, s**3 - 3 * s * p
    values: dict[str, Fraction] = {
        f"{x}^2 + {y}^2": Fraction(squares),
        rf"\frac{{1}}{{{x}}} + \frac{{1}}{{{y}}}": Fraction(s, p),
        f"({x} - {y})^2": Fraction(s * s - 4 * p),
        rf"{x}^2{y} + {x}{y}^2": Fraction(s * p),
        f"({x} + 1)({y} + 1)": Fraction(p + s + 1),
    }
    facts = ["sum", "product"]
    if level == 2:
        values = {
            f"{x}^3 + {y}^3": Fraction(cubes),
            rf"\frac{{{x}}}{{{y}}} + \frac{{{y}}}{{{x}}}": Fraction(squares, p),
            rf"\frac{{1}}{{{x}^2}} + \frac{{1}}{{{y}^2}}": Fraction(squares, p * p),
            f"{x}^4 + {y}^4": Fraction(squares**2 - 2 * p * p),
        }
        facts = rng.choice((["sum", "product"], ["sum", "squares"]))
        if facts[1] == "squares":
            values[f"{x}{y}"] = Fraction(p)
    if level == 3:
        facts = rng.choice((["sum", "squares"], ["sum", "cubes"]))
        values = {
            rf"\frac{{{x}^2}}{{{y}}} + \frac{{{y}^2}}{{{x}}}": Fraction(cubes, p),
            f"{x}^5 + {y}^5": Fraction(squares * cubes - s * p * p),
            f"{x}^4 + {y}^4": Fraction(squares**2 - 2 * p * p),
            rf"\frac{{1}}{{{x}^3}} + \frac{{1}}{{{y}^3}}": Fraction(cubes, p**3),
        }
    ask = rng.choice(list(values))
    facts_shown = [
        WORDINGS.one(f"symmetric {name}", x=x, y=y, s=s, p=p, squares=squares, cubes=cubes)
        for name in facts
    ]
    rng.shuffle(facts_shown)
    one, two = facts_shown
    kind = "real or complex numbers" if s * s < 4 * p else "real numbers"
    question = WORDINGS.draw(
        rng,
        "symmetric",
        one=one,
        two=two,
        ask=ask,
        kind=kind,
        x=x,
        y=y,
        system=_system(rng, facts_shown),
        system_2=_system(rng, facts_shown),
    )
    return Problem(
        tidy(question), fraction(values[ask]), {"given": sorted(facts_shown), "ask": ask}
    )


def _products(rng: Random, level: int) -> Problem:
    x, y, z = tuple(rng.choice(TRIPLES))
    while True:
        a, b, c = sorted(rng.sample(range(2, 10 + 3 * level), 3))
        if len({a, b, c}) == 3:
            break
    values = [a, b, c]
    rng.shuffle(values)
    a, b, c = values
    parameters: dict[str, object] = {"level": level}
    if level == 1:
        equations = [f"{x}{y} = {a * b}", f"{y}{z} = {b * c}", f"{z}{x} = {c * a}"]
        asks = {
            f"{x}{y}{z}": Fraction(a * b * c),
            f"{x} + {y} + {z}": Fraction(a + b + c),
            x: Fraction(a),
            z: Fraction(c),
            f"{x}^2 + {y}^2 + {z}^2": Fraction(a * a + b * b + c * c),
        }
    elif level == 2:
        form = rng.randrange(2)
        if form == 0:
            equations = [
                f"{x}({y} + {z}) = {a * (b + c)}",
                f"{y}({z} + {x}) = {b * (c + a)}",
                f"{z}({x} + {y}) = {c * (a + b)}",
            ]
            asks = {
                f"{x}{y}{z}": Fraction(a * b * c),
                f"{x} + {y} + {z}": Fraction(a + b + c),
                y: Fraction(b),
            }
        else:
            equations = [
                f"{x}{y} + {x} + {y} = {a * b + a + b}",
                f"{y}{z} + {y} + {z} = {b * c + b + c}",
                f"{z}{x} + {z} + {x} = {c * a + c + a}",
            ]
            asks = {
                f"{x}{y}{z}": Fraction(a * b * c),
                f"{x} + {y} + {z}": Fraction(a + b + c),
                x: Fraction(a),
            }
    else:
        n = a * b * c
        rates = [Fraction(n, a), Fraction(n, b), Fraction(n, c)]  # 1/x proportional to a, b, c
        scale = Fraction(rng.randint(1, 3))
        x0, y0, z0 = (rate * scale for rate in rates)
        equations = [
            (
                rf"\frac{{{one}{two}}}{{{one} + {two}}} = "
                f"{fraction(first * second / (first + second))}"
            )
            for one, two, first, second in ((x, y, x0, y0), (y, z, y0, z0), (z, x, z0, x0))
        ]
        asks = {
            x: x0,
            y: y0,
            z: z0,
            f"{x} + {y} + {z}": x0 + y0 + z0,
            rf"\frac{{{x}}}{{{z}}}": x0 / z0,
        }
    ask = rng.choice(list(asks))
    system = _system(rng, equations)
    question = WORDINGS.draw(rng, "products", x=x, y=y, z=z, system=system, ask=ask)
    parameters |= {
        "equations": sorted(equations),
        "ask": ask,
        "at_most": int(max(2000, a * b * c * 3)),
    }
    return Problem(tidy(question), fraction(asks[ask]), parameters)


def _power_sums(rng: Random, level: int) -> Problem:
    x, y, z = tuple(rng.choice(TRIPLES))
    while True:
        e1, e2, e3 = signed(rng, 1, 6), signed(rng, 1, 8), signed(rng, 1, 8)
        p2 = e1 * e1 - 2 * e2
        p3 = e1 * p2 - e2 * e1 + 3 * e3
        p4 = e1 * p3 - e2 * p2 + e3 * e1
        if p2 and p3:
            break
    total, pairs, product = (
        f"{x} + {y} + {z} = {e1}",
        f"{x}{y} + {y}{z} + {z}{x} = {e2}",
        f"{x}{y}{z} = {e3}",
    )
    squares, cubes = f"{x}^2 + {y}^2 + {z}^2 = {p2}", f"{x}^3 + {y}^3 + {z}^3 = {p3}"
    if level == 1:
        facts = rng.choice(([total, pairs], [total, squares]))
        asks = (
            {f"{x}^2 + {y}^2 + {z}^2": p2}
            if facts[1] == pairs
            else {f"{x}{y} + {y}{z} + {z}{x}": e2}
        )
        asks |= {f"({x} - {y})^2 + ({y} - {z})^2 + ({z} - {x})^2": 2 * p2 - 2 * e2}
    elif level == 2:
        facts = [total, rng.choice((pairs, squares)), product]
        asks = {
            f"{x}^3 + {y}^3 + {z}^3": p3,
            f"({x} + {y})({y} + {z})({z} + {x})": e1 * e2 - e3,
            f"(1 + {x})(1 + {y})(1 + {z})": 1 + e1 + e2 + e3,
            f"{x}^2{y}^2 + {y}^2{z}^2 + {z}^2{x}^2": e2 * e2 - 2 * e1 * e3,
        }
    else:
        facts = [total, squares, cubes]
        asks = {
            f"{x}^4 + {y}^4 + {z}^4": p4,
            f"{x}{y}{z}": e3,
            f"({x} + {y})({y} + {z})({z} + {x})": e1 * e2 - e3,
            f"{x}^2{y}^2 + {y}^2{z}^2 + {z}^2{x}^2": e2 * e2 - 2 * e1 * e3,
        }
    ask = rng.choice(list(asks))
    system = _system(rng, facts)
    question = WORDINGS.draw(rng, "power sums", system=system, ask=ask, x=x, y=y, z=z)
    return Problem(tidy(question), str(asks[ask]), {"given": sorted(facts), "ask": ask})


def _conjugate_pair(rng: Random, level: int) -> Problem:
    x = rng.choice("xtzaw")
    c = rng.choice((2, 3, 4, 5)) if level == 3 else rng.randint(1, 2) if level == 2 else 1
    s = signed(rng, 3, 14)
    first = f"{x} + \\frac{{{c}}}{{{x}}} = {s}"
    powers = {1: s, 2: s * s - 2 * c}
    for n in range(3, 8):
        powers[n] = s * powers[n - 1] - c * powers[n - 2]
    n = {1: 2, 2: rng.choice((3, 4)), 3: rng.choice((3, 4, 5, 6) if abs(s) < 8 else (3, 4))}[level]
    top = c**n
    ask = f"{x}^{n} + \\frac{{{top}}}{{{x}^{n}}}"
    value = str(powers[n])
    form = rng.randrange(3)
    if level == 1 and form == 1:
        ask, value = f"({x} - \\frac{{1}}{{{x}}})^2", str(s * s - 4)
    elif level == 2 and form == 2:
        first = f"{polynomial((1, -s, c), x)} = 0"
    elif level == 3 and form:
        # x - c/x is given, an even power is asked
        s = signed(rng, 2, 7)
        first, square = f"{x} - \\frac{{{c}}}{{{x}}} = {s}", s * s + 2 * c
        if form == 1:
            ask, value = f"{x}^4 + \\frac{{{c**4}}}{{{x}^4}}", str(square * square - 2 * c * c)
        else:
            ask, value = f"{x}^3 - \\frac{{{c**3}}}{{{x}^3}}", str(s**3 + 3 * c * s)
    size = s * s - 4
    if level == 2 and c == 1 and form == 0 and s > 2:
        ask, value = f"{x} - \\frac{{1}}{{{x}}}", root(size)
        first = f"{x} > 1$ and ${x} + \\frac{{1}}{{{x}}} = {s}"
    question = WORDINGS.draw(rng, "conjugate pair", first=first, ask=ask, x=x)
    return Problem(tidy(question), value, {"given": first, "ask": ask})


FAMILIES = (
    math_family(
        "algebra_linear_system", _linear, "Linear systems, with a parameter at the top level"
    ),
    math_family("algebra_symmetric_system", _symmetric, "Symmetric values from sum and product"),
    math_family("algebra_product_system", _products, "Three positive unknowns tied two by two"),
    math_family("algebra_power_sums", _power_sums, "Newton's identities for three numbers"),
    math_family("algebra_reciprocal_sum", _conjugate_pair, "Powers of x + c/x"),
)
