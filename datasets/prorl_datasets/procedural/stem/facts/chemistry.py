"""Questions on elements, formulas, oxidation numbers, shapes and solubility."""

from __future__ import annotations

from random import Random

from prorl_datasets.procedural.stem.chemistry.tables import (
    COMPOUNDS,
    ELEMENTS,
    MASS,
    NAME,
    atoms,
    molar_mass,
)
from prorl_datasets.procedural.stem.facts.makers import belonging, matching, ordering
from prorl_datasets.procedural.stem.problem import Choice, stem_family

_GROUPS = {
    "an alkali metal": "Li Na K Rb Cs",
    "an alkaline earth metal": "Be Mg Ca Sr Ba",
    "a halogen": "F Cl Br I At",
    "a noble gas": "He Ne Ar Kr Xe Rn",
    "a lanthanoid": "Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb",
    "a transition metal of the 3d, 4d or 5d series (groups 4 to 11)":
        "Ti V Cr Mn Fe Co Ni Cu Zr Nb Mo Ru Rh Pd Ag Hf Ta W Re Os Ir Pt Au",
    "in group 14 (the carbon group)": "C Si Ge Sn Pb",
    "in group 15 (the nitrogen group)": "N P As Sb Bi",
    "in group 16 (the oxygen group)": "O S Se Te Po",
    "in group 13 (the boron group)": "B Al Ga In Tl",
}  # fmt: skip
GROUPS = {key: [NAME[s] for s in symbols.split()] for key, symbols in _GROUPS.items()}
ELECTRONEGATIVITY = {
    "H": 2.20, "Li": 0.98, "Be": 1.57, "B": 2.04, "C": 2.55, "N": 3.04, "O": 3.44, "F": 3.98, "Na": 0.93,
    "Mg": 1.31, "Al": 1.61, "Si": 1.90, "P": 2.19, "S": 2.58, "Cl": 3.16, "K": 0.82, "Ca": 1.00, "Br": 2.96,
    "I": 2.66, "Cs": 0.79, "Rb": 0.82, "Sr": 0.95, "Ba": 0.89,
}  # fmt: skip
"""Pauling's scale."""
OXIDATION = (
    ("N in NH3", -3), ("N in N2H4", -2), ("N in N2O", 1), ("N in NO", 2), ("N in HNO2", 3), ("N in NO2", 4),
    ("N in HNO3", 5), ("N in N2", 0), ("S in H2S", -2), ("S in SO2", 4), ("S in H2SO4", 6), ("S in SO3", 6),
    ("S in Na2SO3", 4), ("S in S8", 0), ("S in S2Cl2", 1), ("S in SCl2", 2), ("C in CH4", -4), ("C in CO", 2),
    ("C in CO2", 4), ("C in CH3OH", -2), ("C in HCHO", 0), ("C in HCOOH", 2), ("C in CCl4", 4), ("Cl in HCl", -1),
    ("Cl in HClO", 1), ("Cl in HClO2", 3), ("Cl in HClO3", 5), ("Cl in HClO4", 7), ("Cl in Cl2", 0),
    ("Mn in KMnO4", 7), ("Mn in MnO2", 4), ("Mn in MnSO4", 2), ("Mn in K2MnO4", 6), ("Mn in Mn2O3", 3),
    ("Cr in K2Cr2O7", 6), ("Cr in Cr2O3", 3), ("Cr in CrCl2", 2), ("Fe in Fe2O3", 3), ("Fe in FeSO4", 2),
    ("P in PH3", -3), ("P in H3PO4", 5), ("P in PCl3", 3), ("P in H3PO2", 1), ("O in H2O2", -1), ("O in OF2", 2),
    ("O in H2O", -2), ("H in NaH", -1), ("H in H2O", 1), ("V in V2O5", 5), ("V in VO2", 4), ("Cu in Cu2O", 1),
    ("Cu in CuO", 2), ("I in HIO4", 7), ("I in KIO3", 5), ("I in KI", -1), ("Si in SiO2", 4), ("Ti in TiO2", 4),
    ("As in AsH3", -3), ("As in H3AsO4", 5), ("Xe in XeF2", 2), ("Xe in XeF4", 4), ("Xe in XeO3", 6),
    ("B in BF3", 3), ("Al in Al2O3", 3),
)  # fmt: skip
SHAPES = (
    ("CO2", "linear"), ("BeCl2", "linear"), ("HCN", "linear"), ("XeF2", "linear"), ("C2H2", "linear"),
    ("H2O", "bent"), ("SO2", "bent"), ("H2S", "bent"), ("OF2", "bent"), ("O3", "bent"), ("SCl2", "bent"),
    ("BF3", "trigonal planar"), ("SO3", "trigonal planar"), ("BCl3", "trigonal planar"),
    ("NO3^-", "trigonal planar"), ("CO3^2-", "trigonal planar"),
    ("NH3", "trigonal pyramidal"), ("PCl3", "trigonal pyramidal"), ("NF3", "trigonal pyramidal"),
    ("H3O^+", "trigonal pyramidal"), ("PH3", "trigonal pyramidal"), ("AsH3", "trigonal pyramidal"),
    ("CH4", "tetrahedral"), ("CCl4", "tetrahedral"), ("NH4^+", "tetrahedral"), ("SO4^2-", "tetrahedral"),
    ("SiH4", "tetrahedral"), ("PO4^3-", "tetrahedral"), ("SF4", "seesaw"), ("ClF3", "T-shaped"),
    ("BrF3", "T-shaped"), ("XeF4", "square planar"), ("ICl4^-", "square planar"),
    ("PCl5", "trigonal bipyramidal"), ("PF5", "trigonal bipyramidal"), ("BrF5", "square pyramidal"),
    ("IF5", "square pyramidal"), ("SF6", "octahedral"), ("PF6^-", "octahedral"),
)  # fmt: skip
_CATIONS = {"sodium": "all", "potassium": "all", "ammonium": "all", "silver": "Ag", "lead(II)": "Pb",
            "barium": "Ba", "magnesium": "Mg", "copper(II)": "Cu", "zinc": "Zn", "iron(III)": "Fe"}  # fmt: skip
