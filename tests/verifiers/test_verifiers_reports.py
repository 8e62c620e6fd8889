"""Public bug reports of graders, checkers and trainers (reports.jsonl): each input has its right result here or in a named test."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from prorl_evaluation.metrics import pass_at_k
from prorl_verifiers import Task, Verdict, VerifierPool, load_task

TESTS = Path(__file__).resolve().parents[1]


def math_task(gold: str) -> Task:
    return Task("math", {"answer": gold})


def choices(gold: str, *texts: str) -> Task:
    return Task("stem", {"answer": gold, "choices": list(texts or ("red", "blue", "green"))})


def follows(name: str, mode: str = "fixed", **kwargs: Any) -> Task:
    reference = {"instruction_id_list": [name], "kwargs": [kwargs], "mode": mode}
    return load_task("instruction", reference)


def logic(dataset: str, answer: str, question: str = "?", **metadata: Any) -> Task:
    entry = {"question": question, "answer": answer, "metadata": metadata}
    return Task("logic", {"dataset": dataset, "entry": entry})


def code(**test: Any) -> Task:
    name = {"entry_point": test.pop("entry_point")} if "entry_point" in test else {}
    return load_task("code", {"tests": [test], **name})


def box(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


def program(source: str, fence: str = "```python") -> str:
    return f"{fence}\n{source}\n{fence[:3]}"


OVERLAP = " ".join(f"word{at}" for at in range(40))
DIGITS = "Please solve this problem to a maximum of 6 significant digits.\n0.1+0.023456 = ?"
NAMES = "F_n=\\sum_{k=0}^{n-%d}F_kF_{n-k-%d}"
LINES = "print('NO')\nprint('YES')\nprint('YES')"
FENCES = ('```python title="sol.py"', "~~~python", "```{.python}")
THREE = {"stdin": "", "stdout": "3"}
COMPETITION = (
    ([[1, 2]], 3, "class Solution:\n    def f(self, nums: List[int]) -> int: return sum(nums)"),
    ([[2, 1]], [1, 2], "def f(nums):\n    heapify(nums)\n    return nums"),
    ([5000], 5000, "def f(n): return 1 + f(n - 1) if n else 0"),
)
STOPPED = {
    "answer": "The answer is 5", "until": ["\n\n"], "filters": [{"function": "remove_thinking"}],
}  # fmt: skip
CASES: list[tuple[str, Task, str, float]] = [
    ("BR001", math_task(r"1, 2, \ldots, n"), box(r"1, 3, 5, \ldots, 2n-1"), 0),
    ("BR001", math_task(r"2, 4, 6, \ldots, 2n"), box(r"1, 3, 5, \ldots, 2n-1"), 0),
    ("BR001", math_task(r"n, n+1, \ldots, 2n"), box(r"n+1, n+2, \ldots, 2n"), 0),
    ("BR001", math_task(r"1,2,\ldots,n"), box(r"1, 2, 3, \dots, n"), 1),
    ("BR003", math_task(NAMES % (1, 1)), box(NAMES % (2, 2)), 0),
    ("BR005", math_task("73"), "Final Answer: **73**", 1),
    ("BR005", math_task("73"), "\u2705 Final Answer: **73**", 1),
    ("BR005", math_task("73"), "### Final Answer\n73", 1),
    ("BR007", math_task(r"Y(x)=-x+C+\frac{D}{x}"), box(r"Y(x)=A+\frac{B}{x}-x"), 1),
    ("BR009", math_task("4"), box(r"4\sqrt(2)"), 0),
    ("BR009", math_task(r"4\sqrt2"), box(r"4\sqrt(2)"), 1),
    ("BR013", math_task("-3"), "Therefore the answer is -3.", 1),
    ("BR013", math_task("-3"), "Therefore the answer is 3.", 0),
    ("BR015", math_task("7"), r"first \boxed{5}, corrected: \boxed{7}", 1),
    ("BR015", math_task("5"), r"first \boxed{5}, corrected: \boxed{7}", 0),
    ("BR015", math_task("2"), box(r"\sqrt[3]{8}"), 1),
    ("BR017", math_task(r"\frac{a-b}{a+b} {g}_{k} + c"), box(r"\frac{a-b}{a+b} g_k + c"), 1),
    ("BR017", math_task(r"\frac{a-b}{a+b} {g}_{k} + c"), box(r"\frac{a-b}{a+b} g"), 0),
    ("BR019", math_task("13"), "Answer: `$13$`", 1),
    ("BR021", math_task("42"), "There are 42 reasons to doubt this.", 0),
    ("BR021", math_task("42"), "There are 42 reasons. " * 45_000, 0),
    ("BR023", math_task("1"), box("1"), 1),
    ("BR023", math_task("2"), "no answer", 0),
    ("BR023", math_task("3"), box("3"), 1),
    ("BR023", math_task("4"), box("5"), 0),
    ("BR025", logic("chain_sum", "100"), "<answer>100.9</answer>", 0),
    ("BR025", logic("decimal_arithmetic", "0.123456", DIGITS), "<answer>0.1234</answer>", 0),
    ("BR027", choices("B"), "Answer: B because C is not valid", 1),
    ("BR027", choices("B"), "Answer: B/B", 1),
    ("BR029", choices("A"), "A good approach is to think. The result is three.", 0),
    ("BR031", choices("B", "[0, 1]", "[0, 2]", "(0, 1)", "[1, 2]"), box("[0, 2]"), 1),
    ("BR031", choices("B", "[0, 1]", "[0, 2]", "(0, 1)", "[1, 2]"), box("(0, 1)"), 0),
    ("BR033", follows("length_constraints:nth_paragraph_first_word", num_paragraphs=2,
                      nth_paragraph=1, first_word="hello"), "\n\n\n\nHello there\n\nEnd", 1),
    ("BR035", follows("ratio:sentence_words"), "Cat. Cat. Cat.", 0),
    ("BR035", follows("ratio:sentence_words", "reference"), "Cat. Cat. Cat.", 1),
    ("BR037", follows("ratio:overlap", reference_text=OVERLAP, percentage=72),
     " ".join([*OVERLAP.split()[:29], *(f"other{at}" for at in range(10))]), 1),
    ("BR039", follows("detectable_format:constrained_response"), "My answer is yes.", 1),
    ("BR045", follows("keywords:frequency", keyword="war", frequency=2, relation="at least"),
     "Go forward to the war.", 0),
    ("BR045", follows("language:response_language", language="fr"), "12345 67890", 0),
    ("BR045", follows("language:response_language", "reference", language="fr"), "12345 67890", 1),
    ("BR047", code(stdin="", stdout="YES\nNO\nYES"), program(LINES), 0),
    ("BR047", code(stdin="", stdout="Christmas Eve Eve Eve"), program("print('Christmas Eve')"), 0),
    ("BR047", code(stdin="", stdout="YES\nNO\nYES"), program("print(['YES', 'NO', 'YES'])"), 0),
    *(("BR053", code(**THREE), program("print(3)", fence), 1) for fence in FENCES),
    ("BR053", code(**THREE), program("print(3)").replace("\n", "\r\n"), 1),
    ("BR053", code(**THREE), "1. So:\n   ```python\n   print(3)\n   ```", 1),
    ("BR055", code(stdin="", stdout="1"), program("x = bytearray(2 << 30)\nprint(1)"), 0),
    *(("BR049", code(call="f", args=args, expected=expected), program(source), 1) for args, expected, source in COMPETITION),
    ("BR063", logic("number_sorting", "['1.25', '3.50', '10.07']"), "<answer>['1.25', '3.50', '10.07']</answer>", 1),
    *(("BR067", logic("codeio", '{"max_value": 89}'), f'<answer>{{"max_value": {value}}}</answer>', 0)
      for value in (88, 89_000, -89)),
    ("BR099", Task("exact_match", STOPPED), "<think>a\n\nb</think>The answer is 5\n\nQ: 6", 1),
    ("BR099", Task("exact_match", STOPPED), "<think>a\n\nb</think>The answer is 6\n\nThe answer is 5", 0),
]  # fmt: skip
"""Report, task, response and right reward."""
ELSEWHERE = {
    "BR011": "verifiers/test_verifiers_pool.py::test_many_threads_share_a_pool",
    "BR041": "verifiers/test_verifiers_pool.py::test_a_malformed_task_is_refused",
    "BR043": "datasets/test_datasets_broken_rows.py::test_a_line_is_kept_or_dropped_for_a_reason_and_its_neighbours_stay",
    "BR051": "verifiers/test_verifiers_judges.py::test_a_judge_decides_on_text",
    "BR057": "verifiers/test_verifiers_code.py::test_waiting_for_a_processor_is_not_the_programs_time",
    "BR059": "plugins/test_plugins_misbehaving.py::test_an_answer_on_which_alone_a_verifier_fails_gets_nothing",
    "BR061": "datasets/test_datasets_build.py::test_refused_gold_is_dropped_with_its_reason",
    "BR069": "training/test_training_shaping.py::test_only_mask_keeps_a_cut_response_out_of_the_loss",
    "BR071": "training/test_training_engine.py::test_infra_errors_are_masked_out_of_their_group_and_counted",
    "BR073": "training/test_training_collector.py::test_a_group_that_is_dropped_is_replaced_before_the_others_are_whole",
    "BR075": "training/test_training_rollout_files.py::test_a_local_runs_files_hold_what_its_updates_used_and_its_mismatch_comes_out_of_them",
    "BR077": "verifiers/test_verifiers_adapters.py::test_openrlhf_gets_float_tensors",
    "BR079": "training/test_training_shaping.py::test_overlong_without_a_buffer_is_off",
    "BR081": "training/test_training_checkpoint.py::test_full_disk_is_one_line_and_leaves_the_checkpoints_before_it",
    "BR083": "training/test_training_late_groups.py::test_a_run_gone_on_with_late_groups_is_the_unbroken_one_bit_for_bit",
    "BR085": "inference/test_inference_generator.py::test_every_configured_end_token_stops",
    "BR087": "inference/test_inference_families.py::test_a_config_that_makes_no_sense_is_one_line",
    "BR089": "inference/test_inference_generator.py::test_a_beginning_token_of_template_and_tokenizer_is_there_once",
    "BR091": "training/test_training_checkpoint.py::test_families_with_names_of_their_own_on_the_disk_come_back",
    "BR093": "plugins/test_plugins_signatures.py::test_functions_that_take_more_than_they_get_are_welcome",
    "BR095": "verifiers/test_verifiers_reports.py::test_a_share_of_200_samples_is_that_share_and_none_of_too_few_is_no_number",
    "BR097": "verifiers/test_verifiers_reports.py::test_a_share_of_200_samples_is_that_share_and_none_of_too_few_is_no_number",
    "BR101": "cli/test_mistakes.py::test_a_mistake_is_one_line_with_the_cure_and_exit_2",
    "BR103": "datasets/test_datasets_broken_rows.py::test_a_column_that_is_null_at_first_may_hold_anything_later",
    "BR105": "datasets/test_datasets_broken_rows.py::test_a_line_is_kept_or_dropped_for_a_reason_and_its_neighbours_stay",
    "BR107": "cli/test_mistakes.py::test_a_mistake_is_one_line_with_the_cure_and_exit_2",
}
"""Reports of other parts, with the test that holds each."""
NOT_OURS = {"BR065": "reasoning-gym draws the impossible items; prorl sets no share of its own"}
"""Reports of what prorl does not do, with the reason."""


@pytest.fixture(scope="module")
def reports() -> list[str]:
    folder = os.environ.get("PRORL_TEST_DATA")
    if not folder:
        pytest.skip("needs PRORL_TEST_DATA")
    lines = (Path(folder) / "reports" / "reports.jsonl").read_text().splitlines()
    return [json.loads(line)["id"] for line in lines]


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    with VerifierPool(2, allow_weak=True) as pool:
        return pool.score([(response, task) for _, task, response, _ in CASES])


def test_every_report_has_a_case_or_a_test(reports: list[str]) -> None:
    tested = {case[0] for case in CASES} | ELSEWHERE.keys()
    assert set(reports) == tested | NOT_OURS.keys() and not tested & NOT_OURS.keys()
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        assert f"def {name}(" in (TESTS / file).read_text(), place


@pytest.mark.parametrize("at", range(len(CASES)), ids=[case[0] for case in CASES])
def test_a_reported_input_gets_its_right_reward(at: int, verdicts: list[Verdict]) -> None:
    assert verdicts[at].reward == CASES[at][3], verdicts[at].reason


def test_a_share_of_200_samples_is_that_share_and_none_of_too_few_is_no_number() -> None:
    assert pass_at_k(200, 1, 1) == pytest.approx(0.005)
    assert math.isnan(pass_at_k(2, 0, 5))
