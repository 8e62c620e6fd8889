"""Problems on uniform random numbers."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.probability.asking import probability
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _triangle(side: Fraction) -> Fraction:
    """Return the area of a right triangle with legs ``side``, or 0 if ``side`` is negative."""
    return max(side, Fraction(0)) ** 2 / 2


def _below(w: Fraction, h: Fraction, c: Fraction) -> Fraction:
    """Return the area of x + y <= c in a rectangle w by h."""
    return _triangle(c) - _triangle(c - w) - _triangle(c - h) + _triangle(c - w - h)


def _regions(rng: Random, level: int) -> Problem:
    a, b = rng.sample(PEOPLE, 2)
    if level == 1:
        n = rng.randint(6, 30)
        ask = rng.choice(("near", "stick", "waiting", "two ends"))
        if ask == "near":
            centre, reach = redrawn(
                lambda: (rng.randint(1, n - 1), rng.randint(1, n - 1)),
                lambda t: t[0] + t[1] > n or t[0] < t[1] or 2 * t[1] < n,
            )
            low, high = max(0, centre - reach), min(n, centre + reach)
            if (low, high) == (0, n):
                return _regions(rng, level)
            scene = f"A real number $x$ is chosen at random from the interval $[0, {n}]$."
            event = f"$|x - {centre}| < {reach}$"
            return probability(
                rng,
                scene,
                event,
                Fraction(high - low, n),
                {"ask": ask, "n": n, "c": centre, "d": reach},
                level,
            )
        if ask == "stick":
            k = rng.randint(2, 7)
            scene = WORDINGS.draw(rng, "regions, level 1, stick", n=n, a=a)
            event = f"the longer piece is more than {k} times as long as the shorter one"
            return probability(
                rng, scene, event, Fraction(2, k + 1), {"ask": ask, "n": n, "k": k}, level
            )
        if ask == "waiting":
            wait = rng.randint(1, n // 2)
            other = rng.randint(wait + 1, n)
            scene = WORDINGS.one("regions, level 1, waiting", n=n, a=a)
            event = f"{a} waits more than {wait} minutes but less than {other} minutes".replace(
                "than 1 minutes", "than 1 minute"
            )
            return probability(
                rng,
                scene,
                event,
                Fraction(other - wait, n),
                {"ask": ask, "n": n, "wait": wait, "other": other},
                level,
            )
        reach = rng.randint(1, (n - 1) // 2)
        scene = f"A point is chosen at random on a segment of length ${n}$."
        event = f"its distance from each of the two endpoints is greater than ${reach}$"
        return probability(
            rng, scene, event, Fraction(n - 2 * reach, n), {"ask": ask, "n": n, "d": reach}, level
        )
    w, h = Fraction(rng.randint(2, 12)), Fraction(rng.randint(2, 12))
    if level == 2:
        ask = rng.choice(("sum", "above line", "meeting", "smaller"))
        if ask == "sum":
            c = Fraction(rng.randint(1, int(w + h) - 1))
            more = rng.random() < 0.4
            scene = WORDINGS.draw(rng, "regions, level 2, sum", w=w, h=h)
            share = _below(w, h, c) / (w * h)
            values = {"ask": ask, "w": int(w), "h": int(h), "c": int(c), "more": more}
            return probability(
                rng,
                scene,
                f"$x + y {'>' if more else '<'} {c}$",
                1 - share if more else share,
                values,
                level,
            )
        if ask == "above line":
            m = rng.randint(2, 5)
            # y > m x
            edge = min(w, h / m)
            under = m * edge**2 / 2 + (w - edge) * h
            share = 1 - under / (w * h)
            scene = WORDINGS.one("regions, level 2, above line", w=w, h=h)
            values = {"ask": ask, "w": int(w), "h": int(h), "m": m}
            return probability(rng, scene, f"$y > {m}x$", share, values, level)
        if ask == "meeting":
            n = rng.choice((30, 40, 45, 50, 60, 90, 120))
            stay = rng.randint(5, n // 2)
            scene = WORDINGS.one("regions, level 2, meeting", a=a, b=b, n=n, stay=stay)
            value = 1 - Fraction(n - stay, n) ** 2
            return probability(
                rng, scene, "they meet", value, {"ask": ask, "n": n, "d": stay}, level
            )
        share = 1 - w / (2 * h) if w <= h else h / (2 * w)
        scene = WORDINGS.one("regions, level 2", a=a, w=w, b=b, h=h)
        if w == h:
            return _regions(rng, level)
        return probability(
            rng, scene, "$x < y$", share, {"ask": ask, "w": int(w), "h": int(h)}, level
        )
    ask = rng.choice(("two waits", "triangle", "both", "stick", "given"))
    if ask == "two waits":
        n = rng.choice((30, 40, 50, 60, 90, 120))
        stay, other = redrawn(
            lambda: (rng.randint(4, n // 2), rng.randint(4, n // 2)), lambda t: t[0] != t[1]
        )
        scene = WORDINGS.one("regions scene", a=a, b=b, n=n, stay=stay, other=other)
        value = 1 - (Fraction(n - stay, n) ** 2 + Fraction(n - other, n) ** 2) / 2
        return probability(
            rng,
            scene,
            "there is a moment at which both are in the park",
            value,
            {"ask": ask, "n": n, "d": stay, "e": other},
            level,
        )
    if ask == "triangle":
        n, s = redrawn(lambda: (rng.randint(2, 12), rng.randint(1, 12)), lambda t: t[1] < 2 * t[0])
        side, c = Fraction(n), Fraction(s)
        # |x - y| < c < x + y in the square of side n
        strip = side**2 - 2 * _triangle(side - c)
        # x + y <= c cuts off a corner, all of which has |x - y| < c
        good = strip - _below(side, side, c) if c <= side else side**2 - _below(side, side, c)
        scene = WORDINGS.one("regions scene 2", n=n)
        event = f"a triangle with the side lengths ${s}$, $x$ and $y$ exists"
        return probability(rng, scene, event, good / side**2, {"ask": ask, "n": n, "s": s}, level)
    if ask == "stick":
        k = rng.randint(2, 5)
        n = rng.randint(5, 60)
        scene = WORDINGS.one("regions scene 3", n=n)
        if rng.random() < 0.5:
            event = f"each of the three pieces is longer than $\\frac{{1}}{{{k + 2}}}$ of the stick"
            return (
                probability(
                    rng,
                    scene,
                    event,
                    (1 - Fraction(3, k + 2)) ** 2,
                    {"ask": "all pieces", "n": n, "share": k + 2},
                    level,
                )
                if k > 1
                else _regions(rng, level)
            )
        event = f"the piece in the middle is longer than $\\frac{{1}}{{{k}}}$ of the stick"
        return probability(
            rng,
            scene,
            event,
            (1 - Fraction(1, k)) ** 2,
            {"ask": "middle", "n": n, "share": k},
            level,
        )
    n = rng.randint(2, 10)
    side = Fraction(n)
    c = Fraction(rng.randint(1, 2 * n - 1))
    d = Fraction(rng.randint(1, n - 1))
    scene = WORDINGS.one("regions scene 4", n=n)
    # area of |x - y| < d and x + y < c, by integrating the width of the strip along x + y = t
    good = _strip(side, c, d)
    if ask == "both":
        event = f"$x + y < {c}$ and $|x - y| < {d}$"
        value = good / side**2
    else:
        scene += f" It turns out that $|x - y| < {d}$."
        event = f"$x + y < {c}$"
        value = good / (side**2 - 2 * _triangle(side - d))
    if not 0 < value < 1:
        return _regions(rng, level)
    return probability(
        rng, scene, event, value, {"ask": ask, "n": n, "c": int(c), "d": int(d)}, level
    )


def _strip(side: Fraction, c: Fraction, d: Fraction) -> Fraction:
    """Return the area of x + y < c, |x - y| < d in a square."""
    # on the line x + y = t, |x - y| ranges over [0, min(t, 2 side - t)]; the area element is dt dv / 2
    area = Fraction(0)
    corners = sorted({Fraction(0), d, side, 2 * side - d, c, 2 * side})
    for low, high in itertools.pairwise(corners):
        if high <= c and low >= 0:
            middle = (low + high) / 2
            area += (high - low) * min(d, middle, 2 * side - middle)
    return area


FAMILIES = (
    math_family("probability_regions", _regions, "lengths and areas with straight borders"),
)
