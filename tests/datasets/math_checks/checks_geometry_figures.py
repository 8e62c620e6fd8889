from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped,unused-ignore]
from measuring import by_kind, cross, one, rational, surd

EPS = mp.mpf(10) ** -30


def area(*corners: Any) -> Any:
    """Return the area of a polygon from its corners in order."""
    return (
        abs(
            sum(
                mp.im(mp.conj(p) * q)
                for p, q in zip(corners, corners[1:] + corners[:1], strict=True)
            )
        )
        / 2
    )


def convex(*corners: Any) -> bool:
    n = len(corners)
    turns = {
        mp.im((corners[i - 1] - corners[i - 2]) * mp.conj(corners[i] - corners[i - 1])) > 0
        for i in range(n)
    }
    return len(turns) == 1


def shadow(height: int, shadow: int, other: int, back: bool) -> Fraction:
    # the line through the top of the known shadow, moved to the other object
    return Fraction(other) / Fraction(height, shadow) if back else other * Fraction(height, shadow)


def cut(how: str, values: Any) -> Fraction:
    p, q, r = (mp.mpf(v) for v in values)
    a, to_b, to_c = mp.mpc(0), mp.expjpi(mp.mpf(1) / 7), mp.expjpi(mp.mpf(2) / 5)
    if how == "piece":  # AD, DB, AE
        d, b, e = p * to_b, (p + q) * to_b, r * to_c
        return rational(abs(cross(a, to_c, b, e - d) - e))
    if how == "side":  # AE, AC, AB
        e, c, b = p * to_c, q * to_c, r * to_b
        return rational(abs(b - cross(a, to_b, e, b - c)))
    # AD, DB, BC: a right angle at B
    b, c = a + p + q, mp.mpc(p + q, r)
    d = a + p
    return rational(abs(cross(a, c - a, d, c - b) - d))


def lamp(how: str, values: Any) -> Fraction:
    if how == "height":
        low, away, length = values
        return rational(
            mp.im(cross(mp.mpc(away + length), mp.mpc(-length, low), mp.mpc(0), mp.mpc(0, 1)))
        )
    tall, low, away = values
    tip = mp.re(cross(mp.mpc(0, tall), mp.mpc(away, low - tall), mp.mpc(0), mp.mpc(1)))
    return rational(tip - away if how == "shadow" else tip)


def trapezoid_diagonals(how: str, values: Any) -> Fraction:
    p, q = values[:2]
    a, b, d, c = mp.mpc(0, 0), mp.mpc(p, 0), mp.mpc(2, 3), mp.mpc(2 + q, 3)
    m = cross(a, c - a, b, d - b)
    if how == "segment":
        return rational(values[2] * abs(m - a) / abs(c - a))
    if how == "area":
        return rational(values[2] * area(a, b, c, d) / area(a, b, m))
    left, right = cross(m, b - a, a, d - a), cross(m, b - a, b, c - b)
    return rational(abs(left - right))


def inscribed(how: str, values: Any) -> Fraction:
    base, height = values[:2]
    a, b, c = mp.mpc(0), mp.mpc(base), mp.mpc(mp.mpf(base) / 3, height)

    def width(y: Any) -> Any:
        left = cross(a, c - a, mp.mpc(0, y), mp.mpc(1))
        right = cross(b, c - b, mp.mpc(0, y), mp.mpc(1))
        return mp.re(right - left)

    if how == "back":
        return rational(width(values[2]))
    times = values[2] if how == "rectangle" else 1
    low, high = mp.mpf(0), mp.mpf(height)
    for _ in range(150):  # the width decreases with the height: bisect
        mid = (low + high) / 2
        low, high = (mid, high) if width(mid) > times * mid else (low, mid)
    return rational(low if how == "square" else 2 * (times + 1) * low)


