"""Problems on thermal expansion, conduction and radiation."""
# Source: Halliday, Resnick, Walker, chapter 18.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Scale, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


ZERO_C = 273.15
SIGMA = 5.670e-8
_ALPHA = given(
    "a", "the coefficient of linear expansion in units of $10^{-6}$ per K", ("", 1e-6, 8, 30, 1)
)
_LONGER = power_law(
    (
        result("x", "the change in length", "mm", ("cm", 10), ("m", 1e3)),
        _ALPHA,
        given("L", "the length", ("m", 1e3, 0.8, 90, 1), ("cm", 10, 40, 900, 0)),
        given("d", "the rise in temperature", ("K", 1, 8, 90, 1)),
    ),
    {"a": 1, "L": 1, "d": 1},
    WORDINGS.later("longer"),
)
_SPILL = Law(
    (
        result("V", "the volume that spills over", "cm^3", ("mL", 1), ("L", 1e3)),
        given("U", "the volume of the vessel", ("L", 1e3, 0.5, 80, 1), ("cm^3", 1, 150, 950, 0)),
        given(
            "b",
            "the coefficient of volume expansion of the liquid in units of $10^{-6}$ per K",
            ("", 1e-6, 300, 1400, 0),
        ),
        _ALPHA,
        given("d", "the rise in temperature", ("K", 1, 8, 60, 1)),
    ),
    WORDINGS.later("spill"),
    {
        "V": lambda v: v["U"] * (v["b"] - 3 * v["a"]) * v["d"],
        "d": lambda v: v["V"] / (v["U"] * (v["b"] - 3 * v["a"])),
        "b": lambda v: v["V"] / (v["U"] * v["d"]) + 3 * v["a"],
    },
    "Use dV/V = 3 dL/L for the vessel.",
    check=lambda v: v["b"] > 8 * v["a"],
    slips=lambda v, key: {
        "V": (
            v["U"] * v["b"] * v["d"],
            v["U"] * (v["b"] + 3 * v["a"]) * v["d"],
            v["U"] * 3 * v["a"] * v["d"],
        ),
        "d": (v["V"] / (v["U"] * v["b"]), v["V"] / (3 * v["U"] * v["a"])),
        "b": (v["V"] / (v["U"] * v["d"]), v["V"] / (v["U"] * v["d"]) - 3 * v["a"]),
    }[key],
)
_AREA = given("A", "the area", ("m^2", 1, 0.5, 40, 1), ("cm^2", 1e-4, 2000, 9900, 0))
_GAP = given("x", "the difference in temperature", ("K", 1, 5, 45, 1))
_K_WALL = given("k", "the thermal conductivity", ("W/(m K)", 1, 0.02, 2.5, 2))
_CONDUCTED = power_law(
    (
        result("P", "the heat flow", "W", ("kW", 1e3)),
        _K_WALL,
        _AREA,
        _GAP,
        given("d", "the thickness", ("m", 1, 0.02, 0.6, 3), ("cm", 1e-2, 2, 60, 1)),
    ),
    {"k": 1, "A": 1, "x": 1, "d": -1},
    WORDINGS.later("conducted"),
)
_LAYERS = Law(
    (
        result("P", "the heat flow", "W", ("kW", 1e3)),
        _AREA,
        _GAP,
        given(
            "a", "the thickness of the first layer", ("cm", 1e-2, 5, 40, 1), ("m", 1, 0.05, 0.4, 3)
        ),
        given("k", "the conductivity of the first layer", ("W/(m K)", 1, 0.3, 2.5, 2)),
        given(
            "b",
            "the thickness of the second layer",
            ("cm", 1e-2, 2, 25, 1),
            ("mm", 1e-3, 20, 250, 0),
        ),
        given("l", "the conductivity of the second layer", ("W/(m K)", 1, 0.02, 0.2, 3)),
    ),
    WORDINGS.later("layers"),
    {
        "P": lambda v: v["A"] * v["x"] / (v["a"] / v["k"] + v["b"] / v["l"]),
        "x": lambda v: v["P"] * (v["a"] / v["k"] + v["b"] / v["l"]) / v["A"],
    },
    slips=lambda v, key: {
        "P": (
            v["A"] * v["x"] * (v["k"] / v["a"] + v["l"] / v["b"]),
            v["A"] * v["x"] * (v["k"] + v["l"]) / (v["a"] + v["b"]),
            v["A"] * v["x"] * v["l"] / v["b"],
        ),
        "x": (v["P"] * v["b"] / (v["l"] * v["A"]), v["P"] * v["a"] / (v["k"] * v["A"])),
    }[key],
)
_KELVIN = (("K", 1, 400, 1800, 0), Scale("°C", 1, 150, 1500, 0, ZERO_C))
_SIGMA_NOTE = "Take $5.670 \\times 10^{-8}$ W/(m^2 K^4) for the Stefan-Boltzmann constant."
_GLOWING = power_law(
    (
        result("P", "the power radiated", "W", ("kW", 1e3), ("MW", 1e6)),
        given("e", "the emissivity", ("", 1, 0.2, 0.98, 2)),
        given("A", "the surface area", ("m^2", 1, 0.01, 4, 2), ("cm^2", 1e-4, 5, 900, 0)),
        given("T", "the temperature of the surface", *_KELVIN),
    ),
    {"e": 1, "A": 1, "T": 4},
    WORDINGS.later("glowing"),
    SIGMA,
    _SIGMA_NOTE,
)
_NET = Law(
    (
        result("P", "the net power that it loses by radiation", "W", ("kW", 1e3)),
        given("e", "the emissivity", ("", 1, 0.2, 0.98, 2)),
        given("d", "the diameter of the ball", ("m", 1, 0.04, 0.9, 3), ("cm", 1e-2, 3, 90, 1)),
        given(
            "T",
            "the temperature of the ball",
            ("K", 1, 330, 900, 0),
            Scale("°C", 1, 60, 600, 0, ZERO_C),
        ),
        given(
            "U",
            "the temperature of the surroundings",
            ("K", 1, 250, 310, 0),
            Scale("°C", 1, -20, 35, 0, ZERO_C),
        ),
    ),
    WORDINGS.later("net"),
    {"P": lambda v: v["e"] * SIGMA * math.pi * v["d"] ** 2 * (v["T"] ** 4 - v["U"] ** 4)},
    _SIGMA_NOTE,
    slips=lambda v, key: (
        v["e"] * SIGMA * math.pi * v["d"] ** 2 * v["T"] ** 4,
        v["e"] * SIGMA * math.pi * v["d"] ** 2 * (v["T"] - v["U"]) ** 4,
        v["e"] * SIGMA * math.pi * v["d"] ** 2 * (v["T"] ** 4 - v["U"] ** 4) / 4,
    ),
)

FAMILIES = (
    law_family("thermodynamics_expansion", _LONGER, _SPILL),
    law_family("thermodynamics_conduction", _CONDUCTED, _LAYERS),
    law_family("thermodynamics_radiation", _GLOWING, _NET),
)
