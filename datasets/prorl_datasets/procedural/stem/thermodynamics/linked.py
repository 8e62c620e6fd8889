"""Heat problems in several steps."""
# Source: Halliday, Resnick, Walker, chapters 18 to 20.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, Values, given, law_family, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_WATER, _ICE, _FUSION = 4186.0, 2090.0, 334e3
_WATER_NOTE = "Take 4186 J/(kg K) for the specific heat of water."
_ICE_NOTE = f"{_WATER_NOTE[:-1]} and 334 kJ/kg for the melting of ice."
_FUEL = given("m", "the mass of the fuel burnt", ("g", 1e-3, 5, 90, 1))
_VALUE = given("H", "the heat of combustion of the fuel", ("MJ/kg", 1e6, 14, 50, 1))
_SHARE = given("e", "the share of the heat that is taken up", ("%", 0.01, 20, 80, 0))


def _burnt(v: Values) -> float:
    return v["e"] * v["m"] * v["H"]


_STOVE = Law(
    (
        result("T", "the final temperature of the water", "°C"),
        *(_FUEL, _VALUE, _SHARE),
        given("n", "the mass of the water", ("kg", 1, 0.5, 8, 2), ("g", 1e-3, 500, 950, 0)),
        given("s", "the temperature of the water before", ("°C", 1, 8, 26, 1)),
    ),
    WORDINGS.later('stove'),
    {
        "T": lambda v: v["s"] + _burnt(v) / (v["n"] * _WATER),
        "m": lambda v: (v["T"] - v["s"]) * v["n"] * _WATER / (v["e"] * v["H"]),
        "n": lambda v: _burnt(v) / (_WATER * (v["T"] - v["s"])),
    },
    _WATER_NOTE,
    slips=lambda v, key: {
        "T": (v["s"] + _burnt(v) / v["e"] / (v["n"] * _WATER), _burnt(v) / (v["n"] * _WATER)),
        "m": ((v["T"] - v["s"]) * v["n"] * _WATER / v["H"], v["T"] * v["n"] * _WATER / (v["e"] * v["H"])),
        "n": (_burnt(v) / v["e"] / (_WATER * (v["T"] - v["s"])), _burnt(v) / (_WATER * v["T"])),
    }[key],
    bounds=(30, 95),
)  # fmt: skip
_SNOW = Law(
    (
        result("T", "the final temperature of the water", "°C"),
        *(_FUEL, _VALUE, _SHARE),
        given("n", "the mass of the ice", ("kg", 1, 0.3, 4, 2), ("g", 1e-3, 300, 950, 0)),
    ),
    WORDINGS.later('snow'),
    {
        "T": lambda v: (_burnt(v) / v["n"] - _FUSION) / _WATER,
        "m": lambda v: v["n"] * (_FUSION + _WATER * v["T"]) / (v["e"] * v["H"]),
        "n": lambda v: _burnt(v) / (_FUSION + _WATER * v["T"]),
    },
    _ICE_NOTE,
    slips=lambda v, key: {
        "T": (_burnt(v) / v["n"] / _WATER, (_burnt(v) / v["e"] / v["n"] - _FUSION) / _WATER),
        "m": (v["n"] * _WATER * v["T"] / (v["e"] * v["H"]), v["n"] * (_FUSION + _WATER * v["T"]) / v["H"]),
        "n": (_burnt(v) / (_WATER * v["T"]), _burnt(v) / _FUSION),
    }[key],
    bounds=(10, 92),
)  # fmt: skip

_HOT = given("T", "the temperature of the hot reservoir", ("K", 1, 420, 900, 0))
_COLD = given("U", "the temperature of the cold reservoir", ("K", 1, 275, 340, 0))
_TAKEN = given("Q", "the heat taken in", ("kJ", 1e3, 40, 900, 0), ("MJ", 1e6, 0.04, 0.9, 3))
_PART = given("e", "the efficiency as a share of the greatest possible one", ("%", 0.01, 35, 80, 0))


def _greatest(v: Values) -> float:
    return 1 - v["U"] / v["T"]


