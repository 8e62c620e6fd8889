"""Asks multiple-choice questions on common science facts; wrong options come from the same table."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from prorl_datasets.procedural.items import Family, Item
from prorl_datasets.procedural.small.formulas import choice_item

Table = tuple[tuple[str, str], ...]

UNITS: Table = (
    ("force", "newton"),
    ("energy", "joule"),
    ("power", "watt"),
    ("pressure", "pascal"),
    ("frequency", "hertz"),
    ("electric current", "ampere"),
    ("voltage", "volt"),
    ("resistance", "ohm"),
    ("electric charge", "coulomb"),
    ("temperature", "kelvin"),
    ("mass", "kilogram"),
    ("length", "metre"),
    ("time", "second"),
    ("amount of substance", "mole"),
)
SYMBOLS: Table = (
    ("hydrogen", "H"),
    ("helium", "He"),
    ("carbon", "C"),
    ("nitrogen", "N"),
    ("oxygen", "O"),
    ("sodium", "Na"),
    ("magnesium", "Mg"),
    ("aluminium", "Al"),
    ("silicon", "Si"),
    ("sulfur", "S"),
    ("chlorine", "Cl"),
    ("potassium", "K"),
    ("calcium", "Ca"),
    ("iron", "Fe"),
    ("copper", "Cu"),
    ("silver", "Ag"),
    ("gold", "Au"),
    ("mercury", "Hg"),
    ("lead", "Pb"),
    ("tin", "Sn"),
)
ORGANS: Table = (
    ("pumps blood", "heart"),
    ("takes in oxygen", "lungs"),
    ("filters the blood into urine", "kidneys"),
    ("digests food with acid", "stomach"),
    ("makes bile", "liver"),
    ("controls thought and movement", "brain"),
    ("sees light", "eye"),
    ("hears sound", "ear"),
    ("covers and protects the body", "skin"),
    ("makes insulin", "pancreas"),
)
FORMULAE: Table = (
    ("water", "H2O"),
    ("carbon dioxide", "CO2"),
    ("table salt", "NaCl"),
    ("methane", "CH4"),
    ("ammonia", "NH3"),
    ("oxygen gas", "O2"),
    ("hydrochloric acid", "HCl"),
    ("sulfuric acid", "H2SO4"),
    ("glucose", "C6H12O6"),
    ("ozone", "O3"),
    ("calcium carbonate", "CaCO3"),
    ("hydrogen peroxide", "H2O2"),
)
PLANETS: Table = (
    ("closest to the Sun", "Mercury"),
    ("third from the Sun", "Earth"),
    ("the largest", "Jupiter"),
    ("known for its wide rings", "Saturn"),
    ("called the red planet", "Mars"),
    ("the farthest from the Sun", "Neptune"),
    ("the hottest at its surface", "Venus"),
    ("tilted on its side", "Uranus"),
)


def _facts(table: Table, question: str) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        thing, right = rng.choice(table)
        others = sorted({value for _, value in table if value != right})
        wrong = rng.sample(others, 3 if level > 1 else 2)
        return choice_item(rng, question.format(thing=thing), right, wrong)

    return generate


def _order_of_quantities(rng: Random, level: int) -> Item:
    unit, name = rng.choice((("kg", "mass"), ("m", "length"), ("s", "time"), ("J", "energy")))
    values = rng.sample(range(2, 100 * level), 4 if level > 1 else 3)
    most = rng.random() < 0.5
    right = max(values) if most else min(values)
    word = "largest" if most else "smallest"
    wrong = [f"{v} {unit}" for v in values if v != right]
    return choice_item(rng, f"Which {name} is the {word}?", f"{right} {unit}", wrong)


FAMILIES = (
    Family("unit_of", "stem", _facts(UNITS, "Which is the SI unit of {thing}?")),
    Family("element_symbol", "stem", _facts(SYMBOLS, "What is the chemical symbol of {thing}?")),
    Family("organ_function", "stem", _facts(ORGANS, "Which part of the body {thing}?")),
    Family("chemical_formula", "stem", _facts(FORMULAE, "What is the formula of {thing}?")),
    Family("planet", "stem", _facts(PLANETS, "Which planet is {thing}?")),
    Family("order_of_quantities", "stem", _order_of_quantities),
)
