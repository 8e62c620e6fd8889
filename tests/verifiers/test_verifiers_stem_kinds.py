from __future__ import annotations

import importlib.util
import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prorl_verifiers.libraries import load_library
from prorl_verifiers.stem.chemistry import canonical
from prorl_verifiers.stem.scorer import score_stem
from prorl_verifiers.stem.spec import target_type
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import TaskError


def reward(text: str, /, **reference: Any) -> float:
    return score_stem(f"\\boxed{{{text}}}", reference, load_library).reward


KINDS = [
    ("9.81", "number"), ("5 km", "quantity"), ("5-6 m", "range"), (r"3\hat{i}-4\hat{j}", "vector"), ("(3, -4) m/s", "vector"),
    (r"50\text{ N at }30^\circ", "magnitude with direction"), ("12 m/s upward", "magnitude with direction"), ("C-14", "nuclide"),
    ("H2SO4", "chemical formula"), ("CH3CH2OH", "chemical formula"), ("2H2 + O2 -> 2H2O", "chemical formula"), ("July 4, 1776", "date"),
    (r"\frac{mv^2}{2}", "expression"), ("paramagnetic", "text"), ("(a) 5 m; (b) 3 s", "several parts"),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "kind"), KINDS)
def test_a_gold_has_its_type(gold: str, kind: str) -> None:
    assert target_type({"answer": gold}) == kind


