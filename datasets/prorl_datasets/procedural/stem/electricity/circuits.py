"""Problems on direct-current circuits."""
# Source: Halliday, Resnick, Walker, chapters 26 and 27.

from __future__ import annotations

import math

from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


_OHMS = given("R", "the resistance", ("ohm", 1, 2, 900, 0), ("kohm", 1e3, 0.2, 9, 2))
_AMPS = given("I", "the current", ("A", 1, 0.05, 6, 2), ("mA", 1e-3, 15, 900, 0))
_OHM = power_law(
    (result("U", "the voltage across it", "V", ("mV", 1e-3), ("kV", 1e3)), _AMPS, _OHMS),
    {"I": 1, "R": 1},
    WORDINGS.later("ohm"),
    bounds=(0.3, 900),
)
_EMF = given("E", "the electromotive force", ("V", 1, 1.5, 48, 1))
_INNER = given("r", "the inner resistance", ("ohm", 1, 0.1, 2.5, 2), ("mohm", 1e-3, 50, 950, 0))
_LOAD = given("R", "the load resistance", ("ohm", 1, 1, 40, 1))
_SOURCES = WORDINGS.later("sources")
_DRAINED = Law(
    (result("I", "the current", "A", ("mA", 1e-3)), _EMF, _INNER, _LOAD),
    _SOURCES,
    {
        "I": lambda v: v["E"] / (v["R"] + v["r"]),
        "E": lambda v: v["I"] * (v["R"] + v["r"]),
        "R": lambda v: v["E"] / v["I"] - v["r"],
        "r": lambda v: v["E"] / v["I"] - v["R"],
    },
    check=lambda v: 0.1 < v["r"] / v["R"] < 0.8,
    slips=lambda v, key: {
        "I": (v["E"] / v["R"], v["E"] / v["r"]),
        "E": (v["I"] * v["R"], v["I"] * v["r"]),
        "R": (v["E"] / v["I"], v["E"] / v["I"] + v["r"]),
        "r": (v["E"] / v["I"], v["E"] / v["I"] + v["R"]),
    }[key],
)
_LOAD_POWER = Law(
    (result("P", "the power in the load", "W", ("mW", 1e-3)), _EMF, _INNER, _LOAD),
    _SOURCES,
    {
        "P": lambda v: (v["E"] / (v["R"] + v["r"])) ** 2 * v["R"],
        "E": lambda v: math.sqrt(v["P"] / v["R"]) * (v["R"] + v["r"]),
    },
    check=lambda v: 0.1 < v["r"] / v["R"] < 0.8,
    slips=lambda v, key: {
        "P": (
            v["E"] ** 2 / v["R"],
            v["E"] ** 2 / (v["R"] + v["r"]),
            (v["E"] / (v["R"] + v["r"])) ** 2 * v["r"],
        ),
        "E": (math.sqrt(v["P"] * v["R"]), math.sqrt(v["P"] * (v["R"] + v["r"]))),
    }[key],
)
_TWO_LOADS = Law(
    (
        result("r", "the inner resistance", "ohm", ("mohm", 1e-3)),
        given("U", "the terminal voltage with the first load", ("V", 1, 4, 24, 2)),
        given(
            "I", "the current with the first load", ("A", 1, 0.2, 3, 2), ("mA", 1e-3, 200, 950, 0)
        ),
        given("W", "the terminal voltage with the second load", ("V", 1, 3, 23, 2)),
        given("J", "the current with the second load", ("A", 1, 0.8, 9, 2)),
    ),
    WORDINGS.later("two loads"),
    {"r": lambda v: (v["U"] - v["W"]) / (v["J"] - v["I"])},
    check=lambda v: v["J"] > 1.5 * v["I"] and 0.02 * v["U"] < v["U"] - v["W"] < 0.3 * v["U"],
    slips=lambda v, key: (
        (v["U"] - v["W"]) / (v["J"] + v["I"]),
        v["U"] / v["I"] - v["W"] / v["J"],
    ),
)
_E1 = given("E", "the voltage of the first source", ("V", 1, 6, 48, 1))
_E2 = given("F", "the voltage of the second source", ("V", 1, 3, 40, 1))
_R1 = given("a", "the resistor R1", ("ohm", 1, 2, 200, 0), ("kohm", 1e3, 0.1, 2, 2))
_R2 = given("b", "the resistor R2", ("ohm", 1, 2, 200, 0), ("kohm", 1e3, 0.1, 2, 2))
_R3 = given("c", "the resistor R3", ("ohm", 1, 2, 200, 0), ("kohm", 1e3, 0.1, 2, 2))
_ONE_LOOP = Law(
    (result("I", "the current in the loop", "A", ("mA", 1e-3)), _E1, _E2, _R1, _R2),
    WORDINGS.later("one loop"),
    {
        "I": lambda v: (v["E"] - v["F"]) / (v["a"] + v["b"]),
        "E": lambda v: v["F"] + v["I"] * (v["a"] + v["b"]),
        "a": lambda v: (v["E"] - v["F"]) / v["I"] - v["b"],
    },
    check=lambda v: v["E"] > 1.4 * v["F"] and 0.2 < v["a"] / v["b"] < 5,
    slips=lambda v, key: {
        "I": ((v["E"] + v["F"]) / (v["a"] + v["b"]), (v["E"] - v["F"]) / v["a"]),
        "E": (v["I"] * (v["a"] + v["b"]), v["I"] * (v["a"] + v["b"]) - v["F"]),
        "a": ((v["E"] - v["F"]) / v["I"], (v["E"] + v["F"]) / v["I"] - v["b"]),
    }[key],
)


