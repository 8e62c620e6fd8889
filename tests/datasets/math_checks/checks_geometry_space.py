from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath as mp  # type: ignore[import-untyped,unused-ignore]
import sympy as sp  # type: ignore[import-untyped,unused-ignore]
from measuring import by_kind, cross, one, rational, ray, surd

EPS = mp.mpf(10) ** -30
X, Y, T = sp.symbols("x y t", real=True)


def pi_times(value: Any) -> str:
    return f"{rational(value / mp.pi)}*\\pi"


def box(how: str, edges: Any) -> str:
    a, b, c = edges
    if how == "diagonal":
        return surd(mp.norm(mp.matrix(edges)))
    if how == "surface":  # outer faces of the unit cubes
        cells = set(product(range(a), range(b), range(c)))
        steps = [
            (i, j, k) for i, j, k in product((-1, 0, 1), repeat=3) if abs(i) + abs(j) + abs(k) == 1
        ]
        return str(
            sum(tuple(map(sum, zip(p, s, strict=True))) not in cells for p in cells for s in steps)
        )
    corners = list(product((0, a), (0, b), (0, c)))
    edge_sum = sum(
        sum(abs(u - v) for u, v in zip(p, q, strict=True))
        for p, q in product(corners, corners)
        if p < q and sum(u != v for u, v in zip(p, q, strict=True)) == 1
    )
    return str(edge_sum + a + b + a + b)


