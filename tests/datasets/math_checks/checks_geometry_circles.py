from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped,unused-ignore]
import sympy as sp  # type: ignore[import-untyped,unused-ignore]
from measuring import angle, by_kind, cross, one, rational, ray, surd

EPS = mp.mpf(10) ** -30
X = sp.symbols("x", real=True)


def exact(value: Any) -> str:
    return str(sp.latex(sp.simplify(value)))


def central(how: str, arc: int) -> Fraction:
    if how == "inscribed":
        a, c, b = ray(0), ray(arc), ray(arc + 100)
        return rational(angle(a, b, c))
    if how == "central":
        # the inscribed angle of every candidate arc, measured from the far side
        return Fraction(
            one(
                t
                for t in range(1, 180)
                if abs(angle(ray(0), ray(t + (360 - t) / mp.mpf(2)), ray(t)) - arc) < EPS
            )
        )
    a, b = mp.mpc(-1), mp.mpc(1)
    c = a + ray(arc) * 2 * mp.cos(mp.radians(arc))
    assert abs(abs(c) - 1) < EPS
    angles = [angle(b, a, c), angle(a, b, c), angle(a, c, b)]
    return rational(min(angles) if how == "smallest" else angles[1])


def cyclic(how: str, values: Any) -> object:
    if how == "opposite":
        m, n, rest = values
        return Fraction(
            one(
                n * x + rest
                for x in range(1, 180)
                if m * x + n * x + rest == 180 and n * x + rest > 0
            )
        )
    if how == "ratio":
        p, q, r = values
        part = Fraction(180, p + r)
        # the arcs: a and c together, b and d together, each see the whole circle twice
        angles = [p * part, q * part, r * part]
        assert all(v < 180 for v in angles)
        return 360 - sum(angles)
    marks = [0, values[0], values[0] + values[1], sum(values)]
    a, b, c, _ = (ray(t) for t in marks)
    assert marks[-1] < 360
    return rational(angle(a, b, c))


def chords(how: str, x: int, y: int) -> Fraction:
    def seen(near: Any, far: Any) -> Any:
        """Return the angle outside of the circle between secants over the arcs near and far."""
        a, d = ray(mp.mpf(near) / 2), ray(-mp.mpf(near) / 2)
        b, c = ray(180 - mp.mpf(far) / 2), ray(180 + mp.mpf(far) / 2)
        m = cross(a, b - a, d, c - d)
        assert abs(m) > 1
        return angle(b, m, c)

    if how == "inside":
        a, b, c, d = ray(0), ray(x), ray(x + 37), ray(x + 37 + y)
        if x + 37 + y >= 360:
            c, d = ray(x + 5), ray(x + 5 + y)
        return rational(angle(a, cross(a, c - a, b, d - b), b))
    if how == "outside":
        return rational(seen(x, y))
    if how == "back":
        return Fraction(one(n for n in range(1, y) if abs(seen(n, y) - x) < EPS))
    # two tangents: the touching points at +-t with the angle x between the tangents
    t = 90 - mp.mpf(x) / 2
    a, b = ray(t), ray(-t)
    m = cross(a, a * mp.mpc(0, 1), b, b * mp.mpc(0, 1))
    assert abs(angle(a, m, b) - x) < EPS
    return rational(angle(a, mp.mpc(-1), b))


def radius(how: str, p: int, q: int) -> int:
    return one(
        v * (2 if how == "chord" else 1)
        for v in range(1, 400)
        if (
            v * v + p * p == q * q
            if how in ("tangent", "chord")
            else 4 * v * v + p * p == 4 * q * q
        )
    )


def crossing(how: str, values: Any, longer: bool = False) -> int:
    p, q, r = values
    if how == "quadratic":
        both = [s for s in range(1, r) if s * (r - s) == p * q]
        assert len(both) == 2
        return max(both) if longer else min(both)
    # a circle through three ends of the crossing chords; the second end of the last chord
    a, b, c = mp.mpc(-p), mp.mpc(q), r * ray(70)
    o = cross((a + b) / 2, mp.mpc(0, 1), (a + c) / 2, (c - a) * mp.mpc(0, 1))
    u = -ray(70)
    foot = mp.re((o - c) * mp.conj(u))
    far = 2 * foot - r
    assert abs(abs(far * u - o) - abs(a - o)) < EPS
    return int(rational(far)) + (r if how == "whole" else 0)


def secants(how: str, values: Any) -> int:
    if how == "two":
        x, y, z = values
        a, b, c = mp.mpc(x), mp.mpc(x + y), z * ray(25)
        o = cross((a + b) / 2, mp.mpc(0, 1), (a + c) / 2, (c - a) * mp.mpc(0, 1))
        far = 2 * mp.re(o * mp.conj(ray(25))) - z
        assert far > z
        return int(rational(far - z))
    if how == "tangent":
        t, x = values
        return one(y for y in range(1, 2000) if x * (x + y) == t * t)
    if how == "radius":
        r, x, y = values
        o = mp.mpc(x + mp.mpf(y) / 2, mp.sqrt(r * r - mp.mpf(y * y) / 4))
        return int(rational(abs(o)))
    t, y = values
    return one(x for x in range(1, 2000) if x * (x + y) == t * t)


