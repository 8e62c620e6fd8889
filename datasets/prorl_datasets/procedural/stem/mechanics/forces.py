"""Problems on forces on straight paths."""
# Source: Halliday, Resnick, Walker, chapters 5 and 6.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import (
    G_NOTE,
    G,
    Law,
    Values,
    given,
    law_family,
    power_law,
    result,
)
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


KMH = 1 / 3.6
_MU = given("f", "the coefficient of kinetic friction", ("", 1, 0.08, 0.6, 2))
_BOX = given("m", "the mass", ("kg", 1, 2, 90, 1), ("g", 1e-3, 800, 9500, 0))
_NEWTON = power_law(
    (
        result("F", "the net force", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 5, 2000, 0), ("t", 1e3, 0.8, 12, 2)),
        given("a", "the acceleration", ("m/s^2", 1, 0.2, 6, 2), ("cm/s^2", 1e-2, 20, 300, 0)),
    ),
    {"m": 1, "a": 1},
    WORDINGS.later("newton"),
)


def _pull(v: Values) -> float:
    angle = math.radians(v["a"])
    grip = v["f"] * (v["m"] * G - v["F"] * math.sin(angle))
    return (v["F"] * math.cos(angle) - grip) / v["m"]


_PULLED = Law(
    (
        result("x", "the acceleration", "m/s^2", ("cm/s^2", 1e-2)),
        given("F", "the pulling force", ("N", 1, 30, 500, 0), ("kN", 1e3, 0.03, 0.5, 3)),
        given("a", "the angle of the rope above the horizontal", ("degrees", 1, 10, 50, 0)),
        given("m", "the mass", ("kg", 1, 8, 90, 1)),
        _MU,
    ),
    WORDINGS.later("pulled"),
    {"x": _pull},
    G_NOTE,
    check=lambda v: (
        v["F"] * math.sin(math.radians(v["a"])) < 0.8 * v["m"] * G and 0.3 < _pull(v) < 6
    ),
    slips=lambda v, key: (
        (v["F"] - v["f"] * v["m"] * G) / v["m"],
        (v["F"] * math.cos(math.radians(v["a"])) - v["f"] * v["m"] * G) / v["m"],
        v["F"] * math.cos(math.radians(v["a"])) / v["m"],
    ),
)
_LIFT = Law(
    (
        result("N", "the force of the floor on the load", "N", ("kN", 1e3)),
        given("m", "the mass of the load", ("kg", 1, 20, 400, 0), ("t", 1e3, 0.1, 1.5, 2)),
        given("a", "the upward acceleration", ("m/s^2", 1, 0.5, 3, 2)),
    ),
    WORDINGS.later("lift"),
    {
        "N": lambda v: v["m"] * (G + v["a"]),
        "m": lambda v: v["N"] / (G + v["a"]),
        "a": lambda v: v["N"] / v["m"] - G,
    },
    G_NOTE,
    check=lambda v: v["a"] > 1.0,
    slips=lambda v, key: {
        "N": (v["m"] * (G - v["a"]), v["m"] * G, v["m"] * v["a"]),
        "m": (v["N"] / (G - v["a"]), v["N"] / G, v["N"] / v["a"]),
        "a": (v["N"] / v["m"],),
    }[key],
)
_FRICTION = power_law(
    (result("F", "the force of friction", "N", ("kN", 1e3)), _MU, _BOX),
    {"f": 1, "m": 1},
    WORDINGS.later("friction"),
    constant=G,
    note=G_NOTE,
)
_SLIDE = power_law(
    (
        result("d", "the distance that it slides until it stops", "m", ("cm", 1e-2)),
        given("v", "the initial speed", ("m/s", 1, 1, 12, 2), ("km/h", KMH, 6, 50, 1)),
        _MU,
    ),
    {"v": 2, "f": -1},
    WORDINGS.later("slide"),
    constant=1 / (2 * G),
    note=G_NOTE,
)
_HEAVY = given("m", "the heavier mass", ("kg", 1, 1.5, 20, 2), ("g", 1e-3, 300, 5000, 0))
_LIGHT = given("n", "the lighter mass", ("kg", 1, 0.5, 15, 2), ("g", 1e-3, 150, 4000, 0))
_PULLEY = WORDINGS.later("pulley")
_ATWOOD = Law(
    (result("x", "the acceleration of the masses", "m/s^2", ("cm/s^2", 1e-2)), _HEAVY, _LIGHT),
    _PULLEY,
    {
        "x": lambda v: G * (v["m"] - v["n"]) / (v["m"] + v["n"]),
        "m": lambda v: v["n"] * (G + v["x"]) / (G - v["x"]),
        "n": lambda v: v["m"] * (G - v["x"]) / (G + v["x"]),
    },
    G_NOTE,
    check=lambda v: 1.2 < v["m"] / v["n"] < 5,
    slips=lambda v, key: {
        "x": (G * (v["m"] - v["n"]) / v["m"], G * v["n"] / v["m"], G * (v["m"] / v["n"] - 1)),
        "m": (v["n"] * G / (G - v["x"]), v["n"] * (1 + v["x"] / G)),
        "n": (v["m"] * (1 - v["x"] / G), v["m"] * G / (G + v["x"])),
    }[key],
)
_CORD = Law(
    (result("T", "the tension in the cord", "N", ("kN", 1e3)), _HEAVY, _LIGHT),
    _PULLEY,
    {"T": lambda v: 2 * v["m"] * v["n"] * G / (v["m"] + v["n"])},
    G_NOTE,
    check=lambda v: 1.2 < v["m"] / v["n"] < 5,
    slips=lambda v, key: (
        v["m"] * G,
        v["n"] * G,
        (v["m"] - v["n"]) * G,
        v["m"] * v["n"] * G / (v["m"] + v["n"]),
    ),
)
_TABLE = Law(
    (
        result("x", "the acceleration", "m/s^2", ("cm/s^2", 1e-2)),
        given("n", "the mass on the table", ("kg", 1, 1, 12, 2), ("g", 1e-3, 400, 4000, 0)),
        given("m", "the hanging mass", ("kg", 1, 1, 12, 2), ("g", 1e-3, 400, 4000, 0)),
        _MU,
    ),
    WORDINGS.later("table"),
    {"x": lambda v: G * (v["m"] - v["f"] * v["n"]) / (v["m"] + v["n"])},
    G_NOTE,
    check=lambda v: (
        v["m"] - v["f"] * v["n"] > 0.1 * (v["m"] + v["n"]) and 0.2 < v["m"] / v["n"] < 5
    ),
    slips=lambda v, key: (
        G * v["m"] / (v["m"] + v["n"]),
        G * (v["m"] - v["f"] * v["n"]) / v["n"],
        G * (v["m"] - v["f"] * v["n"]) / v["m"],
    ),
)

FAMILIES = (
    law_family("mechanics_newton", _NEWTON, (_PULLED, _LIFT)),
    law_family("mechanics_friction", _FRICTION, _SLIDE),
    law_family("mechanics_atwood", _ATWOOD, (_CORD, _TABLE)),
)
