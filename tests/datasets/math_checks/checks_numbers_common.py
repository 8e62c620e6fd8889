from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Values = Mapping[str, Any]


def greatest(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def least(a: int, b: int) -> int:
    return a // greatest(a, b) * b


def only(found: set[int]) -> int:
    assert len(found) == 1, found
    return found.pop()


def gcd_lcm(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask == "lcm":
        return least(*p["numbers"])
    if ask == "gcd":
        return max(
            d for d in range(1, min(p["numbers"]) + 1) if not any(n % d for n in p["numbers"])
        )
    if ask == "other":
        a, m = p["a"], p["m"]
        return only(
            {
                n
                for n in range(1, m + 1)
                if m % n == 0 and least(a, n) == m and greatest(a, n) == p["g"]
            }
        )
    if ask == "remainders":
        return max(n for n in range(1, p["a"] + 1) if p["a"] % n == p["r"] and p["b"] % n == p["s"])
    if ask == "pairs below":
        return sum(greatest(k, p["n"]) == p["g"] for k in range(1, p["top"] + 1))
    if ask in ("larger", "smaller", "difference"):
        pairs = [
            (a, p["total"] - a)
            for a in range(1, p["total"] // 2 + 1)
            if p["m"] % a == 0 and least(a, p["total"] - a) == p["m"]
        ]
        assert len(pairs) == 1
        a, b = pairs[0]
        return {"larger": b, "smaller": a, "difference": b - a}[ask]
    if ask in ("least sum", "greatest sum"):
        n = p["product"]
        sums = [d + n // d for d in range(1, n + 1) if n % d == 0 and greatest(d, n // d) == p["g"]]
        return min(sums) if ask == "least sum" else max(sums)
    top = p["lcm"] if ask == "lcm pairs" else p["m"]
    small = [d for d in range(1, int(top**0.5) + 2) if top % d == 0]
    divisors = sorted({*small, *(top // d for d in small)})
    pairs = [
        (a, b)
        for a in divisors
        for b in divisors
        if least(a, b) == top and (ask == "lcm pairs" or greatest(a, b) == p["g"])
    ]
    if ask == "lcm pairs" or p["ordered"]:
        assert "unordered" not in question
        return len(pairs)
    assert "unordered" in question
    return len({frozenset(pair) for pair in pairs})


def powers(k: int) -> Iterator[int]:
    root = 0
    while True:
        root += 1
        yield root**k


def number(p: Values) -> int:
    n = 1
    for prime, exponent in p["factors"]:
        n *= prime**exponent
    return n


def multipliers(p: Values, question: str) -> object:
    if p["ask"] == "divide":
        return next(
            d
            for d in range(1, p["n"] + 1)
            if p["n"] % d == 0
            and any(r ** p["k"] == p["n"] // d for r in range(1, p["n"] // d + 1))
        )
    if p["ask"] in ("multiply", "cofactor"):
        n = (p["n"] if "n" in p else number(p)) * p.get("cofactor", 1)
        # The least multiple of n that is a k-th power is the k-th power of a product of its primes.
        radical = [q for q in range(2, 50) if n % q == 0 and all(q % d for d in range(2, q))]
        answer = 1
        for q in radical:
            while not fits(n * answer, q, p["k"]):
                answer *= q
        return answer
    a, b = p["a"], p["b"]
    cubes = {b * y ** p["j"] for y in range(1, 200_000)}
    n = next(n for n in (a * x for x in powers(p["i"])) if n in cubes)
    if p["ask"] == "number":
        return n
    count, q = 1, 2
    while n > 1:
        e = 0
        while n % q == 0:
            n //= q
            e += 1
        count *= e + 1
        q += 1
    return count


def fits(n: int, q: int, k: int) -> bool:
    times = 0
    while n % q == 0:
        n //= q
        times += 1
    return times % k == 0


def multiples(p: Values, question: str) -> object:
    ask = p["ask"]
    if ask in ("none", "exactly one", "at least two"):
        sets = [set(range(d, p["top"] + 1, d)) for d in p["numbers"]]
        hits = [sum(n in s for s in sets) for n in range(1, p["top"] + 1)]
        return sum(
            {"none": h == 0, "exactly one": h == 1, "at least two": h > 1}[ask] for h in hits
        )
    if ask == "position":
        n = left = 0
        while left < p["position"]:
            n += 1
            left += bool(n % p["a"]) and bool(n % p["b"])
        return n
    one = set(range(p["a"], p["top"] + 1, p["a"]))
    two = set(range(p["b"], p["top"] + 1, p["b"]))
    return {"or": len(one | two), "not": len(one - two), "sum": sum(one ^ two)}[ask]


CHECKS = {
    "numbers_gcd_lcm": gcd_lcm,
    "numbers_multipliers": multipliers,
    "numbers_multiples": multiples,
}
