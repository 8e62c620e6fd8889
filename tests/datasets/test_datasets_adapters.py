from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from prorl_datasets import DatasetError
from prorl_datasets.candidate import Drop, Row
from prorl_datasets.sources.adapters.code_sets import limited_tests
from prorl_datasets.sources.adapters.fields import Unusable, check_columns
from prorl_datasets.sources.adapters.worked import letter_of, options_in, short_answer
from prorl_datasets.sources.readers import iter_rows
from prorl_datasets.sources.row_files import adapted
from prorl_datasets.spec import ADAPTERS, AdapterSpec
from prorl_verifiers import Task, VerifierPool
from prorl_verifiers.stem.scorer import score_stem

HUB_ROWS = Path(__file__).parents[1] / "data" / "hub_rows"
PACKAGE = Path(__file__).parents[2] / "datasets" / "prorl_datasets"


def convert(name: str, raw: dict[str, Any], where: str = "f:1", index: int = 0) -> Row | Drop:
    """Return the result of an adapter for one row."""
    adapter = ADAPTERS.get(name)
    return adapted(adapter, str(adapter.domain), raw, where, index)


def ours() -> list[AdapterSpec]:
    """Return the names of prorl's own adapters."""
    specs = [ADAPTERS.get(name) for name in ADAPTERS.names() if ADAPTERS.origin(name).is_ours]
    return [spec for spec in specs if spec.convert is not None]


def converted(adapter: str, path: Path, most: int | None = None) -> list[Row | Drop]:
    """Convert every row, checking the columns on the first."""
    made = []
    for index, (where, raw) in enumerate(islice(iter_rows(path), most)):
        if index == 0:
            check_columns(ADAPTERS.get(adapter), raw, where)
        made.append(convert(adapter, raw, where, index))
    assert [item.index for item in made] == list(range(len(made)))
    assert all(item.reason for item in made if isinstance(item, Drop))
    return made


def fixture(adapter: str, name: str) -> tuple[list[Row], list[str]]:
    """Return the rows of a fixture and the reasons of its drops."""
    made = converted(adapter, HUB_ROWS / name)
    rows = [item for item in made if isinstance(item, Row)]
    return rows, [item.reason for item in made if isinstance(item, Drop)]


def one(adapter: str, raw: dict[str, Any]) -> Row | Drop:
    return convert(adapter, raw, "file:1")


def kept(adapter: str, raw: dict[str, Any]) -> Row:
    row = one(adapter, raw)
    assert isinstance(row, Row), row
    return row


def dropped(adapter: str, raw: dict[str, Any]) -> str:
    drop = one(adapter, raw)
    assert isinstance(drop, Drop), drop
    return drop.reason


# ----------------------------------------------------------------------------------------------- math


def test_deepscaler_rows_without_an_answer_are_dropped_and_the_gold_is_the_boxed_answer() -> None:
    rows, reasons = fixture("deepscaler", "deepscaler.json")
    assert [row.gold for row in rows] == ["\\boxed{\\frac{1}{12}}", "\\boxed{9}", "\\boxed{7}"]
    assert reasons == ["no answer", "no answer"]


def test_dapo_prompts_lose_their_wrapper_and_repeats_stay_equal() -> None:
    rows, reasons = fixture("dapo_math", "dapo.jsonl")
    assert not reasons
    assert [row.question for row in rows] == [
        *["What is $3^3+7$?"] * 3, "What is $2^5$?", "What is $6!$?", "What is $5^2$?",
    ]  # fmt: skip
    assert [row.answer for row in rows] == ["34", "34", "34", "32", "720", "25"]
    assert rows[4].metadata["source_index"] == "u-3"


def test_gsm8k_takes_what_stands_behind_the_marks() -> None:
    row = kept("gsm8k", {"question": "How much?", "answer": "10*120=<<10*120=1200>>\n#### 1,200"})
    assert row.answer == "1200"
    assert dropped("gsm8k", {"question": "How much?", "answer": "12"}) == "no #### in the answer"


def test_math_takes_the_last_box_where_there_is_no_answer_column() -> None:
    row = kept("math", {"problem": "P", "solution": "\\boxed{1}, no: $\\boxed{\\frac{2}{3}}$."})
    assert row.answer == "\\frac{2}{3}"
    assert (
        dropped("math", {"problem": "P", "solution": "none"}) == "no boxed answer in the solution"
    )


