"""Extreme values, best shapes and linked rates."""

# mypy: allow-redefinition-new, local-partial-types

from __future__ import annotations

from fractions import Fraction
from random import Random

from prorl_datasets.procedural.math.latex import fraction, polynomial, root, terms, tidy
from prorl_datasets.procedural.math.problem import Problem, math_family


def _signed(rng: Random, low: int, high: int) -> int:
    return rng.choice((-1, 1)) * rng.randint(low, high)


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
            question = rng.choice(
                (
                    (
                        f"The function ${f}(x) = {formula}$ has one local maximum and one local "
                        "minimum. By how much does the value at the maximum exceed the value at the "
                        "minimum?"
                    ),
                    (
                        "Find the difference in height between the peak and the valley of the curve $y "
                        f"= {formula}$."
                    ),
                )
            )
        elif ask.startswith("place"):
            question = rng.choice(
                (
                    f"For which $x$ does ${f}(x) = {formula}$ have a local {which}?",
                    (
                        f"The curve $y = {formula}$ has a single local {which} point. What is its "
                        "$x$-coordinate?"
                    ),
                    (
                        f"At what number does the function \\[{f}(x) = {formula}\\] attain a local "
                        f"{which}?"
                    ),
                )
            )
        else:
            question = rng.choice(
                (
                    f"What is the local {which} value of ${f}(x) = {formula}$?",
                    (
                        f"Find the $y$-coordinate of the local {which} point of the graph of $y = "
                        f"{formula}$."
                    ),
                    (
                        f"The function \\[{f}(x) = {formula}\\] has exactly one local {which}. "
                        f"Determine the value of ${f}$ there."
                    ),
                )
            )
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
            question = rng.choice(
                (
                    (
                        f"Find the range of ${f}(x) = {formula}$ on the closed interval $[{low}, "
                        f"{high}]$, in interval notation."
                    ),
                    (
                        f"Which values does \\[{f}(x) = {formula}\\] take for ${low} \\le x \\le "
                        f"{high}$? Answer with an interval."
                    ),
                )
            )
        else:
            answer = fraction(max(values) if ask == "greatest" else min(values))
            question = rng.choice(
                (
                    (
                        f"What is the {ask} value of ${f}(x) = {formula}$ on the interval $[{low}, "
                        f"{high}]$?"
                    ),
                    (
                        f"If ${low} \\le x \\le {high}$, how "
                        f"{'large' if ask == 'greatest' else 'small'} can ${formula}$ be?"
                    ),
                    (
                        f"Find the absolute {'maximum' if ask == 'greatest' else 'minimum'} of the "
                        f"function \\[{f}(x) = {formula}\\] over $[{low}, {high}]$."
                    ),
                    (
                        f"Determine the {ask} number among the values of ${formula}$ for $x$ between "
                        f"${low}$ and ${high}$, the endpoints included."
                    ),
                )
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
        question = rng.choice(
            {
                "interval": (
                    (
                        f"For which real numbers ${k}$ does the equation ${shown}$ have three different "
                        "real roots? Answer with an open interval."
                    ),
                    (
                        f"The graph of $y = {shown[:-4]}$ crosses the $x$-axis three times exactly when "
                        f"${k}$ lies in a certain open interval. Find this interval."
                    ),
                ),
                "count": (
                    (
                        f"For how many integers ${k}$ does \\[{shown}\\] have three distinct real "
                        "solutions?"
                    ),
                    (
                        f"How many integer values of ${k}$ are there for which the curve $y = "
                        f"{shown[:-4]}$ meets the $x$-axis in three different points?"
                    ),
                ),
            }[ask]
        )
        return Problem(tidy(question), asks3[ask], {"shown": shown, "k": k, "ask": ask})
    if form == "unknown":
        # x^3 + a x^2 + b x + c with extreme points at given place and value
        r, s = _even_pair(rng)
        if not r * s:
            return _extremes(rng, level)
        c = _signed(rng, 1, 9)
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
        question = rng.choice(
            (
                (
                    f"The function ${f}(x) = x^3 + ax^2 + bx + c$ has a local maximum of ${v}$ at "
                    f"$x = {r}$ and a local minimum at $x = {s}$. Find ${ask}$."
                ),
                (
                    f"Constants $a$, $b$, $c$ are chosen so that ${f}(x) = x^3 + ax^2 + bx + c$ has "
                    f"extreme points at $x = {r}$ and at $x = {s}$, with ${f}({r}) = {v}$. What is "
                    f"${ask}$?"
                ),
                (
                    f"Let \\[{f}(x) = x^3 + ax^2 + bx + c.\\] The graph has horizontal tangents at "
                    f"$x = {r}$ and $x = {s}$, and it passes through $({r}, {v})$. Determine "
                    f"${ask}$."
                ),
            )
        )
        return Problem(question, str(asks4[ask]), {"r": r, "s": s, "v": int(v), "ask": ask, "f": f})
    n, a, c = rng.randint(1, 4), rng.randint(1, 4), rng.randint(1, 9)
    # c x^n e^(-a x), x > 0: at n/a
    lead = terms([(c, f"x^{n}" if n > 1 else "x")])
    exponent = terms([(-a, "x")])
    formula = f"{lead}e^{{{exponent}}}"
    place = Fraction(n, a)
    if rng.random() < 0.5:
        question = rng.choice(
            (
                f"At which $x > 0$ does ${f}(x) = {formula}$ reach its greatest value?",
                (
                    f"For positive $x$ the expression ${formula}$ first grows and then shrinks. "
                    "Where is it largest? Give $x$."
                ),
            )
        )
        return Problem(question, fraction(place), {"formula": formula, "ask": "peak place"})
    value = c * place**n
    answer = f"{'' if value == 1 else fraction(value)}e^{{-{n}}}"
    question = rng.choice(
        (
            (
                f"What is the greatest value of ${f}(x) = {formula}$ for $x > 0$? Give an exact "
                "answer."
            ),
            f"Find the maximum of \\[{formula}\\] over the positive real numbers, exactly.",
            (
                f"The function ${f}(x) = {formula}$, $x > 0$, has an absolute maximum. How "
                "large is it, in exact form?"
            ),
        )
    )
    return Problem(question, answer, {"formula": formula, "ask": "peak value"})


def _best_shape(rng: Random, level: int) -> Problem:
    if level == 1:
        form = rng.choice(("fence", "wall", "product", "revenue"))
        if form == "fence":
            parts = rng.randint(2, 5)
            fence = rng.randint(2, 30) * 4 * (parts + 1)
            # two long sides, parts + 1 short ones
            area = Fraction(fence * fence, 8 * (parts + 1))
            question = rng.choice(
                (
                    (
                        f"A farmer has ${fence}$ metres of fence. He encloses a rectangular field and "
                        f"divides it into ${parts}$ pens by fences parallel to one side. What is the "
                        "greatest possible total area, in square metres?"
                    ),
                    (
                        f"A rectangle is split into ${parts}$ smaller rectangles by ${parts - 1}$ "
                        f"segment{'s' if parts > 2 else ''} parallel to one of its sides. All segments, "
                        f"the outline included, have total length ${fence}$. How large can the area of "
                        "the whole rectangle be?"
                    ),
                )
            )
            return Problem(question, fraction(area), {"form": form, "fence": fence, "parts": parts})
        if form == "wall":
            fence = rng.randint(10, 120) * 2
            area = Fraction(fence * fence, 8)
            question = rng.choice(
                (
                    (
                        f"With ${fence}$ feet of fencing, a rectangular garden is to be closed off "
                        "along a straight wall, which needs no fence. Find the largest area that the "
                        "garden can have, in square feet."
                    ),
                    (
                        f"Three sides of a rectangle have total length ${fence}$; the fourth side lies "
                        "along a river. What is the maximum area of the rectangle?"
                    ),
                )
            )
            return Problem(question, fraction(area), {"form": form, "fence": fence})
        if form == "product":
            total, p = rng.randint(2, 20) * 3, rng.choice((2, 1))
            x = Fraction(total * 2, 3)
            value = x**2 * (total - x) if p == 2 else Fraction(total * total, 4)
            question = (
                rng.choice(
                    (
                        (
                            f"Two positive numbers add up to ${total}$. What is the largest possible value "
                            "of the product of one number and the square of the other?"
                        ),
                        f"Find the maximum of $x^2y$ for positive $x$ and $y$ with $x + y = {total}$.",
                    )
                )
                if p == 2
                else rng.choice(
                    (
                        f"The sum of two real numbers is ${total}$. How large can their product be?",
                        f"Find the maximum of $xy$ for real $x$ and $y$ with $x + y = {total}$.",
                    )
                )
            )
            return Problem(question, fraction(value), {"form": form, "total": total, "p": p})
        price, sold, less = rng.randint(8, 40), rng.randint(10, 60) * 10, rng.randint(2, 12)
        # revenue (price + x)(sold - less x)
        x = Fraction(sold - less * price, 2 * less)
        if x <= 0 or x.denominator > 2:
            return _best_shape(rng, level)
        question = rng.choice(
            (
                (
                    f"At a price of ${price}$ coins a shop sells ${sold}$ lamps a month. Each "
                    f"increase of the price by one coin costs it ${less}$ sales. Which price, in "
                    "coins, brings in the most money? Prices need not be whole numbers."
                ),
                (
                    f"When tickets cost ${price}$ euros, ${sold}$ people come; for every euro added "
                    f"to the price ${less}$ fewer people come, and in between the attendance "
                    "changes evenly. At what price in euros is the income greatest?"
                ),
            )
        )
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
            question = rng.choice(
                (
                    (
                        f"Equal squares are cut from the corners of a {sheet}, and the flaps are folded "
                        "up to make an open box. "
                        f"{'What is the largest possible volume of the box?' if want == 'volume' else 'How long should the sides of the squares be to make the volume of the box as large as possible?'}"
                    ),
                    (
                        f"An open box is folded from a {sheet} after a square of side $x$ has been "
                        "removed at each corner. "
                        f"{'Find the maximum volume of such a box.' if want == 'volume' else 'Find the $x$ for which the box has the greatest volume.'}"
                    ),
                )
            )
            return Problem(
                question,
                str(value if want == "volume" else cut_size),
                {"form": form, "dims": list(dims), "want": want},
            )
        if form == "closest":
            # point on y = sqrt(x) (or x^2 = y) closest to (c, 0)
            c = rng.randint(1, 12)
            x = Fraction(2 * c - 1, 2)
            d = x * x - 2 * c * x + c * c + x
            want = rng.choice(("distance", "x", "square"))
            answer = {
                "x": fraction(x),
                "distance": root(d.numerator * d.denominator, Fraction(1, d.denominator)),
                "square": fraction(d),
            }[want]
            what = {
                "x": "the $x$-coordinate of the point",
                "distance": "the distance from $P$ to the point",
                "square": "the square of the distance from $P$ to the point",
            }[want]
            question = rng.choice(
                (
                    (
                        f"Let $P = ({c}, 0)$. Find {what} of the curve $y = \\sqrt{{x}}$ that lies "
                        "nearest to $P$."
                    ),
                    (
                        f"Among all points of the curve $y = \\sqrt{{x}}$, one is closest to $P = ({c}, "
                        f"0)$. Determine {what.replace('the point', 'this point')}."
                    ),
                )
            )
            return Problem(question, answer, {"form": form, "c": c, "want": want})
        c, a = rng.randint(1, 12), rng.choice((1, 1, 2, 3))
        # rectangle under y = 3 c - a x^2... width 2x: area 2x(3c - a x^2), x^2 = c/a
        height = 3 * c
        value = root(c * a, Fraction(4 * c, a))
        curve = terms([(height, ""), (-a, "x^2")])
        question = rng.choice(
            (
                (
                    "A rectangle has two vertices on the $x$-axis and the other two on the part of "
                    f"the curve $y = {curve}$ that lies above the axis. What is its largest "
                    "possible area?"
                ),
                (
                    "Find the maximum area of a rectangle that is inscribed in the region between "
                    f"the parabola $y = {curve}$ and the $x$-axis, one side lying on the axis."
                ),
            )
        )
        return Problem(question, value, {"form": form, "height": height, "a": a})
    form = rng.choice(("can", "cone in sphere", "cylinder in cone", "tank"))
    if form == "tank":
        # open box with square base, volume V = 4 k^3: surface x^2 + 4V/x, x = 2k, surface 12 k^2
        k = rng.randint(1, 12)
        volume = 4 * k**3
        question = rng.choice(
            (
                (
                    f"An open tank with a square base and vertical sides is to hold ${volume}$ "
                    "cubic metres. What is the least possible area, in square metres, of the sheet "
                    "metal for its base and its four sides?"
                ),
                (
                    f"A box without a lid has a square base and volume ${volume}$. How small can "
                    "the total area of its five faces be?"
                ),
                (
                    "Find the minimum surface area of an open-topped rectangular box of volume "
                    f"${volume}$ whose bottom is a square."
                ),
            )
        )
        return Problem(question, str(12 * k * k), {"form": form, "volume": volume})
    if form == "can":
        # closed can with surface 6 pi k^2: r = k, h = 2k, volume 2 pi k^3; or volume fixed
        k = rng.randint(1, 12)
        if rng.random() < 0.5:
            question = rng.choice(
                (
                    (
                        f"A closed cylindrical can has total surface area ${6 * k * k}\\pi$. What is "
                        "the greatest possible volume of the can?"
                    ),
                    (
                        f"From ${6 * k * k}\\pi$ square centimetres of tin a cylinder with bottom and "
                        "lid is made, without waste. Find the largest volume, in cubic centimetres, "
                        "that it can have."
                    ),
                )
            )
            return Problem(question, f"{2 * k**3}\\pi", {"form": form, "surface": 6 * k * k})
        question = rng.choice(
            (
                (
                    f"A cylinder with bottom and lid has volume ${2 * k**3}\\pi$. What is the "
                    "smallest possible area of its whole surface?"
                ),
                (
                    f"Cylindrical cans of volume ${2 * k**3}\\pi$ cubic centimetres, closed at both "
                    "ends, can be slim or flat. Find the least surface area, in square "
                    "centimetres, that such a can may have."
                ),
            )
        )
        return Problem(question, f"{6 * k * k}\\pi", {"form": form, "volume": 2 * k**3})
    if form == "cone in sphere":
        big = rng.randint(1, 9) * 3
        # h = 4R/3, r^2 = 8R^2/9, V = 32 pi R^3/81
        value = Fraction(32 * big**3, 81)
        want = rng.choice(("volume", "height"))
        question = rng.choice(
            (
                (
                    f"A right circular cone is inscribed in a sphere of radius ${big}$. "
                    f"{'What is the maximum volume of the cone?' if want == 'volume' else 'What is the height of the cone when its volume is as large as possible?'}"
                ),
                (
                    "Consider all right circular cones whose apex and base circle lie on a sphere "
                    f"of radius ${big}$. "
                    f"{'How large can the volume of such a cone be?' if want == 'volume' else 'Find the height of the one with the greatest volume.'}"
                ),
            )
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
    question = rng.choice(
        (
            (
                f"A right circular cone has base radius ${r}$ and height ${h}$. What is the "
                "largest volume of a cylinder that fits inside it with its axis along the axis "
                "of the cone?"
            ),
            (
                "Find the maximum volume of a right circular cylinder inscribed in a cone of "
                f"height ${h}$ and base radius ${r}$, the base of the cylinder lying in the "
                "base of the cone."
            ),
        )
    )
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
            question = rng.choice(
                (
                    (
                        f"The radius of a circular ripple grows at ${fraction(slow)}$ centimetres per "
                        "second. How fast, in square centimetres per second, does its area grow when "
                        f"the radius is ${size}$ centimetres?"
                    ),
                    (
                        f"An oil slick stays circular while its radius increases by ${fraction(slow)}$ "
                        f"metres per minute. At the moment when the radius is ${size}$ metres, at what "
                        "rate is the area increasing, in square metres per minute?"
                    ),
                )
            )
            answer = _pi(value)
        elif form == "sphere":
            value = 4 * size * size * slow
            question = rng.choice(
                (
                    (
                        f"A balloon is a sphere whose radius grows at ${fraction(slow)}$ centimetres "
                        "per second. Find the rate, in cubic centimetres per second, at which its "
                        f"volume increases when the radius is ${size}$ centimetres."
                    ),
                    (
                        f"The radius $r$ of a ball satisfies $\\frac{{dr}}{{dt}} = {fraction(slow)}$. "
                        f"What is $\\frac{{dV}}{{dt}}$, where $V$ is the volume, at the time when $r = "
                        f"{size}$?"
                    ),
                )
            )
            answer = _pi(value)
        elif form == "square":
            value = 2 * size * slow
            question = rng.choice(
                (
                    (
                        f"Each side of a square grows at the rate of ${fraction(slow)}$ units per "
                        "second. How fast, in square units per second, is the area growing when the "
                        f"side is ${size}$ units long?"
                    ),
                    (
                        "A square sheet of metal expands so that its side $s$ increases by "
                        f"${fraction(slow)}$ millimetres per hour. At what rate, in square millimetres "
                        f"per hour, does its area change at the time when $s = {size}$?"
                    ),
                )
            )
            answer = fraction(value)
        else:
            value = 3 * size * size * slow
            question = rng.choice(
                (
                    (
                        f"An ice cube melts so that its edge shrinks by ${fraction(slow)}$ centimetres "
                        "per hour. How many cubic centimetres per hour does it lose when the edge is "
                        f"${size}$ centimetres?"
                    ),
                    (
                        f"The edge $a$ of a cube satisfies $\\frac{{da}}{{dt}} = {fraction(slow)}$. "
                        f"Determine the rate of change of its volume when $a = {size}$."
                    ),
                )
            )
            answer = fraction(value)
        return Problem(question, answer, {"form": form, "size": size, "rate": str(slow)})
    if level == 2:
        form = rng.choice(("ladder", "ships", "cone tank"))
        if form == "ladder":
            x, y, length = rng.choice(
                (
                    (3, 4, 5),
                    (4, 3, 5),
                    (5, 12, 13),
                    (12, 5, 13),
                    (6, 8, 10),
                    (8, 6, 10),
                    (8, 15, 17),
                    (15, 8, 17),
                    (7, 24, 25),
                    (24, 7, 25),
                    (20, 21, 29),
                )
            )
            rate = Fraction(rng.randint(1, 6), rng.choice((1, 2)))
            value = rate * x / y
            question = rng.choice(
                (
                    (
                        f"A ladder ${length}$ feet long leans against a vertical wall. Its foot is "
                        f"pulled away from the wall at ${fraction(rate)}$ feet per second. How fast, in "
                        f"feet per second, does the top slide down when the foot is ${x}$ feet from the "
                        "wall?"
                    ),
                    (
                        f"The ends of a rod of length ${length}$ slide along the positive $x$-axis and "
                        "the positive $y$-axis. The lower end moves away from the origin at speed "
                        f"${fraction(rate)}$. What is the speed of the upper end at the moment when it "
                        f"is at $(0, {y})$?"
                    ),
                    (
                        "Two points move along the axes, one at $(x, 0)$ and one at $(0, y)$ with $x, "
                        f"y > 0$, so that their distance is always ${length}$. If $\\frac{{dx}}{{dt}} = "
                        f"{fraction(rate)}$, find $\\frac{{dy}}{{dt}}$ when $x = {x}$."
                    ),
                )
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
            x, y, d = rng.choice(
                (
                    (3, 4, 5),
                    (4, 3, 5),
                    (5, 12, 13),
                    (12, 5, 13),
                    (6, 8, 10),
                    (8, 15, 17),
                    (9, 12, 15),
                    (15, 20, 25),
                    (7, 24, 25),
                )
            )
            u, v = rng.randint(2, 30), rng.randint(2, 30)
            away = rng.random() < 0.5
            value = Fraction(x * u + (y * v if away else -y * v), d)
            if value == 0:
                return _related(rng, level)
            direction = "away from" if away else "towards"
            question = rng.choice(
                (
                    (
                        f"Two straight roads cross at right angles. One car is ${x}$ km from the "
                        f"crossing and drives away from it at ${u}$ km per hour; another is ${y}$ km "
                        f"from the crossing on the other road and drives {direction} it at ${v}$ km per "
                        "hour. At what rate, in km per hour, is the distance between the cars "
                        "changing? Count a decrease as negative."
                    ),
                    (
                        f"Ship $A$ is ${x}$ miles east of a buoy and sails east at ${u}$ miles per "
                        f"hour. Ship $B$ is ${y}$ miles north of the buoy and sails "
                        f"{'north' if away else 'south'} at ${v}$ miles per hour. How fast, in miles "
                        "per hour, is the distance between the ships growing at this moment? (A "
                        "negative rate means that it shrinks.)"
                    ),
                )
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
        question = rng.choice(
            (
                (
                    f"A conical tank with its vertex down is ${h}$ metres deep and has radius ${r}$ "
                    f"metres at the top. Water runs in at ${rate}$ cubic metres per minute. How "
                    "fast does the water level rise, in metres per minute, when the water is "
                    f"${depth}$ metres deep?"
                ),
                (
                    f"Water is poured at ${rate}$ cubic centimetres per second into a cone that "
                    f"stands on its tip; the cone has height ${h}$ centimetres and its rim has "
                    f"radius ${r}$ centimetres. Find the rate, in centimetres per second, at which "
                    f"the depth increases when it equals ${depth}$ centimetres."
                ),
            )
        )
        answer = f"\\frac{{{value.numerator}}}{{{'' if value.denominator == 1 else value.denominator}\\pi}}"
        return Problem(
            question, answer, {"form": form, "r": r, "h": h, "rate": rate, "depth": depth}
        )
    form = rng.choice(("shadow", "curve", "angle", "balloon"))
    if form == "shadow":
        lamp, person = rng.choice(
            ((6, 2), (15, 6), (18, 6), (12, 5), (5, 2), (20, 5), (16, 6), (10, 6), (24, 6), (9, 5))
        )
        speed = Fraction(rng.randint(1, 12), rng.choice((1, 2)))
        tip = rng.random() < 0.5
        value = speed * lamp / (lamp - person) if tip else speed * person / (lamp - person)
        question = rng.choice(
            (
                (
                    f"A person ${person}$ feet tall walks away from a lamp post ${lamp}$ feet high "
                    f"at ${fraction(speed)}$ feet per second. At what rate, in feet per second, "
                    f"{'does the tip of the shadow move along the ground' if tip else 'does the length of the shadow grow'}?"
                ),
                (
                    f"A light hangs ${lamp}$ units above level ground. Somebody of height "
                    f"${person}$ moves away from the point below the light with speed "
                    f"${fraction(speed)}$. "
                    f"{'How fast does the end of the shadow travel over the ground?' if tip else 'How fast does the shadow get longer?'}"
                ),
            )
        )
        return Problem(
            question,
            fraction(value),
            {"form": form, "lamp": lamp, "person": person, "speed": str(speed), "tip": tip},
        )
    if form == "curve":
        # a point moves on y = x^2 + c: distance from the origin, or area
        x, a, u = rng.randint(1, 5), rng.randint(1, 3), rng.randint(1, 6)
        b = _signed(rng, 1, 9)
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
        question = rng.choice(
            (
                (
                    f"A point $(x, y)$ moves along the curve $y = {curve}$ so that $x$ increases at "
                    f"the constant rate ${u}$. At what rate is {what} changing when $x = {x}$?"
                ),
                (
                    f"A bug crawls on the parabola \\[y = {curve}\\] with $\\frac{{dx}}{{dt}} = "
                    f"{u}$. Find the rate of change, with respect to $t$, of {what} at the moment "
                    f"when $x = {x}$."
                ),
            )
        )
        return Problem(
            question, fraction(value), {"form": form, "curve": curve, "x": x, "u": u, "want": want}
        )
    if form == "angle":
        # triangle with sides a, b and angle growing: area (1/2) ab sin; at 60, 120, 45...
        a, b, w = rng.randint(2, 12), rng.randint(2, 12), Fraction(1, rng.choice((1, 2, 4, 5, 10)))
        angle, cosine = rng.choice(
            (("\\frac{\\pi}{3}", Fraction(1, 2)), ("\\frac{2\\pi}{3}", Fraction(-1, 2)))
        )
        value = Fraction(a * b, 2) * cosine * w
        question = rng.choice(
            (
                (
                    f"Two sides of a triangle have the fixed lengths ${a}$ and ${b}$. The angle "
                    f"between them grows at ${fraction(w)}$ radian per second. At what rate is the "
                    f"area changing when the angle is ${angle}$? Use a negative number for a "
                    "decrease."
                ),
                (
                    f"In a triangle the sides of lengths ${a}$ and ${b}$ enclose the angle "
                    f"$\\theta$, and $\\frac{{d\\theta}}{{dt}} = {fraction(w)}$. Find "
                    f"$\\frac{{dA}}{{dt}}$, where $A$ is the area, at $\\theta = {angle}$."
                ),
            )
        )
        return Problem(
            question, fraction(value), {"form": form, "a": a, "b": b, "w": str(w), "angle": angle}
        )
    # balloon filled at constant rate: dr/dt, dS/dt = 2 (dV/dt)/r
    r, rate = rng.randint(2, 15), rng.randint(2, 40)
    value = Fraction(2 * rate, r)
    question = rng.choice(
        (
            (
                f"Air is pumped into a spherical balloon at ${rate}$ cubic centimetres per "
                "second. How fast does its surface area grow, in square centimetres per "
                f"second, when the radius is ${r}$ centimetres?"
            ),
            (
                f"The volume of a sphere increases steadily by ${rate}$ cubic units per second. "
                "Determine the rate of increase of its surface area, in square units per "
                f"second, at the time when its radius is ${r}$ units."
            ),
        )
    )
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
