"""Problems on solubility products and colligative properties."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import molar_mass, molar_masses
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)


def _solubility(rng: Random, level: int) -> Solved:
    k = rounded(clean(rng, 1, 9.99, 2) * 10.0 ** rng.randint(-13, -6))
    lead = rng.choice(("The sparingly soluble salt", "The mineral", "The precipitate"))
    if level == 1:
        text = f"{lead} MX has the solubility product Ksp = {shown(k)}. What is its molar "
        text += "solubility in pure water?"
        return Solved(
            text, math.sqrt(k), "mol/L", {"type": "MX", "k": k}, 3, (k, k / 2, k ** (1 / 3))
        )
    form = rng.choice(("MX2", "M2X"))
    if level == 2:
        s = rounded(clean(rng, 1, 9.99, 2) * 10.0 ** rng.randint(-5, -2))
        text = f"{lead} {form} dissolves in pure water to {shown(s)} mol/L. What is its "
        text += "solubility product Ksp?"
        return Solved(text, 4 * s**3, "", {"type": form, "s": s}, 3, (s**3, s * s, 2 * s**3))
    common, m = clean(rng, 0.05, 0.9, 2), rng.randint(90, 400)
    k = rounded(clean(rng, 1, 9.99, 2) * 10.0 ** rng.randint(-14, -9))
    text = WORDINGS.one("solubility", lead=lead, m=m, k=shown(k), common=shown(common))
    value = k / common**2 * m
    wrong = (k / common * m, (k / 4) ** (1 / 3) * m, value / 4, k / common**2)
    return Solved(text, value, "g", {"k": k, "common": common, "M": m}, 3, wrong)


def _colligative(rng: Random, level: int) -> Solved:
    who = rng.choice(("A chemist", "A student", "A technician"))
    kg, n = clean(rng, 0.2, 3, 2), clean(rng, 0.1, 2, 2)
    if level == 1:
        text = f"{who} dissolves {shown(n)} mol of a non-electrolyte in {shown(kg)} kg of water "
        text += "(Kf = 1.86 K kg/mol). By how many kelvin does the freezing point fall?"
        wrong: tuple[float, ...] = (1.86 * n, 1.86 * n * kg, n / kg, 1.86 * kg / n)
        return Solved(text, 1.86 * n / kg, "", {"n": n, "kg": kg}, 3, wrong)
    if level == 2:
        formula, i = rng.choice((("NaCl", 2), ("CaCl2", 3), ("KBr", 2), ("AlCl3", 4)))
        m, grams = clean(rng, 2, 60, 1), rng.randint(100, 900)
        text = WORDINGS.one(
            "colligative",
            who=who,
            m=shown(m),
            formula=formula,
            grams=grams,
            molar_masses_formula=molar_masses(formula),
        )
        value = i * 1.86 * m / molar_mass(formula) / grams * 1000
        wrong = (value / i, value / i * (i - 1), value / 1000, value / 1.86)
        return Solved(text, value, "", {"of": formula, "m": m, "g": grams}, 3, wrong)
    mass, mm = clean(rng, 1, 20, 1), rng.randint(5, 250) * 100
    volume, t = rng.randint(2, 20) * 50, rng.randint(10, 37)
    pressure = rounded(mass / mm / volume * 1000 * 8.314 * (273.15 + t), 3)
    value = mass * 1000 * 8.314 * (273.15 + t) / (pressure * volume)
    text = WORDINGS.one(
        "colligative 2", who=who, mass=shown(mass), volume=volume, t=t, pressure=shown(pressure)
    )
    wrong = (value * t / (273.15 + t), value / 1000, value * volume / 1000)
    parameters: dict[str, Any] = {"m": mass, "mL": volume, "t": t, "kPa": pressure}
    return Solved(text, value, "g/mol", parameters, 3, wrong)


FAMILIES = (
    stem_family("chemistry_solubility", _solubility),
    stem_family("chemistry_colligative", _colligative),
)
