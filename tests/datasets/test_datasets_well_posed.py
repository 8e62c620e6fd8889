from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from prorl_common import NullProgress
from prorl_datasets import Recipe
from prorl_datasets.building.builder import build_with
from prorl_datasets.candidate import Drop, Row
from prorl_datasets.procedural import families
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_datasets.rows.maker import flaw_of_row
from prorl_datasets.sources import rg_entries
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource, row_of
from prorl_datasets.sources.rg_entries import reworded
from prorl_datasets.sources.well_posed import flaw_of, rules
from prorl_verifiers import Task


def entry(question: str = "", answer: Any = "", **metadata: Any) -> dict[str, Any]:
    return {"question": question, "answer": answer, "metadata": metadata}


SQUARES = ("A1", "A2", "A3", "B1", "B3", "C1", "C2", "C3")
KNIGHTS = {square: {"A1": "w", "C2": "B"}.get(square) for square in SQUARES}
CUBE = {"top": "1", "bottom": "2", "left": "3", "right": "4", "front": "5", "back": "6"}
GO = [list(row) for row in ("....", ".X..", "XO..", ".X..")]
TWICE = [list(row) for row in ("OX..", ".X..", "XO..", ".X..")]
LOCK = [
    {"name": "A", "type": "add", "value": 1, "active_state": "any"},
    {"name": "B", "type": "add", "value": 2, "active_state": "green"},
    {"name": "C", "type": "multiply", "value": 2, "active_state": "red"},
]
SOLVED = "\n".join(
    [
        *(["   " + "W " * 3] * 3),
        *(["G " * 3 + "R " * 3 + "B " * 3 + "O " * 3] * 3),
        *(["Y " * 3] * 3),
    ]
)
LIFE = "[[0,0,0],[0,1,0],[0,0,0]]"
GRID = "Example 1:\n\nInput:\n1 2\nOutput:\n2 1\n\n\nBelow.\n\nInput:\n{}\n"
LISTS = "Input 1: [1]\nOutput 1: [{}]\nInput 2: [2]\nOutput 2: [{}]\n\n\nInput: [3]\nOutput:\n"

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("ab", entry("program:\n\nA# B#\n\nReturn", "A# B#"), "trivial"),
    ("arc_1d", entry(test_example={"input": [1], "output": [1]}, train_examples=[]), "trivial"),
    ("arc_agi", entry(GRID.format("1 2"), input=[[1, 2]], output=[[2, 1]]), "trivial"),
    ("rearc", entry(GRID.format("3 3"), input=[[3, 3]], output=[[3, 3]]), "trivial"),
    ("base_conversion", entry(source_repr="5", target_repr="5"), "trivial"),
    ("basic_arithmetic", entry(answer="0", expression="-7 / -( ( 5 - -1 ) + 7 )"), "wrong answer"),
    ("basic_arithmetic", entry(answer="0", expression="7 / ( 2 - 2 )"), "impossible"),
    ("binary_matrix", entry(matrix=[[0, 1]], solution=[[0, 1]]), "trivial"),
    (
        "calendar_arithmetic",
        entry(
            "January 1 fell on a Monday; March 23?",
            task="weekday_of_date_from_first_date",
            target_date="2022-03-23",
        ),
        "ambiguous",
    ),
    ("codeio", entry(answer='{"x": 0.123456789012}'), "too large"),
    (
        "color_cube_rotation",
        entry(initial_state=CUBE, rotations=["bottom"], target_side="left"),
        "ambiguous",
    ),
    ("count_primes", entry(start=1, end=4000), "too large"),
    ("decimal_arithmetic", entry("Solve.\n(1.000/3.000) = ?", "0.33333333333"), "wrong answer"),
    ("dice", entry(puzzle={"probability": 1.0}), "trivial"),
    ("family_relationships", entry(person1="Sage"), "ambiguous"),
    ("figlet_font", entry("/\\\\/", "DUE", font="smisome1"), "ambiguous"),
    ("figlet_font", entry("OUR", "OUR", font="standard"), "trivial"),
    ("fraction_simplification", entry(numerator=3, simplified_numerator=3), "trivial"),
    ("game_of_life", entry(LIFE, "[[0,0,0],[0,0,0],[0,0,0]]"), "trivial"),
    ("game_of_life", entry(LIFE, LIFE), "trivial"),
    ("graph_color", entry(puzzle={"edges": []}), "trivial"),
    ("gsm_symbolic", entry("A painter works for 5 weeks every month", "3"), "impossible"),
    ("gsm_symbolic", entry("to exercise for 2 the amount of time", "3"), "ambiguous"),
    ("gsm_symbolic", entry("How old was she?", "-2"), "impossible"),
    (
        "knight_swap",
        entry(
            answer="No",
            board=dict.fromkeys(SQUARES),
            pieces=KNIGHTS,
            start_turn="w",
            is_possible=False,
        ),
        "wrong answer",
    ),
    ("largest_island", entry(grid=[[0, 0]]), "trivial"),
    ("letter_counting", entry(span=["To", "tell"], target_letter="t"), "ambiguous"),
    ("list_functions", entry(LISTS.format(0, 0), "[0]"), "ambiguous"),
    ("list_functions", entry(LISTS.format(1, 2), "[3]"), "trivial"),
    (
        "modulo_grid",
        entry("Fill.\n\n\u2705\u274c\n\u274c\u2754", difficulty={"divisor": 20}),
        "ambiguous",
    ),
    (
        "needle_haystack",
        entry("Al likes tea. Bo likes tea. \nWho likes tea? Reply only with a name."),
        "ambiguous",
    ),
    ("number_format", entry(formatted_candidates=["1,000", "1.0e3"], size="largest"), "ambiguous"),
    ("number_sequence", entry(sequence=[9, 4, 1, 0, 0]), "ambiguous"),
    ("number_sequence", entry(sequence=[-4, -1, -1, -1, -1]), "trivial"),
    ("number_sorting", entry(original_numbers=["1", "2"], sorted_numbers=["1", "2"]), "trivial"),
    ("palindrome_generation", entry(letters=["a", "b", "a"]), "trivial"),
    ("pool_matrix", entry(matrix=[[1, 2]], solution=[[1, 2]]), "trivial"),
    ("power_function", entry(base=-3.0, exponent=2), "ambiguous"),
    ("power_function", entry(base=3.0, exponent=0), "trivial"),
    ("propositional_logic", entry(variables=["P"], premises=["P", "\u00acP"]), "impossible"),
    ("propositional_logic", entry(variables=["P", "Q"], premises=["P", "(P \u2228 Q)"]), "trivial"),
    (
        "quantum_lock",
        entry(
            initial_value=1,
            initial_state="red",
            target_value=4,
            buttons=LOCK[1:],
            solution_path=list("CBC"),
        ),
        "ambiguous",
    ),
    (
        "mahjong_puzzle",
        entry("initial cards ABCDEFGHIJKLM", "Pass", rounds=[{"add": "N", "remove": "A"}]),
        "wrong answer",
    ),
    ("rotate_matrix", entry(matrix=[[1, 2]], solution=[[1, 2]]), "trivial"),
    (
        "time_intervals",
        entry(
            "from 15:40:34.151 to 18:58:41.468",
            "03:18:07.316",
            task_type="time_ms",
            expected_format="HH:MM:SS.mmm",
        ),
        "wrong answer",
    ),
    (
        "time_intervals",
        entry(
            "from 2 May 10:00:10 to 3 May 10:01:50",
            "1 days, 00:01",
            task_type="datetime",
            expected_format="D days, HH:MM",
        ),
        "ambiguous",
    ),
    ("family_relationships", entry(answer="mother-in-law", person1="Mia"), "wrong answer"),
    ("family_relationships", entry(answer="nephew", person1="Mia"), "wrong answer"),
    ("family_relationships", entry(answer="niece", person1="River"), "ambiguous"),
    ("rotten_oranges", entry(matrix=[[0, 2]]), "trivial"),
    ("rubiks_cube", entry(SOLVED, cube_size=3), "trivial"),
    ("sentence_reordering", entry("the sentence: we go home", "we go home"), "trivial"),
    ("sentence_reordering", entry('the sentence: Mr. "No," said', '"No," said Mr.'), "ambiguous"),
    ("simple_geometry", entry(missing_angle_raw=180.0), "impossible"),
    ("simple_geometry", entry(missing_angle_raw=404.0), "impossible"),
    ("sokoban", entry(gamestr="+ $ *"), "trivial"),
    ("sokoban", entry(gamestr="+ @ * X X"), "impossible"),
    ("spell_backward", entry(word="noon"), "trivial"),
    ("string_insertion", entry(string="AB", solution="AB"), "trivial"),
    ("string_splitting", entry(states=[[0, 0]]), "trivial"),
    (
        "syllogism",
        entry(
            answer="Yes",
            premise1="All spiders are lions",
            premise2="Some lions are not fish",
            conclusion="Some spiders are not fish",
        ),
        "wrong answer",
    ),
    (
        "syllogism",
        entry(
            answer="Yes",
            premise1="All spiders are lions",
            premise2="All lions are fish",
            conclusion="Some spiders are fish",
        ),
        "ambiguous",
    ),
    ("tsumego", entry("capture some of the white stones", "A4", board=GO), "wrong answer"),
    ("tsumego", entry("capture some of the white stones", "C2", board=TWICE), "ambiguous"),
    ("word_sorting", entry(original_words=["a", "b"], sorted_words=["a", "b"]), "trivial"),
]
"""(task, entry, problem)"""

