"""Problems on fluids in motion."""
# Source: Halliday, Resnick, Walker, chapter 14.

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


_WIDE = given("D", "the diameter of the wide part", ("cm", 1, 4, 25, 1), ("m", 100, 0.04, 0.3, 3))
_NARROW = given(
    "d", "the diameter of the narrow part", ("cm", 1, 1, 15, 1), ("mm", 0.1, 10, 150, 0)
)
_SLOW = given("v", "the speed in the wide part", ("m/s", 1, 0.2, 3, 2), ("cm/s", 1e-2, 20, 250, 0))
_PIPES = WORDINGS.later("pipes")


def _narrows(v: Values) -> bool:
    return 1.3 < v["D"] / v["d"] < 4


_FASTER = power_law(
    (result("w", "the speed in the narrow part", "m/s", ("cm/s", 1e-2)), _WIDE, _NARROW, _SLOW),
    {"D": 2, "d": -2, "v": 1},
    _PIPES,
)
_FASTER = Law(
    _FASTER.quantities, _FASTER.scenes, _FASTER.solve, check=_narrows, slips=_FASTER.slips
)
_HOSE = power_law(
    (
        result("t", "the time to fill it", "s", ("min", 60), ("h", 3600)),
        given("V", "the volume to be filled", ("L", 1e-3, 50, 900, 0), ("m^3", 1, 0.1, 9, 2)),
        given("d", "the inner diameter of the hose", ("mm", 1e-3, 9, 40, 1), ("cm", 1e-2, 1, 4, 2)),
        given(
            "v", "the speed of the water in it", ("m/s", 1, 0.4, 4, 2), ("cm/s", 1e-2, 40, 400, 0)
        ),
    ),
    {"V": 1, "d": -2, "v": -1},
    WORDINGS.later("hose"),
    4 / math.pi,
)
_OUTFLOW = power_law(
    (
        result("v", "the speed of the outflow", "m/s", ("cm/s", 1e-2), ("km/h", 1 / 3.6)),
        given(
            "h",
            "the height of the liquid above the hole",
            ("m", 1, 0.2, 12, 3),
            ("cm", 1e-2, 15, 900, 1),
        ),
    ),
    {"h": 0.5},
    WORDINGS.later("outflow"),
    math.sqrt(2 * G),
    G_NOTE,
)
_VENTURI = Law(
    (
        result(
            "p",
            "the fall in pressure from the wide to the narrow part",
            "Pa",
            ("kPa", 1e3),
            ("bar", 1e5),
        ),
        _WIDE,
        _NARROW,
        _SLOW,
    ),
    WORDINGS.later("venturi"),
    {
        "p": lambda v: 500 * v["v"] ** 2 * ((v["D"] / v["d"]) ** 4 - 1),
        "v": lambda v: math.sqrt(v["p"] / (500 * ((v["D"] / v["d"]) ** 4 - 1))),
    },
    check=_narrows,
    slips=lambda v, key: {
        "p": (
            500 * v["v"] ** 2 * (v["D"] / v["d"]) ** 4,
            500 * v["v"] ** 2 * ((v["D"] / v["d"]) ** 2 - 1),
            1000 * v["v"] ** 2 * ((v["D"] / v["d"]) ** 4 - 1),
        ),
        "v": (
            math.sqrt(v["p"] / 500) / (v["D"] / v["d"]) ** 2,
            math.sqrt(v["p"] / (500 * ((v["D"] / v["d"]) ** 2 - 1))),
        ),
    }[key],
)
_JET = Law(
    (
        result(
            "x",
            "the horizontal distance from the tank to where the jet meets the floor",
            "m",
            ("cm", 1e-2),
        ),
        given(
            "h",
            "the height of the water above the hole",
            ("m", 1, 0.3, 6, 2),
            ("cm", 1e-2, 20, 500, 0),
        ),
        given(
            "y",
            "the height of the hole above the floor",
            ("m", 1, 0.2, 5, 2),
            ("cm", 1e-2, 20, 300, 0),
        ),
    ),
    WORDINGS.later("jet"),
    {
        "x": lambda v: 2 * math.sqrt(v["h"] * v["y"]),
        "h": lambda v: v["x"] ** 2 / (4 * v["y"]),
        "y": lambda v: v["x"] ** 2 / (4 * v["h"]),
    },
    G_NOTE,
    slips=lambda v, key: {
        "x": (math.sqrt(v["h"] * v["y"]), math.sqrt(2 * v["h"] * v["y"]), 2 * v["h"]),
        "h": (v["x"] ** 2 / v["y"], v["x"] ** 2 / (2 * v["y"])),
        "y": (v["x"] ** 2 / v["h"], v["x"] ** 2 / (2 * v["h"])),
    }[key],
)

FAMILIES = (
    law_family("mechanics_pipe_flow", _FASTER, _HOSE),
    law_family("mechanics_bernoulli", _OUTFLOW, (_VENTURI, _JET)),
)
