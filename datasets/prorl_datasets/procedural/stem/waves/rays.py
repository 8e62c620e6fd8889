"""Problems on lenses and refraction."""
# Source: Halliday, Resnick, Walker, chapters 33 and 34.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_FOCAL = given("f", "the focal length", ("cm", 1, 4, 60, 1), ("mm", 0.1, 35, 300, 0))
_OBJECT = given(
    "g", "the distance of the object from the lens", ("cm", 1, 6, 300, 1), ("m", 100, 0.1, 4, 2)
)
_LENSES = WORDINGS.later("lenses")
_LENS = Law(
    (
        result("b", "the distance of the image from the lens", "cm", ("m", 100), ("mm", 0.1)),
        _FOCAL,
        _OBJECT,
    ),
    _LENSES,
    {
        "b": lambda v: v["f"] * v["g"] / (v["g"] - v["f"]),
        "f": lambda v: v["b"] * v["g"] / (v["b"] + v["g"]),
        "g": lambda v: v["f"] * v["b"] / (v["b"] - v["f"]),
    },
    check=lambda v: 1.15 < v["g"] / v["f"] < 7,
    slips=lambda v, key: {
        "b": (v["f"] * v["g"] / (v["g"] + v["f"]), v["g"] - v["f"], 1 / v["f"] - 1 / v["g"]),
        "f": (
            v["b"] + v["g"],
            abs(v["b"] * v["g"] / (v["b"] - v["g"] + 1e-6)),
            1 / v["b"] + 1 / v["g"],
        ),
        "g": (v["f"] * v["b"] / (v["b"] + v["f"]), v["b"] - v["f"]),
    }[key],
)
_IMAGE_SIZE = Law(
    (
        result("B", "the height of the image", "mm", ("cm", 10), ("m", 1e3)),
        given("G", "the height of the object", ("mm", 1, 8, 300, 0), ("cm", 10, 1, 60, 1)),
        _FOCAL,
        _OBJECT,
    ),
    _LENSES,
    {
        "B": lambda v: v["G"] * v["f"] / (v["g"] - v["f"]),
        "G": lambda v: v["B"] * (v["g"] - v["f"]) / v["f"],
        "g": lambda v: v["f"] * (1 + v["G"] / v["B"]),
    },
    check=lambda v: 1.2 < v["g"] / v["f"] < 8,
    slips=lambda v, key: {
        "B": (
            v["G"] * v["f"] / v["g"],
            v["G"] * v["f"] / (v["g"] + v["f"]),
            v["G"] * v["g"] / v["f"],
        ),
        "G": (v["B"] * v["g"] / v["f"], v["B"] * v["f"] / (v["g"] - v["f"])),
        "g": (v["f"] * v["G"] / v["B"], v["f"] * (1 + v["B"] / v["G"])),
    }[key],
)


def _second(v: Values) -> float:
    return v["e"] - v["f"] * v["g"] / (v["g"] - v["f"])


_TWO_LENSES = Law(
    (
        result(
            "b",
            "the distance of the final image from the second lens",
            "cm",
            ("m", 100),
            ("mm", 0.1),
        ),
        _OBJECT,
        given(
            "f", "the focal length of the first lens", ("cm", 1, 4, 40, 1), ("mm", 0.1, 40, 300, 0)
        ),
        given("h", "the focal length of the second lens", ("cm", 1, 3, 30, 1)),
        given(
            "e", "the distance of the two lenses", ("cm", 1, 20, 160, 1), ("m", 100, 0.2, 1.6, 2)
        ),
    ),
    WORDINGS.later("two lenses"),
    {"b": lambda v: v["h"] * _second(v) / (_second(v) - v["h"])},
    check=lambda v: 1.2 < v["g"] / v["f"] < 6 and 1.25 < _second(v) / v["h"] < 8,
    slips=lambda v, key: (
        v["h"] * v["e"] / (v["e"] - v["h"]),
        v["f"] * v["g"] / (v["g"] - v["f"]),
        v["h"] * _second(v) / (_second(v) + v["h"]),
    ),
)
_IN = given("a", "the angle of incidence (from the normal)", ("degrees", 1, 8, 75, 1))
_N1 = given("n", "the refractive index of the first medium", ("", 1, 1, 1.6, 3))
_N2 = given("m", "the refractive index of the second medium", ("", 1, 1.2, 2.4, 3))


