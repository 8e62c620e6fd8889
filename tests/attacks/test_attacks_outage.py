from __future__ import annotations

import importlib.util
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from prorl_common import ProrlError
from prorl_sandbox import Sandbox
from prorl_verifiers import load_task
from prorl_verifiers.code.scorer import score_code

_spec: Any = importlib.util.spec_from_file_location(
    "outage_programs", Path(__file__).with_name("outage_programs.py")
)
outage_programs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(outage_programs)
LIMITS = {"wall_seconds": 2.0, "cpu_seconds": 1.0, "memory_mb": 128, "output_kb": 64}
FEEDS_BACK = (
    "def check(candidate):\n    x = candidate(3)\n    assert candidate(x) == candidate([x, x])"
)
TASKS: dict[str, list[dict[str, Any]]] = {
    "main": [{"stdin": "3\n", "stdout": "9"}],
    "call": [{"call": "f", "args": [3], "expected": {"1": [9]}}],
    "check": [{"check": FEEDS_BACK}],
}


def rewards(sandbox: Sandbox, seed: int, count: int) -> list[str]:
    """Return the results that were not rewards, with each program delivered in every possible way."""
    made = [
        (source, way)
        for source, facts in outage_programs.programs(seed, count)
        for way in (("main",) if facts["call"] is None else ("call", "check"))
    ][:count]

    def score(one: tuple[str, str]) -> str:
        source, way = one
        reference = {"tests": TASKS[way], "entry_point": "f", "limits": LIMITS}
        task = load_task("code", reference)
        try:
            verdict = score_code(f"```python\n{source}\n```", task.reference, sandbox)
        except ProrlError as error:
            return f"{way}: {type(error).__name__}: {error}\n{source}"
        return "" if verdict.reward is not None else f"{way}: {verdict.reason}\n{source}"

    with ThreadPoolExecutor(2) as threads:
        return [text for text in threads.map(score, made) if text]


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 300),
        pytest.param(2, 1_000, marks=pytest.mark.slow),
        pytest.param(3, 10_000, marks=pytest.mark.nightly),
    ],
)
def test_no_program_gets_away_without_a_reward(
    open_local: Callable[[], Sandbox], seed: int, count: int
) -> None:
    with open_local() as sandbox:  # type: ignore[attr-defined]
        assert rewards(sandbox, seed, count) == []
