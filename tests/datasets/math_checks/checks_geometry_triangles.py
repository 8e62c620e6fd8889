from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp  # type: ignore[import-untyped,unused-ignore]
import sympy as sp  # type: ignore[import-untyped,unused-ignore]
from measuring import angle, bisecting, by_kind, cross, one, rational, ray, surd, triangle


def with_angles(at_b: Any, at_c: Any) -> tuple[Any, Any, Any]:
    b, c = mp.mpc(0), mp.mpc(1)
    return cross(b, ray(at_b), c, ray(180 - mp.mpf(at_c))), b, c


def isosceles_angles(apex: int, outside: bool) -> Fraction:
    a, b, c = mp.mpc(0), ray(0), ray(apex)
    return rational(angle(a, c, c + (c - b)) if outside else angle(a, b, c))


def ratio_angles(parts: Any, big: bool) -> int:
    sizes = one([s * p for p in parts] for s in range(1, 180) if sum(s * p for p in parts) == 180)
    return int(max(sizes) if big else min(sizes))


def linear_angles(parts: Any, asked: str) -> int:
    found = one(
        x
        for x in range(-100, 200)
        if sum(m * x + s for m, s in parts) == 180 and all(m * x + s > 0 for m, s in parts)
    )
    return int(found if asked == "x" else max(m * found + s for m, s in parts))


def _at_incenter(apex: Any) -> Any:
    a, b, c = with_angles((180 - mp.mpf(apex)) / 3, (180 - mp.mpf(apex)) * 2 / 3)
    middle = cross(b, bisecting(a, b, c), c, bisecting(a, c, b))
    return angle(b, middle, c)


def bisected(angle: str, back: bool) -> Fraction:
    if not back:
        return rational(_at_incenter(mp.mpf(angle)))
    return Fraction(
        one(
            apex
            for apex in range(1, 180)
            if abs(_at_incenter(apex) - mp.mpf(angle)) < mp.mpf(10) ** -30
        )
    )


def altitude_bisector(at_b: int, at_c: int) -> Fraction:
    a, b, c = with_angles(at_b, at_c)
    foot = mp.mpc(mp.re(a), 0)
    split = cross(a, bisecting(b, a, c), b, c - b)
    return rational(angle(foot, a, split))


def isosceles_chain(apex: int) -> Fraction:
    a, b, c = mp.mpc(0), ray(0), ray(apex)
    # along CA from C: the other point at distance BC from B
    u = (a - c) / abs(a - c)
    t = -2 * mp.re((c - b) * mp.conj(u))
    assert 0 < t < 1
    return rational(angle(a, b, c + t * u))


def _zigzag(steps: int, small: Any) -> Any:
    points, rays = [mp.mpc(0)], [ray(0), ray(small)]
    for i in range(steps):
        u, last = rays[i % 2], points[-1]
        along = mp.re(last * mp.conj(u))
        t = along + mp.sqrt(1 - abs(last - along * u) ** 2)
        assert not points[1:] or t > max(abs(p) for p in points[:-1]), "not farther"
        points.append(t * u)
    return angle(points[-1], points[-2], points[0])