def arc(how: str, angle: int, r: int) -> str:
    turn = sp.Rational(angle, 180) * sp.pi
    if how == "length":
        return exact(sp.integrate(r, (X, 0, turn)))
    if how == "area":
        return exact(sp.integrate(sp.Rational(r * r, 2), (X, 0, turn)))
    return exact(sp.integrate(r, (X, 0, turn)) + 2 * r)


def arc_back(how: str, values: Any) -> int:
    if how == "radius":
        degrees, top, low = values
        return one(r for r in range(1, 100) if Fraction(r * r * degrees, 360) == Fraction(top, low))
    if how == "angle":
        r, top, low = values
        return one(t for t in range(1, 360) if Fraction(2 * r * t, 360) == Fraction(top, low))
    length, size = Fraction(*values[:2]), Fraction(*values[2:])
    return one(
        r
        for r in range(1, 100)
        for t in range(1, 361)
        if (Fraction(2 * r * t, 360), Fraction(r * r * t, 360)) == (length, size)
    )


def combined(value: Any) -> str:
    """Return the number as a pi + b sqrt(3) + c with small fractions, found from its 50 digits."""
    found = mp.pslq([value, mp.pi, mp.sqrt(3), mp.mpf(1)], maxcoeff=10**6, maxsteps=10**5)
    assert found and found[0]
    a, b, c = (Fraction(-k, found[0]) for k in found[1:])
    return f"{a}*\\pi + {b}*\\sqrt{{3}} + {c}".replace("+ -", "- ")


def segment(how: str, r: int) -> str:
    """Return the area of circular segments or a lens, integrated over a unit circle."""

    def circle(x: Any) -> Any:
        return mp.sqrt(1 - x * x)

    if how == "lens":  # under the arc around one corner, above the arc around the other
        return combined(r * r * mp.quad(lambda x: circle(x) + circle(x - 1) - 1, [0, 1]))
    near = {"quarter": mp.sqrt(2) / 2, "sixth": mp.sqrt(3) / 2, "third": mp.mpf(1) / 2}[how]
    cap = 2 * mp.quad(circle, [near, 1]) * r * r
    return combined(cap * (3 if how == "third" else 1))


def between(how: str, values: Any, ring: bool) -> str:
    if how == "annulus":
        p, q = values
        q = p + q if ring else q
        return exact(sp.integrate(2 * sp.pi * X, (X, p, q)))
    (v,) = values
    if how == "square":
        return exact(v * v - sp.integrate(2 * sp.pi * X, (X, 0, sp.Rational(v, 2))))
    if how == "inside":  # the square as four right triangles between two radii
        return exact(sp.integrate(2 * sp.pi * X, (X, 0, v)) - 4 * sp.Rational(v * v, 2))
    # any inner radius gives the same ring
    rings = {sp.expand(sp.pi * ((n * n + sp.Rational(v * v, 4)) - n * n)) for n in (1, 2, 7)}
    return exact(one(rings))


def tangent(how: str, values: Any) -> str:
    if how == "touching":
        p, q = values
        return surd(mp.sqrt((p + q) ** 2 - (p - q) ** 2))
    p, q, c = values
    # the touching points of the line with unit normal n: n.O1 = r1, n.O2 = +-r2 on the line
    sign = 1 if how == "apart" else -1
    first, second = mp.mpc(0), mp.mpc(c)
    cosine = mp.mpf(sign * q - p) / c
    n = mp.mpc(cosine, mp.sqrt(1 - cosine**2))
    one_end, other = first - p * n, second - sign * q * n
    assert abs(mp.re((other - one_end) * mp.conj(n))) < EPS
    return surd(abs(other - one_end))


def nested(how: str, values: Any) -> str:
    r = values[0]
    if how == "semicircle":
        s = sp.symbols("s", positive=True)
        side = one(sp.solve((s / 2) ** 2 + s**2 - r * r, s))
        return exact(side**2)
    if how == "quarter":  # the center (s, s), s + |(s, s)| = r
        s = sp.symbols("s", positive=True)
        return exact(one(sp.solve(s + s * sp.sqrt(2) - r, s)))
    if how == "three":
        # under the two upper arcs' hollow: the triangle of centers less three sectors, integrated
        triangle = 2 * sp.integrate(sp.sqrt(3) * X, (X, 0, r))
        sector = sp.integrate(sp.Rational(r * r, 2), (X, 0, sp.pi / 3))
        return exact(triangle - 3 * sector)
    p, q = (mp.mpf(v) / 2 for v in values)
    whole = p + q

    def half(size: Any) -> Any:
        return mp.quad(lambda x: mp.sqrt(1 - x * x), [-1, 0, 1]) * size**2

    return combined(half(whole) - half(p) - half(q))


CHECKS = {
    "geometry_circle_angles": by_kind(central=central, cyclic=cyclic, chords=chords),
    "geometry_chords_and_secants": by_kind(radius=radius, crossing=crossing, secants=secants),
    "geometry_sectors": by_kind(arc=arc, arc_back=arc_back, segment=segment),
    "geometry_circles_in_figures": by_kind(between=between, tangent=tangent, nested=nested),
}
