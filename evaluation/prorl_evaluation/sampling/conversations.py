"""Plays the environments of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prorl_common import derive_seed
from prorl_common.seeds import TURNS
from prorl_datasets import Sample
from prorl_evaluation.sampling.journal import Problem
from prorl_evaluation.sampling.pipeline import Scorer
from prorl_evaluation.types import EvalSettings
from prorl_inference import Completion, Generator, Messages, OnResult, Request, SamplingParams
from prorl_verifiers import VERIFIERS, Task, Verdict, next_task
from prorl_verifiers.types import State


def are_played(problems: Iterable[Problem | Sample]) -> bool:
    """Return whether the verifier of a problem is an environment."""
    return any(VERIFIERS.get(problem.task.verifier).is_environment for problem in problems)


def settings_for(
    problems: Iterable[Problem | Sample], settings: EvalSettings, **changes: Any
) -> EvalSettings:
    """Return changed settings. Without an environment, ``turns`` is the default, so that results can be compared."""
    turns = settings.turns if are_played(problems) else TURNS
    return replace(settings, turns=turns, **changes)


@dataclass(slots=True)
class _Talk:
    prompt: Messages
    seed: int
    task: Task
    state: State | None = None
    parts: list[Completion] = field(default_factory=list)
    turns: list[Mapping[str, str]] = field(default_factory=list)
    """The messages after the prompt."""

    @property
    def played(self) -> bool:
        return VERIFIERS.get(self.task.verifier).is_environment

    def say(self, part: Completion) -> bool:
        """Add a response; return whether an environment may answer it. An empty one says that the context is full."""
        if self.parts and part.finish_reason == "length" and not part.token_ids:
            while self.turns[-1]["role"] != "assistant":
                self.turns.pop()
            return False
        self.parts.append(part)
        self.turns.append({"role": "assistant", "content": part.text})
        return self.played and part.finish_reason == "stop"

    def answer(self, verdict: Verdict) -> bool:
        """Add what an environment answered; return whether the conversation goes on."""
        if verdict.is_infra_error:
            why = f"the environment failed: {verdict.reason}"
            self.parts = [Completion("", (), (), "refused", note=why)]
        if verdict.turn is None:
            return False
        self.state = verdict.turn.state
        self.turns += verdict.turn.messages
        return True

    def whole(self) -> Completion:
        return replace(
            self.parts[-1],
            token_ids=tuple(token for part in self.parts for token in part.token_ids),
            logprobs=tuple(value for part in self.parts for value in part.logprobs),
            turns=self.turns if self.played else (),
        )


class Player:
    """A generator whose completions are conversations with the environment of each request's task.

    The chat template renders the conversation anew for each turn, and ``max_tokens`` limits each response; one that it
    cuts is the last. Completions have ``turns``.
    """

    sample_batches = None
    """Batches are sampled one by one."""

    def __init__(self, generator: Generator, scorer: Scorer, turns: int) -> None:
        self._generator, self._scorer, self._turns = generator, scorer, turns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        talks = [
            [_Talk(request.prompt, seed, request.about) for seed in request.seeds]
            for request in requests
        ]
        waiting = [talk for group in talks for talk in group]
        for turn in range(self._turns):
            asked = [
                Request(
                    [*t.prompt, *t.turns], (derive_seed(t.seed, "turn", turn),), follows=turn > 0
                )
                for t in waiting
            ]
            answers = self._generator.generate(asked, params, None if turn else on_done)
            said = zip(waiting, answers, strict=True)
            waiting = [talk for talk, (completion,) in said if talk.say(completion)]
            if not waiting or turn + 1 == self._turns:
                break
            items = [(t.parts[-1].text, next_task(t.task, t.state, last=False)) for t in waiting]
            verdicts = zip(waiting, self._scorer.score(items), strict=True)
            waiting = [talk for talk, verdict in verdicts if talk.answer(verdict)]
            if not waiting:
                break
        results = [[talk.whole() for talk in group] for group in talks]
        for index, completions in enumerate(results):
            if on_result is not None:
                on_result(index, completions)
        return results
