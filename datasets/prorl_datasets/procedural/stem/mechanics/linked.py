"""Mechanics problems in several steps."""
# Source: Halliday, Resnick, Walker, chapters 2, 4 and 7 to 9.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import G_NOTE, G, Law, Values, given, law_family, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_WATER_DENSITY = 1000.0
_MASS = given("m", "the mass of the block", ("kg", 1, 0.4, 8, 2), ("g", 1e-3, 300, 950, 0))
_STIFFNESS = given("k", "the spring constant", ("N/m", 1, 150, 4000, 0), ("kN/m", 1e3, 0.15, 4, 2))
_SLOPE = given(
    "a", "the angle of the slope to the horizontal", ("degrees", math.pi / 180, 15, 60, 0)
)
_WAY = given("L", "the way down the slope", ("m", 1, 0.5, 6, 2), ("cm", 1e-2, 50, 600, 0))
_FRICTION = given("f", "the coefficient of kinetic friction", ("", 1, 0.05, 0.22, 2))


def _smooth_squeeze(v: Values) -> float:
    return math.sqrt(2 * v["m"] * G * v["L"] * math.sin(v["a"]) / v["k"])


def _rough_drop(v: Values) -> float:
    """Return the height of a frictionless slide from rest to the same speed."""
    return v["L"] * (math.sin(v["a"]) - v["f"] * math.cos(v["a"]))


_SMOOTH_SLIDE = Law(
    (
        result("x", "the greatest compression of the spring", "m", ("cm", 1e-2)),
        _MASS,
        _STIFFNESS,
        _SLOPE,
        _WAY,
    ),
    WORDINGS.later("smooth slide"),
    {
        "x": _smooth_squeeze,
        "k": lambda v: 2 * v["m"] * G * v["L"] * math.sin(v["a"]) / v["x"] ** 2,
        "L": lambda v: v["k"] * v["x"] ** 2 / (2 * v["m"] * G * math.sin(v["a"])),
    },
    G_NOTE,
    slips=lambda v, key: {
        "x": (v["m"] * G * math.sin(v["a"]) / v["k"], _smooth_squeeze(v) / math.sqrt(2)),
        "k": (v["m"] * G * v["L"] * math.sin(v["a"]) / v["x"] ** 2,),
        "L": (v["k"] * v["x"] ** 2 / (2 * v["m"] * G), v["k"] * v["x"] ** 2 / (v["m"] * G)),
    }[key],
    bounds=(0.03, 0.9),
)
_ROUGH_SLIDE = Law(
    (
        result("x", "the greatest compression of the spring", "m", ("cm", 1e-2)),
        *(_MASS, _STIFFNESS, _SLOPE, _WAY, _FRICTION),
    ),
    WORDINGS.later('rough slide'),
    {
        "x": lambda v: math.sqrt(2 * v["m"] * G * _rough_drop(v) / v["k"]),
        "k": lambda v: 2 * v["m"] * G * _rough_drop(v) / v["x"] ** 2,
        "f": lambda v: (
            (math.sin(v["a"]) - v["k"] * v["x"] ** 2 / (2 * v["m"] * G * v["L"])) / math.cos(v["a"])
        ),
    },
    G_NOTE,
    check=lambda v: math.tan(v["a"]) > 2 * v["f"],
    slips=lambda v, key: {
        "x": (_smooth_squeeze(v), math.sqrt(2 * v["m"] * G * v["L"] * (math.sin(v["a"]) - v["f"]) / v["k"])
              if math.sin(v["a"]) > v["f"] else 0.0),
        "k": (2 * v["m"] * G * v["L"] * math.sin(v["a"]) / v["x"] ** 2,),
        "f": (math.tan(v["a"]) - v["k"] * v["x"] ** 2 / (2 * v["m"] * G * v["L"]),),
    }[key],
    bounds=(0.03, 0.9),
)  # fmt: skip

_SQUEEZE = given(
    "x", "the compression of the spring", ("m", 1, 0.04, 0.3, 3), ("cm", 1e-2, 4, 30, 1)
)
_TABLE = given("h", "the height of the table", ("m", 1, 0.6, 1.6, 2), ("cm", 1e-2, 60, 160, 0))


