"""Code problems on caches and card games.

Leaves out: schedulers and accounts (``simulation_tasks``).
"""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, ordinal, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_CACHES_GOLD = """
def solve(a):
    info = {}
    cost = 0
    out = []
    for now, v in enumerate(a, 1):
        price = $hit if v in info else $miss
        cost += $price
        if v in info:
            info[v][1] = now
            info[v][2] += 1
        elif $enters:
            if len(info) == $size:
                old = min(info, key=lambda v: $rank)
                out.append(old)
                del info[old]
            info[v] = [now, now, 1]$clean
    return $result
"""


def _caches(rng: Random, level: int) -> Problem:
    size, hit, miss = rng.randint(2, 4), rng.randint(1, 9), rng.randint(10, 60)
    rule, c, f = (
        rng.choice(("first in", "least recent", "least often")),
        condition(rng, 0, 12),
        rng.randint(2, 9),
    )
    whom = {
        "first in": "that has been in the cache for the longest time",
        "least recent": "whose last use lies back the furthest (putting in is a use)",
        "least often": "which was used least often since it was put in (putting in is the first "
        "use), of several the one put in first",
    }[rule]
    head = (
        f"A cache holds at most {size} keys and is empty at first. `a` is a list of at most "
        "20 keys from 0 to 12 that are used in order. Using a key that is in the cache costs "
        f"{hit}; any other key costs {miss} and is put in; if the cache is full, first one key is "
        f"taken out: the one {whom}. "
    )
    what = {
        1: "Give the list of the keys that are taken out, in order, followed by the total cost.",
        2: f"A key that is {c.text} is never put in when it is not there: it only costs "
        f"{miss}. Give the list of the keys in the cache at the end, from the smallest to "
        "the largest, followed by the total cost.",
        3: f"A key that is {c.text} is special: it costs {f} times as much, and is only "
        "taken out when all the keys in the cache are special (else the rule looks at "
        f"the other keys only). After every {ordinal(f + 1)} use all keys that are not special "
        "are taken out at once. Give the list of the keys in the cache at the end, from "
        "the smallest to the largest, followed by the total cost.",
    }[level]
    gold = _CACHES_GOLD
    ranks = {
        "first in": "info[v][0]",
        "least recent": "info[v][1]",
        "least often": "(info[v][2], info[v][0])",
    }
    rank = f"(bool({c.on('v')}), {ranks[rule]})" if level == 3 else ranks[rule]
    clean = (
        f"\n        if now % {f + 1} == 0:\n            info = "
        f"{{v: x for v, x in info.items() if {c.on('v')}}}"
    )
    result = "out + [cost]" if level == 1 else "sorted(info) + [cost]"

    def brute(a: list[int]) -> list[int]:
        keys: list[int] = []
        since, cost, gone = 0, 0, []
        starts: dict[int, int] = {}
        for now, v in enumerate(a):
            special = level == 3 and c.holds(v)
            cost += (hit if v in keys else miss) * (f if special else 1)
            if v not in keys and not (level == 2 and c.holds(v)):
                if len(keys) == size:
                    some = [x for x in keys if not (level == 3 and c.holds(x))] or keys
                    old = _victim(some, a[:now], starts, rule)
                    gone.append(old)
                    keys.remove(old)
                keys.append(v)
                starts[v] = now
            since += 1
            if level == 3 and since == f + 1:
                keys, since = [x for x in keys if c.holds(x)], 0
        return [*(gone if level == 1 else sorted(keys)), cost]

    def draw(r: Random) -> tuple[list[int]]:
        pool = r.sample(range(13), r.randint(4, 7))
        return ([r.choice(pool) for _ in range(r.randint(8, 20))],)

    key: dict[str, Any] = {"level": level, "size": size, "hit": hit, "miss": miss, "rule": rule}
    key |= ({}, {"condition": c.key}, {"condition": c.key, "f": f})[level - 1]
    price = f"price * ({f} if {c.on('v')} else 1)" if level == 3 else "price"
    text = source(
        gold,
        hit=hit,
        miss=miss,
        price=price,
        size=size,
        rank=rank,
        result=result,
        enters=f"not ({c.on('v')})" if level == 2 else "True",
        clean=clean if level == 3 else "",
    )
    return Problem(head + what, (("a", "ints"),), "ints", text, brute, draw, key, (([],),))


def _victim(keys: list[int], past: list[int], starts: dict[int, int], rule: str) -> int:
    """Return the key to take out; ``keys`` stand in the order of putting in."""
    if rule == "first in":
        return keys[0]
    if rule == "least recent":
        seen = [v for v in dict.fromkeys(past[::-1]) if v in keys]
        return seen[-1]
    uses = [past[starts[v] :].count(v) for v in keys]
    return keys[uses.index(min(uses))]


