"""Problems on enthalpy and calorimetry."""

from __future__ import annotations

from random import Random
from typing import Any

from prorl_datasets.procedural.stem.chemistry.tables import (
    EQUATIONS,
    molar_mass,
    molar_masses,
    show,
)
from prorl_datasets.procedural.stem.problem import Solved, clean, shown, stem_family
from prorl_datasets.procedural.wordings import Wordings, pick

WORDINGS = Wordings(__name__)

FORMATION = {
    "H2O": -285.8, "CO2": -393.5, "CO": -110.5, "CH4": -74.6, "C3H8": -103.8, "C2H6": -84.0, "NH3": -45.9,
    "NO": 91.3, "NO2": 33.2, "SO2": -296.8, "SO3": -395.7, "H2S": -20.6, "Fe2O3": -824.2, "MgO": -601.6,
    "Al2O3": -1675.7, "CS2": 89.0, "Cr2O3": -1139.7, "C2H5OH": -277.6, "CH3OH": -239.2, "CaC2": -59.8,
    "CaO": -634.9, "TiCl4": -804.2, "MgCl2": -641.3, "P4O10": -2984.0, "ZnS": -206.0, "ZnO": -350.5,
    "SiO2": -910.7, "C6H12O6": -1273.3, "O2": 0, "N2": 0, "H2": 0, "Fe": 0, "Mg": 0, "Al": 0, "C": 0, "Ti": 0,
    "P4": 0, "Cr": 0, "Si": 0,
}  # fmt: skip
"""Standard enthalpies of formation in kJ/mol (liquid water), stated in the question."""
BONDS = {"C-H": 413, "C-C": 348, "O=O": 495, "H-H": 436, "O-H": 463, "N-H": 391, "H-Cl": 431, "Cl-Cl": 242,
         "N≡N": 941, "C-Cl": 328, "C=C": 614, "H-Br": 366, "Br-Br": 193, "C-Br": 276, "H-F": 567, "F-F": 155,
         "C=O": 799}  # fmt: skip
"""Mean bond enthalpies in kJ/mol, stated in the question."""
BOND_REACTIONS = (
    ("H2 + Cl2 -> 2 HCl", "H2", {"H-H": 1, "Cl-Cl": 1}, {"H-Cl": 2}),
    ("H2 + Br2 -> 2 HBr", "H2", {"H-H": 1, "Br-Br": 1}, {"H-Br": 2}),
    ("H2 + F2 -> 2 HF", "H2", {"H-H": 1, "F-F": 1}, {"H-F": 2}),
    ("N2 + 3 H2 -> 2 NH3", "N2", {"N≡N": 1, "H-H": 3}, {"N-H": 6}),
    ("CH4 + Cl2 -> CH3Cl + HCl", "CH4", {"C-H": 1, "Cl-Cl": 1}, {"C-Cl": 1, "H-Cl": 1}),
    ("CH4 + 2 O2 -> CO2 + 2 H2O", "CH4", {"C-H": 4, "O=O": 2}, {"C=O": 2, "O-H": 4}),
    ("C2H4 + H2 -> C2H6", "C2H4", {"C=C": 1, "H-H": 1}, {"C-C": 1, "C-H": 2}),
    ("C2H4 + Br2 -> C2H4Br2", "C2H4", {"C=C": 1, "Br-Br": 1}, {"C-C": 1, "C-Br": 2}),
    ("C2H4 + HCl -> C2H5Cl", "C2H4", {"C=C": 1, "H-Cl": 1}, {"C-C": 1, "C-H": 1, "C-Cl": 1}),
)
"""(equation, reactant with coefficient 1, bonds broken, bonds formed), without unchanged bonds."""


def _enthalpy(rng: Random, level: int) -> Solved:
    usable = [e for e in EQUATIONS if all(f in FORMATION for side in e for _, f in side)]
    left, right = equation = rng.choice(usable)
    heat = sum(n * FORMATION[f] for n, f in right) - sum(n * FORMATION[f] for n, f in left)
    rows = ", ".join(f"{f} {FORMATION[f]:g}" for side in equation for _, f in side)
    lead = pick(
        rng, "A plant runs the reaction", "A handbook treats the reaction", "Consider the reaction"
    )
    lead += f" {show(equation)}"
    stated = f"(standard enthalpies of formation in kJ/mol: {rows})"
    a, reactant = rng.choice(left)
    n, m = clean(rng, 0.1, 20, 2), clean(rng, 1, 400, 1)
    sign = "(negative if heat is given off)"
    if level < 3:
        amount = f"{shown(n)} mol" if level == 1 else f"{shown(m)} g"
        text = f"{lead} {stated}. What is the enthalpy change {sign} when {amount} of {reactant} "
        text += "react?"
        moles = n if level == 1 else m / molar_mass(reactant)
        if level == 2:
            text += f" {molar_masses(reactant)}"
        value = heat / a * moles
        wrong: tuple[float, ...] = (
            -value,
            value * a * a,
            heat * moles if a > 1 else value * 2,
            heat,
        )
        parameters: dict[str, Any] = {"reaction": show(equation), "of": reactant, "amount": amount}
        return Solved(text, value, "kJ", parameters, 3, wrong)
    if heat > 0:
        return _enthalpy(rng, level)
    wanted, share = clean(rng, 100, 9000, 0), rng.randint(40, 95)
    text = WORDINGS.one(
        "enthalpy",
        lead=lead,
        stated=stated,
        wanted=shown(wanted),
        share=share,
        reactant=reactant,
        molar_masses_reactant=molar_masses(reactant),
    )
    value = wanted / share * 100 * a / -heat * molar_mass(reactant)
    wrong = (value * share / 100, value * (share / 100) ** 2, value / a)
    parameters = {"reaction": show(equation), "of": reactant, "kJ": wanted, "share": share}
    return Solved(text, value, "g", parameters, 3, wrong)