CASES = [
    (r"3\hat{i}-4\hat{j}", ["(3,-4)", r"\langle 3,-4\rangle", r"3\mathbf{i}-4\mathbf{j}", r"\begin{pmatrix}3\\-4\end{pmatrix}"], ["(3,4)", "(-4,3)", "3-4", "(3,-4,0)"]),
    ("(3, -4) m/s", [r"3\hat{i}-4\hat{j}\ \text{m/s}", "(3,-4)", "(300,-400) cm/s"], ["(3,-4) m", "(4,-3) m/s"]),
    (r"50\text{ N at }30^\circ", [r"50\ \mathrm{N},\ 30^\circ", "50 N at 30 degrees", r"50\text{ N at an angle of }30^\circ"], ["50 N", r"50\text{ N at }60^\circ", r"40\text{ N at }30^\circ"]),
    ("5.0 m/s, 30° north of east", [r"5.0\ \text{m/s at } 30^\circ \text{ north of east}"], ["5.0 m/s, 30° east of north", "5.0 m/s, 30° south of east"]),
    ("12 m/s upward", ["12 m/s up", r"12\text{ m/s upwards}"], ["12 m/s", "12 m/s downward", "13 m/s upward"]),
    ("50 N to the left", ["50 N, left"], ["50 N", "50 N to the right", "50 N east"]),
    ("5 m/s southwest", ["5 m/s south-west"], ["5 m/s", "5 m/s southeast"]),
    ("0 J", ["0", "0.00 J", "0 kJ"], ["1e-9", "0.001", "0.001 J", "10^{-15} J"]),
    ("0.00 V", ["0"], ["0.004 V"]),
    (r"0 \pm 0.1", ["0.05"], ["0.2"]),
    ("9.81(50) m/s^2", ["9.4", "9.81(50)", "10.3 m/s^2"], ["9.2", "10.4 m/s^2"]),
    (r"6.674(500)\times10^{-11}", [r"6.3\times10^{-11}"], [r"6.1\times10^{-11}"]),
    ("C-14", [r"{}^{14}_{6}\text{C}", "carbon-14", r"\ce{^{14}_6C}", "¹⁴C", r"^{14}\mathrm{C}"], ["C-12", "N-14", r"^{14}_{7}C", "14"]),
    (r"^{99m}Tc", ["Tc-99m", "technetium-99m"], ["Tc-99"]),
    ("CH3CH2OH", ["C2H5OH", r"\mathrm{CH_3CH_2OH}", "CH3-CH2-OH"], ["CH3OCH3", "C2H6O", "CH3OH"]),
    ("(CH3)2CHOH", ["CH3CH(OH)CH3", "CH3CHOHCH3"], ["CH3CH2CH2OH"]),
    ("CH3CH2CH2CH3", ["CH3(CH2)2CH3"], ["(CH3)3CH", "CH3CH2CH3"]),
    ("CH3COOH", ["HC2H3O2", "CH3CO2H", "CH3-COOH"], ["HCOOCH3", "CH3CHO"]),
    ("CH2=CH2", ["H2C=CH2"], ["CH3CH3"]),
    ("2H2 + O2 -> 2H2O", [r"2H_2 + O_2 \xrightarrow{\Delta} 2H_2O", "2H2 + O2 = 2H2O", "O2 + 2H2 ⟶ 2H2O", r"2H_2(g)+O_2(g) \longrightarrow 2H_2O(l)", r"\ce{2H2 + O2 -> 2H2O}"], ["H2 + O2 -> H2O", "2H2O -> 2H2 + O2"]),
    (r"N2 + 3H2 \rightleftharpoons 2NH3", ["N2 + 3H2 ⇌ 2NH3", r"\ce{N2 + 3H2 <=> 2NH3}"], ["N2 + H2 ⇌ NH3"]),
    ("July 4, 1776", ["4 July 1776", "1776-07-04", r"\text{4th of July, 1776}"], ["July 5, 1776", "July 4, 1777", "1776"]),
    ("20/07/1969", ["20 July 1969", "July 20, 1969"], ["July 20, 1968"]),
    ("1200000", ["1{,}200{,}000", r"1.2\times10^6"], ["1{,}200{,}001"]),
    ("0.135", ["e^{-2}", r"\exp(-2)", "0.1353"], ["e^{-3}", r"\sin 0.1354", "0.1+0.035"]),
    ("0.632", ["1-e^{-1}", r"1-\frac{1}{e}"], ["1-e^{-2}"]),
    ("1.618", [r"\frac{1+\sqrt5}{2}"], [r"\frac{1-\sqrt5}{2}"]),
    (r"\ln2", ["0.693", r"\approx 0.6931", r"\ln(2)"], ["0.7", "0.68", "1"]),
    (r"e^{-2}", ["0.135", "0.1353"], ["0.14", "0.13"]),
    (r"\frac{\ln 2}{3}\ \text{s}", ["0.231 s", "231 ms", "0.231"], ["0.231 m", "0.24"]),
    (r"\log_2 8", ["3"], ["3.005"]),
    (r"\arctan\frac34", ["0.644", r"36.9^\circ", r"\tan^{-1}(0.75)"], ["0.65", r"53.1^\circ", "36.9"]),
    (r"3\hat{\mathbf i}-4\hat{\mathbf j}", [r"3\hat{i}-4\hat{j}", r"3\bm{\hat i}-4\bm{\hat j}", r"3\hat{\boldsymbol{\imath}}-4\hat{\boldsymbol{\jmath}}", r"3\hat\imath-4\hat\jmath", "(3,-4)"], [r"3\hat{\mathbf i}+4\hat{\mathbf j}", r"3\hat{\mathbf i}-4\hat{\mathbf k}", r"3\hat{\mathbf i}"]),
    (r"20\,\text{N}, 30^\circ below", ["20 N, 30° below the horizontal", r"20\,\text{N at }30^\circ\text{ below}", r"20\text{ N at }-30^\circ"], [r"20\,\text{N}, 30^\circ above", "20 N", "20 N, 30°", "20 N, 60° below", "21 N, 30° below"]),
    (r"13\text{ m/s at }22^\circ\text{ above the horizontal}", ["13 m/s, 22°", "13 m/s, 22° above horizontal"], ["13 m/s, 22° below"]),
    ("sp^3", ["sp3", r"\text{sp}^3", r"\mathrm{sp^3}", "sp³", r"sp^3\text{-hybridized}"], ["sp^2", "sp", "sp^3d", "sp^{-3}"]),
    ("sp^3d^2", ["sp3d2", r"\mathrm{sp^3d^2}"], ["sp^3d", "dsp^3"]),
    ("F_N = 30 N", ["N = 30 N", "F = 30 N"], ["F_g = 30 N", "p = 30 N"]),
    ("pH = 7.4", ["7.4", "pH: 7.4", r"\text{The pH is } 7.4", "pH 7.4", r"\mathrm{pH}\ 7.4", "a pH of 7.4"], ["pOH 7.4", "pH 7.5", "pOH = 7.4", "The pOH is 7.4", r"\mathrm{p}K_a = 7.4", "pOH: 7.4"]),
    ("T = 300 K", ["300 K", r"T_{\text{final}} = 300", "The temperature is 300 K", r"\mathbf{T} \approx 300"], ["P = 300 K", "The pressure is 300 K", r"\Delta T = 300", "V: 300"]),
    ("v_1 = 5.0 m/s", ["v = 5.0", "u_1 = 5.0 m/s", r"|\vec{v}_1| = 5.0"], ["v_2 = 5.0", "a_1 = 5.0 m/s", "time = 5.0"]),
    (r"\Delta H = -50 kJ", [r"\Delta H_{rxn} = -50 kJ", "ΔH° = -50 kJ", "-50 kJ"], [r"\Delta S = -50 kJ", "50 kJ"]),
    (r"\lambda = 500 nm", ["λ = 500 nm", "wavelength = 500 nm"], ["f = 500 nm"]),
    ("T = 5--6 K", ["5-6 K", r"5\text{--}6\ \text{K}", "between 5 and 6 K", "5 K to 6 K", r"T = 5{-}6\ \text{K}", r"5\sim6\ \text{K}"], ["5 K", "P = 5-6 K", "5-7 K", "5-6 m", "not between 5 and 6 K", "5 or 6 K"]),
    (r"10--20\%", ["10% to 20%", r"10\%\text{--}20\%"], [r"10--30\%"]),
    (r"9.8\,\left(\mathrm{m/s^2}\right)", ["9.8 m/s^2", "9.8 (m/s^2)", r"9.8\ \left[\frac{\mathrm{m}}{\mathrm{s}^2}\right]"], ["9.8 (m/s)", "9.8 (kg)"]),
    ("NaCl", [r"\ce{NaCl}"], ["nacl", "NACL", "Nacl", r"\text{nacl}"]),
    ("H2SO4", [], ["h2so4", "H2So4"]),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "right", "wrong"), CASES)
