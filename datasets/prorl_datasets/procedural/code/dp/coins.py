"""Problems on paying with coins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Coins:
    level: int
    coins: list[int]
    limit: int
    fee: int
    none: int
    modulus: int


def _coins_brute(p: _Coins, x: int) -> int:
    if p.level == 1:
        return sum(_taken(s, p.coins) for s in range(x + 1)) + p.fee * x
    if p.level == 2:
        costs = _costs(x, p.coins, (p.fee, p.limit))
        return min(costs) if costs else p.none
    layer: dict[tuple[int, int, int], int] = {(0, 0, 0): 1}
    rows = 0
    while layer:
        rows += sum(ways for (s, _, _), ways in layer.items() if s == x)
        new: dict[tuple[int, int, int], int] = {}
        for (s, last, run), ways in layer.items():
            for coin in p.coins:
                length = run + 1 if coin == last else 1
                if s + coin <= x and length <= p.limit + 1:
                    at = (s + coin, coin, length)
                    new[at] = new.get(at, 0) + ways
        layer = new
    return rows % p.modulus


def _coins(rng: Random, level: int) -> Problem:
    coins = sorted(rng.sample(range(2, 16), rng.randint(3, 4)))
    if level == 1 or rng.random() < 0.6:
        coins[0] = 1
    limit, fee, none = rng.randint(1, 3), rng.randint(1, 9), rng.choice((-1, 0, 999))
    m = rng.choice((97, 101, 997, 1009, 9973))
    p = _Coins(level, coins, limit, fee, none, m)
    key: dict[str, Any] = {"level": p.level, "coins": p.coins}
    key |= (
        {"fee": p.fee},
        {"fee": p.fee, "limit": p.limit, "none": p.none},
        {"limit": p.limit, "m": p.modulus},
    )[p.level - 1]
    text = WORDINGS.source(f"coins solution {p.level}", p, down=p.coins[::-1])
    high = (60, 60, 40)[p.level - 1]
    head = WORDINGS.one("coins statement head", coins=", ".join(map(str, p.coins)))
    task = WORDINGS.one(f"coins {p.level}", p=p, limit_plus_1=p.limit + 1)
    return Problem(
        head + task,
        "x: int -> int",
        text,
        partial(_coins_brute, p),
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
    if not coins:
        return [] if x else [0]
    fee, more = rule
    out = _costs(x, coins[1:], rule)
    for k in range(1, x // coins[0] + 1):
        cost = fee + more * (k - 1) + k * coins[0]
        out += [cost + rest for rest in _costs(x - k * coins[0], coins[1:], rule)]
    return out


FAMILIES = (code_family("coin_rules", "coins, greedy and optimal", _coins),)
