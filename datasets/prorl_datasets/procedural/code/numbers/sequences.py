"""Recurrences mod m, and maps of integers iterated until they repeat.

Leaves out: maps of digits (``numbers.digit_maps``).
"""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


def _first_order(rng: Random) -> Problem:
    p, q, m, start = rng.randint(2, 9), rng.randint(1, 20), rng.randint(30, 997), rng.randint(0, 9)
    squares = rng.random() < 0.3
    term = f"{p} * a(i-1)^2 + {q}" if squares else f"{p} * a(i-1) + {q}"
    code = f"""
        def solve(n):
            a = {start}
            for _ in range(n):
                a = ({p} * a{" * a" if squares else ""} + {q}) % {m}
            return a
    """

    def brute(n: int) -> int:
        if n == 0:
            return start
        before = brute(n - 1)
        value = p * before**2 + q if squares else p * before + q
        return value - value // m * m

    return Problem(
        f"A sequence starts with a(0) = {start}; for i >= 1, a(i) = ({term}) mod {m}. Given an "
        "integer `n` (0 <= n <= 200), find a(n).",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 60),),
        {"v": 1, "p": p, "q": q, "m": m, "start": start, "squares": squares},
        ((0,),),
    )


def _second_order(rng: Random) -> Problem:
    p, q, t, m = rng.randint(1, 9), rng.randint(1, 9), rng.randint(0, 9), rng.randint(50, 9973)
    s = [rng.randint(0, 9), rng.randint(1, 9)]
    total = rng.random() < 0.5
    code = f"""
        def solve(n):
            a, b = {s[0]}, {s[1]}
            total = a
            for i in range(2, n + 2):
                total += b
                a, b = b, ({p} * b + {q} * a + {t} * i) % {m}
            return {"total" if total else "a"}
    """

    def brute(n: int) -> int:
        values = list(s)
        while len(values) <= n:
            values.append((q * values[-2] + t * len(values) + p * values[-1]) % m)
        return sum(values[: n + 1]) if total else values[n]

    extra = f" + {t} * i" if t else ""
    return Problem(
        f"A sequence starts with a(0) = {s[0]} and a(1) = {s[1]}; for i >= 2, "
        f"a(i) = ({p} * a(i-1) + {q} * a(i-2){extra}) mod {m}. Given an integer `n` "
        f"(0 <= n <= 10^5), find {'the sum a(0) + a(1) + ... + a(n)' if total else 'a(n)'}.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(2, 300),),
        {"v": 2, "p": p, "q": q, "t": t, "m": m, "s": s, "total": total},
        ((0,), (1,)),
    )


def _far_term_gold(m: int, p: int, q: int, t: int, c: int, s: list[int]) -> str:
    return f"""
        def multiply(x, y):
            return [[sum(a * b for a, b in zip(row, col)) % {m} for col in zip(*y)] for row in x]


        def solve(n):
            step = [[{p}, {q}, {t}, {c}], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
            power = [[int(i == j) for j in range(4)] for i in range(4)]
            while n:
                if n & 1:
                    power = multiply(power, step)
                step = multiply(step, step)
                n >>= 1
            start = [{s[2]}, {s[1]}, {s[0]}, 1]
            return [sum(a * b for a, b in zip(row, start)) % {m} for row in power[2::-1]]
    """


def _far_term(rng: Random) -> Problem:
    m = rng.randint(5, 13)
    p, q, t, c = (
        rng.randint(1, m - 1),
        rng.randint(0, m - 1),
        rng.randint(1, m - 1),
        rng.randint(0, 4),
    )
    s = [rng.randint(0, m - 1) for _ in range(3)]
    code = _far_term_gold(m, p, q, t, c, s)

    def brute(n: int) -> tuple[int, ...]:
        state = (s[0], s[1], s[2])
        seen: dict[tuple[int, int, int], int] = {}
        while state not in seen:
            seen[state] = len(seen)
            state = (state[1], state[2], (p * state[2] + q * state[1] + t * state[0] + c) % m)
        first, states = seen[state], list(seen)
        return states[n if n < len(seen) else first + (n - first) % (len(seen) - first)]

    extra = f" + {c}" if c else ""
    return Problem(
        f"A sequence starts with a(0) = {s[0]}, a(1) = {s[1]}, a(2) = {s[2]}; for i >= 3, "
        f"a(i) = ({p} * a(i-1) + {q} * a(i-2) + {t} * a(i-3){extra}) mod {m}. Given an integer `n` "
        "(0 <= n <= 10^15), find the three terms a(n), a(n+1), a(n+2), in this order.",
        _N,
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(0, 10 ** r.randint(2, 15)),),
        {"v": 3, "m": m, "p": p, "q": q, "t": t, "c": c, "s": s},
        ((0,), (2,)),
    )


