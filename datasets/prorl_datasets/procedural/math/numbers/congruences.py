"""Problems on congruences."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, lcm
from random import Random

from prorl_datasets.procedural.math.drawing import PEOPLE, redrawn
from prorl_datasets.procedural.math.latex import listed
from prorl_datasets.procedural.math.problem import Problem, math_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)

HEAPS = (
    ("eggs", "baskets"), ("coins", "stacks"), ("stamps", "album pages"), ("tiles", "rows"),
    ("beads", "strings"), ("oranges", "crates"), ("books", "shelves"), ("chairs", "rows"),
)  # fmt: skip


def _system(rng: Random, moduli: int, top: int) -> tuple[list[int], list[int], int]:
    """Return coprime moduli, remainders and the least positive solution."""
    m = sorted(
        redrawn(
            lambda: rng.sample(range(3, top), moduli),
            lambda m: lcm(*m) == _product(m) and max(m) > 4,
        )
    )
    x = redrawn(
        lambda: rng.randint(max(m) + 1, _product(m) - 1),
        lambda x: all(x % k for k in m) and len({x % k for k in m}) > 1,
    )
    return m, [x % k for k in m], x


def _product(numbers: Iterable[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product


def _remainder_systems(rng: Random, level: int) -> Problem:
    who, (things, places) = rng.choice(PEOPLE), rng.choice(HEAPS)
    if level == 1:
        m, r, x = _system(rng, 2, 14)
        texts = WORDINGS.all(
            "remainder systems, level 1",
            r=r,
            m=m,
            who=who,
            modulus=m[0] * m[1],
            things=things,
            places=places,
        )
        return Problem(rng.choice(texts), str(x), {"ask": "least", "moduli": m, "remainders": r})
    if level == 2:
        m, r, x = _system(rng, 2, 16)
        step = m[0] * m[1]
        top = rng.choice((500, 600, 800, 1000, 1500, 2000))
        if rng.random() < 0.5:
            texts = WORDINGS.all(
                "remainder systems, level 2", top=top, r=r, m=m, who=who, things=things
            )
            answer = x + (top - 1 - x) // step * step
            ask = "largest"
        else:
            texts = WORDINGS.all("remainder systems, level 2, 2", top=top, r=r, m=m)
            answer = (top - 1 - x) // step + 1
            ask = "count"
        return Problem(
            rng.choice(texts), str(answer), {"ask": ask, "moduli": m, "remainders": r, "top": top}
        )
    if rng.random() < 0.5:
        m, r, x = _system(rng, 3, 14)
        texts = (
            WORDINGS.one("remainder systems 7", listed_r=listed(r), listed_m=listed(m)),
            WORDINGS.one("remainder systems", who=who, things=things, places=places, m=m, r=r),
            WORDINGS.one("remainder systems 2", r=r, m=m),
            WORDINGS.one("remainder systems 3", m=m, r=r, product_m=_product(m)),
        )
        return Problem(rng.choice(texts), str(x), {"ask": "least", "moduli": m, "remainders": r})
    short = rng.randint(1, 3)
    m = sorted(redrawn(lambda: rng.sample(range(5, 19), 3), lambda m: lcm(*m) < _product(m)))
    extra = redrawn(lambda: rng.choice((7, 11, 13, 17, 19)), lambda p: lcm(*m) % p > 0)
    x = next(k for k in range(lcm(*m) - short, lcm(*m) * 20, lcm(*m)) if k % extra == 0)
    missing = f"{short} {'is' if short == 1 else 'are'} missing from the last one"
    texts = WORDINGS.all(
        "remainder systems 8",
        extra=extra,
        short_value=m[0] - short,
        short_value_2=m[1] - short,
        short_value_3=m[2] - short,
        m=m,
        who=who,
        things=things,
        short=short,
        things_2=things.capitalize(),
        missing=missing,
    )
    return Problem(
        rng.choice(texts), str(x), {"ask": "short", "moduli": m, "short": short, "extra": extra}
    )


def _linear_congruences(rng: Random, level: int) -> Problem:
    if level == 1:
        m = rng.choice((11, 13, 17, 19, 23, 25, 26, 27, 29, 31, 35, 37, 41, 43, 47))
        a = redrawn(lambda: rng.randint(3, m - 2), lambda a: gcd(a, m) == 1)
        texts = WORDINGS.all(
            "linear congruences 7", a=a, m=m, m_minus_1=m - 1, drawn=rng.choice(PEOPLE)
        )
        return Problem(rng.choice(texts), str(pow(a, -1, m)), {"ask": "inverse", "a": a, "m": m})
    if level == 2:
        m = rng.randint(20, 120)
        a = redrawn(lambda: rng.randint(3, m - 1), lambda a: gcd(a, m) == 1)
        b = rng.randint(2, m - 1)
        c = rng.randint(1, min(30, m - 1))
        texts = WORDINGS.all(
            "linear congruences, level 2",
            m=m,
            m_minus_one=m - 1,
            c_mod_m=c % m,
            a=a,
            b_plus_c_mod_m=(b + c) % m,
            c=c,
        )
        if rng.random() < 0.3:
            top = rng.randint(3 * m, 12 * m)
            texts = WORDINGS.all(
                "linear congruences 8", top=top, a=a, c=c, b_plus_c_mod_m=(b + c) % m, m=m
            )
            first = pow(a, -1, m) * b % m or m
            values = {"ask": "line", "a": a, "c": c, "r": (b + c) % m, "m": m, "top": top}
            return Problem(rng.choice(texts), str((top - first) // m + 1), values)
        x = pow(a, -1, m) * b % m
        return Problem(
            rng.choice(texts), str(x), {"ask": "solve", "a": a, "c": c, "r": (b + c) % m, "m": m}
        )
    g = rng.randint(2, 8)
    m = g * rng.randint(7, 25)
    a = redrawn(lambda: g * rng.randint(2, 12), lambda a: gcd(a, m) == g and a < m)
    b = g * rng.randint(1, m // g - 1)
    one = pow(a // g, -1, m // g) * (b // g) % (m // g)
    solutions = [one + i * (m // g) for i in range(g)]
    if rng.random() < 0.5:
        texts = WORDINGS.all("linear congruences", m=m, a=a, b=b, m_minus_one=m - 1)
        return Problem(
            rng.choice(texts), str(sum(solutions)), {"ask": "total", "a": a, "b": b, "m": m}
        )
    top = rng.randint(2 * m, 9 * m)
    texts = WORDINGS.all("linear congruences, count", top=top, a=a, b=b, m=m)
    count = (top - (one or m // g)) // (m // g) + 1
    return Problem(
        rng.choice(texts), str(count), {"ask": "count", "a": a, "b": b, "m": m, "top": top}
    )


def _remainder_sums(rng: Random, level: int) -> Problem:
    m = rng.choice((7, 9, 11, 12, 13, 15, 16, 17, 18, 19))
    if level == 1 and rng.random() < 0.4:
        k, top = rng.choice((2, 3)), rng.randint(20, 150)
        name = ("squares", "cubes")[k - 2]
        texts = WORDINGS.all(
            "remainder sums 12",
            m=m,
            top=top,
            name=name,
            k=k,
            m_minus_1=m - 1,
            drawn=rng.choice(PEOPLE),
        )
        answer = sum(n**k for n in range(1, top + 1)) % m
        return Problem(
            rng.choice(texts), str(answer), {"ask": "powers", "k": k, "top": top, "m": m}
        )
    if level == 1:
        first, step = rng.randint(1, 20), rng.randint(1, 9)
        count = rng.randint(20, 90)
        last = first + step * (count - 1)
        total = (first + last) * count // 2
        texts = WORDINGS.all(
            "remainder sums 13",
            first=first,
            step=step,
            last=last,
            m=m,
            single=ordinal(step) if step > 1 else "single",
            first_plus_step=first + step,
            first_value=first + 2 * step,
            coins="1 coin" if first == 1 else f"{first} coins",
            drawn=rng.choice(PEOPLE),
        )
        return Problem(
            rng.choice(texts),
            str(total % m),
            {"ask": "progression", "first": first, "step": step, "last": last, "m": m},
        )
    if level == 2:
        m = rng.choice((11, 13, 17, 19, 23, 25, 30, 36, 40, 48, 60, 90, 100))
        top, start = rng.randint(15, 200), rng.randint(1, 3)
        step = rng.choice((1, 2))
        value = 0
        product, n = 1, 0
        while n < top:
            n += 1
            product *= n
            if n >= start and (n - start) % step == 0:
                value += product
                last = n
        sum_text = f"{start}! + {start + step}! + {start + 2 * step}! + \\cdots + {last}!"
        texts = WORDINGS.all("remainder sums, level 2", m_minus_one=m - 1, sum_text=sum_text, m=m)
        return Problem(
            rng.choice(texts),
            str(value % m),
            {"ask": "factorials", "start": start, "second": start + step, "last": last, "m": m},
        )
    top = rng.randint(20, 99)
    m = rng.choice((9, 11, 18, 33, 36, 45, 55, 66, 72, 99))
    start = rng.choice((1, 10, 11, 12))
    digits = "".join(map(str, range(start, top + 1)))
    shown = "".join(map(str, range(start, start + 4))) + f"\\ldots{top - 1}{top}"
    texts = WORDINGS.all(
        "remainder sums",
        start=start,
        top=top,
        shown=shown,
        m=m,
        start_plus_one=start + 1,
        start_plus_two=start + 2,
        len_digits=len(digits),
    )
    return Problem(
        rng.choice(texts),
        str(int(digits) % m),
        {"ask": "joined", "start": start, "top": top, "m": m},
    )


FAMILIES = (
    math_family("numbers_remainder_systems", _remainder_systems, "several remainders at once"),
    math_family("numbers_linear_congruences", _linear_congruences, "inverses and ax = b modulo m"),
    math_family("numbers_remainder_sums", _remainder_sums, "remainders of long sums and numbers"),
)