GOOD: list[tuple[str, dict[str, Any]]] = [
    ("ab", entry("program:\n\nA# B# #B\n\nReturn", "A#")),
    ("arc_agi", entry(GRID.format("3 4"), input=[[3, 4]], output=[[4, 3]])),
    ("basic_arithmetic", entry(answer="-3", expression="( 6 / 2 ) - 6")),
    ("codeio", entry(answer='{"x": 0.125}')),
    ("color_cube_rotation", entry(initial_state=CUBE, rotations=["left", "front"], target_side="top")),
    ("color_cube_rotation", entry(initial_state=CUBE, rotations=["bottom"], target_side="top")),
    ("mahjong_puzzle", entry("initial cards ABCDEFGHIJKLM", "Chi", rounds=[{"add": "N", "remove": "A"}])),
    (
        "time_intervals",
        entry("from 15:40:34 to 18:58:41", "03:18:07", task_type="time_seconds", expected_format="HH:MM:SS"),
    ),
    ("count_primes", entry(start=100, end=200)),
    ("decimal_arithmetic", entry("Solve.\n(2.000/3.000) = ?", "0.666666666667")),
    ("family_relationships", entry(answer="niece", person1="Mia")),
    ("family_relationships", entry(answer="grandmother", person1="Anna")),
    ("figlet_font", entry("###", "ONE", font="standard")),
    ("gsm_symbolic", entry("A painter works for 4 weeks every month", "3")),
    ("knight_swap", entry(board={"A1": [], "B2": []}, pieces={"A1": "w", "B2": "B"}, start_turn="w", is_possible=False)),
    ("letter_counting", entry(span=["to", "tell"], target_letter="t")),
    ("list_functions", entry(LISTS.format(2, 4), "[6]")),
    ("needle_haystack", entry("Al likes tea. Bo likes teas. \nWho likes tea? Reply only with a name.")),
    ("number_sequence", entry(sequence=[1, 1, 2, 3, 5, 8])),
    ("power_function", entry(base=-3.0, exponent=3)),
    ("propositional_logic", entry(variables=["P", "Q"], premises=["P", "(P \u2192 Q)"])),
    (
        "quantum_lock",
        entry(initial_value=0, initial_state="red", target_value=3, buttons=LOCK, solution_path=list("AB")),
    ),
    ("rubiks_cube", entry(SOLVED.replace("W", "R", 1).replace("R", "W", 2), cube_size=3)),
    ("sentence_reordering", entry("the sentence: home go we", "we go home.")),
    ("simple_geometry", entry(missing_angle_raw=179.0)),
    ("sokoban", entry(gamestr="+ @ * X")),
    (
        "syllogism",
        entry(
            answer="No",
            premise1="All spiders are lions",
            premise2="Some lions are not fish",
            conclusion="Some spiders are not fish",
        ),
    ),
    ("tsumego", entry("capture some of the white stones", "C2", board=GO)),
]  # fmt: skip


