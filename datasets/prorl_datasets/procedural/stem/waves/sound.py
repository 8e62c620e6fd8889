"""Problems on sound."""
# Source: Halliday, Resnick, Walker, chapter 17.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


KMH = 1 / 3.6
_SOUND = given("c", "the speed of sound", ("m/s", 1, 325, 350, 0), ("km/s", 1e3, 0.325, 0.35, 3))
_SIREN = given("f", "the frequency of the source", ("Hz", 1, 200, 950, 0), ("kHz", 1e3, 0.3, 4, 2))
_MOVING = given("s", "the speed of the source", ("m/s", 1, 8, 60, 1), ("km/h", KMH, 40, 220, 0))


def _toward(v: Values) -> float:
    return v["f"] * v["c"] / (v["c"] - v["s"])


_APPROACH = Law(
    (result("F", "the frequency that is heard", "Hz", ("kHz", 1e3)), _SIREN, _MOVING, _SOUND),
    WORDINGS.later("approach"),
    {"F": _toward, "f": lambda v: v["F"] * (v["c"] - v["s"]) / v["c"]},
    slips=lambda v, key: {
        "F": (
            v["f"] * v["c"] / (v["c"] + v["s"]),
            v["f"] * (v["c"] - v["s"]) / v["c"],
            v["f"] * v["s"] / v["c"],
        ),
        "f": (v["F"] * (v["c"] + v["s"]) / v["c"], v["F"] * v["c"] / (v["c"] - v["s"])),
    }[key],
)
_LISTENER = given("o", "the speed of the listener", ("m/s", 1, 5, 40, 1), ("km/h", KMH, 25, 140, 0))
_BOTH = Law(
    (
        result("F", "the frequency that is heard", "Hz", ("kHz", 1e3)),
        _SIREN,
        _MOVING,
        _LISTENER,
        _SOUND,
    ),
    WORDINGS.later("both"),
    {
        "F": lambda v: v["f"] * (v["c"] + v["o"]) / (v["c"] - v["s"]),
        "f": lambda v: v["F"] * (v["c"] - v["s"]) / (v["c"] + v["o"]),
    },
    slips=lambda v, key: {
        "F": (
            v["f"] * (v["c"] - v["o"]) / (v["c"] + v["s"]),
            v["f"] * (v["c"] - v["o"]) / (v["c"] - v["s"]),
            v["f"] * (v["c"] + v["o"]) / (v["c"] + v["s"]),
        ),
        "f": (
            v["F"] * (v["c"] + v["s"]) / (v["c"] - v["o"]),
            v["F"] * (v["c"] + v["o"]) / (v["c"] - v["s"]),
        ),
    }[key],
)
_RADAR = Law(
    (
        result("F", "the frequency of the echo that the bat hears", "kHz", ("Hz", 1e-3)),
        given(
            "f", "the frequency of the call", ("kHz", 1, 25, 95, 1), ("Hz", 1e-3, 25000, 95000, 0)
        ),
        given("s", "the speed of the bat", ("m/s", 1, 4, 20, 1), ("km/h", KMH, 15, 60, 0)),
        _SOUND,
    ),
    WORDINGS.later("radar"),
    {
        "F": lambda v: v["f"] * (v["c"] + v["s"]) / (v["c"] - v["s"]),
        "s": lambda v: v["c"] * (v["F"] - v["f"]) / (v["F"] + v["f"]),
    },
    check=lambda v: v["s"] > 0.03 * v["c"],
    slips=lambda v, key: {
        "F": (
            v["f"] * (v["c"] - v["s"]) / (v["c"] + v["s"]),
            v["f"] * v["c"] / (v["c"] - v["s"]),
            2 * v["f"] * v["c"] / (v["c"] - v["s"]),
        ),
        "s": (v["c"] * (v["F"] - v["f"]) / v["f"], v["c"] * (v["F"] - v["f"]) / (2 * v["F"])),
    }[key],
)
_I0 = "The reference intensity is $10^{-12}$ W/m^2."
_LEVEL = Law(
    (
        result("L", "the sound level", "dB"),
        given("I", "the sound intensity in units of $10^{-6}$ W/m^2", ("", 1e-6, 0.05, 900, 2)),
    ),
    WORDINGS.later("level"),
    {"L": lambda v: 10 * math.log10(v["I"] / 1e-12), "I": lambda v: 1e-12 * 10 ** (v["L"] / 10)},
    _I0,
    slips=lambda v, key: {
        "L": (
            math.log10(v["I"] / 1e-12),
            20 * math.log10(v["I"] / 1e-12),
            10 * math.log(v["I"] / 1e-12),
        ),
        "I": (1e-12 * 10 ** (v["L"] / 20), 1e-12 * math.exp(v["L"] / 10)),
    }[key],
)
_FARTHER = Law(
    (
        result("M", "the sound level at the second point", "dB"),
        given("L", "the sound level at the first point", ("dB", 1, 55, 120, 1)),
        given(
            "r",
            "the distance of the first point from the source",
            ("m", 1, 1, 40, 1),
            ("cm", 1e-2, 80, 950, 0),
        ),
        given(
            "s",
            "the distance of the second point from the source",
            ("m", 1, 5, 400, 1),
            ("km", 1e3, 0.01, 0.6, 3),
        ),
    ),
    WORDINGS.later("farther"),
    {
        "M": lambda v: v["L"] - 20 * math.log10(v["s"] / v["r"]),
        "s": lambda v: v["r"] * 10 ** ((v["L"] - v["M"]) / 20),
        "r": lambda v: v["s"] / 10 ** ((v["L"] - v["M"]) / 20),
    },
    check=lambda v: 1.5 * v["r"] < v["s"] and v["L"] - 20 * math.log10(v["s"] / v["r"]) > 30,
    slips=lambda v, key: {
        "M": (
            v["L"] - 10 * math.log10(v["s"] / v["r"]),
            v["L"] + 20 * math.log10(v["s"] / v["r"]),
            v["L"] * (v["r"] / v["s"]) ** 2,
            v["L"] - 20 * math.log(v["s"] / v["r"]),
        ),
        "s": (v["r"] * 10 ** ((v["L"] - v["M"]) / 10), v["r"] * math.sqrt(v["L"] / v["M"])),
        "r": (v["s"] / 10 ** ((v["L"] - v["M"]) / 10), v["s"] * math.sqrt(v["M"] / v["L"])),
    }[key],
)


