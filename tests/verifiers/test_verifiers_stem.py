import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers.stem.choices import choice_index
from prorl_verifiers.stem.scorer import score_stem


def never(module: str) -> None:
    raise AssertionError(f"{module} was not needed")


def load(module: str) -> None:
    importlib.import_module(module)


def reward(text: str, /, **reference: Any) -> float:
    return score_stem(f"\\boxed{{{text}}}", reference, load).reward


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("50.7", "50.7", True),
        ("50.8", "50.7", True),
        ("50.9", "50.7", False),
        ("3.142", "3.14159265", True),
        ("3.16", "3.14159265", False),
        ("9.8", "9.81", True),
        ("9.9", "9.81", False),
        ("6.02e23", r"6.022\times10^{23}", True),
        ("0.54", "0.5", False),
        ("0.52", "0.5", True),
        ("0.333", r"\frac{1}{3}", True),
        ("0.34", r"\frac{1}{3}", False),
        (r"5.07 \times 10^{1}", "50.7", True),
        ("11760", "11760", True),
        ("11761", "11760", False),
        ("11760.0", "11760", True),
        ("0.5", "0.52", False),
        ("nan", "50.7", False),
        (r"E = 50.7", "50.7", True),
        (r"\approx 50.7", "50.7", True),
        ("about 50.7", "50.7", True),
        ("50.7 or 60", "50.7", False),
        ("50-51", "50.7", False),
        ("50 to 51", "50.7", False),
        (r"50.7 \pm 0.2", "50.7", True),
        ("50.7(2)", "50.7", True),
        ("50,7", "50.7", True),
        ("50{,}7", "50.7", True),
        ("50, 7", "50.7", False),
        ("1,234", "1234", True),
        ("10^{10^{10}}", "50.7", False),
        ("5 = 50.7", "50.7", False),
    ],
)
def test_numbers_have_the_documented_tolerance(answer: str, gold: str, right: bool) -> None:
    assert reward(answer, answer=gold) == float(right)


def test_a_given_tolerance_replaces_the_default() -> None:
    assert reward("105", answer="100", tolerance=0.05) == 1.0
    assert reward("106", answer="100", tolerance=0.05) == 0.0
    assert reward("100.9", answer="100", tolerance={"abs": 1}) == 1.0


HABITS = [
    r"6.02\times10^{23}", r"6.02 \cdot 10^{23}", r"6.02\times 10^23", "6.02e23", "6.02E+23",
    "6.02x10^23", "6.02*10**23", "6.02×10²³", r"6.02\times{10}^{23}", r"6.02\,\times\,10^{23}",
    r"\num{6.02e23}", r"(6.02 \pm 0.01)\times10^{23}", r"6.02\times10^{23}\ \text{mol}^{-1}",
    r"\SI{6.02e23}{\per\mole}", r"\qty{6.02e23}{\mole^{-1}}", "602000000000000000000000",
]  # fmt: skip


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("gold", ["6.02e23", r"6.02\times10^{23}"])
def test_scientific_notation_is_read_in_every_habit(habit: str, gold: str) -> None:
    assert reward(habit, answer=gold, unit="mol^{-1}") == 1.0
    assert reward(habit, answer="6.12e23", unit="mol^{-1}") == 0.0


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("5.0 kJ/mol", True),
        (r"5.0\,\mathrm{kJ}\,\mathrm{mol}^{-1}", True),
        ("5.0", True),
        ("5000 J/mol", True),
        (r"1.195\ \text{kcal/mol}", True),
        ("5.0 J/mol", False),
        ("5.0 J", False),
        ("5000", False),
        ("5.0 apples", False),
        ("5.0 kJ/mol = 5000 J/mol", True),
        ("5.0 kJ/mol = 500 J/mol", False),
    ],
)
def test_units_are_converted_and_a_missing_one_is_forgiven(answer: str, right: bool) -> None:
    assert reward(answer, answer="5.0", unit="$\\mathrm{kJ~mol}^{-1}$") == float(right)
    assert reward(answer, answer="5.0 kJ/mol") == float(right)


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("25 °C", "298.15 K", True),
        ("25 °C", r"25^\circ\text{C}", True),
        ("25 °C", "25 K", False),
        ("12%", "0.12", True),
        ("12%", "12", True),
        ("12%", r"12\%", True),
        ("12%", "13%", False),
        ("4 ppm", "4e-6", False),
        ("60^\\circ", r"\frac{\pi}{3}", True),
        ("60^\\circ", r"\pi/6", False),
        ("60^\\circ", "1.047", False),
        ("90 degrees", r"\pi/2 rad", True),
        ("1.047", r"60^\circ", True),
        ("5 m/s", "5 m/s to the right", True),
        ("2600 J", "2610 J", True),
        ("2600 J", "2700 J", False),
        ("5 m", "5.2 m", True),
        ("5 m", "6 m", False),
        ("5-6 m", "5 to 6 m", True),
        ("5-6 m", "500-600 cm", True),
        ("5-6 m", "5-7 m", False),
        ("5-6 m", "5 m", False),
        (r"2\sqrt{3}\ \mathrm{m}", r"2\sqrt{3}", True),
        (r"2\sqrt{3}\ \mathrm{m}", "3.464 m", True),
        (r"2\sqrt{3}\ \mathrm{m}", "346.4 cm", True),
        (r"2\sqrt{3}\ \mathrm{m}", r"2\sqrt{3}\ \mathrm{s}", False),
        (r"5.0 \pm 0.2", "5.15", True),
        (r"5.0 \pm 0.2", "5.3", False),
        ("v = 5.0 m/s", "5.0", True),
    ],
)
def test_golds_with_units_percent_ranges_and_closed_forms(
    gold: str, answer: str, right: bool
) -> None:
    assert reward(answer, answer=gold) == float(right)


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("H2SO4", r"\mathrm{H_2SO_4}", True),
        ("H2SO4", r"\ce{H2SO4}", True),
        ("H2SO4", "H₂SO₄", True),
        ("H2SO4", "H2SO3", False),
        ("CO", r"\text{Co}", False),
        (r"\text{SO}_4^{2-}", r"\ce{SO4^{2-}}", True),
        (r"\text{SO}_4^{2-}", "SO4", False),
        ("No", "no", True),
    ],
)
def test_chemical_formulas_are_compared_by_spelling(gold: str, answer: str, right: bool) -> None:
    assert reward(answer, answer=gold) == float(right)


