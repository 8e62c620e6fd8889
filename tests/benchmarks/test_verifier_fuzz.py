from __future__ import annotations

import importlib
import random
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("fuzz_answers")


@pytest.fixture
def fuzz(answers: Any) -> Any:
    return importlib.import_module("verifier_fuzz")


@pytest.fixture
def known(answers: Any) -> dict[str, list[Any]]:
    task = Task("math", {"answer": "17"})
    return {name: [answers.Known(task, "17", r"\boxed{17}")] for name in answers.SHARES}


def row(**changed: Any) -> dict[str, Any]:
    usual = {"number": 1, "verifier": "math", "status": "scored", "reward": 1.0, "seconds": 0.1}
    return {**usual, **changed}


def test_an_answer_is_made_again_from_its_seed_and_number(answers: Any, known: Any) -> None:
    texts = [answers.fuzzed(known, 3, number).response for number in range(200)]
    assert texts == [answers.fuzzed(known, 3, number).response for number in range(200)]
    assert texts != [answers.fuzzed(known, 4, number).response for number in range(200)]
    assert len(set(texts)) > 150


def test_every_way_to_spoil_takes_any_text(answers: Any) -> None:
    for name, spoil in answers.SPOILERS:
        for text in ("", "{", "17", "\ud800 {0} %s", r"\boxed{\frac{1}{2}}"):
            for seed in range(20):
                assert isinstance(spoil(random.Random(seed), text), str), name


@pytest.mark.parametrize(
    ("fact", "broken"),
    [
        ("no verdict", row(status="infra_error", reward=None)),
        ("a verifier failed", row(status="unparsable", reward=0.0, reason="could not be judged")),
        ("score outside [0, 1]", row(reward=1.5)),
        ("score outside [0, 1]", row(reward=float("nan"))),
        ("slow", row(seconds=9.0)),
        ("slow", row(seconds=9.0, alone=8.0, processor=3.5)),
        ("out of time", row(status="timeout", reward=0.0)),
    ],
)
def test_a_broken_fact_is_found(fuzz: Any, fact: str, broken: dict[str, Any]) -> None:
    found = fuzz.faults([row(), broken])
    assert {name for name, rows in found.items() if rows} == {fact}


def test_a_busy_machine_and_a_program_at_its_limit_break_no_fact(fuzz: Any) -> None:
    busy = row(seconds=9.0, alone=8.0, processor=0.2)
    program = row(verifier="code", status="timeout", reward=0.0, seconds=9.0)
    assert not any(fuzz.faults([busy, program]).values())
