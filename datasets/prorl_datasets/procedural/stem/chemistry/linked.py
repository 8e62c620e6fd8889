"""Chemistry problems in several steps."""

from __future__ import annotations

import math
from functools import partial

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_R, _F = 8.314, 96485.0
_GAS_NOTE = "Take 8.314 J/(mol K) for the gas constant."
_T = given("T", "the temperature of the gas", ("K", 1, 285, 330, 0))
_P = given("p", "the pressure of the gas", ("kPa", 1e3, 90, 110, 1), ("bar", 1e5, 0.9, 1.1, 3))
_STONE = given("m", "the mass of the limestone", ("g", 1, 0.5, 40, 2), ("kg", 1e3, 0.01, 0.2, 3))
_PURE = given("e", "the share of calcium carbonate in the limestone", ("%", 0.01, 60, 98, 1))
_CARBONATE = 100.09


def _carbonate(v: Values) -> float:
    return v["e"] * v["m"] / _CARBONATE


_LIMESTONE_GAS = Law(
    (result("V", "the volume of carbon dioxide", "L", ("mL", 1e-3)), _STONE, _PURE, _T, _P),
    WORDINGS.later('limestone gas'),
    {
        "V": lambda v: _carbonate(v) * _R * v["T"] / v["p"] * 1e3,
        "e": lambda v: v["p"] * v["V"] * 1e-3 / (_R * v["T"]) * _CARBONATE / v["m"],
        "m": lambda v: v["p"] * v["V"] * 1e-3 / (_R * v["T"]) * _CARBONATE / v["e"],
    },
    f"The molar mass of calcium carbonate is 100.09 g/mol. {_GAS_NOTE}",
    slips=lambda v, key: {
        "V": (v["m"] / _CARBONATE * _R * v["T"] / v["p"] * 1e3, 2 * _carbonate(v) * _R * v["T"] / v["p"] * 1e3),
        "e": (v["p"] * v["V"] * 1e-3 / (_R * v["T"]) * _CARBONATE / v["m"] / 2,),
        "m": (v["p"] * v["V"] * 1e-3 / (_R * v["T"]) * _CARBONATE,),
    }[key],
    bounds=(0.08, 40),
)  # fmt: skip
_BACK_TITRATION = Law(
    (
        result("b", "the volume of sodium hydroxide solution that the acid left over takes", "mL", ("L", 1e3)),
        given("m", "the mass of the limestone", ("g", 1, 0.4, 2.5, 3)),
        _PURE,
        given("c", "the concentration of the hydrochloric acid", ("mol/L", 1, 0.4, 1.5, 2)),
        given("a", "the volume of the hydrochloric acid", ("mL", 1, 40, 100, 1)),
        given("d", "the concentration of the sodium hydroxide", ("mol/L", 1, 0.2, 1, 3)),
    ),
    WORDINGS.later('back titration'),
    {
        "b": lambda v: (v["c"] * v["a"] - 2e3 * _carbonate(v)) / v["d"],
        "e": lambda v: (v["c"] * v["a"] - v["d"] * v["b"]) / 2e3 * _CARBONATE / v["m"],
    },
    "The molar mass of calcium carbonate is 100.09 g/mol.",
    check=lambda v: v["c"] * v["a"] > 2.4e3 * _carbonate(v),
    slips=lambda v, key: {
        "b": ((v["c"] * v["a"] - 1e3 * _carbonate(v)) / v["d"], 2e3 * _carbonate(v) / v["d"]),
        "e": ((v["c"] * v["a"] - v["d"] * v["b"]) / 1e3 * _CARBONATE / v["m"],),
    }[key],
    bounds=(5, 250),
)  # fmt: skip

_CURRENT = given("I", "the current", ("A", 1, 0.3, 12, 2), ("mA", 1e-3, 200, 900, 0))
_TIME = given(
    "t", "the time", ("s", 1, 600, 9000, 0), ("min", 60, 10, 150, 0), ("h", 3600, 0.2, 3, 2)
)
_FARADAY_NOTE = f"Take 96485 C/mol for the Faraday constant and {_GAS_NOTE[5:]}"


def _litres(v: Values, electrons: int) -> float:
    return v["I"] * v["t"] / (electrons * _F) * _R * v["T"] / v["p"] * 1e3


def _gas_law(noun: str, electrons: int, wrong: int, extra: bool) -> Law:
    share = (given("e", "the current efficiency", ("%", 0.01, 60, 98, 0)),) if extra else ()

    def made(v: Values, count: int) -> float:
        return _litres(v, count) * v.get("e", 1.0)

    def current(v: Values, count: int) -> float:
        one = {**v, "I": 1.0}
        return v["V"] / made(one, count)

    def time(v: Values, count: int) -> float:
        return v["V"] / made({**v, "t": 1.0}, count)

    def share_of(v: Values, count: int) -> float:
        return v["V"] / _litres(v, count)

    ways = {"V": made, "I": current, "t": time} | ({"e": share_of} if extra else {})
    return Law(
        (result("V", f"the volume of {noun}", "L", ("mL", 1e-3)), _CURRENT, _TIME, _T, _P, *share),
        WORDINGS.later("law"),
        {key: partial(way, count=electrons) for key, way in ways.items()},
        _FARADAY_NOTE,
        slips=lambda v, key: (ways[key](v, wrong), ways[key](v, 1)),
        bounds=(0.03, 40),
    )