CHEMICAL = [
    ("H2O", [r"\mathrm{H_2O}"], ["H2O2", "2H2O", "H2O^+"]),
    ("Fe^{2+}", ["Fe2+", "Fe²⁺"], ["Fe^{3+}", "Fe", "Fe^{2-}", "2Fe^{2+}"]),
    ("Na+", [r"\mathrm{Na^+}"], ["Na", "Na-"]),
    ("NaCl(aq)", [r"\ce{NaCl(aq)}", r"NaCl_{(aq)}", "NaCl"], ["NaCl(s)", "KCl(aq)"]),
    ("2H2O", [r"2\text{H}_2\text{O}", "2 H2O"], ["H2O", "3H2O"]),
    ("O2", ["O_2"], ["O3", "2O"]),
    (
        "2H2 + O2 -> 2H2O",
        [r"O_2 + 2H_2 \rightarrow 2H_2O"],
        ["H2 + O2 -> 2H2O", "2H2O -> 2H2 + O2"],
    ),
    (r"{}^{14}_{6}\text{C}", [r"^{14}_6\mathrm{C}"], [r"^{12}_6\mathrm{C}"]),
    ("1s2 2s2 2p6", ["1s^2 2s^2 2p^6"], ["1s^2 2s^2 2p^5"]),
    (
        "[Ar] 3d^5 4s^1",
        ["[Ar] 4s^1 3d^5"],
        ["[Ar] 3d^4 4s^2", "[Kr] 3d^5 4s^1", "[Ar] 3d^5", "3d^5 4s^1"],
    ),
]


@pytest.mark.parametrize(("gold", "right", "wrong"), CHEMICAL)
def test_charge_subscript_coefficient_and_state_must_fit(
    gold: str, right: list[str], wrong: list[str]
) -> None:
    assert [reward(answer, answer=gold) for answer in right] == [1.0] * len(right)
    assert [reward(answer, answer=gold) for answer in wrong] == [0.0] * len(wrong)


HEDGES = [
    "between 4 and 5", "4.5 or 5.4", "4-5", "about 4.5, maybe 5", "4.5 (or 4.6)", "~4.5 to 5", "4.5/5.4", "not 4.5",
    "at least 4.5", "> 4.5", "less than 4.5", "4.5?", "4.5 maybe", "(4,5)", "[4,5]", "It never equals 4.5",
    "4.5 = 4.5", "4 or 5 = 4.5", "x=5;x=4.5", "2+2 = 4.5",
]  # fmt: skip


@pytest.mark.parametrize("hedge", HEDGES)
@pytest.mark.parametrize("gold", ["4.5", "4.5 m"])
def test_a_hedge_earns_nothing(hedge: str, gold: str) -> None:
    assert reward(hedge, answer=gold) == 0.0


@pytest.mark.parametrize(
    "answer", ["about 4.5", "≈ 4.5", r"\text{about }4.5", "v = ab = (1.5)(3.0) = 4.5"]
)
def test_an_approximate_value_and_a_worked_chain_stay_right(answer: str) -> None:
    assert reward(answer, answer="4.5") == 1.0


def test_a_percentage_has_no_other_unit() -> None:
    assert reward("0.5 km", answer="50%") == reward("50 km", answer="50%") == 0.0


def test_pint_is_announced_by_a_module_that_also_converts_once() -> None:
    asked: list[str] = []

    def note(module: str) -> None:
        asked.append(module)
        load(module)

    assert score_stem(r"\boxed{5000 m}", {"answer": "5 km"}, note).reward == 1.0
    assert "prorl_verifiers.notation.loaded_pint" in asked


