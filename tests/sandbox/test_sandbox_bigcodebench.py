"""Canonical solutions of BigCodeBench pass in ``scientific``, apart from the rows listed here with a reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from prorl_sandbox import Limits, LocalSandbox, Program
from prorl_verifiers import TaskError, VerifierPool, load_task
from prorl_verifiers.code.shapes import bigcodebench_reference

LIMITS = Limits(wall_seconds=60.0, cpu_seconds=30.0, memory_mb=1024)
LACKING = {
    "matplotlib": (100, 1001, 1002, 1004, 1011, 101),
    "requests": (1006, 1007, 1008, 1010, 1012, 1013, 1014),
    "lxml": (1003,),
}
"""Rows whose first missing package is not in the environment."""
NEED_THE_NETWORK = (1005,)
"""It downloads files, and fails without a network anywhere."""
CHECK_FAILS = {
    1: "'function' object has no attribute 'seed'",
    10: "AssertionError",
    1000: "AssertionError",
    1005: "PosixPath is not supported",
    1009: "PosixPath is not supported",
}
"""Rows whose tests cannot run in a second box.

1 uses the solution's imports, 10 and 1000 patch functions of its modules, 1005 and 1009 pass Path objects and look for
files that the solution wrote.
"""
_CHECK = """
import sys, unittest
def check(candidate):
    globals()["task_func"] = candidate
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(TestCases).run(result)
    for _, text in result.errors + result.failures:
        print(text.strip().splitlines()[-1], file=sys.stderr)
    assert result.testsRun and result.wasSuccessful()
"""


@pytest.fixture(scope="module")
def rows(test_data: Path) -> dict[int, dict[str, str]]:
    """Return the rows by number."""
    with gzip.open(test_data / "code/sandboxfusion_bigcodebench.jsonl.gz", "rt") as file:
        found = [json.loads(line) for line in file]
    return {int(row["id"].rpartition("/")[2]): row for row in found}


def test_every_row_is_here_or_named(rows: dict[int, dict[str, str]]) -> None:
    lacking = {number for numbers in LACKING.values() for number in numbers}
    assert len(rows) == 20
    assert set(rows) - lacking == {0, 1, 10, 1000, 1005, 1009}


@pytest.mark.slow
def test_canonical_solutions_pass_their_tests_as_one_program(
    rows: dict[int, dict[str, str]], scientific: LocalSandbox
) -> None:
    found = {}
    for number, row in rows.items():
        source = f"{row['content']}\n{row['canonical_solution']}\n{row['test']}\n"
        program = Program(source + "unittest.main()\n", environment="scientific")
        found[number] = scientific.run(program, LIMITS)
    passed = {number for number, outcome in found.items() if outcome.status == "ok"}
    assert passed == {0, 1, 10, 1000, 1009}
    for package, numbers in LACKING.items():
        for number in numbers:
            assert f"No module named '{package}'" in found[number].stderr
    for number in NEED_THE_NETWORK:
        assert "Temporary failure in name resolution" in found[number].stderr


@pytest.mark.slow
def test_canonical_solutions_pass_their_tests_from_another_box_but_for_the_named(
    rows: dict[int, dict[str, str]], scientific: LocalSandbox
) -> None:
    for number in (0, *CHECK_FAILS):
        row = rows[number]
        solution = f"{row['content']}\n{row['canonical_solution']}\n"
        program = Program(solution, environment="scientific")
        outcome = scientific.run_check(program, row["test"] + _CHECK, "task_func", LIMITS)
        assert (outcome.status == "ok") == (number not in CHECK_FAILS)
        assert CHECK_FAILS.get(number, "") in outcome.stderr


OWN_TEST = """
import unittest
import numpy as np
import pandas as pd

class TestCases(unittest.TestCase):
    def setUp(self):
        self.frame = pd.DataFrame({"who": ["a", "b", "a"], "score": [1.0, 4.0, 3.0]})

    def test_means_by_name(self):
        found = task_func(self.frame)
        self.assertIsInstance(found, pd.DataFrame)
        np.testing.assert_allclose(found["score"], [2.0, 4.0])

    def test_an_empty_frame(self):
        self.assertEqual(len(task_func(self.frame.iloc[:0])), 0)

    def test_what_is_no_frame_raises(self):
        with self.assertRaises(TypeError):
            task_func([1, 2])
"""
OWN_SOLUTION = """
import pandas as pd

def task_func(frame):
    if not isinstance(frame, pd.DataFrame):
        raise TypeError("not a frame")
    return frame.groupby("who", as_index=False)["score"].mean()
"""


@pytest.mark.slow
def test_a_unittest_class_is_scored_by_the_verifier_in_the_environment(
    scientific: LocalSandbox,
) -> None:
    task = load_task("code", bigcodebench_reference(OWN_TEST))
    programs = {
        "right": OWN_SOLUTION,
        "sum": OWN_SOLUTION.replace("mean", "sum"),
        "no check of types": OWN_SOLUTION.replace("TypeError", "ValueError"),
        "no function": "x = 1",
    }
    with VerifierPool(1, scientific) as pool:
        verdicts = pool.score([(f"```python\n{text}\n```", task) for text in programs.values()])
    assert {verdict.status for verdict in verdicts} == {"scored"}
    rewards = dict(zip(programs, (verdict.reward for verdict in verdicts), strict=True))
    assert rewards == {"right": 1.0, "sum": 0.0, "no check of types": 0.0, "no function": 0.0}


@pytest.mark.parametrize("test", ["class TestCases(", "x = 1", "class TestCases:\n    pass"])
def test_a_row_without_a_test_class_is_no_task(test: str) -> None:
    with pytest.raises(TaskError):
        bigcodebench_reference(test)
