"""Problems on concentration, dilution, pH, buffers and titration.

Solutions are ideal (activities equal concentrations) at 25 °C with Kw = 1.0e-14.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import molar_mass, molar_masses
from prorl_datasets.procedural.stem.problem import Solved, clean, rounded, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings

WORDINGS = Wordings(__name__)

SOLUTES = (
    ("NaCl", "sodium chloride"),
    ("KNO3", "potassium nitrate"),
    ("C6H12O6", "glucose"),
    ("NaOH", "sodium hydroxide"),
    ("ZnSO4", "zinc sulfate"),
    ("NH4NO3", "ammonium nitrate"),
    ("C12H22O11", "sucrose"),
    ("CaCl2", "calcium chloride"),
    ("CO(NH2)2", "urea"),
    ("KI", "potassium iodide"),
)
STRONGEST = 2.5
"""Maximum concentration of a weighed solution in mol/L; all SOLUTES dissolve up to it."""
STOCKS = (
    ("hydrochloric acid", 12),
    ("nitric acid", 15),
    ("ammonia", 14),
    ("sodium hydroxide", 12),
    ("ethanoic acid", 17),
)
"""(substance, realistic concentration of a stock solution in mol/L)."""
STRONG_ACIDS = ("HCl", "HNO3", "HBr", "HClO4", "HI")
STRONG_BASES = ("NaOH", "KOH", "LiOH")
WEAK_ACIDS = (
    ("ethanoic acid", 1.8e-5),
    ("benzoic acid", 6.3e-5),
    ("propanoic acid", 1.3e-5),
    ("butanoic acid", 1.5e-5),
    ("hypochlorous acid", 3.0e-8),
    ("hydrocyanic acid", 6.2e-10),
)
"""(name, Ka at 25 °C); the question states Ka."""
BUFFERS = (
    ("formate", 3.75),
    ("phosphate", 7.20),
    ("TRIS", 8.07),
    ("lactate", 3.86),
    ("carbonate", 10.33),
    ("borate", 9.24),
)
"""(name, pKa at 25 °C); the question states a similar pKa, because salts and warmth shift it."""


def _molarity(rng: Random, level: int) -> Solved:
    formula, name = rng.choice(SOLUTES)
    lead = rng.choice(("A student dissolves", "A pharmacist dissolves", "A technician dissolves"))
    volume = 5 * rng.randint(10, 400)
    if level == 1:
        n = clean(rng, 0.1, 6, 2)
        litres = volume / 1000
        if n / litres > STRONGEST:
            return _molarity(rng, level)
        text = f"{lead} {shown(n)} mol of {name} in water and makes it up to {shown(litres)} L. "
        text += "What is the molar concentration?"
        wrong: tuple[float, ...] = (n * litres, litres / n)
        return Solved(text, n / litres, "mol/L", {"n": n, "of": formula, "mL": volume}, 3, wrong)
    mass = clean(rng, 0.5, 60, 1)
    given = WORDINGS.one(
        "molarity given", lead=lead, mass=shown(mass), name=name, formula=formula, volume=volume
    )
    c = mass / molar_mass(formula) / volume * 1000
    if c > STRONGEST:
        return _molarity(rng, level)
    parameters: dict[str, Any] = {"m": mass, "of": formula, "mL": volume}
    if level == 2:
        text = f"{given}{molar_masses(formula)} What is the molar concentration?"
        wrong = (c / 1000, mass / volume * 1000, mass * molar_mass(formula) / volume)
        return Solved(text, c, "mol/L", parameters, 3, wrong)
    other, strength = 5 * rng.randint(10, 200), clean(rng, 0.1, 2, 2)
    text = WORDINGS.one(
        "molarity",
        given=given,
        other=other,
        strength=shown(strength),
        formula=molar_masses(formula),
    )
    value = (c * volume + strength * other) / (volume + other)
    wrong = ((c + strength) / 2, c + strength, c * volume / (volume + other))
    return Solved(text, value, "mol/L", {**parameters, "add": [other, strength]}, 3, wrong)


def _dilution(rng: Random, level: int) -> Solved:
    what, strongest = rng.choice(STOCKS)
    c, v = clean(rng, 1, strongest, 1), rng.randint(5, 100)
    total = v + 5 * rng.randint(10, 180)
    if level == 1:
        text = f"{v} mL of a {shown(c)} mol/L solution of {what} is diluted with water to {total} "
        text += "mL. What is the new concentration?"
        wrong: tuple[float, ...] = (c * total / v, c * v / (total + v), c * v / (total - v))
        return Solved(text, c * v / total, "mol/L", {"c": c, "v": v, "total": total}, 3, wrong)
    target = rounded(c * clean(rng, 0.02, 0.7, 2), 2)
    if level == 2:
        litres = clean(rng, 0.2, 5, 2)
        text = f"What volume of a {shown(c)} mol/L stock solution of {what} is needed to make "
        text += f"{shown(litres)} L of a {shown(target)} mol/L solution?"
        value = target * litres / c * 1000
        wrong = (value / 1000, c * litres / target * 1000, litres * 1000 - value)
        return Solved(text, value, "mL", {"c": c, "to": target, "L": litres}, 3, wrong)
    steps, tenth = rng.randint(2, 4), rng.choice((4, 5, 10, 20))
    text = WORDINGS.one(
        "dilution", c=shown(c), what=what, steps=steps, tenth_minus_1=tenth - 1, v=v
    )
    value = c / tenth**steps * v * 1000
    wrong = (c / (tenth - 1) ** steps * v * 1000, c / (tenth * steps) * v * 1000, value / 1000)
    parameters: dict[str, Any] = {"c": c, "steps": steps, "parts": tenth, "v": v}
    return Solved(text, value, "µmol", parameters, 3, wrong)


def _ph_strong(rng: Random, level: int) -> Solved:
    acid, base = rng.choice(STRONG_ACIDS), rng.choice(STRONG_BASES)
    where = rng.choice(("A flask holds", "A beaker contains", "A bottle is filled with"))
    if level == 1:
        c = rounded(clean(rng, 1, 9.9, 2) * 10.0 ** rng.randint(-4, -2))
        text = f"{where} a {shown(c)} mol/L solution of the strong acid {acid}. What is its pH?"
        value = -math.log10(c)
        return Solved(text, value, "", {"acid": c}, 3, (14 - value, -math.log(c), value + 1))
    if level == 2:
        ph, volume = clean(rng, 10.5, 13.4, 2), 5 * rng.randint(10, 400)
        text = f"{where} {volume} mL of a solution of the strong base {base} at 25 °C with pH "
        text += f"{ph:.2f} (Kw = $1.0 \\times 10^{{-14}}$). What amount of the base does it hold?"
        value = 10 ** (ph - 14) * volume
        wrong: tuple[float, ...] = (
            value * 10,
            math.exp(ph - 14) * volume,
            value / 1000,
            10 ** (ph - 14) * 1000,
        )
        return Solved(text, value, "mmol", {"ph": ph, "mL": volume}, 2, wrong)
    c1, c2 = clean(rng, 0.05, 1, 3), clean(rng, 0.05, 1, 3)
    v1, v2 = 5 * rng.randint(4, 40), 5 * rng.randint(4, 40)
    excess = (c1 * v1 - c2 * v2) / (v1 + v2)
    if abs(excess) < 0.005 or abs(excess) > 0.2:
        return _ph_strong(rng, level)
    text = WORDINGS.one("ph strong", v1=v1, c1=shown(c1), acid=acid, v2=v2, c2=shown(c2), base=base)
    value = -math.log10(excess) if excess > 0 else 14 + math.log10(-excess)
    undiluted = abs(c1 * v1 - c2 * v2) / 1000
    wrong = (14 - value, value + 1, -math.log10(undiluted), -math.log10(c1))
    return Solved(text, value, "", {"c": [c1, c2], "v": [v1, v2]}, 3, wrong)


def _ph_weak(rng: Random, level: int) -> Solved:
    name, tabled = rng.choice(WEAK_ACIDS)
    ka = rounded(tabled * clean(rng, 0.8, 1.25, 2), 2)
    c = clean(rng, 0.1, 1.5, 3)
    what = rng.choice((name, "a weak monoprotic acid", "a newly made weak acid HA"))
    h = (-ka + math.sqrt(ka * ka + 4 * ka * c)) / 2
    if level == 1:
        text = f"A {shown(c)} mol/L solution of {what} has Ka = {shown(ka)}. What is its pH?"
        value = -math.log10(h)
        wrong: tuple[float, ...] = (
            -math.log10(ka),
            -math.log10(c),
            -math.log10(ka * c),
            14 - value,
        )
        return Solved(text, value, "", {"ask": "pH", "c": c, "ka": ka}, 3, wrong)
    if level == 2:
        ph = clean(rng, 2.2, 4.9, 2)
        text = f"A {shown(c)} mol/L solution of {what} has pH {ph:.2f}. What is its acid constant "
        text += "Ka?"
        x = 10**-ph
        wrong = (x, x / c, x * x)
        return Solved(text, x * x / (c - x), "", {"ask": "Ka", "c": c, "ph": ph}, 2, wrong)
    ka = rounded(clean(rng, 1, 9.9, 1) * 10.0 ** rng.randint(-4, -2), 2)
    c = clean(rng, 0.01, 0.3, 3)
    h = (-ka + math.sqrt(ka * ka + 4 * ka * c)) / 2
    text = f"A weak monoprotic acid with Ka = {shown(ka)} is dissolved to {shown(c)} mol/L. Solve "
    text += "the quadratic equation, without approximation: what percent of the acid is ionised?"
    wrong = (100 * math.sqrt(ka / c), 100 * ka / c, 100 - 100 * h / c)
    return Solved(text, 100 * h / c, "%", {"ask": "degree", "c": c, "ka": ka}, 3, wrong)


def _buffer(rng: Random, level: int) -> Solved:
    what, tabled = rng.choice(BUFFERS)
    pka = round(tabled + clean(rng, -0.15, 0.15, 2), 2)
    acid, base = clean(rng, 0.05, 0.9, 3), clean(rng, 0.05, 0.9, 3)
    value = pka + math.log10(base / acid)
    if level == 1:
        text = f"In a {what} buffer the weak acid is at {shown(acid)} mol/L and its conjugate "
        text += f"base at {shown(base)} mol/L; the pKa is {pka:.2f}. What is the pH?"
        wrong: tuple[float, ...] = (
            pka - math.log10(base / acid),
            pka + math.log(base / acid),
            pka + base / acid,
        )
        return Solved(text, value, "", {"pka": pka, "acid": acid, "base": base}, 3, wrong)
    if level == 2:
        ph = round(pka + clean(rng, -1, 1, 2), 2)
        total = clean(rng, 0.05, 0.5, 3)
        text = WORDINGS.one("buffer", what=what, ph=ph, total=shown(total), pka=pka)
        ratio = 10 ** (ph - pka)
        wrong = (total / (1 + ratio), total * ratio, total / ratio)
        parameters: dict[str, Any] = {"pka": pka, "ph": ph, "total": total}
        return Solved(text, total * ratio / (1 + ratio), "mol/L", parameters, 2, wrong)
    volume, strong = rng.randint(2, 20) * 50, rng.random() < 0.5
    x = rounded(min(acid, base) * clean(rng, 0.1, 0.6, 2), 2)
    moles = rounded(x * volume / 1000, 2)
    y, z = acid * volume / 1000, base * volume / 1000
    change = moles if strong else -moles
    added = "strong acid HCl" if strong else "strong base NaOH"
    text = WORDINGS.one(
        "buffer 2",
        volume=volume,
        what=what,
        acid=shown(acid),
        pka=pka,
        base=shown(base),
        moles=shown(moles),
        added=added,
    )
    after = pka + math.log10((z - change) / (y + change))
    wrong = (value, pka + math.log10((z + change) / abs(y - change)), 2 * pka - after)
    parameters = {"pka": pka, "acid": acid, "base": base, "mL": volume, "add": change}
    return Solved(text, after, "", parameters, 3, wrong)


def _titration(rng: Random, level: int) -> Solved:
    who = rng.choice(("A student", "A quality laboratory", "A water inspector"))
    c, v, used = clean(rng, 0.05, 0.5, 3), rng.randint(10, 50), clean(rng, 8, 45, 2)
    if level == 1:
        text = f"{who} titrates {v}.0 mL of hydrochloric acid; {used:.2f} mL of {shown(c)} mol/L "
        text += "NaOH reach the equivalence point. What is the concentration of the acid?"
        wrong = (c * v / used, c * used / v / 2, c * used / (v + used))
        return Solved(text, c * used / v, "mol/L", {"c": c, "v": v, "used": used}, 3, wrong)
    if level == 2:
        text = f"{who} neutralises {v}.0 mL of sulfuric acid, H2SO4, completely with {used:.2f} "
        text += f"mL of {shown(c)} mol/L NaOH. What is the concentration of the acid?"
        value = c * used / v / 2
        return Solved(text, value * 1000, "mmol/L", {"c": c, "v": v, "used": used}, 3,
                      (value * 2000, value * 4000, value))  # fmt: skip
    mass = rounded(c * used / 1000 * 100.09 / 2 / rng.randint(40, 97) * 100, 3)
    value = c * used / 1000 * 100.09 / 2 / mass * 100
    text = WORDINGS.one("titration", who=who, mass=shown(mass), used=used, c=shown(c))
    return Solved(text, value, "%", {"c": c, "used": used, "m": mass}, 3, (value * 2, value / 2))


FAMILIES = (
    stem_family("chemistry_molarity", _molarity),
    stem_family("chemistry_dilution", _dilution),
    stem_family("chemistry_ph_strong", _ph_strong),
    stem_family("chemistry_ph_weak", _ph_weak),
    stem_family("chemistry_buffer", _buffer),
    stem_family("chemistry_titration", _titration),
)
