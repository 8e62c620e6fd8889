"""Problems on levers, flywheels, rolling bodies and angular momentum."""
# Source: Halliday, Resnick, Walker, chapters 10 to 12.

from __future__ import annotations

import math
from dataclasses import replace

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


TURN = 2 * math.pi
RPM = TURN / 60
_SEESAW = power_law(
    (
        result("d", "the distance of the second load from the pivot", "m", ("cm", 1e-2)),
        given("m", "the mass of the first load", ("kg", 1, 10, 90, 1)),
        given(
            "c",
            "the distance of the first load from the pivot",
            ("m", 1, 0.4, 3, 2),
            ("cm", 1e-2, 40, 300, 0),
        ),
        given("n", "the mass of the second load", ("kg", 1, 15, 95, 1)),
    ),
    {"m": 1, "c": 1, "n": -1},
    WORDINGS.later("seesaw"),
)
_BRIDGE = Law(
    (
        result("F", "the force of the right support on the beam", "N", ("kN", 1e3)),
        given("L", "the length of the beam", ("m", 1, 3, 12, 1), ("cm", 1e-2, 300, 1200, 0)),
        given("m", "the mass of the beam", ("kg", 1, 20, 200, 0), ("t", 1e3, 0.02, 0.2, 3)),
        given("n", "the mass of the load", ("kg", 1, 30, 400, 0), ("t", 1e3, 0.03, 0.4, 3)),
        given("d", "the distance of the load from the left end", ("m", 1, 0.5, 9, 2)),
    ),
    WORDINGS.later("bridge"),
    {
        "F": lambda v: G * (v["m"] / 2 + v["n"] * v["d"] / v["L"]),
        "d": lambda v: (v["F"] / G - v["m"] / 2) * v["L"] / v["n"],
        "n": lambda v: (v["F"] / G - v["m"] / 2) * v["L"] / v["d"],
    },
    G_NOTE,
    check=lambda v: 0.1 < v["d"] / v["L"] < 0.9 and v["n"] > v["m"],
    slips=lambda v, key: {
        "F": (
            G * (v["m"] / 2 + v["n"] * (1 - v["d"] / v["L"])),
            G * v["n"] * v["d"] / v["L"],
            G * (v["m"] + v["n"]) / 2,
        ),
        "d": (v["L"] - v["d"], v["F"] * v["L"] / (G * v["n"])),
        "n": ((v["F"] / G - v["m"]) * v["L"] / v["d"], v["F"] * v["L"] / (G * v["d"])),
    }[key],
)
_WHEELS = WORDINGS.later("wheels")
_W1 = given("u", "the initial angular speed", ("rad/s", 1, 5, 60, 1), ("rpm", RPM, 60, 600, 0))
_W2_OUT = result("w", "the final angular speed", "rad/s", ("rpm", RPM))
_TIME = given("t", "the time taken", ("s", 1, 3, 40, 1), ("min", 60, 0.1, 1, 2))
_SPIN_UP = Law(
    (_W2_OUT, _W1, given("a", "the angular acceleration", ("rad/s^2", 1, 0.5, 8, 2)), _TIME),
    _WHEELS,
    {
        "w": lambda v: v["u"] + v["a"] * v["t"],
        "a": lambda v: (v["w"] - v["u"]) / v["t"],
        "t": lambda v: (v["w"] - v["u"]) / v["a"],
    },
    check=lambda v: 0.3 < v["a"] * v["t"] / v["u"] < 6,
    slips=lambda v, key: {
        "w": (v["a"] * v["t"], v["u"] + v["a"] * v["t"] / 2),
        "a": (v["w"] / v["t"], (v["w"] + v["u"]) / v["t"]),
        "t": (v["w"] / v["a"], (v["w"] + v["u"]) / v["a"]),
    }[key],
)
_TURNS = Law(
    (
        result("N", "the number of turns made meanwhile", ""),
        _W1,
        given("w", "the final angular speed", ("rad/s", 1, 20, 200, 1), ("rpm", RPM, 300, 2500, 0)),
        _TIME,
    ),
    _WHEELS,
    {
        "N": lambda v: (v["u"] + v["w"]) * v["t"] / (2 * TURN),
        "t": lambda v: 2 * TURN * v["N"] / (v["u"] + v["w"]),
    },
    check=lambda v: v["w"] > 1.3 * v["u"],
    slips=lambda v, key: {
        "N": (
            (v["u"] + v["w"]) * v["t"] / 2,
            (v["u"] + v["w"]) * v["t"] / TURN,
            (v["w"] - v["u"]) * v["t"] / (2 * TURN),
        ),
        "t": (TURN * v["N"] / (v["u"] + v["w"]), 2 * v["N"] / (v["u"] + v["w"])),
    }[key],
)
_DISC_MASS = given("m", "the mass", ("kg", 1, 0.5, 90, 1), ("g", 1e-3, 200, 4000, 0))
_DISC_RADIUS = given("r", "the radius", ("m", 1, 0.05, 0.8, 3), ("cm", 1e-2, 5, 80, 1))
_DISC = power_law(
    (
        result("E", "the energy of rotation", "J", ("kJ", 1e3)),
        given("I", "the moment of inertia", ("kg m^2", 1, 0.05, 9, 2)),
        given("w", "the angular speed", ("rad/s", 1, 5, 150, 1), ("rpm", RPM, 50, 1500, 0)),
    ),
    {"I": 1, "w": 2},
    WORDINGS.later("disc"),
    0.5,
)
_DISC_ENERGY = power_law(
    (
        result("E", "the energy of rotation", "J", ("kJ", 1e3)),
        _DISC_MASS,
        _DISC_RADIUS,
        given("w", "the angular speed", ("rad/s", 1, 5, 150, 1), ("rpm", RPM, 50, 1500, 0)),
    ),
    {"m": 1, "r": 2, "w": 2},
    WORDINGS.later("disc energy"),
    0.25,
)


