"""Builds problems from physical laws, given as quantities with units, solvers and scenes.

Level 1 asks for the result in the first units, level 2 uses other units or asks for another quantity, and level 3 uses
a law of several steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from prorl_datasets.procedural.items import Family
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family

Values = Mapping[str, float]
"""Values by quantity key, in the law's own units."""
G = 9.81
G_NOTE = "Take g = 9.81 m/s^2."
TRIES = 1000
_ASKS = ("Find {}.", "What is {}?", "Calculate {}.", "Determine {}.", "Work out {}.")


class Scale(NamedTuple):
    """A unit and its range; value * ``size`` + ``offset`` converts to the unit of the law's formula."""

    unit: str
    size: float = 1.0
    low: float = 0.0
    high: float = 0.0
    places: int = 0
    offset: float = 0.0

    def inward(self, value: float) -> float:
        return value * self.size + self.offset

    def outward(self, value: float) -> float:
        return (value - self.offset) / self.size


@dataclass(frozen=True, slots=True)
class Quantity:
    """A physical quantity. ``noun`` has an article ("the speed"); the first scale is the default."""

    key: str
    noun: str
    scales: tuple[Scale, ...]


@dataclass(frozen=True, slots=True)
class Law:
    """A law with its quantities, solvers and scenes."""

    quantities: tuple[Quantity, ...]
    """The result first, then the drawn quantities."""
    scenes: Callable[[Random], str]
    """Draws the sentence that introduces the problem."""
    solve: Mapping[str, Callable[[Values], float]]
    """A solver for each quantity that may be asked for."""
    note: str = ""
    check: Callable[[Values], bool] | None = None
    """Returns whether drawn values are plausible together."""
    slips: Callable[[Values, str], tuple[float, ...]] | None = None
    """Returns results of typical mistakes, in the law's unit, from (values, key asked for)."""
    bounds: tuple[float, float] | None = None
    """Realistic range of the result, in the law's unit."""
    signed: bool = False
    """Whether options with the opposite sign are plausible."""


@dataclass(slots=True)
class _Drawn:
    scales: dict[str, Scale]
    stated: dict[str, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)


def result(key: str, noun: str, *units: str | tuple[str, float] | Scale) -> Quantity:
    """Return the quantity that a law computes; each unit is a name, (name, size) or a Scale."""
    return Quantity(key, noun, tuple(_unit(unit) for unit in units))


def given(key: str, noun: str, *scales: Scale | tuple[str, float, float, float, int]) -> Quantity:
    """Return a drawn quantity; each scale has Scale's fields (unit, size, low, high, places)."""
    return Quantity(key, noun, tuple(Scale(*scale) for scale in scales))


def power_law(
    quantities: tuple[Quantity, ...],
    powers: Mapping[str, float],
    scenes: Callable[[Random], str],
    constant: float = 1.0,
    note: str = "",
    bounds: tuple[float, float] | None = None,
) -> Law:
    """Return the law result = constant x product of quantity^power, solvable for every quantity."""
    head = quantities[0].key

    def solver(asked: str) -> Callable[[Values], float]:
        return lambda values: _power_solution(values, asked, head, powers, constant)

    def slips(values: Values, asked: str) -> tuple[float, ...]:
        return _power_slips(values, asked, head, powers, constant)

    solve = {quantity.key: solver(quantity.key) for quantity in quantities}
    return Law(quantities, scenes, solve, note=note, slips=slips, bounds=bounds)


def law_family(
    name: str, easy: Law, hard: Law | tuple[Law, ...], middle: Law | None = None
) -> Family:
    """Return the family that asks ``easy`` at level 1, ``middle`` at level 2 and one of ``hard`` at level 3.

    ``middle`` defaults to ``easy`` with other units or another unknown.
    """

    def make(rng: Random, level: int) -> Solved:
        if level == 1:
            return ask(rng, easy, units=False, unknown=False)
        late = hard if isinstance(hard, tuple) else (hard,)
        law = (middle or easy) if level == 2 else rng.choice(late)
        units = any(len(quantity.scales) > 1 for quantity in law.quantities)
        unknown = len(law.solve) > 1
        if units and unknown:
            units, unknown = rng.choice(((True, False), (False, True), (True, True)))
        return ask(rng, law, units, unknown)

    return stem_family(name, make)


def ask(rng: Random, law: Law, units: bool, unknown: bool) -> Solved:
    """Draw a problem; ``units`` avoids default units, ``unknown`` asks for a quantity other than the result.

    Raises RuntimeError if no draw is plausible, which means a bug in the law.
    """
    head = law.quantities[0].key
    for _ in range(TRIES):
        drawn = _draw(rng, law, units)
        if law.check is not None and not law.check(drawn.values):
            continue
        drawn.values[head] = law.solve[head](drawn.values)
        if law.bounds and not law.bounds[0] <= drawn.values[head] <= law.bounds[1]:
            continue
        asked = rng.choice([key for key in law.solve if key != head]) if unknown else head
        if (asked == head or _turned(law, drawn, asked)) and _readable(law, drawn, asked):
            return _worded(rng, law, drawn, asked)
    raise RuntimeError(f"no plausible draw for the law of {law.quantities[0].noun}")


