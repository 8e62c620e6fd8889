"""Coins, partitions and compositions with conditions on their parts.

Leaves out: other counts (``numbers.lattices``).
"""

from __future__ import annotations

from functools import cache
from random import Random

from prorl_datasets.procedural.code.numbers.common import leveled, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_N = (("n", "int"),)


_PRIME = 10**9 + 7


def _coin_counts(rng: Random) -> Problem:
    coins = sorted(rng.sample(range(1, 16), 3))
    code = f"""
        def solve(n):
            ways = [1] + [0] * n
            for coin in {coins}:
                for amount in range(coin, n + 1):
                    ways[amount] += ways[amount - coin]
            return ways[n]
    """

    def brute(n: int) -> int:
        a, b, c = coins
        return sum(
            1
            for i in range(n // a + 1)
            for j in range((n - i * a) // b + 1)
            if (n - i * a - j * b) % c == 0
        )

    named = f"{coins[0]}, {coins[1]} and {coins[2]}"
    return Problem(
        f"There are coins of {named}, each as often as you like. Given an integer `n` (0 <= n <= "
        "1000), "
        "in how many ways can exactly n be paid? The order of the coins does not matter, and "
        "paying "
        "0 with no coin is one way.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(1, 160),),
        {"v": 1, "coins": coins},
        ((0,),),
    )


def _part_partitions_gold(shift: int, m: int, cap: int, rests: list[int]) -> str:
    return f"""
        def solve(n):
            n += {shift}
            ways = [1] + [0] * n
            for part in range(1, n + 1):
                if part % {m} in {tuple(rests)}:
                    following = ways[:]
                    for copies in range(1, {cap} + 1):
                        for amount in range(copies * part, n + 1):
                            following[amount] += ways[amount - copies * part]
                    ways = following
            return ways[n] % {_PRIME}
    """


def _part_partitions(rng: Random) -> Problem:
    m, cap = rng.randint(2, 9), rng.randint(1, 4)
    rests = sorted(rng.sample(range(m), rng.randint(1, m - 1)))
    shift = rng.randint(0, 9)
    code = _part_partitions_gold(shift, m, cap, rests)

    def brute(n: int) -> int:
        @cache
        def ways(rest: int, largest: int) -> int:
            if rest == 0 or largest == 0:
                return int(rest == 0)
            total = ways(rest, largest - 1)
            if largest % m in rests:
                for copies in range(1, min(cap, rest // largest) + 1):
                    total += ways(rest - copies * largest, largest - 1)
            return total

        return ways(n + shift, n + shift) % _PRIME

    whole = f"n + {shift}" if shift else "n"
    allowed = ", ".join(map(str, rests))
    return Problem(
        f"Given an integer `n` (0 <= n <= 300), in how many ways can {whole} be written as a sum "
        "of positive "
        f"integers (order does not matter) if every part leaves one of the remainders {allowed} "
        "when "
        f"divided by {m} and no part is used more than {cap} time{'s' * (cap > 1)}? The empty sum "
        "is "
        "the one way to write 0. Find the number of ways modulo 10^9 + 7.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(5, 70),),
        {"v": 2, "m": m, "cap": cap, "rests": rests, "shift": shift},
    )


def _compositions_gold(multiple: int, top: int, test: str, big: int) -> str:
    return f"""
        def solve(n):
            ways = [[[0] * {multiple} for _ in range({top + 1})] for _ in range(n + 1)]
            for total in range(1, n + 1):
                for part in range(1, min(total, {top}) + 1):
                    if part == total:
                        ways[total][part][1 % {multiple}] += 1
                    for last in range(1, {top + 1}):
                        if {test}:
                            for count in range({multiple}):
                                new = (count + 1) % {multiple}
                                ways[total][part][new] += ways[total - part][last][count]
            return sum(ways[n][part][0] for part in range({top + 1})) % {big}
    """


def _compositions(rng: Random) -> Problem:
    d, top, big = rng.randint(1, 4), rng.randint(3, 9), rng.randint(1000, 99999)
    near = rng.random() < 0.5
    multiple = rng.randint(1, 3)
    test = f"abs(part - last) <= {d}" if near else f"abs(part - last) >= {d}"
    code = _compositions_gold(multiple, top, test, big)

    def brute(n: int) -> int:
        @cache
        def ways(rest: int, last: int, count: int) -> int:
            if rest == 0:
                return int(count % multiple == 0)
            found = 0
            for part in range(1, min(rest, top) + 1):
                fits = abs(part - last) <= d if near else abs(part - last) >= d
                if last == 0 or fits:
                    found += ways(rest - part, part, (count + 1) % multiple)
            return found

        return ways(n, 0, 0) % big

    length = "" if multiple == 1 else f" and the number of terms is divisible by {multiple}"
    return Problem(
        f"Given an integer `n` (1 <= n <= 200), count the sequences of integers from 1 to {top} "
        "with sum n in "
        f"which neighbouring terms differ by at {'most' if near else 'least'} {d}{length} (a "
        "single "
        f"term has no neighbours). Find the count modulo {big}.",
        _N,
        "int",
        source(code),
        brute,
        lambda r: (r.randint(3, 60),),
        {"v": 3, "d": d, "top": top, "big": big, "near": near, "multiple": multiple},
    )


FAMILIES = (
    code_family(
        "partition_counts",
        "ways to pay or split a number",
        leveled(_coin_counts, _part_partitions, _compositions),
    ),
)
