"""Problems on networks of resistors or capacitors.

A network is the number of a part, or a pair (joint, members). The joint is "+" for series or "||" for parallel.
"""
# Source: Halliday, Resnick, Walker, chapters 25 and 27.

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random

from prorl_datasets.procedural.items import by_level
from prorl_datasets.procedural.stem.laws import Law, Values, given, law_family, power_law, result
from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

Network = int | tuple[str, tuple["Network", ...]]
SERIES, PARALLEL = "+", "||"


def drawn_network(rng: Random, first: int, count: int, joint: str) -> Network:
    """Return a network of ``count`` components, numbered from ``first``.

    Its outermost connection is ``joint``; inside, series and parallel connections alternate.
    """
    if count == 1:
        return first
    sizes = []
    left = count
    while left:
        size = rng.randint(1, min(left, max(1, count - 1), 3))
        sizes.append(size)
        left -= size
    inner = PARALLEL if joint == SERIES else SERIES
    members = []
    for size in sizes:
        members.append(drawn_network(rng, first, size, inner))
        first += size
    return (joint, tuple(members))


def written(network: Network, letter: str, inside: bool = False) -> str:
    """Return a network as ``R1 + (R2 || R3)``."""
    if isinstance(network, int):
        return f"{letter}{network}"
    joint, members = network
    text = f" {joint} ".join(written(member, letter, True) for member in members)
    return f"({text})" if inside else text


def total(network: Network, parts: Mapping[int, float], adding: str = SERIES) -> float:
    """Return a network's total value: ``adding`` connections add values, the others add inverses."""
    if isinstance(network, int):
        return parts[network]
    joint, members = network
    values = [total(member, parts, adding) for member in members]
    return sum(values) if joint == adding else 1 / sum(1 / value for value in values)


def currents(network: Network, parts: Mapping[int, float], current: float) -> dict[int, float]:
    """Return each resistor's current for a total ``current``."""
    if isinstance(network, int):
        return {network: current}
    joint, members = network
    whole = total(network, parts)
    found: dict[int, float] = {}
    for member in members:
        share = 1.0 if joint == SERIES else whole / total(member, parts)
        found |= currents(member, parts, current * share)
    return found


_NOTE = "Here + joins in series and || in parallel."
_PLACES = (
    "A network of resistors is built as {net}.",
    "On a board resistors are joined as {net}.",
    "A student wires up the resistors {net}.",
    "A heating circuit is made of resistors joined as {net}.",
)


def _one_resistor(
    rng: Random, place: int, part: float, flow: float
) -> tuple[str, tuple[float, str]]:
    what, value, unit = pick(
        rng,
        (f"the current in R{place}", flow * 1e3, "mA"),
        (f"the power in R{place}", flow**2 * part, "W"),
        (f"the voltage across R{place}", flow * part, "V"),
    )
    return what, (value, unit)


def _resistors(rng: Random, level: int) -> Solved:
    count = by_level(level, 3, 4, rng.randint(4, 6))
    network = drawn_network(rng, 1, count, rng.choice((SERIES, PARALLEL)))
    parts = {place: clean(rng, 2, 90) for place in range(1, count + 1)}
    voltage = clean(rng, 5, 48, 1)
    asked = rng.randint(1, count)
    whole = total(network, parts)
    flows = currents(network, parts, voltage / whole)
    listed = ", ".join(f"R{place} = {shown(value)} ohm" for place, value in parts.items())
    lines = [rng.choice(_PLACES).format(net=written(network, "R")), _NOTE, f"{listed}."]
    swapped = total(network, parts, PARALLEL)
    if level == 1:
        lines.append("Find the total resistance.")
        wrong: tuple[float, ...] = (swapped, sum(parts.values()), whole * count)
        solution = (whole, "ohm")
    elif level == 2:
        lines.append(f"The network is connected to {shown(voltage)} V. What total current flows?")
        wrong = (voltage / swapped, voltage / sum(parts.values()), voltage / parts[1])
        solution = (voltage / whole, "A")
    else:
        what, solution = _one_resistor(rng, asked, parts[asked], flows[asked])
        lines.append(f"The network is connected to {shown(voltage)} V. Find {what}.")
        wide, part, unit = voltage / whole, parts[asked], solution[1]
        share = {"mA": wide * 1e3, "W": wide**2 * part, "V": wide * part}[unit]
        wrong = (share, {"mA": 1e3, "W": voltage, "V": part}[unit] * voltage / part)
    return Solved(
        " ".join(lines),
        solution[0],
        solution[1],
        {"net": written(network, "R"), "parts": list(parts.values()), "asked": lines[-1]},
        wrong=wrong,
    )