def _bond_enthalpy(rng: Random, level: int) -> Solved:
    equation, reactant, broken, formed = rng.choice(BOND_REACTIONS)
    values = {bond: BONDS[bond] + rng.randint(-9, 9) for bond in {**broken, **formed}}
    cost = sum(values[bond] * n for bond, n in broken.items())
    gain = sum(values[bond] * n for bond, n in formed.items())
    heat, n = cost - gain, clean(rng, 0.2, 12, 1)
    rows = ", ".join(f"{bond} {value}" for bond, value in values.items())
    lead = rng.choice(("In the gas phase,", "In a gas cell,", "In a flow reactor,"))
    text = f"{lead} {equation}. "
    if level < 3:
        text += f"Estimate with these mean bond enthalpies in kJ/mol: {rows}. What is the enthalpy "
        m, moles = clean(rng, 1, 200, 1), n
        amount = f"{shown(n)} mol" if level == 1 else f"{shown(m)} g"
        if level == 2:
            moles = m / molar_mass(reactant)
        text += f"change (negative if heat is given off) when {amount} of {reactant} react?"
        if level == 2:
            text += f" {molar_masses(reactant)}"
        wrong: tuple[float, ...] = (
            -heat * moles,
            (cost + gain) * moles,
            heat / moles,
            -gain * moles,
        )
        parameters: dict[str, Any] = {"reaction": equation, "bonds": values, "amount": amount}
        return Solved(text, heat * moles, "kJ", parameters, 3, wrong)
    bond_asked = rng.choice(list(formed))
    rows = ", ".join(f"{bond} {value}" for bond, value in values.items() if bond != bond_asked)
    total = round(heat * n, 1)
    text += f"The enthalpy changes by {shown(total)} kJ when {shown(n)} mol of {reactant} react. "
    text += (
        f"Mean bond enthalpies in kJ/mol: {rows}. What does this give for the bond {bond_asked}?"
    )
    value = (cost - total / n - (gain - values[bond_asked] * formed[bond_asked])) / formed[
        bond_asked
    ]
    wrong = (value * formed[bond_asked], (cost + total / n) / formed[bond_asked], value + heat)
    return Solved(text, value, "kJ/mol", {"reaction": equation, "bonds": values, "n": n}, 3, wrong)


def _calorimetry(rng: Random, level: int) -> Solved:
    what = pick(
        rng, "dissolving a salt", "dissolving a dry powder", "the reaction of a solid with water"
    )
    grams, rise = rng.randint(50, 500), clean(rng, 1.5, 18, 1)
    heat, n = grams * 4.18 * rise, clean(rng, 0.02, 0.6, 3)
    text = f"In an insulated cup {what} warms {grams} g of solution (specific heat 4.18 J/(g K)) "
    text += f"by {shown(rise)} K."
    if level == 1:
        wrong: tuple[float, ...] = (grams * rise, grams * 4.18 / rise, heat / 1000)
        return Solved(f"{text} How much heat was set free?", heat, "J",
                      {"g": grams, "rise": rise}, 3, wrong)  # fmt: skip
    if level == 2:
        text += f" {shown(n)} mol had reacted. What is the enthalpy of reaction (negative if heat "
        text += "is set free)?"
        value = -heat / n / 1000
        if not 5 < -value < 120:
            return _calorimetry(rng, level)
        return Solved(text, value, "kJ/mol", {"g": grams, "rise": rise, "n": n}, 3,
                      (-value, value * 1000, -heat * n / 1000, -heat / 1000))  # fmt: skip
    cup, m, mm = rng.randint(20, 150), clean(rng, 1, 20, 2), clean(rng, 30, 250, 1)
    text += WORDINGS.one("calorimetry", cup=cup, m=shown(m), mm=shown(mm))
    value = -(heat + cup * rise) / (m / mm) / 1000
    if not 5 < -value < 120:
        return _calorimetry(rng, level)
    wrong = (
        -heat / (m / mm) / 1000,
        -value,
        -(heat + cup * rise) / m / 1000,
        -(heat - cup * rise) / (m / mm) / 1000,
    )
    parameters: dict[str, Any] = {"g": grams, "rise": rise, "cup": cup, "m": m, "M": mm}
    return Solved(text, value, "kJ/mol", parameters, 3, wrong)


FAMILIES = (
    stem_family("chemistry_enthalpy", _enthalpy),
    stem_family("chemistry_bond_enthalpy", _bond_enthalpy),
    stem_family("chemistry_calorimetry", _calorimetry),
)