def _spread(v: Values) -> float:
    return 10 * math.log10(v["n"] * v["P"] / (4 * math.pi * v["r"] ** 2 * 1e-12))


_MANY = Law(
    (
        result("L", "the sound level there", "dB"),
        given("n", "the number of sources", ("", 1, 2, 12, 0)),
        given(
            "P", "the sound power of each source", ("mW", 1e-3, 0.5, 90, 1), ("W", 1, 0.001, 0.5, 3)
        ),
        given("r", "the distance", ("m", 1, 2, 80, 1), ("km", 1e3, 0.01, 0.3, 3)),
    ),
    WORDINGS.later("many"),
    {
        "L": _spread,
        "r": lambda v: math.sqrt(v["n"] * v["P"] / (4 * math.pi * 1e-12 * 10 ** (v["L"] / 10))),
    },
    _I0,
    slips=lambda v, key: {
        "L": (
            _spread({**v, "n": 1}),
            v["n"] * _spread({**v, "n": 1}),
            10 * math.log10(v["n"] * v["P"] / (v["r"] * 1e-12)),
        ),
        "r": (
            math.sqrt(v["P"] / (4 * math.pi * 1e-12 * 10 ** (v["L"] / 10))),
            math.sqrt(v["n"] * v["P"] / (1e-12 * 10 ** (v["L"] / 10))),
            math.sqrt(v["n"] * v["P"] / (4 * math.pi * 1e-12 * 10 ** (v["L"] / 20))),
        ),
    }[key],
)
_TONES = WORDINGS.later("tones")
_HIGH = given("a", "the frequency of the higher tone", ("Hz", 1, 256, 480, 1))
_LOW = given("b", "the frequency of the lower tone", ("Hz", 1, 250, 479, 1))
_BEATS = Law(
    (result("f", "the beat frequency", "Hz"), _HIGH, _LOW),
    _TONES,
    {
        "f": lambda v: v["a"] - v["b"],
        "a": lambda v: v["b"] + v["f"],
        "b": lambda v: v["a"] - v["f"],
    },
    check=lambda v: 1 < v["a"] - v["b"] < 16,
    slips=lambda v, key: {
        "f": ((v["a"] - v["b"]) / 2, (v["a"] + v["b"]) / 2),
        "a": (v["b"] + 2 * v["f"], v["b"] - v["f"]),
        "b": (v["a"] - 2 * v["f"], v["a"] + v["f"]),
    }[key],
)
_DETUNED = Law(
    (
        result("f", "the beat frequency", "Hz"),
        given("a", "the common frequency before", ("Hz", 1, 110, 480, 1)),
        given("p", "the increase of the tension", ("%", 0.01, 0.5, 6, 2)),
    ),
    WORDINGS.later("detuned"),
    {
        "f": lambda v: v["a"] * (math.sqrt(1 + v["p"]) - 1),
        "a": lambda v: v["f"] / (math.sqrt(1 + v["p"]) - 1),
    },
    slips=lambda v, key: {
        "f": (v["a"] * v["p"], v["a"] * ((1 + v["p"]) ** 2 - 1), v["a"] * math.sqrt(v["p"])),
        "a": (v["f"] / v["p"], v["f"] / math.sqrt(v["p"])),
    }[key],
)
_SONAR = power_law(
    (
        result("d", "the distance of the obstacle", "m", ("km", 1e3), ("cm", 1e-2)),
        given(
            "v",
            "the speed of sound in the water",
            ("m/s", 1, 1410, 1560, 0),
            ("km/s", 1e3, 1.41, 1.56, 3),
        ),
        given(
            "t", "the time until the echo returns", ("s", 1, 0.05, 4, 3), ("ms", 1e-3, 20, 950, 0)
        ),
    ),
    {"v": 1, "t": 1},
    WORDINGS.later("sonar"),
    0.5,
)
_WELL = Law(
    (
        result("t", "the time from letting go to hearing the splash", "s", ("ms", 1e-3)),
        given(
            "h", "the depth of the water surface", ("m", 1, 6, 120, 1), ("cm", 1e-2, 600, 9500, 0)
        ),
        _SOUND,
    ),
    WORDINGS.later("well"),
    {"t": lambda v: math.sqrt(2 * v["h"] / 9.81) + v["h"] / v["c"]},
    "Take g = 9.81 m/s^2.",
    slips=lambda v, key: (
        math.sqrt(2 * v["h"] / 9.81),
        v["h"] / v["c"],
        math.sqrt(v["h"] / 9.81) + v["h"] / v["c"],
        2 * math.sqrt(2 * v["h"] / 9.81),
    ),
)

FAMILIES = (
    law_family("waves_doppler", _APPROACH, (_BOTH, _RADAR)),
    law_family("waves_decibel", _LEVEL, _MANY, _FARTHER),
    law_family("waves_beats", _BEATS, _DETUNED),
    law_family("waves_echo", _SONAR, _WELL),
)