@pytest.mark.parametrize(("task", "made", "kind"), BAD, ids=[f"{t}-{k}" for t, _, k in BAD])
def test_an_item_that_cannot_be_asked_has_its_flaw_named(
    task: str, made: dict[str, Any], kind: str
) -> None:
    flaw = flaw_of(task, made)
    assert flaw is not None
    assert (flaw.kind, flaw.reason) == (kind, f"ill-posed: {kind}")
    assert flaw.detail


@pytest.mark.parametrize(("task", "made"), GOOD, ids=[task for task, _ in GOOD])
def test_an_item_that_can_be_asked_has_none(task: str, made: dict[str, Any]) -> None:
    assert flaw_of(task, made) is None


def test_every_rule_has_a_bad_entry_here() -> None:
    without = {"letter_jumble", "manipulate_matrix", "number_filtering", "string_manipulation",
               "string_synthesis", "word_ladder", "word_sequence_reversal"}  # fmt: skip
    assert set(rules()) == {task for task, _, _ in BAD} | without


def test_a_task_without_rules_has_no_flaw() -> None:
    assert flaw_of("a task of tomorrow", entry()) is None


RECIPE = """
name: polygons
entries:
  - name: polygons
    domain: logic
    source: {kind: reasoning_gym, task: simple_geometry}
    count: {train: 4}
"""


