"""Problems on recurrences modulo m and iterated maps."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled_family
from prorl_datasets.procedural.code.problem import Problem
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _first_order(rng: Random) -> Problem:
    p, q, m, start = rng.randint(2, 9), rng.randint(1, 20), rng.randint(30, 997), rng.randint(0, 9)
    squares = rng.random() < 0.3
    term = f"{p} * a(i-1)^2 + {q}" if squares else f"{p} * a(i-1) + {q}"
    code = WORDINGS.source(
        "first order solution", start=start, p=p, a=" * a" if squares else "", q=q, m=m
    )

    def brute(n: int) -> int:
        if n == 0:
            return start
        before = brute(n - 1)
        value = p * before**2 + q if squares else p * before + q
        return value - value // m * m

    return Problem(
        WORDINGS.one("first order", start=start, term=term, m=m),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 1, "p": p, "q": q, "m": m, "start": start, "squares": squares},
        ((0,),),
    )


def _second_order(rng: Random) -> Problem:
    p, q, t, m = rng.randint(1, 9), rng.randint(1, 9), rng.randint(0, 9), rng.randint(50, 9973)
    s = [rng.randint(0, 9), rng.randint(1, 9)]
    total = rng.random() < 0.5
    code = WORDINGS.source(
        "second order solution",
        s_0=s[0],
        s_1=s[1],
        p=p,
        q=q,
        t=t,
        m=m,
        total="total" if total else "a",
    )

    def brute(n: int) -> int:
        values = list(s)
        while len(values) <= n:
            values.append((q * values[-2] + t * len(values) + p * values[-1]) % m)
        return sum(values[: n + 1]) if total else values[n]

    extra = f" + {t} * i" if t else ""
    return Problem(
        WORDINGS.one(
            "second order",
            s=s,
            p=p,
            q=q,
            extra=extra,
            m=m,
            the_sum="the sum a(0) + a(1) + ... + a(n)" if total else "a(n)",
        ),
        "n: int -> int",
        code,
        brute,
        lambda r: (r.randint(2, 300),),
        {"v": 2, "p": p, "q": q, "t": t, "m": m, "s": s, "total": total},
        ((0,), (1,)),
    )


def _far_term(rng: Random) -> Problem:
    m = rng.randint(5, 13)
    p, q, t, c = (
        rng.randint(1, m - 1),
        rng.randint(0, m - 1),
        rng.randint(1, m - 1),
        rng.randint(0, 4),
    )
    s = [rng.randint(0, m - 1) for _ in range(3)]
    code = WORDINGS.source(
        "far term solution", m=m, p=p, q=q, t=t, c=c, s_2=s[2], s_1=s[1], s_0=s[0]
    )

    def brute(n: int) -> tuple[int, ...]:
        state = (s[0], s[1], s[2])
        visited: dict[tuple[int, int, int], int] = {}
        while state not in visited:
            visited[state] = len(visited)
            state = (state[1], state[2], (p * state[2] + q * state[1] + t * state[0] + c) % m)
        first, states = visited[state], list(visited)
        return states[n if n < len(visited) else first + (n - first) % (len(visited) - first)]

    extra = f" + {c}" if c else ""
    return Problem(
        WORDINGS.one("far term", s=s, p=p, q=q, t=t, extra=extra, m=m),
        "n: int -> ints",
        code,
        brute,
        lambda r: (r.randint(0, 10 ** r.randint(2, 15)),),
        {"v": 3, "m": m, "p": p, "q": q, "t": t, "c": c, "s": s},
        ((0,), (2,)),
    )


def _map_steps(rng: Random) -> Problem:
    d, a, b, m = rng.randint(2, 4), rng.randint(3, 9), rng.randint(1, 15), rng.randint(100, 999)
    code = WORDINGS.source("map steps solution", d=d, a=a, b=b, m=m)

    def brute(x: int, k: int) -> int:
        if k == 0:
            return x
        quotient, remainder = divmod(x, d)
        return brute((a * x + b) % m if remainder else quotient, k - 1)

    return Problem(
        WORDINGS.one("map steps", d=d, a=a, b=b, m=m),
        "x: int, k: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 1000), r.randint(1, 30)),
        {"v": 1, "d": d, "a": a, "b": b, "m": m},
        ((77, 0),),
    )


def _map_stay(rng: Random) -> Problem:
    d, a, b, m = rng.randint(2, 5), rng.randint(3, 12), rng.randint(1, 25), rng.randint(150, 1500)
    kind = rng.randint(0, 2)
    what = (
        "the number of different values",
        "the largest of the values",
        "the sum of the different values",
    )[kind]
    result = ("len(seen)", "max(seen)", "sum(seen)")[kind]
    code = WORDINGS.source("map stay solution", d=d, a=a, b=b, m=m, result=result)

    def brute(x: int) -> int:
        values = [x]
        while x not in values[:-1]:
            x = (a * x + b) % m if x % d else x // d
            values.append(x)
        values.pop()
        total = best = 0
        for value in values:
            total, best = total + value, max(best, value)
        return (len(values), best, total)[kind]

    return Problem(
        WORDINGS.one("map stay", d=d, a=a, b=b, m=m, what=what),
        "x: int -> int",
        code,
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(2, 6)),),
        {"v": 2, "d": d, "a": a, "b": b, "m": m, "kind": kind},
    )


def _map_cycle(rng: Random) -> Problem:
    a = [rng.randint(1, 30) for _ in range(3)]
    b, c, d = rng.randint(1, 40), rng.randint(0, 40), rng.randint(2, 4)
    m = rng.randint(300, 4000)
    code = WORDINGS.source("map cycle solution", d=d, a_0=a[0], b=b, m=m, a_1=a[1], a_2=a[2], c=c)

    def brute(x: int) -> list[int]:
        places: dict[int, int] = {}
        while x not in places:
            places[x] = len(places)
            x = (a[1] * x**2 + a[2] * x + c if x % d else a[0] * x + b) % m
        cycle = [v for v, place in places.items() if place >= places[x]]
        return [len(places) - len(cycle), len(cycle), min(cycle)]

    return Problem(
        WORDINGS.one("map cycle", a=a, b=b, m=m, d=d, c=c),
        "x: int -> ints",
        code,
        brute,
        lambda r: (r.randint(0, 10 ** r.randint(2, 9)),),
        {"v": 3, "a": a, "b": b, "c": c, "d": d, "m": m},
        ((0,),),
    )


FAMILIES = (
    leveled_family("recurrences", "terms of a sequence", _first_order, _second_order, _far_term),
    leveled_family("repeated_maps", "iterated piecewise maps", _map_steps, _map_stay, _map_cycle),
)