def _sin_out(v: Values) -> float:
    return v["n"] * math.sin(math.radians(v["a"])) / v["m"]


_SNELL = Law(
    (result("b", "the angle of refraction (from the normal)", "degrees"), _IN, _N1, _N2),
    WORDINGS.later("snell"),
    {
        "b": lambda v: math.degrees(math.asin(_sin_out(v))),
        "m": lambda v: v["n"] * math.sin(math.radians(v["a"])) / math.sin(math.radians(v["b"])),
        "n": lambda v: v["m"] * math.sin(math.radians(v["b"])) / math.sin(math.radians(v["a"])),
        "a": lambda v: math.degrees(math.asin(v["m"] * math.sin(math.radians(v["b"])) / v["n"])),
    },
    check=lambda v: v["m"] > 1.1 * v["n"],
    slips=lambda v, key: {
        "b": (v["a"] * v["n"] / v["m"], v["a"] * v["m"] / v["n"], 90 - v["b"]),
        "m": (v["n"] * v["a"] / v["b"], v["n"] ** 2 / v["m"]),
        "n": (v["m"] * v["b"] / v["a"], v["m"] ** 2 / v["n"]),
        "a": (v["b"] * v["m"] / v["n"], v["b"] * v["n"] / v["m"], 90 - v["a"]),
    }[key],
)
_SHIFT = Law(
    (
        result("s", "the sideways shift of the ray", "mm", ("cm", 10), ("µm", 1e-3)),
        given("d", "the thickness of the plate", ("mm", 1, 2, 80, 1), ("cm", 10, 0.3, 9, 2)),
        given("a", "the angle of incidence (from the normal)", ("degrees", 1, 20, 70, 1)),
        given("m", "the refractive index of the plate", ("", 1, 1.3, 1.9, 2)),
    ),
    WORDINGS.later("shift"),
    {
        "s": lambda v: (
            v["d"]
            * math.sin(math.radians(v["a"]) - math.asin(math.sin(math.radians(v["a"])) / v["m"]))
            / math.cos(math.asin(math.sin(math.radians(v["a"])) / v["m"]))
        )
    },
    "Take 1 for the refractive index of air.",
    slips=lambda v, key: (
        v["d"] * math.tan(math.asin(math.sin(math.radians(v["a"])) / v["m"])),
        v["d"]
        * math.sin(math.radians(v["a"]) - math.asin(math.sin(math.radians(v["a"])) / v["m"])),
        v["d"] * math.sin(math.radians(v["a"])),
    ),
)
_POOL = Law(
    (
        result(
            "r",
            "the radius of the round patch of the surface through which light leaves",
            "m",
            ("cm", 1e-2),
        ),
        given("h", "the depth of the lamp", ("m", 1, 0.3, 9, 2), ("cm", 1e-2, 20, 900, 0)),
        given("m", "the refractive index of the liquid", ("", 1, 1.25, 1.7, 2)),
    ),
    WORDINGS.later("pool"),
    {
        "r": lambda v: v["h"] / math.sqrt(v["m"] ** 2 - 1),
        "h": lambda v: v["r"] * math.sqrt(v["m"] ** 2 - 1),
        "m": lambda v: math.hypot(1, v["h"] / v["r"]),
    },
    "Take 1 for the refractive index of air.",
    slips=lambda v, key: {
        "r": (v["h"] / v["m"], v["h"] * math.sqrt(v["m"] ** 2 - 1), v["h"] * v["m"]),
        "h": (v["r"] * v["m"], v["r"] / math.sqrt(v["m"] ** 2 - 1)),
        "m": (v["h"] / v["r"], math.sqrt(abs((v["h"] / v["r"]) ** 2 - 1)) + 1e-9),
    }[key],
)

FAMILIES = (
    law_family("waves_lens", _LENS, (_IMAGE_SIZE, _TWO_LENSES)),
    law_family("waves_refraction", _SNELL, (_SHIFT, _POOL)),
)