def _capacitors(rng: Random, level: int) -> Solved:
    count = by_level(level, 3, 4, rng.randint(4, 5))
    network = drawn_network(rng, 1, count, rng.choice((SERIES, PARALLEL)))
    unit = "µF" if level == 1 else rng.choice(("nF", "pF"))
    parts = {place: clean(rng, 1, 60, 1) for place in range(1, count + 1)}
    whole, swapped = total(network, parts, PARALLEL), total(network, parts, SERIES)
    listed = ", ".join(f"C{place} = {shown(value)} {unit}" for place, value in parts.items())
    place = WORDINGS.draw(rng, "capacitors")
    lines = [place.format(net=written(network, "C")), _NOTE, f"{listed}."]
    voltage = clean(rng, 3, 60, 1)
    connected = f"The network, uncharged before, is connected to {shown(voltage)} V."
    wrong: tuple[float, ...] = (swapped, sum(parts.values()))
    if level == 1:
        lines.append("Find the total capacitance.")
        value, asked = whole, unit
    elif level == 2:
        lines.append(f"{connected} What charge does it take in all?")
        value, asked = whole * voltage, unit[0] + "C"
        wrong = tuple(x * voltage for x in wrong)
    else:
        lines.append(f"{connected} What energy does it store in all?")
        value, asked = whole * voltage**2 / 2, unit[0] + "J"
        wrong = (*(x * voltage**2 / 2 for x in wrong), whole * voltage**2, whole * voltage / 2)
    return Solved(
        " ".join(lines),
        value,
        asked,
        {"net": written(network, "C"), "parts": list(parts.values()), "asked": lines[-1]},
        wrong=wrong,
    )


_R = given("R", "the resistance", ("ohm", 1, 100, 9000, 0), ("kohm", 1e3, 0.5, 90, 1))
_C = given("C", "the capacitance", ("µF", 1e-6, 10, 900, 0), ("nF", 1e-9, 100, 900, 0))
_LEAK = WORDINGS.later("leak")
_TAU = power_law(
    (result("T", "the time constant", "s", ("ms", 1e-3), ("µs", 1e-6)), _R, _C),
    {"R": 1, "C": 1},
    _LEAK,
)
_U0 = given("U", "the initial voltage", ("V", 1, 5, 90, 1))
_AFTER = given("t", "the time elapsed", ("s", 1, 0.2, 9, 2), ("ms", 1e-3, 100, 950, 0))
_LATE_R = given("R", "the resistance", ("ohm", 1, 2000, 90000, 0), ("kohm", 1e3, 2, 90, 1))
_LATE_C = given("C", "the capacitance", ("µF", 1e-6, 20, 900, 0))


def _ratio(v: Values) -> float:
    return v["t"] / (v["R"] * v["C"])


_DECAY = Law(
    (result("u", "the remaining voltage", "V", ("mV", 1e-3)), _U0, _LATE_R, _LATE_C, _AFTER),
    _LEAK,
    {
        "u": lambda v: v["U"] * math.exp(-_ratio(v)),
        "U": lambda v: v["u"] * math.exp(_ratio(v)),
        "t": lambda v: v["R"] * v["C"] * math.log(v["U"] / v["u"]),
        "R": lambda v: v["t"] / (v["C"] * math.log(v["U"] / v["u"])),
    },
    check=lambda v: 0.3 < _ratio(v) < 3,
    slips=lambda v, key: {
        "u": (v["U"] * (1 - math.exp(-_ratio(v))), v["U"] / _ratio(v)),
        "U": (v["u"] / (1 - math.exp(-_ratio(v))), v["u"] * _ratio(v)),
        "t": (v["R"] * v["C"], v["R"] * v["C"] * math.log10(v["U"] / v["u"])),
        "R": (v["t"] / v["C"], v["t"] / (v["C"] * math.log10(v["U"] / v["u"]))),
    }[key],
)
_CHARGING = Law(
    (
        result("t", "the time until the capacitor reaches that voltage", "s", ("ms", 1e-3)),
        given("U", "the voltage of the source", ("V", 1, 6, 90, 1)),
        given("u", "the voltage to be reached", ("V", 1, 2, 80, 1)),
        _LATE_R,
        _LATE_C,
    ),
    WORDINGS.later("charging"),
    {
        "t": lambda v: -v["R"] * v["C"] * math.log(1 - v["u"] / v["U"]),
        "u": lambda v: v["U"] * (1 - math.exp(-_ratio(v))),
        "C": lambda v: -v["t"] / (v["R"] * math.log(1 - v["u"] / v["U"])),
    },
    check=lambda v: 0.2 < v["u"] / v["U"] < 0.9,
    slips=lambda v, key: {
        "t": (v["R"] * v["C"] * math.log(v["U"] / v["u"]), v["R"] * v["C"]),
        "u": (v["U"] * math.exp(-_ratio(v)), v["U"] * _ratio(v)),
        "C": (v["t"] / v["R"], v["t"] / (v["R"] * math.log(v["U"] / v["u"]))),
    }[key],
)

FAMILIES = (
    stem_family("electricity_resistor_network", _resistors),
    stem_family("electricity_capacitor_network", _capacitors),
    law_family("electricity_rc_circuit", _TAU, _CHARGING, _DECAY),
)