_CARDS_GOLD = {
    1: """
    def solve(a, b):
        score = [0, 0]
        for x, y in zip(a, b):
            p, q = x * $f % $m, y * $f % $m
            if p != q:
                v = x if p $cmp q else y
                score[0 if p $cmp q else 1] += x + y + ($bonus if $cond else 0)
        return score
    """,
    2: """
    from collections import deque

    def solve(a, b):
        a, b = deque(a), deque(b)
        rounds = 0
        while a and b and rounds < $rounds:
            rounds += 1
            x, y = a.popleft(), b.popleft()
            if x * $f % $m $cmp= y * $f % $m:
                a += [x, y]
            else:
                b += [y, x]
        return [*a, rounds]
    """,
    3: """
    from collections import deque

    def solve(a, b):
        a, b = deque(a), deque(b)
        table = []
        rounds = 0
        while a and b and rounds < $rounds:
            rounds += 1
            x, y = a.popleft(), b.popleft()
            table += [x, y]
            p, q = x * $f % $m, y * $f % $m
            v = x + y
            if p != q and not ($cond):
                winner = a if p $cmp q else b
                winner += table
                table = []
        return [*a, sum(table), sum(b), rounds]
    """,
}


def _cards(rng: Random, level: int) -> Problem:
    f, m, bonus = rng.randint(1, 9), rng.randint(10, 23), rng.randint(1, 9)
    c, rounds, high = condition(rng, 1, 14), rng.randint(5, 15), rng.random() < 0.5
    power = f"(v*{f}) modulo {m}"
    head = (
        "Ann has the cards `a` and Bo the cards `b` (lists of 1 to 8 integers from 1 to 14, "
        f"the first is on top). The power of a card v is {power}. "
    )
    wins = f"the card with the {'larger' if high else 'smaller'} power wins"
    what = {
        1: "They compare their first cards, then their second ones, and so on while both "
        f"have a card. In each round {wins}, and its owner gets the sum of the two cards, "
        f"plus {bonus} if the winning card is {c.text}; with equal powers nobody gets "
        "anything. Give the list of Ann's points and Bo's points.",
        2: f"In each round both lay down their top card; {wins} (with equal powers Ann's) "
        "and its owner puts first the winning card and then the other one under the own "
        f"pile. The game ends when a pile is empty or after {rounds} rounds. Give Ann's "
        "pile from top to bottom, followed by the number of rounds played.",
        3: "In each round both lay down their top card on the table. With equal powers, or "
        f"if the sum of the two cards is {c.text}, the cards stay on the table. Otherwise "
        f"{wins}, and its owner puts all the cards from the table, in the order in which "
        "they were laid down (Ann's before Bo's in each round), under the own pile. The "
        f"game ends when a pile is empty or after {rounds + bonus} rounds. "
        "Give Ann's pile from top to bottom, followed by the sum of the cards on the "
        "table, the sum of Bo's cards and the number of rounds played.",
    }[level]
    cmp = ">" if high else "<"
    gold = _CARDS_GOLD[level]
    most = rounds + (bonus if level == 3 else 0)

    def lead(x: int, y: int) -> int:
        """Return 1 where x wins, -1 where y does and 0 for equal powers."""
        p, q = (v * f - v * f // m * m for v in (x, y))
        return ((p > q) - (p < q)) * (1 if high else -1)

    def play(a: list[int], b: list[int], table: list[int], played: int) -> list[int]:
        if not a or not b or played == most:
            return [*a, *([sum(table), sum(b)] if level == 3 else []), played]
        x, y, won = a[0], b[0], lead(a[0], b[0])
        stay = level == 3 and (won == 0 or c.holds(x + y))
        table = [*table, x, y]
        if stay:
            return play(a[1:], b[1:], table, played + 1)
        if won > 0 or (won == 0 and level == 2):
            return play(a[1:] + table, b[1:], [], played + 1)
        return play(a[1:], b[1:] + (table[::-1] if level == 2 else table), [], played + 1)

    def brute(a: list[int], b: list[int]) -> list[int]:
        if level > 1:
            return play(a, b, [], 0)
        pairs = [(x, y, lead(x, y)) for x, y in zip(a, b, strict=False)]
        ann = sum(x + y + bonus * c.holds(x) for x, y, won in pairs if won > 0)
        return [ann, sum(x + y + bonus * c.holds(y) for x, y, won in pairs if won < 0)]

    def draw(r: Random) -> tuple[list[int], list[int]]:
        return integers(r, 3, 8, 1, 14), integers(r, 3, 8, 1, 14)

    key: dict[str, Any] = {"level": level, "f": f, "m": m, "high": high}
    key |= (
        {"condition": c.key, "bonus": bonus},
        {"rounds": rounds},
        {"condition": c.key, "rounds": most},
    )[level - 1]
    text = source(gold, f=f, m=m, cmp=cmp, bonus=bonus, rounds=most, cond=c.on("v"))
    return Problem(head + what, (("a", "ints"), ("b", "ints")), "ints", text, brute, draw, key)


FAMILIES = (
    code_family("key_caches", _caches),
    code_family("card_games", _cards),
)
