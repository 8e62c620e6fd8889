from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from prorl_sandbox import LocalSandbox
from prorl_verifiers.code.scorer import score_code
from prorl_verifiers.types import Verdict

TASKS = yaml.safe_load(
    (Path(__file__).parents[1] / "data/scientific/tasks.yaml").read_text(encoding="utf-8")
)


def score(task: dict[str, Any], which: str, sandbox: Any) -> Verdict:
    reference = {
        "environment": "scientific",
        "tests": task["tests"],
        "limits": {"total_seconds": 20},
        **({"entry_point": task["entry_point"]} if "entry_point" in task else {}),
    }
    return score_code(f"```python\n{task[which]}```", reference, sandbox)


def test_there_are_enough_tasks_of_every_shape() -> None:
    shapes = {next(iter(test)) for task in TASKS for test in task["tests"]}
    assert len({task["id"] for task in TASKS}) == len(TASKS) >= 60
    assert shapes == {"stdin", "call", "assert", "check"}


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS, ids=[task["id"] for task in TASKS])
def test_the_canonical_solution_passes_and_the_wrong_one_does_not(
    task: dict[str, Any], scientific: LocalSandbox
) -> None:
    right, wrong = score(task, "solution", scientific), score(task, "wrong", scientific)
    assert (right.reward, right.status) == (1.0, "scored"), right.reason
    assert (wrong.status, wrong.reward == 1.0) == ("scored", False), wrong.reason
