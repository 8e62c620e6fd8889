"""Problems on motion along a line and in a plane."""
# Source: Halliday, Resnick, Walker, chapters 2 and 4.

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
_KMH_OUT = ("km/h", KMH)

_ACCELERATION = Law(
    (
        result("v", "the final speed", "m/s", _KMH_OUT),
        given("u", "the initial speed", ("m/s", 1, 1, 15, 1), ("km/h", KMH, 5, 50, 0)),
        given("a", "the acceleration", ("m/s^2", 1, 0.3, 3, 2)),
        given("t", "the time of acceleration", ("s", 1, 3, 12, 1)),
    ),
    WORDINGS.later("acceleration"),
    {
        "v": lambda v: v["u"] + v["a"] * v["t"],
        "u": lambda v: v["v"] - v["a"] * v["t"],
        "a": lambda v: (v["v"] - v["u"]) / v["t"],
        "t": lambda v: (v["v"] - v["u"]) / v["a"],
    },
    check=lambda v: v["a"] * v["t"] < 4 * v["u"] < 80 and v["u"] < 4 * v["a"] * v["t"],
    slips=lambda v, key: {
        "v": (v["a"] * v["t"], v["u"] + 0.5 * v["a"] * v["t"]),
        "u": (v["v"], v["v"] + v["a"] * v["t"]),
        "a": (v["v"] / v["t"], (v["v"] + v["u"]) / v["t"]),
        "t": (v["v"] / v["a"], (v["v"] + v["u"]) / v["a"]),
    }[key],
)
_STOPPING = Law(
    (
        result("d", "the total distance until the vehicle stands still", "m"),
        given("v", "the speed before braking", ("m/s", 1, 8, 38, 1), ("km/h", KMH, 30, 140, 0)),
        given("r", "the reaction time", ("s", 1, 0.4, 1.8, 2), ("ms", 1e-3, 400, 1800, 0)),
        given("b", "the braking deceleration", ("m/s^2", 1, 2.5, 8.5, 1)),
    ),
    WORDINGS.later("stopping"),
    {
        "d": lambda v: v["v"] * v["r"] + v["v"] ** 2 / (2 * v["b"]),
        "r": lambda v: (v["d"] - v["v"] ** 2 / (2 * v["b"])) / v["v"],
        "b": lambda v: v["v"] ** 2 / (2 * (v["d"] - v["v"] * v["r"])),
        "v": lambda v: math.sqrt((v["b"] * v["r"]) ** 2 + 2 * v["b"] * v["d"]) - v["b"] * v["r"],
    },
    slips=lambda v, key: {
        "d": (v["v"] ** 2 / (2 * v["b"]), v["v"] * v["r"] + v["v"] ** 2 / v["b"]),
        "r": (v["d"] / v["v"],),
        "b": (v["v"] ** 2 / (2 * v["d"]), v["v"] ** 2 / (v["d"] - v["v"] * v["r"])),
        "v": (math.sqrt(2 * v["b"] * v["d"]), v["d"] / v["r"]),
    }[key],
)
_SPEED = power_law(
    (
        result("v", "the average speed", "m/s", _KMH_OUT),
        given("s", "the distance", ("m", 1, 150, 3000, 0), ("km", 1e3, 0.5, 6, 2)),
        given("t", "the time taken", ("s", 1, 60, 400, 0), ("min", 60, 2, 9, 1)),
    ),
    {"s": 1, "t": -1},
    WORDINGS.later("speed"),
    bounds=(2.5, 11),
)
_TWO_LEGS = Law(
    (
        result("m", "the average speed over the whole way", "km/h", ("m/s", 3.6)),
        given("a", "the length of the first part", ("km", 1, 2, 60, 1), ("m", 1e-3, 800, 9000, 0)),
        given("u", "the speed on the first part", ("km/h", 1, 25, 60, 0), ("m/s", 3.6, 7, 17, 1)),
        given("b", "the length of the second part", ("km", 1, 2, 60, 1)),
        given("w", "the speed on the second part", ("km/h", 1, 70, 130, 0)),
    ),
    WORDINGS.later("two legs"),
    {"m": lambda v: (v["a"] + v["b"]) / (v["a"] / v["u"] + v["b"] / v["w"])},
    slips=lambda v, key: (
        (v["u"] + v["w"]) / 2,
        (v["a"] * v["u"] + v["b"] * v["w"]) / (v["a"] + v["b"]),
    ),
    check=lambda v: 0.3 < v["a"] / v["b"] < 3,
)
_FALL = Law(
    (
        result("h", "the height", "m", ("cm", 1e-2)),
        given("u", "the initial downward speed", ("m/s", 1, 0.2, 9, 1), ("km/h", KMH, 1, 30, 0)),
        given("t", "the time of fall", ("s", 1, 0.5, 5, 2), ("ms", 1e-3, 300, 2500, 0)),
    ),
    WORDINGS.later("fall"),
    {
        "h": lambda v: v["u"] * v["t"] + G * v["t"] ** 2 / 2,
        "u": lambda v: v["h"] / v["t"] - G * v["t"] / 2,
        "t": lambda v: (math.sqrt(v["u"] ** 2 + 2 * G * v["h"]) - v["u"]) / G,
    },
    G_NOTE,
    check=lambda v: v["u"] > 0.25 * G * v["t"] / 2,
    slips=lambda v, key: {
        "h": (G * v["t"] ** 2 / 2, v["u"] * v["t"] + G * v["t"] ** 2, v["u"] * v["t"]),
        "u": (v["h"] / v["t"], v["h"] / v["t"] - G * v["t"], G * v["t"] / 2),
        "t": (math.sqrt(2 * v["h"] / G), (math.sqrt(v["u"] ** 2 + 2 * G * v["h"]) + v["u"]) / G),
    }[key],
)
_THROWN_UP = Law(
    (
        result("t", "the time until it hits the ground", "s", ("ms", 1e-3)),
        given("u", "the initial upward speed", ("m/s", 1, 3, 25, 1), ("km/h", KMH, 15, 90, 0)),
        given("h", "the initial height above the ground", ("m", 1, 3, 60, 1)),
    ),
    WORDINGS.later("thrown up"),
    {
        "t": lambda v: (v["u"] + math.sqrt(v["u"] ** 2 + 2 * G * v["h"])) / G,
        "u": lambda v: (G * v["t"] ** 2 / 2 - v["h"]) / v["t"],
        "h": lambda v: G * v["t"] ** 2 / 2 - v["u"] * v["t"],
    },
    G_NOTE,
    slips=lambda v, key: {
        "t": (
            (math.sqrt(v["u"] ** 2 + 2 * G * v["h"]) - v["u"]) / G,
            math.sqrt(2 * v["h"] / G),
            2 * v["u"] / G,
        ),
        "u": (G * v["t"] / 2, v["h"] / v["t"]),
        "h": (G * v["t"] ** 2 / 2, G * v["t"] ** 2 / 2 + v["u"] * v["t"]),
    }[key],
    check=lambda v: v["u"] > 0.3 * math.sqrt(G * v["h"]) and v["h"] > 0.1 * v["u"] ** 2 / G,
)


