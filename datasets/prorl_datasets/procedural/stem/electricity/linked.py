"""Problems on circuits and heat in several steps."""
# Source: Halliday, Resnick, Walker, chapters 18 and 25 to 27.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_HEAT = 4186.0
_WATER = "Take 4186 J/(kg K) for the specific heat of water."
_MASS = given("m", "the mass of the water", ("kg", 1, 0.2, 3, 2), ("g", 1e-3, 150, 950, 0))
_RISE = given("x", "the rise in temperature", ("K", 1, 10, 75, 1))
_SHARE = given("e", "the share of the heat that reaches the water", ("%", 0.01, 60, 97, 0))
_MAINS = given("U", "the voltage", ("V", 1, 12, 240, 0))
_KETTLES = WORDINGS.later("kettles")


def _needed(v: Values) -> float:
    return v["m"] * _HEAT * v["x"] / v["e"]


_COIL = Law(
    (
        result("t", "the time needed", "s", ("min", 60)),
        _MASS,
        _RISE,
        _MAINS,
        given("R", "the resistance of the coil", ("ohm", 1, 3, 60, 1)),
        _SHARE,
    ),
    _KETTLES,
    {
        "t": lambda v: _needed(v) * v["R"] / v["U"] ** 2,
        "R": lambda v: v["t"] * v["U"] ** 2 / _needed(v),
        "x": lambda v: v["t"] * v["U"] ** 2 / v["R"] * v["e"] / (v["m"] * _HEAT),
    },
    _WATER,
    slips=lambda v, key: {
        "t": (_needed(v) * v["e"] * v["R"] / v["U"] ** 2, _needed(v) * v["e"] ** 2 * v["R"] / v["U"] ** 2),
        "R": (v["t"] * v["U"] ** 2 / (v["m"] * _HEAT * v["x"]),),
        "x": (v["t"] * v["U"] ** 2 / v["R"] / (v["m"] * _HEAT),),
    }[key],
    bounds=(20, 6000),
)  # fmt: skip


def _area(v: Values) -> float:
    return math.pi * v["d"] ** 2 / 4


_WIRE = (
    given("l", "the length of the wire", ("m", 1, 1, 25, 1), ("cm", 1e-2, 80, 950, 0)),
    given("d", "the diameter of the wire", ("mm", 1e-3, 0.2, 1.2, 2)),
    given("r", "the resistivity of the wire in units of $10^{-6}$ ohm m", ("", 1e-6, 0.4, 1.5, 2)),
)
_WIRE_POWER = Law(
    (result("P", "the power of the heater", "W", ("kW", 1e3)), *_WIRE, _MAINS),
    WORDINGS.later('wire power'),
    {
        "P": lambda v: v["U"] ** 2 * _area(v) / (v["r"] * v["l"]),
        "l": lambda v: v["U"] ** 2 * _area(v) / (v["r"] * v["P"]),
        "d": lambda v: math.sqrt(4 * v["P"] * v["r"] * v["l"] / (math.pi * v["U"] ** 2)),
        "U": lambda v: math.sqrt(v["P"] * v["r"] * v["l"] / _area(v)),
    },
    slips=lambda v, key: {
        "P": (4 * v["U"] ** 2 * _area(v) / (v["r"] * v["l"]), v["U"] * _area(v) / (v["r"] * v["l"])),
        "l": (4 * v["U"] ** 2 * _area(v) / (v["r"] * v["P"]),),
        "d": (math.sqrt(v["P"] * v["r"] * v["l"] / (math.pi * v["U"] ** 2)),),
        "U": (math.sqrt(v["P"] * v["r"] * v["l"] / _area(v)) / 2,),
    }[key],
    bounds=(15, 4000),
)  # fmt: skip
_WIRE_TIME = Law(
    (result("t", "the time needed", "s", ("min", 60)), *_WIRE, _MAINS, _MASS, _RISE),
    WORDINGS.later("wire time"),
    {
        "t": lambda v: v["m"] * _HEAT * v["x"] * v["r"] * v["l"] / (v["U"] ** 2 * _area(v)),
        "l": lambda v: v["t"] * v["U"] ** 2 * _area(v) / (v["m"] * _HEAT * v["x"] * v["r"]),
    },
    _WATER,
    slips=lambda v, key: {
        "t": (v["m"] * _HEAT * v["x"] * v["r"] * v["l"] / (4 * v["U"] ** 2 * _area(v)),),
        "l": (4 * v["t"] * v["U"] ** 2 * _area(v) / (v["m"] * _HEAT * v["x"] * v["r"]),),
    }[key],
    bounds=(20, 9000),
)

_SOURCE = (
    given("E", "the voltage of the battery without load", ("V", 1, 3, 48, 1)),
    given("R", "the resistance of the coil", ("ohm", 1, 1, 12, 1)),
    given("r", "the internal resistance of the battery", ("ohm", 1, 0.1, 0.9, 2)),
)
_SECONDS = given("t", "the time", ("s", 1, 120, 900, 0), ("min", 60, 2, 15, 1))