def _unit(unit: str | tuple[str, float] | Scale) -> Scale:
    if isinstance(unit, Scale):
        return unit
    return Scale(unit) if isinstance(unit, str) else Scale(*unit)


def _draw(rng: Random, law: Law, units: bool) -> _Drawn:
    drawn = _Drawn({quantity.key: quantity.scales[0] for quantity in law.quantities})
    for _ in range(TRIES if units and any(len(q.scales) > 1 for q in law.quantities) else 0):
        drawn.scales = {q.key: rng.choice(q.scales) for q in law.quantities}
        if any(drawn.scales[q.key] != q.scales[0] for q in law.quantities):
            break
    for quantity in law.quantities[1:]:
        scale = drawn.scales[quantity.key]
        number = clean(rng, scale.low, scale.high, scale.places)
        drawn.stated[quantity.key] = number
        drawn.values[quantity.key] = scale.inward(number)
    return drawn


def _turned(law: Law, drawn: _Drawn, asked: str) -> bool:
    """Give the law's rounded result and ask for ``asked``; return False if rounding changes it by over 5%."""
    head = law.quantities[0].key
    scale = drawn.scales[head]
    figures = 4 if len(law.quantities) == 2 else 3
    drawn.stated[head] = rounded(scale.outward(drawn.values[head]), figures)
    drawn.values[head] = scale.inward(drawn.stated[head])
    before = drawn.values[asked]
    del drawn.stated[asked], drawn.values[asked]
    drawn.values[asked] = law.solve[asked](drawn.values)
    return abs(drawn.values[asked] - before) <= 0.05 * abs(before)


def _readable(law: Law, drawn: _Drawn, asked: str) -> bool:
    numbers = {asked: drawn.scales[asked].outward(drawn.values[asked])}
    head = law.quantities[0].key
    if head != asked:
        numbers[head] = drawn.stated[head]
    plain = {quantity.key: quantity.scales[0] for quantity in law.quantities}
    return all(
        drawn.scales[key] == plain[key] or 1e-2 <= abs(number) < 1e5
        for key, number in numbers.items()
    )


def _worded(rng: Random, law: Law, drawn: _Drawn, asked: str) -> Solved:
    quantity = next(q for q in law.quantities if q.key == asked)
    stated = [
        (q, f"{shown(drawn.stated[q.key])} {drawn.scales[q.key].unit}".strip())
        for q in law.quantities
        if q.key != asked
    ]
    clauses = [f"{q.noun} is {text}" for q, text in stated]
    if rng.random() < 0.5:
        rng.shuffle(clauses)
    listed = ", ".join(clauses[:-1]) + (" and " if len(clauses) > 1 else "") + clauses[-1]
    parts = [law.scenes(rng), f"{listed[0].upper()}{listed[1:]}."]
    parts += [law.note] if law.note else []
    parts.append(rng.choice(_ASKS).format(quantity.noun))
    scale = drawn.scales[asked]
    return Solved(
        question=" ".join(parts),
        value=scale.outward(drawn.values[asked]),
        unit=scale.unit,
        parameters={
            "asked": asked,
            "law": law.quantities[0].noun,
            **{q.key: text for q, text in stated},
        },
        wrong=_wrong(law, drawn, asked),
    )


def _wrong(law: Law, drawn: _Drawn, asked: str) -> tuple[float, ...]:
    """Return results of typical mistakes, in the unit asked for."""
    scale = drawn.scales[asked]
    results = [drawn.values[asked]] if scale.size != 1.0 or scale.offset else []
    for key, number in drawn.stated.items():
        if drawn.values[key] != number:
            careless = {**drawn.values, key: number}
            del careless[asked]
            results += [scale.outward(value) for value in _tried(law, careless, asked)]
    if law.slips is not None:
        results += [scale.outward(value) for value in law.slips(drawn.values, asked)]
    sign = scale.outward(drawn.values[asked])
    return tuple(value for value in results if law.signed or value * sign > 0)


def _tried(law: Law, values: Values, asked: str) -> tuple[float, ...]:
    try:
        return (law.solve[asked](values),)
    except (ValueError, ZeroDivisionError, OverflowError):
        return ()


def _power_solution(
    values: Values, asked: str, head: str, powers: Mapping[str, float], constant: float
) -> float:
    product = constant
    for key, power in powers.items():
        if key != asked:
            product *= math.pow(values[key], power)
    if asked == head:
        return product
    return math.pow(values[head] / product, 1.0 / powers[asked])


def _power_slips(
    values: Values, asked: str, head: str, powers: Mapping[str, float], constant: float
) -> tuple[float, ...]:
    """Return wrong results: the constant is omitted or inverted, an exponent ignored, or a factor inverted."""
    changed = [(powers, 1.0), (powers, 1.0 / constant)]
    for key, power in powers.items():
        if abs(power) != 1.0:
            changed.append(({**powers, key: math.copysign(1.0, power)}, constant))
        if key != asked:
            changed.append(({**powers, key: -power}, constant))
    return tuple(_power_solution(values, asked, head, p, c) for p, c in changed)
