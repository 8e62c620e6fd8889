"""Plays the environments of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from prorl_common import derive_seed
from prorl_evaluation.sampling.pipeline import Scorer
from prorl_inference import Completion, Generator, OnResult, Request, SamplingParams
from prorl_verifiers import VERIFIERS, Task, next_task

TURNS = 8
"""Maximum number of responses in a conversation, the default of ``rollout.turns``."""


@dataclass(slots=True)
class _Talk:
    messages: list[Mapping[str, str]]
    seed: int
    task: Task
    state: dict[str, Any] | None = None
    parts: list[Completion] = field(default_factory=list)

    def whole(self) -> Completion:
        texts = [part.text for part in self.parts]
        note = json.dumps(texts) if VERIFIERS.get(self.task.verifier).is_environment else ""
        return replace(
            self.parts[-1],
            token_ids=tuple(token for part in self.parts for token in part.token_ids),
            logprobs=tuple(value for part in self.parts for value in part.logprobs),
            note=self.parts[-1].note or note,
        )


class Player:
    """A generator whose completions are conversations with the environment of each request's task.

    The chat template renders the conversation anew for each turn, and ``max_tokens`` limits each response. A
    completion's text is the last response; its note has all of them as JSON.
    """

    sample_batches = None
    """Batches are sampled one by one."""

    def __init__(self, generator: Generator, scorer: Scorer) -> None:
        self._generator, self._scorer = generator, scorer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        talks = [[_Talk([*r.prompt], seed, r.about) for seed in r.seeds] for r in requests]
        waiting = [talk for group in talks for talk in group]
        for turn in range(TURNS):
            asked = [Request(t.messages, (derive_seed(t.seed, "turn", turn),)) for t in waiting]
            answers = self._generator.generate(asked, params, None if turn else on_done)
            for talk, (completion,) in zip(waiting, answers, strict=True):
                talk.parts.append(completion)
            waiting = [talk for talk in waiting if talk.parts[-1].finish_reason != "refused"]
            items = [(t.parts[-1].text, next_task(t.task, t.state, last=False)) for t in waiting]
            verdicts = list(zip(waiting, self._scorer.score(items), strict=True)) if items else []
            waiting = []
            for talk, verdict in verdicts:
                if verdict.turn is not None:
                    response = {"role": "assistant", "content": talk.parts[-1].text}
                    talk.messages += [response, *verdict.turn.messages]
                    talk.state = verdict.turn.state
                    waiting.append(talk)
            if not waiting:
                break
        results = [[talk.whole() for talk in group] for group in talks]
        for index, completions in enumerate(results):
            if on_result is not None:
                on_result(index, completions)
        return results
