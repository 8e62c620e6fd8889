from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubles import InProcess

from prorl_common import NullProgress, plugins
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.sampling.evaluate import regrade
from prorl_evaluation.testing import FakeGenerator, make_samples
from prorl_inference import Completion, Request
from prorl_verifiers import Task

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_environment.py"


class Searcher(FakeGenerator):
    """Guesses 50, then 25 or 75 by the hint, and repeats that."""

    def generate(
        self, requests: Any, params: Any, on_done: Any = None, on_result: Any = None
    ) -> Any:
        answers = [[Completion(_guess(r), (1, 2), (-0.5, -0.5), "stop")] for r in requests]
        for index, answer in enumerate(answers if on_result else []):
            on_result(index, answer)
        return answers


def _guess(request: Request) -> str:
    hint = request.prompt[-1]["content"]
    return "75" if "higher" in hint else "25" if "lower" in hint else "50"


def test_an_evaluation_plays_environments_and_regrades_their_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    monkeypatch.setenv(plugins.ENVIRONMENT, "[]")
    plugins.use_plugins([EXAMPLE])
    samples = [
        replace(sample, task=Task("guess-number", {"answer": answer}))
        for sample, answer in zip(make_samples(3), ("50", "25", "76"), strict=True)
    ]
    settings = EvalSettings(n=1, k=1, backend="vllm")
    result = evaluate(Searcher(), samples, settings, tmp_path, InProcess(), NullProgress())
    assert [p.reward_mean for p in result.problems] == [1.0, 1.0, 0.0]
    lines = (tmp_path / "samples.jsonl").read_text().splitlines()
    notes = [json.loads(json.loads(line)["note"]) for line in lines]
    assert notes == [["50"], ["50", "25"], ["50", *["75"] * 7]]
    assert regrade(tmp_path, InProcess(), NullProgress()).changed == 0
