"""Doubles for tests of several packages: progress, clock, scorer, model and data folders, and a command runner."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest import MonkeyPatch

from prorl_common import NullProgress, plugins
from prorl_datasets import Sample
from prorl_verifiers import VERIFIERS, Task, Verdict, VerifierPool, load_task, next_task
from prorl_verifiers.pool.protocol import read_reply, result_frame

RECIPE = """
name: tiny
description: sums
seed: 1
decontamination: {{benchmarks: []}}
entries:
  - {{name: sums, domain: math, source: {{kind: procedural, family: add, levels: [1]}},
     count: {{train: {train}, validation: {validation}, test: {test}}}}}
"""


PARITY = """
from prorl_verifiers import EnvironmentSpec

def step(state, response):
    state["texts"].append(response)
    if len(response) % 3 == 0:
        return state, None
    return state, [{"role": "user", "content": f"{len(response)}?"}]

SPEC = EnvironmentSpec(
    name="parity",
    start=lambda reference: ({"texts": []}, []),
    step=step,
    score_state=lambda state: float(sum(map(len, state["texts"])) % 2),
)
"""
"""An environment that ends a conversation by the length of a response."""


class Messages(NullProgress):
    """Progress that keeps its messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)


class Clock:
    """A clock that tests advance."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class InProcess:
    """Scores with each task's verifier in this process; the response "down" gets no verdict while ``away``."""

    away = True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.asked += [text for text, _ in items]
        return [self._verdict(text, task) for text, task in items]

    def _verdict(self, text: str, task: Task) -> Verdict:
        if text == "down" and self.away:
            return Verdict(None, "infra_error", "down")
        score = VERIFIERS.get(task.verifier).score
        assert score is not None
        reference = json.loads(task.reference_json())
        try:
            frame = result_frame(score(text, reference))
        except RuntimeError as error:
            return Verdict(None, "infra_error", str(error))
        return read_reply(frame, "this process")[0]


class ByText:
    """Give rewards that depend on the text only; no verdict while ``away``."""

    away = False

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        if self.away:
            return [Verdict(None, "infra_error", "down")] * len(items)
        return [Verdict(float(sum(text.encode()) % 2), "scored", "rule") for text, _ in items]


def write_data(root: Path, train: int = 4, validation: int = 2, test: int = 3) -> Path:
    """Write the recipe ``tiny.yaml`` and its dataset ``data/tiny`` into ``root``."""
    from prorl_datasets import build, load_recipe

    file = root / "tiny.yaml"
    file.write_text(RECIPE.format(train=train, validation=validation, test=test))
    build(load_recipe(str(file)), root / "data" / "tiny", progress=NullProgress())
    return root


def write_model(folder: Path, **size: int) -> Path:
    """Write a tiny model and its tokenizer into ``folder``."""
    from prorl_inference.testing import byte_tokenizer, tiny_model

    tiny_model(**size).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def invoke(*words: str) -> Any:
    """Run ``prorl`` in this process; raise an exception that it did not handle."""
    from typer.testing import CliRunner

    from prorl_cli.main import build_app

    result = CliRunner().invoke(build_app(), list(words))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def tool_call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def played(samples: Sequence[Sample], folder: Path, monkeypatch: MonkeyPatch) -> list[Sample]:
    """Return the samples as tasks of PARITY, which is loaded as a plug-in."""
    monkeypatch.setattr(plugins, "_LOADED", plugins._Loaded())
    (folder / "parity.py").write_text(PARITY)
    plugins.use_plugins([folder / "parity.py"])
    return [replace(sample, task=Task("parity", {})) for sample in samples]


TALK = [
    {"role": "assistant", "content": tool_call("calculator", expression="2+2")},
    {"role": "tool", "content": "4"},
    {"role": "assistant", "content": "\\boxed{4}"},
]
"""A conversation with the environment ``tool-arithmetic``, whose answer is 4."""


def converse(
    pool: VerifierPool,
    name: str,
    reference: Mapping[str, Any],
    responses: Sequence[str],
    before: Callable[[int], object] = lambda turn: None,
) -> tuple[Verdict, list[str]]:
    """Play an environment until the last response. Return the last verdict and the environment's messages."""
    task, state, messages = load_task(name, reference), None, list[str]()
    for turn, response in enumerate(responses):
        before(turn)
        last = turn == len(responses) - 1
        verdict = pool.score([(response, next_task(task, state, last))])[0]
        if verdict.turn is None:
            break
        state = verdict.turn.state
        messages += [message["content"] for message in verdict.turn.messages]
    return verdict, messages
