"""Problems on number bases."""

from __future__ import annotations

from math import gcd
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import terms
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


def _written(n: int, base: int) -> str:
    digits = ""
    while n:
        digits = str(n % base) + digits
        n //= base
    return digits or "0"


def _base_conversion(rng: Random, level: int) -> Problem:
    who, base = rng.choice(PEOPLE), rng.randint(3, 9)
    if level == 1:
        if rng.random() < 0.5:
            n = rng.randint(base**2, base**4)
            text = _written(n, base)
            texts = WORDINGS.all("base conversion, level 1", base=base, text=text, who=who)
            text_out = rng.choice(texts)
            values = {"ask": "to ten", "digits": text, "base": base}
            return Problem(text_out, str(n), values)
        n = rng.randint(50, 900)
        texts = WORDINGS.all("base conversion, level 1, 2", n=n, base=base, who=who)
        values = {"ask": "from ten", "n": n, "base": base}
        return Problem(rng.choice(texts), _written(n, base), values)
    if level == 2:
        ask = rng.choice(("sum", "product", "digits", "change"))
        if ask == "change":
            other = redrawn(lambda: rng.randint(3, 9), lambda b: b != base)
            n = rng.randint(base**2, base**4)
            texts = WORDINGS.all(
                "base conversion, level 2, change",
                digits=_written(n, base),
                base=base,
                other=other,
                who=who,
            )
            values = {"ask": ask, "digits": _written(n, base), "base": base, "other": other}
            return Problem(rng.choice(texts), _written(n, other), values)
        if ask == "digits":
            n = rng.randint(500, 90000)
            base = rng.choice((2, 3, 4, 5, 6, 7, 8, 9))
            which = rng.choice(("sum", "length"))
            shown = _written(n, base)
            if which == "sum":
                texts = WORDINGS.all("base conversion, level 2, digits, sum", base=base, n=n)
                answer = sum(map(int, shown))
            else:
                d = max(sorted(set(shown)), key=shown.count)
                texts = WORDINGS.all("base conversion, level 2, digits", d=d, n=n, base=base)
                answer = shown.count(d)
                return Problem(
                    rng.choice(texts),
                    str(answer),
                    {"ask": "times", "n": n, "base": base, "d": int(d)},
                )
            return Problem(
                rng.choice(texts), str(answer), {"ask": "sum of digits", "n": n, "base": base}
            )
        a = rng.randint(base**2, base**3)
        b = rng.randint(base, base**2) if ask == "product" else rng.randint(base**2, base**3)
        sign = "\\cdot" if ask == "product" else "+"
        answer = a * b if ask == "product" else a + b
        x, y = _written(a, base), _written(b, base)
        verb = "multiplied" if ask == "product" else "added"
        texts = WORDINGS.all(
            "base conversion 4", x=x, base=base, sign=sign, y=y, verb=verb, who=who
        )
        values = {"ask": ask, "x": x, "y": y, "base": base}
        return Problem(rng.choice(texts), _written(answer, base), values)
    ask = rng.choice(("lengths", "no digit", "two bases"))
    if ask == "lengths":
        b, c = redrawn(lambda: (rng.randint(2, 9), rng.randint(2, 9)), lambda p: p[0] < p[1])
        places, more = rng.randint(3, 5), rng.randint(4, 13)
        low, high = max(c ** (places - 1), b ** (more - 1)), min(c**places, b**more)
        if high - low < 4 or more <= places:
            return _base_conversion(rng, level)
        texts = WORDINGS.all("base conversion, lengths", places=places, c=c, more=more, b=b)
        values = {"ask": ask, "b": b, "c": c, "places": places, "more": more}
        return Problem(rng.choice(texts), str(high - low), values)
    if ask == "no digit":
        base = rng.choice((3, 4, 5, 6, 7))
        top = rng.randint(200, 2000)
        digit = rng.randint(0, base - 1)
        answer = sum(str(digit) not in _written(n, base) for n in range(1, top + 1))
        texts = WORDINGS.all("base conversion, no digit", top=top, digit=digit, base=base, who=who)
        values = {"ask": ask, "base": base, "top": top, "d": digit}
        return Problem(rng.choice(texts), str(answer), values)
    b, c = redrawn(lambda: (rng.randint(3, 12), rng.randint(3, 12)), lambda p: p[0] < p[1])
    bases = [
        (x, y)
        for x in range(1, min(b, 10))
        for y in range(1, min(b, 10))
        if x * c + y == y * b + x and x != y
    ]
    if not bases:
        position = rng.randint(30, 400)
        allowed = sorted(rng.sample(range(10), rng.choice((3, 4, 5))))
        if allowed[0]:
            allowed[0] = 0
        size = len(allowed)
        answer = int("".join(str(allowed[int(d)]) for d in _written(position, size)))
        start = [int("".join(str(allowed[int(d)]) for d in _written(i, size))) for i in range(1, 6)]
        shown_digits = ", ".join(map(str, allowed[:-1])) + f" and {allowed[-1]}"
        texts = WORDINGS.all(
            "base conversion",
            shown_digits=shown_digits,
            start_list=", ".join(map(str, start)),
            positionth=ordinal(position),
            start=start,
            position=position,
        )
        values = {"ask": "list", "allowed": allowed, "position": position}
        return Problem(rng.choice(texts), str(answer), values)
    n = max(x * c + y for x, y in bases)
    texts = WORDINGS.all("base conversion, 2", c=c, b=b)
    return Problem(rng.choice(texts), str(n), {"ask": ask, "b": b, "c": c})


