"""Problems on molar mass, moles and yield."""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import (
    COMPOUNDS,
    EQUATIONS,
    MASS,
    NAME,
    Side,
    atoms,
    masses,
    molar_mass,
    molar_masses,
    organic,
    show,
)
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

AVOGADRO = 6.022e23
AVOGADRO_NOTE = "Take Avogadro's number as $6.022 \\times 10^{23}$ per mol."


def _molar_mass(rng: Random, level: int) -> Solved:
    formula = organic(rng, min(level, 2))
    mass = molar_mass(formula)
    what = rng.choice(("A drug candidate", "A natural product", "A dye", "An organic compound"))
    if level == 1:
        text = f"{what} has the molecular formula {formula}. {masses(formula)} What is its molar "
        text += "mass?"
        wrong: tuple[float, ...] = (
            round(sum(MASS[s] for s in atoms(formula)), 2),
            mass - 1.008,
            mass + 15.999,
        )
        return Solved(text, mass, "g/mol", {"ask": "M", "formula": formula}, 4, wrong)
    if level == 2:
        text = f"{what} has the molecular formula {formula}. {masses(formula)} {AVOGADRO_NOTE} "
        text += "What is the mass of one molecule?"
        value = mass / AVOGADRO
        wrong = (mass, AVOGADRO / mass, value * 1000)
        return Solved(text, value, "g", {"ask": "m", "formula": formula}, 3, wrong)
    other, part = organic(rng, 1), 5 * rng.randint(2, 18)
    text = WORDINGS.one(
        "molar mass",
        part=part,
        formula=formula,
        value=100 - part,
        other=other,
        masses_formula=masses(formula, other),
    )
    second = molar_mass(other)
    value = 100 / (part / mass + (100 - part) / second)
    wrong = ((part * mass + (100 - part) * second) / 100, (mass + second) / 2)
    return Solved(text, value, "g/mol", {"a": formula, "b": other, "part": part}, 3, wrong)


def _moles(rng: Random, level: int) -> Solved:
    formula, name = rng.choice(COMPOUNDS)
    mass, who = molar_mass(formula), rng.choice(("A student", "A technician", "An analyst"))
    if level == 1:
        m = clean(rng, 0.5, 250, 1)
        text = f"{who} weighs out {shown(m)} g of {name}, {formula}. {molar_masses(formula)} How "
        text += "many moles is that?"
        wrong: tuple[float, ...] = (m * mass, mass / m)
        return Solved(text, m / mass, "mol", {"ask": "n", "of": formula, "m": m}, 3, wrong)
    if level == 2:
        n = clean(rng, 0.1, 90, 1)
        text = f"{who} needs {shown(n)} mmol of {name}, {formula}. {masses(formula)} What mass is "
        text += "that?"
        wrong = (n * mass / 1000, n / mass * 1000, n * mass * 1000)
        return Solved(text, n * mass, "mg", {"ask": "m", "of": formula, "n": n}, 3, wrong)
    shared = [(f, n) for f, n in COMPOUNDS if f != formula and set(atoms(f)) & set(atoms(formula))]
    other, other_name = rng.choice(shared)
    symbol = rng.choice([s for s in atoms(formula) if s in atoms(other)])
    a, b = clean(rng, 1, 60, 1), clean(rng, 1, 60, 1)
    one = a / mass * atoms(formula)[symbol]
    two = b / molar_mass(other) * atoms(other)[symbol]
    text = WORDINGS.one(
        "moles",
        who=who,
        a=shown(a),
        name=name,
        formula=formula,
        b=shown(b),
        other_name=other_name,
        other=other,
        masses_formula=masses(formula, other),
        name_2=NAME[symbol],
    )
    wrong = (a / mass + b / molar_mass(other), one, two)
    parameters: dict[str, Any] = {"first": [formula, a], "second": [other, b], "element": symbol}
    return Solved(text, one + two, "mol", parameters, 3, wrong)


