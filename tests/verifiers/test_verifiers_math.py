import gzip
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task, Verdict, VerifierPool

RIGHT = [
    ("5", "x=5"),
    ("x=5", "5"),
    ("y = 2x + 3", "2x+3"),
    ("5", r"x=\frac{10}{2}=5"),
    ("10", r"\binom{5}{2} = 10"),
    (r"\frac12", "0.5"),
    ("1/2", r"\frac{2}{4}"),
    (r"2\sqrt2", r"\sqrt8"),
    ("18", "18 dollars"),
    (r"5.4 \text{ cents}", "5.4"),
    (r"90^\circ", "90"),
    (r"\text{(C)}", "C"),
    (r"\text{Evelyn}", "Evelyn"),
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3,\pi/2)"),
    ("1,2", r"x=1, x=2"),
    ("p - q", "-q+p"),
    ("1024", "2^{10}"),
    (r"10\%", "10"),
    ("73", "**73**"),
    (r"(-\infty,3)\cup(3,\infty)", r"(3,\infty)\cup(-\infty,3)"),
]
WRONG = [
    (r"\frac{1}{2004!}", r"\frac1{2006!}"),
    (r"\frac1{2^{99}}", r"\frac1{2^{98}}"),
    ("3*x-1*y+13=0", "3x + 4y + 14=0"),
    ("5000", "50"),
    ("12", "1 2"),
    ("12", "5+7"),
    ("5", "5x"),
    ("5", "5 thousand"),
    ("east", "seat"),
    (r"\frac13", "0.333333333"),
    ("x=5", "y=5"),
    ("1", "__import__('os').system('true')"),
]


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=30) as pool:
        yield pool


def boxed(gold: str, answer: str) -> tuple[str, Task]:
    return f"So it is \\boxed{{{answer}}}.", Task("math", {"answer": gold})


@pytest.mark.parametrize(("gold", "answer"), RIGHT)
def test_equal_forms_are_right(pool: VerifierPool, gold: str, answer: str) -> None:
    verdict = pool.score([boxed(gold, answer)])[0]
    assert (verdict.reward, verdict.status) == (1.0, "scored"), verdict


@pytest.mark.parametrize(("gold", "answer"), WRONG)
def test_known_wrong_accepts_are_refused(pool: VerifierPool, gold: str, answer: str) -> None:
    verdict = pool.score([boxed(gold, answer)])[0]
    assert (verdict.reward, verdict.status) == (0.0, "scored"), verdict


@pytest.mark.parametrize("response", ["42", "\\boxed{}", "\\boxed{42", "<think>\\boxed{42}", ""])
def test_no_closed_box_after_the_thinking_is_unparsable(pool: VerifierPool, response: str) -> None:
    verdict = pool.score([(response, Task("math", {"answer": "42"}))])[0]
    assert (verdict.reward, verdict.status) == (0.0, "unparsable")


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def test_gsm8k_golds_in_a_box_are_right(pool: VerifierPool, test_data: Path) -> None:
    rows = read(test_data / "math" / "gsm8k_test.jsonl.gz")[:200]
    golds = [row["answer"].rpartition("#### ")[2] for row in rows]
    verdicts = pool.score([boxed(gold, gold) for gold in golds])
    assert [verdict.reward for verdict in verdicts] == [1.0] * 200
    off_by_one = [boxed(gold, str(int(gold.replace(",", "")) + 1)) for gold in golds]
    assert all(verdict.reward == 0.0 for verdict in pool.score(off_by_one))


def test_math500_solutions_are_right_by_their_golds(pool: VerifierPool, test_data: Path) -> None:
    rows = read(test_data / "math" / "math500.jsonl.gz")
    items = [(row["solution"], Task("math", {"answer": row["answer"]})) for row in rows]
    verdicts = pool.score(items)
    right = sum(verdict.reward == 1.0 for verdict in verdicts)
    assert right >= 499, [v for v in verdicts if v.reward != 1.0]


def test_math500_golds_are_wrong_for_the_next_problem(pool: VerifierPool, test_data: Path) -> None:
    golds = [row["answer"] for row in read(test_data / "math" / "math500.jsonl.gz")]
    pairs = [(a, b) for a, b in itertools.pairwise(golds) if a != b]
    verdicts: list[Verdict] = pool.score([boxed(gold, answer) for gold, answer in pairs])
    accepted = [
        pair for pair, verdict in zip(pairs, verdicts, strict=True) if verdict.reward != 0.0
    ]
    assert accepted == [("5", "x=5")]
    assert all(verdict.status == "scored" for verdict in verdicts)


def test_cases_of_other_graders_agree(pool: VerifierPool, test_data: Path) -> None:
    rows = read(test_data / "verifier" / "grader_unit_cases_sample.jsonl.gz")
    cases = [row for row in rows if row["function"] == "grade_answer_mathd"]
    assert len(cases) == 5
    for case in cases:
        answer, gold = case["args"]
        assert pool.score([boxed(gold, answer)])[0].reward == float(bool(case["expected"])), case
