"""Problems on photons and matter waves."""
# Source: Halliday, Resnick, Walker, chapter 38.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


H, C, E, ME = 6.626e-34, 2.998e8, 1.602e-19, 9.109e-31
_H = "Take h = $6.626 \\times 10^{-34}$ J s"
_CE = "c = $2.998 \\times 10^{8}$ m/s"
_EE = "e = $1.602 \\times 10^{-19}$ C"
_MASS = "$9.109 \\times 10^{-31}$ kg for the electron's mass"
_HC = f"{_H} and {_CE}."
_HCE = f"{_H}, {_CE} and {_EE}."
_LIGHT = given("l", "the wavelength", ("nm", 1e-9, 150, 1600, 1), ("µm", 1e-6, 0.2, 30, 2))
_PHOTON = power_law(
    (result("E", "the energy of one photon", "J", ("eV", E), ("meV", E * 1e-3)), _LIGHT),
    {"l": -1},
    WORDINGS.later("photon"),
    H * C,
    _HCE,
)
_BEAM = power_law(
    (
        result("N", "the number of photons per second", ""),
        given("P", "the power of the light", ("mW", 1e-3, 0.2, 90, 1), ("W", 1, 0.01, 4, 2)),
        _LIGHT,
    ),
    {"P": 1, "l": 1},
    WORDINGS.later("beam"),
    1 / (H * C),
    _HC,
)
_PHOTO = Law(
    (
        result("K", "the greatest kinetic energy of the electrons", "eV", ("J", 1 / E)),
        given("l", "the wavelength", ("nm", 1e-9, 110, 420, 0), ("µm", 1e-6, 0.11, 0.42, 3)),
        given("W", "the work function", ("eV", 1, 1.9, 5.4, 2)),
    ),
    WORDINGS.later("photo"),
    {
        "K": lambda v: H * C / (v["l"] * E) - v["W"],
        "W": lambda v: H * C / (v["l"] * E) - v["K"],
        "l": lambda v: H * C / (E * (v["K"] + v["W"])),
    },
    _HCE,
    check=lambda v: H * C / (v["l"] * E) > 1.25 * v["W"],
    slips=lambda v, key: {
        "K": (H * C / (v["l"] * E), H * C / (v["l"] * E) + v["W"], v["W"]),
        "W": (H * C / (v["l"] * E), H * C / (v["l"] * E) + v["K"], v["K"]),
        "l": (H * C / (E * v["W"]), H * C / (E * v["K"])),
    }[key],
)
_STOPPING = Law(
    (
        result("v", "the speed of the fastest electrons", "km/s", ("m/s", 1e-3)),
        *_PHOTO.quantities[1:],
    ),
    _PHOTO.scenes,
    {"v": lambda v: math.sqrt(2 * E * _PHOTO.solve["K"](v) / ME) / 1e3},
    f"{_H}, {_CE}, {_EE} and {_MASS}.",
    check=_PHOTO.check,
    slips=lambda v, key: (
        math.sqrt(2 * H * C / (v["l"] * ME)) / 1e3,
        math.sqrt(E * _PHOTO.solve["K"](v) / ME) / 1e3,
        math.sqrt(2 * E * v["W"] / ME) / 1e3,
    ),
)
_MATTER = power_law(
    (
        result("l", "the de Broglie wavelength", "nm", ("pm", 1e-3), ("m", 1e9)),
        given(
            "v",
            "the speed of the electron",
            ("km/s", 1e3, 200, 15000, 0),
            ("m/s", 1, 200000, 9000000, 0),
        ),
    ),
    {"v": -1},
    WORDINGS.later("matter"),
    H / ME * 1e9,
    f"{_H} and {_MASS}.",
)
_GUN = power_law(
    (
        result("l", "the de Broglie wavelength behind the anode", "pm", ("nm", 1e3), ("m", 1e12)),
        given("U", "the accelerating voltage", ("V", 1, 20, 4000, 1), ("kV", 1e3, 0.2, 5, 3)),
    ),
    {"U": -0.5},
    WORDINGS.later("gun"),
    H / math.sqrt(2 * ME * E) * 1e12,
    f"{_H}, {_EE} and {_MASS}.",
)

FAMILIES = (
    law_family("waves_photon", _PHOTON, _BEAM),
    law_family("waves_photoelectric", _PHOTO, _STOPPING),
    law_family("waves_matter", _MATTER, _GUN),
)
