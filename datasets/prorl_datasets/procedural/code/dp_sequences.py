"""Code problems solved by dynamic programming over sequences: chains and edits.

Leaves out: counting words (``dp_words``).
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists_common import condition, integers, letters, source
from prorl_datasets.procedural.code.problem import Problem, code_family

_CHAINS_GOLD = {
    1: """
    def solve(a):
        chain = a[:1]
        for v in a[1:]:
            u = chain[-1]
            if $d <= $step <= $top:
                chain.append(v)
        return [$f * v for v in chain]
    """,
    2: """
    def solve(a):
        best = []
        for i, v in enumerate(a):
            before = [best[j] for j, u in enumerate(a[:i]) if $d <= $step <= $top]
            best.append(v + ($f if $cond else 0) + max([0, *before]))
        return max(best, default=0)
    """,
    3: """
    def solve(a):
        ways = []
        size = []
        count = longest = 0
        for i, v in enumerate(a):
            before = [j for j, u in enumerate(a[:i]) if $d <= $step <= $top]
            ways.append(1 + sum(ways[j] for j in before))
            size.append(1 + max([size[j] for j in before], default=0))
            if $cond:
                count += ways[i]
                longest = max(longest, size[i])
        return [count % $m, longest]
    """,
}


def _chains(rng: Random, level: int) -> Problem:
    d, top, f = rng.randint(1, 6), rng.randint(10, 25), rng.randint(1, 9)
    up, c, m = rng.random() < 0.5, condition(rng, -9, 30), rng.choice((97, 101, 997, 1009))
    way = "above" if up else "below"
    head = "`a` is a list of at most 10 integers. "
    link = (
        f"every element but the first is at least {d} and at most {d + top} {way} the one "
        "before it in the subsequence"
    )
    what = {
        1: "Build a chain: it starts with the first element of `a`; then go through `a` and "
        f"put every element at the end of the chain that is at least {d} and at most "
        f"{d + top} {way} the chain's last element then. Give the chain (empty if `a` is "
        f"empty), each element multiplied by {f}.",
        2: "A subsequence is what is left when any elements are deleted, the order kept. "
        f"Among the non-empty subsequences in which {link}, give the largest sum of "
        f"elements plus {f} for each element that is {c.text} (0 if `a` is empty).",
        3: "A subsequence is a choice of positions, in increasing order; two different "
        "choices count as two even if their values are equal. Consider the non-empty "
        f"subsequences in which {link} and the last element is {c.text}. "
        f"Give a list of two integers: their number modulo {m}, and the largest length "
        "among them (0 if there is none).",
    }[level]
    step = "v - u" if up else "u - v"
    gold = _CHAINS_GOLD[level]

    def fits(w: list[int]) -> bool:
        gaps = [(v - u) * (1 if up else -1) for u, v in pairwise(w)]
        return all(0 <= gap - d <= top for gap in gaps)

    def brute(a: list[int]) -> Any:
        if level == 1:
            rest, chain = a[1:], a[:1]
            while rest:
                hit = [i for i, v in enumerate(rest) if fits([chain[-1], v])]
                chain, rest = ([*chain, rest[hit[0]]], rest[hit[0] + 1 :]) if hit else (chain, [])
            return [v * f for v in chain]
        found: list[list[int]] = []
        layer: list[tuple[int, ...]] = [(i,) for i in range(len(a))]
        while layer:
            found += [[a[i] for i in at] for at in layer]
            layer = [
                (*at, j)
                for at in layer
                for j in range(at[-1] + 1, len(a))
                if fits([a[at[-1]], a[j]])
            ]
        if level == 2:
            return max((sum(w) + f * len([v for v in w if c.holds(v)]) for w in found), default=0)
        good = [len(w) for w in found if c.holds(w[-1])]
        return [len(good) % m, max(good, default=0)]

    key: dict[str, Any] = {"level": level, "d": d, "top": top, "up": up}
    key |= ({"f": f}, {"f": f, "condition": c.key}, {"m": m, "condition": c.key})[level - 1]
    text = source(gold, d=d, top=d + top, step=step, f=f, m=m, cond=c.on("v"))
    return Problem(
        head + what,
        (("a", "ints"),),
        "int" if level == 2 else "ints",
        text,
        brute,
        lambda r: (integers(r, 6, 10, -9, 30),),
        key,
        (([],),),
    )


_EDITS_GOLD = {
    1: """
    def solve(s, t):
        cost = $ins * abs(len(s) - len(t))
        for x, y in zip(s, t):
            if x != y:
                cost += $both if "$special" in (x, y) else $sub
        return cost
    """,
    2: """
    def solve(s, t):
        row = [$ins * j for j in range(len(t) + 1)]
        for i, x in enumerate(s):
            new = [row[0] + $dele]
            for j, y in enumerate(t):
                keep = row[j] + (0 if x == y else $sub)
                new.append(min(keep, row[j + 1] + $dele, new[j] + $ins))
            row = new
        return row[-1]
    """,
    3: """
    def solve(s, t):
        rows = [[$ins * j for j in range(len(t) + 1)]]
        for i, x in enumerate(s):
            drop = $low if x == "$special" else $dele
            new = [rows[i][0] + drop]
            for j, y in enumerate(t):
                keep = rows[i][j] + (0 if x == y else $sub)
                cost = min(keep, rows[i][j + 1] + drop, new[j] + $ins)
                if i and j and x == t[j - 1] and s[i - 1] == y:
                    cost = min(cost, rows[i - 1][j - 1] + $swap)
                new.append(cost)
            rows.append(new)
        return rows[-1][-1]
    """,
}


def _edits(rng: Random, level: int) -> Problem:
    ins, dele, sub, swap = (rng.randint(1, 9) for _ in range(4))
    alphabet = rng.choice(("abc", "xyz", "acgt", "abcd", "eiou", "mnop"))
    special, low = rng.choice(alphabet), rng.randint(0, 3)
    head = f"`s` and `t` are words of at most 12 letters from '{alphabet}'. "
    what = {
        1: "Compare the words letter by letter from the left: each place where both have a "
        f"letter and the letters differ costs {sub}, or {sub + swap} if one of the two is "
        f"'{special}'. Each letter of the longer word beyond the length of the shorter "
        f"one costs {ins}. Give the total cost.",
        2: f"s is changed into t by steps: deleting a letter costs {dele}, inserting a "
        f"letter costs {ins}, replacing a letter by another costs {sub}. Each letter of s "
        "can be changed at most once, and inserted letters stay. Give the smallest total "
        "cost.",
        3: "s is changed into t, from left to right, by steps: deleting a letter costs "
        f"{dele} ({low} if it is '{special}'), inserting a letter costs {ins}, replacing "
        f"a letter by another costs {sub}, and swapping two neighbouring letters costs "
        f"{swap}. Each letter of s takes part in at most one step, and inserted letters "
        "stay. "
        "Give the smallest total cost.",
    }[level]
    gold = _EDITS_GOLD[level]

    def brute(s: str, t: str) -> int:
        if level == 1:
            pairs = [(s[i : i + 1], t[i : i + 1]) for i in range(max(len(s), len(t)))]
            odd = [sorted(p) for p in pairs if p[0] != p[1]]
            return sum(ins if "" in p else sub + swap * (special in p) for p in odd)
        dist = {(len(s), len(t)): 0}
        queue = [(len(s), len(t))]
        for i, j in queue:
            moves = [
                ((i - 1, j), low if level == 3 and s[i - 1 : i] == special else dele),
                ((i, j - 1), ins),
            ]
            moves.append(((i - 1, j - 1), 0 if s[i - 1 : i] == t[j - 1 : j] else sub))
            if level == 3 and i > 1 and j > 1 and s[i - 2 : i] == t[j - 1] + t[j - 2]:
                moves.append(((i - 2, j - 2), swap))
            for at, price in moves:
                if min(at) >= 0 and dist[i, j] + price < dist.get(at, 10**6):
                    dist[at] = dist[i, j] + price
                    queue.append(at)
        return dist[0, 0]

    def draw(r: Random) -> tuple[str, str]:
        s, t = letters(r, alphabet, 3, 7), letters(r, alphabet, 2, 7)
        return s, t if r.random() < 0.6 else s[::-1] if r.random() < 0.3 else s[1:3] + t[:2] + s[2:]

    key: dict[str, Any] = {"level": level, "alphabet": alphabet, "ins": ins, "sub": sub}
    key |= (
        {"special": special, "swap": swap},
        {"dele": dele},
        {"dele": dele, "special": special, "low": low, "swap": swap},
    )[level - 1]
    text = source(
        gold, ins=ins, dele=dele, sub=sub, swap=swap, low=low, special=special, both=sub + swap
    )
    return Problem(head + what, (("s", "str"), ("t", "str")), "int", text, brute, draw, key)


FAMILIES = (
    code_family("chain_subsequences", _chains),
    code_family("edit_costs", _edits),
)
