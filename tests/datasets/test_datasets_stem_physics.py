"""Physics answers recomputed by other methods. A relation returns two equal sides from all quantities in SI units."""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import pytest

from prorl_datasets.procedural import families
from prorl_datasets.procedural.items import Item
from prorl_datasets.procedural.stem.electricity.networks import (
    SERIES,
    currents,
    drawn_network,
    total,
)
from prorl_verifiers.notation.quantities import read_quantity

G = 9.81
Q = Mapping[str, float]
_NAMES = {"°C": "degC", "degrees": "degree", "%": "percent", "days": "day"}


def _steps(rate: Callable[[float], float], start: float, end: float, count: int = 2000) -> float:
    """Return the integral of ``rate`` by the midpoint rule."""
    width = (end - start) / count
    return sum(rate(start + (i + 0.5) * width) for i in range(count)) * width


def _decayed(q: Q) -> float:
    """Return the voltage after t by many small steps of dU = -U dt/RC."""
    voltage, count = q["U"], 20000
    for _ in range(count):
        voltage -= voltage * q["t"] / count / (q["R"] * q["C"])
    return voltage


def _meshes(q: Q) -> float:
    """Return the current of the first source from two mesh equations (Cramer's rule)."""
    a, b, c = q["a"], q["b"], q["c"]
    # (a + c) i + c j = E ; c i + (b + c) j = F
    return (q["E"] * (b + c) - c * q["F"]) / ((a + c) * (b + c) - c * c)


def _two_lenses(q: Q) -> float:
    """Return where a ray from the axis through both lenses crosses the axis again."""
    slope = 0.01
    height = slope * q["g"]
    slope -= height / q["f"]
    height += slope * q["e"]
    slope -= height / q["h"]
    return -height / slope


def _elastic(q: Q) -> tuple[float, float]:
    other = (q["m"] * q["u"] - q["n"] * q["w"] - q["m"] * q["v"]) / q["n"]
    before = q["m"] * q["u"] ** 2 + q["n"] * q["w"] ** 2
    return q["m"] * q["v"] ** 2 + q["n"] * other**2, before


def _loss(q: Q) -> tuple[float, float]:
    joint = (q["m"] * q["u"] + q["n"] * q["w"]) / (q["m"] + q["n"])
    before = 0.5 * q["m"] * q["u"] ** 2 + 0.5 * q["n"] * q["w"] ** 2
    return q["Q"], before - 0.5 * (q["m"] + q["n"]) * joint**2


def _cliff(q: Q) -> tuple[float, float]:
    drop = G * q["x"] ** 2 / (2 * (q["v"] * math.cos(q["a"])) ** 2)
    return q["h"] + q["x"] * math.tan(q["a"]), drop


def _layers(q: Q) -> tuple[float, float]:
    middle = q["P"] * q["a"] / (q["k"] * q["A"])
    return q["P"], q["l"] * q["A"] * (q["x"] - middle) / q["b"]


def _shift(q: Q) -> tuple[float, float]:
    inside = math.asin(math.sin(q["a"]) / q["m"])
    return q["s"], (q["d"] * math.tan(q["a"]) - q["d"] * math.tan(inside)) * math.cos(q["a"])


def _freefall(q: Q) -> float:
    """Return the horizontal speed that carries a body the distance R while it falls from height h."""
    return q["R"] * math.sqrt(G / (2 * q["h"]))


def _bullet_after(q: Q, way: float) -> tuple[float, float]:
    """Return momentum before and after, computed backwards from the work of friction over ``way``."""
    end = _freefall(q) ** 2 if "R" in q else 0.0
    return q["m"] * q["v"], (q["m"] + q["n"]) * math.sqrt(end + 2 * q["f"] * G * way)


def _top_of_loop(q: Q, energy: float) -> tuple[float, float]:
    """Return the centripetal force at the top, from the energy at the lowest point."""
    return q["N"] + q["m"] * G, 2 * (energy - 2 * q["m"] * G * q["r"]) / q["r"]


def _moles(q: Q) -> float:
    return q["p"] * q["V"] / (8.314 * q["T"])


def _heat_in_two_steps(q: Q) -> tuple[float, float]:
    amount = q["p"] * q["V"] / (8.314 * q["T"])
    closed = _steps(lambda _: 1.5 * amount * 8.314, q["T"], q["U"])
    return q["Q"], closed + _steps(lambda v: amount * 8.314 * q["U"] / v, q["V"], q["W"])


