"""Fakes for tests of the training loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from prorl_datasets import Domain, Sample
from prorl_inference import Completion, Ended, Request, SamplingParams
from prorl_inference.streams import Streaming
from prorl_inference.types import OnDone
from prorl_training.run.folder import RunFolder
from prorl_training.run.metrics import TIMING_KEYS
from prorl_training.types import Group, Trajectory
from prorl_verifiers import Task, Verdict


def named_sample(name: str, domain: Domain = "math") -> Sample:
    return Sample(
        id=name,
        domain=domain,
        prompt=({"role": "user", "content": name},),
        task=Task("math", {"answer": "1"}),
        source="test",
        licence="none",
        split="train",
        metadata={},
    )


def scored_group(name: str, *rewards: float | None, step: int = 0) -> Group:
    """Return a group of responses to ``named_sample(name)`` with these rewards (None: infra error)."""
    completion = Completion("x", (1,), (-1.0,), "stop")
    verdicts = [Verdict(r, "infra_error" if r is None else "scored", "x") for r in rewards]
    policies = ((0, step - 1),)
    trajectories = [
        Trajectory(i, completion, v, v.reward or 0.0, policies=policies)
        for i, v in enumerate(verdicts)
    ]
    return Group(named_sample(name), tuple(trajectories), step)


class ByLength:
    """Scorer that rewards texts whose length is divisible by ``divisor``."""

    def __init__(self, divisor: int = 2) -> None:
        self.divisor = divisor

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        rewards = [float(len(text) % self.divisor == 0) for text, _ in items]
        return [
            Verdict(r, "scored", "length", text)
            for r, (text, _) in zip(rewards, items, strict=True)
        ]


def untimed_metrics(run: RunFolder) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in TIMING_KEYS} for row in run.metrics()]


class EchoGenerator(Streaming):
    """Generator of the completions ``prompt/0``, ``prompt/1``, ..., one token each. Groups end in the order of
    requests.

    - breaks: the second group raises RuntimeError.
    - slow: prompts whose groups end last. When the stream stops, only their first completion is complete.
    - begun, open_at: each prompt's completions, and the number of unfinished groups, when it was submitted.
    """

    model_id = "echo"
    model_digest = ""

    def __init__(
        self, breaks: bool = False, slow: Sequence[str] = (), repeatable: bool = True
    ) -> None:
        self.drawn: list[str] = []
        self.begun: dict[str, tuple[Completion, ...]] = {}
        self.open_at: dict[str, int] = {}
        self.breaks = breaks
        self.slow = slow
        self.repeatable = repeatable

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> EchoStream:
        return EchoStream(self, on_done)

    def sync_weights(self, model: Any) -> None: ...

    def close(self) -> None: ...


class EchoStream:
    rows = 1 << 20

    def __init__(self, generator: EchoGenerator, on_done: OnDone) -> None:
        self.repeatable = generator.repeatable
        self._generator, self._on_done = generator, on_done
        self._open: dict[int, Request] = {}
        self._taken = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.clear()

    @property
    def running(self) -> int:
        return sum(len(request.seeds) for request in self._open.values())

    def submit(self, key: int, request: Request) -> None:
        name = str(request.prompt[0]["content"])
        self._generator.drawn.append(name)
        self._generator.begun[name] = request.begun
        self._generator.open_at[name] = len(self._open)
        self._open[key] = request

    def take(self, wait: float | None = None) -> list[Ended]:
        if not self._open:
            return []
        if self._generator.breaks and self._taken:
            raise RuntimeError("the sampler broke")
        slow = self._generator.slow
        quick = [k for k, r in self._open.items() if r.prompt[0]["content"] not in slow]
        key = min(quick or self._open)
        request = self._open.pop(key)
        self._taken += 1
        if self._on_done is not None:
            self._on_done(len(request.seeds))
        return [(key, [_echo(request, i) for i in range(len(request.seeds))])]

    def stop(self) -> list[Ended]:
        ended = []
        for key, request in self._open.items():
            paused = [Completion("", (7,), (-0.25,), "paused")] * (len(request.seeds) - 1)
            ended.append((key, [_echo(request, 0), *paused]))
        self._open.clear()
        return ended


def _echo(request: Request, index: int) -> Completion:
    return Completion(f"{request.prompt[0]['content']}/{index}", (index,), (-0.5,), "stop")
