"""Problems on extrema, optimal shapes and related rates."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.drawing import signed
from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _value(coefficients: tuple[int | Fraction, ...], x: int | Fraction) -> Fraction:
    total = Fraction(0)
    for c in coefficients:
        total = total * x + c
    return total


def _even_pair(rng: Random) -> tuple[int, int]:
    while True:
        r, s = sorted(rng.sample(range(-5, 7), 2))
        if (r + s) % 2 == 0:
            return r, s


def _extremes(rng: Random, level: int) -> Problem:
    f = rng.choice("fgh")
    if level == 1:
        r, s = _even_pair(rng)
        a = rng.choice((1, 1, -1, 2))
        d = rng.randint(-9, 9)
        cubic = (a, Fraction(-3 * a * (r + s), 2), 3 * a * r * s, d)
        formula = polynomial(cubic)
        top, bottom = (r, s) if a > 0 else (s, r)
        asks = {
            "local maximum value": _value(cubic, top),
            "local minimum value": _value(cubic, bottom),
            "place of the local maximum": Fraction(top),
            "place of the local minimum": Fraction(bottom),
            "difference": abs(_value(cubic, r) - _value(cubic, s)),
        }
        ask = rng.choice(list(asks))
        which = "maximum" if "max" in ask else "minimum"
        if ask == "difference":
            question = WORDINGS.draw(rng, "extremes, level 1, difference", f=f, formula=formula)
        elif ask.startswith("place"):
            question = WORDINGS.draw(
                rng, "extremes, level 1, place", f=f, formula=formula, which=which
            )
        else:
            question = WORDINGS.draw(rng, "extremes, level 1", which=which, f=f, formula=formula)
        return Problem(question, fraction(asks[ask]), {"formula": formula, "ask": ask})
    if level == 2:
        r, s = _even_pair(rng)
        a = rng.choice((1, 1, -1, 2))
        cubic = (a, Fraction(-3 * a * (r + s), 2), 3 * a * r * s, rng.randint(-9, 9))
        low, high = r - rng.randint(-1, 4), s + rng.randint(-1, 3)
        if rng.random() < 0.3:
            high = s - 1 if s - 1 > r else high
        if high - low < 2:
            return _extremes(rng, level)
        formula = polynomial(cubic)
        values = [_value(cubic, x) for x in (low, high)] + [
            _value(cubic, x) for x in (r, s) if low < x < high
        ]
        ask = rng.choice(("greatest", "least", "range"))
        if ask == "range":
            answer = f"[{fraction(min(values))}, {fraction(max(values))}]"
            question = WORDINGS.draw(
                rng, "extremes, level 2, range", f=f, formula=formula, low=low, high=high
            )
        else:
            answer = fraction(max(values) if ask == "greatest" else min(values))
            question = WORDINGS.draw(
                rng,
                "extremes, level 2",
                ask=ask,
                f=f,
                formula=formula,
                low=low,
                high=high,
                large_or_small="large" if ask == "greatest" else "small",
                maximum_or_minimum="maximum" if ask == "greatest" else "minimum",
            )
        return Problem(question, answer, {"formula": formula, "low": low, "high": high, "ask": ask})
    form = rng.choice(("roots", "unknown", "xexp"))
    if form == "roots":
        r, s = _even_pair(rng)
        k = rng.choice("kcm")
        base = (1, Fraction(-3 * (r + s), 2), 3 * r * s, 0)
        one, two = sorted((-_value(base, r), -_value(base, s)))
        shown = f"{terms([(1, 'x^3'), (base[1], 'x^2'), (base[2], 'x')])} + {k} = 0"
        asks3 = {
            "interval": f"({fraction(one)}, {fraction(two)})",
            "count": str(int(two - one) - 1),
        }
        ask = rng.choice(list(asks3))
        question = WORDINGS.draw(
            rng, f"extremes, roots, {ask}", k=k, shown=shown, left_side=shown[:-4]
        )
        return Problem(tidy(question), asks3[ask], {"shown": shown, "k": k, "ask": ask})
    if form == "unknown":
        # x^3 + a x^2 + b x + c with a given extreme point
        r, s = _even_pair(rng)
        if not r * s:
            return _extremes(rng, level)
        c = signed(rng, 1, 9)
        full = (1, Fraction(-3 * (r + s), 2), 3 * r * s, c)
        v = _value(full, r)
        a, b = int(full[1]), int(full[2])
        asks4 = {
            "a + b + c": a + b + c,
            "abc": a * b * c,
            f"{f}({s})": int(_value(full, s)),
            "c": c,
            "a": a,
        }
        ask = rng.choice(list(asks4))
        question = WORDINGS.draw(rng, "extremes, unknown", f=f, v=v, r=r, s=s, ask=ask)
        return Problem(question, str(asks4[ask]), {"r": r, "s": s, "v": int(v), "ask": ask, "f": f})
    n, a, c = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 9)
    # c x^n e^(-a x), x > 0: at n/a
    lead = terms([(c, f"x^{n}" if n > 1 else "x")])
    exponent = terms([(-a, "x")])
    formula = f"{lead}e^{{{exponent}}}"
    place = Fraction(n, a)
    if rng.random() < 0.5:
        question = WORDINGS.draw(rng, "extremes", f=f, formula=formula)
        return Problem(question, fraction(place), {"formula": formula, "ask": "peak place"})
    value = c * place**n
    answer = f"{'' if value == 1 else fraction(value)}e^{{-{n}}}"
    question = WORDINGS.draw(rng, "extremes, peak value", f=f, formula=formula)
    return Problem(question, answer, {"formula": formula, "ask": "peak value"})


def _best_shape(rng: Random, level: int) -> Problem:
    if level == 1:
        form = rng.choice(("fence", "wall", "product", "revenue"))
        if form == "fence":
            parts = rng.randint(2, 5)
            fence = rng.randint(2, 30) * 4 * (parts + 1)
            # two long sides, parts + 1 short ones
            area = Fraction(fence * fence, 8 * (parts + 1))
            question = WORDINGS.draw(
                rng,
                "best shape, level 1, fence",
                fence=fence,
                parts=parts,
                parts_minus_one=parts - 1,
                plural_s="s" if parts > 2 else "",
            )
            return Problem(question, fraction(area), {"form": form, "fence": fence, "parts": parts})
        if form == "wall":
            fence = rng.randint(10, 120) * 2
            area = Fraction(fence * fence, 8)
            question = WORDINGS.draw(rng, "best shape, level 1, wall", fence=fence)
            return Problem(question, fraction(area), {"form": form, "fence": fence})
        if form == "product":
            total, p = rng.randint(2, 20) * 3, rng.choice((2, 1))
            x = Fraction(total * 2, 3)
            value = x**2 * (total - x) if p == 2 else Fraction(total * total, 4)
            question = (
                WORDINGS.draw(rng, "best shape, level 1, product, p 2", total=total)
                if p == 2
                else WORDINGS.draw(rng, "best shape, level 1, product", total=total)
            )
            return Problem(question, fraction(value), {"form": form, "total": total, "p": p})
        price, sold, less = rng.randint(8, 40), rng.randint(10, 60) * 10, rng.randint(2, 12)
        # revenue (price + x)(sold - less x)
        x = Fraction(sold - less * price, 2 * less)
        if x <= 0 or x.denominator > 2:
            return _best_shape(rng, level)
        question = WORDINGS.draw(rng, "best shape, level 1", price=price, sold=sold, less=less)
        return Problem(
            question,
            fraction(price + x),
            {"form": form, "price": price, "sold": sold, "less": less},
        )
    if level == 2:
        form = rng.choice(("box", "closest", "rectangle under"))
        if form == "box":
            k = rng.randint(1, 6)
            if rng.random() < 0.5:
                side = 6 * k
                value, dims = 16 * k**3, (side, side)
            else:
                m = rng.choice(((8, 5, 1), (15, 24, 3), (16, 10, 2), (21, 16, 3), (45, 24, 5)))
                a, b, cut = m
                value, dims = cut * (a - 2 * cut) * (b - 2 * cut), (a, b)
            sheet = (
                f"square sheet of side ${dims[0]}$"
                if dims[0] == dims[1]
                else f"rectangular sheet that measures ${dims[0]}$ by ${dims[1]}$"
            )
            want = rng.choice(("volume", "cut"))
            cut_size = dims[0] // 6 if dims[0] == dims[1] else cut
            question = WORDINGS.draw(
                rng,
                "best shape, level 2, box",
                sheet=sheet,
                request="What is the largest possible volume of the box?"
                if want == "volume"
                else "How long should the sides of the squares be to make the volume of the box as large as possible?",
                request_of_one="Find the maximum volume of such a box."
                if want == "volume"
                else "Find the $x$ for which the box has the greatest volume.",
            )
            return Problem(
                question,
                str(value if want == "volume" else cut_size),
                {"form": form, "dims": list(dims), "want": want},
            )
        if form == "closest":
            # point of y = sqrt(x) closest to (c, 0)
            c = rng.randint(1, 12)
            x = Fraction(2 * c - 1, 2)
            d = x * x - 2 * c * x + c * c + x
            want = rng.choice(("distance", "x", "square"))
            answer = {
                "x": fraction(x),
                "distance": root(d.numerator * d.denominator, Fraction(1, d.denominator)),
                "square": fraction(d),
            }[want]
            what = WORDINGS.one(f"best shape {want}")
            question = WORDINGS.draw(
                rng,
                "best shape, level 2, closest",
                c=c,
                what=what,
                what_of_this=what.replace("the point", "this point"),
            )
            return Problem(question, answer, {"form": form, "c": c, "want": want})
        c, a = rng.randint(1, 12), rng.choice((1, 1, 2, 3))
        # rectangle of width 2x under y = 3c - a x^2: area 2x(3c - a x^2), x^2 = c/a
        height = 3 * c
        value = root(c * a, Fraction(4 * c, a))
        curve = terms([(height, ""), (-a, "x^2")])
        question = WORDINGS.draw(rng, "best shape, level 2", curve=curve)
        return Problem(question, value, {"form": form, "height": height, "a": a})
    form = rng.choice(("can", "cone in sphere", "cylinder in cone", "tank"))
    if form == "tank":
        # open box with square base, volume V = 4 k^3: surface x^2 + 4V/x, x = 2k, surface 12 k^2
        k = rng.randint(1, 12)
        volume = 4 * k**3
        question = WORDINGS.draw(rng, "best shape, tank", volume=volume)
        return Problem(question, str(12 * k * k), {"form": form, "volume": volume})
    if form == "can":
        # closed can with surface 6 pi k^2: r = k, h = 2k, volume 2 pi k^3
        k = rng.randint(1, 12)
        if rng.random() < 0.5:
            question = WORDINGS.draw(rng, "best shape, can", surface=6 * k * k)
            return Problem(question, f"{2 * k**3}\\pi", {"form": form, "surface": 6 * k * k})
        question = WORDINGS.draw(rng, "best shape, can, 2", volume=2 * k**3)
        return Problem(question, f"{6 * k * k}\\pi", {"form": form, "volume": 2 * k**3})
    if form == "cone in sphere":
        big = rng.randint(1, 9) * 3
        # h = 4R/3, r^2 = 8R^2/9, V = 32 pi R^3/81
        value = Fraction(32 * big**3, 81)
        want = rng.choice(("volume", "height"))
        question = WORDINGS.draw(
            rng,
            "best shape, cone in sphere",
            big=big,
            request="What is the maximum volume of the cone?"
            if want == "volume"
            else "What is the height of the cone when its volume is as large as possible?",
            request_of_one="How large can the volume of such a cone be?"
            if want == "volume"
            else "Find the height of the one with the greatest volume.",
        )
        if want == "height":
            return Problem(question, str(4 * big // 3), {"form": form, "radius": big, "want": want})
        answer = (
            f"{fraction(value)}\\pi"
            if value.denominator == 1
            else f"\\frac{{{value.numerator}\\pi}}{{{value.denominator}}}"
        )
        return Problem(question, answer, {"form": form, "radius": big, "want": want})
    r, h = rng.randint(2, 15), rng.randint(2, 20)
    # cylinder in a cone: x = 2r/3, height h/3: 4 pi r^2 h/27
    value = Fraction(4 * r * r * h, 27)
    question = WORDINGS.draw(rng, "best shape", r=r, h=h)
    answer = (
        f"{fraction(value)}\\pi"
        if value.denominator == 1
        else f"\\frac{{{value.numerator}\\pi}}{{{value.denominator}}}"
    )
    return Problem(question, answer, {"form": form, "r": r, "h": h})


def _related(rng: Random, level: int) -> Problem:
    if level == 1:
        form = rng.choice(("circle", "square", "sphere", "cube"))
        size, rate = rng.randint(2, 20), rng.randint(1, 9)
        slow = Fraction(rate, rng.choice((1, 1, 2)))
        if form == "circle":
            value = 2 * size * slow
            question = WORDINGS.draw(
                rng, "related, level 1, circle", slow=fraction(slow), size=size
            )
            answer = _pi(value)
        elif form == "sphere":
            value = 4 * size * size * slow
            question = WORDINGS.draw(
                rng, "related, level 1, sphere", slow=fraction(slow), size=size
            )
            answer = _pi(value)
        elif form == "square":
            value = 2 * size * slow
            question = WORDINGS.draw(
                rng, "related, level 1, square", slow=fraction(slow), size=size
            )
            answer = fraction(value)
        else:
            value = 3 * size * size * slow
            question = WORDINGS.draw(rng, "related, level 1", slow=fraction(slow), size=size)
            answer = fraction(value)
        return Problem(question, answer, {"form": form, "size": size, "rate": str(slow)})
    if level == 2:
        form = rng.choice(("ladder", "ships", "cone tank"))
        if form == "ladder":
            x, y, length = rng.choice((
                (3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (6, 8, 10), (8, 6, 10),
                (8, 15, 17), (15, 8, 17), (7, 24, 25), (24, 7, 25), (20, 21, 29)
            ))  # fmt: skip
            rate = Fraction(rng.randint(1, 6), rng.choice((1, 2)))
            value = rate * x / y
            question = WORDINGS.draw(
                rng, "related, level 2, ladder", length=length, rate=fraction(rate), x=x, y=y
            )
            if "frac{dy}" in question:
                value = -value
            return Problem(
                question,
                fraction(value),
                {
                    "form": form,
                    "x": x,
                    "y": y,
                    "length": length,
                    "rate": str(rate),
                    "signed": "frac{dy}" in question,
                },
            )
        if form == "ships":
            x, y, d = rng.choice((
                (3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (6, 8, 10), (8, 15, 17),
                (9, 12, 15), (15, 20, 25), (7, 24, 25)
            ))  # fmt: skip
            u, v = rng.randint(2, 30), rng.randint(2, 30)
            away = rng.random() < 0.5
            value = Fraction(x * u + (y * v if away else -y * v), d)
            if value == 0:
                return _related(rng, level)
            direction = "away from" if away else "towards"
            question = WORDINGS.draw(
                rng,
                "related, level 2, ships",
                x=x,
                u=u,
                y=y,
                direction=direction,
                v=v,
                north_or_south="north" if away else "south",
            )
            if question.endswith(")"):
                question = question.replace(
                    " (A negative rate means that it shrinks.)",
                    " Use a negative number if it shrinks.",
                )
            return Problem(
                question,
                fraction(value),
                {"form": form, "x": x, "y": y, "u": u, "v": v, "away": away},
            )
        r, h, rate = rng.randint(2, 9), rng.randint(4, 16), rng.randint(1, 9)
        depth = rng.randint(2, h - 1)
        # V = pi (r/h)^2 y^3/3: dV = pi (r/h)^2 y^2 y'
        value = Fraction(rate * h * h, r * r * depth * depth)
        question = WORDINGS.draw(rng, "related, level 2", h=h, r=r, rate=rate, depth=depth)
        answer = f"\\frac{{{value.numerator}}}{{{'' if value.denominator == 1 else value.denominator}\\pi}}"
        return Problem(
            question, answer, {"form": form, "r": r, "h": h, "rate": rate, "depth": depth}
        )
    form = rng.choice(("shadow", "curve", "angle", "balloon"))
    if form == "shadow":
        lamp, person = rng.choice((
            (6, 2), (15, 6), (18, 6), (12, 5), (5, 2), (20, 5), (16, 6), (10, 6), (24, 6),
            (9, 5)
        ))  # fmt: skip
        speed = Fraction(rng.randint(1, 12), rng.choice((1, 2)))
        tip = rng.random() < 0.5
        value = speed * lamp / (lamp - person) if tip else speed * person / (lamp - person)
        question = WORDINGS.draw(
            rng,
            "related, shadow",
            person=person,
            lamp=lamp,
            speed=fraction(speed),
            what="does the tip of the shadow move along the ground"
            if tip
            else "does the length of the shadow grow",
            request="How fast does the end of the shadow travel over the ground?"
            if tip
            else "How fast does the shadow get longer?",
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "lamp": lamp, "person": person, "speed": str(speed), "tip": tip},
        )
    if form == "curve":
        # a point moves on y = a x^2 + b
        x, a, u = rng.randint(1, 5), rng.randint(1, 3), rng.randint(1, 6)
        b = signed(rng, 1, 9)
        y = a * x * x + b
        slope = Fraction(u * (x + y * 2 * a * x))
        want = rng.choice(("product", "square"))
        # d(xy)/dt = u(y + 2a x^2) ; d(x^2 + y^2)/dt = 2 slope
        value = Fraction(u * (y + 2 * a * x * x)) if want == "product" else 2 * slope
        if value == 0:
            return _related(rng, level)
        curve = polynomial((a, 0, b))
        what = (
            "the product $xy$ of its coordinates"
            if want == "product"
            else "the square of its distance from the origin"
        )
        question = WORDINGS.draw(rng, "related, curve", curve=curve, u=u, what=what, x=x)
        return Problem(
            question, fraction(value), {"form": form, "curve": curve, "x": x, "u": u, "want": want}
        )
    if form == "angle":
        # triangle with sides a, b and a growing angle: area (1/2) ab sin
        a, b, w = rng.randint(2, 12), rng.randint(2, 12), Fraction(1, rng.choice((1, 2, 4, 5, 10)))
        angle, cosine = pick(
            rng, ("\\frac{\\pi}{3}", Fraction(1, 2)), ("\\frac{2\\pi}{3}", Fraction(-1, 2))
        )
        value = Fraction(a * b, 2) * cosine * w
        question = WORDINGS.draw(rng, "related, angle", a=a, b=b, w=fraction(w), angle=angle)
        return Problem(
            question, fraction(value), {"form": form, "a": a, "b": b, "w": str(w), "angle": angle}
        )
    # balloon filled at constant rate: dr/dt, dS/dt = 2 (dV/dt)/r
    r, rate = rng.randint(2, 15), rng.randint(2, 40)
    value = Fraction(2 * rate, r)
    question = WORDINGS.draw(rng, "related", rate=rate, r=r)
    return Problem(question, fraction(value), {"form": form, "r": r, "rate": rate})


def _pi(value: Fraction) -> str:
    if value.denominator == 1:
        return f"{'' if value == 1 else value}\\pi"
    return f"\\frac{{{value.numerator}\\pi}}{{{value.denominator}}}"


FAMILIES = (
    math_family("calculus_extreme_values", _extremes, "Local and absolute extreme values"),
    math_family("calculus_best_shape", _best_shape, "Largest and smallest shapes"),
    math_family("calculus_related_rates", _related, "Rates linked by geometry"),
)
