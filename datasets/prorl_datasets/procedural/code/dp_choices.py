"""Code problems solved by dynamic programming over choices: knapsacks and coins.

Leaves out: jumps and partitions (``dp_cuts``), sequences (``dp_sequences``).
"""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_KNAPSACK_GOLD = {
    1: """
    def solve(a, cap):
        reached = {0}
        for w in a:
            if not $cond:
                reached |= {s + w for s in reached if s + w <= cap}
        return $f * max(reached) + $r0
    """,
    2: """
    def solve(a, cap):
        best = [[0] * (cap + 1) for _ in range($most + 1)]
        for w in a:
            v = 0 if $cond else w + w * $f % $m
            for k in range($most, 0, -1):
                for s in range(cap, w - 1, -1):
                    best[k][s] = max(best[k][s], best[k - 1][s - w] + v)
        return best[$most][cap]
    """,
    3: """
    def solve(a, cap):
        states = [{(0, 0): (0, 1)}]
        for i, w in enumerate(a):
            v = 0 if $cond else w + w * $f % $m
            new = dict(states[-1])
            for (s, k), (worth, ways) in states[max(0, i - $q + 1)].items():
                if s + w <= cap:
                    at = (s + w, (k + 1) % 3)
                    old = new.get(at, (0, 0))
                    new[at] = (max(old[0], worth + v), old[1] + ways)
            states.append(new)
        ends = [end for (s, k), end in states[-1].items() if k != $r0 % 2 + 1]
        return [max(worth for worth, _ in ends), sum(ways for _, ways in ends)]
    """,
}


def _knapsack(rng: Random, level: int) -> Problem:
    c, f, m = condition(rng, 1, 20), rng.randint(2, 9), rng.randint(5, 19)
    most, r0, q = rng.randint(2, 4), rng.randint(0, 3), rng.randint(2, 4)
    head = (
        "`a` is a list of at most 9 positive integers, the weights of things, and `cap` is "
        "an integer, 0 <= cap <= 100. "
    )
    value = (
        f"A thing of weight w is worth w + (w*{f}) modulo {m}" + f", but nothing if w is {c.text}. "
    )
    what = {
        1: f"Things whose weight is {c.text} may not be chosen. Choose some of the others "
        "(each at most once, or none) so that their total weight is at most cap. Give "
        f"{f} times the largest total weight possible, plus {r0}.",
        2: f"{value}Choose at most {most} things (each at most once, or none) with a total "
        "weight of at most cap. Give the largest total worth possible.",
        3: f"{value}Choose some of the things (or none) with a total weight of at most cap, "
        f"but never two that are less than {q} places apart in the list, and so that the "
        f"number of the chosen things is not congruent to {r0 % 2 + 1} modulo 3. "
        "Give a list of two integers: the largest total worth possible, and the number "
        "of different choices that are allowed (also those of smaller worth).",
    }[level]
    gold = _KNAPSACK_GOLD[level]

    def brute(a: list[int], cap: int) -> Any:
        kept = [w for w in a if level > 1 or not c.holds(w)]
        worths = []
        for size in range(len(kept) + 1 if level != 2 else most + 1):
            if level == 3 and size % 3 == r0 % 2 + 1:
                continue
            for at in combinations(range(len(kept)), size):
                if sum(kept[i] for i in at) > cap:
                    continue
                if level == 3 and any(j - i < q for i, j in pairwise(at)):
                    continue
                chosen = [kept[i] for i in at]
                worths.append(
                    sum(chosen)
                    if level == 1
                    else sum(w + (w * f) % m for w in chosen if not c.holds(w))
                )
        top = max(worths)
        return [top, len(worths)] if level == 3 else top if level == 2 else f * top + r0

    def draw(r: Random) -> tuple[list[int], int]:
        a = integers(r, 4, 9, 1, 20)
        return a, r.randint(0, min(100, sum(a)))

    key: dict[str, Any] = {"level": level, "condition": c.key, "f": f}
    key |= ({"r": r0}, {"m": m, "most": most}, {"m": m, "r": r0 % 2, "q": q})[level - 1]
    text = source(gold, cond=c.on("w"), f=f, m=m, most=most, r0=r0, q=q)
    inputs = (("a", "ints"), ("cap", "int"))
    return Problem(
        head + what, inputs, "ints" if level == 3 else "int", text, brute, draw, key, (([], 5),)
    )