def _fall_time(v: Values) -> float:
    return math.sqrt(2 * v["h"] / G)


_SHOT = Law(
    (
        result("R", "the horizontal distance from the edge of the table to the point of impact", "m", ("cm", 1e-2)),
        *(_MASS, _STIFFNESS, _SQUEEZE, _TABLE),
    ),
    WORDINGS.later('shot'),
    {
        "R": lambda v: v["x"] * math.sqrt(v["k"] / v["m"]) * _fall_time(v),
        "x": lambda v: v["R"] / _fall_time(v) * math.sqrt(v["m"] / v["k"]),
        "k": lambda v: v["m"] * (v["R"] / _fall_time(v) / v["x"]) ** 2,
        "h": lambda v: G / 2 * (v["R"] / v["x"]) ** 2 * v["m"] / v["k"],
    },
    G_NOTE,
    slips=lambda v, key: {
        "R": (v["k"] * v["x"] ** 2 / (2 * v["m"] * G), v["x"] * v["k"] / v["m"] * _fall_time(v)),
        "x": (v["R"] * math.sqrt(v["m"] / v["k"]),),
        "k": (v["m"] * v["R"] / _fall_time(v) / v["x"],),
        "h": (G * (v["R"] / v["x"]) ** 2 * v["m"] / v["k"],),
    }[key],
    bounds=(0.2, 9),
)  # fmt: skip


def _edge_speed(v: Values) -> float:
    return math.sqrt(v["k"] * v["x"] ** 2 / v["m"] - 2 * v["f"] * G * v["d"])


_ROUGH_SHOT = Law(
    (
        result("R", "the horizontal distance from the edge of the table to the point of impact", "m", ("cm", 1e-2)),
        *(_MASS, _STIFFNESS, _SQUEEZE, _TABLE),
        given("d", "the length of the rough part", ("m", 1, 0.2, 1.5, 2), ("cm", 1e-2, 20, 150, 0)),
        _FRICTION,
    ),
    WORDINGS.later('rough shot'),
    {
        "R": lambda v: _edge_speed(v) * _fall_time(v),
        "k": lambda v: (
            v["m"] * ((v["R"] / _fall_time(v)) ** 2 + 2 * v["f"] * G * v["d"]) / v["x"] ** 2
        ),
        "f": lambda v: (
            (v["k"] * v["x"] ** 2 / v["m"] - (v["R"] / _fall_time(v)) ** 2) / (2 * G * v["d"])
        ),
    },
    G_NOTE,
    check=lambda v: v["k"] * v["x"] ** 2 / v["m"] > 3 * v["f"] * G * v["d"],
    slips=lambda v, key: {
        "R": (v["x"] * math.sqrt(v["k"] / v["m"]) * _fall_time(v),),
        "k": (v["m"] * (v["R"] / _fall_time(v) / v["x"]) ** 2,),
        "f": ((v["k"] * v["x"] ** 2 / v["m"]) / (2 * G * v["d"]),),
    }[key],
    bounds=(0.2, 9),
)  # fmt: skip

_BULLET = given("m", "the mass of the bullet", ("g", 1e-3, 4, 20, 1), ("kg", 1, 0.004, 0.02, 4))
_WOOD = given("n", "the mass of the wood", ("kg", 1, 0.8, 5, 2), ("g", 1e-3, 800, 5000, 0))
_SHOT_SPEED = given(
    "v", "the speed of the bullet", ("m/s", 1, 180, 600, 0), ("km/h", 1 / 3.6, 650, 2000, 0)
)
_GROUND = given("f", "the coefficient of kinetic friction", ("", 1, 0.15, 0.6, 2))


def _joint(v: Values) -> float:
    return v["m"] * v["v"] / (v["m"] + v["n"])