_DISSOLVING = {
    "nitrate": ("Ag", "Pb", "Ba", "Mg", "Cu", "Zn", "Fe"),
    "chloride": ("Ba", "Mg", "Cu", "Zn", "Fe"),
    "bromide": ("Ba", "Mg", "Cu", "Zn", "Fe"),
    "sulfate": ("Mg", "Cu", "Zn", "Fe"),
    "carbonate": (),
    "phosphate": (),
    "hydroxide": (),
}
_LEFT_OUT = (("silver", "sulfate"), ("silver", "hydroxide"), ("barium", "hydroxide"), ("iron(III)", "carbonate"),
             ("lead(II)", "bromide"), ("lead(II)", "chloride"), ("ammonium", "hydroxide"),
             ("copper(II)", "carbonate"), ("magnesium", "carbonate"), ("ammonium", "phosphate"))  # fmt: skip
"""Slightly soluble, unstable or disputed compounds, which are left out."""


def _salts(soluble: bool) -> list[str]:
    return [
        f"{cation} {anion}"
        for anion, dissolving in _DISSOLVING.items()
        for cation, kind in _CATIONS.items()
        if (cation, anion) not in _LEFT_OUT and (kind == "all" or kind in dissolving) == soluble
    ]


def configuration(number: int) -> dict[str, int]:
    """Fill an atom's subshells in Madelung's order.

    The result is wrong for some d and f metals, which the questions omit.
    """
    order = sorted(
        ((n, k) for n in range(1, 8) for k in range(min(n, 4))), key=lambda s: (sum(s), s[0])
    )
    filled: dict[str, int] = {}
    for n, k in order:
        in_shell = min(number, 4 * k + 2)
        if in_shell:
            filled[f"{n}{'spdf'[k]}"] = in_shell
        number -= in_shell
    return filled


def unpaired(number: int) -> int:
    """Return the number of unpaired electrons by Hund's rule."""
    total = 0
    for shell, count in configuration(number).items():
        places = {"s": 1, "p": 3, "d": 5, "f": 7}[shell[-1]]
        total += count if count <= places else 2 * places - count
    return total


_REGULAR = [z for z in range(1, 37) if z not in (24, 29)]
_MAIN = [z for z in range(3, 37) if not 21 <= z <= 30]


def _electrons(rng: Random, level: int) -> Choice:
    what = ("valence", "p", "unpaired")[level - 1]
    pool = _MAIN if level == 1 else _REGULAR
    counted = {z: _count(z, what) for z in pool}
    wanted = rng.choice(sorted(set(counted.values())))
    inside = [z for z in pool if counted[z] == wanted]
    outside = [z for z in pool if counted[z] != wanted]
    right = rng.choice(inside)
    wrong = [NAME[ELEMENTS[z - 1][0]] for z in rng.sample(outside, 5)]
    text = f"Which of these atoms has {'no' if wanted == 0 else wanted} {what} "
    text += f"electron{'s' if wanted != 1 else ''} in its ground state?"
    name = NAME[ELEMENTS[right - 1][0]]
    return Choice(
        text, name, tuple(wrong), {"ask": what, "n": wanted, "right": name, "wrong": sorted(wrong)}
    )