def box_back(how: str, values: Any) -> str:
    if how == "faces":
        return str(
            one(
                {
                    a * b * c
                    for a in range(1, 150)
                    for b in range(1, 150)
                    if a * b == values[0] and values[1] % b == 0
                    for c in [values[1] // b]
                    if a * c == values[2]
                }
            )
        )
    if how == "sums":
        found = {
            a * a + b * b + c * c
            for a in range(1, 40)
            for b in range(1, 40)
            for c in [values[0] // 4 - a - b]
            if c > 0 and 2 * (a * b + b * c + a * c) == values[1]
        }
        return f"\\sqrt{{{one(found)}}}"
    p, q, high, deep, spilled = values
    # water and stone fill the tank; the rest of the water spilled
    return str(p * q * high - (p * q * deep - spilled))


def painted(edges: Any, faces: int) -> int:
    return sum(
        sum((x in (0, n - 1)) for x, n in zip(cell, edges, strict=True)) == faces
        for cell in product(*(range(n) for n in edges))
    )


def cylinder(how: str, r: int, h: int, wide: bool) -> str:
    radius = mp.mpf(r) / 2 if wide else mp.mpf(r)
    disk = mp.quad(lambda x: 2 * mp.pi * x, [0, radius])
    side = mp.quad(lambda t: radius * h, [0, 2 * mp.pi])
    return pi_times({"volume": disk * h, "surface": 2 * disk + side, "label": side}[how])


def cone(how: str, p: int, q: int, wide: bool) -> str:
    r = mp.mpf(p) / 2 if wide and how == "volume" else mp.mpf(p)

    def volume(base: Any, height: Any) -> Any:
        return mp.quad(lambda z: mp.pi * (base * z / height) ** 2, [0, height])

    if how == "volume":
        return pi_times(volume(r, mp.sqrt(q * q - r * r)))
    if how == "surface":  # unrolled: a sector whose arc is the rim
        slant = abs(mp.mpc(r, q))
        return pi_times(mp.pi * r * r + slant**2 / 2 * (2 * mp.pi * r / slant))
    if how == "slant":
        height = rational(q * mp.pi / volume(r, 1))  # a cone's volume is proportional to its height
        return surd(abs(mp.mpc(r, mp.mpf(height.numerator) / height.denominator)))
    rim = mp.mpf(q) / 360 * p
    high = mp.sqrt(p * p - rim * rim)
    return pi_times(volume(rim, high)) if wide else surd(high)


def melted(how: str, values: Any) -> str:
    if how == "balls":
        count, size = values
        return str(one(n for n in range(1, 100) if n**3 == count * size**3))

    def ball(r: Any) -> Any:
        return mp.quad(lambda z: mp.pi * (r * r - z * z), [-r, r])

    if how == "level":
        wide, n, r = values
        return str(rational(n * ball(r) / (mp.pi * wide * wide)))
    if how == "cylinder":
        (r,) = values
        return pi_times(mp.pi * r * r * 2 * r - ball(r))
    if how == "cube":
        (r,) = values
        s = sp.symbols("s", positive=True)
        return str(6 * one(sp.solve(3 * (s / 2) ** 2 - r * r, s)) ** 2)
    r, h, deep = values
    return pi_times(mp.quad(lambda z: mp.pi * (mp.mpf(r) * z / h) ** 2, [deep, h]))


def _heron(p: Any, q: Any, r: Any) -> Any:
    a, b, c = (mp.norm(mp.matrix(u) - mp.matrix(v)) for u, v in ((p, q), (q, r), (r, p)))
    s = (a + b + c) / 2
    return mp.sqrt(s * (s - a) * (s - b) * (s - c))


def pyramid(how: str, p: int, q: int, bare: bool) -> str:
    half = mp.mpf(p) / 2
    if how == "surface":
        face = _heron((half, half, 0), (half, -half, 0), (0, 0, q))
        return str(rational(4 * face + (0 if bare else p * p)))
    if how == "volume":
        height = mp.sqrt(q * q - half * half)
        return str(rational(mp.quad(lambda z: (p * z / height) ** 2, [0, height])))
    height = one(h for h in range(1, 400) if p * p * h == 3 * q)
    return surd(mp.norm(mp.matrix((half, half, height))))


def _tetra(spots: Any) -> Any:
    rows = [[*s, 1] for s in spots]
    return abs(sp.Matrix(rows).det()) / 6


def tetrahedron(how: str, values: Any) -> str:
    if how in ("corner", "distance"):
        a, b, c = values
        spots = [(0, 0, 0), (a, 0, 0), (0, b, 0), (0, 0, c)]
        return str(_tetra(spots)) if how == "corner" else surd(_heron(*spots[1:]))
    (s,) = values
    if how == "cube":
        spots = [t for t in product((0, s), repeat=3) if sum(t) // s % 2 == 0]
        faces = [[t for t in spots if t != u] for u in spots]
        return surd(sum(_heron(*f) for f in faces))
    # in a cube of edge s / sqrt(2)
    e = s / sp.sqrt(2)
    spots = [(0, 0, 0), (e, e, 0), (e, 0, e), (0, e, e)]
    volume = _tetra(spots)
    face = sp.sqrt(3) * s * s / 4
    return str(sp.simplify(volume if how == "volume" else 3 * volume / face))


def space(how: str, p: Any, q: Any, axis: str) -> str:
    gap = sp.Point3D(*p).distance(sp.Point3D(*q))
    if how == "distance":
        return str(gap)
    if how == "sphere":
        return f"{sp.simplify(4 * (gap / 2) ** 2)}*\\pi"
    spot = sp.Point3D(*(T if a == axis else 0 for a in "xyz"))
    return str(
        one(sp.solve(spot.distance(sp.Point3D(*p)) ** 2 - spot.distance(sp.Point3D(*q)) ** 2, T))
    )


def figures(how: str, spots: Any) -> str:
    points = [sp.Point3D(*s) for s in spots]
    if how == "area":
        return surd(_heron(*spots))
    if how == "volume":
        return str(_tetra(spots))
    return surd(mp.mpf(str(sp.N(sp.Plane(*points[:3]).distance(points[3]), 60))))


def _turn(p: Any, center: Any, turn: int) -> Any:
    z = mp.mpc(*center) + (mp.mpc(*p) - mp.mpc(*center)) * ray(90 * turn)
    return rational(mp.re(z)), rational(mp.im(z))


def pair(spot: Any) -> str:
    return f"({spot[0]}, {spot[1]})"


def rotation(p: Any, center: Any, turn: int) -> str:
    return pair(_turn(p, center, turn))


_MIRRORS = {
    "x": lambda k: sp.Line((k, 0), (k, 1)),
    "y": lambda k: sp.Line((0, k), (1, k)),
    "diagonal": lambda k: sp.Line((0, 0), (1, 1)),
}


def composed(p: Any, steps: Any, back: bool) -> str:
    at = sp.Point(*p)
    for how, u, v in reversed(steps) if back else steps:
        if how == "shift":
            at = at - sp.Point(u, v) if back else at + sp.Point(u, v)
        elif how == "turn":
            at = at.rotate((-1 if back else 1) * u * sp.pi / 2)
        else:
            at = at.reflect(_MIRRORS[how](u))
    return pair((at.x, at.y))


def center(how: str, first: Any, second: Any, turn: int) -> str:
    p, p2 = first
    q, q2 = second or first
    grid = list(product(range(-12, 13), repeat=2))
    if how == "dilation":
        (a, b), (c, d) = (mp.mpc(*p), mp.mpc(*p2)), (mp.mpc(*q), mp.mpc(*q2))
        z = cross(a, b - a, c, d - c)
        return pair((rational(mp.re(z)), rational(mp.im(z))))
    turns = [turn] if turn else [1, 2, 3]
    return pair(
        one(
            c
            for c in grid
            for t in turns
            if _quick(p, c, t) == tuple(p2) and (turn or _quick(q, c, t) == tuple(q2))
        )
    )


def _quick(p: Any, c: Any, t: int) -> Any:
    z = (complex(*p) - complex(*c)) * (1j) ** t + complex(*c)
    return round(z.real), round(z.imag)


def line(how: str, p: Any, q: Any, k: int) -> str:
    if how == "squares":
        made = (X - p[0]) ** 2 + (Y - p[1]) ** 2 - (X - q[0]) ** 2 - (Y - q[1]) ** 2 - k
        return f"{sp.latex(sp.expand(made))} = 0"
    if how == "circle_area":  # heights over the length, then both ends
        r, length = p[0], q[0]
        ends = 4 * mp.quad(lambda x: mp.sqrt(r * r - x * x), [0, r])
        return f"{2 * r * length} + {pi_times(ends)}"
    a, b = p
    c, d = q
    ys = sp.solve((b * T - c) ** 2 - d * d * (a * a + b * b), T)
    assert len(ys) == 2
    return f"{sp.latex(a * X + b * (Y - (max(ys) if k else min(ys))))} = 0"


def circle(how: str, p: Any, q: Any, k: int) -> str:
    to_p, to_q = ((X - s[0]) ** 2 + (Y - s[1]) ** 2 for s in (p, q))
    if how == "apollonius":
        made = to_p - k * k * to_q
    elif how == "squares":
        made = to_p + to_q - k
    else:  # Q = 2M - P lies on the circle
        made = (2 * X - p[0] - q[0]) ** 2 + (2 * Y - p[1] - q[1]) ** 2 - k
    return f"{sp.latex(sp.expand(made))} = 0"


def compass(how: str, values: Any) -> str:
    base, r, s = values
    ends = sp.solve((X**2 + Y**2 - r * r, (X - base) ** 2 + Y**2 - s * s), (X, Y))
    x, y = one(e for e in ends if e[1] > 0)
    return str({"height": y, "split": x, "area": sp.Rational(base) * y / 2}[how])


def construct(how: str, values: Any, area: bool) -> str:
    if how == "kite":
        base, r = values
        ends = sp.solve((X**2 + Y**2 - r * r, (X - base) ** 2 + Y**2 - r * r), (X, Y))
        low, high = sorted(ends, key=lambda e: e[1])
        return str(base * high[1] if area else high[1] - low[1])
    if how == "thales":
        p, q = values
        d = one(s for s in sp.solve((T**2 + p * p) + (T**2 + q * q) - (p + q) ** 2, T) if s > 0)
        return str(d)
    whole, n = values
    small = Fraction(whole)
    for _ in range(n):
        small /= 2
    return str(whole + small)


def heights(how: str, d: int, angles: Any) -> str:
    slopes = [sp.tan(sp.pi * a / 180) for a in angles]
    h = sp.symbols("h", positive=True)
    if how == "single":
        return str(sp.simplify(d * slopes[0]))
    if how == "two":
        return str(sp.simplify(one(sp.solve(h / slopes[0] - h / slopes[1] - d, h))))
    return str(sp.simplify(d / slopes[0] - d / slopes[1]))


def river(how: str, values: Any) -> str:
    p, q = ((0, values[0]), (values[2], values[1])) if how == "river" else (values[:2], values[2:])

    def way(t: Any) -> Any:
        return abs(mp.mpc(*p) - t) + abs(mp.mpc(*q) - t)

    # the path length is convex in t: search its minimum
    low, high = mp.mpf(p[0]), mp.mpf(q[0])
    for _ in range(200):
        mid = (low + high) / 2
        slope = (mid - p[0]) / abs(mp.mpc(*p) - mid) - (q[0] - mid) / abs(mp.mpc(*q) - mid)
        low, high = (mid, high) if slope < 0 else (low, mid)
    return str(rational(low)) if how == "place" else surd(way(low))


def surface(how: str, values: Any) -> str:
    if how == "cylinder":
        high, around, turns = values
        length = mp.quad(lambda t: mp.sqrt((around * turns) ** 2 + high**2), [0, 1])
        return surd(length)
    # over a shared edge, at every crossing point: the best of all three edges
    best = min(
        _best(a, b, c)
        for a, b, c in (
            (values[0], values[1], values[2]),
            (values[1], values[2], values[0]),
            (values[2], values[0], values[1]),
        )
    )
    return surd(best)


def _best(a: int, b: int, c: int) -> Any:
    """Return the shortest path from (0, c above the edge) to (a, b beyond the edge), the edge from 0 to a."""
    low, high = mp.mpf(0), mp.mpf(a)
    for _ in range(200):
        mid = (low + high) / 2
        slope = mid / mp.sqrt(mid**2 + c * c) - (a - mid) / mp.sqrt((a - mid) ** 2 + b * b)
        low, high = (mid, high) if slope < 0 else (low, mid)
    return mp.sqrt(low**2 + c * c) + mp.sqrt((a - low) ** 2 + b * b)


CHECKS = {
    "geometry_boxes": by_kind(box=box, box_back=box_back, painted=painted),
    "geometry_round_solids": by_kind(cylinder=cylinder, cone=cone, melted=melted),
    "geometry_pyramids": by_kind(pyramid=pyramid, tetrahedron=tetrahedron),
    "geometry_points_in_space": by_kind(space=space, figures=figures),
    "geometry_motions": by_kind(rotation=rotation, composed=composed, center=center),
    "geometry_loci": by_kind(line=line, circle=circle),
    "geometry_constructions": by_kind(compass=compass, construct=construct, heights=heights),
    "geometry_shortest_ways": by_kind(river=river, surface=surface),
}
