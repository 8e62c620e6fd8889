"""Problems on interference of light."""
# Source: Halliday, Resnick, Walker, chapters 35 and 36.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_COLOUR = given("l", "the wavelength", ("nm", 1e-9, 405, 700, 0), ("µm", 1e-6, 0.405, 0.7, 3))
_SLITS = given(
    "d", "the distance of the slits", ("mm", 1e-3, 0.08, 0.9, 3), ("µm", 1e-6, 80, 900, 0)
)
_SCREEN = given("D", "the distance of the screen", ("m", 1, 0.6, 5, 2), ("cm", 1e-2, 60, 500, 0))
_YOUNG = WORDINGS.later("young")
_FRINGES = power_law(
    (
        result("y", "the distance of neighbouring bright fringes", "mm", ("cm", 10), ("m", 1e3)),
        _COLOUR,
        _SLITS,
        _SCREEN,
    ),
    {"l": 1, "D": 1, "d": -1},
    _YOUNG,
    1e3,
)
_LIQUID_FRINGE = Law(
    (
        result(
            "y",
            "the distance of that bright fringe from the central one",
            "mm",
            ("cm", 10),
            ("m", 1e3),
        ),
        given("m", "the order of the bright fringe", ("", 1, 2, 7, 0)),
        given(
            "l",
            "the wavelength in a vacuum",
            ("nm", 1e-9, 405, 700, 0),
            ("µm", 1e-6, 0.405, 0.7, 3),
        ),
        _SLITS,
        _SCREEN,
        given("n", "the refractive index of the liquid", ("", 1, 1.2, 1.7, 2)),
    ),
    WORDINGS.later("liquid fringe"),
    {
        "y": lambda v: 1e3 * v["m"] * v["l"] * v["D"] / (v["n"] * v["d"]),
        "l": lambda v: v["y"] * v["n"] * v["d"] / (1e3 * v["m"] * v["D"]),
        "n": lambda v: 1e3 * v["m"] * v["l"] * v["D"] / (v["y"] * v["d"]),
    },
    slips=lambda v, key: {
        "y": (
            1e3 * v["m"] * v["l"] * v["D"] / v["d"],
            1e3 * v["m"] * v["n"] * v["l"] * v["D"] / v["d"],
            1e3 * v["l"] * v["D"] / (v["n"] * v["d"]),
            1e3 * (v["m"] + 0.5) * v["l"] * v["D"] / (v["n"] * v["d"]),
        ),
        "l": (v["y"] * v["d"] / (1e3 * v["m"] * v["D"]), v["y"] * v["n"] * v["d"] / (1e3 * v["D"])),
        "n": (1.0 / v["n"], 1e3 * v["l"] * v["D"] / (v["y"] * v["d"]) + 1),
    }[key],
)
_LINES = given("N", "the number of lines per mm", ("", 1e3, 100, 600, 0))
_ORDER = given("m", "the order", ("", 1, 1, 3, 0))
_GRATINGS = WORDINGS.later("gratings")


def _sine(v: Values) -> float:
    return v["m"] * v["l"] * v["N"]


_GRATING = Law(
    (result("a", "the angle of the bright line to the normal", "degrees"), _ORDER, _COLOUR, _LINES),
    _GRATINGS,
    {
        "a": lambda v: math.degrees(math.asin(_sine(v))),
        "l": lambda v: math.sin(math.radians(v["a"])) / (v["m"] * v["N"]),
        "N": lambda v: math.sin(math.radians(v["a"])) / (v["m"] * v["l"]),
    },
    check=lambda v: 0.05 < _sine(v) < 0.93,
    slips=lambda v, key: {
        "a": (
            math.degrees(math.acos(_sine(v))),
            math.degrees(math.atan(_sine(v))),
            math.degrees(math.asin(_sine(v) / v["m"])),
            math.degrees(_sine(v)),
        ),
        "l": (
            math.cos(math.radians(v["a"])) / (v["m"] * v["N"]),
            math.tan(math.radians(v["a"])) / (v["m"] * v["N"]),
            math.sin(math.radians(v["a"])) / v["N"],
        ),
        "N": (
            math.cos(math.radians(v["a"])) / (v["m"] * v["l"]),
            math.tan(math.radians(v["a"])) / (v["m"] * v["l"]),
        ),
    }[key],
)
_SPOT = Law(
    (
        result("y", "the distance of the spot from the middle of the screen", "m", ("cm", 1e-2)),
        _ORDER,
        _COLOUR,
        _LINES,
        _SCREEN,
    ),
    WORDINGS.later("spot"),
    {
        "y": lambda v: v["D"] * math.tan(math.asin(_sine(v))),
        "l": lambda v: v["y"] / math.hypot(v["y"], v["D"]) / (v["m"] * v["N"]),
    },
    check=lambda v: 0.3 < _sine(v) < 0.85,
    slips=lambda v, key: {
        "y": (
            v["D"] * _sine(v),
            v["D"] * math.cos(math.asin(_sine(v))),
            v["D"] * math.asin(_sine(v)),
        ),
        "l": (v["y"] / (v["D"] * v["m"] * v["N"]), v["y"] / math.hypot(v["y"], v["D"]) / v["N"]),
    }[key],
)

FAMILIES = (
    law_family("waves_double_slit", _FRINGES, _LIQUID_FRINGE),
    law_family("waves_grating", _GRATING, _SPOT),
)
