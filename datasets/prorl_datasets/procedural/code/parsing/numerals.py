"""Problems on numerals with invented symbols."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Numerals:
    level: int
    symbols: list[str]
    values: list[int]
    table: dict[str, int]
    top: int


def _numeral_items(p: _Numerals) -> list[tuple[int, str]]:
    """Return (value, text) of symbols and of pairs such as IV, largest first."""
    singles = [(value, symbol) for symbol, value in p.table.items()]
    pairs = [(p.values[i + 1] - p.values[i], p.symbols[i] + p.symbols[i + 1]) for i in range(3)]
    return sorted(singles + [pair for pair in pairs if pair[0] not in p.values], reverse=True)


def _numerals_brute(p: _Numerals, words: list[Any]) -> Any:
    if p.level == 1:
        return sorted(sum(w.count(s) * v for s, v in p.table.items()) for w in words)[::-1]
    if p.level == 2:
        worths = [_worth(w, p.symbols, p.values) for w in words]
        return [w - (worths[i - 1] if i else 0) for i, w in enumerate(worths)]
    items = _numeral_items(p)
    return [_numeral(n, items) for n in words]


def _numerals_draw(p: _Numerals, r: Random) -> tuple[list[Any]]:
    size = r.randint(2, 6)
    if p.level == 3:
        return ([r.randint(1, p.top) for _ in range(size)],)
    return (["".join(r.choice(p.symbols) for _ in range(r.randint(1, 6))) for _ in range(size)],)


def _numerals(rng: Random, level: int) -> Problem:
    symbols = rng.sample("ABCDEFGHKLMNPQRSTUVWXYZ", 4)
    values = [1]
    for _ in range(3):
        values.append(values[-1] * rng.randint(2, 7))
    table = dict(zip(symbols, values, strict=True))
    top = values[-1] * 3
    p = _Numerals(level, symbols, values, table, top)
    key: dict[str, Any] = {"level": p.level, "symbols": p.symbols, "values": p.values}
    text = WORDINGS.source(f"numerals solution {p.level}", table=p.table, items=_numeral_items(p))
    means = ", ".join(f"{s} = {v}" for s, v in p.table.items())
    head = f"Numerals are written with the symbols {means}. "
    task = WORDINGS.one(f"numerals {p.level}", p=p)
    return Problem(
        head + task,
        "a: ints -> strs" if p.level == 3 else "s: strs -> ints",
        text,
        partial(_numerals_brute, p),
        partial(_numerals_draw, p),
        key,
    )


def _worth(word: str, symbols: list[str], values: list[int]) -> int:
    total = 0
    for symbol, value in zip(symbols, values, strict=True):
        larger = "".join(symbols[symbols.index(symbol) + 1 :])
        less = len(re.findall(f"{symbol}(?=[{larger}])", word)) if larger else 0
        total += value * (word.count(symbol) - 2 * less)
    return total


def _numeral(n: int, items: list[tuple[int, str]]) -> str:
    if n == 0:
        return ""
    value, text = max(item for item in items if item[0] <= n)
    return text + _numeral(n - value, items)


FAMILIES = (code_family("own_numerals", "numerals with symbols defined in the task", _numerals),)