def _protons(q: Q, left: float, volume: float) -> tuple[float, float]:
    return 10 ** -q["q"] * 1000 * volume, left


def _joined_loss(q: Q) -> tuple[float, float]:
    common = q["C"] * q["U"] / (q["C"] + q["D"])
    after = 0.5 * (q["C"] + q["D"]) * common**2
    return q["W"], 0.5 * q["C"] * q["U"] ** 2 - after


def _wire(q: Q) -> float:
    return q["r"] * 1e-6 * q["l"] / (math.pi * (q["d"] / 2) ** 2)


RELATIONS: dict[tuple[str, str], Callable[[Q], tuple[float, float]]] = {
    ("mechanics_acceleration", "the final speed"): lambda q: (
        q["v"] ** 2 - q["u"] ** 2,
        2 * q["a"] * (q["u"] + q["v"]) / 2 * q["t"],
    ),
    ("mechanics_acceleration", "the total distance until the vehicle stands still"): lambda q: (
        q["b"] * (q["d"] - q["v"] * q["r"]),
        0.5 * q["v"] ** 2,
    ),
    ("mechanics_free_fall", "the height"): lambda q: (
        2 * G * q["h"],
        (q["u"] + G * q["t"]) ** 2 - q["u"] ** 2,
    ),
    ("mechanics_free_fall", "the time until it hits the ground"): lambda q: (
        q["h"] + q["u"] * q["t"],
        G * q["t"] ** 2 / 2,
    ),
    ("mechanics_projectile", "the horizontal range"): lambda q: (
        q["R"],
        q["v"] * math.cos(q["a"]) * 2 * q["v"] * math.sin(q["a"]) / G,
    ),
    ("mechanics_projectile", "the greatest height"): lambda q: (
        G * q["H"],
        (q["v"] ** 2 - (q["v"] * math.cos(q["a"])) ** 2) / 2,
    ),
    ("mechanics_projectile", "the horizontal distance to the point of impact"): _cliff,
    ("mechanics_incline", "the speed at the lower end"): lambda q: (
        q["v"] ** 2 / 2,
        G * q["L"] * math.sin(q["a"]) - q["f"] * G * math.cos(q["a"]) * q["L"],
    ),
    ("mechanics_atwood", "the tension in the cord"): lambda q: (
        q["T"],
        q["n"] * (2 * G - q["T"] / q["m"]),
    ),
    ("mechanics_circular", "the force of the track on the car at the lowest point of the loop"): (
        lambda q: (q["N"] - q["m"] * G, q["m"] * math.sqrt(2 * G * q["h"]) ** 2 / q["r"])
    ),
    ("mechanics_kinetic_energy", "the mean braking force"): lambda q: (
        q["F"] * q["d"],
        0.5 * q["m"] * q["u"] ** 2 - 0.5 * q["m"] * q["w"] ** 2,
    ),
    ("mechanics_inelastic_collision", "the kinetic energy lost"): _loss,
    ("mechanics_inelastic_collision", "the speed of the bullet before the impact"): lambda q: (
        0.5 * (q["m"] * q["v"] / (q["m"] + q["n"])) ** 2,
        G * q["h"],
    ),
    (
        "mechanics_elastic_collision",
        "the velocity of the first cart afterwards (positive in its old direction)",
    ): _elastic,
    ("mechanics_pendulum", "the speed at the lowest point"): lambda q: (
        0.5 * q["v"] ** 2,
        G * (q["L"] - q["L"] * math.cos(q["a"])),
    ),
    ("mechanics_lever", "the force of the right support on the beam"): lambda q: (
        ((q["m"] + q["n"]) * G - q["F"]) * q["L"],
        G * (q["m"] * q["L"] / 2 + q["n"] * (q["L"] - q["d"])),
    ),
    ("mechanics_spinning_up", "the number of turns made meanwhile"): lambda q: (
        2 * math.pi * q["N"],
        _steps(lambda t: q["u"] + (q["w"] - q["u"]) * t / q["t"], 0, q["t"]),
    ),
    ("mechanics_angular_momentum", "the work done in pulling inward"): lambda q: (
        q["W"],
        (q["I"] * q["u"]) ** 2 / (2 * q["J"]) - 0.5 * q["I"] * q["u"] ** 2,
    ),
    ("mechanics_orbit", "the time of one revolution"): lambda q: (
        3.986e14 / (6.371e6 + q["h"]) ** 2,
        (2 * math.pi / q["T"]) ** 2 * (6.371e6 + q["h"]),
    ),
    ("mechanics_bernoulli", "the fall in pressure from the wide to the narrow part"): lambda q: (
        q["p"] + 500 * q["v"] ** 2,
        500 * (q["v"] * (q["D"] / q["d"]) ** 2) ** 2,
    ),
    ("electricity_real_source", "the power in the load"): lambda q: (
        q["P"] + (q["E"] / (q["R"] + q["r"])) ** 2 * q["r"],
        q["E"] * q["E"] / (q["R"] + q["r"]),
    ),
    (
        "electricity_kirchhoff",
        "the current that the first source delivers (negative when it is being charged)",
    ): lambda q: (q["I"], _meshes(q)),
    ("electricity_rc_circuit", "the remaining voltage"): lambda q: (q["u"], _decayed(q)),
    ("electricity_magnetic_force", "the radius of its circular path"): lambda q: (
        (1.602e-19 * q["B"] * q["r"]) ** 2 / (2 * q["m"] * 1.661e-27),
        1.602e-19 * q["U"],
    ),
    ("electricity_oscillating_circuit", "the natural frequency"): lambda q: (
        2 * math.pi * q["f"] * q["L"],
        1 / (2 * math.pi * q["f"] * q["C"]),
    ),
    ("electricity_oscillating_circuit", "the effective current"): lambda q: (
        q["U"],
        q["I"]
        * abs(
            complex(q["R"], 0)
            + 2 * math.pi * q["f"] * q["L"] * cmath.exp(0.5j * math.pi)
            + cmath.exp(-0.5j * math.pi) / (2 * math.pi * q["f"] * q["C"])
        ),
    ),
    ("thermodynamics_phase_change", "the final temperature"): lambda q: (
        q["m"] * 334e3 + q["m"] * 4186 * (q["T"] - 273.15),
        q["n"] * 4186 * (q["t"] - q["T"]),
    ),
    ("thermodynamics_conduction", "the heat flow"): _layers,
    ("thermodynamics_first_law", "the heat taken in"): lambda q: (
        q["Q"],
        _steps(lambda volume: q["n"] * 8.314 * q["T"] / volume, q["V"], q["W"]),
    ),
    ("thermodynamics_adiabatic", "the final temperature"): lambda q: (
        math.log(q["U"] / q["T"]),
        (q["g"] - 1) * _steps(lambda volume: 1 / volume, 1, q["r"]),
    ),
    ("thermodynamics_entropy", "the rise of its entropy"): lambda q: (
        q["S"],
        _steps(lambda temperature: q["m"] * q["c"] / temperature, q["T"], q["U"]),
    ),
    ("thermodynamics_engine", "the power given off as heat to the cold reservoir"): lambda q: (
        (q["P"] + q["L"]) / q["T"],
        q["L"] / q["U"],
    ),
    ("waves_doppler", "the frequency of the echo that the bat hears"): lambda q: (
        q["F"] * (1 - q["s"] / q["c"]),
        q["f"] * (1 + q["s"] / q["c"]),
    ),
    ("waves_decibel", "the sound level there"): lambda q: (
        10 ** (q["L"] / 10) * 1e-12 * 4 * math.pi * q["r"] ** 2,
        q["n"] * q["P"],
    ),
    ("waves_lens", "the distance of the final image from the second lens"): lambda q: (
        q["b"],
        _two_lenses(q),
    ),
    ("waves_refraction", "the sideways shift of the ray"): _shift,
    ("waves_photoelectric", "the speed of the fastest electrons"): lambda q: (
        0.5 * 9.109e-31 * q["v"] ** 2 + q["W"],
        6.626e-34 * 2.998e8 / q["l"],
    ),
    ("mechanics_slide_into_spring", "the greatest compression of the spring"): lambda q: (
        _steps(lambda x: q["k"] * x, 0, q["x"]),
        _steps(
            lambda _: q["m"] * G * (math.sin(q["a"]) - q.get("f", 0.0) * math.cos(q["a"])),
            0,
            q["L"],
        ),
    ),
    (
        "mechanics_spring_shot",
        "the horizontal distance from the edge of the table to the point of impact",
    ): lambda q: (
        _steps(lambda x: q["k"] * x, 0, q["x"]),
        0.5 * q["m"] * _freefall(q) ** 2 + q.get("f", 0.0) * q["m"] * G * q.get("d", 0.0),
    ),
    ("mechanics_bullet_and_slide", "the distance that the wood slides"): lambda q: _bullet_after(
        q, q["s"]
    ),
    (
        "mechanics_bullet_and_slide",
        "the horizontal distance from the edge of the bench to where the wood lands",
    ): lambda q: _bullet_after(q, q["d"]),
    ("mechanics_filling_a_tank", "the time of filling"): lambda q: (
        q["e"] * q["P"] * q["t"],
        _steps(lambda _: 1000 * G * q["h"], 0, q["V"]),
    ),
    ("mechanics_filling_a_tank", "the electric energy that one filling takes"): lambda q: (
        q["W"] * q["e"] * (1 - q["p"]),
        _steps(lambda _: 1000 * G * q["h"], 0, q["V"]),
    ),
    ("mechanics_loop", "the force of the track on the cart at the top of the loop"): lambda q: (
        _top_of_loop(
            q, q["m"] * G * q["h"] if "h" in q else _steps(lambda x: q["k"] * x, 0, q["x"])
        )
    ),
    ("electricity_heating_wire", "the power of the heater"): lambda q: (
        q["U"] ** 2,
        q["P"] * _wire(q),
    ),
    ("electricity_heating_wire", "the time needed"): lambda q: (
        q["U"] ** 2 / (q["R"] if "R" in q else _wire(q)) * q["t"] * q.get("e", 1.0),
        q["m"] * 4186 * q["x"],
    ),
    ("electricity_battery_heater", "the heat set free in the coil"): lambda q: (
        q["Q"] / q["t"] + (q["E"] / (q["R"] + q["r"])) ** 2 * q["r"],
        q["E"] ** 2 / (q["R"] + q["r"]),
    ),
    ("electricity_battery_heater", "the rise in temperature of the water"): lambda q: (
        q["m"] * 4186 * q["x"] / q["t"] + (q["E"] / (q["R"] + q["r"])) ** 2 * q["r"],
        q["E"] ** 2 / (q["R"] + q["r"]),
    ),
    ("electricity_joined_capacitors", "the common voltage afterwards"): lambda q: (
        q["C"] * (q["U"] - q["V"]),
        q["D"] * q["V"],
    ),
    ("electricity_joined_capacitors", "the electric energy lost in joining them"): _joined_loss,
    ("thermodynamics_stove", "the final temperature of the water"): lambda q: (
        q["e"] * q["m"] * q["H"],
        q["n"] * 4186 * (q["T"] - q["s"])
        if "s" in q
        else q["n"] * (334e3 + 4186 * (q["T"] - 273.15)),
    ),
    ("thermodynamics_engine_at_work", "the heat given off to the cold reservoir"): lambda q: (
        (q["Q"] - q["L"]) * q["T"],
        q["e"] * q["Q"] * (q["T"] - q["U"]),
    ),
    ("thermodynamics_engine_at_work", "the height of the lift"): lambda q: (
        q["m"] * G * q["h"] * q["T"],
        q["e"] * q["Q"] * (q["T"] - q["U"]),
    ),
    ("thermodynamics_gas_in_two_steps", "the pressure at the end"): lambda q: (
        q["p"] * q["V"] / (8.314 * q["T"]),
        q["q"] * q["W"] / (8.314 * q["U"]),
    ),
    ("thermodynamics_gas_in_two_steps", "the heat taken in over both steps"): _heat_in_two_steps,
    ("thermodynamics_freezer", "the time needed"): lambda q: (
        q["k"] * q["P"] * q["t"],
        q["n"] * _steps(lambda _: 4186, 273.15, q["s"])
        + q["n"] * 334e3
        + q["n"] * 2090 * q.get("y", 0.0),
    ),
    ("chemistry_limestone", "the volume of carbon dioxide"): lambda q: (
        _moles(q),
        q["e"] * q["m"] / 0.10009,
    ),
    (
        "chemistry_limestone",
        "the volume of sodium hydroxide solution that the acid left over takes",
    ): lambda q: (q["c"] * q["a"], q["d"] * q["b"] + 2 * q["e"] * q["m"] / 0.10009),
    ("chemistry_split_water", "the volume of hydrogen"): lambda q: (
        _moles(q) * 2 * 96485,
        q["I"] * q["t"],
    ),
    ("chemistry_split_water", "the volume of oxygen"): lambda q: (
        _moles(q) * 4 * 96485,
        q["e"] * q["I"] * q["t"],
    ),
    ("chemistry_spirit_lamp", "the rise in temperature of the water"): lambda q: (
        q["n"] * 4186 * q["x"],
        q["e"] * q["m"] / 0.04607 * 1367e3,
    ),
    ("chemistry_spirit_lamp", "the volume of carbon dioxide set free meanwhile"): lambda q: (
        q["n"] * 4186 * q["x"],
        q["e"] * _moles(q) / 2 * 1367e3,
    ),
    ("chemistry_acid_mixtures", "the pH of the diluted acid"): lambda q: _protons(
        q, q["c"] * q["a"], q["b"]
    ),
    ("chemistry_acid_mixtures", "the pH of the mixture"): lambda q: _protons(
        q, q["c"] * q["a"] - q["d"] * q["b"], q["a"] + q["b"]
    ),
}
"""(family, quantity of the law) -> both sides of the relation."""
_LOOSE = {"waves_decibel": 0.15}
"""Three figures of a level give the intensity to 2 % below 100 dB, and to 12 % above."""

