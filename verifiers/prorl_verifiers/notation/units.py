"""Converts numbers between units with exact fractions.

A temperature alone is a point on its scale: 25 degC is 298.15 K. In a product or power, it is a difference.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from prorl_verifiers.notation.unit_text import COUNTED, PREFIXED, TEMPERATURES, read_unit

Reading = tuple[tuple[str, Fraction], ...]
Dimensions = tuple[tuple[str, Fraction], ...]
Size = tuple[Fraction, Dimensions]
"""(Factor from the unit to root units, powers of the root units)."""

_SCALES = {
    "K": (Fraction(1), Fraction(0)), "mK": (Fraction(1, 1000), Fraction(0)), "degC": (Fraction(1), Fraction("273.15")),
    "degF": (Fraction(5, 9), Fraction("459.67") * 5 / 9), "degR": (Fraction(5, 9), Fraction(0)),
}  # fmt: skip
_LB_FORCE = "force_pound"
_SECOND_MEANING = {"lb": _LB_FORCE, "pound": _LB_FORCE, "pounds": _LB_FORCE, "oz": "force_ounce", "C": "degC", "F": "degF",
    "turn": "", "rpm": "1/min", "Km": "km", "ton": "metric_ton"}  # fmt: skip
_ANGLE, _CYCLE = "radian", "Hz"


def convert(value: Fraction, unit: str, to: str) -> Fraction | None:
    """Convert ``value`` from ``unit`` to ``to``, or return None if this is impossible.

    An ambiguous name such as ``lb`` gets the meaning that fits the other unit.
    """
    readings, target_readings = read_unit(unit), read_unit(to)
    if not readings or not target_readings:
        return None
    if readings[0] == target_readings[0]:
        return value
    for reading in readings:
        for target in target_readings:
            scale, target_scale = _scale(reading), _scale(target)
            if scale and target_scale:
                return (value * scale[0] + scale[1] - target_scale[1]) / target_scale[0]
            for meaning in _meanings(reading):
                for target_meaning in _meanings(target):
                    ratio = _ratio(meaning, target_meaning)
                    if ratio is not None:
                        return value * ratio
    return None


def is_known(unit: str) -> bool:
    readings = read_unit(unit)
    return bool(readings) and all(
        name in COUNTED
        or name in _SCALES
        or (size is not None and not any(root.startswith("'") for root, _ in size[1]))
        for name, _ in readings[0]
        for size in (_size(name),)
    )


def _scale(reading: Reading) -> tuple[Fraction, Fraction] | None:
    """Return (kelvins per degree, kelvins at 0 degrees) of a temperature scale, or None."""
    if len(reading) != 1 or reading[0][1] != 1:
        return None
    return _SCALES.get(TEMPERATURES.get(reading[0][0], ""))


def _meanings(reading: Reading) -> list[Reading]:
    second = []
    for name, power in reading:
        other = _SECOND_MEANING.get(name, name)
        if other == "1/min":
            second.append(("min", -power))
        elif other:
            second.append((other, power))
    return [reading] if tuple(second) == reading else [reading, tuple(second)]


def _ratio(reading: Reading, target: Reading) -> Fraction | None:
    size, target_size = _size_of_reading(reading), _size_of_reading(target)
    if size is None or target_size is None:
        return None
    if size[1] == target_size[1]:
        return size[0] / target_size[0]
    names = {name for name, _ in (*reading, *target)}
    if _CYCLE in names or any(name.endswith(_CYCLE) for name in names):
        left, target_left = _without(size[1], angle=False), _without(target_size[1], angle=False)
    else:
        left, target_left = _without(size[1], angle=True), _without(target_size[1], angle=True)
    omitted = len(left) < len(size[1])
    if left != target_left or (omitted and len(target_left) < len(target_size[1])):
        return None
    return size[0] / target_size[0]


def _without(dimensions: Dimensions, angle: bool) -> Dimensions:
    return tuple(
        (name, power)
        for name, power in dimensions
        if not (name.startswith("#") or (angle and name == _ANGLE))
    )


def _size_of_reading(reading: Reading) -> Size | None:
    factor = Fraction(1)
    dimensions: dict[str, Fraction] = {}
    for name, power in reading:
        size = _size(name)
        if size is None or abs(power) > 20:
            return None
        factor *= _power(size[0], power)
        for root, count in size[1]:
            dimensions[root] = dimensions.get(root, Fraction(0)) + count * power
    return factor, tuple(sorted((root, count) for root, count in dimensions.items() if count))


def _power(size: Fraction, power: Fraction) -> Fraction:
    if power.denominator == 1:
        return Fraction(size ** int(power))
    context = Context(prec=40)
    number = context.divide(Decimal(size.numerator), Decimal(size.denominator))
    exponent = context.divide(Decimal(power.numerator), Decimal(power.denominator))
    return Fraction(context.power(number, exponent))


# ----------------------------------------------------------------------------------------- single names


@lru_cache(maxsize=2048)
def _size(name: str) -> Size | None:
    """Return a unit's factor and dimensions. An unknown unit is its own dimension."""
    special = _special_size(name)
    if special is not None:
        return special
    for spelling in _spellings(name):
        size = _ask_pint(spelling)
        if size is not None:
            return size
    # A chemical formula such as H2O or NaCl is a dimension of its own.
    species = len(name) > 1 and sum(letter.isupper() for letter in name) > 1 and name.isalnum()
    mark = "#" if species else "'"
    return Fraction(1), ((mark + name.casefold().removesuffix("s"), Fraction(1)),)


