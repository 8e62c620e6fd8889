"""Problems on changing one word into another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import letters
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Edits:
    level: int
    insert: int
    delete: int
    replace: int
    swap: int
    alphabet: str
    special: str
    low: int


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
    ins, dele, sub, swap = (rng.randint(1, 9) for _ in range(4))
    alphabet = rng.choice(("abc", "xyz", "acgt", "abcd", "eiou", "mnop"))
    special, low = rng.choice(alphabet), rng.randint(0, 3)
    p = _Edits(level, ins, dele, sub, swap, alphabet, special, low)
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
    text = WORDINGS.source(f"edits solution {p.level}", p, both=p.replace + p.swap)
    head = f"`s` and `t` are words of at most 12 letters from '{p.alphabet}'. "
    task = WORDINGS.one(f"edits {p.level}", p=p, replace_plus_swap=p.replace + p.swap)
    return Problem(
        head + task,
        "s: str, t: str -> int",
        text,
        partial(_edits_brute, p),
        partial(_edits_draw, p),
        key,
    )


FAMILIES = (code_family("edit_costs", "edit distances with other prices", _edits),)
