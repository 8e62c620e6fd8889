"""Problems on gravitation and elasticity."""
# Source: Halliday, Resnick, Walker, chapters 12 and 13.

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


BIG_G = 6.674e-11
BIG_G_NOTE = "Take G = $6.674 \\times 10^{-11}$ N m^2/kg^2."
GM_EARTH = 3.986e14
R_EARTH = 6.371e6
EARTH_NOTE = "For the Earth take GM = $3.986 \\times 10^{14}$ m^3/s^2 and the radius 6371 km."

_PULL = power_law(
    (
        result("F", "the force of gravity between them", "N", ("mN", 1e-3)),
        given("m", "the first mass", ("kg", 1, 20000, 900000, 0), ("t", 1e3, 20, 900, 0)),
        given("n", "the second mass", ("kg", 1, 20000, 900000, 0), ("t", 1e3, 20, 900, 0)),
        given("r", "the distance of the centres", ("m", 1, 5, 90, 1), ("km", 1e3, 0.01, 0.3, 3)),
    ),
    {"m": 1, "n": 1, "r": -2},
    WORDINGS.later("pull"),
    BIG_G,
    BIG_G_NOTE,
)
_PLANET_MASS = given("M", "the mass of the planet in units of $10^{24}$ kg", ("", 1e24, 0.3, 90, 2))
_PLANET_RADIUS = given("R", "the radius of the planet", ("km", 1e3, 2200, 20000, 0))
_PLANETS = WORDINGS.later("planets")
_SURFACE = power_law(
    (
        result("g", "the gravitational acceleration at its surface", "m/s^2", ("cm/s^2", 1e-2)),
        _PLANET_MASS,
        _PLANET_RADIUS,
    ),
    {"M": 1, "R": -2},
    _PLANETS,
    BIG_G,
    BIG_G_NOTE,
    bounds=(1, 40),
)
_ESCAPE = power_law(
    (
        result("v", "the escape speed at its surface", "km/s", ("m/s", 1e-3)),
        _PLANET_MASS,
        _PLANET_RADIUS,
    ),
    {"M": 0.5, "R": -0.5},
    _PLANETS,
    math.sqrt(2 * BIG_G) * 1e-3,
    BIG_G_NOTE,
    bounds=(2, 60),
)
_CIRCLING = WORDINGS.later("circling")
_ORBIT_RADIUS = given("r", "the radius of the orbit", ("km", 1e3, 6700, 42000, 0))
_CIRCULAR = power_law(
    (result("v", "the orbital speed", "m/s", ("km/s", 1e3), ("km/h", 1 / 3.6)), _ORBIT_RADIUS),
    {"r": -0.5},
    _CIRCLING,
    math.sqrt(GM_EARTH),
    "For the Earth take GM = $3.986 \\times 10^{14}$ m^3/s^2.",
)


def _period(v: Values) -> float:
    return 2 * math.pi * math.sqrt((R_EARTH + v["h"]) ** 3 / GM_EARTH)


_PERIOD = Law(
    (
        result("T", "the time of one revolution", "s", ("min", 60), ("h", 3600)),
        given("h", "the height above the Earth's surface", ("km", 1e3, 300, 36000, 0)),
    ),
    _CIRCLING,
    {"T": _period, "h": lambda v: (GM_EARTH * (v["T"] / (2 * math.pi)) ** 2) ** (1 / 3) - R_EARTH},
    EARTH_NOTE,
    slips=lambda v, key: {
        "T": (
            2 * math.pi * math.sqrt(v["h"] ** 3 / GM_EARTH),
            math.sqrt((R_EARTH + v["h"]) ** 3 / GM_EARTH),
            math.sqrt(GM_EARTH / (R_EARTH + v["h"])),
        ),
        "h": (v["h"] + R_EARTH, (GM_EARTH * v["T"] ** 2) ** (1 / 3) - R_EARTH),
    }[key],
)
_KEPLER = power_law(
    (
        result("T", "the period of the second planet", "days"),
        given("a", "the orbital radius of the second planet in AU", ("", 1, 0.2, 8, 3)),
        given("b", "the orbital radius of the first planet in AU", ("", 1, 0.2, 8, 3)),
        given("P", "the period of the first planet", ("days", 1, 20, 2000, 0)),
    ),
    {"a": 1.5, "b": -1.5, "P": 1},
    WORDINGS.later("kepler"),
)
_WIRE = WORDINGS.later("wire")
_WIRE_LENGTH = given("L", "its length", ("m", 1, 0.5, 30, 2), ("cm", 1e-2, 40, 900, 0))
_YOUNG = given("E", "Young's modulus of the metal", ("GPa", 1e9, 60, 220, 0))
_AREA_MODULUS = power_law(
    (
        result("x", "the extension", "mm", ("m", 1e3), ("cm", 10)),
        given("F", "the pulling force", ("N", 1e3, 20, 400, 0), ("kN", 1e6, 0.05, 0.4, 3)),
        _WIRE_LENGTH,
        given("A", "the area of its cross section", ("mm^2", 1e-6, 1.5, 9, 2)),
        _YOUNG,
    ),
    {"F": 1, "L": 1, "A": -1, "E": -1},
    _WIRE,
)
_WIRE_LOAD = power_law(
    (
        result("x", "the extension", "mm", ("m", 1e3), ("cm", 10)),
        given("m", "the mass of the load", ("kg", 1, 5, 90, 1), ("t", 1e3, 0.005, 0.2, 3)),
        _WIRE_LENGTH,
        given("d", "its diameter", ("mm", 1e-3, 2, 9, 2)),
        _YOUNG,
    ),
    {"m": 1, "L": 1, "d": -2, "E": -1},
    WORDINGS.later("wire load"),
    4 * G / math.pi * 1e3,
    G_NOTE,
)

FAMILIES = (
    law_family("mechanics_gravitation", _PULL, (_SURFACE, _ESCAPE)),
    law_family("mechanics_orbit", _CIRCULAR, (_PERIOD, _KEPLER)),
    law_family("mechanics_elasticity", _AREA_MODULUS, _WIRE_LOAD),
)