def scale(how: str, values: Any) -> object:
    if how == "area":
        p, q, given = values
        return rational(
            given * area(0j, mp.mpc(q), mp.mpc(0, q)) / area(0j, mp.mpc(p), mp.mpc(0, p))
        )
    if how == "perimeter":
        return rational(values[2] * mp.sqrt(mp.mpf(values[1]) / values[0]))
    p, q, r, short = values
    assert 2 * max(p, q, r) < p + q + r and p == min(p, q, r)
    return Fraction(short, p) * (p + q + r)


def _abc(size: Any = 1) -> tuple[Any, Any, Any]:
    """Return a scalene triangle of the given area."""
    a, b, c = mp.mpc(0), mp.mpc(3), mp.mpc(1, 2)
    f = mp.sqrt(mp.mpf(size) / area(a, b, c))
    return a * f, b * f, c * f


def strip(how: str, values: Any) -> Fraction:
    p, q = values[:2]
    a, b, c = _abc()
    d = a + (b - a) * p / (p + q)
    e = cross(d, c - b, a, c - a)
    part = area(b, c, e, d)
    return rational(part) if how == "ratio" else rational(values[2] / part)


def points(how: str, first: Any, second: Any, area: int) -> Fraction:
    (p, q), (r, s) = first, second
    a, b, c = _abc(area)
    if how == "corner":
        d, e = a + (b - a) * p / (p + q), a + (c - a) * r / (r + s)
        return rational(_area(a, d, e))
    d = b + (c - b) * p / (p + q)
    return rational(_area(a, b, a + (d - a) * r / (r + s)))


_area = area


def crossing(how: str, first: Any, second: Any) -> Fraction:
    (p, q), (r, s) = first, second
    a, b, c = _abc()
    d, e = b + (c - b) * p / (p + q), c + (a - c) * r / (r + s)
    m = cross(a, d - a, b, e - b)
    return rational(abs(m - a) / abs(d - m)) if how == "ratio" else rational(area(a, b, m))


def rhombus(how: str, p: int, q: int) -> str:
    if how == "perimeter":
        return surd(4 * abs(mp.mpc(p, q) / 2))
    side = mp.mpf(p) / 4 if how == "diagonal" else mp.mpf(p)
    top = mp.acos(mp.mpf(q) / 2 / side)
    corner = side * mp.expj(top)
    return surd(
        2 * mp.im(corner) if how == "diagonal" else area(0j, corner, mp.mpc(q), mp.conj(corner))
    )


def trapezoid(how: str, values: Any) -> str:
    top, low, third = values
    if how == "height":
        height = 2 * mp.mpf(third) / (top + low)
        return surd(abs(mp.mpc(mp.mpf(low - top) / 2, height)))
    inset = mp.mpf(low - top) / 2
    left = mp.mpc(inset, mp.sqrt(third**2 - inset**2))
    if how == "diagonal":
        return surd(abs(left + top))
    return surd(area(0j, mp.mpc(low), left + top, left))


def right_trapezoid(how: str, values: Any) -> Fraction:
    p, q, r = values
    if how == "perimeter":
        over = mp.sqrt(r * r - q * q)
        return rational(p + q + r + p + over)
    height = 2 * mp.mpf(r) / (p + q)
    return rational(abs(mp.mpc(q - p, height)))


def four(how: str, values: Any) -> Fraction:
    x, w, y = mp.mpc(0), mp.mpc(0, values[0]), mp.mpc(values[1])
    if how == "opposite":
        # Z sees WY at a right angle, at the given distance from Y, beyond WY from X
        middle, radius = (w + y) / 2, abs(w - y) / 2
        turn = 2 * mp.asin(values[2] / (2 * radius))
        spots = [middle + (y - middle) * mp.expj(s * turn) for s in (1, -1)]
        z = one(z for z in spots if convex(w, x, y, z))
        assert abs(abs(z - y) - values[2]) < EPS
    else:
        spots = [y + (w - y) / abs(w - y) * values[2] * mp.mpc(0, s) for s in (1, -1)]
        z = one(z for z in spots if convex(w, x, y, z))
        if len(values) == 4:
            assert abs(abs(z - w) - values[3]) < EPS
    return rational(area(w, x, y, z))


