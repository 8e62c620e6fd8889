"""Fake problems, generator and scorer for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from prorl_datasets import Domain, Sample
from prorl_inference import Completion, FinishReason, Request, SamplingParams
from prorl_verifiers import Task, Verdict


def make_samples(count: int, domain: Domain = "math", start: int = 0) -> list[Sample]:
    return [
        Sample(
            id=f"{domain}-{i}",
            domain=domain,
            prompt=({"role": "user", "content": f"{domain} question {i}"},),
            task=Task("math", {"answer": "yes"}),
            source="test",
            licence="CC0-1.0",
            split="test",
        )
        for i in range(start, start + count)
    ]


@dataclass
class FakeGenerator:
    """Answers "yes" for ``percent`` % of seeds and else "no", each with a hash of the batch's seeds."""

    model_id: str = "fake"
    model_digest: str = "d1"
    percent: int = 40
    interrupt_at: int = 0
    calls: int = 0
    batches: list[tuple[int, ...]] = field(default_factory=list)

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        self.calls += 1
        if self.calls == self.interrupt_at:
            raise KeyboardInterrupt
        batch = tuple(seed for r in requests for seed in r.seeds)
        self.batches.append(batch)
        answers = [[self._answer(seed, hash(batch)) for seed in r.seeds] for r in requests]
        if on_done is not None:
            on_done(len(batch))
        if on_result is not None:
            for i, answer in enumerate(answers):
                on_result(i, answer)
        return answers

    def _answer(self, seed: int, batch: int) -> Completion:
        word = "yes" if seed % 100 < self.percent else "no"
        cut: FinishReason = "length" if seed % 7 == 0 else "stop"
        return Completion(f"{word} {batch}", (1, 2, 3), (-0.5, -0.25, -0.25), cut)

    def sync_weights(self, model: Any) -> None: ...

    def close(self) -> None: ...


@dataclass
class FakeScorer:
    """Gives reward 1 to "yes", and an infra error to responses that start with ``broken``."""

    broken: str | None = None
    scored: int = 0

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        self.scored += len(items)
        return [self._verdict(text, task) for text, task in items]

    def _verdict(self, text: str, task: Task) -> Verdict:
        if self.broken is not None and text.startswith(self.broken):
            return Verdict(None, "infra_error", "worker died", isolation="fake")
        right = text.startswith(str(task.reference["answer"]))
        return Verdict(float(right), "scored", "compared", extracted=text[:3], isolation="fake")