def test_a_verl_row_of_another_ability_is_no_math_row() -> None:
    raw: dict[str, Any] = {
        "prompt": "P", "ability": "code", "reward_model": {"ground_truth": "1"},
    }  # fmt: skip
    assert dropped("verl", raw) == "not a math row"
    raw |= {"ability": "math", "reward_model": {"style": "rule"}}
    assert dropped("verl", raw) == "reward_model holds no ground_truth"
    raw["prompt"] = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    assert dropped("verl", raw) == "the prompt is a conversation of several turns"


# ----------------------------------------------------------------------------------------------- code


def test_eurus_rows_decode_in_every_shape_and_bad_tests_are_dropped() -> None:
    rows, reasons = fixture("eurus_code", "eurus.jsonl")
    assert Counter(reasons) == {
        "not a code row": 1, "the tests do not decode": 2, "the tests contradict each other": 1,
    }  # fmt: skip
    assert len(rows) == 9 and all(row.consistent and row.gold is None for row in rows)
    for row in rows:
        assert "[ASSESS]" not in row.question and "at the end." not in row.question
    by_index = {row.index: row for row in rows}
    assert by_index[1].task.reference["tests"][0] == {"stdin": "a\nb\nc", "stdout": "c\nb\na"}
    assert by_index[2].task.reference["tests"][0]["args"] == [1, 3]
    assert by_index[8].task.reference["tests"][1] == {"stdin": "3\n", "stdout": "9\n"}
    assert by_index[10].question == "Print the number plus one."
    assert by_index[11].question == "Print the number minus one."


def test_a_function_that_the_statement_does_not_name_is_named_behind_it() -> None:
    rows = {row.index: row for row in fixture("eurus_code", "eurus.jsonl")[0]}
    assert rows[2].question == rows[2].core
    assert rows[3].question.endswith("The function must be named `topCount`.")
    assert rows[3].core is not None and "topCount" not in rows[3].core


def test_a_test_with_an_integer_that_no_box_could_read_is_left_out() -> None:
    rows = {row.index: row for row in fixture("eurus_code", "eurus.jsonl")[0]}
    assert (rows[9].metadata["tests"], rows[9].metadata["tests_in_source"]) == (1, 2)


def test_all_tests_of_a_row_are_kept() -> None:
    rows = {row.index: row for row in fixture("eurus_code", "eurus.jsonl")[0]}
    tests = rows[12].task.reference["tests"]
    assert rows[12].metadata["tests_in_source"] == rows[12].metadata["tests"] == len(tests) == 101
    assert "tests_left_out" not in rows[12].metadata


def test_tests_over_a_size_limit_are_left_out_and_counted() -> None:
    large = [{"stdin": f"{n} " + "x" * 200_000, "stdout": "1"} for n in range(12)]
    huge, small = {"stdin": "y" * 300_000, "stdout": "1"}, {"stdin": "1", "stdout": "1"}
    kept, left_out = limited_tests([small, huge, *large, small])
    assert [len(test["stdin"]) for test in kept] == [1, *[200_002] * 10]
    assert left_out == {"repeated": 1, "a test over 256 KiB": 1, "tests of a row over 2 MiB": 2}


def test_list_shaped_function_tests_score_a_right_program(pool: VerifierPool) -> None:
    rows = {row.index: row for row in fixture("eurus_code", "eurus.jsonl")[0]}
    programs = {
        0: "a, b = map(int, input().split())\nprint(a + b)",
        1: "import sys\nprint('\\n'.join(reversed(sys.stdin.read().split())))",
        2: "def is_even_sum(a, b):\n    return (a + b) % 2 == 0",
        3: "def topCount(xs):\n    return [max(xs), xs.count(max(xs))]",
    }
    made: list[tuple[str, Task]] = [
        (f"```python\n{p}\n```", rows[i].task) for i, p in programs.items()
    ]
    verdicts = pool.score(made)
    assert [verdict.reward for verdict in verdicts] == [1.0] * 4


def test_mbpp_rows_that_need_set_up_code_are_dropped() -> None:
    raw = {"text": "Add.", "code": "def f(a): return a", "test_list": ["assert f(1) == 1"]}
    row = kept("mbpp", raw)
    assert "assert f(1) == 1" in row.question and row.core == "Add."
    assert dropped("mbpp", {**raw, "test_setup_code": "x = 1"}) == "the tests need set-up code"
    assert dropped("mbpp", {**raw, "test_list": []}) == "no tests"


