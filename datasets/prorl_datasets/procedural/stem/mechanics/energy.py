"""Problems on energy, power and impulse."""
# Source: Halliday, Resnick, Walker, chapters 7 to 9.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


KMH = 1 / 3.6
_KINETIC = power_law(
    (
        result("E", "the kinetic energy", "J", ("kJ", 1e3)),
        given("m", "the mass", ("kg", 1, 2, 1500, 0), ("g", 1e-3, 20, 900, 0)),
        given("v", "the speed", ("m/s", 1, 2, 40, 1), ("km/h", KMH, 10, 150, 0)),
    ),
    {"m": 1, "v": 2},
    WORDINGS.later("kinetic"),
    constant=0.5,
)
_BRAKED = Law(
    (
        result("F", "the mean braking force", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 60, 2000, 0), ("t", 1e3, 0.6, 12, 2)),
        given("u", "the speed before", ("m/s", 1, 12, 40, 1), ("km/h", KMH, 50, 140, 0)),
        given("w", "the speed after", ("m/s", 1, 2, 15, 1), ("km/h", KMH, 10, 60, 0)),
        given("d", "the distance over which the speed falls", ("m", 1, 10, 120, 1)),
    ),
    WORDINGS.later("braked"),
    {
        "F": lambda v: v["m"] * (v["u"] ** 2 - v["w"] ** 2) / (2 * v["d"]),
        "d": lambda v: v["m"] * (v["u"] ** 2 - v["w"] ** 2) / (2 * v["F"]),
        "w": lambda v: math.sqrt(v["u"] ** 2 - 2 * v["F"] * v["d"] / v["m"]),
        "u": lambda v: math.sqrt(v["w"] ** 2 + 2 * v["F"] * v["d"] / v["m"]),
    },
    check=lambda v: 0.25 * v["u"] < v["w"] < 0.75 * v["u"],
    slips=lambda v, key: {
        "F": (
            v["m"] * (v["u"] ** 2 - v["w"] ** 2) / v["d"],
            v["m"] * (v["u"] - v["w"]) ** 2 / (2 * v["d"]),
            v["m"] * (v["u"] - v["w"]) / v["d"],
        ),
        "d": (
            v["m"] * (v["u"] ** 2 - v["w"] ** 2) / v["F"],
            v["m"] * (v["u"] - v["w"]) ** 2 / (2 * v["F"]),
        ),
        "w": (v["u"] - math.sqrt(2 * v["F"] * v["d"] / v["m"]), v["u"]),
        "u": (v["w"] + math.sqrt(2 * v["F"] * v["d"] / v["m"]), v["w"]),
    }[key],
)
_HOIST = power_law(
    (
        result("P", "the mean power", "W", ("kW", 1e3)),
        given("m", "the lifted mass", ("kg", 1, 20, 900, 0), ("t", 1e3, 0.1, 3, 2)),
        given("h", "the height", ("m", 1, 2, 60, 1)),
        given("t", "the time taken", ("s", 1, 4, 90, 1), ("min", 60, 0.2, 3, 1)),
    ),
    {"m": 1, "h": 1, "t": -1},
    WORDINGS.later("hoist"),
    constant=G,
    note=G_NOTE,
)
_PUMP = power_law(
    (
        result("P", "the electrical power that the pump draws", "W", ("kW", 1e3)),
        given(
            "q", "the volume flow", ("m^3/s", 1, 0.002, 0.09, 4), ("L/min", 1e-3 / 60, 60, 2400, 0)
        ),
        given("h", "the height of lift", ("m", 1, 3, 60, 1)),
        given("e", "the efficiency of the pump", ("%", 0.01, 35, 90, 0)),
    ),
    {"q": 1, "h": 1, "e": -1},
    WORDINGS.later("pump"),
    constant=1000 * G,
    note=G_NOTE,
)
_STIFF = given("k", "the spring constant", ("N/m", 1, 20, 900, 0), ("N/cm", 100, 0.5, 20, 1))
_PRESS = given("x", "the compression", ("m", 1, 0.02, 0.3, 3), ("cm", 1e-2, 2, 30, 1))
_SPRING = power_law(
    (result("E", "the stored energy", "J", ("mJ", 1e-3)), _STIFF, _PRESS),
    {"k": 1, "x": 2},
    WORDINGS.later("spring"),
    constant=0.5,
)
_LAUNCHED = WORDINGS.later("launched")
_SHOT_MASS = given("m", "the mass pushed off", ("kg", 1, 0.02, 1.5, 3), ("g", 1e-3, 15, 900, 0))
_SPRING_SHOT = power_law(
    (
        result("v", "the speed at which it leaves the spring", "m/s", ("km/h", KMH)),
        _STIFF,
        _PRESS,
        _SHOT_MASS,
    ),
    {"x": 1, "k": 0.5, "m": -0.5},
    _LAUNCHED,
    bounds=(0.3, 50),
)
_SPRING_JUMP = power_law(
    (
        result("h", "the rise above the starting point", "m", ("cm", 1e-2)),
        _STIFF,
        _PRESS,
        _SHOT_MASS,
    ),
    {"x": 2, "k": 1, "m": -1},
    WORDINGS.later("spring jump"),
    constant=1 / (2 * G),
    note=G_NOTE,
    bounds=(0.05, 40),
)
_IMPULSE = power_law(
    (
        result("F", "the mean force on the ball", "N", ("kN", 1e3)),
        given("m", "the mass", ("kg", 1, 0.05, 0.5, 3), ("g", 1e-3, 50, 500, 0)),
        given("v", "the speed after", ("m/s", 1, 5, 60, 1), ("km/h", KMH, 20, 220, 0)),
        given("t", "the time of contact", ("s", 1, 0.002, 0.09, 4), ("ms", 1e-3, 1, 90, 1)),
    ),
    {"m": 1, "v": 1, "t": -1},
    WORDINGS.later("impulse"),
)
_BOUNCE = Law(
    (
        result("F", "the mean force of the wall on the ball", "N", ("kN", 1e3)),
        given("m", "the mass of the ball", ("kg", 1, 0.05, 0.5, 3), ("g", 1e-3, 50, 500, 0)),
        given("u", "the speed before", ("m/s", 1, 8, 40, 1), ("km/h", KMH, 30, 150, 0)),
        given("w", "the speed after", ("m/s", 1, 4, 30, 1), ("km/h", KMH, 15, 110, 0)),
        given("t", "the time of contact", ("s", 1, 0.002, 0.05, 4), ("ms", 1e-3, 2, 50, 1)),
    ),
    WORDINGS.later("bounce"),
    {
        "F": lambda v: v["m"] * (v["u"] + v["w"]) / v["t"],
        "m": lambda v: v["F"] * v["t"] / (v["u"] + v["w"]),
        "t": lambda v: v["m"] * (v["u"] + v["w"]) / v["F"],
        "w": lambda v: v["F"] * v["t"] / v["m"] - v["u"],
    },
    check=lambda v: 0.4 < v["w"] / v["u"] < 0.92,
    slips=lambda v, key: {
        "F": (v["m"] * (v["u"] - v["w"]) / v["t"], v["m"] * v["u"] / v["t"]),
        "m": (v["F"] * v["t"] / (v["u"] - v["w"]), v["F"] * v["t"] / v["u"]),
        "t": (v["m"] * (v["u"] - v["w"]) / v["F"], v["m"] * v["u"] / v["F"]),
        "w": (v["F"] * v["t"] / v["m"], v["F"] * v["t"] / v["m"] + v["u"]),
    }[key],
)

FAMILIES = (
    law_family("mechanics_kinetic_energy", _KINETIC, _BRAKED),
    law_family("mechanics_power", _HOIST, _PUMP),
    law_family("mechanics_spring_energy", _SPRING, (_SPRING_SHOT, _SPRING_JUMP)),
    law_family("mechanics_impulse", _IMPULSE, _BOUNCE),
)