def _rolling(shape: str, beta: float) -> Law:
    return power_law(
        (
            result("v", "the speed of its centre at the lower end", "m/s", ("cm/s", 1e-2)),
            given("h", "the drop in height", ("m", 1, 0.2, 9, 3), ("cm", 1e-2, 10, 300, 1)),
        ),
        {"h": 0.5},
        WORDINGS.later("rolling", shape=shape),
        math.sqrt(2 * G / (1 + beta)),
        G_NOTE,
    )


_INERTIA_1 = given("I", "the moment of inertia before", ("kg m^2", 1, 2.5, 9, 2))
_SKATERS = WORDINGS.later("skaters")
_INERTIA_2 = given("J", "the moment of inertia after", ("kg m^2", 1, 0.8, 4, 2))
_OMEGA = given("u", "the angular speed before", ("rad/s", 1, 1, 12, 2), ("rpm", RPM, 10, 120, 0))
_SKATER = replace(
    power_law(
        (
            result("w", "the angular speed after", "rad/s", ("rpm", RPM)),
            _INERTIA_1,
            _INERTIA_2,
            _OMEGA,
        ),
        {"I": 1, "u": 1, "J": -1},
        _SKATERS,
    ),
    check=lambda v: v["I"] > 1.2 * v["J"],
)
_SKATER_WORK = Law(
    (
        result("W", "the work done in pulling inward", "J", ("kJ", 1e3)),
        _INERTIA_1,
        _INERTIA_2,
        _OMEGA,
    ),
    _SKATERS,
    {
        "W": lambda v: 0.5 * v["I"] * v["u"] ** 2 * (v["I"] / v["J"] - 1),
        "u": lambda v: math.sqrt(2 * v["W"] / (v["I"] * (v["I"] / v["J"] - 1))),
    },
    check=lambda v: v["I"] > 1.3 * v["J"],
    slips=lambda v, key: {
        "W": (
            0.5 * v["I"] * v["u"] ** 2 * v["I"] / v["J"],
            0.5 * (v["I"] - v["J"]) * v["u"] ** 2,
            v["I"] * v["u"] ** 2 * (v["I"] / v["J"] - 1),
        ),
        "u": (math.sqrt(2 * v["W"] / v["I"]), math.sqrt(2 * v["W"] / (v["I"] - v["J"]))),
    }[key],
)

FAMILIES = (
    law_family("mechanics_lever", _SEESAW, _BRIDGE),
    law_family("mechanics_spinning_up", _SPIN_UP, _TURNS),
    law_family(
        "mechanics_rotational_energy",
        _DISC,
        (
            _DISC_ENERGY,
            _rolling("uniform solid ball", 0.4),
            _rolling("uniform solid cylinder", 0.5),
            _rolling("thin hoop", 1.0),
        ),
    ),
    law_family("mechanics_angular_momentum", _SKATER, _SKATER_WORK),
)