def hexagon(how: str, s: int) -> str:
    a, b, c, d, e, f = (s * mp.expjpi(mp.mpf(k) / 3) for k in range(6))
    return surd(
        {
            "area": area(a, b, c, d, e, f),
            "width": abs((a + b) / 2 - (d + e) / 2),
            "triangle": area(a, c, e),
            "short": abs(a - (c + d) / 2),
        }[how]
    )


def frame(w: int, h: int, value: int, back: bool) -> int:
    def ring(d: int) -> int:
        return 2 * d * w + 2 * d * h + 4 * d * d

    return one(d for d in range(1, 100) if ring(d) == value) if back else ring(value)


def l_shape(how: str, values: Any) -> object:
    if how == "back":
        w, h, rest, a = values
        return one(b for b in range(1, h) if w * (h - b) + (w - a) * b == rest)
    if len(values) == 6:  # walk around it
        at, corners, turns = 0j, [], (1, 1, 1, -1, 1, 1)
        way: complex = 1
        for length, turn in zip(values, turns, strict=True):
            at += length * way
            corners.append(mp.mpc(at))
            way *= 1j * turn
        assert at == 0
        return int(sum(values)) if how == "perimeter" else int(mp.nint(area(*corners)))
    w, h, a, b = values
    if how == "perimeter":
        return w + h + a + b + (w - a) + (h - b)
    return sum(1 for x in range(w) for y in range(h) if not (x >= w - a and y >= h - b))


def midpoints(how: str, side: int, k: int) -> Fraction:
    s = mp.mpf(side)
    a, b, c, d = mp.mpc(0), mp.mpc(s), mp.mpc(s, s), mp.mpc(0, s)
    if how == "lines":
        ring = (a, b, c, d, a)
        return rational(area(*(p + (q - p) / k for p, q in itertools.pairwise(ring))))
    m, n = (b + c) / 2, (c + d) / 2
    if how == "overlap":
        return rational(area(a, b, cross(a, m - a, b, d - b)))
    return rational(area(a, m, n))


def crease(how: str, p: int, q: int) -> str:
    w, y = mp.mpc(0), mp.mpc(p, q)
    turn = (y - w) * mp.mpc(0, 1)
    low, high = cross((w + y) / 2, turn, w, mp.mpc(1)), cross((w + y) / 2, turn, y, mp.mpc(1))
    assert 0 <= mp.re(low) <= p and 0 <= mp.re(high) <= p
    if how == "crease":
        return surd(abs(low - high))
    double = area(y, low, high)  # w lies on y: the flap is y, low, high and the folded corner
    return surd(double if how == "overlap" else p * q - double)


def corner(how: str, p: int, q: int) -> Fraction:
    w, x, y, z = mp.mpc(0, p), mp.mpc(0, 0), mp.mpc(q, 0), mp.mpc(q, p)
    m = mp.mpc(one(s for s in (1, -1) if s > 0) * mp.sqrt(q * q - p * p))
    assert abs(abs(m - w) - abs(z - w)) < EPS and 0 < mp.re(m) < q and x == 0
    middle = (z + m) / 2
    n = cross(w, middle - w, y, z - y)
    assert 0 < mp.im(n) < p
    return rational({"reach": abs(m - y), "rest": abs(n - z), "area": area(w, m, n)}[how])


CHECKS = {
    "geometry_similar_triangles": by_kind(
        shadow=shadow, cut=cut, lamp=lamp, trapezoid=trapezoid_diagonals, inscribed=inscribed
    ),
    "geometry_area_ratios": by_kind(scale=scale, strip=strip, points=points, crossing=crossing),
    "geometry_quadrilaterals": by_kind(
        rhombus=rhombus, trapezoid=trapezoid, right_trapezoid=right_trapezoid, four=four
    ),
    "geometry_composite_areas": by_kind(
        frame=frame, l_shape=l_shape, hexagon=hexagon, midpoints=midpoints
    ),
    "geometry_folded_paper": by_kind(l_shape=l_shape, corner=corner, crease=crease),
}
