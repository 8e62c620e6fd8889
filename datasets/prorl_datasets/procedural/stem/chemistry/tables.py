"""Contains elements, compounds and balanced equations, and computes formulas and masses.

Atomic masses of the first 86 elements are IUPAC's abridged standard atomic weights, rounded to at most five figures.
Tc, Pm, Po, At and Rn, which lack one, have the mass number of a long-lived isotope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

_ELEMENTS = """
H hydrogen 1.008,He helium 4.003,Li lithium 6.94,Be beryllium 9.012,B boron 10.81,C carbon 12.011,
N nitrogen 14.007,O oxygen 15.999,F fluorine 18.998,Ne neon 20.180,Na sodium 22.990,
Mg magnesium 24.305,Al aluminium 26.982,Si silicon 28.085,P phosphorus 30.974,S sulfur 32.06,
Cl chlorine 35.45,Ar argon 39.95,K potassium 39.098,Ca calcium 40.078,Sc scandium 44.956,
Ti titanium 47.867,V vanadium 50.942,Cr chromium 51.996,Mn manganese 54.938,Fe iron 55.845,
Co cobalt 58.933,Ni nickel 58.693,Cu copper 63.546,Zn zinc 65.38,Ga gallium 69.723,
Ge germanium 72.630,As arsenic 74.922,Se selenium 78.971,Br bromine 79.904,Kr krypton 83.798,
Rb rubidium 85.468,Sr strontium 87.62,Y yttrium 88.906,Zr zirconium 91.224,Nb niobium 92.906,
Mo molybdenum 95.95,Tc technetium 98,Ru ruthenium 101.07,Rh rhodium 102.91,Pd palladium 106.42,
Ag silver 107.87,Cd cadmium 112.41,In indium 114.82,Sn tin 118.71,Sb antimony 121.76,
Te tellurium 127.60,I iodine 126.90,Xe xenon 131.29,Cs caesium 132.91,Ba barium 137.33,
La lanthanum 138.91,Ce cerium 140.12,Pr praseodymium 140.91,Nd neodymium 144.24,
Pm promethium 145,Sm samarium 150.36,Eu europium 151.96,Gd gadolinium 157.25,Tb terbium 158.93,
Dy dysprosium 162.50,Ho holmium 164.93,Er erbium 167.26,Tm thulium 168.93,Yb ytterbium 173.05,
Lu lutetium 174.97,Hf hafnium 178.49,Ta tantalum 180.95,W tungsten 183.84,Re rhenium 186.21,
Os osmium 190.23,Ir iridium 192.22,Pt platinum 195.08,Au gold 196.97,Hg mercury 200.59,
Tl thallium 204.38,Pb lead 207.2,Bi bismuth 208.98,Po polonium 209,At astatine 210,Rn radon 222
"""
ELEMENTS: tuple[tuple[str, str, float], ...] = tuple(
    (parts[0], parts[1], float(parts[2]))
    for parts in (row.split() for row in _ELEMENTS.replace("\n", "").split(","))
)
"""(symbol, name, atomic mass in g/mol), by atomic number."""
MASS: Mapping[str, float] = {symbol: mass for symbol, _, mass in ELEMENTS}
NUMBER: Mapping[str, int] = {symbol: z for z, (symbol, _, _) in enumerate(ELEMENTS, 1)}
NAME: Mapping[str, str] = {symbol: name for symbol, name, _ in ELEMENTS}

_COMPOUNDS = """
H2O water,CO2 carbon dioxide,CO carbon monoxide,NaCl sodium chloride,CH4 methane,NH3 ammonia,
SO2 sulfur dioxide,SO3 sulfur trioxide,NO2 nitrogen dioxide,N2O dinitrogen monoxide,
H2SO4 sulfuric acid,HNO3 nitric acid,H3PO4 phosphoric acid,C6H12O6 glucose,C12H22O11 sucrose,
CaCO3 calcium carbonate,H2O2 hydrogen peroxide,NaOH sodium hydroxide,KOH potassium hydroxide,
Ca(OH)2 calcium hydroxide,Mg(OH)2 magnesium hydroxide,Al2O3 aluminium oxide,Fe2O3 iron(III) oxide,
CuSO4 copper(II) sulfate,AgNO3 silver nitrate,KMnO4 potassium permanganate,KNO3 potassium nitrate,
Na2CO3 sodium carbonate,NaHCO3 sodium hydrogencarbonate,NH4NO3 ammonium nitrate,
(NH4)2SO4 ammonium sulfate,Ca3(PO4)2 calcium phosphate,K2Cr2O7 potassium dichromate,
BaSO4 barium sulfate,BaCl2 barium chloride,MgO magnesium oxide,CaO calcium oxide,
ZnO zinc oxide,ZnS zinc sulfide,FeS2 iron disulfide,SiO2 silicon dioxide,TiO2 titanium dioxide,
PbO2 lead(IV) oxide,MnO2 manganese(IV) oxide,P4O10 phosphorus(V) oxide,PCl3 phosphorus trichloride,
PCl5 phosphorus pentachloride,CCl4 tetrachloromethane,CHCl3 trichloromethane,CH3OH methanol,
C2H5OH ethanol,CH3COOH ethanoic acid,C3H8 propane,C4H10 butane,C8H18 octane,C2H4 ethene,C2H2 ethyne,
C6H6 benzene,CO(NH2)2 urea,KI potassium iodide,NaF sodium fluoride,MgCl2 magnesium chloride,
AlCl3 aluminium chloride,FeCl3 iron(III) chloride,Na2SO4 sodium sulfate,Na2S2O3 sodium thiosulfate,
LiOH lithium hydroxide,Cr2O3 chromium(III) oxide,Al2(SO4)3 aluminium sulfate,CS2 carbon disulfide
"""
COMPOUNDS: tuple[tuple[str, str], ...] = tuple(
    (row.split(" ", 1)[0], row.split(" ", 1)[1])
    for row in _COMPOUNDS.strip().replace("\n", "").split(",")
)
"""(formula, name)."""

_EQUATIONS = """
2 H2 + 1 O2 > 2 H2O;1 N2 + 3 H2 > 2 NH3;1 CH4 + 2 O2 > 1 CO2 + 2 H2O;
1 C3H8 + 5 O2 > 3 CO2 + 4 H2O;2 C2H6 + 7 O2 > 4 CO2 + 6 H2O;2 C4H10 + 13 O2 > 8 CO2 + 10 H2O;
2 C8H18 + 25 O2 > 16 CO2 + 18 H2O;1 C2H5OH + 3 O2 > 2 CO2 + 3 H2O;4 Fe + 3 O2 > 2 Fe2O3;
2 Mg + 1 O2 > 2 MgO;4 Al + 3 O2 > 2 Al2O3;1 Fe2O3 + 3 CO > 2 Fe + 3 CO2;
2 Al + 3 Cl2 > 2 AlCl3;2 Na + 1 Cl2 > 2 NaCl;1 Zn + 2 HCl > 1 ZnCl2 + 1 H2;
1 CaCO3 + 2 HCl > 1 CaCl2 + 1 H2O + 1 CO2;2 Al + 6 HCl > 2 AlCl3 + 3 H2;
2 NaOH + 1 H2SO4 > 1 Na2SO4 + 2 H2O;4 NH3 + 5 O2 > 4 NO + 6 H2O;2 SO2 + 1 O2 > 2 SO3;
1 P4 + 5 O2 > 1 P4O10;1 TiCl4 + 2 Mg > 1 Ti + 2 MgCl2;2 AgNO3 + 1 Cu > 1 Cu(NO3)2 + 2 Ag;
1 Fe2O3 + 2 Al > 1 Al2O3 + 2 Fe;3 NO2 + 1 H2O > 2 HNO3 + 1 NO;2 H2S + 3 O2 > 2 SO2 + 2 H2O;
1 CS2 + 3 O2 > 1 CO2 + 2 SO2;1 P4 + 6 Cl2 > 4 PCl3;2 ZnS + 3 O2 > 2 ZnO + 2 SO2;
1 CaO + 3 C > 1 CaC2 + 1 CO;1 Cr2O3 + 2 Al > 1 Al2O3 + 2 Cr;2 Li + 2 H2O > 2 LiOH + 1 H2;
1 CaC2 + 2 H2O > 1 C2H2 + 1 Ca(OH)2;1 Pb(NO3)2 + 2 KI > 1 PbI2 + 2 KNO3;
1 C6H12O6 + 6 O2 > 6 CO2 + 6 H2O;2 K + 2 H2O > 2 KOH + 1 H2;1 SiO2 + 2 C > 1 Si + 2 CO;
3 Mg + 1 N2 > 1 Mg3N2;1 Cl2 + 2 KI > 2 KCl + 1 I2;2 CH3OH + 3 O2 > 2 CO2 + 4 H2O
"""
Side = tuple[tuple[int, str], ...]


def _side(text: str) -> Side:
    terms = (term.split() for term in text.strip().split(" + "))
    return tuple((int(count), formula) for count, formula in terms)


EQUATIONS: tuple[tuple[Side, Side], ...] = tuple(
    (_side(row.split(">")[0]), _side(row.split(">")[1]))
    for row in _EQUATIONS.replace("\n", "").split(";")
)
"""Balanced equations as (reactants, products) of (coefficient, formula), two reactants each."""


def show(equation: tuple[Side, Side]) -> str:
    """Return an equation as ``N2 + 3 H2 -> 2 NH3``."""
    sides = (
        " + ".join(f"{n} {formula}" if n > 1 else formula for n, formula in side)
        for side in equation
    )
    return " -> ".join(sides)


def atoms(formula: str) -> dict[str, int]:
    """Count a formula's atoms (at most one level of brackets), in order of appearance."""
    counts: dict[str, int] = {}
    for inner, times, symbol, count in re.findall(r"\(([^()]*)\)(\d*)|([A-Z][a-z]?)(\d*)", formula):
        group = atoms(inner) if inner else {symbol: 1}
        factor = int((times if inner else count) or 1)
        for name, number in group.items():
            counts[name] = counts.get(name, 0) + number * factor
    return counts


