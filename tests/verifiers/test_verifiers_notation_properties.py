"""Notations: printed values read back the same, equality is symmetric, no text raises, and work is linear."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prorl_verifiers.instruction.audit import example, registered
from prorl_verifiers.instruction.scorer import score_instruction
from prorl_verifiers.libraries import load_library
from prorl_verifiers.math.grader import grade
from prorl_verifiers.math.reading.tokens import MAX_TEXT
from prorl_verifiers.notation.quantities import read_quantity
from prorl_verifiers.notation.unit_text import read_unit
from prorl_verifiers.notation.units import convert
from prorl_verifiers.stem.chemistry import same_formula
from prorl_verifiers.stem.kinds import read_date, read_nuclide, split_direction
from prorl_verifiers.stem.numbers import read_measure
from prorl_verifiers.stem.scorer import score_stem
from prorl_verifiers.stem.vectors import read_vector
from prorl_verifiers.types import Reference

FEW = settings(max_examples=80, deadline=None, derandomize=True, database=None)
Powers = dict[str, int]

# ------------------------------------------------------------------------------------------- numbers


def _grouped(separator: str) -> Callable[[int], str]:
    return lambda number: f"{number:,}".replace(",", separator)


def _scientific(sign: str) -> Callable[[int], str]:
    """Write a number with one digit before the point, keeping all digits."""

    def write(number: int) -> str:
        digits = str(abs(number))
        tail = digits[1:] and f".{digits[1:]}"
        minus = "-" if number < 0 else ""
        return f"{minus}{digits[0]}{tail}{sign.format(len(digits) - 1)}"

    return write


INTEGERS: dict[str, Callable[[int], str]] = {
    "plain": str,
    "commas": _grouped(","),
    "braced commas": _grouped("{,}"),
    "thin spaces": _grouped(r"\,"),
    "power of ten": _scientific(r"\times10^{{{}}}"),
    "dot": _scientific(r"\cdot 10^{{{}}}"),
    "exponent": _scientific("e{}"),
    "point nothing": lambda number: f"{number}.0",
    "over one": lambda number: rf"\frac{{{number}}}{{1}}",
}
"""Notations of integers."""
numbers = st.integers(-(10**9), 10**9)
spellings = st.sampled_from(tuple(INTEGERS))


@FEW
@given(numbers, spellings)
def test_an_integer_reads_back_from_every_spelling(number: int, spelling: str) -> None:
    found = read_quantity(INTEGERS[spelling](number))
    assert found is not None and found.value == number
    again = read_quantity(str(found.value))
    assert again is not None and again.value == found.value


@FEW
@given(numbers, st.integers(-3, 3), spellings, spellings)
def test_integers_in_any_two_spellings_are_equal_both_ways_or_neither(
    number: int, off: int, one: str, two: str
) -> None:
    left, right = INTEGERS[one](number), INTEGERS[two](number + off)
    assert (grade(left, right).decision == "accept") is (off == 0), (left, right)
    assert (grade(right, left).decision == "accept") is (off == 0), (left, right)


@FEW
@given(st.integers(1, 400), st.integers(1, 12), st.integers(1, 11))
def test_a_mixed_number_is_its_fraction_and_no_other(whole: int, bottom: int, top: int) -> None:
    if top >= bottom:
        return
    mixed, value = rf"{whole}\frac{{{top}}}{{{bottom}}}", whole + Fraction(top, bottom)
    fraction = rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    other = rf"\frac{{{value.numerator + 1}}}{{{value.denominator}}}"
    assert grade(mixed, fraction).decision == grade(fraction, mixed).decision == "accept"
    assert grade(mixed, other).decision == grade(other, mixed).decision == "reject"


@FEW
@given(st.integers(2, 60), st.integers(-200, 200), st.integers(-3, 3))
def test_a_congruence_is_its_progression_and_no_other(modulus: int, rest: int, off: int) -> None:
    gold = rf"n\equiv{rest}\pmod{{{modulus}}}"
    answer = f"n={modulus}k{rest + off:+d}"
    same = off % modulus == 0
    assert (grade(gold, answer).decision == "accept") is same
    assert (grade(f"{answer}, k \\in \\mathbb{{Z}}", gold).decision == "accept") is same


@FEW
@given(st.lists(st.lists(st.integers(-9, 9), min_size=2, max_size=2), min_size=2, max_size=3))
def test_a_transpose_of_a_transpose_is_the_matrix(rows: list[list[int]]) -> None:
    def written(of: list[list[int]]) -> str:
        lines = r"\\".join("&".join(map(str, row)) for row in of)
        return rf"\begin{{pmatrix}}{lines}\end{{pmatrix}}"

    turned = [list(column) for column in zip(*rows, strict=True)]
    assert grade(written(rows), written(turned) + "^T").decision == "accept"
    assert grade(written(turned) + "^T", written(rows)).decision == "accept"
    if turned != rows:
        assert grade(written(rows), written(rows) + "^T").decision != "accept"


# --------------------------------------------------------------------------------------------- units

powers = st.dictionaries(
    st.sampled_from(("kg", "m", "s", "A", "K", "mol")),
    st.integers(-3, 3).filter(bool),
    min_size=1,
    max_size=4,
)


def _with_dots(unit: Powers) -> str:
    return r"\cdot ".join(rf"\mathrm{{{name}}}^{{{power}}}" for name, power in unit.items())


def _in_one_font(unit: Powers) -> str:
    return r"\mathrm{" + r"\,".join(f"{name}^{{{power}}}" for name, power in unit.items()) + "}"


def _with_blanks(unit: Powers) -> str:
    return " ".join(f"{name}^{power}" for name, power in unit.items())


def _as_ratio(unit: Powers) -> str:
    above = " ".join(f"{name}^{power}" for name, power in unit.items() if power > 0)
    below = "".join(f"/{name}^{-power}" for name, power in unit.items() if power < 0)
    return (above or "1") + below


UNITS = (_with_dots, _in_one_font, _with_blanks, _as_ratio)
spelled = st.sampled_from(UNITS)


@FEW
@given(powers, spelled, spelled)
def test_a_unit_in_any_two_spellings_is_the_same_unit(
    unit: Powers, one: Callable[[Powers], str], two: Callable[[Powers], str]
) -> None:
    assert dict(read_unit(one(unit))[0]) == unit
    assert convert(Fraction(7, 3), one(unit), two(unit)) == Fraction(7, 3)


@FEW
@given(powers, powers, spelled, spelled)
def test_units_of_other_dimensions_convert_in_neither_direction(
    left: Powers, right: Powers, one: Callable[[Powers], str], two: Callable[[Powers], str]
) -> None:
    if left != right:
        assert convert(Fraction(1), one(left), two(right)) is None
        assert convert(Fraction(1), two(right), one(left)) is None


@FEW
@given(
    st.sampled_from(
        (("km", "m"), ("h", "s"), ("eV", "J"), ("L", "cm^3"), ("atm", "Pa"), ("°C", "K"))
    ),
    st.fractions(-1000, 1000, max_denominator=1000),
)
def test_converting_there_and_back_is_exact(pair: tuple[str, str], value: Fraction) -> None:
    there = convert(value, *pair)
    assert there is not None
    assert convert(there, pair[1], pair[0]) == value


@FEW
@given(st.integers(10, 999), powers, spelled, spelled, st.sampled_from((0, 1)))
def test_a_quantity_in_another_spelling_earns_the_reward_and_another_value_does_not(
    value: int, unit: Powers, one: Callable[[Powers], str], two: Callable[[Powers], str], off: int
) -> None:
    reference = {"answer": str(value), "unit": one(unit), "tolerance": {"abs": 0.5}}
    answer = rf"\boxed{{{value + off}\ {two(unit)}}}"
    assert score_stem(answer, reference, load_library).reward == float(off == 0)


# ------------------------------------------------------------------------------------- any text at all

NOISE = st.text(
    alphabet="0123456789.,;:+-*/^_=<>()[]{}\\|$%'\u2212\u00d7\u00b0\u03bc\u221a\u2192 \n\x00\u202e\u0661NaClCO2HkgmsJEeijmathrmfracboxedtext",
    max_size=90,
)
READERS: dict[str, Callable[[str], object]] = {
    "quantity": read_quantity,
    "measure": lambda text: read_measure(text, "m/s", load_library),
    "vector": lambda text: read_vector(text, "m", load_library),
    "unit": read_unit,
    "formula": lambda text: same_formula("H2SO4", text),
    "reaction": lambda text: same_formula("2H2 + O2 -> 2H2O", text),
    "nuclide": read_nuclide,
    "date": read_date,
    "direction": split_direction,
}


@pytest.mark.parametrize("reader", READERS)
@FEW
@given(text=NOISE)
def test_no_reader_raises_on_any_text(reader: str, text: str) -> None:
    READERS[reader](text)


@FEW
@given(NOISE, NOISE)
def test_chemical_formulas_are_the_same_both_ways(left: str, right: str) -> None:
    assert same_formula(left, left) in (True, None)
    assert (same_formula(left, right) is True) == (same_formula(right, left) is True)


# ---------------------------------------------------------------------------- work, counted not timed


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of Python and C functions that a piece of work calls."""
    count = 0

    def seen(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


LENGTH = 6_000
UNITS_OF_TEXT = ("A keeper waxed his boots. ", "a\n", "word ", "not, ")


@pytest.mark.parametrize("name", registered())
def test_the_calls_for_an_instruction_grow_with_the_length_of_the_text(name: str) -> None:
    reference: Reference = {"instruction_id_list": [name], "kwargs": [example(name)]}

    def calls(unit: str, length: int) -> int:
        text = unit * (length // len(unit))
        return calls_of(lambda: score_instruction(text, reference, load_library))

    for unit in UNITS_OF_TEXT:
        calls(unit, 100)  # load and compile once
        once, twice = calls(unit, LENGTH), calls(unit, 2 * LENGTH)
        assert twice <= 2.5 * once + 200, (unit, once, twice)


@pytest.mark.parametrize(
    "unit", ["1+", "x", "(", "1, ", "so it is 5 ", r"\frac{1}{2}", "not ", r"\boxed{"]
)
def test_the_calls_for_an_answer_grow_with_its_length(unit: str) -> None:
    def calls(length: int) -> int:
        text = unit * (length // len(unit))
        return calls_of(lambda: grade("x+1", text).decision)

    calls(100)
    once, twice = calls(MAX_TEXT // 2), calls(MAX_TEXT)
    assert twice <= 2.5 * once + 200, (once, twice)