_LATE = ("thermodynamics_conduction", "thermodynamics_entropy")
"""Families whose laws reuse a quantity's name at all levels; the relation is that of level 3."""


@pytest.fixture(scope="module")
def units() -> Any:
    import pint

    return pint.UnitRegistry()


def _base(units: Any, text: str) -> float:
    """Return a quantity such as "3.6 km/h" in SI base units, by pint."""
    plain = re.sub(r"\$([\d.]+) \\times 10\^\{(-?\d+)\}\$", r"\1e\2", text)
    number, _, unit = plain.partition(" ")
    if unit in ("", "dB"):
        return float(number)
    quantity = units.Quantity(float(number), units.Unit(_NAMES.get(unit, unit)))
    return float(quantity.to_base_units().magnitude)


def _quantities(units: Any, item: Item) -> dict[str, float] | None:
    """Return all quantities of a numeric item including the answer; None for other forms."""
    parameters = dict(item.parameters or {})
    read = read_quantity(item.answer or "")
    if item.metadata["form"] != "numeric" or read is None:
        return None
    asked, _ = parameters.pop("asked"), parameters.pop("law")
    found = {key: _base(units, text) for key, text in parameters.items()}
    unit = item.task.reference.get("unit", "")
    found[asked] = _base(units, f"{float(read.value)!r} {unit}".strip())
    return found