def test_an_ill_posed_item_is_dropped_with_its_reason_and_another_index_is_drawn() -> None:
    (one,) = parse_recipe(RECIPE, "here", None).entries
    source = ReasoningGymSource(kind="reasoning_gym", task="simple_geometry")
    made: dict[str, Any] = {}
    rows = [
        row_of(one, source, seed, rg_entries.reply(made, source.task, source.config, seed))
        for seed in range(40)
    ]
    drops = [row for row in rows if isinstance(row, Drop)]
    assert {(drop.reason, drop.stage) for drop in drops} == {("ill-posed: impossible", "posed")}
    kept = [row for row in rows if isinstance(row, Row)]
    assert 0 < len(drops) < len(rows)
    assert all(0 < float(row.answer or 0) < 180 for row in kept)


_ALONE = re.compile(
    r"\b(?:reply|respond|answer|return|give|provide|state)(?: back)?(?: with)? (?:only|just) "
    r"|\b(?:only|just) (?:reply|respond|answer|return|give|provide|state)\b"
    r"|no other text|any other text|without (?:any )?(?:explan|reason)|no explanation|rounding down when",
    re.IGNORECASE,
)
SAID = (
    *(
        "Only reply with the final value.\n1/2 = ?",
        "Reply only with a name.",
        "Respond with just the number.",
    ),
    *("What is it?Return only the angle as your answer.", "Respond only with the exact output."),
    *(
        "- Do not include any other text or formatting.",
        "Provide only the color as your final answer.",
    ),
    "Give only the number of steps as your final answer, no other text or formatting.",
    "Round to 4 decimal places (rounding down when the 5th decimal place is 5 or greater).",
)


@pytest.mark.parametrize("said", SAID)
def test_no_question_asks_for_the_answer_alone_where_the_prompt_asks_for_reasoning(
    said: str,
) -> None:
    assert _ALONE.search(said)
    assert not _ALONE.search(reworded(said))