_ENGINE_WORK = Law(
    (
        result("L", "the heat given off to the cold reservoir", "J", ("kJ", 1e3)),
        _HOT,
        _COLD,
        _TAKEN,
        _PART,
    ),
    WORDINGS.later("engine work"),
    {
        "L": lambda v: v["Q"] * (1 - v["e"] * _greatest(v)),
        "Q": lambda v: v["L"] / (1 - v["e"] * _greatest(v)),
        "e": lambda v: (1 - v["L"] / v["Q"]) / _greatest(v),
    },
    slips=lambda v, key: {
        "L": (v["Q"] * v["e"] * _greatest(v), v["Q"] * (1 - _greatest(v)), v["Q"] * (1 - v["e"])),
        "Q": (v["L"] / (1 - _greatest(v)), v["L"] / (v["e"] * _greatest(v))),
        "e": (1 - v["L"] / v["Q"], v["L"] / v["Q"]),
    }[key],
)
_ENGINE_LIFT = Law(
    (
        result("h", "the height of the lift", "m"),
        *(_HOT, _COLD, _TAKEN, _PART),
        given("m", "the mass of the load", ("kg", 1, 150, 4000, 0), ("t", 1e3, 0.15, 4, 2)),
    ),
    WORDINGS.later("engine lift"),
    {
        "h": lambda v: v["Q"] * v["e"] * _greatest(v) / (v["m"] * G),
        "m": lambda v: v["Q"] * v["e"] * _greatest(v) / (v["h"] * G),
        "Q": lambda v: v["m"] * G * v["h"] / (v["e"] * _greatest(v)),
    },
    G_NOTE,
    slips=lambda v, key: {
        "h": (v["Q"] * _greatest(v) / (v["m"] * G), v["Q"] * v["e"] / (v["m"] * G)),
        "m": (v["Q"] * _greatest(v) / (v["h"] * G), v["Q"] * v["e"] / (v["h"] * G)),
        "Q": (v["m"] * G * v["h"] / _greatest(v), v["m"] * G * v["h"] * _greatest(v)),
    }[key],
    bounds=(1, 90),
)

_PRESSURE = given("p", "the pressure before", ("kPa", 1e3, 90, 320, 0), ("bar", 1e5, 0.9, 3.2, 2))
_VOLUME = given("V", "the volume before", ("L", 1e-3, 0.5, 20, 1), ("m^3", 1, 0.001, 0.02, 4))
_T_BEFORE = given("T", "the temperature before", ("K", 1, 270, 320, 0))
_T_AFTER = given("U", "the temperature after heating", ("K", 1, 350, 700, 0))
_WIDER = given("W", "the volume at the end", ("L", 1e-3, 0.8, 60, 1), ("m^3", 1, 0.001, 0.06, 4))


def _widens(v: Values) -> bool:
    return 1.3 < v["W"] / v["V"] < 4


_TWO_STEPS = Law(
    (result("q", "the pressure at the end", "Pa", ("kPa", 1e3), ("bar", 1e5)), _PRESSURE, _VOLUME, _T_BEFORE, _T_AFTER, _WIDER),
    WORDINGS.later('two steps'),
    {
        "q": lambda v: v["p"] * v["U"] / v["T"] * v["V"] / v["W"],
        "W": lambda v: v["p"] * v["U"] / v["T"] * v["V"] / v["q"],
        "U": lambda v: v["q"] * v["W"] * v["T"] / (v["p"] * v["V"]),
    },
    check=_widens,
    slips=lambda v, key: {
        "q": (v["p"] * v["V"] / v["W"], v["p"] * v["T"] / v["U"] * v["V"] / v["W"], v["p"] * v["U"] / v["T"] * v["W"] / v["V"]),
        "W": (v["p"] * v["V"] / v["q"], v["p"] * v["T"] / v["U"] * v["V"] / v["q"]),
        "U": (v["q"] * v["T"] / v["p"], v["p"] * v["V"] * v["T"] / (v["q"] * v["W"])),
    }[key],
)  # fmt: skip