@pytest.mark.parametrize("family, noun", RELATIONS)
def test_another_route_gives_the_same_answer(family: str, noun: str, units: Any) -> None:
    made = families("stem")[family]
    checked = 0
    for seed in range(120):
        item = made.generate(Random(seed), 3 if family in _LATE else seed % 3 + 1)
        if (item.parameters or {}).get("law") != noun or checked == 8:
            continue
        found = _quantities(units, item)
        if found is not None:
            one, other = RELATIONS[family, noun](found)
            assert one == pytest.approx(other, rel=_LOOSE.get(family, 0.04)), item.question
            checked += 1
    assert checked >= 5


def test_currents_in_drawn_networks_obey_kirchhoff() -> None:
    rng = Random(5)
    for _ in range(200):
        count = rng.randint(2, 7)
        network = drawn_network(rng, 1, count, rng.choice(("+", "||")))
        parts = {place: float(rng.randint(2, 90)) for place in range(1, count + 1)}
        flows = currents(network, parts, 2.0)
        assert sorted(flows) == sorted(parts)
        heat = sum(flows[place] ** 2 * parts[place] for place in parts)
        assert heat == pytest.approx(2.0**2 * total(network, parts))


def test_capacitors_add_where_resistors_divide() -> None:
    network = ("+", (1, ("||", (2, 3))))
    assert total(network, {1: 6.0, 2: 4.0, 3: 12.0}) == pytest.approx(9.0)
    assert total(network, {1: 6.0, 2: 4.0, 3: 12.0}, "||") == pytest.approx(6 * 16 / 22)
    assert SERIES == "+"
