"""Problems on warming, mixing and melting."""
# Source: Halliday, Resnick, Walker, chapter 18.

from __future__ import annotations

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


WATER, ICE, FUSION = 4186.0, 2090.0, 334e3
_WATER = "Take 4186 J/(kg K) for the specific heat of water."
_MASS = given("m", "the mass", ("kg", 1, 0.2, 30, 2), ("g", 1e-3, 60, 950, 0))
_RISE = given("x", "the rise in temperature", ("K", 1, 5, 80, 1))
_HEAT = given(
    "c", "the specific heat", ("J/(kg K)", 1, 130, 4200, 0), ("kJ/(kg K)", 1e3, 0.13, 4.2, 2)
)
_WARMED = power_law(
    (result("Q", "the heat needed", "J", ("kJ", 1e3), ("MJ", 1e6)), _MASS, _HEAT, _RISE),
    {"m": 1, "c": 1, "x": 1},
    WORDINGS.later("warmed"),
)
_HEATED = power_law(
    (
        result("t", "the time needed", "s", ("min", 60), ("h", 3600)),
        given("m", "the mass of the water", ("kg", 1, 0.5, 200, 1), ("g", 1e-3, 250, 950, 0)),
        given("x", "the rise in temperature", ("K", 1, 5, 70, 1)),
        given("P", "the power of the heater", ("W", 1, 500, 9000, 0), ("kW", 1e3, 0.5, 9, 2)),
        given("e", "the share of the heat that reaches the water", ("%", 0.01, 55, 98, 0)),
    ),
    {"m": 1, "x": 1, "P": -1, "e": -1},
    WORDINGS.later("heated"),
    WATER,
    _WATER,
)
_COLD = given("a", "the mass of the cold water", ("kg", 1, 0.2, 9, 2), ("g", 1e-3, 150, 950, 0))
_COLD_T = given("s", "the temperature of the cold water", ("°C", 1, 5, 25, 1))
_HOT = given("b", "the mass of the hot water", ("kg", 1, 0.2, 9, 2), ("g", 1e-3, 150, 950, 0))
_HOT_T = given("t", "the temperature of the hot water", ("°C", 1, 45, 95, 1))


def _mixed(v: Values) -> float:
    return (v["a"] * v["s"] + v["b"] * v["t"]) / (v["a"] + v["b"])