def _unknown_bases(rng: Random, level: int) -> Problem:
    who = rng.choice(PEOPLE)
    if level == 1:
        b = rng.randint(4, 16)
        digits = [rng.randint(1, min(b - 1, 9))] + [rng.randint(0, min(b - 1, 9)) for _ in range(2)]
        n = digits[0] * b * b + digits[1] * b + digits[2]
        text = "".join(map(str, digits))
        texts = WORDINGS.all("unknown bases, level 1", n=n, text=text, who=who)
        return Problem(rng.choice(texts), str(b), {"ask": "base", "digits": digits, "n": n})
    if level == 2:
        ask = rng.choice(("sum", "product"))

        def draw() -> tuple[str, str, str, int]:
            b = rng.randint(4, 9)
            x, y = rng.randint(b, b**3 - 1), rng.randint(b, b**2 - 1)
            result = x + y if ask == "sum" else x * y
            return _written(x, b), _written(y, b), _written(result, b), b

        def solutions(drawn: tuple[str, str, str, int]) -> list[int]:
            x, y, z, _ = drawn
            least = max(map(int, x + y + z)) + 1
            return [
                b
                for b in range(max(least, 2), 30)
                if (_value(x, b) + _value(y, b) if ask == "sum" else _value(x, b) * _value(y, b))
                == _value(z, b)
            ]

        x, y, z, b = redrawn(draw, lambda d: len(solutions(d)) == 1 and d[0] != d[1])
        sign = "+" if ask == "sum" else "\\cdot"
        texts = WORDINGS.all("unknown bases, level 2", x=x, sign=sign, y=y, z=z, who=who)
        return Problem(rng.choice(texts), str(b), {"ask": ask, "x": x, "y": y, "z": z})
    ask = rng.choice(("divisible", "how many", "two bases"))
    if ask == "divisible":
        p, q, r = rng.randint(1, 9), rng.randint(0, 9), rng.randint(0, 9)
        m = rng.choice((7, 9, 11, 13, 15, 17, 19))
        low, high = max(p, q, r) + 1, rng.randint(60, 150)
        bases = [b for b in range(low, high + 1) if (p * b * b + q * b + r) % m == 0]
        if not bases:
            return _unknown_bases(rng, level)
        text = f"{p}{q}{r}"
        texts = WORDINGS.all(
            "unknown bases, divisible",
            form_in_b=terms([(p, "b^2"), (q, "b"), (r, "")]),
            text=text,
            low=low,
            high=high,
            m=m,
        )
        values = {"ask": ask, "digits": [p, q, r], "m": m, "low": low, "high": high}
        return Problem(rng.choice(texts), str(len(bases)), values)
    if ask == "how many":
        n = rng.randint(100, 2500)
        d = rng.randint(0, 9)
        places = rng.choice((3, 4))
        if rng.random() < 0.5:
            bases = [b for b in range(d + 1, n + 1) if b >= 2 and n % b == d]
            texts = WORDINGS.all("unknown bases, how many", n=n, d=d, who=who)
            if n - d < 1 or not bases:
                return _unknown_bases(rng, level)
            values = {"ask": "last digit", "n": n, "d": d}
            return Problem(rng.choice(texts), str(len(bases)), values)
        bases = [b for b in range(2, n + 1) if b ** (places - 1) <= n < b**places]
        total = sum(bases)
        if not bases:
            return _unknown_bases(rng, level)
        word = {3: "three", 4: "four"}[places]
        texts = WORDINGS.all("unknown bases, how many, 2", word=word, n=n, who=who)
        values = {"ask": "length", "n": n, "places": places}
        return Problem(rng.choice(texts), str(total), values)
    one, two = redrawn(
        lambda: (
            rng.randint(1, 9) * 10 + rng.randint(0, 9),
            rng.randint(1, 9) * 10 + rng.randint(0, 9),
        ),
        lambda p: (
            p[0] // 10 != p[1] // 10 and gcd(p[0] // 10, p[1] // 10) == 1 and p[0] % 10 != p[1] % 10
        ),
    )
    pairs = [
        (a, b)
        for a in range(max(map(int, str(one))) + 1, 200)
        for b in range(max(map(int, str(two))) + 1, 200)
        if a > 1 and b > 1 and one // 10 * a + one % 10 == two // 10 * b + two % 10
    ]
    a, b = min(pairs, key=lambda p: p[0] + p[1])
    texts = WORDINGS.all("unknown bases", one=one, two=two)
    return Problem(rng.choice(texts), str(a + b), {"ask": ask, "x": one, "y": two})


def _value(digits: str, base: int) -> int:
    value = 0
    for digit in digits:
        value = value * base + int(digit)
    return value


FAMILIES = (
    math_family("numbers_base_conversion", _base_conversion, "writing and counting in a base"),
    math_family("numbers_unknown_bases", _unknown_bases, "the base that makes a line true"),
)