_SLID = Law(
    (result("s", "the distance that the wood slides", "m", ("cm", 1e-2)), _BULLET, _WOOD, _SHOT_SPEED, _GROUND),
    WORDINGS.later('slid'),
    {
        "s": lambda v: _joint(v) ** 2 / (2 * v["f"] * G),
        "v": lambda v: math.sqrt(2 * v["f"] * G * v["s"]) * (v["m"] + v["n"]) / v["m"],
        "f": lambda v: _joint(v) ** 2 / (2 * G * v["s"]),
    },
    G_NOTE,
    slips=lambda v, key: {
        "s": (v["m"] * v["v"] ** 2 / (2 * v["f"] * v["n"] * G), _joint(v) ** 2 / (v["f"] * G)),
        "v": (math.sqrt(2 * v["f"] * G * v["s"] * (v["m"] + v["n"]) / v["m"]),),
        "f": (_joint(v) ** 2 / (G * v["s"]), _joint(v) / (2 * G * v["s"])),
    }[key],
    bounds=(0.04, 4),
)  # fmt: skip
_SLID_OFF = Law(
    (
        result("R", "the horizontal distance from the edge of the bench to where the wood lands", "m", ("cm", 1e-2)),
        *(_BULLET, _WOOD, _SHOT_SPEED, _GROUND),
        given("d", "the distance of the wood from the edge", ("m", 1, 0.05, 0.5, 2), ("cm", 1e-2, 5, 50, 0)),
        given("h", "the height of the bench", ("m", 1, 0.6, 1.5, 2), ("cm", 1e-2, 60, 150, 0)),
    ),
    WORDINGS.later('slid off'),
    {
        "R": lambda v: math.sqrt(_joint(v) ** 2 - 2 * v["f"] * G * v["d"]) * _fall_time(v),
        "v": lambda v: (
            math.sqrt((v["R"] / _fall_time(v)) ** 2 + 2 * v["f"] * G * v["d"])
            * (v["m"] + v["n"])
            / v["m"]
        ),
    },
    G_NOTE,
    check=lambda v: _joint(v) ** 2 > 3 * v["f"] * G * v["d"],
    slips=lambda v, key: {
        "R": (_joint(v) * _fall_time(v),),
        "v": (v["R"] / _fall_time(v) * (v["m"] + v["n"]) / v["m"],),
    }[key],
    bounds=(0.1, 4),
)  # fmt: skip

_VOLUME = given("V", "the volume of the tank", ("m^3", 1, 0.8, 60, 1), ("L", 1e-3, 400, 9000, 0))
_LIFT = given("h", "the height of the lift", ("m", 1, 3, 45, 1))
_PUMP = given("P", "the electric power of the pump", ("W", 1, 200, 4000, 0), ("kW", 1e3, 0.2, 4, 2))
_SHARE = given("e", "the efficiency of the pump", ("%", 0.01, 40, 85, 0))
_DENSITY_NOTE = f"{G_NOTE} The density of water is 1000 kg/m^3."
_PUMPING = WORDINGS.later("pumping")


def _lifting(v: Values) -> float:
    return _WATER_DENSITY * v["V"] * G * v["h"] / v["e"]


_FILLING = Law(
    (
        result("t", "the time of filling", "s", ("min", 60), ("h", 3600)),
        _VOLUME,
        _LIFT,
        _PUMP,
        _SHARE,
    ),
    _PUMPING,
    {
        "t": lambda v: _lifting(v) / v["P"],
        "V": lambda v: v["t"] * v["P"] * v["e"] / (_WATER_DENSITY * G * v["h"]),
        "e": lambda v: _WATER_DENSITY * v["V"] * G * v["h"] / (v["t"] * v["P"]),
    },
    _DENSITY_NOTE,
    slips=lambda v, key: {
        "t": (_lifting(v) * v["e"] / v["P"], _lifting(v) * v["e"] ** 2 / v["P"]),
        "V": (v["t"] * v["P"] / (_WATER_DENSITY * G * v["h"]),),
        "e": (v["t"] * v["P"] / (_WATER_DENSITY * v["V"] * G * v["h"]),),
    }[key],
    bounds=(120, 90000),
)
_LAWN = Law(
    (
        result("W", "the electric energy that one filling takes", "kWh", ("MJ", 1 / 3.6)),
        _VOLUME,
        _LIFT,
        _SHARE,
        given("p", "the share of the water that leaks back on the way", ("%", 0.01, 2, 20, 0)),
    ),
    _PUMPING,
    {
        "W": lambda v: _lifting(v) / (1 - v["p"]) / 3.6e6,
        "V": lambda v: v["W"] * 3.6e6 * v["e"] * (1 - v["p"]) / (_WATER_DENSITY * G * v["h"]),
        "e": lambda v: _WATER_DENSITY * v["V"] * G * v["h"] / (1 - v["p"]) / (v["W"] * 3.6e6),
    },
    f"{_DENSITY_NOTE} What leaks back has been lifted to the full height.",
    slips=lambda v, key: {
        "W": (_lifting(v) / 3.6e6, _lifting(v) * (1 + v["p"]) / 3.6e6),
        "V": (v["W"] * 3.6e6 * v["e"] / (_WATER_DENSITY * G * v["h"]),),
        "e": (_WATER_DENSITY * v["V"] * G * v["h"] / (v["W"] * 3.6e6),),
    }[key],
    bounds=(0.02, 60),
)