def _node_voltage(v: Values) -> float:
    return (v["E"] / v["a"] + v["F"] / v["b"]) / (1 / v["a"] + 1 / v["b"] + 1 / v["c"])


_TWO_LOOPS = WORDINGS.later("two loops")


def _branches(v: Values) -> bool:
    size = max(v["a"], v["b"], v["c"]) / min(v["a"], v["b"], v["c"])
    return size < 8 and abs(v["E"] - _node_voltage(v)) > 0.15 * v["E"]


_COMMON = Law(
    (result("I", "the current in R3", "A", ("mA", 1e-3)), _E1, _R1, _E2, _R2, _R3),
    _TWO_LOOPS,
    {"I": lambda v: _node_voltage(v) / v["c"]},
    check=_branches,
    slips=lambda v, key: (
        (v["E"] + v["F"]) / (v["a"] + v["b"] + v["c"]),
        v["E"] / (v["a"] + v["c"]) + v["F"] / (v["b"] + v["c"]),
        (v["E"] / v["a"] - v["F"] / v["b"]) / (1 / v["a"] + 1 / v["b"] + 1 / v["c"]) / v["c"],
    ),
)
_BRANCH = Law(
    (
        result(
            "I",
            "the current that the first source delivers (negative when it is being charged)",
            "A",
            ("mA", 1e-3),
        ),
        *_COMMON.quantities[1:],
    ),
    _TWO_LOOPS,
    {"I": lambda v: (v["E"] - _node_voltage(v)) / v["a"]},
    signed=True,
    check=_branches,
    slips=lambda v, key: (
        _node_voltage(v) / v["c"],
        (v["F"] - _node_voltage(v)) / v["b"],
        v["E"] / (v["a"] + v["c"]),
        -(v["E"] - _node_voltage(v)) / v["a"],
    ),
)
_WIRES = WORDINGS.later("wires")
_RHO = given("p", "the resistivity in units of $10^{-8}$ ohm m", ("", 1e-8, 1.6, 110, 1))
_WIRE = power_law(
    (
        result("R", "the resistance of the wire", "ohm", ("mohm", 1e-3)),
        _RHO,
        given("L", "its length", ("m", 1, 2, 300, 0), ("km", 1e3, 0.05, 3, 2)),
        given("A", "the area of its cross section", ("mm^2", 1e-6, 0.2, 9, 2)),
    ),
    {"p": 1, "L": 1, "A": -1},
    _WIRES,
)
_WIRE_HEAT = power_law(
    (
        result("P", "the heat produced per second in the wire", "W", ("mW", 1e-3), ("kW", 1e3)),
        _RHO,
        given("L", "its length", ("m", 1, 2, 120, 1), ("km", 1e3, 0.05, 1, 2)),
        given("d", "the diameter of its round cross section", ("mm", 1e-3, 0.6, 4, 2)),
        given("I", "the current in it", ("A", 1, 0.5, 9, 2), ("mA", 1e-3, 200, 950, 0)),
    ),
    {"p": 1, "L": 1, "d": -2, "I": 2},
    _WIRES,
    4 / math.pi,
)
_DEVICES = WORDINGS.later("devices")
_MAINS = given("U", "the voltage", ("V", 1, 12, 240, 0), ("kV", 1e3, 0.05, 0.4, 3))
_POWER = power_law(
    (
        result("P", "the power", "W", ("kW", 1e3)),
        _MAINS,
        given("R", "the resistance", ("ohm", 1, 8, 300, 1), ("kohm", 1e3, 0.05, 0.9, 3)),
    ),
    {"U": 2, "R": -1},
    _DEVICES,
)
_KETTLE = power_law(
    (
        result("t", "the time needed", "s", ("min", 60)),
        given("m", "the mass of the water", ("kg", 1, 0.3, 3, 2), ("g", 1e-3, 250, 950, 0)),
        given("x", "the rise of its temperature", ("K", 1, 15, 80, 0)),
        given("R", "the resistance of the heating coil", ("ohm", 1, 15, 90, 1)),
        given("U", "the voltage", ("V", 1, 110, 240, 0), ("kV", 1e3, 0.11, 0.24, 3)),
    ),
    {"m": 1, "x": 1, "R": 1, "U": -2},
    WORDINGS.later("kettle"),
    4186,
    "Take 4186 J/(kg K) for the specific heat of water.",
)
_BILL = Law(
    (
        result("W", "the energy used in the whole month", "kWh", ("MJ", 1 / 3.6)),
        given("P", "the power", ("W", 1e-3, 20, 2500, 0), ("kW", 1, 0.05, 3, 2)),
        given(
            "h", "the time of use on each day", ("h", 1, 0.5, 12, 1), ("min", 1 / 60, 20, 600, 0)
        ),
        given("n", "the number of days", ("", 1, 18, 31, 0)),
    ),
    WORDINGS.later("bill"),
    {
        "W": lambda v: v["P"] * v["h"] * v["n"],
        "P": lambda v: v["W"] / (v["h"] * v["n"]),
        "h": lambda v: v["W"] / (v["P"] * v["n"]),
    },
    slips=lambda v, key: {
        "W": (v["P"] * v["h"], v["P"] * v["n"], v["P"] * v["h"] * v["n"] * 3.6),
        "P": (v["W"] / v["h"], v["W"] / v["n"], v["W"] / (24 * v["n"])),
        "h": (v["W"] / v["P"], v["W"] * v["P"] / v["n"]),
    }[key],
)
_FLOWED = WORDINGS.later("flowed")
_DURATION = given(
    "t", "the time", ("s", 1, 5, 900, 0), ("min", 60, 1, 90, 1), ("h", 3600, 0.2, 9, 1)
)
_CHARGE = power_law(
    (result("Q", "the charge that passes", "C", ("mC", 1e-3), ("Ah", 3600)), _AMPS, _DURATION),
    {"I": 1, "t": 1},
    _FLOWED,
)
_ELECTRONS = power_law(
    (result("N", "the number of electrons that pass", ""), _AMPS, _DURATION),
    {"I": 1, "t": 1},
    WORDINGS.later("electrons"),
    1 / 1.602e-19,
    "Take e = $1.602 \\times 10^{-19}$ C.",
)
_DRIFT = power_law(
    (
        result("v", "the drift speed of the electrons", "mm/s", ("m/s", 1e3), ("mm/min", 1 / 60)),
        _AMPS,
        given("d", "the diameter of the wire", ("mm", 1e-3, 0.4, 5, 2)),
    ),
    {"I": 1, "d": -2},
    WORDINGS.later("drift"),
    4e3 / (math.pi * 8.5e28 * 1.602e-19),
    "Take e = $1.602 \\times 10^{-19}$ C.",
)

FAMILIES = (
    law_family("electricity_ohm", _OHM, _TWO_LOADS),
    law_family("electricity_real_source", _DRAINED, _LOAD_POWER),
    law_family("electricity_kirchhoff", _ONE_LOOP, _BRANCH, _COMMON),
    law_family("electricity_resistivity", _WIRE, _WIRE_HEAT),
    law_family("electricity_power", _POWER, (_KETTLE, _BILL)),
    law_family("electricity_charge", _CHARGE, (_ELECTRONS, _DRIFT)),
)
