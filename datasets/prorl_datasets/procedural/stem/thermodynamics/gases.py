"""Problems on ideal gases."""
# Source: Halliday, Resnick, Walker, chapters 18 and 19.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Scale, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


R = 8.314
R_NOTE = "Take R = 8.314 J/(mol K)."
ZERO_C = 273.15
_NOTE_C = "Take 0 °C = 273.15 K."
_VOLUME = given("V", "the volume", ("m^3", 1, 0.01, 2, 3), ("L", 1e-3, 2, 90, 1))
_MOLES = given("n", "the amount of gas", ("mol", 1, 0.2, 40, 2))
_T = given("T", "the temperature", ("K", 1, 240, 480, 0), Scale("°C", 1, -20, 180, 0, ZERO_C))
_GASES = WORDINGS.later("gases")
_IDEAL = power_law(
    (result("p", "the pressure", "Pa", ("kPa", 1e3), ("bar", 1e5)), _MOLES, _T, _VOLUME),
    {"n": 1, "T": 1, "V": -1},
    _GASES,
    R,
    R_NOTE,
)
_GAS_MASS = power_law(
    (
        result("m", "the mass of the gas", "kg", ("g", 1e-3)),
        given("p", "the absolute pressure", ("kPa", 1e3, 90, 950, 0), ("bar", 1e5, 1, 60, 1)),
        _VOLUME,
        given("M", "the molar mass", ("g/mol", 1e-3, 2, 60, 1), ("kg/mol", 1, 0.004, 0.06, 4)),
        _T,
    ),
    {"p": 1, "V": 1, "M": 1, "T": -1},
    _GASES,
    1 / R,
    R_NOTE,
)
_STATES = WORDINGS.later("states")
_P1 = given("p", "the first pressure", ("kPa", 1e3, 80, 400, 0), ("bar", 1e5, 0.8, 9, 2))
_V1 = given("V", "the first volume", ("L", 1e-3, 1, 60, 1), ("m^3", 1, 0.005, 0.4, 3))
_T1 = given("T", "the first temperature", ("K", 1, 260, 340, 0), Scale("°C", 1, -10, 60, 0, ZERO_C))
_V2 = given("W", "the second volume", ("L", 1e-3, 1, 90, 1), ("m^3", 1, 0.005, 0.6, 3))
_T2 = given(
    "U", "the second temperature", ("K", 1, 230, 600, 0), Scale("°C", 1, -30, 300, 0, ZERO_C)
)
_CHARLES = power_law(
    (
        result("W", "the second volume", "L", ("m^3", 1e3)),
        given("V", "the first volume", ("L", 1, 1, 60, 1)),
        _T1,
        _T2,
    ),
    {"V": 1, "U": 1, "T": -1},
    WORDINGS.later("charles"),
)
_COMBINED = power_law(
    (
        result("q", "the second pressure", "kPa", ("bar", 100), ("Pa", 1e-3)),
        _P1,
        _V1,
        _T1,
        _V2,
        _T2,
    ),
    {"p": 1, "V": 1, "T": -1, "W": -1, "U": 1},
    _STATES,
    1e-3,
)
_SPEED = power_law(
    (
        result("v", "the root-mean-square speed of the molecules", "m/s", ("km/s", 1e3)),
        given("M", "the molar mass", ("kg/mol", 1, 0.002, 0.2, 4), ("g/mol", 1e-3, 2, 200, 1)),
        _T,
    ),
    {"T": 0.5, "M": -0.5},
    _GASES,
    math.sqrt(3 * R),
    R_NOTE,
)
_INNER_ENERGY = power_law(
    (
        result("v", "the root-mean-square speed of the atoms", "m/s", ("km/s", 1e3)),
        given("p", "the pressure", ("kPa", 1e3, 50, 900, 0), ("bar", 1e5, 0.5, 9, 2)),
        _VOLUME,
        given("m", "the mass of the gas", ("g", 1e-3, 2, 90, 1), ("kg", 1, 0.01, 0.9, 3)),
    ),
    {"p": 0.5, "V": 0.5, "m": -0.5},
    WORDINGS.later("inner energy"),
    math.sqrt(3),
    bounds=(180, 1800),
)
_HEAT_IN = given("Q", "the heat taken in", ("J", 1, 200, 9000, 0), ("kJ", 1e3, 0.5, 90, 1))
_WORK_OUT = given("W", "the work done by the gas", ("J", 1, 100, 8000, 0), ("kJ", 1e3, 0.2, 60, 1))
_FIRST_LAW = Law(
    (result("U", "the change of the internal energy", "J", ("kJ", 1e3)), _HEAT_IN, _WORK_OUT),
    WORDINGS.later("first law"),
    {
        "U": lambda v: v["Q"] - v["W"],
        "Q": lambda v: v["U"] + v["W"],
        "W": lambda v: v["Q"] - v["U"],
    },
    check=lambda v: 0.15 < v["W"] / v["Q"] < 0.85,
    signed=True,
    slips=lambda v, key: {
        "U": (v["Q"] + v["W"], v["W"] - v["Q"], v["Q"]),
        "Q": (v["U"] - v["W"], v["W"]),
        "W": (v["Q"] + v["U"], v["U"] - v["Q"]),
    }[key],
)
_ISOBARIC = Law(
    (
        result("U", "the change of the internal energy", "J", ("kJ", 1e3)),
        given("Q", "the heat taken in", ("kJ", 1e3, 20, 90, 1), ("J", 1, 9000, 90000, 0)),
        given("p", "the pressure", ("kPa", 1e3, 90, 400, 0), ("bar", 1e5, 0.9, 4, 2)),
        given("V", "the first volume", ("L", 1e-3, 5, 40, 1)),
        given("W", "the second volume", ("L", 1e-3, 20, 120, 1), ("m^3", 1, 0.02, 0.12, 4)),
    ),
    WORDINGS.later("isobaric"),
    {
        "U": lambda v: v["Q"] - v["p"] * (v["W"] - v["V"]),
        "Q": lambda v: v["U"] + v["p"] * (v["W"] - v["V"]),
        "W": lambda v: v["V"] + (v["Q"] - v["U"]) / v["p"],
    },
    check=lambda v: v["W"] > 1.3 * v["V"] and 0.15 < v["p"] * (v["W"] - v["V"]) / v["Q"] < 0.7,
    slips=lambda v, key: {
        "U": (
            v["Q"] + v["p"] * (v["W"] - v["V"]),
            v["Q"] - v["p"] * v["W"],
            v["p"] * (v["W"] - v["V"]),
        ),
        "Q": (v["U"] - v["p"] * (v["W"] - v["V"]), v["U"] + v["p"] * v["W"]),
        "W": ((v["Q"] - v["U"]) / v["p"], v["V"] + v["Q"] / v["p"]),
    }[key],
)
_ISOTHERMAL = Law(
    (
        result("Q", "the heat taken in", "J", ("kJ", 1e3)),
        _MOLES,
        _T,
        given("V", "the first volume", ("L", 1e-3, 2, 60, 1)),
        given("W", "the second volume", ("L", 1e-3, 5, 200, 1), ("m^3", 1, 0.005, 0.2, 3)),
    ),
    WORDINGS.later("isothermal"),
    {
        "Q": lambda v: v["n"] * R * v["T"] * math.log(v["W"] / v["V"]),
        "n": lambda v: v["Q"] / (R * v["T"] * math.log(v["W"] / v["V"])),
        "W": lambda v: v["V"] * math.exp(v["Q"] / (v["n"] * R * v["T"])),
    },
    R_NOTE,
    check=lambda v: 1.4 < v["W"] / v["V"] < 12,
    slips=lambda v, key: {
        "Q": (
            v["n"] * R * v["T"] * math.log10(v["W"] / v["V"]),
            v["n"] * R * v["T"] * (v["W"] / v["V"] - 1),
            1.5 * v["n"] * R * v["T"],
        ),
        "n": (v["Q"] / (R * v["T"] * math.log10(v["W"] / v["V"])), v["Q"] / (R * v["T"])),
        "W": (
            v["V"] * (1 + v["Q"] / (v["n"] * R * v["T"])),
            v["V"] * v["Q"] / (v["n"] * R * v["T"]),
        ),
    }[key],
)
_GAMMA = given("g", "the ratio of the specific heats", ("", 1, 1.2, 1.67, 2))
_RATIO = given("r", "the ratio of the larger to the smaller volume", ("", 1, 2, 20, 1))
_SQUEEZED = WORDINGS.later("squeezed")
_ADIABATIC = power_law(
    (
        result("q", "the final pressure", "kPa", ("MPa", 1e3), ("bar", 100)),
        given("p", "the initial pressure", ("kPa", 1, 80, 300, 0), ("bar", 100, 0.8, 3, 2)),
        given("r", "the ratio of the larger to the smaller volume", ("", 1, 2, 20, 1)),
    ),
    {"p": 1, "r": 1.4},
    _SQUEEZED,
    note="The ratio of the specific heats is 1.4.",
)
_HOT_AFTER = Law(
    (
        result("U", "the final temperature", "K", Scale("°C", 1, 0, 0, 0, ZERO_C)),
        given(
            "T",
            "the initial temperature",
            ("K", 1, 260, 360, 0),
            Scale("°C", 1, -10, 90, 0, ZERO_C),
        ),
        _RATIO,
        _GAMMA,
    ),
    _SQUEEZED,
    {
        "U": lambda v: v["T"] * math.pow(v["r"], v["g"] - 1),
        "T": lambda v: v["U"] * math.pow(v["r"], 1 - v["g"]),
        "r": lambda v: math.pow(v["U"] / v["T"], 1 / (v["g"] - 1)),
    },
    _NOTE_C,
    check=lambda v: v["T"] * v["r"] ** (v["g"] - 1) < 1500,
    slips=lambda v, key: {
        "U": (v["T"] * v["r"] ** v["g"], v["T"] * v["r"], v["T"] * v["g"]),
        "T": (v["U"] * v["r"] ** -v["g"], v["U"] / v["r"]),
        "r": ((v["U"] / v["T"]) ** (1 / v["g"]), v["U"] / v["T"]),
    }[key],
)

FAMILIES = (
    law_family("thermodynamics_ideal_gas", _IDEAL, _GAS_MASS),
    law_family("thermodynamics_gas_states", _CHARLES, _COMBINED),
    law_family("thermodynamics_gas_speed", _SPEED, _INNER_ENERGY),
    law_family("thermodynamics_first_law", _FIRST_LAW, (_ISOBARIC, _ISOTHERMAL)),
    law_family("thermodynamics_adiabatic", _ADIABATIC, _HOT_AFTER),
)
