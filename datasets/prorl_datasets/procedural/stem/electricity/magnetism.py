"""Problems on magnetic fields, induction and alternating current."""
# Source: Halliday, Resnick, Walker, chapters 28 to 31.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_MU0 = "Take $4\\pi \\times 10^{-7}$ T m/A for the magnetic constant."
_ION = "Take e = $1.602 \\times 10^{-19}$ C and u = $1.661 \\times 10^{-27}$ kg."
MU0 = 4e-7 * math.pi
E_BY_U = 1.602e-19 / 1.661e-27
_B = given("B", "the magnetic flux density", ("T", 1, 0.02, 1.5, 3), ("mT", 1e-3, 15, 900, 0))
_ROD_FORCE = power_law(
    (
        result("F", "the magnetic force on it", "N", ("mN", 1e-3)),
        _B,
        given("I", "the current", ("A", 1, 0.2, 25, 2), ("mA", 1e-3, 150, 950, 0)),
        given("L", "the length in the field", ("m", 1, 0.03, 2, 3), ("cm", 1e-2, 3, 90, 1)),
    ),
    {"B": 1, "I": 1, "L": 1},
    WORDINGS.later("rod force"),
)
_CYCLOTRON = power_law(
    (
        result("r", "the radius of its circular path", "cm", ("m", 100), ("mm", 0.1)),
        given("m", "the mass of the ion in u", ("", 1, 4, 220, 1)),
        given("U", "the accelerating voltage", ("V", 1, 200, 9000, 0), ("kV", 1e3, 0.5, 12, 2)),
        given("B", "the magnetic flux density", ("T", 1, 0.1, 1.5, 3), ("mT", 1e-3, 80, 950, 0)),
    ),
    {"m": 0.5, "U": 0.5, "B": -1},
    WORDINGS.later("cyclotron"),
    100 * math.sqrt(2 / E_BY_U),
    _ION,
)
_STRAIGHT = power_law(
    (
        result("B", "the magnetic flux density", "µT", ("T", 1e6), ("mT", 1e3)),
        given("I", "the current", ("A", 1, 0.5, 60, 2), ("mA", 1e-3, 300, 950, 0)),
        given("r", "the distance from the wire", ("cm", 1e-2, 0.5, 40, 1), ("m", 1, 0.01, 0.5, 3)),
    ),
    {"I": 1, "r": -1},
    WORDINGS.later("straight"),
    MU0 / (2 * math.pi) * 1e6,
    _MU0,
)
_PARALLEL_WIRES = power_law(
    (
        result("F", "the force on that length of one wire", "mN", ("N", 1e3), ("µN", 1e-3)),
        given("I", "the current in the first wire", ("A", 1, 2, 90, 1), ("kA", 1e3, 0.01, 0.9, 3)),
        given("J", "the current in the second wire", ("A", 1, 2, 90, 1)),
        given("L", "the length considered", ("m", 1, 0.5, 30, 1), ("km", 1e3, 0.01, 0.3, 3)),
        given("d", "the distance of the wires", ("cm", 1e-2, 0.5, 40, 1), ("m", 1, 0.02, 0.9, 2)),
    ),
    {"I": 1, "J": 1, "L": 1, "d": -1},
    WORDINGS.later("parallel wires"),
    MU0 / (2 * math.pi) * 1e3,
    _MU0,
)
_COIL = power_law(
    (
        result("U", "the mean induced voltage", "V", ("mV", 1e-3)),
        given("N", "the number of turns", ("", 1, 20, 900, 0)),
        given(
            "F",
            "the change of the flux through one turn",
            ("mWb", 1e-3, 0.2, 9, 2),
            ("Wb", 1, 0.001, 0.02, 4),
        ),
        given("t", "the duration of the change", ("s", 1, 0.02, 2, 3), ("ms", 1e-3, 10, 900, 0)),
    ),
    {"N": 1, "F": 1, "t": -1},
    WORDINGS.later("coil"),
)
_RAIL = power_law(
    (
        result("P", "the mechanical power needed to pull it", "W", ("mW", 1e-3)),
        _B,
        given("L", "the distance of the rails", ("m", 1, 0.1, 1.5, 2), ("cm", 1e-2, 8, 120, 0)),
        given("v", "the speed of the rod", ("m/s", 1, 0.5, 12, 2), ("cm/s", 1e-2, 40, 900, 0)),
        given(
            "R", "the resistance of the circuit", ("ohm", 1, 0.1, 6, 2), ("mohm", 1e-3, 80, 950, 0)
        ),
    ),
    {"B": 2, "L": 2, "v": 2, "R": -1},
    WORDINGS.later("rail"),
)
_PRIMARY = given("U", "the primary voltage", ("V", 1, 110, 400, 0), ("kV", 1e3, 0.2, 20, 2))
_N1 = given("n", "the number of primary turns", ("", 1, 200, 3000, 0))
_N2 = given("k", "the number of secondary turns", ("", 1, 20, 900, 0))
_TRANSFORMER = power_law(
    (result("W", "the secondary voltage", "V", ("kV", 1e3)), _PRIMARY, _N1, _N2),
    {"U": 1, "k": 1, "n": -1},
    WORDINGS.later("transformer"),
)
_LOADED = power_law(
    (
        result("I", "the primary current", "A", ("mA", 1e-3)),
        _PRIMARY,
        _N1,
        _N2,
        given(
            "R",
            "the ohmic load on the secondary side",
            ("ohm", 1, 2, 90, 1),
            ("kohm", 1e3, 0.01, 0.5, 3),
        ),
        given("e", "the efficiency", ("%", 0.01, 70, 98, 0)),
    ),
    {"U": 1, "k": 2, "n": -2, "R": -1, "e": -1},
    WORDINGS.later("loaded"),
)
_L = given("L", "the inductance", ("mH", 1e-3, 0.5, 90, 1), ("µH", 1e-6, 50, 950, 0))
_C = given("C", "the capacitance", ("nF", 1e-9, 1, 900, 0), ("pF", 1e-12, 50, 950, 0))
_RESONANCE = power_law(
    (result("f", "the natural frequency", "kHz", ("Hz", 1e-3), ("MHz", 1e3)), _L, _C),
    {"L": -0.5, "C": -0.5},
    WORDINGS.later("resonance"),
    1e-3 / (2 * math.pi),
)