def _map_steps(rng: Random) -> Problem:
    d, a, b, m = rng.randint(2, 4), rng.randint(3, 9), rng.randint(1, 15), rng.randint(100, 999)
    code = f"""
        def solve(x, k):
            for _ in range(k):
                x = x // {d} if x % {d} == 0 else ({a} * x + {b}) % {m}
            return x
    """

    def brute(x: int, k: int) -> int:
        if k == 0:
            return x
        quotient, rest = divmod(x, d)
        return brute((a * x + b) % m if rest else quotient, k - 1)

    return Problem(
        f"One step replaces an integer x by x / {d} if x is divisible by {d}, and otherwise by "
        f"({a} * x + {b}) mod {m}. Given integers `x` (1 <= x <= 1000) and `k` (0 <= k <= 100), "
        "find "
        "the number that stands there after k steps.",
        (("x", "int"), ("k", "int")),
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 1000), r.randint(1, 30)),
        {"v": 1, "d": d, "a": a, "b": b, "m": m},
        ((77, 0),),
    )


def _map_stay_gold(d: int, a: int, b: int, m: int, result: str) -> str:
    return f"""
        def solve(x):
            seen = set()
            while x not in seen:
                seen.add(x)
                x = x // {d} if x % {d} == 0 else ({a} * x + {b}) % {m}
            return {result}
    """


def _map_stay(rng: Random) -> Problem:
    d, a, b, m = rng.randint(2, 5), rng.randint(3, 12), rng.randint(1, 25), rng.randint(150, 1500)
    kind = rng.randint(0, 2)
    what = (
        "the number of different values",
        "the largest of the values",
        "the sum of the different values",
    )[kind]
    result = ("len(seen)", "max(seen)", "sum(seen)")[kind]
    code = _map_stay_gold(d, a, b, m, result)

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
        f"One step replaces an integer x by x / {d} if x is divisible by {d} (0 is), and otherwise "
        "by "
        f"({a} * x + {b}) mod {m}. Given an integer `x` (1 <= x <= 10^6), the step is applied "
        "again "
        f"and again. Find {what} that ever stand there, the start x included.",
        (("x", "int"),),
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 10 ** r.randint(2, 6)),),
        {"v": 2, "d": d, "a": a, "b": b, "m": m, "kind": kind},
    )


def _map_cycle_gold(d: int, b: int, m: int, c: int, a: list[int]) -> str:
    return f"""
        def step(x):
            if x % {d} == 0:
                return ({a[0]} * x + {b}) % {m}
            return ({a[1]} * x * x + {a[2]} * x + {c}) % {m}


        def solve(x):
            slow, fast = step(x), step(step(x))
            while slow != fast:
                slow, fast = step(slow), step(step(fast))
            tail, slow = 0, x
            while slow != fast:
                tail, slow, fast = tail + 1, step(slow), step(fast)
            length, least, fast = 1, slow, step(slow)
            while fast != slow:
                length, least, fast = length + 1, min(least, fast), step(fast)
            return [tail, length, least]
    """


def _map_cycle(rng: Random) -> Problem:
    a = [rng.randint(1, 30) for _ in range(3)]
    b, c, d = rng.randint(1, 40), rng.randint(0, 40), rng.randint(2, 4)
    m = rng.randint(300, 4000)
    code = _map_cycle_gold(d, b, m, c, a)

    def brute(x: int) -> list[int]:
        places: dict[int, int] = {}
        while x not in places:
            places[x] = len(places)
            x = (a[1] * x**2 + a[2] * x + c if x % d else a[0] * x + b) % m
        cycle = [v for v, place in places.items() if place >= places[x]]
        return [len(places) - len(cycle), len(cycle), min(cycle)]

    return Problem(
        f"One step replaces an integer x by ({a[0]} * x + {b}) mod {m} if x is divisible by "
        f"{d}, "
        f"and otherwise by ({a[1]} * x^2 + {a[2]} * x + {c}) mod {m}. Given an integer `x` (0 <= "
        "x <= "
        "10^9), "
        "the values x, step(x), step(step(x)), ... end in a cycle. Find three integers: how many "
        "values (x included) come before the first one that lies on the cycle, the length of the "
        "cycle, and the smallest value on it.",
        (("x", "int"),),
        "ints",
        source(code),
        brute,
        lambda r: (r.randint(0, 10 ** r.randint(2, 9)),),
        {"v": 3, "a": a, "b": b, "c": c, "d": d, "m": m},
        ((0,),),
    )


FAMILIES = (
    code_family(
        "recurrences", "terms of a sequence", leveled(_first_order, _second_order, _far_term)
    ),
    code_family(
        "repeated_maps", "iterated piecewise maps", leveled(_map_steps, _map_stay, _map_cycle)
    ),
)
