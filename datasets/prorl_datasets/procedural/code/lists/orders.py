"""Problems on sorting lists by given keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from prorl_datasets.procedural.code.lists.common import integers
from prorl_datasets.procedural.code.problem import Problem, code_family
from prorl_datasets.procedural.wordings import Wordings, ordinal

WORDINGS = Wordings(__name__)


@dataclass(frozen=True, slots=True)
class _Key:
    """A sort key of a number v; ``text`` completes "its ...", and ``code`` is an expression in v."""

    text: str
    code: str
    of: Callable[[int], int]
    canonical: tuple[str | int, ...]


_KINDS = ("remainder", "remainder", "distance", "distance", "digits", "multiple")


def _draw_key(rng: Random, kinds: tuple[str, ...], high: int) -> _Key:
    c, m = rng.randint(high // 10, high - high // 10), rng.randint(3, high // 3)
    kind = rng.choice(kinds)
    if kind == "remainder":
        return _Key(f"remainder modulo {m}", f"v % {m}", lambda v: v - v // m * m, (kind, m))
    if kind == "distance":
        text = f"distance to {c} (the absolute difference)"
        return _Key(text, f"abs(v - {c})", lambda v: max(v - c, c - v), (kind, c))
    if kind == "digits":
        text = f"digit sum multiplied by {m}, minus the value itself"
        code = f"{m} * sum(map(int, str(v))) - v"
        return _Key(text, code, lambda v: m * (v // 100 + v // 10 % 10 + v % 10) - v, (kind, m))
    text = f"quotient by {m} (rounded down)"
    return _Key(text, f"v // {m}", lambda v: int((v - v % m) / m), (kind, m))


def _acts(first: _Key, second: _Key, high: int) -> bool:
    """Return whether ``second`` ever breaks a tie of ``first`` among elements up to ``high``."""
    both = {(first.of(v), second.of(v)) for v in range(high + 1)}
    return len(both) > len({x for x, _ in both})


@dataclass(frozen=True, slots=True)
class _Order:
    """A problem that sorts by ``first``; ties are broken by ``second`` (at level 2), then by value."""

    level: int
    first: _Key
    second: _Key
    down: bool
    """Whether ``first`` is descending."""
    tie: bool
    """Whether elements with equal keys are in descending order."""
    k: int
    """Every ``k``-th element (level 2) or the ``k``-th element (level 3) is selected."""
    high: int
    """Tests draw elements from 0 to ``high``."""

    def before(self, u: int, v: int) -> bool:
        x, y = self.first.of(u), self.first.of(v)
        if x != y:
            return (x > y) == self.down
        if self.level == 2 and self.second.of(u) != self.second.of(v):
            return self.second.of(u) < self.second.of(v)
        return u > v if self.tie and self.level != 2 else u < v

    def ordered(self, values: list[int]) -> list[int]:
        out: list[int] = []
        for v in values:
            place = 0
            while place < len(out) and self.before(out[place], v):
                place += 1
            out.insert(place, v)
        return out


def _draw_order(rng: Random, level: int) -> _Order:
    high = 99 if level == 1 else 400
    first = _draw_key(rng, ("remainder", "multiple") if level == 2 else _KINDS, high)
    second = _draw_key(rng, _KINDS, high)
    while level == 2 and not _acts(first, second, high):
        second = _draw_key(rng, _KINDS, high)
    down, tie = rng.random() < 0.5, rng.random() < 0.5
    return _Order(level, first, second, down, tie, rng.randint(2, 5), high)


def _key_orders(rng: Random, level: int) -> Problem:
    order = _draw_order(rng, level)
    sign, value = "-" if order.down else "", "-v" if order.tie and level != 2 else "v"
    second = f"{order.second.code}, " if level == 2 else ""
    rank = f"{sign}({order.first.code}), {second}{value}"
    key: dict[str, Any] = {"level": level, "key": order.first.canonical, "down": order.down}
    key |= {"second": order.second.canonical, "k": order.k} if level == 2 else {"tie": order.tie}
    key |= {"k": order.k} if level == 3 else {}
    way, k = "decreasing" if order.down else "increasing", order.k
    ties = f" Equal keys are ordered by {'decreasing' if order.tie else 'increasing'} value."
    if order.level == 2:
        ties = WORDINGS.one("key orders statement ties", text=order.second.text)
    base = WORDINGS.one("key orders statement base", text=order.first.text)
    return Problem(
        base + WORDINGS.one(f"key orders {order.level}", k=k, ordinal_k=ordinal(k), way=way) + ties,
        "a: ints -> ints",
        WORDINGS.source(f"key orders solution {level}", rank=rank, k=order.k),
        partial(_key_orders_brute, order),
        lambda r: (integers(r, 6, 8 + 4 * level, 0, order.high),),
        key,
        (([],),),
    )


def _key_orders_brute(order: _Order, a: list[int]) -> list[int]:
    k = order.k
    if order.level == 3:
        return [order.ordered(a[: i + 1])[k - 1] for i in range(k - 1, len(a))]
    return [v for i, v in enumerate(order.ordered(a)) if order.level == 1 or i % k == 0]


FAMILIES = (code_family("list_key_orders", "sorting by a computed key", _key_orders),)
