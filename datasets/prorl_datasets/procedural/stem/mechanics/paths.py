"""Problems on bodies on slopes and circles."""
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


def _slope(v: Values) -> float:
    return G * (math.sin(math.radians(v["a"])) - v["f"] * math.cos(math.radians(v["a"])))


_ANGLE = given("a", "the angle of the slope to the horizontal", ("degrees", 1, 18, 55, 1))
_RAMP = Law(
    (
        result("x", "the net force along the slope", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 2, 90, 1), ("g", 1e-3, 800, 9500, 0)),
        given("a", "the angle of the slope to the horizontal", ("degrees", 1, 4, 60, 1)),
    ),
    WORDINGS.later("ramp"),
    {
        "x": lambda v: v["m"] * G * math.sin(math.radians(v["a"])),
        "m": lambda v: v["x"] / (G * math.sin(math.radians(v["a"]))),
        "a": lambda v: math.degrees(math.asin(v["x"] / (v["m"] * G))),
    },
    G_NOTE,
    slips=lambda v, key: {
        "x": (
            v["m"] * G * math.cos(math.radians(v["a"])),
            v["m"] * G * math.tan(math.radians(v["a"])),
            v["m"] * math.sin(math.radians(v["a"])),
        ),
        "m": (v["x"] / (G * math.cos(math.radians(v["a"]))), v["x"] / G),
        "a": (90 - v["a"], math.degrees(math.atan(v["x"] / (v["m"] * G)))),
    }[key],
)
_ROUGH_RAMP = Law(
    (result("x", "the acceleration along the slope", "m/s^2", ("cm/s^2", 1e-2)), _ANGLE, _MU),
    WORDINGS.later("rough ramp"),
    {
        "x": _slope,
        "f": lambda v: (
            math.tan(math.radians(v["a"])) - v["x"] / (G * math.cos(math.radians(v["a"])))
        ),
    },
    G_NOTE,
    check=lambda v: _slope(v) > 0.8 and v["f"] > 0.12,
    slips=lambda v, key: {
        "x": (
            G * math.sin(math.radians(v["a"])),
            G * (math.sin(math.radians(v["a"])) - v["f"]),
            G * (math.cos(math.radians(v["a"])) - v["f"] * math.sin(math.radians(v["a"]))),
        ),
        "f": (math.tan(math.radians(v["a"])), v["x"] / G),
    }[key],
)
_RAMP_END = Law(
    (
        result("v", "the speed at the lower end", "m/s", ("km/h", KMH)),
        given("L", "the length of the slope", ("m", 1, 2, 60, 1), ("cm", 1e-2, 150, 900, 0)),
        _ANGLE,
        _MU,
    ),
    WORDINGS.later("ramp end"),
    {
        "v": lambda v: math.sqrt(2 * v["L"] * _slope(v)),
        "L": lambda v: v["v"] ** 2 / (2 * _slope(v)),
    },
    G_NOTE,
    check=lambda v: _slope(v) > 0.8,
    slips=lambda v, key: {
        "v": (
            math.sqrt(2 * v["L"] * G * math.sin(math.radians(v["a"]))),
            math.sqrt(v["L"] * _slope(v)),
            math.sqrt(2 * v["L"] * G),
        ),
        "L": (
            v["v"] ** 2 / _slope(v),
            v["v"] ** 2 / (2 * G * math.sin(math.radians(v["a"]))),
            v["v"] ** 2 / (2 * G),
        ),
    }[key],
)
_CENTRIPETAL = power_law(
    (
        result("F", "the centripetal force", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 0.2, 80, 1), ("g", 1e-3, 50, 900, 0)),
        given("v", "the speed", ("m/s", 1, 1, 15, 2), ("km/h", KMH, 5, 50, 1)),
        given("r", "the radius of the circle", ("m", 1, 0.5, 30, 2), ("cm", 1e-2, 40, 400, 0)),
    ),
    {"m": 1, "v": 2, "r": -1},
    WORDINGS.later("centripetal"),
)
_SPIN = power_law(
    (
        result("F", "the centripetal force", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 0.2, 80, 1), ("g", 1e-3, 50, 900, 0)),
        given("r", "the radius of the circle", ("m", 1, 0.5, 12, 2), ("cm", 1e-2, 20, 400, 0)),
        given("T", "the time of one turn", ("s", 1, 0.8, 9, 2), ("ms", 1e-3, 300, 2000, 0)),
    ),
    {"m": 1, "r": 1, "T": -2},
    WORDINGS.later("spin"),
    constant=4 * math.pi**2,
)
_BEND = power_law(
    (
        result("v", "the greatest speed without skidding", "m/s", ("km/h", KMH)),
        given("f", "the coefficient of static friction", ("", 1, 0.15, 0.95, 2)),
        given("r", "the radius of the bend", ("m", 1, 12, 250, 0), ("km", 1e3, 0.02, 0.3, 3)),
    ),
    {"f": 0.5, "r": 0.5},
    WORDINGS.later("bend"),
    constant=math.sqrt(G),
    note=G_NOTE,
)
_TRACK = Law(
    (
        result(
            "N",
            "the force of the track on the car at the lowest point of the loop",
            "N",
            ("kN", 1e3),
        ),
        given("m", "the mass of the car", ("kg", 1, 0.1, 600, 1), ("g", 1e-3, 60, 900, 0)),
        given("h", "the starting height above the lowest point", ("m", 1, 4, 40, 1)),
        given("r", "the radius of the loop", ("m", 1, 1, 12, 2), ("cm", 1e-2, 90, 900, 0)),
    ),
    WORDINGS.later("track"),
    {
        "N": lambda v: v["m"] * G * (1 + 2 * v["h"] / v["r"]),
        "m": lambda v: v["N"] / (G * (1 + 2 * v["h"] / v["r"])),
        "h": lambda v: v["r"] * (v["N"] / (v["m"] * G) - 1) / 2,
    },
    G_NOTE,
    check=lambda v: 2.6 < v["h"] / v["r"] < 8,
    slips=lambda v, key: {
        "N": (
            2 * v["m"] * G * v["h"] / v["r"],
            v["m"] * G * (2 * v["h"] / v["r"] - 1),
            v["m"] * G * (1 + v["h"] / v["r"]),
        ),
        "m": (v["N"] / G, v["N"] * v["r"] / (2 * G * v["h"])),
        "h": (v["r"] * v["N"] / (2 * v["m"] * G), v["r"] * (v["N"] / (v["m"] * G) - 1)),
    }[key],
)

FAMILIES = (
    law_family("mechanics_incline", _RAMP, _RAMP_END, _ROUGH_RAMP),
    law_family("mechanics_circular", _CENTRIPETAL, (_SPIN, _BEND, _TRACK)),
)