def test_a_unit_that_cannot_be_read_is_compared_as_text() -> None:
    assert reward("3.1", answer="3.1", unit="blorgs per {") == 1.0
    assert reward("3.1 dB", answer="3.1", unit="dB") == 1.0
    assert reward("3.1 m", answer="3.1", unit="dB") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "9" * 40_000,
        "(" * 5_000 + "5" + ")" * 5_000,
        "5.0" + " " * 40_000 + "x",
        "5.0" + "," * 40_000,
        "5.0 " + r"\text{" * 3_000,
        "=" * 40_000,
        "9^{9^{9^{9}}}",
        "1e999999999",
        "5.0" + r"\\ " * 10_000,
        "and " * 9_000,
        "5.0 " + "m^" * 5_000,
        "__import__('os').system('true')",
    ],
)
def test_hostile_answers_are_wrong_and_end(text: str) -> None:
    for reference in (
        {"answer": "5.0", "unit": "m"},
        {"answer": ["5.0 m", "3 s"]},
        {"answer": "B", "choices": CHOICES},
    ):
        assert score_stem(f"\\boxed{{{text}}}", reference, load).reward == 0.0


def test_a_power_of_ten_in_the_unit_belongs_to_the_number() -> None:
    unit = "$10^{-19} \\mathrm{~J}$"
    assert reward(r"3.52\times10^{-19} \mathrm{~J}", answer="3.52", unit=unit) == 1.0
    assert reward("3.52", answer="3.52", unit=unit) == 1.0
    assert reward(r"3.52 \mathrm{~J}", answer="3.52", unit=unit) == 0.0


CHOICES = ["red", "5 m/s", "blue", "both of these"]


@pytest.mark.parametrize(
    ("answer", "index"),
    [
        ("B", 1),
        ("(b)", 1),
        (r"\text{B}", 1),
        ("**C**", 2),
        ("C. blue", 2),
        ("Option C", 2),
        ("blue", 2),
        ("C. red", None),
        ("A or B", None),
        ("A, B, C, D", None),
        ("A. red B. blue", None),
        ("red blue", None),
        ("E", None),
        ("banana", None),
        (r"\text{(B) 5 m/s}", 1),
        (r"\text{B. } 5\,\text{m/s}", 1),
        ("Ｂ", 1),
        ("b", 1),
        ("[B]", 1),
        ("B 5 m/s", 1),
        ("The correct answer is B", 1),
        ("B) something else said", 1),
        ("A/B", None),
        ("A and B", None),
        (r"\text{A or B}", None),
        ("AB", None),
        ("B) 5 m/s or blue", None),
        ("B) red", None),
        ("B is correct", 1),
        (r"\text{B is the correct answer}", 1),
        ("B, which is right", 1),
        ("B is incorrect", None),
        ("B is not correct", None),
        ("B is correct, C is correct", None),
        ("B. This is wrong", None),
        ("(B) or (C)", None),
        ("5.0 m/s", 1),
    ],
)
def test_exactly_one_option_must_be_named(answer: str, index: int | None) -> None:
    assert choice_index(answer, CHOICES) == index


def test_options_that_differ_in_case_alone_are_told_apart() -> None:
    options = ["RR", "Rr", "rr"]
    assert [choice_index(text, options) for text in options] == [0, 1, 2]


def test_a_last_line_may_give_the_letter() -> None:
    reference = {"answer": "C", "choices": CHOICES}
    assert score_stem("thinking\nAnswer: (C)", reference, never).reward == 1.0
    assert score_stem("it is C, I guess", reference, never).status == "unparsable"


def test_a_gold_given_as_text_matches_its_letter() -> None:
    assert reward("C", answer="blue", choices=CHOICES) == 1.0


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def test_scibench_golds_with_their_units_are_right(test_data: Path) -> None:
    wrong = []
    rows = read(test_data / "stem" / "scibench_even.jsonl.gz")
    for row in rows:
        gold, unit = row["answer_number"].strip(), row["unit"].strip()
        answer = f"{gold} {unit.replace('$', '')}".rstrip("\\ ")
        if reward(answer, answer=gold, unit=unit) != 1.0:
            wrong.append((answer, unit))
    assert len(rows) == 290
    assert wrong == []


def test_mmlu_letters_and_texts_are_right_and_lists_are_wrong(test_data: Path) -> None:
    texts = right = 0
    for row in read(test_data / "stem" / "mmlu_stem_even.jsonl.gz"):
        choices, gold = row["choices"], row["answer"]
        letter = gold if isinstance(gold, str) else "ABCD"[gold]
        assert choice_index(letter, choices) == "ABCD".index(letter)
        assert choice_index(f"({letter})", choices) == "ABCD".index(letter)
        assert choice_index("A, B, C or D", choices) is None
        texts += 1
        right += choice_index(choices["ABCD".index(letter)], choices) == "ABCD".index(letter)
    assert right / texts > 0.99  # some options are a single letter or repeated


@pytest.mark.parametrize("written", ["50\\%", "50 percent", "50 per cent", "50\\text{ percent}"])
def test_a_percentage_may_be_written_in_words(written: str) -> None:
    assert reward(written, answer="50%") == 1.0
    assert reward("50\\%", answer=written) == 1.0
    assert reward(written.replace("50", "55"), answer="50%") == 0.0