def _angle(v: Values) -> float:
    return math.radians(v["a"])


_THROWS = WORDINGS.later("throws")
_THROW_ANGLE = given("a", "the launch angle above the horizontal", ("degrees", 1, 18, 72, 0))
_THROW_SPEED = given("v", "the launch speed", ("m/s", 1, 5, 40, 1), ("km/h", KMH, 25, 140, 0))
_RANGE = Law(
    (result("R", "the horizontal range", "m", ("cm", 1e-2)), _THROW_SPEED, _THROW_ANGLE),
    _THROWS,
    {
        "R": lambda v: v["v"] ** 2 * math.sin(2 * _angle(v)) / G,
        "v": lambda v: math.sqrt(v["R"] * G / math.sin(2 * _angle(v))),
    },
    G_NOTE,
    slips=lambda v, key: {
        "R": (
            v["v"] ** 2 * math.sin(_angle(v)) / G,
            v["v"] ** 2 * math.sin(2 * _angle(v)) / (2 * G),
            v["v"] * math.sin(2 * _angle(v)),
        ),
        "v": (math.sqrt(v["R"] * G / math.sin(_angle(v))), math.sqrt(v["R"] * G)),
    }[key],
)
_APEX = Law(
    (result("H", "the greatest height", "m", ("cm", 1e-2)), _THROW_SPEED, _THROW_ANGLE),
    _THROWS,
    {
        "H": lambda v: (v["v"] * math.sin(_angle(v))) ** 2 / (2 * G),
        "v": lambda v: math.sqrt(2 * G * v["H"]) / math.sin(_angle(v)),
        "a": lambda v: math.degrees(math.asin(math.sqrt(2 * G * v["H"]) / v["v"])),
    },
    G_NOTE,
    slips=lambda v, key: {
        "H": (v["v"] ** 2 / (2 * G), (v["v"] * math.cos(_angle(v))) ** 2 / (2 * G)),
        "v": (math.sqrt(2 * G * v["H"]), math.sqrt(2 * G * v["H"]) / math.cos(_angle(v))),
        "a": (90 - v["a"], math.degrees(math.atan(math.sqrt(2 * G * v["H"]) / v["v"]))),
    }[key],
)
_CLIFF = Law(
    (
        result("x", "the horizontal distance to the point of impact", "m", ("km", 1e3)),
        given("v", "the launch speed", ("m/s", 1, 8, 35, 1), ("km/h", KMH, 30, 120, 0)),
        given("a", "the launch angle above the horizontal", ("degrees", 1, 15, 65, 0)),
        given("h", "the height of the launch point above the ground", ("m", 1, 5, 80, 1)),
    ),
    WORDINGS.later("cliff"),
    {"x": lambda v: v["v"] * math.cos(_angle(v)) * _flight(v)},
    G_NOTE,
    slips=lambda v, key: (
        v["v"] * math.cos(_angle(v)) * math.sqrt(2 * v["h"] / G),
        v["v"] ** 2 * math.sin(2 * _angle(v)) / G,
        v["v"] * _flight(v),
    ),
)