def _particles(rng: Random, level: int) -> Solved:
    formula, name = rng.choice(COMPOUNDS)
    place = rng.choice(("a flask", "a crucible", "a sealed tube", "a storage jar"))
    if level == 1:
        n = clean(rng, 0.05, 20, 2)
        text = f"How many formula units of {name} ({formula}) are there in {shown(n)} mol of it "
        text += f"held in {place}? {AVOGADRO_NOTE}"
        wrong: tuple[float, ...] = (
            AVOGADRO / n,
            n / AVOGADRO,
            n * AVOGADRO * sum(atoms(formula).values()),
        )
        return Solved(text, n * AVOGADRO, "", {"ask": "N", "of": formula, "n": n}, 3, wrong)
    if level == 2:
        count = rounded(clean(rng, 1, 9.99, 2) * 10.0 ** rng.randint(19, 23))
        text = f"There are {shown(count)} formula units of {name} ({formula}) in {place}. "
        text += f"{AVOGADRO_NOTE} What amount is that?"
        value = count / AVOGADRO * 1000
        parameters: dict[str, Any] = {"ask": "n", "of": formula, "N": shown(count)}
        return Solved(text, value, "mmol", parameters, 3, (value / 1000, AVOGADRO / count))
    symbol, m = rng.choice(list(atoms(formula))), clean(rng, 0.2, 80, 1)
    text = f"There are {shown(m)} g of {name}, {formula}, in {place}. {masses(formula)} "
    text += f"{AVOGADRO_NOTE} How many {NAME[symbol]} atoms does it contain?"
    units = m / molar_mass(formula) * AVOGADRO
    wrong = (units, units * sum(atoms(formula).values()), m / MASS[symbol] * AVOGADRO)
    value = units * atoms(formula)[symbol]
    return Solved(text, value, "", {"of": formula, "m": m, "element": symbol}, 3, wrong)


def _pair(rng: Random) -> tuple[str, tuple[int, str], tuple[int, str], tuple[Side, Side]]:
    equation = rng.choice(EQUATIONS)
    return show(equation), rng.choice(equation[0]), rng.choice(equation[1]), equation


def _stoichiometry(rng: Random, level: int) -> Solved:
    reaction, (a, left), (b, right), _ = _pair(rng)
    lead = rng.choice(("Consider", "A reactor runs", "A laboratory carries out"))
    lead += f" the reaction {reaction}."
    if level == 1:
        n = clean(rng, 0.2, 30, 2)
        text = f"{lead} How many moles of {right} form when {shown(n)} mol of {left} react "
        text += "completely with enough of the other reactant?"
        parameters: dict[str, Any] = {
            "ask": "n",
            "reaction": reaction,
            "from": left,
            "to": right,
            "n": n,
        }
        return Solved(text, n * b / a, "mol", parameters, 3, (n * a / b, n, n * b, n * a))
    m, ratio = clean(rng, 1, 200, 1), b / a * molar_mass(right) / molar_mass(left)
    if level == 2:
        text = f"{lead} What mass of {left} must react, with enough of the other reactant, to "
        text += f"form {shown(m)} g of {right}? {molar_masses(left, right)}"
        wrong: tuple[float, ...] = (m * ratio, m * a / b, m / ratio * b / a, m)
        parameters = {"ask": "m", "reaction": reaction, "from": left, "to": right, "m": m}
        return Solved(text, m / ratio, "g", parameters, 3, wrong)
    pure, kept = rng.randint(55, 98), rng.randint(50, 95)
    text = WORDINGS.one(
        "stoichiometry",
        lead=lead,
        m=shown(m),
        pure=pure,
        left=left,
        kept=kept,
        right=right,
        masses_left=masses(left, right),
    )
    value = m * ratio * pure * kept / 1e4
    wrong = (m * ratio, m * ratio * pure / 100, m * ratio * kept / 100, value * a / b)
    parameters = {"reaction": reaction, "from": left, "to": right, "m": m}
    parameters |= {"pure": pure, "yield": kept}
    return Solved(text, value, "g", parameters, 3, wrong)