_MIXING = Law(
    (result("T", "the final temperature", "°C"), _COLD, _COLD_T, _HOT, _HOT_T),
    WORDINGS.later("mixing"),
    {
        "T": _mixed,
        "t": lambda v: v["T"] + v["a"] * (v["T"] - v["s"]) / v["b"],
        "b": lambda v: v["a"] * (v["T"] - v["s"]) / (v["t"] - v["T"]),
    },
    check=lambda v: 0.25 < v["a"] / v["b"] < 4,
    slips=lambda v, key: {
        "T": ((v["s"] + v["t"]) / 2, (v["a"] * v["t"] + v["b"] * v["s"]) / (v["a"] + v["b"])),
        "t": (v["T"] + v["a"] * v["T"] / v["b"], v["T"] + v["b"] * (v["T"] - v["s"]) / v["a"]),
        "b": (
            v["a"] * (v["t"] - v["T"]) / (v["T"] - v["s"]),
            v["a"] * v["s"] / v["t"],
            v["a"] * v["T"] / (v["t"] - v["T"]),
        ),
    }[key],
)
_QUENCHED = Law(
    (
        result(
            "c", "the specific heat of the metal", "J/(kg K)", ("kJ/(kg K)", 1e3), ("J/(g K)", 1e3)
        ),
        given("n", "the mass of the metal", ("kg", 1, 0.1, 3, 2), ("g", 1e-3, 80, 950, 0)),
        given("t", "the initial temperature of the metal", ("°C", 1, 90, 400, 0)),
        given("a", "the mass of the water", ("kg", 1, 0.2, 4, 2), ("g", 1e-3, 150, 950, 0)),
        given("s", "the initial temperature of the water", ("°C", 1, 8, 25, 1)),
        given("T", "the final temperature", ("°C", 1, 15, 60, 1)),
    ),
    WORDINGS.later("quenched"),
    {
        "c": lambda v: WATER * v["a"] * (v["T"] - v["s"]) / (v["n"] * (v["t"] - v["T"])),
        "a": lambda v: v["c"] * v["n"] * (v["t"] - v["T"]) / (WATER * (v["T"] - v["s"])),
        "T": lambda v: (
            (v["c"] * v["n"] * v["t"] + WATER * v["a"] * v["s"])
            / (v["c"] * v["n"] + WATER * v["a"])
        ),
    },
    _WATER,
    check=lambda v: (
        v["T"] - v["s"] > 4
        and 120 < WATER * v["a"] * (v["T"] - v["s"]) / (v["n"] * (v["t"] - v["T"])) < 950
    ),
    slips=lambda v, key: {
        "c": (
            WATER * v["a"] * (v["T"] - v["s"]) / (v["n"] * v["t"]),
            WATER * v["a"] * v["T"] / (v["n"] * (v["t"] - v["T"])),
            WATER * v["n"] * (v["T"] - v["s"]) / (v["a"] * (v["t"] - v["T"])),
        ),
        "a": (
            v["c"] * v["n"] * v["t"] / (WATER * (v["T"] - v["s"])),
            v["c"] * v["n"] * (v["t"] - v["T"]) / (WATER * v["T"]),
        ),
        "T": ((v["t"] + v["s"]) / 2, (v["n"] * v["t"] + v["a"] * v["s"]) / (v["n"] + v["a"])),
    }[key],
)
_MELTED = power_law(
    (
        result("Q", "the heat needed", "J", ("kJ", 1e3), ("MJ", 1e6)),
        given("m", "the mass", ("kg", 1, 0.1, 40, 2), ("g", 1e-3, 30, 950, 0)),
        given("L", "the latent heat", ("J/kg", 1, 24000, 400000, 0), ("kJ/kg", 1e3, 24, 400, 0)),
    ),
    {"m": 1, "L": 1},
    WORDINGS.later("melted"),
)
_PHASE_NOTE = "Take 2090 J/(kg K) for ice, 4186 J/(kg K) for water and $3.34 \\times 10^{5}$ J/kg for melting."
_THAWED = Law(
    (
        result("Q", "the heat needed", "kJ", ("J", 1e-3), ("MJ", 1e3)),
        given("m", "the mass of the ice", ("kg", 1, 0.1, 9, 2), ("g", 1e-3, 40, 950, 0)),
        given("d", "the temperature of the ice below 0 °C", ("K", 1, 3, 35, 1)),
        given("T", "the final temperature of the water", ("°C", 1, 5, 90, 1)),
    ),
    WORDINGS.later("thawed"),
    {
        "Q": lambda v: v["m"] * (ICE * v["d"] + FUSION + WATER * v["T"]) / 1e3,
        "m": lambda v: v["Q"] * 1e3 / (ICE * v["d"] + FUSION + WATER * v["T"]),
    },
    _PHASE_NOTE,
    slips=lambda v, key: {
        "Q": (
            v["m"] * (ICE * v["d"] + WATER * v["T"]) / 1e3,
            v["m"] * (FUSION + WATER * v["T"]) / 1e3,
            v["m"] * (ICE * v["d"] + FUSION) / 1e3,
        ),
        "m": (
            v["Q"] * 1e3 / (FUSION + WATER * v["T"]),
            v["Q"] * 1e3 / (ICE * v["d"] + WATER * v["T"]),
            v["Q"] * 1e3 / FUSION,
        ),
    }[key],
)
_ICED = Law(
    (
        result("T", "the final temperature", "°C"),
        given("m", "the mass of the ice", ("g", 1e-3, 20, 300, 0), ("kg", 1, 0.02, 0.3, 3)),
        given("n", "the mass of the warm water", ("kg", 1, 0.3, 2.5, 2), ("g", 1e-3, 300, 950, 0)),
        given("t", "the initial temperature of the warm water", ("°C", 1, 25, 90, 1)),
    ),
    WORDINGS.later("iced"),
    {
        "T": lambda v: (v["n"] * WATER * v["t"] - v["m"] * FUSION) / (WATER * (v["m"] + v["n"])),
        "m": lambda v: v["n"] * WATER * (v["t"] - v["T"]) / (FUSION + WATER * v["T"]),
        "t": lambda v: v["T"] + v["m"] * (FUSION + WATER * v["T"]) / (v["n"] * WATER),
    },
    "Take 4186 J/(kg K) for water and $3.34 \\times 10^{5}$ J/kg for melting.",
    check=lambda v: v["n"] * WATER * v["t"] - v["m"] * FUSION > 5 * WATER * (v["m"] + v["n"]),
    slips=lambda v, key: {
        "T": (v["n"] * v["t"] / (v["m"] + v["n"]), v["t"] - v["m"] * FUSION / (v["n"] * WATER)),
        "m": (v["n"] * WATER * (v["t"] - v["T"]) / FUSION, v["n"] * (v["t"] - v["T"]) / v["T"]),
        "t": (v["T"] + v["m"] * FUSION / (v["n"] * WATER), v["T"] * (1 + v["m"] / v["n"])),
    }[key],
)

FAMILIES = (
    law_family("thermodynamics_heating", _WARMED, _HEATED),
    law_family("thermodynamics_calorimetry", _MIXING, _QUENCHED),
    law_family("thermodynamics_phase_change", _MELTED, (_THAWED, _ICED)),
)