def molar_mass(formula: str) -> float:
    """Return the molar mass in g/mol, to two places."""
    return round(sum(MASS[symbol] * count for symbol, count in atoms(formula).items()), 2)


def masses(*formulas: str) -> str:
    needed: dict[str, int] = {}
    for formula in formulas:
        needed.update(atoms(formula))
    return f"Atomic masses in g/mol: {', '.join(f'{s} {MASS[s]:g}' for s in needed)}."


def molar_masses(*formulas: str) -> str:
    stated = ", ".join(f"{formula} {molar_mass(formula):g} g/mol" for formula in formulas)
    return f"Molar {'mass' if len(formulas) == 1 else 'masses'}: {stated}."


def organic(rng: Random, hetero: int) -> str:
    """Draw a formula of carbon, hydrogen and ``hetero`` other elements, consistent with the valences."""
    carbon = rng.randint(3, 20)
    limits = {"N": 4, "O": 6, "S": 2, "Cl": 3, "F": 3, "Br": 2}
    chosen = rng.sample(["N", "O", "O", "N", "S", "Cl", "F", "Br"], hetero)
    others = {symbol: rng.randint(1, min(limits[symbol], carbon // 2 + 1)) for symbol in chosen}
    halogens = sum(others.get(symbol, 0) for symbol in ("Cl", "F", "Br"))
    most = 2 * carbon + 2 + others.get("N", 0) - halogens
    hydrogen = max(most - 2 * rng.randint(0, carbon * 2 // 3), 2 + most % 2)
    counts = {"C": carbon, "H": hydrogen, **{s: others[s] for s in sorted(others)}}
    return "".join(s + (str(n) if n > 1 else "") for s, n in counts.items())


GASES: tuple[tuple[str, str], ...] = (
    ("O2", "oxygen"),
    ("N2", "nitrogen"),
    ("CO2", "carbon dioxide"),
    ("He", "helium"),
    ("Ar", "argon"),
    ("CH4", "methane"),
    ("H2", "hydrogen"),
    ("NH3", "ammonia"),
    ("SO2", "sulfur dioxide"),
    ("C3H8", "propane"),
    ("Ne", "neon"),
    ("CO", "carbon monoxide"),
)
