r"""Nuclides: ``{}^{14}_{6}\text{C}``, ``\ce{^{14}C}``, ``¹⁴C``, ``C-14`` and ``carbon-14`` are one."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_NUCLIDE = 100
"""Characters; a longer text is no nuclide."""
_ELEMENTS = """H hydrogen He helium Li lithium Be beryllium B boron C carbon N nitrogen O oxygen F fluorine Ne neon Na sodium
Mg magnesium Al aluminum Si silicon P phosphorus S sulfur Cl chlorine Ar argon K potassium Ca calcium Sc scandium Ti titanium V vanadium
Cr chromium Mn manganese Fe iron Co cobalt Ni nickel Cu copper Zn zinc Ga gallium Ge germanium As arsenic Se selenium Br bromine Kr krypton
Rb rubidium Sr strontium Y yttrium Zr zirconium Nb niobium Mo molybdenum Tc technetium Ru ruthenium Rh rhodium Pd palladium Ag silver
Cd cadmium In indium Sn tin Sb antimony Te tellurium I iodine Xe xenon Cs cesium Ba barium La lanthanum Ce cerium Pr praseodymium
Nd neodymium Pm promethium Sm samarium Eu europium Gd gadolinium Tb terbium Dy dysprosium Ho holmium Er erbium Tm thulium Yb ytterbium
Lu lutetium Hf hafnium Ta tantalum W tungsten Re rhenium Os osmium Ir iridium Pt platinum Au gold Hg mercury Tl thallium Pb lead Bi bismuth
Po polonium At astatine Rn radon Fr francium Ra radium Ac actinium Th thorium Pa protactinium U uranium Np neptunium Pu plutonium
Am americium Cm curium Bk berkelium Cf californium Es einsteinium Fm fermium Md mendelevium No nobelium Lr lawrencium Rf rutherfordium
Db dubnium Sg seaborgium Bh bohrium Hs hassium Mt meitnerium Ds darmstadtium Rg roentgenium Cn copernicium Nh nihonium Fl flerovium
Mc moscovium Lv livermorium Ts tennessine Og oganesson""".split()  # noqa: SIM905
NUMBERS = {symbol: at + 1 for at, symbol in enumerate(_ELEMENTS[::2])}
"""Symbol -> atomic number."""
_SYMBOLS = {
    **{name: symbol for symbol, name in zip(_ELEMENTS[::2], _ELEMENTS[1::2], strict=True)},
    "aluminium": "Al", "caesium": "Cs", "sulphur": "S",
}  # fmt: skip
_WRAPPER = re.compile(r"\\(?:ce|text|textrm|mathrm|mathbf|textbf|mbox|rm|operatorname)(?![A-Za-z])")
_HIGH = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LOW = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED, _LOWERED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+"), re.compile(r"[₀₁₂₃₄₅₆₇₈₉]+")
_SCRIPTS = re.compile(
    r"(?:\^(?P<m1>\d{1,3}m?)(?:_(?P<z1>\d{1,3}))?|_(?P<z2>\d{1,3})\^(?P<m2>\d{1,3}m?))(?P<symbol>[A-Z][a-z]?)"
)
_HYPHEN = re.compile(r"(?P<symbol>[A-Za-z]{1,13})-(?P<m1>\d{1,3}m?)")


@dataclass(frozen=True, slots=True)
class Nuclide:
    """An element's symbol and a mass number (``99m`` for an excited state)."""

    symbol: str
    mass: str


def read_nuclide(text: str) -> Nuclide | None:
    """Return the nuclide that a text is; None for anything else, also for a wrong atomic number."""
    if len(text) > MAX_NUCLIDE:
        return None
    text = _RAISED.sub(lambda run: "^" + run.group().translate(_HIGH), text)
    text = _LOWERED.sub(lambda run: "_" + run.group().translate(_LOW), text)
    plain = re.sub(r"[\s${}]", "", _WRAPPER.sub("", text).replace(r"\,", "").replace("–", "-"))
    match = _SCRIPTS.fullmatch(plain) or _HYPHEN.fullmatch(plain)
    if match is None:
        return None
    parts = match.groupdict()
    name = parts["symbol"]
    symbol = name if name in NUMBERS else _SYMBOLS.get(name.casefold(), "")
    number = parts.get("z1") or parts.get("z2")
    if not symbol or (number and int(number) != NUMBERS[symbol]):
        return None
    return Nuclide(symbol, parts.get("m1") or parts.get("m2") or "")
