"""Problems on ideal gases and reaction rates."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import (
    EQUATIONS,
    GASES,
    molar_mass,
    molar_masses,
    show,
)
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

R_ATM, R_KPA, R_J = 0.08206, 8.314, 8.314
_ATM = "Take R = 0.08206 L atm/(mol K) and 0 °C = 273.15 K."
_KPA = "Take R = 8.314 L kPa/(mol K) and 0 °C = 273.15 K."


def _gas_amount(rng: Random, level: int) -> Solved:
    formula, name = rng.choice(GASES)
    vessel = rng.choice(("A steel cylinder", "A pressure flask", "A reaction vessel", "A tank"))
    volume, kelvin = clean(rng, 0.5, 60, 1), rng.randint(250, 600)
    if level == 1:
        p = clean(rng, 0.5, 20, 2)
        text = f"{vessel} of {shown(volume)} L is filled with {name} at {shown(p)} atm and "
        text += f"{kelvin} K. Take R = {R_ATM} L atm/(mol K). What amount of gas does it hold?"
        n = p * volume / R_ATM / kelvin
        wrong: tuple[float, ...] = (1 / n, n * kelvin / 273.15, p * volume / 8.314 / kelvin)
        return Solved(text, n, "mol", {"p": p, "V": volume, "T": kelvin}, 3, wrong)
    celsius, m = kelvin - 250, clean(rng, 0.5, 90, 1)
    if level == 2:
        text = f"{vessel} of {shown(volume)} L holds {shown(m)} g of {name} ({formula}) at "
        text += f"{celsius} °C. {molar_masses(formula)} {_KPA} What is the pressure?"
        p = m / molar_mass(formula) * R_KPA * (celsius + 273.15) / volume
        wrong = (p * celsius / (celsius + 273.15), m * R_KPA * (celsius + 273.15) / volume)
        parameters: dict[str, Any] = {"of": formula, "m": m, "V": volume, "t": celsius}
        return Solved(text, p, "kPa", parameters, 3, wrong)
    p, out = clean(rng, 2, 20, 1), rng.randint(15, 80)
    text = WORDINGS.one(
        "gas amount",
        vessel=vessel,
        volume=shown(volume),
        name=name,
        formula=formula,
        p=shown(p),
        celsius=celsius,
        out=out,
        molar_masses_formula=molar_masses(formula),
        atm=_ATM,
    )
    whole = p * volume / R_ATM / (celsius + 273.15) * molar_mass(formula)
    wrong = (whole, whole * out / 100, whole / molar_mass(formula) * (1 - out / 100))
    parameters = {"of": formula, "p": p, "V": volume, "t": celsius, "out": out}
    return Solved(text, whole * (1 - out / 100), "g", parameters, 3, wrong)


def _gas_density(rng: Random, level: int) -> Solved:
    formula, name = rng.choice(GASES)
    who = rng.choice(("An engineer", "A student", "A gas supplier"))
    p, t = clean(rng, 0.5, 5, 2), rng.randint(250, 500)
    if level == 1:
        text = f"{who} stores {name} ({formula}) at {shown(p)} atm and {t} K. "
        text += f"{molar_masses(formula)} Take R = {R_ATM} L atm/(mol K). What is its density?"
        value = p * molar_mass(formula) / R_ATM / t
        wrong: tuple[float, ...] = (
            1 / value,
            value / molar_mass(formula),
            molar_mass(formula) / 22.4,
        )
        return Solved(text, value, "g/L", {"of": formula, "p": p, "T": t}, 3, wrong)
    celsius, kpa = t - 245, rng.randint(60, 300)
    mass = rng.randint(20, 130)
    if level == 2:
        density = rounded(kpa * mass / R_KPA / (celsius + 273.15))
        text = f"{who} measures a density of {shown(density)} g/L for an unknown gas at {kpa} kPa "
        text += f"and {celsius} °C. {_KPA} What is its molar mass?"
        value = density * R_KPA * (celsius + 273.15) / kpa
        wrong = (density * R_KPA * celsius / kpa, density * 22.4, value / 1.013)
        return Solved(text, value, "g/mol", {"d": density, "p": kpa, "t": celsius}, 3, wrong)
    other, name2 = rng.choice([g for g in GASES if g[0] != formula])
    part = 5 * rng.randint(2, 18)
    text = WORDINGS.one(
        "gas density",
        who=who,
        name=name,
        formula=formula,
        name2=name2,
        other=other,
        part=part,
        molar_masses_formula=molar_masses(formula, other),
        kpa=_KPA,
        kpa_2=kpa,
        celsius=celsius,
    )
    mean = (part * molar_mass(formula) + (100 - part) * molar_mass(other)) / 100
    value = kpa * mean / R_KPA / (celsius + 273.15)
    swapped = ((100 - part) * molar_mass(formula) + part * molar_mass(other)) / mean / 100 * value
    wrong = (swapped, kpa * mean / R_KPA / max(celsius, 1), value / 2)
    parameters: dict[str, Any] = {"a": formula, "b": other, "part": part, "p": kpa, "t": celsius}
    return Solved(text, value, "g/L", parameters, 3, wrong)


def _partial_pressure(rng: Random, level: int) -> Solved:
    (f1, a), (f2, b) = rng.sample(GASES, 2)
    lead = rng.choice(("A tank holds", "A gas cylinder holds", "A vessel is filled with"))
    n, m = clean(rng, 0.2, 6, 2), clean(rng, 0.2, 6, 2)
    total = rng.randint(80, 900)
    if level == 1:
        text = f"{lead} {shown(n)} mol of {a} and {shown(m)} mol of {b} at a total pressure of "
        text += f"{total} kPa. What is the partial pressure of {a}?"
        wrong: tuple[float, ...] = (total * m / (n + m), total * n / m, total / 2)
        parameters: dict[str, Any] = {"n": n, "m": m, "total": total}
        return Solved(text, total * n / (n + m), "kPa", parameters, 3, wrong)
    g1, g2 = clean(rng, 2, 80, 1), clean(rng, 2, 80, 1)
    x, y = g1 / molar_mass(f1), g2 / molar_mass(f2)
    text = f"{lead} {shown(g1)} g of {a} ({f1}) and {shown(g2)} g of {b} ({f2})"
    if level == 2:
        atm = clean(rng, 1, 15, 1)
        text += f" at a total pressure of {shown(atm)} atm. {molar_masses(f1, f2)} What is the "
        text += f"partial pressure of {a}? (1 atm = 101.325 kPa)"
        value = atm * x / (x + y) * 101.325
        wrong = (atm * y / (x + y) * 101.325, atm * g1 / (g1 + g2) * 101.325, value / 101.325)
        return Solved(text, value, "kPa", {"a": [f1, g1], "b": [f2, g2], "atm": atm}, 3, wrong)
    volume, t = rng.randint(5, 80), rng.randint(5, 90)
    text += f" in a volume of {volume} L at {t} °C. {molar_masses(f1, f2)} {_KPA} What is the "
    text += "total pressure?"
    value = (x + y) * R_KPA * (t + 273.15) / volume
    wrong = (value * t / (t + 273.15), value * x / (x + y), value * y / (x + y))
    parameters = {"a": [f1, g1], "b": [f2, g2], "V": volume, "t": t}
    return Solved(text, value, "kPa", parameters, 3, wrong)


def _gas_stoichiometry(rng: Random, level: int) -> Solved:
    equation = rng.choice([e for e in EQUATIONS if any(f in dict(GASES) for _, f in e[1])])
    a, left = rng.choice(equation[0])
    b, gas = rng.choice([term for term in equation[1] if term[1] in dict(GASES)])
    lead = rng.choice(("A plant runs", "Consider", "A student carries out"))
    lead += f" the reaction {show(equation)}."
    n, m = clean(rng, 0.1, 9, 2), clean(rng, 1, 90, 1)
    if level == 1:
        text = f"{lead} {shown(n)} mol of {left} react completely with enough of the other "
        text += f"reactant. What volume of {gas} forms, measured where a mole of gas takes 22.4 L?"
        value = n * b / a * 22.4
        wrong: tuple[float, ...] = (n * 22.4, n * a / b * 22.4, value / 22.4, n / 22.4 * b)
        parameters: dict[str, Any] = {"reaction": show(equation), "from": left, "to": gas, "n": n}
        return Solved(text, value, "L", parameters, 3, wrong)
    t, atm = rng.randint(5, 300), clean(rng, 0.5, 3, 2)
    litres = m / molar_mass(left) * b / a * R_ATM * (t + 273.15) / atm
    parameters = {"reaction": show(equation), "from": left, "to": gas, "t": t, "p": atm}
    if level == 2:
        text = WORDINGS.one(
            "gas stoichiometry",
            lead=lead,
            m=shown(m),
            left=left,
            gas=gas,
            t=t,
            atm=shown(atm),
            molar_masses_left=molar_masses(left),
            atm_2=_ATM,
        )
        wrong = (litres * a * a / b / b, litres * t / (t + 273.15), litres * 1000)
        return Solved(text, litres, "L", {**parameters, "m": m}, 3, wrong)
    volume = rounded(litres, 3)
    kept = rng.randint(50, 95)
    text = WORDINGS.one(
        "gas stoichiometry 2",
        lead=lead,
        volume=shown(volume),
        gas=gas,
        t=t,
        atm=shown(atm),
        kept=kept,
        left=left,
        molar_masses_left=molar_masses(left),
        atm_2=_ATM,
    )
    value = volume * atm / R_ATM / (t + 273.15) * a / b * molar_mass(left) / kept * 100
    wrong = (value * kept / 100, value * (kept / 100) ** 2, value * b * b / a / a)
    return Solved(text, value, "g", {**parameters, "V": volume, "kept": kept}, 3, wrong)


def _first_order(rng: Random, level: int) -> Solved:
    what = rng.choice(("N2O5", "hydrogen peroxide", "an azo compound", "a pesticide", "aspirin"))
    c, k, t = clean(rng, 0.1, 3, 2), clean(rng, 0.005, 0.2, 3), rng.randint(3, 60)
    lead = f"The decomposition of {what} is first order with rate constant {shown(k)} 1/min."
    if level == 1:
        text = f"{lead} The concentration at the start is {shown(c)} mol/L. What is it after {t} "
        text += "min?"
        wrong: tuple[float, ...] = (
            c * (1 - math.exp(-k * t)),
            c / (1 + k * t * c),
            c * math.exp(-k * t / 2),
            c * k * t,
        )
        parameters: dict[str, Any] = {"c": c, "k": k, "t": t}
        return Solved(text, c * math.exp(-k * t), "mol/L", parameters, 3, wrong)
    part = rng.randint(5, 95)
    if level == 2:
        text = f"{lead} How long does it take until {part}% of it has decomposed?"
        value = -math.log(1 - part / 100) / k * 60
        wrong = (value / 60, -math.log(part / 100) / k * 60, part / 100 / k * 60)
        return Solved(text, value, "s", {"k": k, "part": part}, 3, wrong)
    c2 = rounded(c * clean(rng, 0.3, 0.9, 2), 2)
    later = t + rng.randint(5, 90)
    text = f"The decomposition of {what} is first order. Its concentration falls from {shown(c)} "
    text += f"mol/L to {shown(c2)} mol/L in {t} min. What is it {later} min after the start?"
    value = c * (c2 / c) ** (later / t)
    wrong = (max(c - (c - c2) * later / t, 0), 1 / (1 / c + (1 / c2 - 1 / c) * later / t), c2)
    return Solved(text, value, "mol/L", {"c": c, "c2": c2, "t": t, "later": later}, 3, wrong)


def _second_order(rng: Random, level: int) -> Solved:
    what = rng.choice(("NO2", "butadiene", "an aldehyde", "HI", "a free radical"))
    c, k, t = clean(rng, 0.05, 2, 2), clean(rng, 0.005, 0.5, 3), rng.randint(5, 120)
    lead = f"{what} disappears in a second-order reaction, rate = k[{what}]^2,"
    lead = lead[0].upper() + lead[1:]
    if level == 1:
        text = f"{lead} with k = {shown(k)} L/(mol min). At the start its concentration is "
        text += f"{shown(c)} mol/L. What is it after {t} min?"
        wrong: tuple[float, ...] = (c * math.exp(-k * t), c / (1 + k * t), c / 2)
        return Solved(text, c / (1 + k * c * t), "mol/L", {"c": c, "k": k, "t": t}, 3, wrong)
    if level == 2:
        text = f"{lead} with k = {shown(k)} L/(mol min). At the start its concentration is "
        text += f"{shown(c)} mol/L. What is the first half-life?"
        value = 60 / (k * c)
        wrong = (value / 60, math.log(2) / k * 60, c / (2 * k) * 60)
        return Solved(text, value, "s", {"ask": "half", "c": c, "k": k}, 3, wrong)
    c2 = rounded(c * clean(rng, 0.3, 0.9, 2), 2)
    percent = rng.randint(5, 25)
    text = f"{lead} and its concentration falls from {shown(c)} mol/L to {shown(c2)} mol/L in {t} "
    text += f"min. How long after the start is it {percent}% of the first value?"
    rate = (1 / c2 - 1 / c) / t
    value = (100 / percent - 1) / c / rate
    wrong = (t * math.log(percent / 100) / math.log(c2 / c), value - t, 1 / rate / c)
    return Solved(text, value, "min", {"c": c, "c2": c2, "t": t, "to": percent}, 3, wrong)


def _arrhenius(rng: Random, level: int) -> Solved:
    what = pick(
        rng, "a hydrolysis", "the browning of a sugar", "an isomerisation", "an etching step"
    )
    ea, t1 = rng.randint(30, 140), rng.randint(280, 360)
    t2 = t1 + rng.randint(5, 40)
    step = 1 / t1 - 1 / t2
    if level == 1:
        text = f"For {what} the activation energy is {ea} kJ/mol (R = 8.314 J/(mol K)). By what "
        text += f"factor does the rate constant grow between {t1} K and {t2} K?"
        wrong: tuple[float, ...] = (
            t2 / t1,
            math.exp(ea / R_J * step),
            math.exp(-ea * 1000 / R_J * step),
            2,
        )
        value = math.exp(ea * 1000 / R_J * step)
        return Solved(text, value, "", {"Ea": ea, "T": [t1, t2]}, 3, wrong)
    factor = rounded(math.exp(ea * 1000 / R_J * step), 3)
    a, b = t1 - 273, t2 - 273
    step = 1 / (a + 273.15) - 1 / (b + 273.15)
    text = f"The rate constant of {what} grows by a factor of {shown(factor)} between {a} °C and "
    text += f"{b} °C (R = 8.314 J/(mol K), 0 °C = 273.15 K). "
    energy = R_J * math.log(factor) / step / 1000
    if level == 2:
        text += "What is the activation energy?"
        wrong = (energy * 1000, energy / 2.303, R_J * math.log(factor) * (b - a) / 1000)
        return Solved(text, energy, "kJ/mol", {"k": factor, "t": [a, b]}, 3, wrong)
    c = b + rng.randint(5, 30)
    text += f"By what factor is it larger at {c} °C than at {a} °C?"
    value = factor ** ((1 / (a + 273.15) - 1 / (c + 273.15)) / step)
    wrong = (factor * (c - a) / (b - a), factor ** ((1 / a - 1 / c) / (1 / a - 1 / b)) if a > 0 else 0,
             value / factor)  # fmt: skip
    return Solved(text, value, "", {"k": factor, "t": [a, b, c]}, 3, wrong)


FAMILIES = (
    stem_family("chemistry_gas_amount", _gas_amount),
    stem_family("chemistry_gas_density", _gas_density),
    stem_family("chemistry_partial_pressure", _partial_pressure),
    stem_family("chemistry_gas_stoichiometry", _gas_stoichiometry),
    stem_family("chemistry_first_order", _first_order),
    stem_family("chemistry_second_order", _second_order),
    stem_family("chemistry_arrhenius", _arrhenius),
)
