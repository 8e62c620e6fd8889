from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prorl_verifiers.notation.latex_text import clean
from prorl_verifiers.notation.quantities import read_quantity, unit_powers


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", Fraction("1234.5")),
        (r"1\,000\,000", Fraction(10**6)),
        (r"\frac34", Fraction(3, 4)),
        (r"-\dfrac{3}{4}", Fraction(-3, 4)),
        (r"2\frac{1}{2}", Fraction(5, 2)),
        ("3/4", Fraction(3, 4)),
        (r"1.5\times10^{-3}", Fraction("0.0015")),
        ("1.38e-23", Fraction("1.38e-23")),
        ("−7", Fraction(-7)),
        (r"\$18", Fraction(18)),
        (r"50\%", Fraction(1, 2)),
        ("18 dollars", Fraction(18)),
        (r"5.4\text{ cents}", Fraction("5.4")),
        (r"90^{\circ}", Fraction(90)),
    ],
)
def test_numbers_are_read_exactly(text: str, value: Fraction) -> None:
    quantity = read_quantity(text)
    assert quantity is not None and quantity.value == value


@pytest.mark.parametrize(
    "text",
    [
        "", "5x", "5 thousand", r"2\pi", "1 2", "5 squared", "1/0", "18 or 19", "nan", "inf",
        "1e999999999", "5!",
    ],
)  # fmt: skip
def test_what_is_not_a_plain_number_is_not_read(text: str) -> None:
    assert read_quantity(text) is None


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**20))
def test_every_fraction_reads_back(top: int, bottom: int) -> None:
    sign = "-" if top < 0 else ""
    quantity = read_quantity(rf"{sign}\frac{{{abs(top)}}}{{{bottom}}}")
    assert quantity is not None and quantity.value == Fraction(top, bottom)


@given(st.text(alphabet="0123456789.,e+-^{}\\frac ", max_size=40))
def test_reading_never_raises(text: str) -> None:
    read_quantity(text)


@given(st.text(alphabet="\\{}$().fracsqtx12 ", max_size=40))
def test_cleaning_twice_changes_little(text: str) -> None:
    assert isinstance(clean(clean(text)), str)


def test_units_are_compared_as_products_of_names() -> None:
    assert unit_powers("kJ/mol") == unit_powers(r"\mathrm{kJ~mol^{-1}}") == unit_powers("kJ mol-1")
    assert unit_powers("m") != unit_powers("km")
    assert unit_powers("seconds") == unit_powers("s")