# ----------------------------------------------------------------------------------------------- stem


def test_scp_rows_of_both_versions_keep_the_shipped_response_as_gold() -> None:
    old, old_reasons = fixture("scp116k", "scp_old.jsonl")
    assert [row.metadata["gold_from"] for row in old] == ["qwq_solution"]
    assert Counter(old_reasons) == {"no usable ground truth": 2, "no model response": 1}
    new, new_reasons = fixture("scp116k", "scp_new.jsonl")
    assert [row.metadata["gold_from"] for row in new] == ["r1_response"] * 3
    assert Counter(new_reasons) == {"no usable ground truth": 2, "no model response": 1}
    assert new[0].task.reference == {
        "answer": "B", "choices": ["helium", "hydrogen", "neon", "argon"],
    }  # fmt: skip


def test_the_stem_verifier_tells_the_shipped_responses_that_agree(pool: VerifierPool) -> None:
    rows = [*fixture("scp116k", "scp_old.jsonl")[0], *fixture("scp116k", "scp_new.jsonl")[0]]
    verdicts = pool.score([(str(row.gold), row.task) for row in rows])
    assert [verdict.reward for verdict in verdicts] == [1.0, 1.0, 1.0, 0.0]


def test_an_unknown_r1_column_is_found_by_its_name_and_reasoning_is_none() -> None:
    raw = {
        "problem": "Find it.",
        "extract_solution": "$x = 2.5$ m",
        "deepseek_R1_reply": "\\boxed{2.5}",
    }
    assert kept("scp116k", raw).metadata["gold_from"] == "deepseek_R1_reply"
    del raw["deepseek_R1_reply"]
    raw |= {"r1_reasoning": "so", "qwq_solution": ""}
    assert dropped("scp116k", raw) == "no model response"


ANSWERS = [
    ("The speed is found.", "Thus $$v = \\sqrt{2gh} = 13 \\mathrm{~m/s}$$", "13 \\mathrm{~m/s}"),
    ("Find x.", "We get $x = \\frac{1}{3} = 0.3333 \\approx 0.33$.", "0.3333"),
    ("Find the power.", "So the answer is: 5.2 kW.", "5.2 kW"),
    ("Find c.", "Many words.\n\n$$c = 3.1$$\nwhere we have used $1 J = 1 N m$.", "3.1"),
    ("Find the ratio.", "It is $\\boxed{\\frac{a}{b}}$.", "\\frac{a}{b}"),
    ("Find n.", "6.02e23", "6.02e23"),
]


@pytest.mark.parametrize(("problem", "solution", "answer"), ANSWERS)
def test_a_worked_solution_gives_its_final_answer(problem: str, solution: str, answer: str) -> None:
    assert short_answer(problem, solution).answer == answer


NO_ANSWERS = [
    ("Find the point.", "$x = 3, \\quad y = 4$", "does not end in a readable answer"),
    ("Find it.", "We have $f(1)=3$ and so $f(2)=1$.", "does not end in a readable answer"),
    ("A rod of 2.5 m. Find it.", "Recall that $l = 2.5$ m.", "does not end in a readable answer"),
    ("Find it.", "$E = mc^2$", "does not end in a readable answer"),
    ("Find it.", "$x > 3$ so $x >= 4$", "does not end in a readable answer"),
    ("Find it.", "\\boxed{1} or \\boxed{2}", "several boxed answers"),
    ("Find all roots.", "$x = 3$", "asks for several values"),
    ("Find it.", "So $c = 4044 c$.", "does not end in a readable answer"),
    ("Which?\n(A) 1\n(B) 2\n(C) 3", "The answer is 7.", "none of the options"),
    ("Derive the law.", "$F = 3$ N", "asks for a proof"),
    ("(a) Find x. (b) Find y.", "x = 3", "several parts"),
    ("Find it.", "x" * 30_000, "longer than"),
]


@pytest.mark.parametrize(("problem", "solution", "why"), NO_ANSWERS)
def test_a_solution_without_one_clear_answer_is_dropped(
    problem: str, solution: str, why: str
) -> None:
    with pytest.raises(Unusable, match="no usable ground truth") as caught:
        short_answer(problem, solution)
    assert why in caught.value.detail


