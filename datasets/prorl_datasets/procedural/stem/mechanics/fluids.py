"""Problems on fluids at rest."""
# Source: Halliday, Resnick, Walker, chapter 14.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_FLUID = given(
    "f", "the density of the liquid", ("kg/m^3", 1, 680, 1600, 0), ("g/cm^3", 1e3, 0.68, 1.6, 2)
)
_SUNK = WORDINGS.later("sunk")
_BODY = given(
    "V",
    "the volume of the body",
    ("m^3", 1, 0.0005, 0.05, 5),
    ("cm^3", 1e-6, 50, 9000, 0),
    ("L", 1e-3, 0.2, 40, 2),
)
_LIFTED = power_law(
    (result("F", "the buoyant force", "N", ("kN", 1e3)), _FLUID, _BODY),
    {"f": 1, "V": 1},
    _SUNK,
    G,
    G_NOTE,
)
_SCALE_READING = Law(
    (
        result("T", "the force in the thread or spring that holds it", "N", ("kN", 1e3)),
        given("m", "the mass of the body", ("kg", 1, 0.5, 90, 2), ("g", 1e-3, 300, 9000, 0)),
        given(
            "b",
            "the density of the body",
            ("kg/m^3", 1, 2200, 8900, 0),
            ("g/cm^3", 1e3, 2.2, 8.9, 2),
        ),
        _FLUID,
    ),
    _SUNK,
    {
        "T": lambda v: v["m"] * G * (1 - v["f"] / v["b"]),
        "m": lambda v: v["T"] / (G * (1 - v["f"] / v["b"])),
        "f": lambda v: v["b"] * (1 - v["T"] / (v["m"] * G)),
        "b": lambda v: v["f"] / (1 - v["T"] / (v["m"] * G)),
    },
    G_NOTE,
    check=lambda v: 0.2 < v["f"] / v["b"] < 0.6,
    slips=lambda v, key: {
        "T": (v["m"] * G * v["f"] / v["b"], v["m"] * G, v["m"] * G * (1 + v["f"] / v["b"])),
        "m": (v["T"] / G, v["T"] * v["b"] / (G * v["f"])),
        "f": (v["b"] * v["T"] / (v["m"] * G), v["b"] - v["T"] / v["m"]),
        "b": (v["f"] * v["m"] * G / v["T"], v["f"] * (1 + v["T"] / (v["m"] * G))),
    }[key],
)
_FLOAT = Law(
    (
        result(
            "h", "the depth of the part that is under the surface", "cm", ("m", 100), ("mm", 0.1)
        ),
        given("H", "the height of the block", ("cm", 1, 5, 90, 1)),
        given(
            "b",
            "the density of the block",
            ("kg/m^3", 1, 150, 950, 0),
            ("g/cm^3", 1e3, 0.15, 0.95, 2),
        ),
        _FLUID,
    ),
    WORDINGS.later("float"),
    {
        "h": lambda v: v["H"] * v["b"] / v["f"],
        "b": lambda v: v["f"] * v["h"] / v["H"],
        "f": lambda v: v["b"] * v["H"] / v["h"],
    },
    check=lambda v: v["b"] < 0.9 * v["f"],
    slips=lambda v, key: {
        "h": (v["H"] * (1 - v["b"] / v["f"]), v["H"] * v["f"] / v["b"]),
        "b": (v["f"] * (1 - v["h"] / v["H"]), v["f"] * v["H"] / v["h"]),
        "f": (v["b"] * v["h"] / v["H"], v["b"] / (1 - v["h"] / v["H"])),
    }[key],
)
_DEPTH = given("h", "the depth", ("m", 1, 0.5, 15, 2), ("cm", 1e-2, 40, 900, 0))
_PRESSURE = power_law(
    (
        result(
            "p", "the pressure of the liquid alone at that depth", "Pa", ("kPa", 1e3), ("bar", 1e5)
        ),
        _FLUID,
        _DEPTH,
    ),
    {"f": 1, "h": 1},
    WORDINGS.later("pressure"),
    G,
    G_NOTE,
)
_HATCH = power_law(
    (
        result("F", "the force of the water on the hatch", "N", ("kN", 1e3)),
        given(
            "h",
            "the depth of the hatch's centre below the surface",
            ("m", 1, 2, 80, 1),
            ("km", 1e3, 0.01, 0.3, 3),
        ),
        given("d", "the diameter of the hatch", ("m", 1, 0.3, 1.5, 2), ("cm", 1e-2, 25, 150, 0)),
    ),
    {"h": 1, "d": 2},
    WORDINGS.later("hatch"),
    1025 * G * math.pi / 4,
    G_NOTE,
)
_PRESS = power_law(
    (
        result("F", "the force on the large piston", "N", ("kN", 1e3)),
        given(
            "f", "the force on the small piston", ("N", 1, 20, 600, 0), ("kN", 1e3, 0.02, 0.6, 3)
        ),
        given("A", "the area of the large piston", ("cm^2", 1, 90, 900, 0)),
        given("a", "the area of the small piston", ("cm^2", 1, 2, 40, 1)),
    ),
    {"f": 1, "A": 1, "a": -1},
    WORDINGS.later("press"),
)
_JACK = power_law(
    (
        result("f", "the force needed on the small piston", "N", ("kN", 1e3)),
        given("m", "the mass that is lifted", ("kg", 1, 300, 3000, 0), ("t", 1e3, 0.3, 9, 2)),
        given("d", "the diameter of the small piston", ("cm", 1, 1, 6, 1), ("mm", 0.1, 9, 60, 0)),
        given(
            "D", "the diameter of the large piston", ("cm", 1, 12, 60, 1), ("m", 100, 0.12, 0.7, 2)
        ),
    ),
    {"m": 1, "d": 2, "D": -2},
    WORDINGS.later("jack"),
    G,
    G_NOTE,
)

FAMILIES = (
    law_family("mechanics_buoyancy", _LIFTED, (_SCALE_READING, _FLOAT)),
    law_family("mechanics_water_pressure", _PRESSURE, _HATCH),
    law_family("mechanics_hydraulic_press", _PRESS, _JACK),
)
