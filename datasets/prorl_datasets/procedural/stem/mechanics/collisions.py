"""Problems on collisions, the ballistic pendulum and recoil."""
# Source: Halliday, Resnick, Walker, chapter 9.

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
_M1 = given("m", "the mass of the first cart", ("kg", 1, 0.3, 6, 2), ("g", 1e-3, 150, 2500, 0))
_M2 = given("n", "the mass of the second cart", ("kg", 1, 0.3, 6, 2), ("g", 1e-3, 150, 2500, 0))
_U1 = given(
    "u", "the speed of the first cart before", ("m/s", 1, 1, 8, 2), ("cm/s", 1e-2, 60, 500, 0)
)
_U2 = given(
    "w", "the speed of the second cart before", ("m/s", 1, 0.3, 4, 2), ("cm/s", 1e-2, 20, 300, 0)
)
_HOOKED = WORDINGS.later("hooked")
_CHASE = WORDINGS.later("chase")


def _joint(v: Values) -> float:
    return (v["m"] * v["u"] + v["n"] * v["w"]) / (v["m"] + v["n"])


_STUCK = Law(
    (result("v", "the common speed afterwards", "m/s", ("cm/s", 1e-2)), _M1, _U1, _M2),
    _HOOKED,
    {
        "v": lambda v: v["m"] * v["u"] / (v["m"] + v["n"]),
        "u": lambda v: v["v"] * (v["m"] + v["n"]) / v["m"],
        "n": lambda v: v["m"] * (v["u"] / v["v"] - 1),
        "m": lambda v: v["n"] * v["v"] / (v["u"] - v["v"]),
    },
    check=lambda v: 0.25 < v["m"] / v["n"] < 4,
    slips=lambda v, key: {
        "v": (v["m"] * v["u"] / v["n"], v["u"] * math.sqrt(v["m"] / (v["m"] + v["n"])), v["u"] / 2),
        "u": (v["v"] * v["n"] / v["m"], v["v"] * math.sqrt((v["m"] + v["n"]) / v["m"])),
        "n": (v["m"] * v["u"] / v["v"], v["m"] * ((v["u"] / v["v"]) ** 2 - 1)),
        "m": (v["n"] * v["v"] / v["u"], v["n"] * (v["u"] / v["v"] - 1)),
    }[key],
)
_LOSS = Law(
    (result("Q", "the kinetic energy lost", "J", ("mJ", 1e-3)), _M1, _U1, _M2, _U2),
    _CHASE,
    {"Q": lambda v: v["m"] * v["n"] * (v["u"] - v["w"]) ** 2 / (2 * (v["m"] + v["n"]))},
    check=lambda v: v["u"] > 1.5 * v["w"] and 0.25 < v["m"] / v["n"] < 4,
    slips=lambda v, key: (
        0.5 * v["m"] * v["u"] ** 2 + 0.5 * v["n"] * v["w"] ** 2,
        0.5 * (v["m"] + v["n"]) * _joint(v) ** 2,
        v["m"] * v["n"] * (v["u"] + v["w"]) ** 2 / (2 * (v["m"] + v["n"])),
    ),
)
_BULLET = Law(
    (
        result("v", "the speed of the bullet before the impact", "m/s", ("km/h", KMH)),
        given("m", "the mass of the bullet", ("kg", 1, 0.004, 0.03, 4), ("g", 1e-3, 4, 30, 1)),
        given("n", "the mass of the block", ("kg", 1, 0.8, 6, 2), ("g", 1e-3, 800, 6000, 0)),
        given("h", "the rise of the block", ("m", 1, 0.02, 0.3, 3), ("cm", 1e-2, 2, 30, 1)),
    ),
    WORDINGS.later("bullet"),
    {
        "v": lambda v: (v["m"] + v["n"]) / v["m"] * math.sqrt(2 * G * v["h"]),
        "h": lambda v: (v["m"] * v["v"] / (v["m"] + v["n"])) ** 2 / (2 * G),
    },
    G_NOTE,
    check=lambda v: 150 < (v["m"] + v["n"]) / v["m"] * math.sqrt(2 * G * v["h"]) < 900,
    slips=lambda v, key: {
        "v": (
            math.sqrt(2 * G * v["h"]),
            math.sqrt((v["m"] + v["n"]) / v["m"] * 2 * G * v["h"]),
            (v["m"] + v["n"]) / v["m"] * math.sqrt(G * v["h"]),
        ),
        "h": (
            (v["m"] * v["v"] / (v["m"] + v["n"])) ** 2 / G,
            v["m"] * v["v"] ** 2 / (2 * (v["m"] + v["n"]) * G),
        ),
    }[key],
)
_ELASTIC = WORDINGS.later("elastic")
_PUSHED = Law(
    (result("v", "the speed of the second cart afterwards", "m/s", ("cm/s", 1e-2)), _M1, _U1, _M2),
    _ELASTIC,
    {
        "v": lambda v: 2 * v["m"] * v["u"] / (v["m"] + v["n"]),
        "u": lambda v: v["v"] * (v["m"] + v["n"]) / (2 * v["m"]),
        "n": lambda v: v["m"] * (2 * v["u"] / v["v"] - 1),
    },
    check=lambda v: 0.3 < v["m"] / v["n"] < 3,
    slips=lambda v, key: {
        "v": (v["m"] * v["u"] / (v["m"] + v["n"]), v["m"] * v["u"] / v["n"], v["u"]),
        "u": (v["v"] * (v["m"] + v["n"]) / v["m"], v["v"] * v["n"] / v["m"], v["v"]),
        "n": (v["m"] * (v["u"] / v["v"]), v["m"] * 2 * v["u"] / v["v"]),
    }[key],
)
_ELASTIC_BOTH = Law(
    (
        result(
            "v",
            "the velocity of the first cart afterwards (positive in its old direction)",
            "m/s",
            ("cm/s", 1e-2),
        ),
        _M1,
        _U1,
        _M2,
        _U2,
    ),
    WORDINGS.later("elastic both"),
    {"v": lambda v: ((v["m"] - v["n"]) * v["u"] - 2 * v["n"] * v["w"]) / (v["m"] + v["n"])},
    signed=True,
    check=lambda v: (
        abs((v["m"] - v["n"]) * v["u"] - 2 * v["n"] * v["w"]) > 0.1 * (v["m"] + v["n"]) * v["u"]
    ),
    slips=lambda v, key: (
        ((v["m"] - v["n"]) * v["u"] + 2 * v["n"] * v["w"]) / (v["m"] + v["n"]),
        -((v["m"] - v["n"]) * v["u"] - 2 * v["n"] * v["w"]) / (v["m"] + v["n"]),
        (v["m"] * v["u"] - v["n"] * v["w"]) / (v["m"] + v["n"]),
        ((v["n"] - v["m"]) * v["w"] + 2 * v["m"] * v["u"]) / (v["m"] + v["n"]),
    ),
)
_APART = WORDINGS.later("apart")
_ONE = given("m", "the mass of the first", ("kg", 1, 30, 120, 1))
_OTHER = given("n", "the mass of the second", ("kg", 1, 30, 120, 1))
_LEAVES = given(
    "u", "the speed of the first afterwards", ("m/s", 1, 0.3, 4, 2), ("cm/s", 1e-2, 30, 400, 0)
)
_RECOIL = power_law(
    (
        result("w", "the speed of the second afterwards", "m/s", ("cm/s", 1e-2), ("km/h", KMH)),
        _ONE,
        _OTHER,
        _LEAVES,
    ),
    {"m": 1, "u": 1, "n": -1},
    _APART,
)
_RELEASED = Law(
    (
        result("E", "the kinetic energy that both gain together", "J", ("kJ", 1e3)),
        _ONE,
        _OTHER,
        _LEAVES,
    ),
    _APART,
    {
        "E": lambda v: 0.5 * v["m"] * v["u"] ** 2 * (1 + v["m"] / v["n"]),
        "u": lambda v: math.sqrt(2 * v["E"] / (v["m"] * (1 + v["m"] / v["n"]))),
    },
    slips=lambda v, key: {
        "E": (
            0.5 * v["m"] * v["u"] ** 2,
            0.5 * (v["m"] + v["n"]) * v["u"] ** 2,
            0.5 * v["m"] ** 2 * v["u"] ** 2 / v["n"],
        ),
        "u": (math.sqrt(2 * v["E"] / v["m"]), math.sqrt(2 * v["E"] / (v["m"] + v["n"]))),
    }[key],
)

FAMILIES = (
    law_family("mechanics_inelastic_collision", _STUCK, (_LOSS, _BULLET)),
    law_family("mechanics_elastic_collision", _PUSHED, _ELASTIC_BOTH),
    law_family("mechanics_recoil", _RECOIL, _RELEASED),
)