_HYDROGEN = _gas_law("hydrogen", 2, 4, extra=False)
_OXYGEN = _gas_law("oxygen", 4, 2, extra=True)

_ALCOHOL = given("m", "the mass of the ethanol", ("g", 1, 0.4, 9, 2))
_NEEDED = given("n", "the mass of the water", ("g", 1, 150, 1500, 0), ("kg", 1e3, 0.15, 1.5, 3))
_REACHED = given("e", "the share of the heat that reaches the water", ("%", 0.01, 30, 90, 0))
_HEAT_NOTE = "The molar mass of ethanol is 46.07 g/mol and its enthalpy of combustion -1367 kJ/mol; water takes 4.186 J/(g K)."


def _spirit(v: Values) -> float:
    return v["e"] * v["m"] / 46.07 * 1367e3


_WARMED = Law(
    (result("x", "the rise in temperature of the water", "K"), _ALCOHOL, _NEEDED, _REACHED),
    WORDINGS.later('warmed'),
    {
        "x": lambda v: _spirit(v) / (v["n"] * 4.186),
        "m": lambda v: v["x"] * v["n"] * 4.186 * 46.07 / (1367e3 * v["e"]),
        "e": lambda v: v["x"] * v["n"] * 4.186 * 46.07 / (1367e3 * v["m"]),
    },
    _HEAT_NOTE,
    slips=lambda v, key: {
        "x": (_spirit(v) / v["e"] / (v["n"] * 4.186), v["e"] * v["m"] * 1367e3 / (v["n"] * 4.186 * 46.07**2)),
        "m": (v["x"] * v["n"] * 4.186 * 46.07 / 1367e3,),
        "e": (v["x"] * v["n"] * 4.186 / 1367e3 / v["m"] * 46.07 / 2,),
    }[key],
    bounds=(4, 70),
)  # fmt: skip
_BURNT_GAS = Law(
    (
        result("V", "the volume of carbon dioxide set free meanwhile", "L", ("mL", 1e-3)),
        given("x", "the rise in temperature of the water", ("K", 1, 8, 60, 1)),
        *(_NEEDED, _REACHED, _T, _P),
    ),
    WORDINGS.later('burnt gas'),
    {
        "V": lambda v: 2 * v["x"] * v["n"] * 4.186 / (1367e3 * v["e"]) * _R * v["T"] / v["p"] * 1e3,
        "x": lambda v: v["V"] * 1e-3 * v["p"] / (2 * _R * v["T"]) * 1367e3 * v["e"] / (v["n"] * 4.186),
    },
    f"The enthalpy of combustion of ethanol is -1367 kJ/mol; water takes 4.186 J/(g K). {_GAS_NOTE}",
    slips=lambda v, key: {
        "V": (v["x"] * v["n"] * 4.186 / (1367e3 * v["e"]) * _R * v["T"] / v["p"] * 1e3,
              2 * v["x"] * v["n"] * 4.186 / 1367e3 * _R * v["T"] / v["p"] * 1e3),
        "x": (v["V"] * 1e-3 * v["p"] / (_R * v["T"]) * 1367e3 * v["e"] / (v["n"] * 4.186),),
    }[key],
    bounds=(0.2, 40),
)  # fmt: skip

_ACID = given("c", "the concentration of the hydrochloric acid", ("mol/L", 1, 0.02, 0.9, 3))
_ACID_VOLUME = given("a", "the volume of the hydrochloric acid", ("mL", 1, 5, 60, 1))
_DILUTED_PH = Law(
    (
        result("q", "the pH of the diluted acid", ""),
        _ACID,
        _ACID_VOLUME,
        given("b", "the volume after dilution with water", ("mL", 1, 100, 900, 0)),
    ),
    WORDINGS.later('diluted ph'),
    {"q": lambda v: -math.log10(v["c"] * v["a"] / v["b"])},
    slips=lambda v, key: (-math.log10(v["c"]), -math.log10(v["c"] * v["a"] / (v["a"] + v["b"])), -math.log(v["c"] * v["a"] / v["b"])),
    bounds=(1.2, 4),
)  # fmt: skip


def _left(v: Values) -> float:
    return v["c"] * v["a"] - v["d"] * v["b"]


_MIXED_PH = Law(
    (
        result("q", "the pH of the mixture", ""),
        _ACID,
        _ACID_VOLUME,
        given("d", "the concentration of the sodium hydroxide", ("mol/L", 1, 0.02, 0.6, 3)),
        given("b", "the volume of the sodium hydroxide solution", ("mL", 1, 5, 60, 1)),
    ),
    WORDINGS.later('mixed ph'),
    {"q": lambda v: -math.log10(_left(v) / (v["a"] + v["b"]))},
    check=lambda v: 0.02 < _left(v) / (v["c"] * v["a"]) < 0.9,
    slips=lambda v, key: (-math.log10(_left(v) / v["a"]), -math.log10(v["c"] * v["a"] / (v["a"] + v["b"]))),
    bounds=(1.05, 4),
)  # fmt: skip

FAMILIES = (
    law_family("chemistry_limestone", _LIMESTONE_GAS, _BACK_TITRATION),
    law_family("chemistry_split_water", _HYDROGEN, _OXYGEN),
    law_family("chemistry_spirit_lamp", _WARMED, _BURNT_GAS),
    law_family("chemistry_acid_mixtures", _DILUTED_PH, _MIXED_PH),
)