_COINS_GOLD = {
    1: """
    def solve(x):
        total = $fee * x
        for rest in range(x + 1):
            for coin in $down:
                total += rest // coin
                rest %= coin
        return total
    """,
    2: """
    def solve(x):
        best = [0] + [None] * x
        for coin in $coins:
            old = best[:]
            using = [None] * (x + 1)
            for s in range(coin, x + 1):
                options = []
                if old[s - coin] is not None:
                    options.append(old[s - coin] + coin + $fee)
                if using[s - coin] is not None:
                    options.append(using[s - coin] + coin + $limit)
                using[s] = min(options, default=None)
                if using[s] is not None and (best[s] is None or using[s] < best[s]):
                    best[s] = using[s]
        return best[x] if best[x] is not None else $none
    """,
    3: """
    def solve(x):
        coins = $coins
        total = [1] + [0] * x
        ending = [[0] * len(coins) for _ in range(x + 1)]
        for s in range(1, x + 1):
            for i, coin in enumerate(coins):
                for k in range(1, $limit + 2):
                    if s >= k * coin:
                        start = s - k * coin
                        ending[s][i] += total[start] - ending[start][i]
            total[s] = sum(ending[s])
        return total[x] % $m
    """,
}


def _coins(rng: Random, level: int) -> Problem:
    coins = sorted(rng.sample(range(2, 16), rng.randint(3, 4)))
    if level == 1 or rng.random() < 0.6:
        coins[0] = 1
    limit, fee, none = rng.randint(1, 3), rng.randint(1, 9), rng.choice((-1, 0, 999))
    m = rng.choice((97, 101, 997, 1009, 9973))
    head = (
        f"There are coins of the values {', '.join(map(str, coins))}, as many of each as "
        "wanted. `x` is an integer from 0 to 60. "
    )
    what = {
        1: "An amount is paid by taking again and again the largest coin that is not larger "
        "than what is left, until nothing is left. Give the sum, over all amounts from 0 "
        f"to x, of the number of coins taken, plus {fee} times x.",
        2: f"A coin that is taken for the first time costs {fee} more than its value (once "
        "for each value used), each further coin of the same value only its value plus "
        f"{limit}. Give the smallest total cost of coins whose values add up to x; 0 if x "
        f"is 0, and {none} if no coins add up to x.",
        3: "Coins are put in a row so that their values add up to x, but not more than "
        f"{limit + 1} coins of equal value may come one right after the other. Rows that "
        "differ in the order of the coins are different. Give the number of such rows "
        f"modulo {m} (the empty row adds up to 0).",
    }[level]
    gold = _COINS_GOLD[level]

    def brute(x: int) -> int:
        if level == 1:
            return sum(_taken(s, coins) for s in range(x + 1)) + fee * x
        if level == 2:
            costs = _costs(x, coins, (fee, limit))
            return min(costs) if costs else none
        layer: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
        rows = 0
        while layer:
            rows += sum(ways for (s, _, _), ways in layer.items() if s == x)
            new: dict[tuple[int, int, int], int] = {}
            for (s, last, run), ways in layer.items():
                for coin in coins:
                    length = run + 1 if coin == last else 1
                    if s + coin <= x and length <= limit + 1:
                        at = (s + coin, coin, length)
                        new[at] = new.get(at, 0) + ways
            layer = new
        return rows % m

    key: dict[str, Any] = {"level": level, "coins": coins}
    key |= ({"fee": fee}, {"fee": fee, "limit": limit, "none": none}, {"limit": limit, "m": m})[
        level - 1
    ]
    text = source(gold, coins=coins, down=coins[::-1], fee=fee, limit=limit, none=none, m=m)
    high = (60, 60, 40)[level - 1]
    return Problem(
        head + what,
        (("x", "int"),),
        "int",
        text,
        brute,
        lambda r: (r.randint(5, high),),
        key,
        ((0,),),
    )


def _taken(rest: int, coins: list[int]) -> int:
    count = 0
    while rest:
        rest -= max(coin for coin in coins if coin <= rest)
        count += 1
    return count


def _costs(x: int, coins: list[int], rule: tuple[int, int]) -> list[int]:
    """Return the costs of all ways to pay x, coin by coin with every count."""
    if not coins:
        return [] if x else [0]
    fee, more = rule
    out = _costs(x, coins[1:], rule)
    for k in range(1, x // coins[0] + 1):
        own = fee + more * (k - 1) + k * coins[0]
        out += [own + rest for rest in _costs(x - k * coins[0], coins[1:], rule)]
    return out


FAMILIES = (
    code_family("knapsacks", _knapsack),
    code_family("coin_rules", _coins),
)
