"""Draws conditions and input data for list, grid, graph and simulation problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from string import Template
from textwrap import dedent

_KINDS = (
    *("above", "below", "multiple", "remainder", "remainder", "band", "band", "band"),
    *("outside", "outside", "either", "either"),
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate on an integer."""

    text: str
    """Completes "a value that is ..."."""
    code: str
    """Expression in VALUE for the gold solution."""
    holds: Callable[[int], bool]
    """The predicate itself, for the brute force."""
    key: tuple[str | int, ...]

    @property
    def negated(self) -> str:
        match self.key:
            case ("band", int(k), int(width)):
                return f"less than {k - width} or greater than {k + width}"
            case ("outside", int(k), int(width)):
                return f"at least {k - width} and at most {k + width}"
            case ("either", int(d), int(k)):
                return f"neither divisible by {d} nor greater than {k}"
        return f"not {self.text}"

    def on(self, name: str) -> str:
        """Return the condition as an expression in ``name``, a name or bracketed expression."""
        return self.code.replace("VALUE", name)


def condition(rng: Random, low: int, high: int) -> Condition:
    """Draw a condition that holds for 20% to 80% of [low, high]."""
    return _condition(rng, low, high, 0.2, 0.8)


def rare_condition(rng: Random, low: int, high: int) -> Condition:
    """Draw a condition that holds for 5% to 35% of [low, high]."""
    return _condition(rng, low, high, 0.05, 0.35)


def _condition(rng: Random, low: int, high: int, least: float, most: float) -> Condition:
    while True:
        drawn = _any_condition(rng, low, high)
        hits = sum(drawn.holds(v) for v in range(low, high + 1))
        if least * (high - low + 1) <= hits <= most * (high - low + 1):
            return drawn


def _any_condition(rng: Random, low: int, high: int) -> Condition:
    third = max(1, (high - low) // 3)
    kind = rng.choice(_KINDS)
    k, d = rng.randint(low + third // 2, high - third // 2), rng.randint(2, 6)
    if kind in ("above", "below"):
        more = kind == "above"
        text = f"{'greater' if more else 'less'} than {k}"
        return Condition(
            text,
            text.replace(f"{text.split()[0]} than", "VALUE " + "<>"[more]),
            (lambda v: v >= k + 1) if more else (lambda v: v <= k - 1),
            (kind, k),
        )
    if kind == "multiple":
        text = f"divisible by {d}"
        return Condition(text, f"VALUE % {d} == 0", lambda v: abs(v) // d * d == abs(v), (kind, d))
    if kind == "remainder":
        r = rng.randint(1, d)
        text, code = f"congruent to {r} modulo {d + 1}", f"VALUE % {d + 1} == {r}"
        return Condition(text, code, lambda v: (v - r) % (d + 1) == 0, (kind, d + 1, r))
    if kind == "either":
        text, code = f"divisible by {d} or greater than {k}", f"(VALUE % {d} == 0 or VALUE > {k})"
        return Condition(text, code, lambda v: not (v % d and v <= k), (kind, d, k))
    width = rng.randint(1, third + 1)
    a, b = k - width, k + width
    if kind == "band":
        text, code = f"at least {a} and at most {b}", f"{a} <= VALUE <= {b}"
        return Condition(text, code, lambda v: abs(v - k) <= width, (kind, k, width))
    text, code = f"less than {a} or greater than {b}", f"not {a} <= VALUE <= {b}"
    return Condition(text, code, lambda v: abs(v - k) > width, (kind, k, width))


def source(text: str, **values: object) -> str:
    return Template(dedent(text).strip("\n")).substitute(values) + "\n"


def integers(rng: Random, shortest: int, longest: int, low: int, high: int) -> list[int]:
    return [rng.randint(low, high) for _ in range(rng.randint(shortest, longest))]


def letters(rng: Random, alphabet: str, shortest: int, longest: int) -> str:
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(shortest, longest)))


def matrix(rng: Random, sides: tuple[int, int], low: int, high: int) -> list[list[int]]:
    """Draw a grid of integers in [low, high] with sides within ``sides`` (inclusive)."""
    height, width = rng.randint(*sides), rng.randint(*sides)
    return [[rng.randint(low, high) for _ in range(width)] for _ in range(height)]


def edge_list(rng: Random, n: int, most: int, weight: int = 0) -> list[list[int]]:
    """Draw distinct edges [u, v], or [u, v, w] with 1 <= w <= weight, in random direction.

    No edges are loops or parallel.
    """
    every = [[u, v] for u in range(n) for v in range(u + 1, n)]
    rng.shuffle(every)
    out = []
    for u, v in every[: rng.randint(min(n, len(every)), min(most, len(every)))]:
        ends = [u, v] if rng.random() < 0.5 else [v, u]
        out.append([*ends, rng.randint(1, weight)] if weight else ends)
    return out


MEASURES = (
    ("sum", "sum(w)"),
    ("largest element", "max(w)"),
    ("smallest element", "min(w)"),
    ("largest element minus its smallest", "max(w) - min(w)"),
    ("first element minus its last", "w[0] - w[-1]"),
    ("first element plus its last", "w[0] + w[-1]"),
)


def measure(name: str, w: list[int]) -> int:
    """Return, for checking the gold solution, what ``name`` (such as "sum") is for ``w``."""
    s = sorted(w)
    table = {
        "sum": lambda: sum(s),
        "largest element": lambda: s[-1],
        "smallest element": lambda: s[0],
        "largest element minus its smallest": lambda: s[-1] - s[0],
        "first element minus its last": lambda: -(w[-1] - w[0]),
        "first element plus its last": lambda: sum((w[0], *w[len(w) - 1 :])),
    }
    return table[name]()
