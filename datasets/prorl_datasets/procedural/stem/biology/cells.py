"""Problems on laboratory biology."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)


def _michaelis_menten(rng: Random, level: int) -> Solved:
    enzyme = rng.choice(("lactase", "catalase", "amylase", "a kinase", "urease"))
    vmax, km, s = clean(rng, 5, 300, 1), clean(rng, 0.1, 20, 2), clean(rng, 0.1, 40, 2)
    lead = f"For {enzyme}, Vmax = {shown(vmax)} µmol/min and Km = {shown(km)} mmol/L"
    v = vmax * s / (km + s)
    if level == 1:
        text = f"{lead} (Michaelis-Menten). What is the rate at {shown(s)} mmol/L of substrate?"
        wrong: tuple[float, ...] = (
            vmax * km / (km + s),
            vmax * s / km,
            vmax / 2,
            vmax * (km + s) / s,
        )
        return Solved(text, v, "µmol/min", {"V": vmax, "K": km, "S": s}, 3, wrong)
    if level == 2:
        part = rng.randint(10, 95)
        text = f"{lead} (Michaelis-Menten). At which substrate concentration is the rate {part}% "
        text += "of Vmax?"
        value = km * part / (100 - part) * 1000
        wrong = (value / 1000, km * (100 - part) / part * 1000, km * part * 10, km * 1000)
        return Solved(text, value, "µmol/L", {"K": km, "part": part}, 3, wrong)
    i, ki = clean(rng, 0.1, 9, 2), clean(rng, 0.05, 5, 2)
    text = f"{lead}. A competitive inhibitor with Ki = {shown(ki)} mmol/L is present at "
    text += f"{shown(i)} mmol/L, the substrate at {shown(s)} mmol/L. What is the rate?"
    value = vmax * s / (km * (1 + i / ki) + s)
    wrong = (v, v / (1 + i / ki), vmax * s / (km * i / ki + s), vmax * s / (km * (1 + ki / i) + s))
    return Solved(text, value, "µmol/min", {"V": vmax, "K": km, "S": s, "i": i, "ki": ki}, 3, wrong)


def _plate_count(rng: Random, level: int) -> Solved:
    what = rng.choice(("milk", "river water", "a yoghurt drink", "a soil extract"))
    colonies, steps, tenth = rng.randint(25, 280), rng.randint(2, 5), rng.choice((0.1, 0.2, 0.5))
    if level == 1:
        text = WORDINGS.one(
            "plate count", what=what, steps=steps, tenth=shown(tenth), colonies=colonies
        )
        value = colonies / tenth * 10.0**steps
        wrong: tuple[float, ...] = (
            colonies * 10.0**steps,
            colonies * tenth * 10.0**steps,
            value / 10,
            value * 10,
        )
        return Solved(
            text, value, "", {"colonies": colonies, "steps": steps, "mL": tenth}, 3, wrong
        )
    plates = [rng.randint(25, 280)]
    plates += [max(5, plates[0] + rng.randint(-20, 20)) for _ in range(2)]
    mean, parts = sum(plates) / 3, rng.choice((5, 10, 20, 50))
    if level == 2:
        steps = min(steps, {5: 5, 10: 5, 20: 4, 50: 3}[parts])
        volume = rng.choice((50, 100, 150, 200))
        text = WORDINGS.one(
            "plate count 2",
            what=what,
            steps=steps,
            parts_minus_1=parts - 1,
            volume=volume,
            plates=plates,
        )
        value = mean / volume * 1000 * float(parts) ** steps
        wrong = (value * 3, mean * float(parts) ** steps, mean / volume * 1000 * parts * steps)
        parameters: dict[str, Any] = {
            "plates": sorted(plates),
            "steps": steps,
            "parts": parts,
            "µL": volume,
        }
        return Solved(text, value, "", parameters, 3, wrong)
    return _plate_count_hard(rng, steps, what, colonies)


def _plate_count_hard(rng: Random, steps: int, what: str, colonies: int) -> Solved:
    later, hours = rng.randint(25, 280), rng.randint(2, 9)
    more = steps + rng.randint(1, 2)
    text = WORDINGS.one(
        "plate count hard",
        what=what,
        steps=steps,
        colonies=colonies,
        hours=hours,
        more=more,
        later=later,
    )
    ratio = later / colonies * 10.0 ** (more - steps)
    value = hours * 60 / math.log2(ratio)
    wrong = (
        value / 60,
        hours * 60 / math.log(ratio),
        hours * 60 / ratio,
        hours * 60 / math.log10(ratio),
    )
    parameters: dict[str, Any] = {"first": [colonies, steps], "second": [later, more], "h": hours}
    return Solved(text, value, "", parameters, 3, wrong)


def _beer_lambert(rng: Random, level: int) -> Solved:
    what = rng.choice(("a drug", "a plant pigment", "a food dye", "an indicator"))
    eps, conc = 10 * rng.randint(50, 4000), clean(rng, 5, 90, 1)
    a = clean(rng, 0.05, 1.5, 3)
    lead = f"The molar absorption coefficient of {what} is {eps} L/(mol cm)"
    if level == 1:
        text = f"{lead}. What is the absorbance of a {shown(conc)} µmol/L solution in a 1.00 cm "
        text += "cuvette?"
        value = eps * conc / 1e6
        wrong: tuple[float, ...] = (value * 1000, 1 / value, 10**-value, value / 2.303)
        return Solved(text, value, "", {"eps": eps, "c": conc}, 3, wrong)
    path, factor = rng.choice((0.2, 0.5, 1.0, 2.0)), rng.choice((2, 5, 10, 20, 50, 100))
    if level == 2:
        text = f"{lead}. A solution in a {path:.2f} cm cuvette has the absorbance {shown(a)}. "
        text += "What is its concentration?"
        value = a / eps / path * 1e6
        wrong = (value * path * path, value / 1000, a * eps * path, value * 2.303)
        wrong = wrong if path != 1 else (value / 1000, value * 2.303, value * 2)
        return Solved(text, value, "µmol/L", {"eps": eps, "A": a, "path": path}, 3, wrong)
    through, mass = rng.randint(5, 90), rng.randint(200, 900)
    volume = rng.choice((50, 100, 250, 500))
    text = WORDINGS.one(
        "beer lambert", lead=lead, mass=mass, factor=factor, through=through, volume=volume
    )
    value = -math.log10(through / 100) / eps * factor * mass * volume
    wrong = (
        value / factor,
        value * 2.303,
        (1 - through / 100) / eps * factor * mass * volume,
        value / 1000,
    )
    parameters: dict[str, Any] = {
        "eps": eps,
        "T": through,
        "M": mass,
        "mL": volume,
        "factor": factor,
    }
    return Solved(text, value, "mg", parameters, 3, wrong)


def _metabolism(rng: Random, level: int) -> Solved:
    who = pick(rng, "A yeast culture", "A germinating seed batch", "A dog", "An athlete's muscle")
    plant = rng.choice(("A wheat field plot", "A vineyard plot", "A young tree", "A hedge"))
    m = clean(rng, 0.5, 90, 2)
    breath = "C6H12O6 + 6 O2 -> 6 CO2 + 6 H2O"
    build = "6 CO2 + 6 H2O -> C6H12O6 + 6 O2"
    weights = "Molar masses in g/mol: glucose 180.16, O2 32.00, CO2 44.01, H2O 18.02."
    if level == 1:
        formula, mass = rng.choice((("O2", 32.0), ("CO2", 44.01), ("H2O", 18.02)))
        verb = "used up" if formula == "O2" else "formed"
        text = f"{who} respires {shown(m)} g of glucose: {breath}. {weights} What mass of "
        text += f"{formula} is {verb}?"
        value = m / 180.16 * 6 * mass
        wrong: tuple[float, ...] = (m / 180.16 * mass, m * 6, m * 180.16 / 6 / mass, m)
        return Solved(text, value, "g", {"m": m, "of": formula}, 3, wrong)
    litres = clean(rng, 0.5, 300, 2)
    if level == 2:
        text = f"{plant} gives off {shown(litres)} L of O2 (24.0 L/mol): {build}. {weights} What "
        text += "mass of glucose does it form?"
        value = litres / 24 / 6 * 180.16
        wrong = (value * 6, value * 36, litres / 6 * 180.16 / 22.4 * 6, litres / 24 * 32)
        return Solved(text, value, "g", {"L": litres}, 3, wrong)
    return _metabolism_hard(rng, plant, weights, build)


def _metabolism_hard(rng: Random, plant: str, weights: str, build: str) -> Solved:
    hours, area, loss = rng.randint(6, 16), clean(rng, 0.5, 30, 1), clean(rng, 0.2, 1.5, 2)
    rate = clean(rng, 2, 9, 2)
    text = WORDINGS.one(
        "metabolism hard",
        plant=plant,
        area=shown(area),
        rate=shown(rate),
        hours=hours,
        loss=shown(loss),
        weights=weights,
        build=build,
    )
    net = (rate * hours - loss * (24 - hours)) * area
    if net < area:
        return _metabolism(rng, 3)
    value = net / 1000 / 6 * 180.16
    wrong = (
        value * 6,
        rate * hours * area / 6000 * 180.16,
        net / 1000 * 44.01,
        (rate - loss) * 24 * area / 6000 * 180.16,
    )
    parameters: dict[str, Any] = {"h": hours, "area": area, "rate": rate, "loss": loss}
    return Solved(text, value, "g", parameters, 3, wrong)


FAMILIES = (
    stem_family("biology_michaelis_menten", _michaelis_menten),
    stem_family("biology_plate_count", _plate_count),
    stem_family("biology_beer_lambert", _beer_lambert),
    stem_family("biology_metabolism", _metabolism),
)
