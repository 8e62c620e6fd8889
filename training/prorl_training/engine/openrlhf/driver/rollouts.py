"""Sampling through the vLLM engines' processes, as the loop's ``Generator``.

Leaves out: what the processes do (``actors.rollout``) and moving weights to them (``cluster``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from prorl_common import ServiceError
from prorl_inference import Completion, Request, SamplingParams, encode_prompt
from prorl_inference.tokens import Results, Row, prompt_budget
from prorl_inference.types import OnResult


class Engines(Protocol):
    """The rollout processes: futures in, values out. ``count`` is how many there are."""

    count: int

    def sample(
        self, engine: int, prompt: list[int], seeds: Sequence[int | None], options: dict[str, Any]
    ) -> Any:
        """Return the future of one sample a seed; one without is drawn from the engine's own generator."""
        ...

    def first_done(self, futures: Sequence[Any]) -> Any:
        """Wait for one of ``futures`` and return it."""
        ...

    def result(self, future: Any) -> Any:
        """Wait for a future's value; what the process raised is raised."""
        ...

    def awake(self) -> Any:
        """Return a context manager in which the engines may sample."""
        ...


class ClusterGenerator:
    """Samples with the engines; implements ``Generator``. What shares a batch is vLLM's choice.

    ``context`` is the longest sequence in tokens. ``take_weights`` is called by ``sync_weights``. ``seeded``: each
    request's seeds are handed on (``rollout.request_seeds``).
    """

    model_digest = ""

    def __init__(
        self,
        engines: Engines,
        tokenizer: Any,
        stop_ids: frozenset[int],
        context: int,
        take_weights: Callable[[], None],
        seeded: bool = True,
    ) -> None:
        self.model_id = "cluster"
        self._engines = engines
        self._tokenizer = tokenizer
        self._stop_ids = stop_ids
        self._context = context
        self._take_weights = take_weights
        self._seeded = seeded

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return, for each request, one completion a seed, in order; see ``Generator.generate``.

        Log-probs are NaN where ``top_p`` is below 1: vLLM reports those of the cut distribution.
        """
        params.check()
        results = Results(self._tokenizer, requests, on_done, on_result)
        with self._engines.awake():
            waiting: dict[Any, tuple[int, int]] = {}
            for i, request in enumerate(requests):
                ids = encode_prompt(self._tokenizer, request.prompt)
                budget = prompt_budget(ids, request, params.max_tokens, self._context)
                future = self._engines.sample(
                    i % self._engines.count,
                    ids,
                    list(request.seeds) if self._seeded else [None] * len(request.seeds),
                    self._options(params, budget),
                )
                waiting[future] = (i, budget)
            while waiting:
                future = self._engines.first_done(list(waiting))
                i, budget = waiting.pop(future)
                answers = self._engines.result(future)
                results.ended(self._rows(i, requests[i], budget, answers, params.top_p))
        return results.all()

    def sync_weights(self, model: Any) -> None:
        """Have the engines take over the policy's weights; ``model`` is the cluster."""
        del model
        self._take_weights()

    def close(self) -> None:
        """The engines belong to the run."""

    def _options(self, params: SamplingParams, budget: int) -> dict[str, Any]:
        return {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "max_tokens": budget,
            "stop_token_ids": sorted(self._stop_ids),
            "ignore_eos": True,  # the engine's own end token is in stop_token_ids, if it is one
        }

    def _rows(
        self, index: int, request: Request, budget: int, answers: Sequence[Any], top_p: float
    ) -> list[Row]:
        rows = []
        for j, (seed, answer) in enumerate(zip(request.seeds, answers, strict=True)):
            tokens, logprobs, finish = answer
            if finish not in ("stop", "length"):
                raise ServiceError(f"vLLM ended a sample with '{finish}'")
            row = Row(index, j, seed, budget)
            row.token_ids = list(tokens)
            row.logprobs = list(logprobs) if top_p >= 1.0 else [math.nan] * len(tokens)
            row.stopped = finish == "stop"
            rows.append(row)
        return rows
