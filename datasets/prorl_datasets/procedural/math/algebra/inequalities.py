"""Problems on equations and inequalities with absolute values, fractions and products."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

SIGNS = {"<": "<", "<=": "\\le", ">": ">", ">=": "\\ge"}
INFINITY = "\\infty"


def _number_set(values: list[Fraction]) -> str:
    return "\\{" + ", ".join(fraction(v) for v in sorted(set(values))) + "\\}"


def _absolute(a: int, b: int, x: str = "x") -> str:
    return f"|{terms([(a, x), (b, '')])}|"


def _absolute_equation(rng: Random, level: int) -> Problem:
    while True:
        x = rng.choice("xxtz")
        if level == 1:
            a, b, c, d = (
                rng.choice((1, 2, 3, 4)),
                signed(rng, 1, 12),
                rng.randint(2, 20),
                rng.randint(-8, 8),
            )
            left = (
                _absolute(a, b, x)
                if not d
                else f"{_absolute(a, b, x)} {'+' if d > 0 else '-'} {abs(d)}"
            )
            right = str(c + d)
            pieces = [(1, a, b)]
            line = (0, c)
        elif level == 2:
            a, b, m, n = (
                rng.choice((1, 2, 3)),
                signed(rng, 1, 9),
                rng.choice((1, 1, 2, -1)),
                signed(rng, 1, 9),
            )
            left, right = _absolute(a, b, x), terms([(m, x), (n, "")])
            pieces, line = [(1, a, b)], (m, n)
            if rng.random() < 0.4:
                e, f = rng.choice((1, 2)), signed(rng, 1, 9)
                right, pieces, line = _absolute(e, f, x), [(1, a, b), (-1, e, f)], (0, 0)
        else:
            p, q = rng.sample(range(-7, 8), 2)
            w = rng.choice((1, 1, 2, 3))
            m, n = rng.choice((0, 0, 1, 2)), rng.randint(3, 24)
            left = f"{_absolute(1, -p, x)} + {'' if w == 1 else w}{_absolute(1, -q, x)}"
            right = terms([(m, x), (n, "")])
            pieces, line = [(1, 1, -p), (w, 1, -q)], (m, n)
        bounds_at: list[Fraction] = []
        for mask in range(2 ** len(pieces)):
            slope, constant = -line[0], -line[1]
            for i, (weight, a_, b_) in enumerate(pieces):
                sign = 1 if mask >> i & 1 else -1
                slope, constant = slope + weight * sign * a_, constant + weight * sign * b_
            if slope:
                value = Fraction(-constant, slope)
                if (
                    sum(weight * abs(a_ * value + b_) for weight, a_, b_ in pieces)
                    == line[0] * value + line[1]
                ):
                    bounds_at.append(value)
        values = sorted(set(bounds_at))
        flat = level > 1 and _has_flat_part(pieces, line)
        if (
            values
            and not flat
            and all(v.denominator <= 6 and abs(v) < 60 for v in values)
            and (level == 1 or len(values) < 4)
        ):
            break
    asks = {"set": _number_set(values)}
    if len(values) > 1:
        asks |= {
            "sum": fraction(sum(values)),
            "product": fraction(values[0] * values[-1]) if len(values) == 2 else "",
            "least": fraction(values[0]),
        }
    asks = {key: value for key, value in asks.items() if value}
    ask = rng.choice(list(asks))
    equation = f"{left} = {right}"
    question = WORDINGS.draw(
        rng,
        f"absolute equation, {ask}",
        equation=equation,
        x=x,
        two_or_several="two" if len(values) == 2 else "several",
    )
    return Problem(question, asks[ask], {"left": left, "right": right, "ask": ask})


def _has_flat_part(pieces: list[tuple[int, int, int]], line: tuple[int, int]) -> bool:
    for mask in range(2 ** len(pieces)):
        slope, constant = -line[0], -line[1]
        for i, (weight, a, b) in enumerate(pieces):
            sign = 1 if mask >> i & 1 else -1
            slope, constant = slope + weight * sign * a, constant + weight * sign * b
        if slope == 0 and constant == 0:
            return True
    return False


def _between(low: Fraction, high: Fraction, closed: bool) -> int:
    if closed:
        return floor(high) - ceil(low) + 1
    return ceil(high) - floor(low) - 1


def _ask_region(
    rng: Random, shown: str, x: str, interval: str, count: int | None, total: int | None
) -> tuple[str, str, str]:
    """Return (question on the solution set, answer, quantity asked for)."""
    asks = ["interval"]
    if count is not None and count > 2:
        asks += ["count", "count"] + (["sum"] if total else [])
    ask = rng.choice(asks)
    question = WORDINGS.draw(rng, f"ask region, {ask}", shown=shown, x=x)
    return question, {"interval": interval, "count": str(count), "sum": str(total)}[ask], ask


def _absolute_inequality(rng: Random, level: int) -> Problem:
    x = rng.choice("xxtn")
    sign = rng.choice(("<", "<=")) if rng.random() < 0.6 else rng.choice((">", ">="))
    closed = sign.endswith("=")
    if level == 1:
        a, b, c = rng.choice((1, 2, 3, 4, 5)), signed(rng, 1, 15), rng.randint(2, 30)
        low, high = Fraction(-c - b, a), Fraction(c - b, a)
        left, right = _absolute(a, b, x), str(c)
    elif level == 2:
        while True:
            a, b, m, n = (
                rng.choice((2, 3, 4)),
                signed(rng, 1, 9),
                rng.choice((1, -1)),
                signed(rng, 1, 15),
            )
            # |ax + b| against mx + n, a > |m|: the sides meet where ax + b = +-(mx + n)
            ends = sorted((Fraction(n - b, a - m), Fraction(-n - b, a + m)))
            if all(m * v + n > 0 for v in ends) and all(v.denominator < 6 for v in ends):
                break
        low, high = ends
        left, right = _absolute(a, b, x), terms([(m, x), (n, "")])
    else:
        while True:
            p, q = sorted(rng.sample(range(-8, 9), 2))
            c = rng.randint(q - p + 1, q - p + 16)
            w = rng.choice((1, 2))
            # |x - p| + w|x - q| = c outside and between
            ends = []
            for value in (
                Fraction(c + p + w * q, 1 + w),
                Fraction(p + w * q - c, 1 + w),
                Fraction(c + p - w * q, 1 - w) if w != 1 else None,
            ):
                if value is not None and abs(value - p) + w * abs(value - q) == c:
                    ends.append(value)
            if len(set(ends)) == 2:
                break
        low, high = min(ends), max(ends)
        left, right = f"{_absolute(1, -p, x)} + {'' if w == 1 else w}{_absolute(1, -q, x)}", str(c)
    if sign.startswith("<"):
        interval = (
            f"[{fraction(low)}, {fraction(high)}]"
            if closed
            else f"({fraction(low)}, {fraction(high)})"
        )
        count: int | None = _between(low, high, closed)
        first = ceil(low) if closed else floor(low) + 1
        total: int | None = sum(range(first, first + (count or 0)))
    else:
        one, two = ("]", "[") if closed else (")", "(")
        interval = f"(-{INFINITY}, {fraction(low)}{one} \\cup {two}{fraction(high)}, {INFINITY})"
        count = total = None
    shown = f"{left} {SIGNS[sign]} {right}"
    question, answer, ask = _ask_region(rng, shown, x, interval, count, total)
    return Problem(question, answer, {"left": left, "right": right, "sign": sign, "ask": ask})


def _compound(
    roots: dict[int, int], poles: list[int], sign: str
) -> list[tuple[Fraction | None, Fraction | None, bool, bool]]:
    """Solve (product of (x - r)^m) / (product of (x - p)) ``sign`` 0.

    Returns intervals (low, high, low is included, high is included); None is an infinite end.
    """
    marks = sorted({*roots, *poles})
    wanted = 1 if sign.startswith(">") else -1
    pieces: list[tuple[Fraction | None, Fraction | None, bool, bool]] = []
    for i in range(len(marks) + 1):
        low = Fraction(marks[i - 1]) if i else None
        high = Fraction(marks[i]) if i < len(marks) else None
        middle = (
            (low + high) / 2
            if low is not None and high is not None
            else (high - 1 if high is not None else (low or 0) + 1)
        )
        value = Fraction(1)
        for r, m in roots.items():
            value *= (middle - r) ** m
        for p in poles:
            value /= middle - p
        if (value > 0) == (wanted > 0):
            ends = [
                mark is not None and sign.endswith("=") and int(mark) in roots
                for mark in (low, high)
            ]
            if pieces and pieces[-1][1] == low and pieces[-1][3]:
                pieces[-1] = (pieces[-1][0], high, pieces[-1][2], ends[1])
            else:
                pieces.append((low, high, ends[0], ends[1]))
    return pieces


def _pieces_text(
    pieces: list[tuple[Fraction | None, Fraction | None, bool, bool]], alone: list[int]
) -> str:
    parts: list[tuple[Fraction, str]] = []
    for low, high, left, right in pieces:
        text = f"{'[' if left else '('}{'-' + INFINITY if low is None else fraction(low)}, "
        text += f"{INFINITY if high is None else fraction(high)}{']' if right else ')'}"
        parts.append((low if low is not None else Fraction(-(10**9)), text))
    parts += [(Fraction(value), f"\\{{{value}\\}}") for value in alone]
    return " \\cup ".join(text for _, text in sorted(parts))


def _rational_inequality(rng: Random, level: int) -> Problem:
    x = "x"
    sign = rng.choice(list(SIGNS))
    while True:
        numbers = rng.sample(range(-6, 8), 4)
        if level == 1:
            roots, poles = {numbers[0]: 1}, [numbers[1]]
            left = f"\\frac{{{polynomial((1, -numbers[0]))}}}{{{polynomial((1, -numbers[1]))}}}"
            right = "0"
        elif level == 2:
            shape = rng.choice(("square over line", "line over square", "moved"))
            if shape == "square over line":
                r, s, p = numbers[:3]
                roots, poles = {r: 1, s: 1}, [p]
                left, right = (
                    f"\\frac{{{polynomial((1, -r - s, r * s))}}}{{{polynomial((1, -p))}}}",
                    "0",
                )
            elif shape == "line over square":
                r, p, q = numbers[:3]
                roots, poles = {r: 1}, sorted((p, q))
                left, right = (
                    f"\\frac{{{polynomial((1, -r))}}}{{{polynomial((1, -p - q, p * q))}}}",
                    "0",
                )
            else:
                # (a x + b)/(x - p) against c, a - c = 1 so that the difference is (x - r)/(x - p)
                r, p = numbers[:2]
                c = rng.randint(1, 5)
                roots, poles = {r: 1}, [p]
                left, right = (
                    f"\\frac{{{polynomial((c + 1, -r - c * p))}}}{{{polynomial((1, -p))}}}",
                    str(c),
                )
        else:
            shape = rng.choice(("double", "sum", "two"))
            if shape == "double":
                r, s, p = numbers[:3]
                roots, poles = {r: 2, s: 1}, [p]
                top = f"({polynomial((1, -r))})^2({polynomial((1, -s))})" if r and s else ""
                if not top:
                    continue
                left, right = f"\\frac{{{top}}}{{{polynomial((1, -p))}}}", "0"
            elif shape == "two":
                r, s, p, q = numbers
                roots, poles = {r: 1, s: 1}, sorted((p, q))
                left = f"\\frac{{{polynomial((1, -r - s, r * s))}}}{{{polynomial((1, -p - q, p * q))}}}"
                right = "0"
            else:
                # x + c/(x - p) against k: x^2 - (p + k) x + c + kp = (x - r)(x - s)
                r, s, p = numbers[:3]
                k = r + s - p
                c = r * s - k * p
                if not c or not k:
                    continue
                roots, poles = {r: 1, s: 1}, [p]
                left = f"x {'+' if c > 0 else '-'} \\frac{{{abs(c)}}}{{{polynomial((1, -p))}}}"
                right = str(k)
        break
    pieces = _compound(roots, poles, sign)
    held = [
        r
        for r, m in roots.items()
        if sign.endswith("=")
        and not any(
            (low is None or low <= r)
            and (high is None or r <= high)
            and not ((low == r and not cl) or (high == r and not cr))
            for low, high, cl, cr in pieces
        )
    ]
    interval = _pieces_text(pieces, held)
    count = total = None
    if all(low is not None and high is not None for low, high, _, _ in pieces) and pieces:
        inside = {
            n
            for low, high, cl, cr in pieces
            for n in range(int(low or 0), int(high or 0) + 1)
            if (n > (low or 0) or cl) and (n < (high or 0) or cr)
        } | set(held)
        count, total = len(inside), sum(inside)
    shown = f"{left} {SIGNS[sign]} {right}"
    question, answer, ask = _ask_region(rng, shown, x, interval, count, total)
    return Problem(question, answer, {"left": left, "right": right, "sign": sign, "ask": ask})


def _polynomial_inequality(rng: Random, level: int) -> Problem:
    x = rng.choice("xxtn")
    sign = rng.choice(list(SIGNS))
    count = total = None
    if level == 1:
        r, s = sorted(rng.sample(range(-12, 13), 2))
        c = rng.choice((0, 0, signed(rng, 1, 20)))
        left, right = polynomial((1, -r - s, r * s + c), x), str(c)
        roots = {r: 1, s: 1}
        if rng.random() < 0.4:
            m = rng.choice([n for n in range(-9, 10) if n and n != r + s])
            left, right = (
                terms([(1, f"{x}^2"), (0 if r * s + c == 0 else r * s + c, "")]),
                terms([(r + s, x), (c, "")]),
            )
            if right == "0" or left == f"{x}^2" or m == 0:
                left, right = polynomial((1, -r - s, r * s + c), x), str(c)
    elif level == 2:
        r, s, t = sorted(rng.sample(range(-6, 7), 3))
        roots = {r: 1, s: 1, t: 1}
        e1, e2, e3 = r + s + t, r * s + s * t + t * r, r * s * t
        left, right = polynomial((1, -e1, e2, -e3), x), "0"
        if e1 and rng.random() < 0.5:
            left, right = terms([(1, f"{x}^3"), (e2, x)]), terms([(e1, f"{x}^2"), (e3, "")])
        if rng.random() < 0.3:
            r, s = sorted(rng.sample(range(1, 8), 2))
            roots = {r: 1, s: 1, -r: 1, -s: 1}
            left, right = polynomial((1, 0, -r * r - s * s, 0, r * r * s * s), x), "0"
    else:
        r, s = rng.sample(range(-9, 10), 2)
        t = rng.choice([n for n in range(-9, 10) if n not in (r, s)])
        roots = {r: rng.choice((2, 3)), s: 1, t: rng.choice((1, 2))}
        factors = []
        for value, times in roots.items():
            base = f"({polynomial((1, -value), x)})" if value else x
            factors.append(base if times == 1 else f"{base}^{times}")
        factors.sort(key=lambda text: (text[0] != x, rng.random()))
        left, right = "".join(factors), "0"
    pieces = _compound(roots, [], sign)
    held = [
        value
        for value in roots
        if sign.endswith("=")
        and not any(
            (low is None or low <= value) and (high is None or value <= high)
            for low, high, _, _ in pieces
        )
    ]
    interval = _pieces_text(pieces, held)
    if pieces and all(low is not None and high is not None for low, high, _, _ in pieces):
        inside = {
            n
            for low, high, cl, cr in pieces
            for n in range(int(low or 0), int(high or 0) + 1)
            if (n > (low or 0) or cl) and (n < (high or 0) or cr)
        } | set(held)
        count, total = len(inside), sum(inside)
    if not interval:
        return _polynomial_inequality(rng, level)
    shown = f"{left} {SIGNS[sign]} {right}"
    question, answer, ask = _ask_region(rng, shown, x, interval, count, total)
    return Problem(tidy(question), answer, {"left": left, "right": right, "sign": sign, "ask": ask})


FAMILIES = (
    math_family("algebra_absolute_equation", _absolute_equation, "Equations with absolute values"),
    math_family(
        "algebra_absolute_inequality", _absolute_inequality, "Inequalities with absolute values"
    ),
    math_family("algebra_rational_inequality", _rational_inequality, "Fractions against a number"),
    math_family("algebra_polynomial_inequality", _polynomial_inequality, "Products against zero"),
)
