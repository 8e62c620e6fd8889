"""Problems on the human body."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _heart_output(rng: Random, level: int) -> Solved:
    who = rng.choice(("A runner", "A patient", "A horse rider", "A diver"))
    rate, stroke = rng.randint(45, 180), rng.randint(45, 130)
    if level == 1:
        text = f"{who}'s heart beats {rate} times a minute and pumps {stroke} mL with each beat. "
        text += "What is the cardiac output?"
        value = rate * stroke / 1000
        return Solved(text, value, "L/min", {"rate": rate, "stroke": stroke}, 3,
                      (value * 60, rate / stroke, stroke / rate, value * 10))  # fmt: skip
    filled, part = rng.randint(90, 190), rng.randint(35, 75)
    if level == 2:
        output = rounded(filled * part / 100 * rate / 1000)
        text = WORDINGS.one("heart output", who=who, output=shown(output), rate=rate, filled=filled)
        value = output / rate * 1e5 / filled
        wrong: tuple[float, ...] = (
            100 - value,
            output / rate * 1000,
            value / 1.5,
            output * 100 / filled,
        )
        return Solved(
            text, value, "%", {"rate": rate, "output": output, "filled": filled}, 3, wrong
        )
    arterial, used = clean(rng, 170, 210, 0), rng.randint(35, 140)
    venous, uptake = arterial - used, round(stroke * rate * used / 1000)
    text = WORDINGS.one(
        "heart output 2",
        who=who,
        uptake=uptake,
        arterial=shown(arterial),
        venous=shown(venous),
        rate=rate,
    )
    value = uptake / (arterial - venous) / rate * 1000
    wrong = (
        uptake / (arterial - venous),
        uptake / arterial / rate * 1000,
        uptake / venous / rate * 1000,
    )
    parameters: dict[str, Any] = {"uptake": uptake, "a": arterial, "v": venous, "rate": rate}
    return Solved(text, value, "mL", parameters, 3, wrong)


def _body_mass(rng: Random, level: int) -> Solved:
    who = rng.choice(("A patient", "A swimmer", "A volunteer", "A teacher"))
    kg, cm = clean(rng, 45, 130, 1), rng.randint(148, 200)
    bmi = kg / (cm / 100) ** 2
    if level == 1:
        text = f"{who} weighs {shown(kg)} kg and is {cm} cm tall. What is the body mass index "
        text += "(mass over height squared)?"
        wrong: tuple[float, ...] = (
            kg / (cm / 100),
            (cm / 100) ** 2 / kg * 1000,
            kg / (cm / 100) ** 3,
            kg / cm * 100 / 1.5,
        )
        return Solved(text, bmi, "kg/m^2", {"kg": kg, "cm": cm}, 3, wrong)
    goal = clean(rng, 18.5, 26, 1)
    if level == 2:
        inches, pounds = rng.randint(58, 78), rng.randint(100, 280)
        text = f"{who} weighs {pounds} lb and is {inches} in tall (1 lb = 0.4536 kg, 1 in = 2.54 "
        text += "cm). What is the body mass index (mass over height squared)?"
        value = pounds * 0.4536 / (inches * 0.0254) ** 2
        wrong = (pounds / inches**2, value / 0.4536, pounds * 0.4536 / (inches * 0.0254), value * 2)
        return Solved(text, value, "kg/m^2", {"lb": pounds, "in": inches}, 3, wrong)
    kg = max(kg, rounded(goal * (cm / 100) ** 2 + 4, 3))
    week = clean(rng, 0.2, 0.9, 2)
    text = WORDINGS.one(
        "body mass", who=who, kg=shown(kg), cm=cm, goal=shown(goal), week=shown(week)
    )
    value = (kg - goal * (cm / 100) ** 2) / week
    wrong = (kg - goal * (cm / 100) ** 2, value * week**2, (bmi - goal) / week, value * 7)
    return Solved(text, value, "", {"kg": kg, "cm": cm, "goal": goal, "week": week}, 3, wrong)


def _drug(rng: Random, level: int) -> Solved:
    what = rng.choice(("a painkiller", "an antibiotic", "caffeine", "a sedative"))
    dose, half, t = 10 * rng.randint(5, 90), clean(rng, 1, 14, 1), clean(rng, 1, 40, 1)
    if level == 1:
        text = f"{dose} mg of {what} are in the body; the half-life of elimination is "
        text += f"{shown(half)} h. How much is left after {shown(t)} h?"
        value = dose * 0.5 ** (t / half)
        wrong: tuple[float, ...] = (
            dose - value,
            dose * math.exp(-t / half),
            dose / (1 + t / half),
            value / 2,
        )
        return Solved(text, value, "mg", {"dose": dose, "half": half, "t": t}, 3, wrong)
    volume = rng.randint(10, 400)
    if level == 2:
        text = f"{what[0].upper() + what[1:]} has a volume of distribution of {volume} L and a "
        text += f"half-life of {shown(half)} h (first-order elimination). What is its clearance?"
        value = math.log(2) / half * volume * 1000 / 60
        wrong = (
            value * 60 / 1000,
            volume / half * 1000 / 60,
            value / math.log(2) ** 2,
            half * volume / 60,
        )
        return Solved(text, value, "mL/min", {"V": volume, "half": half}, 3, wrong)
    tau, uptake = rng.choice((4, 6, 8, 12, 24)), rng.randint(40, 100)
    text = WORDINGS.one(
        "drug", dose=dose, what=what, tau=tau, uptake=uptake, volume=volume, half=shown(half)
    )
    value = dose * uptake / 100 / tau / (math.log(2) / half * volume)
    wrong = (value * 100 / uptake, value * math.log(2), dose * uptake / 100 / volume, value * tau)
    parameters: dict[str, Any] = {
        "dose": dose,
        "tau": tau,
        "uptake": uptake,
        "V": volume,
        "half": half,
    }
    return Solved(text, value, "mg/L", parameters, 3, wrong)


def _breathing(rng: Random, level: int) -> Solved:
    who = rng.choice(("A runner", "A cyclist", "A climber", "A rower"))
    rate, tidal, dead = rng.randint(16, 45), 10 * rng.randint(80, 260), 10 * rng.randint(11, 21)
    if level == 1:
        text = f"{who} takes {rate} breaths a minute of {tidal} mL each. What volume is breathed "
        text += "in a minute?"
        value = rate * tidal / 1000
        return Solved(text, value, "L", {"rate": rate, "tidal": tidal}, 3,
                      (tidal / rate, value * 60, value / 2, value * 2))  # fmt: skip
    fresh = rate * (tidal - dead) / 1000
    if level == 2:
        text = f"{who} takes {rate} breaths a minute of {tidal} mL each; {dead} mL of each stay "
        text += "in the dead space. What volume of fresh air reaches the alveoli in an hour?"
        wrong: tuple[float, ...] = (
            rate * tidal * 0.06,
            fresh,
            rate * dead * 0.06,
            rate * (tidal + dead) * 0.06,
        )
        return Solved(text, fresh * 60, "L", {"rate": rate, "tidal": tidal, "dead": dead}, 3, wrong)
    out = clean(rng, 3.2, 5.5, 1)
    text = WORDINGS.one(
        "breathing", who=who, rate=rate, tidal=tidal, round=shown(round(20.9 - out, 1))
    )
    value = rate * tidal / 1000 * out / 100 * 20.1 * 1000 / 60
    wrong = (value * 60 / 1000, value * 20.9 / out, value * (20.9 - out) / out, value / 20.1)
    return Solved(text, value, "W", {"rate": rate, "tidal": tidal, "out": out}, 3, wrong)


def _kidney(rng: Random, level: int) -> Solved:
    who = rng.choice(("a volunteer", "a patient", "a dog in a clinic"))
    u, p, v = clean(rng, 20, 300, 1), clean(rng, 0.5, 6, 2), clean(rng, 0.4, 6, 2)
    lead = f"In {who} the urine holds {shown(u)} mg/mL of inulin, the plasma {shown(p)} mg/mL"
    gfr = u * v / p
    litres = clean(rng, 0.6, 4, 2)
    if not 45 < (gfr if level != 2 else u * litres / 1.44 / p) < 160:
        return _kidney(rng, level)
    if level == 1:
        text = f"{lead}; {shown(v)} mL of urine form in a minute. What is the clearance (U V/P)?"
        wrong: tuple[float, ...] = (u / p, u * p / v, v * p / u, p * v)
        return Solved(text, gfr, "mL/min", {"U": u, "P": p, "V": v}, 3, wrong)
    if level == 2:
        text = f"{lead}; {shown(litres)} L of urine form in 24 h. What is the clearance (U V/P)?"
        value = u * litres * 1000 / 1440 / p
        wrong = (u * litres / p, value * 1440 / 1000, value * 60, value * 24)
        return Solved(text, value, "mL/min", {"U": u, "P": p, "L": litres}, 3, wrong)
    sugar, out = clean(rng, 0.8, 6, 2), clean(rng, 1, 60, 1)
    carried = gfr * sugar - out * v
    if carried < 0.15 * gfr * sugar:
        return _kidney(rng, level)
    text = WORDINGS.one("kidney", lead=lead, v=shown(v), sugar=shown(sugar), out=shown(out))
    wrong = (gfr * sugar, gfr * sugar - out, gfr * sugar + out * v, out * v)
    parameters: dict[str, Any] = {"U": u, "P": p, "V": v, "sugar": sugar, "out": out}
    return Solved(text, carried, "mg/min", parameters, 2, wrong)


def _food(rng: Random, level: int) -> Solved:
    what = rng.choice(("A muesli bar", "A lunch box", "A bag of nuts", "A canteen meal"))
    fat, carbs, protein = clean(rng, 2, 50, 1), clean(rng, 5, 120, 1), clean(rng, 2, 50, 1)
    lead = f"{what} holds {shown(fat)} g of fat, {shown(carbs)} g of carbohydrate and "
    lead += f"{shown(protein)} g of protein"
    energy = 37 * fat + 17 * (carbs + protein)
    rule = "(37 kJ/g for fat, 17 kJ/g for carbohydrate and for protein)"
    parameters: dict[str, Any] = {"fat": fat, "carbs": carbs, "protein": protein, "ask": level}
    if level == 1:
        text = f"{lead} {rule}. What is its energy?"
        wrong: tuple[float, ...] = (
            17 * (fat + carbs + protein),
            37 * (fat + carbs + protein),
            energy - 17 * protein,
        )
        return Solved(text, energy, "kJ", parameters, 3, wrong)
    if level == 2:
        text = f"{lead} {rule}. What percent of its energy comes from fat?"
        wrong = (
            100 * fat / (fat + carbs + protein),
            100 - 3700 * fat / energy,
            1700 * fat / energy,
        )
        return Solved(text, 3700 * fat / energy, "%", parameters, 3, wrong)
    power, share = rng.randint(40, 300), rng.randint(15, 28)
    text = f"{lead} {rule}. The body turns {share}% of the energy into mechanical work. For how "
    text += f"many minutes can it drive a bicycle with {power} W of mechanical power?"
    value = energy * 1000 * share / 100 / power / 60
    wrong = (value * 100 / share, value * 60, value / 60, value * (100 - share) / share)
    return Solved(text, value, "min", {**parameters, "W": power, "share": share}, 3, wrong)


def _allometry(rng: Random, level: int) -> Solved:
    what = rng.choice(("mammals", "the mammals of an island", "the mammals of a zoo"))
    a, mass = clean(rng, 2.5, 4.5, 2), clean(rng, 0.02, 2 if level == 3 else 900, 2)
    lead = f"Among {what} the metabolic rate scales with mass to the power 0.75"
    if level == 1:
        text = f"{lead}: B = {shown(a)} W × (M/kg)^0.75. What is the rate of an animal of "
        text += f"{shown(mass)} kg?"
        wrong: tuple[float, ...] = (a * mass, a * mass**0.67, (a * mass) ** 0.75, a * mass * 0.75)
        return Solved(text, a * mass**0.75, "W", {"a": a, "M": mass}, 3, wrong)
    factor = rng.randint(2, 300)
    if level == 2:
        grams = rng.randint(10, 900)
        text = f"{lead}: B = {shown(a)} W × (M/kg)^0.75. What is the rate per kilogram of an "
        text += f"animal of {grams} g?"
        value = a * (grams / 1000) ** -0.25
        wrong = (a * (grams / 1000) ** 0.75, a * grams**-0.25, a / (grams / 1000) ** 0.75, a)
        return Solved(text, value, "W/kg", {"a": a, "g": grams}, 3, wrong)
    food = clean(rng, 5, 90, 1)
    text = WORDINGS.one("allometry", lead=lead, mass=shown(mass), food=shown(food), factor=factor)
    value = food * factor**-0.25
    wrong = (food * factor**0.75, food / factor, food * factor**-0.75, food)
    return Solved(text, value, "%", {"food": food, "factor": factor}, 3, wrong)


FAMILIES = (
    stem_family("biology_heart_output", _heart_output),
    stem_family("biology_body_mass_index", _body_mass),
    stem_family("biology_drug_elimination", _drug),
    stem_family("biology_breathing", _breathing),
    stem_family("biology_kidney_clearance", _kidney),
    stem_family("biology_food_energy", _food),
    stem_family("biology_allometry", _allometry),
)