def _special_size(name: str) -> Size | None:
    if name in ("degC", "degF", "degR"):
        return _SCALES[name][0], (("kelvin", Fraction(1)),)
    if name == "cm³":
        return Fraction(1, 10**6), (("meter", Fraction(3)),)
    if name == "%":
        return Fraction(1, 100), ()
    if name in ("dB", "decibel", "decibels", "dBm", "pH"):
        return Fraction(1), (("'" + name.removesuffix("s"), Fraction(1)),)
    if name in _GAUSS:
        tesla = _ask_pint("tesla")
        return None if tesla is None else (tesla[0] * _GAUSS[name], tesla[1])
    low = name.casefold()
    for noun in (low, low.removesuffix("s"), low.removesuffix("es")):
        if noun in COUNTED:
            return Fraction(1), (("#" + noun, Fraction(1)),)
    return None


def _spellings(name: str) -> list[str]:
    if name in _REFUSED or len(name) > 40 or not name.replace("_", "").isalpha():
        return []
    single = name.removesuffix("s")
    if single != name and name not in PREFIXED and single in PREFIXED - _WITH_PLURAL:
        return []
    return [name] if len(name) < 4 or name.islower() else [name, name.lower()]


_REFUSED = frozenset("at nat hat pat mat cat e k x y z n i j p q R k_B".split())  # noqa: SIM905
_GAUSS = {
    "G": Fraction(1, 10**4), "gauss": Fraction(1, 10**4), "Gauss": Fraction(1, 10**4), "mG": Fraction(1, 10**7),
    "kG": Fraction(1, 10),
}  # fmt: skip
"""Sizes in tesla. pint's gauss belongs to another unit system."""
_WITH_PLURAL = frozenset(
    "day mi yd gal torr atm bar rad mol yr cal amu oz kat ha".split()  # noqa: SIM905
)


@lru_cache(maxsize=1)
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(non_int_type=Fraction)


def _ask_pint(name: str) -> Size | None:
    import pint

    registry = _registry()
    try:
        container = registry.UnitsContainer({name: 1})
        factor, roots = registry.get_root_units(container, check_nonmult=True)
    except (pint.UndefinedUnitError, pint.DefinitionSyntaxError):
        return None
    if factor is None:
        return None
    exact = factor if isinstance(factor, Fraction) else Fraction(str(factor))
    if exact <= 0:
        return None
    return exact, tuple(
        sorted((str(root), Fraction(str(count))) for root, count in roots._units.items())
    )
