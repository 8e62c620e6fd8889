"""Energy, power and impulse: work on moving bodies, hoists and pumps, springs, hits and bounces.

Formulas: E = mv^2/2, P = mgh/t, E = kx^2/2, F = m dv/t (Halliday, Resnick, Walker, chapters 7 to 9).
Leaves out: rotation, collisions of two bodies (``mechanics.collisions``).
"""

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import (
    G_NOTE,
    G,
    Law,
    given,
    law_family,
    power_law,
    result,
)

KMH = 1 / 3.6
_KINETIC = power_law(
    (
        result("E", "the kinetic energy", "J", ("kJ", 1e3)),
        given("m", "the mass", ("kg", 1, 2, 1500, 0), ("g", 1e-3, 20, 900, 0)),
        given("v", "the speed", ("m/s", 1, 2, 40, 1), ("km/h", KMH, 10, 150, 0)),
    ),
    {"m": 1, "v": 2},
    (
        "A body moves without rotation.",
        "A body slides over smooth ice without turning.",
        "A load glides on a cushion of air; it does not rotate.",
        "A body flies straight on and does not rotate.",
    ),
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
    (
        "A vehicle is slowed down on a level road by a constant force.",
        "A sledge runs into deep snow, which slows it with a constant force.",
        "An aircraft on the runway is slowed down by a constant force.",
    ),
    {
        "F": lambda v: v["m"] * (v["u"] ** 2 - v["w"] ** 2) / (2 * v["d"]),
        "d": lambda v: v["m"] * (v["u"] ** 2 - v["w"] ** 2) / (2 * v["F"]),
        "w": lambda v: math.sqrt(v["u"] ** 2 - 2 * v["F"] * v["d"] / v["m"]),
        "u": lambda v: math.sqrt(v["w"] ** 2 + 2 * v["F"] * v["d"] / v["m"]),
    },
    check=lambda v: 0.25 * v["u"] < v["w"] < 0.75 * v["u"],
    slips=lambda v, asked: {
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
    }[asked],
)
_HOIST = power_law(
    (
        result("P", "the mean power", "W", ("kW", 1e3)),
        given("m", "the lifted mass", ("kg", 1, 20, 900, 0), ("t", 1e3, 0.1, 3, 2)),
        given("h", "the height", ("m", 1, 2, 60, 1)),
        given("t", "the time taken", ("s", 1, 4, 90, 1), ("min", 60, 0.2, 3, 1)),
    ),
    {"m": 1, "h": 1, "t": -1},
    (
        "A crane lifts a load at constant speed.",
        "A winch pulls a bucket of stones straight up at an even speed.",
        "A goods lift without counterweight carries a load upward evenly.",
    ),
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
    (
        "A pump raises water (density 1000 kg/m^3) into a tank; friction in the pipes is negligible.",
        "An irrigation pump lifts water of density 1000 kg/m^3 from a well; pipe losses can be neglected.",
        "A waterworks pumps water (1000 kg/m^3) up to a reservoir through wide pipes without losses.",
    ),
    constant=1000 * G,
    note=G_NOTE,
)
_STIFF = given("k", "the spring constant", ("N/m", 1, 20, 900, 0), ("N/cm", 100, 0.5, 20, 1))
_PRESS = given("x", "the compression", ("m", 1, 0.02, 0.3, 3), ("cm", 1e-2, 2, 30, 1))
_SPRING = power_law(
    (result("E", "the stored energy", "J", ("mJ", 1e-3)), _STIFF, _PRESS),
    {"k": 1, "x": 2},
    (
        "A spring that obeys Hooke's law is compressed.",
        "The spring of a toy launcher is squeezed; Hooke's law holds.",
        "A coil spring in a buffer is pressed together within Hooke's law.",
    ),
    constant=0.5,
)
_LAUNCHED = (
    "A compressed spring that obeys Hooke's law pushes off a ball; all its energy goes to the ball.",
    "A spring launcher without losses shoots off a small body.",
    "A light Hookean spring is pressed together, released, and gives its whole energy to a block on smooth ice.",
)
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
    (
        "A spring gun pointed straight up shoots a ball; neglect air drag and all losses.",
        "A toy frog of known mass jumps straight up, driven by a light spring, without losses.",
        "A vertical spring launcher throws up a ball; all the spring's energy becomes potential energy.",
    ),
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
    (
        "A ball at rest is struck by a bat.",
        "A football lying still is kicked.",
        "A rubber ball at rest is hit with a racket.",
        "A hockey ball at rest is hit with a stick.",
    ),
)
_BOUNCE = Law(
    (
        result("F", "the mean force of the wall on the ball", "N", ("kN", 1e3)),
        given("m", "the mass of the ball", ("kg", 1, 0.05, 0.5, 3), ("g", 1e-3, 50, 500, 0)),
        given("u", "the speed before", ("m/s", 1, 8, 40, 1), ("km/h", KMH, 30, 150, 0)),
        given("w", "the speed after", ("m/s", 1, 4, 30, 1), ("km/h", KMH, 15, 110, 0)),
        given("t", "the time of contact", ("s", 1, 0.002, 0.05, 4), ("ms", 1e-3, 2, 50, 1)),
    ),
    (
        "A ball hits a wall at right angles and bounces straight back.",
        "A heavy rubber ball flies at right angles against a wall and returns along the same line.",
        "A handball strikes a post head-on and flies straight back.",
    ),
    {
        "F": lambda v: v["m"] * (v["u"] + v["w"]) / v["t"],
        "m": lambda v: v["F"] * v["t"] / (v["u"] + v["w"]),
        "t": lambda v: v["m"] * (v["u"] + v["w"]) / v["F"],
        "w": lambda v: v["F"] * v["t"] / v["m"] - v["u"],
    },
    check=lambda v: 0.4 < v["w"] / v["u"] < 0.92,
    slips=lambda v, asked: {
        "F": (v["m"] * (v["u"] - v["w"]) / v["t"], v["m"] * v["u"] / v["t"]),
        "m": (v["F"] * v["t"] / (v["u"] - v["w"]), v["F"] * v["t"] / v["u"]),
        "t": (v["m"] * (v["u"] - v["w"]) / v["F"], v["m"] * v["u"] / v["F"]),
        "w": (v["F"] * v["t"] / v["m"], v["F"] * v["t"] / v["m"] + v["u"]),
    }[asked],
)

FAMILIES = (
    law_family("mechanics_kinetic_energy", _KINETIC, _BRAKED),
    law_family("mechanics_power", _HOIST, _PUMP),
    law_family("mechanics_spring_energy", _SPRING, (_SPRING_SHOT, _SPRING_JUMP)),
    law_family("mechanics_impulse", _IMPULSE, _BOUNCE),
)
"""Families of energy."""
