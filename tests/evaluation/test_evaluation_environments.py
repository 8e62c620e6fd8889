from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubles import InProcess, Messages

from prorl_common import NullProgress, plugins
from prorl_common.seeds import TURNS
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.config import load_eval_config
from prorl_evaluation.rating.rate import rate
from prorl_evaluation.rating.store import RatingStore
from prorl_evaluation.sampling.choose import Run, settings_hash
from prorl_evaluation.sampling.command import settings_of
from prorl_evaluation.sampling.conversations import settings_for
from prorl_evaluation.sampling.evaluate import regrade
from prorl_evaluation.testing import FakeGenerator, make_samples
from prorl_inference import Completion, Request
from prorl_training.config import TrainConfig
from prorl_verifiers import Task

MISBEHAVING = Path(__file__).parents[1] / "plugins" / "misbehaving" / "environments.py"
SETTINGS = EvalSettings(n=1, k=1, backend="vllm")
TALKS: dict[str, tuple[int, float | None]] = {
    "end": (1, 1.0),
    "go go end": (3, 0.5),
    "go go go go": (3, 0.5),  # the limit of turns
    "go cut end": (2, 1.0),  # the limit of tokens
    "go full end": (1, 1.0),  # the limit of the context
    "go raise": (2, None),
    "go down end": (2, None),
}
"""Scripts with the number of responses at a limit of 3, and the reward."""


class Script(FakeGenerator):
    """Says the words of the prompt one after the other, a word a turn; ``cut`` is cut by the limit."""

    def generate(
        self, requests: Any, params: Any, on_done: Any = None, on_result: Any = None
    ) -> Any:
        answers = [[_say(request)] for request in requests]
        for index, answer in enumerate(answers if on_result else []):
            on_result(index, answer)
        return answers


def _say(request: Request) -> Completion:
    said = sum(message["role"] == "assistant" for message in request.prompt)
    word = [*request.prompt[0]["content"].split(), "end"][said]
    if word == "full" and request.follows:
        return Completion("", (), (), "length")
    return Completion(word, (1, 2), (-0.5, -0.5), "length" if word == "cut" else "stop")


@pytest.fixture(autouse=True)
def environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    plugins.use_plugins([MISBEHAVING])


def samples_of(*scripts: str) -> list[Any]:
    samples = zip(make_samples(len(scripts)), scripts, strict=True)
    return [
        replace(s, task=Task("turns", {}), prompt=({"role": "user", "content": script},))
        for s, script in samples
    ]


def test_an_evaluation_plays_environments_until_an_end_a_limit_or_a_fault(tmp_path: Path) -> None:
    samples, scorer = samples_of(*TALKS), InProcess()
    settings = replace(SETTINGS, turns=3)
    result = evaluate(Script(), samples, settings, tmp_path, scorer, NullProgress())
    rows = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    verdicts = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    rewards = {verdict["key"]: verdict["reward"] for verdict in verdicts}
    for (script, (count, reward)), row in zip(TALKS.items(), rows, strict=True):
        words = script.split()[:count]
        said = [{"role": "assistant", "content": word} for word in words]
        answers = [{"role": "user", "content": f"turn {n}"} for n in range(count - 1)]
        assert (row["turns"][::2], row["turns"][1::2]) == (said, answers), script
        assert (rewards[row["key"]], row["text"]) == (reward, words[-1] if reward else "")
    assert "the environment failed: broken" in rows[5]["note"]
    assert sum(p.infra_errors for p in result.problems) == 2
    assert "assistant: go\n\nuser: turn 0" in result.examples[1].response
    scorer.away = False
    again = evaluate(Script(), samples, settings, tmp_path, scorer, told := Messages())
    assert [p.reward_mean for p in again.problems[6:]] == [0.5]
    assert "2 samples without an answer are requested again" in told.lines
    other = evaluate(Script(), samples, SETTINGS, tmp_path, scorer, told)
    assert other.problems[2].reward_mean == 0.5 and "7 samples" in told.lines[-2]
    assert regrade(tmp_path, scorer, NullProgress()).changed == 1  # what has no verdict yet


def test_rated_rows_are_played_too(tmp_path: Path) -> None:
    samples = samples_of("go go end", "end")
    with RatingStore(tmp_path) as store:
        for turns, passed in ((3, [0, 1]), (2, [1, 1])):
            settings = replace(SETTINGS, turns=turns)
            policy = rate(Script(), samples, settings, store, InProcess(), NullProgress())
            rows = store.rows(samples, [policy]).values()
            assert [len(row.passed) for row in rows] == passed


@pytest.mark.parametrize(
    ("given", "of_run", "turns"), [(5, 3, 5), (None, 3, 3), (None, None, TURNS)]
)
def test_the_limit_of_turns_is_the_users_else_the_runs_else_that_of_training(
    given: int | None, of_run: int | None, turns: int
) -> None:
    run = Run(Path("runs/x"), {"rollout": {"turns": of_run} if of_run else {}})
    config = load_eval_config(None, {"sampling.turns": given})
    found = settings_of(config, run)
    assert settings_for(samples_of("end"), found).turns == turns
    without = settings_for(make_samples(1), found)
    assert without.turns == TURNS == TrainConfig().rollout.turns
    assert (settings_hash(without) == settings_hash(found)) == (turns == TURNS)