def _in_coil(v: Values) -> float:
    return (v["E"] / (v["R"] + v["r"])) ** 2 * v["R"]


_BATTERY_HEAT = Law(
    (result("Q", "the heat set free in the coil", "J", ("kJ", 1e3)), *_SOURCE, _SECONDS),
    WORDINGS.later("battery heat"),
    {
        "Q": lambda v: _in_coil(v) * v["t"],
        "t": lambda v: v["Q"] / _in_coil(v),
        "E": lambda v: math.sqrt(v["Q"] / (v["t"] * v["R"])) * (v["R"] + v["r"]),
    },
    slips=lambda v, key: {
        "Q": (v["E"] ** 2 / v["R"] * v["t"], v["E"] ** 2 / (v["R"] + v["r"]) * v["t"]),
        "t": (v["Q"] * v["R"] / v["E"] ** 2, v["Q"] * (v["R"] + v["r"]) / v["E"] ** 2),
        "E": (math.sqrt(v["Q"] / v["t"] * (v["R"] + v["r"])), math.sqrt(v["Q"] / v["t"] * v["R"])),
    }[key],
    bounds=(200, 300000),
)
_BATTERY_WATER = Law(
    (
        result("x", "the rise in temperature of the water", "K"),
        *_SOURCE,
        _SECONDS,
        given("m", "the mass of the water", ("g", 1e-3, 40, 400, 0)),
    ),
    WORDINGS.later('battery water'),
    {
        "x": lambda v: _in_coil(v) * v["t"] / (v["m"] * _HEAT),
        "m": lambda v: _in_coil(v) * v["t"] / (v["x"] * _HEAT),
        "t": lambda v: v["x"] * v["m"] * _HEAT / _in_coil(v),
    },
    _WATER,
    slips=lambda v, key: {
        "x": (v["E"] ** 2 / v["R"] * v["t"] / (v["m"] * _HEAT),
              v["E"] ** 2 / (v["R"] + v["r"]) * v["t"] / (v["m"] * _HEAT)),
        "m": (v["E"] ** 2 / v["R"] * v["t"] / (v["x"] * _HEAT),),
        "t": (v["x"] * v["m"] * _HEAT * v["R"] / v["E"] ** 2,),
    }[key],
    bounds=(2, 70),
)  # fmt: skip

_FIRST = given(
    "C",
    "the first capacitance",
    ("F", 1, 0.1, 3, 2),
    ("µF", 1e-6, 10, 900, 0),
    ("mF", 1e-3, 1, 90, 1),
)
_SECOND = given(
    "D",
    "the second capacitance",
    ("F", 1, 0.1, 3, 2),
    ("µF", 1e-6, 10, 900, 0),
    ("mF", 1e-3, 1, 90, 1),
)
_CHARGED = given("U", "the voltage of the first before", ("V", 1, 3, 60, 1))
_JOINED = WORDINGS.later("joined")


def _alike(v: Values) -> bool:
    return 0.2 < v["C"] / v["D"] < 5


_COMMON = Law(
    (result("V", "the common voltage afterwards", "V"), _FIRST, _SECOND, _CHARGED),
    _JOINED,
    {
        "V": lambda v: v["C"] * v["U"] / (v["C"] + v["D"]),
        "U": lambda v: v["V"] * (v["C"] + v["D"]) / v["C"],
        "D": lambda v: v["C"] * (v["U"] - v["V"]) / v["V"],
    },
    check=_alike,
    slips=lambda v, key: {
        "V": (v["U"] / 2, v["D"] * v["U"] / (v["C"] + v["D"])),
        "U": (2 * v["V"], v["V"] * (v["C"] + v["D"]) / v["D"]),
        "D": (v["C"] * v["V"] / (v["U"] - v["V"]), v["C"] * v["U"] / v["V"]),
    }[key],
)
_LOST = Law(
    (result("W", "the electric energy lost in joining them", "J", ("mJ", 1e-3)), _FIRST, _SECOND, _CHARGED),
    _JOINED,
    {
        "W": lambda v: 0.5 * v["U"] ** 2 * v["C"] * v["D"] / (v["C"] + v["D"]),
        "U": lambda v: math.sqrt(2 * v["W"] * (v["C"] + v["D"]) / (v["C"] * v["D"])),
    },
    check=_alike,
    slips=lambda v, key: {
        "W": (0.5 * v["C"] * v["U"] ** 2, 0.5 * v["U"] ** 2 * v["C"] ** 2 / (v["C"] + v["D"])),
        "U": (math.sqrt(2 * v["W"] / v["C"]), math.sqrt(v["W"] * (v["C"] + v["D"]) / (v["C"] * v["D"]))),
    }[key],
)  # fmt: skip

FAMILIES = (
    law_family("electricity_heating_wire", _WIRE_POWER, (_WIRE_TIME, _COIL)),
    law_family("electricity_battery_heater", _BATTERY_HEAT, _BATTERY_WATER),
    law_family("electricity_joined_capacitors", _COMMON, _LOST),
)
