"""Asks one-formula science questions with small integer answers, numeric or multiple-choice.

The question states the unit, so the answer is a bare number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from prorl_datasets.procedural.items import Family, Item, by_level
from prorl_datasets.procedural.wordings import Wordings
from prorl_verifiers import Task

WORDINGS = Wordings(__name__)

LETTERS = "ABCD"
Draw = Callable[[Random, int], tuple[str, int]]
"""(rng, top) to (question, answer); ``top`` bounds the factors."""


@dataclass(frozen=True, slots=True)
class _Formula:
    name: str
    draw: Draw


def _pair(rng: Random, top: int) -> tuple[int, int]:
    return rng.randint(2, top), rng.randint(2, top)


def _of_factors(name: str, solve: Callable[[int, int], int]) -> _Formula:
    """Return the formula that asks for one of a, b and their product, given the other two."""

    def draw(rng: Random, top: int) -> tuple[str, int]:
        a, b = _pair(rng, top)
        return WORDINGS.one(name.replace("_", " "), a=a, b=b, product=a * b), solve(a, b)

    return _Formula(name, draw)


def _speed(rng: Random, top: int) -> tuple[str, int]:
    v, t = _pair(rng, top)
    who = rng.choice(("car", "train", "bus", "bike", "boat"))
    return f"A {who} travels {v * t} km in {t} hours. What is its speed in km/h?", v


def _distance(rng: Random, top: int) -> tuple[str, int]:
    v, t = _pair(rng, top)
    who = rng.choice(("runner", "dog", "cyclist", "robot", "ball"))
    return f"A {who} moves at {v} m/s for {t} s. How far does it go in m?", v * t


def _kinetic_energy(rng: Random, top: int) -> tuple[str, int]:
    m, v = 2 * rng.randint(1, top), rng.randint(2, top)
    return f"A body of {m} kg moves at {v} m/s. What is its kinetic energy in J?", m * v * v // 2


def _neutrons(rng: Random, top: int) -> tuple[str, int]:
    protons = rng.randint(2, 3 * top)
    neutrons = protons + rng.randint(0, 2 * top)
    text = f"An atom has {protons} protons and mass number {protons + neutrons}. How many neutrons?"
    return text, neutrons


def _series_resistance(rng: Random, top: int) -> tuple[str, int]:
    a, b = _pair(rng, 3 * top)
    return f"Resistors of {a} ohm and {b} ohm are in series. What is the total in ohm?", a + b


def _mass_of_moles(rng: Random, top: int) -> tuple[str, int]:
    name, molar = rng.choice((
        ('water', 18), ('methane', 16), ('oxygen gas', 32), ('carbon dioxide', 44),
        ('helium', 4)
    ))  # fmt: skip
    n = rng.randint(2, 4 * top)
    return (
        f"The molar mass of {name} is {molar} g/mol. What is the mass of {n} mol in g?",
        n * molar,
    )


def _mean(rng: Random, top: int) -> tuple[str, int]:
    mean = rng.randint(top // 2 + 3, 2 * top + 3)
    a, b = rng.randint(1, top // 2 + 2), rng.randint(1, top // 2 + 2)
    values = [mean - a, mean + a - b, mean + b]
    rng.shuffle(values)
    return f"What is the mean of {values[0]}, {values[1]} and {values[2]}?", mean


def _heat(rng: Random, top: int) -> tuple[str, int]:
    m, c = _pair(rng, top)
    dt = rng.randint(2, 9)
    text = f"How much heat in J warms {m} kg with specific heat {c} J/(kg K) by {dt} K?"
    return text, m * c * dt


def _growth(rng: Random, top: int) -> tuple[str, int]:
    start, n = rng.randint(2, 3 * top), rng.randint(1, 4)
    text = WORDINGS.one("growth", start=start, n=n, plural_s="s" * (n > 1))
    return text, start * 2**n


FORMULAS = (
    _Formula("speed", _speed),
    _Formula("distance", _distance),
    _of_factors("density", lambda a, b: a),
    _of_factors("voltage", lambda a, b: a * b),
    _of_factors("current", lambda a, b: a),
    _of_factors("force", lambda a, b: a * b),
    _of_factors("acceleration", lambda a, b: b),
    _of_factors("momentum", lambda a, b: a * b),
    _of_factors("work", lambda a, b: a * b),
    _of_factors("power", lambda a, b: a),
    _of_factors("pressure", lambda a, b: a),
    _of_factors("wave_speed", lambda a, b: a * b),
    _Formula("kinetic_energy", _kinetic_energy),
    _of_factors("potential_energy", lambda a, b: 10 * a * b),
    _Formula("neutrons", _neutrons),
    _Formula("series_resistance", _series_resistance),
    _of_factors("charge", lambda a, b: a * b),
    _Formula("mass_of_moles", _mass_of_moles),
    _Formula("mean", _mean),
    _Formula("heat", _heat),
    _Formula("growth", _growth),
)


def choice_item(rng: Random, question: str, right: str, wrong: list[str]) -> Item:
    """Return a multiple-choice item with shuffled options and a boxed letter."""
    options = [right, *wrong]
    rng.shuffle(options)
    letter = LETTERS[options.index(right)]
    listed = " ".join(f"{LETTERS[i]}) {text}" for i, text in enumerate(options))
    task = Task("stem", {"answer": letter, "choices": options})
    chance = round(1 / len(options), 4)
    return Item(f"{question} {listed}", task, f"\\boxed{{{letter}}}", answer=letter, chance=chance)


def _numeric(draw: Draw) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        question, answer = draw(rng, by_level(level, 7, 20, 60))
        task = Task("stem", {"answer": str(answer)})
        return Item(question, task, f"\\boxed{{{answer}}}", answer=str(answer))

    return generate


def _choices(draw: Draw) -> Callable[[Random, int], Item]:
    def generate(rng: Random, level: int) -> Item:
        question, answer = draw(rng, by_level(level, 7, 20, 60))
        near = {answer + d for d in (-10, -3, -2, -1, 1, 2, 3, 10)} | {answer * 2, answer * 10}
        wrong = rng.sample(sorted(n for n in near if n > 0 and n != answer), 3)
        return choice_item(rng, question, str(answer), [str(n) for n in wrong])

    return generate


FAMILIES = (
    *(Family(f.name, "stem", _numeric(f.draw)) for f in FORMULAS),
    *(Family(f"{f.name}_choice", "stem", _choices(f.draw)) for f in FORMULAS),
)
