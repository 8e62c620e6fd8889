"""Names of units as people write them: aliases, phrases, siunitx macros, names with two meanings. Tables only."""

from __future__ import annotations

import re

PREFIX_MACROS = {
    "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "hecto": "h", "deca": "da", "deci": "d",
    "centi": "c", "milli": "m", "micro": "µ", "nano": "n", "pico": "p", "femto": "f", "atto": "a",
}  # fmt: skip
"""siunitx prefix macro -> symbol."""

_UNITS = {
    "meter": "m", "metre": "m", "second": "s", "gram": "g", "kilogram": "kg", "ampere": "A", "kelvin": "K",
    "mole": "mol", "candela": "cd", "hertz": "Hz", "newton": "N", "pascal": "Pa", "joule": "J", "watt": "W",
    "coulomb": "C", "volt": "V", "farad": "F", "ohm": "Ω", "siemens": "S", "weber": "Wb", "tesla": "T",
    "henry": "H", "celsius": "degC", "degreeCelsius": "degC", "degree": "deg", "radian": "rad", "minute": "min",
    "hour": "h", "day": "day", "liter": "L", "litre": "L", "electronvolt": "eV", "bar": "bar", "dalton": "Da",
    "percent": "%", "arcsecond": "arcsec", "arcminute": "arcmin", "lumen": "lm", "lux": "lx", "becquerel": "Bq",
    "gray": "Gy", "sievert": "Sv", "tonne": "t", "Hz": "Hz", "eV": "eV", "pi": "pi", "m": "m", "s": "s",
    "kg": "kg", "nm": "nm", "cm": "cm", "mm": "mm", "km": "km", "J": "J", "kJ": "kJ", "N": "N", "V": "V",
    "A": "A", "W": "W", "K": "K", "mol": "mol", "hbar": "hbar", "deg": "deg",
}  # fmt: skip
UNIT_MACROS: dict[str, tuple[str, str]] = {
    **{macro: ("name", symbol) for macro, symbol in _UNITS.items() if macro not in ("pi", "hbar")},
    "per": ("per", ""),
    "squared": ("power", "2"), "cubed": ("power", "3"), "square": ("before", "2"), "cubic": ("before", "3"),
    "cdot": ("mul", ""), "times": ("mul", ""), "ast": ("mul", ""), "bullet": ("mul", ""), "cdotp": ("mul", ""),
    "slash": ("div", ""),
}  # fmt: skip
"""LaTeX macro inside a unit -> token (kind, text)."""

ALIASES = {
    "sec": "s", "secs": "s", "Sec": "s", "hr": "h", "hrs": "h", "mins": "min", "lbs": "lb", "yrs": "yr", "kgs": "kg",
    "gm": "g", "gms": "g", "cms": "cm", "kms": "km", "mols": "mol", "amp": "A", "amps": "A", "Amp": "A", "KJ": "kJ",
    "Kg": "kg", "KG": "kg", "Kj": "kJ", "KPa": "kPa", "kpa": "kPa", "Kpa": "kPa", "Mpa": "MPa", "hz": "Hz",
    "ev": "eV", "kev": "keV", "Kev": "keV", "KeV": "keV", "Mev": "MeV", "Gev": "GeV", "kw": "kW", "KW": "kW",
    "Kw": "kW", "KHz": "kHz", "Khz": "kHz", "khz": "kHz", "Mhz": "MHz", "cc": "cm³", "l": "L", "ml": "mL",
    "℥": "oz", "Watt": "W", "micron": "µm", "microns": "µm", "Ohm": "Ω", "ohms": "Ω", "Ohms": "Ω", "ohm": "Ω",
    "sq": "sq", "Kcal": "kcal", "kCal": "kcal", "Cal": "kcal", "ATM": "atm", "Torr": "torr", "KV": "kV", "Kn": "kN",
    "AU": "astronomical_unit", "au": "astronomical_unit", "a.u.": "au", "ly": "light_year", "lyr": "light_year",
    "Volt": "V", "pct": "%", "percent": "%", "perc": "%", "Molar": "M", "nt": "N", "Nt": "N",
    "KN": "kN", "kn": "kN", "Mol": "mol", "Hg": "Hg", "rev": "turn", "revs": "turn", "revolution": "turn",
    "revolutions": "turn", "cycle": "turn", "cycles": "turn", "rot": "turn", "rotations": "turn", "rotation": "turn",
    "lbm": "lb", "degrees": "deg", "degree": "deg", "Degrees": "deg", "radians": "rad", "radian": "rad",
    "Kelvin": "K", "kelvin": "K", "kelvins": "K", "Kelvins": "K", "Celsius": "degC", "celsius": "degC",
    "Fahrenheit": "degF", "fahrenheit": "degF", "centigrade": "degC", "Angstrom": "Å", "angstrom": "Å",
    "Angstroms": "Å", "angstroms": "Å", "mcg": "µg", "um": "µm", "us": "µs", "uL": "µL", "ul": "µL", "ug": "µg",
    "uC": "µC", "uF": "µF", "uA": "µA", "uV": "µV", "uJ": "µJ", "uN": "µN", "uT": "µT", "uM": "µM", "uH": "µH",
    "degK": "K", "$": "dollar", "dollars": "dollar", "cents": "cent", "Da": "Da", "amu": "amu", "fps": "fps",
}  # fmt: skip
"""Spelling -> the name used; ``cm³`` and ``fps`` are names of ``units`` itself."""

