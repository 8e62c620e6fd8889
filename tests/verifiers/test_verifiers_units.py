from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prorl_verifiers.notation.unit_text import read_unit
from prorl_verifiers.notation.units import convert, is_known


@pytest.mark.parametrize(
    ("value", "unit", "to", "wanted"),
    [
        ("5", "km", r"\mathrm{~m}", "5000"),
        ("1", "J", r"\mathrm{kg}\,\mathrm{m}^2/\mathrm{s}^2", "1"),
        ("1", "J", r"N\cdot m", "1"),
        ("1", "eV", "J", "1.602176634e-19"),
        ("1", "L", "m^3", "0.001"),
        ("25", r"^\circ C", "K", "298.15"),
        ("25", r"^{\circ}\mathrm{C}", r"^\circ F", "77"),
        ("77", "°F", "degrees Celsius", "25"),
        ("300", "K", r"^\circ\text{C}", "26.85"),
        ("1", "mol/L", "M", "1"),
        ("1", "ppm", "", "1e-6"),
        ("5", r"\%", "", "0.05"),
        ("1", r"\mathrm{JK}^{-1} \mathrm{~mol}^{-1}", "J/(mol K)", "1"),
        ("1", "J/mol K", "kJ K-1 mol-1", "0.001"),
        ("1", r"\meter\per\second", "km/h", "3.6"),
        ("36", r"\kilo\meter\per\hour", "m/s", "10"),
        ("1", r"\frac{\text{m}}{\text{s}}", "cm/s", "100"),
        ("1", r"\mu \mathrm{C}", "C", "1e-6"),
        ("1", "µm", "nm", "1000"),
        ("1", r"\AA", "nm", "0.1"),
        ("1", "psi", "lb/in^2", "1"),
        ("60", "rpm", "Hz", "1"),
        ("1", "rad/s", "s^{-1}", "1"),
        ("1", "kWh", "MJ", "3.6"),
        ("2", "square meters", "cm^2", "20000"),
        ("1", "meters per second squared", "cm/s^2", "100"),
        ("1", "J °C^{-1}", "J/K", "1"),
        ("1", "kcal/mol", "kJ/mol", "4.184"),
        ("1", r"V/\sqrt{Hz}", r"mV\,Hz^{-1/2}", "1000"),
        ("1", "J/electron", "J", "1"),
        ("1", "g of NaCl", "kg", "0.001"),
        ("2", "days", "h", "48"),
        ("3", "ms", "s", "0.003"),
        ("1", "Ns", "kg m/s", "1"),
        ("7", "apples", "apple", "7"),
    ],
)
def test_units_convert_exactly(value: str, unit: str, to: str, wanted: str) -> None:
    assert convert(Fraction(value), unit, to) == Fraction(wanted)


@pytest.mark.parametrize(
    ("unit", "to"),
    [
        ("m", "s"),
        ("s", "1/s"),
        ("rad/s", "Hz"),
        ("kg", "N"),
        ("dB", ""),
        ("apples", "pears"),
        ("m^{", "m"),
        ("m^(1/0)", "m"),
        ("__import__('os')", "m"),
        ("m" * 300, "m"),
        ("((((((((((m))))))))))", "m"),
        ("m^99", "m^98"),
        ("", "m"),
    ],
)
def test_other_dimensions_and_what_is_no_unit_do_not_convert(unit: str, to: str) -> None:
    assert convert(Fraction(1), unit, to) is None


def test_an_exponent_binds_to_the_last_symbol() -> None:
    assert read_unit(r"\mathrm{JK}^{-1}")[0] == (("J", Fraction(1)), ("K", Fraction(-1)))


def test_a_blank_text_is_no_unit_at_all() -> None:
    assert read_unit(" ") == ((),)


def test_names_without_a_size_are_not_known() -> None:
    assert is_known("kg m^2") and is_known("photons/s")
    assert not is_known("apples") and not is_known("x")


@given(st.text(alphabet="mskgJ^{}()/*-123 \\frac.°µ", max_size=60))
def test_reading_and_converting_any_text_ends_without_an_error(text: str) -> None:
    convert(Fraction(1), text, "m")
