"""Code problems on changing a word into another, solved by dynamic programming.

Leaves out: chains (``dp.chains``), counting words (``dp.words``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import (
    letters,
    source,
)
from prorl_datasets.procedural.code.problem import Problem, code_family

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


@dataclass(frozen=True, slots=True)
class _Edits:
    """What is drawn for one problem on changing a word into another."""

    level: int
    insert: int
    delete: int
    replace: int
    swap: int
    alphabet: str
    special: str
    low: int


def _draw_edits(rng: Random, level: int) -> _Edits:
    ins, dele, sub, swap = (rng.randint(1, 9) for _ in range(4))
    alphabet = rng.choice(("abc", "xyz", "acgt", "abcd", "eiou", "mnop"))
    special, low = rng.choice(alphabet), rng.randint(0, 3)
    return _Edits(level, ins, dele, sub, swap, alphabet, special, low)


def _edits_statement(p: _Edits) -> str:
    head = f"`s` and `t` are words of at most 12 letters from '{p.alphabet}'. "
    what = {
        1: "Compare the words letter by letter from the left: each place where both have a "
        f"letter and the letters differ costs {p.replace}, or {p.replace + p.swap} if one of the "
        "two is "
        f"'{p.special}'. Each letter of the longer word beyond the length of the shorter "
        f"one costs {p.insert}. Give the total cost.",
        2: f"s is changed into t by steps: deleting a letter costs {p.delete}, inserting a "
        f"letter costs {p.insert}, replacing a letter by another costs {p.replace}. Each letter of "
        "s "
        "can be changed at most once, and inserted letters stay. Give the smallest total "
        "cost.",
        3: "s is changed into t, from left to right, by steps: deleting a letter costs "
        f"{p.delete} ({p.low} if it is '{p.special}'), inserting a letter costs {p.insert}, "
        "replacing "
        f"a letter by another costs {p.replace}, and swapping two neighbouring letters costs "
        f"{p.swap}. Each letter of s takes part in at most one step, and inserted letters "
        "stay. "
        "Give the smallest total cost.",
    }[p.level]
    return head + what


def _edits_brute(p: _Edits, s: str, t: str) -> int:
    if p.level == 1:
        pairs = [(s[i : i + 1], t[i : i + 1]) for i in range(max(len(s), len(t)))]
        odd = [sorted(pair) for pair in pairs if pair[0] != pair[1]]
        return sum(
            p.insert if "" in pair else p.replace + p.swap * (p.special in pair) for pair in odd
        )
    dist = {(len(s), len(t)): 0}
    queue = [(len(s), len(t))]
    for i, j in queue:
        moves = [
            ((i - 1, j), p.low if p.level == 3 and s[i - 1 : i] == p.special else p.delete),
            ((i, j - 1), p.insert),
        ]
        moves.append(((i - 1, j - 1), 0 if s[i - 1 : i] == t[j - 1 : j] else p.replace))
        if p.level == 3 and i > 1 and j > 1 and s[i - 2 : i] == t[j - 1] + t[j - 2]:
            moves.append(((i - 2, j - 2), p.swap))
        for at, price in moves:
            if min(at) >= 0 and dist[i, j] + price < dist.get(at, 10**6):
                dist[at] = dist[i, j] + price
                queue.append(at)
    return dist[0, 0]


def _edits_draw(p: _Edits, r: Random) -> tuple[str, str]:
    s, t = letters(r, p.alphabet, 3, 7), letters(r, p.alphabet, 2, 7)
    return s, t if r.random() < 0.6 else s[::-1] if r.random() < 0.3 else s[1:3] + t[:2] + s[2:]


def _edits(rng: Random, level: int) -> Problem:
    p = _draw_edits(rng, level)
    key: dict[str, Any] = {
        "level": p.level,
        "alphabet": p.alphabet,
        "ins": p.insert,
        "sub": p.replace,
    }
    key |= (
        {"special": p.special, "swap": p.swap},
        {"dele": p.delete},
        {"dele": p.delete, "special": p.special, "low": p.low, "swap": p.swap},
    )[p.level - 1]
    text = source(
        _EDITS_GOLD[p.level],
        ins=p.insert,
        dele=p.delete,
        sub=p.replace,
        swap=p.swap,
        low=p.low,
        special=p.special,
        both=p.replace + p.swap,
    )
    return Problem(
        _edits_statement(p),
        (("s", "str"), ("t", "str")),
        "int",
        text,
        partial(_edits_brute, p),
        partial(_edits_draw, p),
        key,
    )


FAMILIES = (code_family("edit_costs", "edit distances with other prices", _edits),)