def equal_steps(steps: int, angle: int, back: bool) -> Fraction:
    if not back:
        return rational(_zigzag(steps, angle))
    return Fraction(
        one(
            s
            for s in range(1, 90 // (steps - 1))
            if abs(_zigzag(steps, s) - angle) < mp.mpf(10) ** -30
        )
    )


def parallel_x(pair: str, first: Any, second: Any, asked: str) -> int:
    m, s = first
    n, t = second
    values = []
    for x in range(-200, 201):
        p, q = m * x + s, n * x + t
        if 0 < p < 180 and (p + q == 180 if pair.startswith("same") else p == q):
            values.append((x, min(p, 180 - p)))
    x, acute = one(values)
    return int(x if asked == "x" else acute)


def bent(known: Any, back: bool) -> Fraction:
    if back:
        return Fraction(one(d for d in range(1, 90) if bent([known[0], d], False) == known[1]))
    b = mp.mpc(0)
    upper = cross(b, ray(known[0]), mp.mpc(0, 1), mp.mpc(1))
    lower = cross(b, ray(-known[1]), mp.mpc(0, -2), mp.mpc(1))
    assert mp.re(upper) > 0 and mp.re(lower) > 0
    return rational(angle(upper, b, lower))


def same_side(how: str, p: int, q: int, lean: int) -> Fraction:
    if how == "ratio":
        at_a, at_d = Fraction(180 * p, p + q), Fraction(180 * q, p + q)
        assert 0 < lean < at_a
        # AD along the real axis, B above on a ray from A, C on the parallel ray from D
        a, d = mp.mpc(0), mp.mpc(1)
        to_m = ray(mp.mpf(at_a.numerator) / at_a.denominator - lean)
        half = mp.mpf(at_d.numerator) / at_d.denominator / 2
        m = cross(a, to_m, d, ray(180 - half))
        assert mp.im(m) > 0
        return rational(angle(a, m, d))
    # A above D on the left, B above C on the right; AB parallel to DC
    d, c = mp.mpc(0), mp.mpc(10)
    a = cross(d, ray(180 - p), mp.mpc(0, 1), mp.mpc(1))
    b = cross(c, ray(180 - q), mp.mpc(0, 1), mp.mpc(1))
    assert mp.re(a) < mp.re(b) and abs(angle(b, a, d) - p) < mp.mpf(10) ** -30
    at_b, at_d = bisecting(a, b, c), bisecting(c, d, a)
    turn = angle(at_b, mp.mpc(0), at_d)
    return rational(min(turn, 180 - turn))


def sides(how: str, value: int) -> int:
    found = []
    for n in range(3, 1000):
        inner = 180 - Fraction(360, n)
        if {
            "interior": inner == value,
            "exterior": 180 - inner == value,
            "sum": inner * n == value,
            "times": inner == value * (180 - inner),
        }[how]:
            found.append(n)
    return int(one(found))


def missing(known: Any, n: int) -> int:
    assert len(known) == n - 1
    # the turns at the corners make one full turn
    last = 180 - (360 - sum(180 - k for k in known))
    assert 0 < last < 180 and all(0 < k < 180 for k in known)
    return int(last)


def pieces(how: str, p: int, q: int) -> Fraction:
    if how == "diagonals":
        return Fraction(
            one(
                len([(i, j) for i in range(n) for j in range(i) if (i - j) % n not in (1, n - 1)])
                for n in range(4, 60)
                if len(
                    [(i, j) for i in range(n) for j in range(i) if (i - j) % n not in (1, n - 1)]
                )
                - n
                == p
            )
        )
    if how == "star":
        corners = [ray(mp.mpf(360) * i / p) for i in range(p)]
        return rational(angle(corners[q], corners[0], corners[-q]))
    gap = 360 - sum(
        rational(angle(ray(mp.mpf(360) / n), mp.mpc(1), ray(-mp.mpf(360) / n))) for n in (p, q)
    )
    assert 0 < gap != 180
    return Fraction(gap)


def arithmetic(n: int, step: int, big: bool) -> int:
    runs = [
        [least + i * step for i in range(n)]
        for least in range(1, 180)
        if sum(180 - least - i * step for i in range(n)) == 360
    ]
    run = one(runs)
    assert run[-1] < 180
    return int(run[-1] if big else run[0])


def right(long: int, short: int, other: int) -> int:
    square = short * short + other * other if not long else long * long - short * short
    return int(one(n for n in range(1, 200) if n * n == square))


def garden(long: int, short: int) -> int:
    return short * right(long, short, 0)


def trip(short: int, other: int) -> int:
    return short + other + right(0, short, other)


def isosceles(how: str, base: int, side: int) -> str:
    if how == "perimeter":
        height = mp.mpf(2 * side) / base
        return surd(base + 2 * abs(mp.mpc(mp.mpf(base) / 2, height)))
    a, b, c = triangle(base, side, side)
    middle = (b + c) / 2
    return surd(abs(a - middle)) if how == "height" else surd(abs(mp.im(b * mp.conj(c))) / 2)


def altitude(how: str, p: int, q: int) -> str:
    if how == "height":  # Thales: the point over the hypotenuse on its circle
        return surd(mp.im(mp.mpc(p, mp.sqrt((mp.mpf(p + q) / 2) ** 2 - (mp.mpf(q - p) / 2) ** 2))))
    if how == "leg":
        height = mp.sqrt((mp.mpf(p + q) / 2) ** 2 - (mp.mpf(q - p) / 2) ** 2)
        return surd(abs(mp.mpc(p, height)))
    a, b = mp.mpc(p), mp.mpc(0, q)
    return surd(abs(cross(mp.mpc(0), mp.mpc(q, p), a, b - a)))


def back(how: str, p: int, q: int, pole: bool = False, drop: int = 0) -> int:
    """Return the asked length or area, found by a search over the legs."""
    top = range(1, 400)
    if how == "slide":
        c, low = p, q
        high = one(h for h in top if h * h + low * low == c * c)
        foot = one(f for f in top if f * f + (high - drop) ** 2 == c * c)
        return int(foot - low)
    found = set()
    for x in top:
        if how == "perimeter_hypotenuse" and (y := p - q - x) > 0 and x * x + y * y == q * q:
            found.add(x * y // 2)
        if how == "sum_hypotenuse" and (y := p - x) > 0 and x * x + y * y == q * q:
            found.add(x * y // (x + y + q))  # area over half the perimeter
        if how == "difference" and x * x + q * q == (x + p) ** 2:
            found.add(2 * x + p if pole else x + p)
    return int(one(found))


def third_side(p: int, q: int, angle: int) -> str:
    return surd(abs(p - q * ray(angle)))


def cosine(how: str, sides: Any) -> object:
    p, q, r = sides
    if how == "median":  # AB = p, AC = q, BC = r
        a, b, c = triangle(r, q, p)
        return surd(abs(a - (b + c) / 2))
    if how == "opposite":
        a, b, c = triangle(p, q, r)
        return rational(mp.cos(mp.radians(angle(b, a, c))))
    a, b, c = triangle(*sorted(sides, reverse=True))
    return rational(mp.cos(mp.radians(angle(b, a, c))))


def angle_back(how: str, p: int, q: int, r: int) -> object:
    if how == "angle":  # AB = p, AC = q, BC = r
        a, b, c = triangle(r, q, p)
        return rational(angle(b, a, c))
    if how == "side":  # AB = p, angle A = q, BC = r
        x = sp.symbols("x", positive=True)
        roots = sp.solve(p * p + x * x - 2 * p * x * sp.cos(sp.pi * q / 180) - r * r, x)
        return str(one(roots))
    products = {
        x * (p - x) for x in range(1, p) if abs(abs(x - (p - x) * ray(q)) - r) < mp.mpf(10) ** -30
    }
    return one(products)


def stewart(m: int, n: int, p: int, q: int) -> str:
    a, b, c = triangle(m + n, q, p)
    return surd(abs(b + (c - b) * m / (m + n) - a))


def _measured(sides: Any) -> tuple[Any, ...]:
    """Return area, inradius and circumradius of the constructed triangle (sides XY, YZ, ZX)."""
    x, y, z = triangle(sides[1], sides[2], sides[0])
    area = abs(mp.im((y - x) * mp.conj(z - x))) / 2
    inner = cross(x, bisecting(y, x, z), y, bisecting(x, y, z))
    outer = cross((x + y) / 2, (y - x) * mp.mpc(0, 1), (x + z) / 2, (z - x) * mp.mpc(0, 1))
    return area, abs(mp.im(inner)), abs(outer - x), (x, y, z)


def heron(sides: Any) -> str:
    return surd(_measured(sides)[0])


def _height(a: Any, b: Any, c: Any) -> Any:
    return abs(a - cross(a, (c - b) * mp.mpc(0, 1), b, c - b))


def radii(how: str, sides: Any) -> str:
    _, inner, outer, (x, y, z) = _measured(sides)
    return surd(
        {
            "inradius": inner,
            "circumradius": outer,
            "altitude": _height(x, y, z),
            "shortest": min(_height(x, y, z), _height(y, z, x), _height(z, x, y)),
        }[how]
    )


def radii_back(how: str, values: Any) -> object:
    if how == "tangent":
        p, q, r = values
        return one(
            x for x in range(1, p) if any(p - x + z == q and x + z == r for z in range(1, r))
        )
    if how == "area":  # the triangle is cut from the incenter into three, all of height r
        return Fraction(values[1], values[2]) * values[0] / 2
    p, q, top, low = values
    around = mp.mpf(top) / low
    # A on the circle, B and C at chord distances p and q, on different arcs or the same
    turn_b, turn_c = 2 * mp.asin(p / (2 * around)), 2 * mp.asin(q / (2 * around))
    heights = set()
    for sign in (1, -1):
        a, b, c = around * mp.mpc(1), around * mp.expj(turn_b), around * mp.expj(sign * turn_c)
        if abs(b - c) > mp.mpf(10) ** -20:
            heights.add(rational(_height(a, b, c)))
    return one(heights)


def parts(p: int, q: int, r: int) -> str:
    x, y, z = triangle(r, q, p)
    return surd(abs(y - cross(x, bisecting(y, x, z), y, z - y)))


def parts_back(m: int, n: int, p: int, whole: bool) -> Fraction:
    found = []
    for q in range(1, 200):
        if 2 * max(p, q, m + n) < p + q + m + n:
            x, y, z = triangle(m + n, q, p)
            if abs(abs(y - cross(x, bisecting(y, x, z), y, z - y)) - m) < mp.mpf(10) ** -30:
                found.append(q)
    return Fraction(one(found) + (p + m + n if whole else 0))


def length(p: int, q: int, r: int) -> str:
    x, y, z = triangle(r, q, p)
    return surd(abs(x - cross(x, bisecting(y, x, z), y, z - y)))


def right_bisector(how: str, a: int, b: int) -> str:
    z, x, y = mp.mpc(0), mp.mpc(a), mp.mpc(0, b)
    if how == "right":
        return surd(abs(cross(z, bisecting(x, z, y), x, y - x)))
    meet = cross(x, bisecting(z, x, y), z, y)
    return surd(abs(meet)) if how == "leg" else surd(abs(mp.im((y - x) * mp.conj(meet - x))) / 2)


CHECKS = {
    "geometry_triangle_angles": by_kind(
        isosceles=isosceles_angles,
        ratio_angles=ratio_angles,
        linear_angles=linear_angles,
        bisected=bisected,
        altitude_bisector=altitude_bisector,
        isosceles_chain=isosceles_chain,
        equal_steps=equal_steps,
    ),
    "geometry_parallel_angles": by_kind(
        parallel_x=parallel_x, bent=bent, equal_steps=equal_steps, same_side=same_side
    ),
    "geometry_polygon_angles": by_kind(
        sides=sides, missing=missing, pieces=pieces, arithmetic=arithmetic
    ),
    "geometry_right_triangles": by_kind(
        right=right, garden=garden, trip=trip, isosceles=isosceles, altitude=altitude, back=back
    ),
    "geometry_law_of_cosines": by_kind(
        third_side=third_side, cosine=cosine, angle_back=angle_back, stewart=stewart
    ),
    "geometry_triangle_radii": by_kind(heron=heron, radii=radii, radii_back=radii_back),
    "geometry_angle_bisectors": by_kind(
        parts=parts, parts_back=parts_back, length=length, right_bisector=right_bisector
    ),
}