def _flight(v: Values) -> float:
    up = v["v"] * math.sin(_angle(v))
    return (up + math.sqrt(up * up + 2 * G * v["h"])) / G


_BOAT = given(
    "b", "the speed of the boat in still water", ("m/s", 1, 2, 9, 2), ("km/h", KMH, 8, 30, 1)
)
_RIVER = given("r", "the speed of the current", ("m/s", 1, 0.5, 4, 2), ("km/h", KMH, 2, 12, 1))
_HEADED = WORDINGS.later("headed")
_ACROSS = Law(
    (result("v", "the speed of the boat over the ground", "m/s", _KMH_OUT), _BOAT, _RIVER),
    _HEADED,
    {
        "v": lambda v: math.hypot(v["b"], v["r"]),
        "b": lambda v: math.sqrt(v["v"] ** 2 - v["r"] ** 2),
        "r": lambda v: math.sqrt(v["v"] ** 2 - v["b"] ** 2),
    },
    slips=lambda v, key: {
        "v": (v["b"] + v["r"], abs(v["b"] - v["r"])),
        "b": (v["v"] - v["r"], v["v"] + v["r"], math.hypot(v["v"], v["r"])),
        "r": (v["v"] - v["b"], math.hypot(v["v"], v["b"])),
    }[key],
    check=lambda v: 0.6 < v["b"] / v["r"] < 3,
)
_DRIFT = power_law(
    (
        result("d", "the distance that the current carries the boat downstream", "m", ("km", 1e3)),
        given("w", "the width of the water", ("m", 1, 60, 600, 0), ("km", 1e3, 0.1, 1.2, 2)),
        _RIVER,
        _BOAT,
    ),
    {"w": 1, "r": 1, "b": -1},
    _HEADED,
)

FAMILIES = (
    law_family("mechanics_acceleration", _ACCELERATION, _STOPPING),
    law_family("mechanics_average_speed", _SPEED, _TWO_LEGS),
    law_family("mechanics_free_fall", _FALL, _THROWN_UP),
    law_family("mechanics_projectile", _RANGE, _CLIFF, _APEX),
    law_family("mechanics_river", _ACROSS, _DRIFT),
)