def _count(number: int, what: str) -> int:
    shells = configuration(number)
    if what == "p":
        return sum(count for shell, count in shells.items() if shell[-1] == "p")
    if what == "unpaired":
        return unpaired(number)
    outer = max(int(shell[0]) for shell in shells)
    return sum(count for shell, count in shells.items() if int(shell[0]) == outer)


def _oxidation(rng: Random, level: int) -> Choice:
    if level < 3:
        number = rng.choice(sorted({n for _, n in OXIDATION}))
        inside = [name for name, n in OXIDATION if n == number]
        near = [
            name for name, n in OXIDATION if n != number and (level == 1 or abs(n - number) <= 4)
        ]
        right, wrong = rng.choice(inside), rng.sample(near, 5)
        text = f"Which of these atoms has the oxidation number {number:+d}?" if number else (
            "Which of these atoms has the oxidation number 0?")  # fmt: skip
        asked = f"is {number}"
    else:
        top = rng.random() < 0.5
        drawn = sorted(rng.sample(OXIDATION, 6), key=lambda row: row[1], reverse=top)
        if drawn[0][1] == drawn[1][1]:
            return _oxidation(rng, level)
        asked = "highest" if top else "lowest"
        right, wrong = drawn[0][0], [name for name, _ in drawn[1:]]
        text = f"Which of these atoms has the {asked} oxidation number?"
    return Choice(text, right, tuple(wrong), {"ask": asked, "right": right, "wrong": sorted(wrong)})


def _formula_rank(rng: Random, level: int) -> Choice:
    def value(formula: str) -> float:
        counts = atoms(formula)
        if level == 1:
            return float(sum(counts.values()))
        if level == 2:
            return molar_mass(formula)
        return 100 * MASS["O"] * counts.get("O", 0) / molar_mass(formula)

    names = [f for f, _ in COMPOUNDS if level < 3 or "O" in atoms(f)]
    drawn = sorted(rng.sample(names, 6), key=value)
    top = rng.random() < 0.5
    first, second = (drawn[-1], drawn[-2]) if top else (drawn[0], drawn[1])
    if abs(value(first) - value(second)) < 0.01 * value(first):
        return _formula_rank(rng, level)
    what = ("number of atoms in a formula unit", "molar mass", "percentage of oxygen by mass")[
        level - 1
    ]
    side = rng.choice(("largest", "highest")) if top else rng.choice(("smallest", "lowest"))
    text = f"Which of these substances has the {side} {what}?"
    wrong = [f for f in drawn if f != first]
    return Choice(
        text, first, tuple(wrong), {"ask": f"{what} {top}", "right": first, "wrong": sorted(wrong)}
    )


_BY_NUMBER = [(name, float(z)) for z, (_, name, _) in enumerate(ELEMENTS, 1)]
FAMILIES = (
    stem_family("facts_element_symbols", matching(
        [(name, symbol) for symbol, name, _ in ELEMENTS],
        ("What is the chemical symbol of {}?", "Which symbol stands for the element {}?"),
        ("Which element has the symbol {}?", "The symbol {} stands for which element?"),
        "element and symbol")),
    stem_family("facts_element_order", ordering(
        _BY_NUMBER, "Which of these elements has the {}highest atomic number?",
        "Which of these elements has the {}lowest atomic number?", "atomic number")),
    stem_family("facts_element_groups", belonging(GROUPS, "element")),
    stem_family("facts_electronegativity", ordering(
        [(NAME[s], x) for s, x in ELECTRONEGATIVITY.items()],
        "Which of these elements has the {}highest electronegativity (Pauling's scale)?",
        "Which of these elements has the {}lowest electronegativity (Pauling's scale)?",
        "electronegativity (Pauling's scale)", 1.06)),
    stem_family("facts_electrons", _electrons),
    stem_family("facts_oxidation_numbers", _oxidation),
    stem_family("facts_compound_names", matching(
        [(name, formula) for formula, name in COMPOUNDS],
        ("What is the formula of {}?", "Which formula belongs to {}?"),
        ("What is the name of {}?", "Which substance has the formula {}?"), "name and formula")),
    stem_family("facts_formula_rank", _formula_rank),
    stem_family("facts_molecular_shapes", matching(
        SHAPES, ("What is the shape of {} (VSEPR, positions of the atoms)?", "Which shape does {} have?"),
        ("Which of these is {} (VSEPR, positions of the atoms)?", "Which of these particles is {}?"),
        "particle and shape (VSEPR)")),
    stem_family("facts_salt_solubility", belonging(
        {"well soluble in water": _salts(True), "nearly insoluble in water": _salts(False)}, "salt")),
)  # fmt: skip