def test_options_are_found_in_the_text_and_two_named_letters_are_refused() -> None:
    assert options_in("Which?\n(a) 1 m\n(b) 2 m\n(c) 3 m") == ["1 m", "2 m", "3 m"]
    assert options_in("Which?\nA. red\nB. blue\nC. green\nD. grey\n\nHint: no.") == [
        "red", "blue", "green", "grey",
    ]  # fmt: skip
    assert options_in("(a) Find x. (b) Find y.") is None
    assert letter_of("Hence the correct option is **(c)**.", 4) == "C"
    assert letter_of("The answer is, B. Option A) is a trap.", 4) == "B"
    assert letter_of("The answer is a lie.", 4) is None
    assert letter_of("(D) since it is grey.", 4) == "D"
    assert letter_of("b", 4) == "B"
    assert letter_of("A force acts.", 4) is None
    with pytest.raises(Unusable, match="several options"):
        letter_of("The answer is A. No, the answer is B.", 4)


# ----------------------------------------------------------------------------------------- instruction


def test_nemotron_rows_with_nulls_json_text_and_odd_keywords() -> None:
    rows, reasons = fixture("nemotron_if", "nemotron.jsonl")
    assert reasons == [
        "keywords:frequency does not name exactly one word",
        "the verifier rejects the reference",
        "the constraints contradict each other",
        "the number of kwargs differs from the number of constraints",
    ]
    kwargs = {row.index: row.task.reference["kwargs"] for row in rows}
    assert kwargs[1] == [{}]
    assert kwargs[2] == [{"letter": "z", "let_relation": "less than", "let_frequency": 1}, {}]
    assert [kwargs[i][0]["keyword"] for i in (3, 4)] == ["tree", "wave"]
    assert all(row.consistent and row.gold is None for row in rows)
    assert rows[0].metadata["row_licence"] == "odc-by"


def test_nemotron_rl_rows_hold_their_fields_at_the_top_or_nested() -> None:
    rows, reasons = fixture("nemotron_rl_if", "nemotron_rl.jsonl")
    assert not reasons
    assert [row.question for row in rows] == ["Write about bees.", "Write about ants."]
    assert rows[0].task.reference == rows[1].task.reference
    assert rows[1].task.reference["kwargs"][:2] == [{}, {}]


def test_a_kwarg_of_zero_is_kept() -> None:
    raw = {
        "prompt": "Write no capitals.",
        "instruction_id_list": ["change_case:capital_word_frequency"],
        "kwargs": [{"capital_frequency": 0, "capital_relation": "at least", "num_words": None}],
    }
    assert kept("ifeval", raw).task.reference["kwargs"][0]["capital_frequency"] == 0


def test_rlvr_functions_become_ifeval_ids_and_the_others_drop() -> None:
    rows, reasons = fixture("rlvr_ifeval", "rlvr_ifeval.jsonl")
    assert [row.task.reference["instruction_id_list"][0] for row in rows] == [
        "change_case:english_lowercase", "length_constraints:number_words", "keywords:frequency",
    ]  # fmt: skip
    assert rows[2].task.reference["kwargs"][0]["relation"] == "exactly"
    assert Counter(reasons)["the row names a function that belongs to no IFEval id"] == 2


# ------------------------------------------------------------------------------------------ all of them


def test_a_missing_column_names_itself_the_nearest_one_and_all_found() -> None:
    with pytest.raises(DatasetError) as caught:
        check_columns(ADAPTERS.get("deepscaler"), ["problems", "answer"], "d.json")
    assert str(caught.value).startswith("d.json: no column 'problem' (did you mean 'problems'?)")
    assert "columns found: problems, answer" in str(caught.value)
    with pytest.raises(DatasetError, match=r"f:3: no column 'extract_solution' \(nor matched"):
        convert("scp116k", {"problem": "P", "r1_response": "x"}, "f:3", 2)
    check_columns(ADAPTERS.get("verl"), ["prompt", "reward_model"], "v")


def test_columns_of_nothing_but_nulls_and_odd_types_drop_or_name_a_column() -> None:
    odd: list[Any] = [None, float("nan"), "", [], {}, 3, True, [None], "\ud800", [{"content": 1}]]
    for adapter in ours():
        names = [name for group in adapter.columns for name in group if name]
        for value in odd:
            try:
                made = convert(adapter.name, dict.fromkeys(names, value))
            except DatasetError as error:
                assert str(error).startswith("f:1: no column")
                continue
            if isinstance(made, Row):
                json.dumps([made.task.reference, made.question], ensure_ascii=False).encode()