def test_notations_of_science_are_read_against_their_type(
    gold: str, right: list[str], wrong: list[str]
) -> None:
    assert [reward(answer, answer=gold) for answer in right] == [1.0] * len(right)
    assert [reward(answer, answer=gold) for answer in wrong] == [0.0] * len(wrong)


@pytest.mark.parametrize("gold", [gold for gold, _, _ in CASES])
@pytest.mark.parametrize(
    "spoilt", ["not {}", "It is false that it is {}", "{}?", "maybe {}", "{} or 77", "77 = {}", "{} = 77", "{} is wrong"]
)  # fmt: skip
def test_a_spoilt_gold_earns_nothing(gold: str, spoilt: str) -> None:
    assert reward(gold, answer=gold) == 1.0
    assert reward(spoilt.format(gold), answer=gold) == 0.0


@pytest.mark.parametrize(
    "heap", ["x5 = y6 = 7", "v4 = w6 = 7", "3x = 7", "a=5=b=6=c=7", "a 5 = b 6 = 7", "f = 2a = 3b = 4c = 5d = 6e = 7", "(a) 17.3 m (b) 2.9 s = 7", "(i) 3, (ii) 4 = 7"]
)  # fmt: skip
def test_letters_do_not_hide_other_answers_in_a_chain(heap: str) -> None:
    assert reward(heap, answer="7") == reward(heap, answer="7.0") == 0.0


def test_labelled_answers_are_no_description_of_what_follows_them() -> None:
    assert reward("(a) 17.3 m (b) 2.9 s = 3.7 kg, 11.9 kg", answer="3.7 kg, 11.9 kg") == 0.0


@pytest.mark.parametrize(
    "chain", ["v_f = 7.0", "F = ma = (2)(3.5) = 7.0", r"\text{speed} = 7.0", "K = \\frac{1}{2}mv^2 = 7.0", "P(A) = 7.0", "d = 2r = 7.0"]
)  # fmt: skip
def test_names_and_formulas_before_the_value_stay_right(chain: str) -> None:
    assert reward(chain, answer="7.0") == 1.0


@pytest.mark.parametrize(
    "said", ["The correct option is (B).", r"\text{The correct option is (B).}", "Therefore, the answer is (B) blue.", "The correct choice is B: blue"]
)  # fmt: skip
def test_a_sentence_may_name_the_option(said: str) -> None:
    assert reward(said, answer="B", choices=["red", "blue", "green"]) == 1.0
    assert reward(said, answer="C", choices=["red", "blue", "green"]) == 0.0


