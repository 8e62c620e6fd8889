"""Problems on running and standing waves."""
# Source: Halliday, Resnick, Walker, chapters 16 and 17.

from __future__ import annotations

from prorl_datasets.procedural.stem.laws import Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


KMH = 1 / 3.6
_SOUND = given("c", "the speed of sound", ("m/s", 1, 325, 350, 0), ("km/s", 1e3, 0.325, 0.35, 3))
_WAVES = WORDINGS.later("waves")
_WAVE = power_law(
    (
        result("v", "the speed of the wave", "m/s", ("km/h", KMH), ("cm/s", 1e-2)),
        given("f", "the frequency", ("Hz", 1, 2, 900, 0), ("kHz", 1e3, 0.1, 2, 2)),
        given("l", "the wavelength", ("m", 1, 0.02, 3, 2), ("cm", 1e-2, 2, 300, 0)),
    ),
    {"f": 1, "l": 1},
    _WAVES,
    bounds=(1, 400),
)
_CRESTS = power_law(
    (
        result("t", "the time that one crest needs for the way", "s", ("min", 60), ("ms", 1e-3)),
        given("d", "the length of the way", ("m", 1, 5, 400, 0), ("km", 1e3, 0.05, 2, 2)),
        given("T", "the period", ("s", 1, 0.5, 12, 2), ("ms", 1e-3, 300, 950, 0)),
        given(
            "l",
            "the distance between neighbouring crests",
            ("m", 1, 0.5, 60, 1),
            ("cm", 1e-2, 30, 950, 0),
        ),
    ),
    {"d": 1, "T": 1, "l": -1},
    WORDINGS.later("crests"),
)
_MODE = given("n", "the number of the harmonic", ("", 1, 1, 6, 0))
_STRING_L = given("L", "the length of the string", ("m", 1, 0.25, 2.5, 3), ("cm", 1e-2, 25, 250, 1))
_STRINGS = WORDINGS.later("strings")
_STRING = power_law(
    (
        result("f", "the frequency", "Hz", ("kHz", 1e3)),
        _MODE,
        given(
            "v",
            "the speed of waves on the string",
            ("m/s", 1, 40, 500, 0),
            ("km/s", 1e3, 0.05, 0.5, 3),
        ),
        _STRING_L,
    ),
    {"n": 1, "v": 1, "L": -1},
    _STRINGS,
    0.5,
)
_TENSE = power_law(
    (
        result("f", "the frequency", "Hz", ("kHz", 1e3)),
        _MODE,
        _STRING_L,
        given("F", "the tension", ("N", 1, 20, 400, 0), ("kN", 1e3, 0.02, 0.9, 3)),
        given("m", "the mass of the string", ("g", 1e-3, 0.8, 30, 1), ("kg", 1, 0.001, 0.03, 4)),
    ),
    {"n": 1, "F": 0.5, "L": -0.5, "m": -0.5},
    _STRINGS,
    0.5,
)
_TUBE = given("L", "the length of the air column", ("m", 1, 0.15, 3, 3), ("cm", 1e-2, 15, 300, 1))
_OPEN_PIPE = power_law(
    (result("f", "the fundamental frequency", "Hz", ("kHz", 1e3)), _SOUND, _TUBE),
    {"c": 1, "L": -1},
    WORDINGS.later("open pipe"),
    0.5,
)
_STOPPED = Law(
    (
        result("f", "the frequency of that overtone", "Hz", ("kHz", 1e3)),
        given("k", "the number of the overtone above the fundamental", ("", 1, 1, 5, 0)),
        _SOUND,
        _TUBE,
    ),
    WORDINGS.later("stopped"),
    {
        "f": lambda v: (2 * v["k"] + 1) * v["c"] / (4 * v["L"]),
        "L": lambda v: (2 * v["k"] + 1) * v["c"] / (4 * v["f"]),
    },
    slips=lambda v, key: {
        "f": (
            (2 * v["k"] - 1) * v["c"] / (4 * v["L"]),
            (v["k"] + 1) * v["c"] / (2 * v["L"]),
            (2 * v["k"] + 1) * v["c"] / (2 * v["L"]),
            (v["k"] + 1) * v["c"] / (4 * v["L"]),
        ),
        "L": (
            (2 * v["k"] - 1) * v["c"] / (4 * v["f"]),
            (v["k"] + 1) * v["c"] / (2 * v["f"]),
            (2 * v["k"] + 1) * v["c"] / (2 * v["f"]),
        ),
    }[key],
)

FAMILIES = (
    law_family("waves_speed", _WAVE, _CRESTS),
    law_family("waves_string", _STRING, _TENSE),
    law_family("waves_pipe", _OPEN_PIPE, _STOPPED),
)
