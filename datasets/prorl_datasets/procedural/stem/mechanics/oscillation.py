"""Problems on springs and pendulums."""
# Source: Halliday, Resnick, Walker, chapter 15.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


TURN = 2 * math.pi
_M = given("m", "the mass", ("kg", 1, 0.1, 5, 2), ("g", 1e-3, 50, 950, 0))
_K = given("k", "the spring constant", ("N/m", 1, 10, 600, 0), ("N/cm", 100, 0.2, 6, 1))
_BOB = WORDINGS.later("bob")
_SPRING = power_law(
    (result("T", "the period", "s", ("ms", 1e-3)), _M, _K), {"m": 0.5, "k": -0.5}, _BOB, TURN
)
_BOB_SPEED = power_law(
    (
        result("v", "the greatest speed", "m/s", ("cm/s", 1e-2)),
        given("A", "the amplitude", ("m", 1, 0.01, 0.25, 3), ("cm", 1e-2, 1, 25, 1)),
        _M,
        _K,
    ),
    {"A": 1, "k": 0.5, "m": -0.5},
    _BOB,
)
_BOB_MASS = power_law(
    (
        result("m", "the oscillating mass", "kg", ("g", 1e-3)),
        given(
            "F",
            "the force that stretches the spring alone by 1 cm",
            ("N", 1, 0.2, 8, 2),
            ("mN", 1e-3, 150, 950, 0),
        ),
        given(
            "T", "the period of the oscillation", ("s", 1, 0.3, 2.5, 3), ("ms", 1e-3, 300, 2500, 0)
        ),
    ),
    {"F": 1, "T": 2},
    _BOB,
    100 / (4 * math.pi**2),
    bounds=(0.05, 6),
)
_SWINGS = WORDINGS.later("swings")
_LENGTH = given("L", "the length of the pendulum", ("m", 1, 0.2, 6, 3), ("cm", 1e-2, 15, 250, 1))
_PENDULUM = power_law(
    (
        result("t", "the time for all these swings", "s", ("min", 60)),
        _LENGTH,
        given("N", "the number of full swings", ("", 1, 2, 40, 0)),
    ),
    {"L": 0.5, "N": 1},
    _SWINGS,
    TURN / math.sqrt(G),
    G_NOTE,
)
_GRAVIMETER = Law(
    (
        result("g", "the gravitational acceleration there", "m/s^2", ("cm/s^2", 1e-2)),
        _LENGTH,
        given("N", "the number of full swings counted", ("", 1, 10, 60, 0)),
        given("t", "the total time for them", ("s", 1, 15, 400, 1), ("min", 60, 0.4, 5, 2)),
    ),
    WORDINGS.later("gravimeter"),
    {
        "g": lambda v: 4 * math.pi**2 * v["L"] * (v["N"] / v["t"]) ** 2,
        "L": lambda v: v["g"] * (v["t"] / v["N"]) ** 2 / (4 * math.pi**2),
    },
    check=lambda v: 1.2 < 4 * math.pi**2 * v["L"] * (v["N"] / v["t"]) ** 2 < 26,
    slips=lambda v, key: {
        "g": (
            4 * math.pi**2 * v["L"] / v["t"] ** 2,
            v["L"] * (v["N"] / v["t"]) ** 2,
            2 * math.pi * v["L"] * v["N"] / v["t"],
        ),
        "L": (v["g"] * (v["t"] / v["N"]) ** 2, v["g"] * (v["t"] / v["N"]) ** 2 / (2 * math.pi)),
    }[key],
)
_SWING_SPEED = Law(
    (
        result("v", "the speed at the lowest point", "m/s", ("km/h", 1 / 3.6)),
        _LENGTH,
        given("a", "the starting angle from the vertical", ("degrees", 1, 10, 85, 0)),
    ),
    WORDINGS.later("swing speed"),
    {
        "v": lambda v: math.sqrt(2 * G * v["L"] * (1 - math.cos(math.radians(v["a"])))),
        "a": lambda v: math.degrees(math.acos(1 - v["v"] ** 2 / (2 * G * v["L"]))),
        "L": lambda v: v["v"] ** 2 / (2 * G * (1 - math.cos(math.radians(v["a"])))),
    },
    G_NOTE,
    slips=lambda v, key: {
        "v": (
            math.sqrt(2 * G * v["L"]),
            math.sqrt(2 * G * v["L"] * math.cos(math.radians(v["a"]))),
            math.sqrt(G * v["L"] * (1 - math.cos(math.radians(v["a"])))),
        ),
        "a": (90 - v["a"], 2 * v["a"]),
        "L": (v["v"] ** 2 / (2 * G), v["v"] ** 2 / (G * (1 - math.cos(math.radians(v["a"]))))),
    }[key],
)

FAMILIES = (
    law_family("mechanics_spring_oscillator", _SPRING, (_BOB_SPEED, _BOB_MASS)),
    law_family("mechanics_pendulum", _PENDULUM, (_GRAVIMETER, _SWING_SPEED)),
)