def _two_heats(v: Values) -> float:
    amount = v["p"] * v["V"] / v["T"]  # n R
    return amount * (1.5 * (v["U"] - v["T"]) + v["U"] * math.log(v["W"] / v["V"]))


_TWO_HEATS = Law(
    (result("Q", "the heat taken in over both steps", "J", ("kJ", 1e3)), _PRESSURE, _VOLUME, _T_BEFORE, _T_AFTER, _WIDER),
    WORDINGS.later('two heats'),
    {"Q": _two_heats},
    check=_widens,
    slips=lambda v, key: (
        1.5 * v["p"] * v["V"] * (v["U"] / v["T"] - 1),
        v["p"] * v["V"] * (2.5 * (v["U"] / v["T"] - 1) + v["U"] / v["T"] * math.log(v["W"] / v["V"])),
        v["p"] * v["V"] * v["U"] / v["T"] * math.log(v["W"] / v["V"]),
    ),
)  # fmt: skip

_FREEZER = (
    given("n", "the mass of the water", ("kg", 1, 0.3, 6, 2), ("g", 1e-3, 250, 950, 0)),
    given("s", "the temperature of the water before", ("°C", 1, 8, 30, 1)),
    given("k", "the coefficient of performance", ("", 1, 1.5, 4.5, 1)),
    given("P", "the electric power", ("W", 1, 60, 400, 0), ("kW", 1e3, 0.06, 0.4, 3)),
)
_FREEZING = Law(
    (result("t", "the time needed", "s", ("min", 60), ("h", 3600)), *_FREEZER),
    WORDINGS.later('freezing'),
    {
        "t": lambda v: v["n"] * (_WATER * v["s"] + _FUSION) / (v["k"] * v["P"]),
        "n": lambda v: v["t"] * v["k"] * v["P"] / (_WATER * v["s"] + _FUSION),
        "k": lambda v: v["n"] * (_WATER * v["s"] + _FUSION) / (v["t"] * v["P"]),
    },
    _ICE_NOTE,
    slips=lambda v, key: {
        "t": (v["n"] * _FUSION / (v["k"] * v["P"]), v["n"] * (_WATER * v["s"] + _FUSION) * v["k"] / v["P"]),
        "n": (v["t"] * v["k"] * v["P"] / _FUSION, v["t"] * v["P"] / v["k"] / (_WATER * v["s"] + _FUSION)),
        "k": (v["n"] * _FUSION / (v["t"] * v["P"]),),
    }[key],
    bounds=(300, 40000),
)  # fmt: skip


def _to_ice(v: Values) -> float:
    return v["n"] * (_WATER * v["s"] + _FUSION + _ICE * v["y"])


_DEEP = Law(
    (
        result("t", "the time needed", "s", ("min", 60), ("h", 3600)),
        *_FREEZER,
        given("y", "the cooling of the ice below 0 °C", ("K", 1, 5, 25, 1)),
    ),
    WORDINGS.later('deep'),
    {"t": lambda v: _to_ice(v) / (v["k"] * v["P"]), "k": lambda v: _to_ice(v) / (v["t"] * v["P"])},
    f"Take 4186 J/(kg K) for the specific heat of water, {_ICE:g} J/(kg K) for that of ice and 334 kJ/kg for the melting of ice.",
    slips=lambda v, key: {
        "t": (_to_ice(v) * v["k"] / v["P"], v["n"] * (_WATER * (v["s"] + v["y"]) + _FUSION) / (v["k"] * v["P"])),
        "k": (v["n"] * (_WATER * v["s"] + _ICE * v["y"]) / (v["t"] * v["P"]),),
    }[key],
    bounds=(300, 40000),
)  # fmt: skip

FAMILIES = (
    law_family("thermodynamics_stove", _STOVE, _SNOW),
    law_family("thermodynamics_engine_at_work", _ENGINE_WORK, _ENGINE_LIFT),
    law_family("thermodynamics_gas_in_two_steps", _TWO_STEPS, _TWO_HEATS),
    law_family("thermodynamics_freezer", _FREEZING, _DEEP),
)
