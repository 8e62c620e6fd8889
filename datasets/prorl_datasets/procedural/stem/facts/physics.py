"""Questions on units, dimensions, prefixes and sizes."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.stem.facts.makers import matching, ordering
from prorl_datasets.procedural.stem.problem import Choice, clean, shown, stem_family
from prorl_datasets.procedural.stem.wording import named

UNITS = (
    ("force", "newton"), ("energy", "joule"), ("power", "watt"), ("pressure", "pascal"), ("frequency", "hertz"),
    ("electric current", "ampere"), ("voltage", "volt"), ("electrical resistance", "ohm"),
    ("electric charge", "coulomb"), ("thermodynamic temperature", "kelvin"), ("mass", "kilogram"),
    ("amount of substance", "mole"), ("luminous intensity", "candela"), ("capacitance", "farad"),
    ("inductance", "henry"), ("magnetic flux", "weber"), ("magnetic flux density", "tesla"),
    ("electrical conductance", "siemens"), ("luminous flux", "lumen"), ("illuminance", "lux"),
    ("radioactive activity", "becquerel"), ("absorbed dose of radiation", "gray"), ("catalytic activity", "katal"),
    ("momentum", "kilogram metre per second"), ("acceleration", "metre per second squared"),
    ("density", "kilogram per cubic metre"), ("electric field strength", "volt per metre"),
    ("heat capacity", "joule per kelvin"), ("thermal conductivity", "watt per metre and kelvin"),
    ("dynamic viscosity", "pascal second"), ("moment of inertia", "kilogram square metre"),
    ("surface tension", "newton per metre"), ("angular velocity", "radian per second"),
)  # fmt: skip
"""(quantity, its SI unit); neither occurs twice."""
UNITS_TOO = (("radioactive activity", "hertz"), ("frequency", "becquerel"), ("angular velocity", "hertz"),
             ("frequency", "radian per second"))  # fmt: skip
"""Further units in use for a quantity; they must not count as wrong."""
DIMENSIONS: tuple[tuple[str, tuple[int, int, int, int]], ...] = (
    ("length", (1, 0, 0, 0)), ("area", (2, 0, 0, 0)), ("volume", (3, 0, 0, 0)), ("speed", (1, 0, -1, 0)),
    ("acceleration", (1, 0, -2, 0)), ("force", (1, 1, -2, 0)), ("weight", (1, 1, -2, 0)), ("work", (2, 1, -2, 0)),
    ("kinetic energy", (2, 1, -2, 0)), ("torque", (2, 1, -2, 0)), ("heat", (2, 1, -2, 0)), ("power", (2, 1, -3, 0)),
    ("pressure", (-1, 1, -2, 0)), ("Young's modulus", (-1, 1, -2, 0)), ("energy density", (-1, 1, -2, 0)),
    ("momentum", (1, 1, -1, 0)), ("impulse", (1, 1, -1, 0)), ("angular momentum", (2, 1, -1, 0)),
    ("Planck's constant", (2, 1, -1, 0)), ("density", (-3, 1, 0, 0)), ("frequency", (0, 0, -1, 0)),
    ("angular velocity", (0, 0, -1, 0)), ("rate constant of a first-order reaction", (0, 0, -1, 0)),
    ("electric charge", (0, 0, 1, 1)), ("voltage", (2, 1, -3, -1)), ("electrical resistance", (2, 1, -3, -2)),
    ("capacitance", (-2, -1, 4, 2)), ("magnetic flux density", (0, 1, -2, -1)), ("electric field strength", (1, 1, -3, -1)),
    ("magnetic flux", (2, 1, -2, -1)), ("inductance", (2, 1, -2, -2)), ("spring constant", (0, 1, -2, 0)),
    ("surface tension", (0, 1, -2, 0)), ("dynamic viscosity", (-1, 1, -1, 0)), ("moment of inertia", (2, 1, 0, 0)),
    ("gravitational constant", (3, -1, -2, 0)), ("volume flow rate", (3, 0, -1, 0)), ("mass flow rate", (0, 1, -1, 0)),
    ("kinematic viscosity", (2, 0, -1, 0)), ("diffusion coefficient", (2, 0, -1, 0)), ("irradiance", (0, 1, -3, 0)),
)  # fmt: skip
"""(quantity, exponents of length, mass, time and electric current)."""
SIZES = (
    ("the diameter of a proton", 1.7e-15), ("the diameter of a hydrogen atom", 1.1e-10),
    ("the width of a DNA double helix", 2e-9), ("the thickness of a cell membrane", 8e-9),
    ("the diameter of a ribosome", 2.5e-8), ("the wavelength of green light", 5.3e-7),
    ("the diameter of a human red blood cell", 7.5e-6), ("the thickness of a sheet of paper", 1e-4),
    ("the length of a grain of rice", 7e-3), ("the length of a pencil", 0.19), ("the height of a door", 2.0),
    ("the length of a blue whale", 25.0), ("the length of a football pitch", 105.0),
    ("the height of the Eiffel Tower", 330.0), ("the height of Mount Everest above sea level", 8849.0),
    ("the length of a marathon", 42195.0), ("the radius of the Moon", 1.737e6), ("the radius of the Earth", 6.371e6),
    ("the radius of Jupiter", 6.99e7), ("the distance from the Earth to the Moon", 3.84e8),
    ("the radius of the Sun", 6.96e8), ("the distance from the Earth to the Sun", 1.496e11),
    ("the distance from Neptune to the Sun", 4.5e12), ("one light-year", 9.46e15),
    ("the diameter of the Milky Way's disc", 9.5e20), ("the distance to the Andromeda galaxy", 2.4e22),
)  # fmt: skip
"""(object, size in metres)."""
PREFIXES = (("p", -12), ("n", -9), ("µ", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9))
BASES = (("mass", "g"), ("length", "m"), ("time", "s"), ("power", "W"), ("energy", "J"), ("voltage", "V"),
         ("pressure", "Pa"), ("frequency", "Hz"), ("current", "A"), ("resistance", "Ω"))  # fmt: skip


def formula(exponents: tuple[int, ...]) -> str:
    """Return exponents of length, mass, time and current as ``M L T^-2``."""
    length, mass, time, current = exponents
    parts = [("M", mass), ("L", length), ("T", time), ("I", current)]
    return " ".join(f"{s}^{n}" if n != 1 else s for s, n in parts if n)


def _dimensions(rng: Random, level: int) -> Choice:
    name, vector = rng.choice(DIMENSIONS)
    same = [n for n, v in DIMENSIONS if v == vector and n != name]
    other = [n for n, v in DIMENSIONS if v != vector]
    if level == 1:
        others = sorted({formula(v) for _, v in DIMENSIONS if v != vector})
        lead = rng.choice(
            ("What is the dimension of {}?", "Which dimension does the quantity '{}' have?")
        )
        question = lead.format(name) + " (M mass, L length, T time, I electric current)"
        right, wrong = formula(vector), rng.sample(others, 5)
    elif level == 2:
        question = f"Which of these quantities has the dimension {formula(vector)}? (M mass, L "
        question += "length, T time, I electric current)"
        right, wrong = name, rng.sample(other, 5)
    else:
        if not same:
            return _dimensions(rng, level)
        lead = rng.choice(
            (
                "Which pair of quantities has the same dimension?",
                "Which two quantities could be added, as far as their dimensions go?",
            )
        )
        question, right = lead, named(sorted((name, rng.choice(same))))
        wrong = []
        while len(wrong) < 5:
            (a, one), (b, two) = rng.sample(DIMENSIONS, 2)
            if one != two and named(sorted((a, b))) not in wrong:
                wrong.append(named(sorted((a, b))))
    parameters = {"ask": level, "about": formula(vector), "right": right, "wrong": sorted(wrong)}
    return Choice(question, right, tuple(wrong), parameters)


def _prefixes(rng: Random, level: int) -> Choice:
    quantity, base = rng.choice(BASES)
    prefix, power = rng.choice(PREFIXES)
    number = clean(rng, 1, 999, 1)
    if level == 1:
        other, power2 = rng.choice([p for p in PREFIXES if 0 < abs(p[1] - power) <= 6])
        mantissa, place = _scientific(number)
        exponent = place + power - power2
        text = f"Which of these is the {quantity} {shown(number)} {prefix}{base}?"
        options = [f"${mantissa} \\times 10^{{{e}}}$ {other}{base}" for e in _powers(rng, exponent)]
        parameters = {
            "number": number,
            "from": prefix + base,
            "to": other + base,
            "wrong": sorted(options),
        }
        return Choice(text, options[0], tuple(options[1:]), parameters)
    rows: dict[str, float] = {}
    while len(rows) < 6:
        sign, extra = rng.choice([p for p in PREFIXES if abs(p[1] - power) <= 6])
        value = clean(rng, 1, 999, 1)
        scale = rng.choice((0, 1, 2)) if level == 3 else 0
        value = round(value * 10**scale, 1)
        key = f"{shown(value)} {sign}{base}"
        size = value * 10.0 ** (extra - power)
        if all(max(size, v) > 1.2 * min(size, v) for v in rows.values()):
            rows[key] = size
    ordered = sorted(rows, key=lambda k: rows[k])
    if level == 2:
        top = rng.random() < 0.5
        right = ordered[-1] if top else ordered[0]
        text = f"Which {quantity} is the {'largest' if top else 'smallest'}?"
        wrong = [key for key in ordered if key != right]
        return Choice(text, right, tuple(wrong), {"ask": top, "options": ordered})
    return _prefixes_hard(rng, ordered, quantity)


def _prefixes_hard(rng: Random, ordered: list[str], quantity: str) -> Choice:
    four = [ordered[i] for i in sorted(rng.sample(range(6), 4))]
    lists = [" < ".join(four)]
    while len(lists) < 6:
        mixed = " < ".join(rng.sample(four, 4))
        if mixed not in lists:
            lists.append(mixed)
    text = f"Which list gives each {quantity} in rising order?"
    return Choice(text, lists[0], tuple(lists[1:]), {"ask": "order", "options": four})


def _scientific(number: float) -> tuple[str, int]:
    place = 2 if number >= 100 else 1 if number >= 10 else 0
    return shown(round(number / 10**place, 3)), place


def _powers(rng: Random, right: int) -> list[int]:
    near = [right + step for step in (-6, -3, -2, -1, 1, 2, 3, 6)]
    return [right, *rng.sample(near, 5)]


def _magnitudes(rng: Random, level: int) -> Choice:
    return ordering(
        SIZES, "Which of these lengths is the {}greatest?", "Which of these lengths is the {}smallest?",
        "length", 1.5)(rng, level)  # fmt: skip


FAMILIES = (
    stem_family("facts_units", matching(
        UNITS, ("Which is the SI unit of {}?", "In which SI unit is the quantity '{}' measured?"),
        ("Which quantity has the SI unit {}?", "What is measured in the SI unit {}?"), "quantity and SI unit",
        UNITS_TOO)),
    stem_family("facts_dimensions", _dimensions),
    stem_family("facts_prefixes", _prefixes),
    stem_family("facts_magnitudes", _magnitudes),
)  # fmt: skip