@pytest.mark.parametrize(
    "response", ["The correct option is (B).", "Answer:\nB", "<answer>B</answer>", "**B**", "Answer: B because C is not valid", "Answer: B/B",
                 "Answer: it is B", "Answer: B and not C", "Answer: B is correct.", "Not A, so the answer is B.", "I think so the answer is (B)",
                 "Blue. Hence the correct choice is B", "The best option must be B", "Thus, B is the answer.", r"\boxed{B \text{ because C is wrong}}"]
)  # fmt: skip
def test_an_option_is_found_however_it_is_stated(response: str) -> None:
    choices = ["red", "blue", "green"]
    for answer, earned in (("B", 1.0), ("C", 0.0)):
        score = score_stem(response, {"answer": answer, "choices": choices}, load_library)
        assert score.reward == earned


@pytest.mark.parametrize(
    "response", ["Answer: B is incorrect", "So the answer is B or C", "If red fails, the answer is B.", "It says: the answer is B. This is wrong.",
                 "I think so the answer is B, C", "So the answer is not B"]
)  # fmt: skip
def test_an_option_that_is_not_chosen_earns_nothing(response: str) -> None:
    reference = {"answer": "B", "choices": ["red", "blue", "green"]}
    assert score_stem(response, reference, load_library).reward == 0.0


# ----------------------------------------------------------------------------------------- molecules


@pytest.fixture
def rdkit() -> None:
    if importlib.util.find_spec("rdkit") is None:
        message = "RDKit is not installed: pip install 'prorl[chem]'"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)


@pytest.mark.usefixtures("rdkit")
def test_molecules_in_smiles_are_compared_by_their_canonical_form() -> None:
    reference = {"answer": "CCO", "format": "smiles"}
    assert target_type(reference) == "molecule"
    for answer, right in (
        ("OCC", 1.0),
        ("C(O)C", 1.0),
        ("COC", 0.0),
        ("CCO or COC", 0.0),
        ("not CCO", 0.0),
        ("C(C", 0.0),
    ):
        assert reward(answer, **reference) == right
    assert reward("c1ccccc1O", answer="Oc1ccccc1", format="smiles") == 1.0
    assert reward("C[C@H](N)C(=O)O", answer="C[C@@H](N)C(=O)O", format="smiles") == 0.0


def test_an_unknown_format_is_a_task_error() -> None:
    with pytest.raises(TaskError, match="format"):
        load_task("stem", {"answer": "CCO", "format": "inchi"})


PIECES = [
    "CH3", "CH2", "CH", "C", "OH", "O", "N", "H2", "H", "(", ")", ")2", "=", "Cl", "COOH", "C2H5",
    "C6H5", "3", "NH2",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_pieces_are_a_molecule_or_none_without_raising(text: str) -> None:
    found = canonical(text)
    assert found is None or found == canonical(text)


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=80, deadline=None)
def test_any_text_is_typed_and_scored_without_raising(gold: str, answer: str) -> None:
    reference = {"answer": gold.strip() or "5"}
    assert target_type(reference)
    assert score_stem(f"\\boxed{{{answer}}}", reference, load_library).reward in (0.0, 1.0)


@pytest.mark.parametrize(
    ("gold", "aliases", "answer", "right"),
    [
        ("True", ["yes"], "Yes", 1.0),
        ("True", ["yes"], "true", 1.0),
        ("True", ["yes"], "No", 0.0),
        ("True", ["yes"], "not yes", 0.0),
        ("] ] }", ["]]}"], "] ] )", 0.0),
        ("apple banana", ["apple, banana"], "apple, banana", 1.0),
        ("apple banana", ["apple, banana"], "banana apple", 0.0),
        ("05/01/2021", ["May 1, 2021"], "1 May 2021", 1.0),
        ("New York City", ["NYC", "New York"], "NYC", 1.0),
        ("New York City", ["NYC", "New York"], "NYC or Boston", 0.0),
    ],
)
def test_an_alias_is_a_gold_of_its_own(
    gold: str, aliases: list[str], answer: str, right: float
) -> None:
    assert reward(answer, answer=gold, aliases=aliases) == right


@pytest.mark.parametrize(
    "more",
    [
        {"aliases": "yes"},
        {"aliases": []},
        {"aliases": [""]},
        {"aliases": ["x"] * 21},
        {"aliases": ["blue"], "choices": ["True", "False"]},
    ],
)
def test_aliases_that_cannot_be_golds_are_refused_when_the_task_is_loaded(
    more: dict[str, Any],
) -> None:
    with pytest.raises(TaskError, match=r"aliases|the gold answer is empty"):
        load_task("stem", {"answer": "True", **more})
