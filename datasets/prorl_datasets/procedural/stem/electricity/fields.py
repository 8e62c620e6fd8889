"""Problems on electric fields and plate capacitors."""
# Source: Halliday, Resnick, Walker, chapters 21 to 25.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


COULOMB = 8.988e9
_K = "Take k = $8.988 \\times 10^{9}$ N m^2/C^2."
_E0 = "Take $8.854 \\times 10^{-12}$ F/m for the electric constant."
_ION = "Take e = $1.602 \\times 10^{-19}$ C and u = $1.661 \\times 10^{-27}$ kg."
E_BY_U = 1.602e-19 / 1.661e-27
_Q1 = given("q", "the first charge", ("µC", 1e-6, 0.2, 9, 2), ("nC", 1e-9, 50, 950, 0))
_Q2 = given("Q", "the second charge", ("µC", 1e-6, 0.2, 9, 2), ("nC", 1e-9, 50, 950, 0))
_APART = given("r", "the distance between them", ("m", 1, 0.05, 2, 2), ("cm", 1e-2, 4, 150, 1))
_FORCE = power_law(
    (result("F", "the force between them", "N", ("mN", 1e-3)), _Q1, _Q2, _APART),
    {"q": 1, "Q": 1, "r": -2},
    WORDINGS.later("force"),
    COULOMB,
    _K,
)


def _outer(v: Values) -> float:
    return COULOMB * v["p"] * (v["q"] / v["a"] ** 2 - v["Q"] / v["b"] ** 2)


_BETWEEN = Law(
    (
        result("F", "the size of the total force on the third charge", "N", ("mN", 1e-3)),
        _Q1,
        _Q2,
        given("p", "the third charge", ("µC", 1e-6, 0.2, 6, 2)),
        given(
            "a",
            "the distance of the third charge from the first",
            ("m", 1, 0.1, 1, 2),
            ("cm", 1e-2, 8, 100, 0),
        ),
        given(
            "b",
            "the distance of the third charge from the second",
            ("m", 1, 0.1, 1, 2),
            ("cm", 1e-2, 8, 100, 0),
        ),
    ),
    WORDINGS.later("between"),
    {"F": lambda v: abs(_outer(v))},
    _K,
    check=lambda v: abs(_outer(v)) > 0.15 * COULOMB * v["p"] * v["q"] / v["a"] ** 2,
    slips=lambda v, key: (
        COULOMB * v["p"] * (v["q"] / v["a"] ** 2 + v["Q"] / v["b"] ** 2),
        COULOMB * v["p"] * v["q"] / v["a"] ** 2,
        COULOMB * v["p"] * v["Q"] / v["b"] ** 2,
    ),
)
_POINT = given("q", "the charge", ("µC", 1e-6, 0.1, 9, 2), ("nC", 1e-9, 10, 950, 0))
_FIELD = power_law(
    (
        result("E", "the electric field strength", "N/C", ("kN/C", 1e3), ("V/m", 1)),
        _POINT,
        given("r", "the distance from its centre", ("m", 1, 0.1, 3, 2), ("cm", 1e-2, 8, 250, 0)),
    ),
    {"q": 1, "r": -2},
    WORDINGS.later("field"),
    COULOMB,
    _K,
)
_ACCELERATED = power_law(
    (
        result("v", "the final speed", "km/s", ("m/s", 1e-3)),
        given("U", "the accelerating voltage", ("V", 1, 100, 9000, 0), ("kV", 1e3, 0.5, 12, 2)),
        given("m", "the mass of the ion in u", ("", 1, 4, 220, 1)),
    ),
    {"U": 0.5, "m": -0.5},
    WORDINGS.later("accelerated"),
    math.sqrt(2 * E_BY_U) / 1e3,
    _ION,
)
_PLATES = given(
    "d", "the distance of the plates", ("mm", 1e-3, 0.1, 5, 2), ("µm", 1e-6, 50, 900, 0)
)
_PLATE_AREA = given(
    "A", "the area of one plate", ("m^2", 1, 0.01, 0.9, 3), ("cm^2", 1e-4, 20, 900, 0)
)
_FILLING = given("e", "the relative permittivity of the filling", ("", 1, 1.5, 9, 2))
_PLATE_SCENES = WORDINGS.later("plate scenes")
_PLATE = power_law(
    (
        result("C", "the capacitance", "nF", ("pF", 1e-3), ("F", 1e9)),
        _FILLING,
        _PLATE_AREA,
        _PLATES,
    ),
    {"e": 1, "A": 1, "d": -1},
    _PLATE_SCENES,
    8.854e-12 * 1e9,
    _E0,
)
_PLATE_ENERGY = power_law(
    (
        result("W", "the energy stored", "µJ", ("J", 1e6), ("mJ", 1e3)),
        _FILLING,
        _PLATE_AREA,
        _PLATES,
        given("U", "the voltage", ("V", 1, 12, 400, 0), ("kV", 1e3, 0.05, 0.4, 3)),
    ),
    {"e": 1, "A": 1, "d": -1, "U": 2},
    _PLATE_SCENES,
    0.5 * 8.854e-12 * 1e6,
    _E0,
)

FAMILIES = (
    law_family("electricity_coulomb", _FORCE, _BETWEEN),
    law_family("electricity_field", _FIELD, _ACCELERATED),
    law_family("electricity_plate_capacitor", _PLATE, _PLATE_ENERGY),
)