def _impedance(v: Values) -> float:
    omega = 2 * math.pi * v["f"]
    return math.hypot(v["R"], omega * v["L"] - 1 / (omega * v["C"]))


_SERIES_CIRCUIT = Law(
    (
        result("I", "the effective current", "A", ("mA", 1e-3)),
        given("U", "the effective voltage", ("V", 1, 5, 240, 0)),
        given("f", "the frequency", ("Hz", 1, 40, 400, 0), ("kHz", 1e3, 0.04, 0.4, 3)),
        given("R", "the resistance", ("ohm", 1, 10, 300, 0), ("kohm", 1e3, 0.02, 0.4, 3)),
        given("L", "the inductance", ("mH", 1e-3, 20, 900, 0), ("H", 1, 0.02, 0.9, 3)),
        given("C", "the capacitance", ("µF", 1e-6, 2, 90, 1)),
    ),
    WORDINGS.later("series circuit"),
    {"I": lambda v: v["U"] / _impedance(v), "U": lambda v: v["I"] * _impedance(v)},
    check=lambda v: 1.2 * v["R"] < _impedance(v) < 6 * v["R"],
    slips=lambda v, key: {
        "I": (v["U"] / v["R"], v["U"] / math.hypot(v["R"], 2 * math.pi * v["f"] * v["L"])),
        "U": (v["I"] * v["R"], v["I"] * math.hypot(v["R"], 2 * math.pi * v["f"] * v["L"])),
    }[key],
)

FAMILIES = (
    law_family("electricity_magnetic_force", _ROD_FORCE, _CYCLOTRON),
    law_family("electricity_field_of_wires", _STRAIGHT, _PARALLEL_WIRES),
    law_family("electricity_induction", _COIL, _RAIL),
    law_family("electricity_transformer", _TRANSFORMER, _LOADED),
    law_family("electricity_oscillating_circuit", _RESONANCE, _SERIES_CIRCUIT),
)
