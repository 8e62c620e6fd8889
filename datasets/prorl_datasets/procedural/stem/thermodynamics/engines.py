"""Problems on engines, heat pumps and entropy."""
# Source: Halliday, Resnick, Walker, chapter 20.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Scale, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


ZERO_C = 273.15
_NOTE_C = "Take 0 °C = 273.15 K."
_ENGINES = WORDINGS.later("engines")
_EFFICIENCY = power_law(
    (
        result("W", "the work delivered", "J", ("kJ", 1e3), ("MJ", 1e6)),
        given("e", "the efficiency", ("%", 0.01, 12, 48, 0)),
        given("Q", "the heat taken in", ("J", 1, 500, 9000, 0), ("kJ", 1e3, 2, 900, 0)),
    ),
    {"e": 1, "Q": 1},
    _ENGINES,
)
_HOT = given(
    "T",
    "the temperature of the hot reservoir",
    ("K", 1, 420, 900, 0),
    Scale("°C", 1, 150, 600, 0, ZERO_C),
)
_COLD = given(
    "U",
    "the temperature of the cold reservoir",
    ("K", 1, 270, 320, 0),
    Scale("°C", 1, 0, 45, 0, ZERO_C),
)
_CARNOT = Law(
    (
        result(
            "L", "the power given off as heat to the cold reservoir", "kW", ("W", 1e-3), ("MW", 1e3)
        ),
        given("P", "the useful power", ("kW", 1, 5, 900, 0), ("MW", 1e3, 0.5, 9, 2)),
        _HOT,
        _COLD,
    ),
    WORDINGS.later("carnot"),
    {
        "L": lambda v: v["P"] * v["U"] / (v["T"] - v["U"]),
        "P": lambda v: v["L"] * (v["T"] - v["U"]) / v["U"],
        "T": lambda v: v["U"] * (1 + v["P"] / v["L"]),
    },
    _NOTE_C,
    check=lambda v: v["T"] > 1.3 * v["U"],
    slips=lambda v, key: {
        "L": (
            v["P"] * v["U"] / v["T"],
            v["P"] * v["T"] / (v["T"] - v["U"]),
            v["P"] * (v["T"] - v["U"]) / v["T"],
        ),
        "P": (v["L"] * v["U"] / (v["T"] - v["U"]), v["L"] * (v["T"] - v["U"]) / v["T"]),
        "T": (v["U"] / (1 - v["P"] / (v["P"] + 2 * v["L"])), v["U"] * v["P"] / v["L"]),
    }[key],
)
_COOLED = given(
    "Q", "the heat taken from the cold room", ("J", 1, 500, 9000, 0), ("kJ", 1e3, 1, 900, 0)
)
_FRIDGE = power_law(
    (
        result("W", "the work needed", "J", ("kJ", 1e3), ("kWh", 3.6e6)),
        _COOLED,
        given("c", "the coefficient of performance", ("", 1, 1.5, 6, 2)),
    ),
    {"Q": 1, "c": -1},
    WORDINGS.later("fridge"),
)
_PUMP = Law(
    (
        result("P", "the least electrical power needed", "kW", ("W", 1e-3)),
        given("H", "the heat needed per second", ("kW", 1, 2, 90, 1), ("W", 1e-3, 1500, 9500, 0)),
        given(
            "T", "the temperature inside", ("K", 1, 290, 305, 0), Scale("°C", 1, 17, 32, 1, ZERO_C)
        ),
        given(
            "U",
            "the temperature outside",
            ("K", 1, 250, 285, 0),
            Scale("°C", 1, -20, 10, 1, ZERO_C),
        ),
    ),
    WORDINGS.later("pump"),
    {"P": lambda v: v["H"] * (1 - v["U"] / v["T"]), "H": lambda v: v["P"] / (1 - v["U"] / v["T"])},
    _NOTE_C,
    slips=lambda v, key: {
        "P": (v["H"] * (v["T"] - v["U"]) / v["U"], v["H"] * v["U"] / v["T"]),
        "H": (v["P"] * v["T"] / v["U"], v["P"] * (1 - v["U"] / v["T"])),
    }[key],
)
_AT_T = given("T", "the temperature", ("K", 1, 250, 900, 0), Scale("°C", 1, 5, 600, 0, ZERO_C))
_REVERSIBLE = power_law(
    (
        result("S", "the rise of its entropy", "J/K", ("kJ/K", 1e3)),
        given("m", "the mass", ("kg", 1, 0.1, 9, 2), ("g", 1e-3, 40, 950, 0)),
        given("L", "the latent heat", ("J/kg", 1, 20000, 400000, 0), ("kJ/kg", 1e3, 20, 400, 0)),
        _AT_T,
    ),
    {"m": 1, "L": 1, "T": -1},
    WORDINGS.later("reversible"),
)
_WARMING = Law(
    (
        result("S", "the rise of its entropy", "J/K", ("kJ/K", 1e3)),
        given("m", "the mass", ("kg", 1, 0.1, 9, 2), ("g", 1e-3, 40, 950, 0)),
        given(
            "c",
            "the specific heat",
            ("J/(kg K)", 1, 130, 4200, 0),
            ("kJ/(kg K)", 1e3, 0.13, 4.2, 2),
        ),
        given(
            "T", "the initial temperature", ("K", 1, 260, 330, 0), Scale("°C", 1, 1, 40, 0, ZERO_C)
        ),
        given(
            "U", "the final temperature", ("K", 1, 340, 600, 0), Scale("°C", 1, 60, 300, 0, ZERO_C)
        ),
    ),
    WORDINGS.later("warming"),
    {
        "S": lambda v: v["m"] * v["c"] * math.log(v["U"] / v["T"]),
        "m": lambda v: v["S"] / (v["c"] * math.log(v["U"] / v["T"])),
        "U": lambda v: v["T"] * math.exp(v["S"] / (v["m"] * v["c"])),
    },
    _NOTE_C,
    slips=lambda v, key: {
        "S": (
            v["m"] * v["c"] * (v["U"] - v["T"]) / v["T"],
            v["m"] * v["c"] * (v["U"] - v["T"]) / v["U"],
            v["m"] * v["c"] * math.log10(v["U"] / v["T"]),
        ),
        "m": (
            v["S"] * v["T"] / (v["c"] * (v["U"] - v["T"])),
            v["S"] / (v["c"] * math.log10(v["U"] / v["T"])),
        ),
        "U": (
            v["T"] * (1 + v["S"] / (v["m"] * v["c"])),
            v["T"] * 10 ** (v["S"] / (v["m"] * v["c"])),
        ),
    }[key],
)
_LEVELLING = Law(
    (
        result("S", "the total rise of entropy", "J/K", ("kJ/K", 1e3)),
        given("Q", "the heat that flows", ("J", 1, 2000, 90000, 0), ("kJ", 1e3, 2, 900, 0)),
        _HOT,
        _COLD,
    ),
    WORDINGS.later("levelling"),
    {
        "S": lambda v: v["Q"] * (1 / v["U"] - 1 / v["T"]),
        "Q": lambda v: v["S"] / (1 / v["U"] - 1 / v["T"]),
    },
    _NOTE_C,
    slips=lambda v, key: {
        "S": (v["Q"] * (1 / v["U"] + 1 / v["T"]), v["Q"] / (v["T"] - v["U"]), v["Q"] / v["U"]),
        "Q": (v["S"] / (1 / v["U"] + 1 / v["T"]), v["S"] * (v["T"] - v["U"]), v["S"] * v["U"]),
    }[key],
)

FAMILIES = (
    law_family("thermodynamics_engine", _EFFICIENCY, _CARNOT),
    law_family("thermodynamics_heat_pump", _FRIDGE, _PUMP),
    law_family("thermodynamics_entropy", _REVERSIBLE, (_WARMING, _LEVELLING)),
)
