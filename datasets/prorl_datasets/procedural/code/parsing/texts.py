"""Problems on packed words with repeated, nested and reversed groups."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from random import Random
from string import ascii_lowercase
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Packing:
    level: int
    opening: str
    closing: str
    mark: str
    turn: int
    plus: int
    modulus: int
    every: int
    start: int
    first: bool


def _packing_statement(p: _Packing) -> str:
    head = WORDINGS.one("packing statement head", p_word=WORDINGS.one(f"packing of {p.level}", p=p))
    shift = f"moved {p.turn} places on in the alphabet (after z comes a again)"
    task = WORDINGS.one(
        f"packing {p.level}",
        before="before" if p.first else "after",
        p=p,
        shift=shift,
        every=ordinal(p.every),
        start=ordinal(p.start),
        modulus_plus_90=p.modulus + 90,
    )
    return head + task


def _packing_brute(p: _Packing, s: str) -> Any:
    moved = str.maketrans(ascii_lowercase, ascii_lowercase[p.turn :] + ascii_lowercase[: p.turn])
    if p.level == 1:
        pattern = r"(\d?)([a-z])" if p.first else r"([a-z])(\d?)"
        parts = [m if p.first else m[::-1] for m in re.findall(pattern, s)]
        return "".join(c * (int(n) + p.plus if n else 1) for n, c in parts).translate(moved)
    group = re.compile(
        rf"([\d{re.escape(p.mark)}]){re.escape(p.opening)}([a-z]*){re.escape(p.closing)}"
    )
    while hit := group.search(s):
        n, inner = hit.groups()
        new = inner[::-1].translate(moved) if n == p.mark else inner * (int(n) + p.plus)
        s = s[: hit.start()] + new + s[hit.end() :]
    if p.level == 2:
        return "".join(c for i, c in enumerate(s.translate(moved)) if i % p.every == p.start - 1)
    same = sum(len(m.group()) - 1 for m in re.finditer(r"(.)\1+", s))
    return [len(s), sum(ascii_lowercase.index(c) + 1 for c in s) % (p.modulus + 90), same]


def _packing_draw(p: _Packing, r: Random) -> tuple[str]:
    if p.level == 1:
        units = [r.choice("abcdexyz") for _ in range(r.randint(4, 9))]
        return (
            "".join(("" if r.random() < 0.5 else str(r.randint(1, 5))) + c for c in units)[
                :: 1 if p.first else -1
            ],
        )
    return (_pack(r, p.opening + p.closing, p.mark if p.level == 3 else "", p.level),)


def _packed(rng: Random, level: int) -> Problem:
    opening, closing = rng.choice(("()", "[]", "{}", "<>"))
    mark = rng.choice("!~*^%")
    turn, plus, modulus = (
        rng.randint(1, 25),
        rng.randint(0, 9 if level == 1 else 3),
        rng.randint(3, 9),
    )
    k, first = rng.randint(2, 9), rng.random() < 0.5
    start = rng.randint(1, k)
    p = _Packing(level, opening, closing, mark, turn, plus, modulus, k, start, first)
    key: dict[str, Any] = {"level": p.level, "turn": p.turn, "plus": p.plus}
    key |= (
        {"first": p.first},
        {"k": p.every, "start": p.start, "pair": p.opening},
        {"mark": p.mark, "pair": p.opening, "m": p.modulus},
    )[p.level - 1]
    text = WORDINGS.source(
        f"packed solution {p.level}",
        p,
        start=p.start - 1,
        m=p.modulus + 90,
        side="-" if p.first else "+",
        cut="" if p.first else " + 2",
    )
    if p.level == 1 and p.first:
        text = text.replace("s[i - 1:i]", "s[max(0, i - 1):i]")
    return Problem(
        _packing_statement(p),
        f"s: str -> {'ints' if p.level == 3 else 'str'}",
        text,
        partial(_packing_brute, p),
        partial(_packing_draw, p),
        key,
    )


def _pack(r: Random, pair: str, mark: str, depth: int) -> str:
    out = ""
    for _ in range(r.randint(2, 3)):
        out += "".join(r.choice("abcxyz") for _ in range(r.randint(0, 2)))
        if depth:
            sign = mark if mark and r.random() < 0.4 else str(r.randint(1, 3))
            out += (
                sign
                + pair[0]
                + _pack(r, pair, mark, depth - 1 if r.random() < 0.7 else 0)
                + pair[1]
            )
    return out or "a"


FAMILIES = (code_family("packed_words", "unpacking texts", _packed),)