def test_rewording_keeps_what_the_answer_has_to_look_like() -> None:
    assert reworded("Respond only with the exact output.") == "Respond with the exact output."
    assert reworded("x?Return only the angle.") == "x? Return the angle."


@pytest.mark.parametrize(
    "text",
    ['How often stands "t" in: "to give only the best"?', "following sentence: Give only me that"],
)
def test_words_of_a_quoted_text_are_never_reworded(text: str) -> None:
    assert reworded(text) == text


def row(question: str = "Which?", **reference: Any) -> Row:
    return Row(0, question, Task("stem", reference), "\\boxed{A}")


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        (row(" ", answer="A", choices=["1 m", "2 m"]), "impossible"),
        (row(answer="A", choices=["1 m", "2 m", "2  M"]), "ambiguous"),
        (row(answer="B", choices=["62.8", "63", "31"]), "ambiguous"),
        (row(answer="A", choices=["$1.20 \\times 10^{-5}$ m", "0.000012 m"]), "ambiguous"),
        (row(answer="D", choices=["1", "2"]), "impossible"),
        (
            Row(0, "Say: 'the moon is made of rock'", Task("stem", {}), "the moon is made of rock"),
            "trivial",
        ),
    ],
)
def test_a_generated_row_whose_options_or_answer_give_it_away_has_a_flaw(
    made: Row, kind: str
) -> None:
    flaw = flaw_of_row(made)
    assert flaw is not None and flaw.kind == kind


@pytest.mark.parametrize(
    "choices",
    [["24000", "23998"], ["62.8", "61.6"], ["1.20 m", "1.20 s"], ["red", "blue"], ["0", "1"]],
)
def test_options_that_differ_have_no_flaw(choices: list[str]) -> None:
    assert flaw_of_row(row(answer="A", choices=choices)) is None


@pytest.mark.parametrize("domain", ["stem", "instruction", "math"])
def test_none_of_our_own_families_makes_a_flawed_row(domain: str) -> None:
    for name, family in families().items():
        if family.domain == domain:
            for seed in range(3):
                item = family.generate(Random(seed), 1 + seed % 3)
                made = Row(seed, item.question, item.task, item.gold, item.answer, core=item.core)
                assert flaw_of_row(made) is None, (name, seed)


def test_every_option_is_shown_to_three_figures_and_the_right_one_is_the_value() -> None:
    mean = families()["statistics_mean"]
    shown = [
        item.task.reference["choices"]
        for seed in range(60)
        if "choices" in (item := mean.generate(Random(seed), 1 + seed % 3)).task.reference
    ]
    digits = [
        len(re.sub(r"\D", "", option.split()[0]).lstrip("0")) for one in shown for option in one
    ]
    assert digits and min(digits) >= 3


def test_the_manifest_counts_ill_posed_items_as_a_stage_of_their_own(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    recipe = make_recipe(
        RECIPE.replace("train: 4", "train: 40") + "decontamination: {benchmarks: []}\n"
    )
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    stages = report.manifest["stages"]["logic"]
    assert report.manifest["counts"]["train"] == {"logic": 40}
    assert stages["posed"] == report.manifest["drops"]["ill-posed: impossible"] > 0
    assert stages["candidates"] == stages["posed"] + stages["duplicate"] + stages["surplus"] + 40
    assert "ill-posed" in (tmp_path / "d" / "README.md").read_text()


def test_a_clock_time_does_not_hold_the_day_on_which_it_was_made() -> None:
    made: dict[str, Any] = {}
    entries = [rg_entries.make_entry(made, "time_intervals", {}, seed) for seed in range(30)]
    clocks = [e["metadata"] for e in entries if e["metadata"]["task_type"].startswith("time")]
    assert clocks
    assert all("-" not in str(m["start_time"]) and "-" not in str(m["end_time"]) for m in clocks)
