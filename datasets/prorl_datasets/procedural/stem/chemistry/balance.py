"""Problems on free energy, equilibrium and electrochemistry."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import MASS, NAME
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

METALS = (
    ("Ag", 1),
    ("Cu", 2),
    ("Zn", 2),
    ("Al", 3),
    ("Au", 3),
    ("Ni", 2),
    ("Cr", 3),
    ("Pb", 2),
    ("Mg", 2),
)

FARADAY = 96485

R_J = 8.314


def _gibbs(rng: Random, level: int) -> Solved:
    h, s, t = clean(rng, -250, 250, 1), clean(rng, -300, 300, 1), rng.randint(250, 900)
    if abs(h) < 5 or abs(s) < 5:
        return _gibbs(rng, level)
    lead = rng.choice(("For a synthesis", "For a reaction in the gas phase", "For a decomposition"))
    values = f"ΔH° = {shown(abs(h))} kJ/mol and ΔS° = {shown(abs(s))} J/(mol K)"
    if level == 2:
        text = f"{lead} {values} (both positive and independent of temperature). Above which "
        text += "temperature in °C is it spontaneous? (0 °C = 273.15 K)"
        value = abs(h) / abs(s) * 1000 - 273.15
        if abs(value) < 20 or value > 2000:
            return _gibbs(rng, level)
        wrong: tuple[float, ...] = (value + 273.15, abs(s) / abs(h), value + 546.3, abs(h / s))
        return Solved(text, value, "°C", {"ask": "T", "h": abs(h), "s": abs(s)}, 3, wrong)
    g = h - t * s / 1000
    if abs(g) < 2:
        return _gibbs(rng, level)
    lead += f" ΔH° = {shown(h)} kJ/mol and ΔS° = {shown(s)} J/(mol K)."
    if level == 1:
        wrong = (h + t * s / 1000, h - t * s, h - (t - 273) * s / 1000, -g)
        return Solved(
            f"{lead} What is ΔG° at {t} K?", g, "kJ/mol", {"h": h, "s": s, "T": t}, 3, wrong
        )
    log = -g * 1000 / R_J / t
    if abs(log) > 40:
        return _gibbs(rng, level)
    text = f"{lead} Take R = 8.314 J/(mol K). What is the natural logarithm of the equilibrium "
    text += f"constant at {t} K?"
    wrong = (-log, log / 2.303, log / 1000, -h * 1000 / R_J / t)
    return Solved(text, log, "", {"ask": "lnK", "h": h, "s": s, "T": t}, 3, wrong)


def _equilibrium(rng: Random, level: int) -> Solved:
    a, b, c = clean(rng, 0.05, 2, 2), clean(rng, 0.05, 2, 2), clean(rng, 0.05, 2, 2)
    vessel = rng.choice(("a sealed vessel", "an autoclave", "a flow cell kept closed"))
    if level == 1:
        p, q = rng.randint(1, 2), rng.randint(1, 3)
        equation = f"{'2 ' if p == 2 else ''}A + B <=> {str(q) + ' ' if q > 1 else ''}C"
        text = WORDINGS.one(
            "equilibrium", equation=equation, vessel=vessel, a=shown(a), b=shown(b), c=shown(c)
        )
        k = c**q / (a**p * b)
        wrong: tuple[float, ...] = (1 / k, q * c / (p * a * b), c / (a * b), c**q / (a**p + b))
        return Solved(text, k, "", {"p": p, "q": q, "c": [a, b, c]}, 3, wrong)
    k = clean(rng, 0.1, 60, 2)
    if level == 2:
        text = f"For A + B <=> C + D in {vessel}, Kc = {shown(k)}. At equilibrium [A] = "
        text += f"{shown(a)}, [B] = {shown(b)} and [C] = {shown(c)} mol/L. What is [D]?"
        value = k * a * b / c
        if not 0.01 < value < 4:
            return _equilibrium(rng, level)
        wrong = (c / (k * a * b), k * a / b / c, k * c / (a * b), a * b / (k * c))
        return Solved(text, value, "mol/L", {"k": k, "c": [a, b, c]}, 3, wrong)
    text = f"In {vessel} A and B are brought to {shown(a)} mol/L each; there is no C and no D. "
    text += f"For A + B <=> C + D, Kc = {shown(k)}. What is the concentration of C at equilibrium?"
    root = math.sqrt(k)
    wrong = (a / (1 + root), a * k / (1 + k), a / 2, a * root)
    return Solved(text, a * root / (1 + root), "mol/L", {"k": k, "a": a}, 3, wrong)


def _nernst(rng: Random, level: int) -> Solved:
    e, n = clean(rng, 0.3, 2.5, 3), rng.randint(1, 4)
    cell = rng.choice(("A galvanic cell", "A sensor cell", "A laboratory cell", "A test battery"))
    q = rounded(clean(rng, 1, 9.9, 1) * 10.0 ** rng.choice((-6, -5, -4, -3, -2, 2, 3, 4, 5)), 2)
    law = "E = E° - (0.0592 V/n) log10 Q"
    step = 0.0592 / n
    if level == 1:
        text = f"{cell} at 25 °C has E° = {shown(e)} V and transfers n = {n} electrons. Use "
        text += f"{law}. What is its voltage at the reaction quotient Q = {shown(q)}?"
        value = e - step * math.log10(q)
        wrong: tuple[float, ...] = (
            e + step * math.log10(q),
            e - step * math.log(q),
            e - 0.0592 * math.log10(q) * n,
        )
        return Solved(text, value, "V", {"E0": e, "n": n, "Q": q}, 3, wrong)
    if level == 2:
        mv = rng.choice((-1, 1)) * rng.randint(10, 150)
        text = f"{cell} at 25 °C has E° = {shown(e)} V and transfers n = {n} electrons. Its "
        text += f"voltage is {shown(round(e + mv / 1000, 3))} V. Use {law}. What is Q?"
        value = 10 ** (-mv / 1000 / step)
        wrong = (1 / value, math.exp(-mv / 1000 / step), 10 ** (-mv / 1000 / 0.0592))
        return Solved(text, value, "", {"E0": e, "n": n, "mV": mv}, 2, wrong)
    a, b = clean(rng, -2.4, -0.1, 2), clean(rng, 0.1, 1.6, 2)
    low, high = rounded(clean(rng, 1, 9, 1) * 1e-4, 2), clean(rng, 0.2, 2, 2)
    text = WORDINGS.one(
        "nernst", cell=cell, a=shown(a), b=shown(b), high=shown(high), low=shown(low), law=law
    )
    value = b - a - 0.0296 * math.log10(high / low)
    wrong = (
        b - a + 0.0296 * math.log10(high / low),
        b + a,
        b - a,
        b - a - 0.0592 * math.log10(high / low),
    )
    return Solved(text, value, "V", {"E": [a, b], "c": [high, low]}, 3, wrong)


def _electrolysis(rng: Random, level: int) -> Solved:
    metal, z = rng.choice(METALS)
    current, minutes = clean(rng, 0.2, 25, 1), rng.randint(5, 240)
    where = rng.choice(("A plating bath", "An electrolysis cell", "A refinery's test cell"))
    lead = f"{where} deposits {NAME[metal]} ({metal}, {MASS[metal]:g} g/mol) from "
    lead += f"{metal}{z if z > 1 else ''}+ ions; F = 96485 C/mol."
    grams = current * minutes * 60 / FARADAY / z * MASS[metal]
    if level == 1:
        seconds = minutes * 60
        text = f"{lead} A current of {shown(current)} A flows for {seconds} s. What mass is "
        text += "deposited?"
        wrong: tuple[float, ...] = (grams * z, grams * z * z, grams / 60)
        return Solved(text, grams, "g", {"of": metal, "I": current, "s": seconds}, 3,
                      wrong if z > 1 else (grams / 60, grams * 2))  # fmt: skip
    mass = rounded(grams)
    if level == 2:
        text = f"{lead} How long must a current of {shown(current)} A flow to deposit "
        text += f"{shown(mass)} g?"
        value = mass / MASS[metal] * z * FARADAY / current / 60
        wrong = (value * 60, value / z, value / z / z, value / 2)
        return Solved(text, value, "min", {"of": metal, "I": current, "g": mass}, 3, wrong)
    share, kg = rng.randint(60, 98), clean(rng, 0.5, 40, 1)
    volts = clean(rng, 1.5, 9, 1)
    text = f"{lead} At {shown(volts)} V, {share}% of the current goes into the metal. What "
    text += f"electrical energy does {shown(kg)} kg of metal take?"
    value = kg * 1000 / MASS[metal] * z * FARADAY / share * 100 * volts / 3.6e6
    wrong = (value * share / 100, value * (share / 100) ** 2, value / z, value * 3.6)
    parameters: dict[str, Any] = {"of": metal, "share": share, "kg": kg, "V": volts}
    return Solved(text, value, "kWh", parameters, 3, wrong)


FAMILIES = (
    stem_family("chemistry_gibbs", _gibbs),
    stem_family("chemistry_equilibrium", _equilibrium),
    stem_family("chemistry_nernst", _nernst),
    stem_family("chemistry_electrolysis", _electrolysis),
)
