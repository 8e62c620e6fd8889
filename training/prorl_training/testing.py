"""Fakes for tests of the loop: problems known by a name and a generator that echoes them.

Not for use outside tests: nothing is learned from an echo. Models are in ``prorl_inference.testing``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from prorl_datasets import Domain, Sample
from prorl_inference import Completion, Request, SamplingParams
from prorl_verifiers import Task


def named_sample(name: str, domain: Domain = "math") -> Sample:
    """Return a training problem whose id and prompt are ``name``."""
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


class EchoGenerator:
    """Answers a prompt with ``prompt/0``, ``prompt/1``, ...: one token each; groups finish last to first.

    ``draws`` holds how many prompts each call had. With ``breaks`` every call raises RuntimeError after
    its first finished group.
    """

    model_id = "echo"
    model_digest = ""

    def __init__(self, breaks: bool = False) -> None:
        self.draws: list[int] = []
        self.breaks = breaks

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        """Return one completion a seed."""
        self.draws.append(len(requests))
        answers = [
            [
                Completion(f"{request.prompt[0]['content']}/{i}", (i,), (-0.5,), "stop")
                for i in range(len(request.seeds))
            ]
            for request in requests
        ]
        for i in reversed(range(len(requests))):
            if on_result is not None:
                on_result(i, answers[i])
            if self.breaks:
                raise RuntimeError("the sampler broke")
        if on_done is not None:
            on_done(len(answers))
        return answers

    def sync_weights(self, model: Any) -> None:
        """Nothing to take over."""

    def close(self) -> None:
        """Nothing to free."""