SYMBOLS = tuple(
    sorted(
        """m s g kg J kJ MJ mJ K mol kmol mmol N kN mN Pa kPa MPa W kW MW V A mA C T Hz L mL eV keV MeV cm mm km dm nm fm h
        min rad sr ft lb lbf in bar atm cal kcal cd Wb F H S Ω µC nC µF µA ms µs mg µg""".split(),  # noqa: SIM905
        key=lambda symbol: -len(symbol),
    )
)
"""Symbols that may be written without a gap (``JK``, ``Jmol``, ``Nm``), the longest first."""

PREFIXED = frozenset(
    prefix + symbol
    for prefix in ("", "d", "c", "m", "µ", "n", "p", "f", "a", "h", "k", "M", "G", "T", "P")
    for symbol in (
        "m", "g", "s", "A", "K", "mol", "cd", "Hz", "N", "Pa", "J", "W", "C", "V", "F", "S", "Wb", "T", "H", "L", "eV",
        "bar", "cal", "Da", "M", "Bq", "Gy", "Sv", "lm", "lx", "rad", "yr", "pc", "Wh", "B", "b", "u", "D",
    )
) | frozenset("atm torr mmHg cmHg inHg psi amu day mi yd hp kat gal lb oz ft in ha".split())  # fmt: skip  # noqa: SIM905
"""Symbols that are one unit even where two shorter ones would fit (``mW``, ``cd``, ``nm``)."""

COUNTED = frozenset(
    """photon electron proton neutron atom molecule ion particle nucleus nucleon person people cell item piece unit object
    student car ball event count decay disintegration charge carrier bond site quantum fission neutrino muon quanta nuclei trial""".split()  # noqa: SIM905
)
"""Nouns for what is counted: size 1; they may be left out on one side (``J/electron`` for ``J``)."""

TEMPERATURES = {
    "degC": "degC",
    "degF": "degF",
    "K": "K",
    "C": "degC",
    "F": "degF",
    "degR": "degR",
    "mK": "mK",
}
"""Names that, standing alone, are a temperature on a scale."""

_END = r"(?![A-Za-z])"
_START = r"(?<![A-Za-z\\])"
PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(_START + pattern + _END, re.IGNORECASE), name)
    for pattern, name in (
        (r"degrees?\s+(?:celsius|centigrade)|deg\.?\s+celsius", " degC "),
        (r"degrees?\s+fahrenheit|deg\.?\s+fahrenheit", " degF "),
        (r"degrees?\s+kelvin|deg\.?\s+kelvin", " K "),
        (r"(?-i:deg\s+C)", " degC "), (r"(?-i:deg\s+F)", " degF "),
        (r"mm\s*-?\s*Hg", " mmHg "), (r"cm\s*-?\s*Hg", " cmHg "), (r"in\.?\s*-?\s*Hg", " inHg "),
        (r"millimet(?:er|re)s?\s+of\s+mercury", " mmHg "),
        (r"light[\s-]*years?", " light_year "), (r"metric\s+tons?", " t "), (r"nautical\s+miles?", " nautical_mile "),
        (r"astronomical\s+units?", " astronomical_unit "), (r"atomic\s+mass\s+units?", " amu "),
        (r"electron[\s-]*volts?", " eV "), (r"(?:kilowatt|kW)[\s-]*hours?", " kWh "),
        (r"parts\s+per\s+million", " ppm "), (r"parts\s+per\s+billion", " ppb "),
        (r"revolutions\s+per\s+minute|rev\s*/\s*min", " rpm "), (r"miles\s+per\s+hour", " mph "),
        (r"pounds?[\s-]*force", " lbf "), (r"foot[\s-]*pounds?", " ft lbf "),
        (r"square", r" \\square "), (r"sq\.?(?=\s)", r" \\square "), (r"cubic", r" \\cubic "), (r"cu\.(?=\s)", r" \\cubic "),
        (r"squared", r" \\squared "), (r"cubed", r" \\cubed "),
    )
)  # fmt: skip
"""Several words -> one name or macro."""