_RADIUS = given("r", "the radius of the loop", ("m", 1, 0.15, 1.2, 2), ("cm", 1e-2, 15, 120, 0))
_CART = given("m", "the mass of the cart", ("kg", 1, 0.1, 3, 2), ("g", 1e-3, 80, 900, 0))
_LOOPED = Law(
    (
        result("N", "the force of the track on the cart at the top of the loop", "N"),
        _CART,
        _RADIUS,
        given("h", "the height of the start above the lowest point", ("m", 1, 0.5, 6, 2), ("cm", 1e-2, 50, 600, 0)),
    ),
    WORDINGS.later('looped'),
    {
        "N": lambda v: v["m"] * G * (2 * v["h"] / v["r"] - 5),
        "h": lambda v: v["r"] / 2 * (v["N"] / (v["m"] * G) + 5),
        "m": lambda v: v["N"] / (G * (2 * v["h"] / v["r"] - 5)),
    },
    G_NOTE,
    check=lambda v: 3.2 < v["h"] / v["r"] < 9,
    slips=lambda v, key: {
        "N": (v["m"] * G * (2 * v["h"] / v["r"] - 4), v["m"] * G * (2 * v["h"] / v["r"] - 3)),
        "h": (v["r"] / 2 * (v["N"] / (v["m"] * G) + 4), v["r"] / 2 * (v["N"] / (v["m"] * G) + 1)),
        "m": (v["N"] / (G * (2 * v["h"] / v["r"] - 4)),),
    }[key],
)  # fmt: skip
_SPRUNG_LOOP = Law(
    (
        result("N", "the force of the track on the cart at the top of the loop", "N"),
        _CART,
        _RADIUS,
        _STIFFNESS,
        given("x", "the compression of the spring", ("m", 1, 0.03, 0.25, 3), ("cm", 1e-2, 3, 25, 1)),
    ),
    WORDINGS.later('sprung loop'),
    {
        "N": lambda v: v["k"] * v["x"] ** 2 / v["r"] - 5 * v["m"] * G,
        "k": lambda v: v["r"] * (v["N"] + 5 * v["m"] * G) / v["x"] ** 2,
        "x": lambda v: math.sqrt(v["r"] * (v["N"] + 5 * v["m"] * G) / v["k"]),
    },
    G_NOTE,
    check=lambda v: 6 * v["m"] * G < v["k"] * v["x"] ** 2 / v["r"] < 25 * v["m"] * G,
    slips=lambda v, key: {
        "N": (v["k"] * v["x"] ** 2 / v["r"] - v["m"] * G, v["k"] * v["x"] ** 2 / v["r"] - 4 * v["m"] * G),
        "k": (v["r"] * (v["N"] + v["m"] * G) / v["x"] ** 2,),
        "x": (math.sqrt(v["r"] * (v["N"] + v["m"] * G) / v["k"]),),
    }[key],
)  # fmt: skip

FAMILIES = (
    law_family("mechanics_slide_into_spring", _SMOOTH_SLIDE, _ROUGH_SLIDE),
    law_family("mechanics_spring_shot", _SHOT, _ROUGH_SHOT),
    law_family("mechanics_bullet_and_slide", _SLID, _SLID_OFF),
    law_family("mechanics_filling_a_tank", _FILLING, _LAWN),
    law_family("mechanics_loop", _LOOPED, _SPRUNG_LOOP),
)