def _limiting(rng: Random, level: int) -> Solved:
    equation = rng.choice(EQUATIONS)
    (a, first), (b, second) = equation[0]
    c, product = rng.choice(equation[1])
    runs, excess = clean(rng, 0.1, 4, 2), clean(rng, 1.1, 2.5, 1)
    amounts = [a * runs, b * runs * excess]
    if rng.random() < 0.5:
        amounts = [a * runs * excess, b * runs]
    lead = rng.choice(("For the reaction", "A chemist runs", "A sealed vessel is used for"))
    if level == 1:
        n, m = (round(x, 2) for x in amounts)
        text = WORDINGS.one(
            "limiting",
            lead=lead,
            equation=show(equation),
            n=shown(n),
            first=first,
            m=shown(m),
            second=second,
            product=product,
        )
        extent = min(n / a, m / b)
        wrong: tuple[float, ...] = (max(n / a, m / b) * c, min(n, m) * c, min(n, m), extent)
        parameters: dict[str, Any] = {
            "ask": "n",
            "reaction": show(equation),
            "n": n,
            "m": m,
            "of": product,
        }
        return Solved(text, extent * c, "mol", parameters, 3, wrong)
    n = round(amounts[0] * molar_mass(first), 1) or 0.1
    m = round(amounts[1] * molar_mass(second), 1) or 0.1
    x, y = n / molar_mass(first) / a, m / molar_mass(second) / b
    extent, parameters = min(x, y), {"reaction": show(equation), "n": n, "m": m, "of": product}
    text = f"{lead} {show(equation)}: {shown(n)} g of {first} and {shown(m)} g of {second} are "
    text += "brought together and react until one is used up. "
    if level == 2:
        text += f"{molar_masses(first, second, product)} What mass of {product} forms?"
        value = extent * c * molar_mass(product)
        wrong = (value * max(x, y) / extent, n + m, value / c)
        return Solved(text, value, "g", parameters, 3, wrong)
    text += f"{masses(first, second)} What mass of the reactant in excess is left over?"
    value = (x - y) * a * molar_mass(first) if x > y else (y - x) * b * molar_mass(second)
    wrong = (abs(n - m), abs(x - y), extent * a * molar_mass(first), n + m)
    return Solved(text, value, "g", {**parameters, "ask": "left", "of": ""}, 2, wrong)


def _yield(rng: Random, level: int) -> Solved:
    reaction, (a, left), (b, right), _ = _pair(rng)
    product = rng.choice(("aspirin", "a dye", "an ester", "copper sulfate crystals", "a polymer"))
    whole = clean(rng, 5, 120, 2)
    part = round(whole * rng.randint(35, 97) / 100, 2)
    if level == 1:
        text = f"A synthesis of {product} could give at most {shown(whole)} g; {shown(part)} g "
        text += "are isolated. What is the percent yield?"
        wrong: tuple[float, ...] = (whole / part * 100, 100 - part / whole * 100)
        parameters: dict[str, Any] = {"ask": "yield", "whole": whole, "part": part}
        return Solved(text, part / whole * 100, "%", parameters, 3, wrong)
    percent = rng.randint(30, 96)
    if level == 2:
        text = f"A synthesis of {product} has a yield of {percent}%. To isolate {shown(part)} g, "
        text += "for what theoretical yield must it be planned?"
        value = part / percent / 10
        wrong = (value * 1000, part * percent / 1e5, part / 1000)
        return Solved(
            text, value, "kg", {"ask": "plan", "part": part, "percent": percent}, 3, wrong
        )
    m, ratio = clean(rng, 5, 90, 1), b / a * molar_mass(right) / molar_mass(left)
    got = float(f"{m * ratio * percent / 100:.3g}")
    text = f"In the reaction {reaction}, {shown(m)} g of {left} (the limiting reactant) gave "
    text += f"{shown(got)} g of {right}. {masses(left, right)} What was the percent yield?"
    wrong = (got / m * 100, got / (ratio * m) * 100 * b / a, 100 - percent)
    parameters = {"reaction": reaction, "from": left, "to": right, "m": m, "got": got}
    return Solved(text, got / (m * ratio) * 100, "%", parameters, 3, wrong)


FAMILIES = (
    stem_family("chemistry_molar_mass", _molar_mass),
    stem_family("chemistry_moles", _moles),
    stem_family("chemistry_particles", _particles),
    stem_family("chemistry_stoichiometry", _stoichiometry),
    stem_family("chemistry_limiting_reagent", _limiting),
    stem_family("chemistry_yield", _yield),
)
