"""Problems on complex numbers and two-by-two matrices."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _complex(a: int | Fraction, b: int | Fraction) -> str:
    return terms([(a, ""), (b, "i")])


def _arithmetic(rng: Random, level: int) -> Problem:
    z = rng.choice("zw")
    if level == 1:
        a, b, c, d = signed(rng, 1, 9), signed(rng, 1, 9), signed(rng, 1, 6), signed(rng, 1, 6)
        first, second = _complex(a, b), _complex(c, d)
        size = c * c + d * d
        re, im = Fraction(a * c + b * d, size), Fraction(b * c - a * d, size)
        shown = f"\\frac{{{first}}}{{{second}}}"
        if rng.random() < 0.5:
            shown, re, im = f"({first})({second})", Fraction(a * c - b * d), Fraction(a * d + b * c)
        asks = {
            "real part": re,
            "imaginary part (a real number)": im,
            "sum of the real part and the imaginary part": re + im,
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "arithmetic, level 1", shown=shown, ask=ask, z=z)
        return Problem(tidy(question), fraction(asks[ask]), {"shown": shown, "ask": ask})
    x, y = signed(rng, 1, 8), signed(rng, 1, 8)
    if level == 2:
        # p z + q conj(z) = r with real p, q
        p, q = rng.randint(2, 6), signed(rng, 1, 5)
        if abs(q) == p:
            return _arithmetic(rng, level)
        right = _complex((p + q) * x, (p - q) * y)
        left = terms([(p, z), (q, f"\\overline{{{z}}}")])
        if rng.random() < 0.4:
            c, d = signed(rng, 1, 4), signed(rng, 1, 4)
            left = f"({_complex(c, d)}){z}"
            right = _complex(c * x - d * y, c * y + d * x)
        answer, want = pick(
            rng,
            (_complex(x, y), f"${z}$"),
            (root(x * x + y * y), f"$|{z}|$"),
            (str(x * y), f"the product of the real and the imaginary part of ${z}$"),
        )
        question = WORDINGS.draw(rng, "arithmetic, level 2", z=z, left=left, right=right, want=want)
        if "bar" in question and "overline" not in left:
            question = question.replace(" (a bar denotes the conjugate, $i^2 = -1$)", "")
        return Problem(question, answer, {"left": left, "right": right, "z": z, "want": want})
    form = rng.choice(("modulus sum", "square", "far"))
    a, b, c = rng.choice((
        (3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (8, 15, 17), (15, 8, 17), (7, 24, 25),
        (20, 21, 29)
    ))  # fmt: skip
    s, t = rng.choice((1, -1)), rng.choice((1, -1))
    if form == "modulus sum":
        # z + |z| = (s a + c) + t b i
        right = _complex(s * a + c, t * b)
        answer, want = pick(
            rng,
            (_complex(s * a, t * b), f"${z}$"),
            (str(c * c), f"$|{z}|^2$"),
            (str(s * a), f"the real part of ${z}$"),
        )
        question = WORDINGS.draw(rng, "arithmetic, modulus sum", z=z, right=right, want=want)
        return Problem(question, answer, {"form": form, "right": right, "z": z, "want": want})
    if form == "square":
        m, n = rng.randint(1, 7), signed(rng, 1, 7)
        right = _complex(m * m - n * n, 2 * m * n)
        answer, want = pick(
            rng,
            (_complex(m, n), f"the solution ${z}$ with positive real part"),
            (str(m * m + n * n), f"$|{z}|^2$"),
            (
                str(m + abs(n)),
                f"the sum of the absolute values of the real and the imaginary part of ${z}$",
            ),
        )
        question = WORDINGS.draw(rng, "arithmetic, square", z=z, right=right, want=want)
        return Problem(question, answer, {"form": form, "right": right, "z": z, "want": want})
    r = rng.randint(1, 9)
    x, y = s * a, t * b
    far = rng.random() < 0.6
    if not far and r > c:
        return _arithmetic(rng, level)
    centre = terms([(1, z), (-x, ""), (-y, "i")])
    value = c + r if far else c - r
    if value == 0:
        return _arithmetic(rng, level)
    question = WORDINGS.draw(
        rng,
        "arithmetic",
        centre=centre,
        r=r,
        greatest_or_least="greatest" if far else "least",
        z=z,
        large_or_small="large" if far else "small",
        maximum_or_minimum="maximum" if far else "minimum",
    )
    return Problem(question, str(value), {"form": form, "centre": [x, y], "r": r, "far": far})


def _powers(rng: Random, level: int) -> Problem:
    if level == 1:
        n = rng.randint(30, 2100)
        k, m = rng.randint(1, 9), signed(rng, 1, 9)
        q = rng.randint(30, 999)
        # k i^n + m i^q
        units = ((1, 0), (0, 1), (-1, 0), (0, -1))
        re = k * units[n % 4][0] + m * units[q % 4][0]
        im = k * units[n % 4][1] + m * units[q % 4][1]
        if re == 0 and im == 0:
            return _powers(rng, level)
        shown = terms([(k, f"i^{{{n}}}"), (m, f"i^{{{q}}}")])
        question = WORDINGS.draw(rng, "powers, level 1", shown=shown)
        return Problem(
            tidy(question),
            _complex(re, im),
            {"exponents": [n, q], "factors": [k, m], "shown": shown},
        )
    if level == 2:
        n = rng.randint(4, 16)
        base, size, turn = pick(
            rng,
            ("1 + i", 2, Fraction(1, 8)),
            ("1 - i", 2, Fraction(-1, 8)),
            ("-1 + i", 2, Fraction(3, 8)),
            ("\\sqrt{3} + i", 4, Fraction(1, 12)),
            ("1 + \\sqrt{3}i", 4, Fraction(1, 6)),
            ("1 - \\sqrt{3}i", 4, Fraction(-1, 6)),
            ("\\sqrt{3} - i", 4, Fraction(-1, 12)),
        )
        k = rng.choice((1, 1, 2, 3))
        angle = (turn * n) % 1
        where = {
            Fraction(0): (1, 0),
            Fraction(1, 4): (0, 1),
            Fraction(1, 2): (-1, 0),
            Fraction(3, 4): (0, -1),
        }
        if angle not in where or size**n % 1 or (size == 2 and n % 2):
            return _powers(rng, level)
        length = k * (2 ** (n // 2) if size == 2 else 2**n)
        re, im = (length * part for part in where[angle])
        shown = f"({base})^{{{n}}}" if k == 1 else f"{k}({base})^{{{n}}}"
        question = WORDINGS.draw(rng, "powers, level 2", shown=shown)
        return Problem(question, _complex(re, im), {"base": base, "n": n, "k": k})
    form = rng.choice(("sum", "unity product", "unity reciprocal", "cube root"))
    if form == "sum":
        # i + 2 i^2 + ... + n i^n
        n = rng.randint(10, 200)
        re = sum(k * (0, 0, -1, 0, 1)[k % 4 or 4] for k in range(1, n + 1))
        im = sum(k * (0, 1, 0, -1, 0)[k % 4 or 4] for k in range(1, n + 1))
        question = WORDINGS.draw(rng, "powers, sum", n=n)
        return Problem(question, _complex(re, im), {"form": form, "n": n})
    n, m = rng.randint(5, 11), rng.choice((2, 3, -1, -2))
    w = f"\\cos \\frac{{2\\pi}}{{{n}}} + i\\sin \\frac{{2\\pi}}{{{n}}}"
    if form == "unity product":
        # product over k = 1..n-1 of (m - w^k) = (m^n - 1)/(m - 1)
        value = Fraction(m**n - 1, m - 1)
        if value == 0:
            return _powers(rng, level)
        factor = f"{m} - \\omega" if m > 0 else f"{-m} + \\omega"
        if m < 0 and n % 2 == 0:
            value = -value  # n - 1 factors with the sign changed
        question = WORDINGS.draw(
            rng,
            "powers, unity product",
            w=w,
            factor=factor,
            n_minus_one=n - 1,
            n=n,
            factor_of_z=factor.replace(chr(92) + "omega", "z"),
        )
        return Problem(question, fraction(value), {"form": form, "n": n, "m": m})
    if form == "unity reciprocal":
        # sum over k = 1..n-1 of 1/(m - w^k) = n m^(n-1)/(m^n - 1) - 1/(m - 1);  m = 1: (n - 1)/2
        m = rng.choice((1, 2, 3))
        n = rng.randint(4, 12) if m == 1 else rng.randint(3, 6)
        value = (
            Fraction(n - 1, 2)
            if m == 1
            else Fraction(n * m ** (n - 1), m**n - 1) - Fraction(1, m - 1)
        )
        question = WORDINGS.draw(rng, "powers, unity reciprocal", m=m, n=n, n_minus_one=n - 1)
        return Problem(question, fraction(value), {"form": form, "n": n, "m": m})
    a, b, c = signed(rng, 1, 6), signed(rng, 1, 6), signed(rng, 1, 6)
    if a == b == c:
        return _powers(rng, level)
    value = a * a + b * b + c * c - a * b - b * c - c * a
    one = terms([(a, ""), (b, "\\omega"), (c, "\\omega^2")])
    two = terms([(a, ""), (b, "\\omega^2"), (c, "\\omega")])
    question = WORDINGS.draw(rng, "powers", one=one, two=two)
    return Problem(question, str(value), {"form": form, "abc": [a, b, c], "one": one})


def _matrix(rows: list[list[int]] | tuple[tuple[str, ...], ...]) -> str:
    return WORDINGS.one("matrix", rows=" \\\\ ".join(" & ".join(map(str, row)) for row in rows))


def _matrices(rng: Random, level: int) -> Problem:
    A = rng.choice("ABM")
    a, b, c, d = (rng.randint(-6, 6) for _ in range(4))
    det, trace = a * d - b * c, a + d
    if level == 1:
        if not det or 0 in (a, b, c, d):
            return _matrices(rng, level)
        shown = _matrix([[a, b], [c, d]])
        squares = [a * a + b * c, b * trace, c * trace, d * d + b * c]
        asks = {
            f"the sum of the four entries of ${A}^2$": Fraction(sum(squares)),
            f"the determinant of ${A}^3$": Fraction(det**3),
            f"the sum of the four entries of ${A}^{{-1}}$": Fraction(a + d - b - c, det),
            f"the entry in the upper right corner of ${A}^{{-1}}$": Fraction(-b, det),
            f"the trace (the sum of the diagonal entries) of ${A}^2$": Fraction(
                squares[0] + squares[3]
            ),
        }
        ask = rng.choice(list(asks))
        question = WORDINGS.draw(rng, "matrices 2", A=A, shown=shown, ask=ask)
        return Problem(
            question, fraction(asks[ask]), {"rows": [[a, b], [c, d]], "ask": ask.replace(A, "A")}
        )
    if level == 2:
        form = rng.choice(("singular", "cayley", "product"))
        k = rng.choice("kxt")
        if form == "singular":
            # rows (k + a, b), (c, k + d): k^2 + trace k + det = 0
            r, s = rng.sample(range(-7, 8), 2)
            a = rng.randint(-6, 6)
            d = -r - s - a
            remainder = a * d - r * s
            if not remainder:
                return _matrices(rng, level)
            b = rng.choice(
                [n for n in range(-abs(remainder), abs(remainder) + 1) if n and remainder % n == 0]
            )
            shown = _matrix(
                (
                    (terms([(1, k), (a, "")]), str(b)),
                    (str(remainder // b), terms([(1, k), (d, "")])),
                )
            )
            low, high = sorted((r, s))
            answer, want = pick(
                rng,
                (f"\\{{{low}, {high}\\}}", f"the set of all such ${k}$"),
                (str(high), f"the largest such ${k}$"),
                (str(low * high), f"the product of all such ${k}$"),
            )
            question = pick(
                rng,
                f"For some real numbers ${k}$ the matrix ${shown}$ has no inverse. Find {want}.",
                WORDINGS.one("matrices 3", shown=shown, k=k, want=want),
                (
                    f"A real number ${k}$ is called bad if the matrix ${shown}$ is not invertible. "
                    f"There are two bad numbers; what is {want}?"
                ).replace("such", "bad"),
            )
            return Problem(
                question,
                answer,
                {"form": form, "k": k, "entries": [a, b, remainder // b, d], "want": want},
            )
        if not det or not trace:
            return _matrices(rng, level)
        shown = _matrix([[a, b], [c, d]])
        if form == "cayley":
            if b == 0 and c == 0:
                return _matrices(rng, level)
            cube = trace * trace - det
            power, answer = pick(rng, (2, f"({trace}, {-det})"), (3, f"({cube}, {-det * trace})"))
            question = WORDINGS.draw(
                rng, "matrices, level 2, cayley", A=A, shown=shown, power=power
            )
            return Problem(
                question, answer, {"form": form, "rows": [[a, b], [c, d]], "power": power}
            )
        x, y = signed(rng, 1, 7), signed(rng, 1, 7)
        right = f"\\begin{{pmatrix}} {a * x + b * y} \\\\ {c * x + d * y} \\end{{pmatrix}}"
        want, value = pick(
            rng,
            ("x + y", str(x + y)),
            ("xy", str(x * y)),
            ("(x, y)", f"({x}, {y})"),
            ("x - y", str(x - y)),
        )
        question = WORDINGS.draw(rng, "matrices, level 2", shown=shown, right=right, want=want)
        return Problem(
            question,
            value,
            {
                "form": form,
                "rows": [[a, b], [c, d]],
                "right": [a * x + b * y, c * x + d * y],
                "want": want,
            },
        )
    form = rng.choice(("shear", "rotation", "triangular", "trace power"))
    n = rng.choice((10, 12, 15, 20, 25, 50, 100))
    if form == "shear":
        k, s = signed(rng, 1, 6), rng.choice((1, 1, -1))
        rows = [[s, k], [0, s]] if rng.random() < 0.5 else [[s, 0], [k, s]]
        corner = n * k * s ** (n - 1)
        value, ask = 2 * s**n + corner, "the sum of the four entries"
    elif form == "rotation":
        # (p I + q J)^n with J^2 = -I: entries from (p + q i)^n, small n
        p, q = rng.choice(((1, 1), (1, -1), (2, 1), (1, 2))), 0
        n = rng.choice((6, 8, 10, 12)) if p[0] * p[0] == p[1] * p[1] else rng.choice((4, 5, 6))
        p, q = p
        rows = [[p, -q], [q, p]]
        re, im = 1, 0
        for _ in range(n):
            re, im = re * p - im * q, re * q + im * p
        value, ask = 2 * re, "the trace (the sum of the two diagonal entries)"
        if value == 0:
            value, ask = im, "the entry in the lower left corner"
    elif form == "triangular":
        u, v, k = (
            *rng.choice(((1, 2), (2, 1), (1, 3), (2, 3), (1, -1), (-1, 2), (3, 2))),
            signed(rng, 1, 5),
        )
        n = rng.randint(5, 8)
        rows = [[u, k], [0, v]]
        value, ask = k * (u**n - v**n) // (u - v), "the entry in the upper right corner"
        if value == 0:
            return _matrices(rng, level)
    else:
        a, b, c = signed(rng, 1, 4), signed(rng, 1, 4), signed(rng, 1, 4)
        d = rng.choice((1, 2, 3)) - a
        if not d:
            return _matrices(rng, level)
        trace, det, n = a + d, a * d - b * c, rng.randint(4, 6)
        sums = [2, trace]
        while len(sums) <= n:
            sums.append(trace * sums[-1] - det * sums[-2])
        question = WORDINGS.draw(
            rng,
            "matrices",
            A=A,
            trace=trace,
            det=det,
            n=n,
            fifth_or_sixth="fourth" if n == 4 else "fifth" if n == 5 else "sixth",
            cayley_sum=terms([(trace, A), (-det, "I")]),
        )
        return Problem(question, str(sums[n]), {"form": form, "trace": trace, "det": det, "n": n})
    shown = _matrix(rows)
    question = WORDINGS.draw(rng, "matrices, 2", A=A, shown=shown, ask=ask, n=n)
    return Problem(question, str(value), {"form": form, "rows": rows, "n": n, "ask": ask})


FAMILIES = (
    math_family(
        "algebra_complex_arithmetic", _arithmetic, "Parts, moduli and equations of complex numbers"
    ),
    math_family("algebra_complex_powers", _powers, "Powers of complex numbers, roots of unity"),
    math_family("algebra_matrices", _matrices, "Two-by-two matrices: inverses, powers, traces"),
)