def test_adapters_travel_to_another_process() -> None:
    for adapter in ours():
        assert pickle.loads(pickle.dumps(adapter)) == adapter


def test_the_recipe_names_adapters_of_its_domains_and_readable_files() -> None:
    recipe = yaml.safe_load((PACKAGE / "recipes" / "prorl-136k.yaml").read_text(encoding="utf-8"))
    hub = [entry for entry in recipe["entries"] if entry["source"]["kind"] == "hub"]
    counts = {entry["domain"]: entry["count"]["train"] for entry in hub}
    assert counts == {"math": 40000, "code": 24000, "stem": 25000, "instruction": 10000}
    for entry in hub:
        assert ADAPTERS.get(entry["source"]["adapter"]).domain == entry["domain"]
        assert entry["count"]["validation"] == 250 and entry["licence"]


# ------------------------------------------------------------------------------------------- real slices

SLICES = [
    ("verl", "math/deepscaler_sub1209", 0.99),
    ("gsm8k", "math/gsm8k_test", 1.0),
    ("math", "math/math500", 1.0),
    ("mbpp", "code/mbpp_even", 1.0),
    ("ifeval", "if/ifeval_input_data", 0.98),
    ("nemotron_rl_if", "if/nemo_gym_instruction_following_examples", 1.0),
    ("verl", "contamination/pi1_repeated_128", 1.0),
]
GOLDS_OF_EACH = 8
ROWS_OF_EACH = 150


@pytest.fixture(scope="module")
def real(test_data: Path) -> dict[str, list[Row | Drop]]:
    return {
        name: converted(a, test_data / f"{name}.jsonl.gz", ROWS_OF_EACH) for a, name, _ in SLICES
    }


@pytest.mark.parametrize(("name", "least"), [(name, least) for _, name, least in SLICES])
def test_every_row_of_a_real_slice_is_kept_or_dropped_with_a_reason(
    real: dict[str, list[Row | Drop]], name: str, least: float
) -> None:
    rows = [item for item in real[name] if isinstance(item, Row)]
    assert len(rows) >= least * len(real[name]), Counter(
        item.reason for item in real[name] if isinstance(item, Drop)
    )
    assert all("Let's think step by step" not in row.question for row in rows)


def test_the_golds_of_the_real_slices_are_accepted_by_their_verifiers(
    real: dict[str, list[Row | Drop]], pool: VerifierPool
) -> None:
    chosen = []
    for name, items in sorted(real.items()):
        rows = [item for item in items if isinstance(item, Row) and item.gold is not None]
        chosen += random.Random(name).sample(rows, min(GOLDS_OF_EACH, len(rows)))
    verdicts = pool.score([(str(row.gold), row.task) for row in chosen])
    refused = [row.question for row, v in zip(chosen, verdicts, strict=True) if v.reward != 1.0]
    assert len(refused) <= len(chosen) // 50, refused


def test_letters_taken_from_worked_solutions_are_hardly_ever_wrong(test_data: Path) -> None:
    outcome: Counter[str] = Counter()
    for _, raw in iter_rows(test_data / "math" / "aqua.jsonl.gz"):
        try:
            found = short_answer("\n".join([raw["question"], *raw["options"]]), raw["rationale"])
        except Unusable:
            outcome["dropped"] += 1
            continue
        outcome["right" if found.answer == raw["correct"] else "wrong"] += 1
    assert outcome["wrong"] <= 0.02 * (outcome["right"] + outcome["wrong"]), outcome
    assert outcome["right"] >= 0.7 * outcome.total(), outcome


def test_answers_taken_from_scibench_solutions_are_hardly_ever_wrong(test_data: Path) -> None:
    outcome: Counter[str] = Counter()
    for _, raw in iter_rows(test_data / "stem" / "scibench_with_solutions.jsonl.gz"):
        try:
            answer = short_answer(raw["problem_text"], raw["solution"]).answer
        except Unusable:
            outcome["dropped"] += 1
            continue
        reference = {"answer": raw["answer_number"].strip(), "unit": raw["unit"]}
        score = score_stem(f"\\boxed{{{answer}}}", reference, lambda module: None)
        outcome["right" if score.reward == 1 else "wrong"] += 1
    assert outcome["wrong"] <= 0.03 * (outcome["right"] + outcome["wrong"]), outcome
    assert outcome["right"] >= 0.6 * outcome.total(), outcome
