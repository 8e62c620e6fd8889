"""Sample with the vLLM engines' processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self

from prorl_common import ServiceError
from prorl_inference import Ended, Request, SamplingParams
from prorl_inference.backends.vllm import fresh_seed
from prorl_inference.streams import Streaming
from prorl_inference.tokens import Results, Row
from prorl_inference.types import OnDone

ENGINE_ROWS = 256
"""Number of samples that a vLLM engine runs at once: vLLM's default of ``max_num_seqs``, which OpenRLHF keeps."""
COUNT_SECONDS = 1.0
"""Seconds between queries of the engines' unfinished samples."""
SampleRequest = tuple[list[int], int | None, int]
"""Token ids to continue, seed (None uses the engine's generator) and token budget."""


class Engines(Protocol):
    """The processes of ``count`` vLLM engines, which sample responses."""

    count: int

    def sample(
        self, engine: int, samples: Sequence[SampleRequest], options: Mapping[str, Any]
    ) -> Any: ...

    def stop(self, engine: int) -> Any:
        """Make an engine abort its samples; return a future that is done once they have ended."""

    def sampling(self, engine: int) -> Any:
        """Return a future of the number of unfinished samples of an engine."""

    def done(self, futures: Sequence[Any], wait: float | None) -> list[Any]:
        """Return the finished futures. If none is finished, wait up to ``wait`` seconds for one (None: no limit)."""

    def result(self, future: Any) -> Any:
        """Wait for a future; return its value or raise its exception."""

    def awake(self) -> Any:
        """Return a context manager inside which the engines can sample."""


class ClusterGenerator(Streaming):
    """Samples with the vLLM engines; implements ``Generator``.

    ``context`` is the maximum sequence length in tokens. With ``seeded`` every response is sampled with its own seed.
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
        self.engines = engines
        self.tokenizer = tokenizer
        self.stop_ids = stop_ids
        self.context = context
        self.seeded = seeded
        self._take_weights = take_weights

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> ClusterStream:
        """Return a stream over the engines. Only one may be open at a time."""
        params.check()
        return ClusterStream(self, params, Results(self.tokenizer, on_done))

    def sync_weights(self, model: Any) -> None:
        del model
        self._take_weights()

    def close(self) -> None: ...  # the run owns the engines


class ClusterStream:
    """Sends each request to the least loaded engine; implements ``Stream``."""

    repeatable = False

    def __init__(
        self, generator: ClusterGenerator, params: SamplingParams, results: Results
    ) -> None:
        engines = generator.engines
        self.rows = engines.count * ENGINE_ROWS
        self._generator, self._engines = generator, engines
        self._params, self._results = params, results
        self._options = {
            "temperature": params.temperature,
            "top_p": params.top_p,
            "stop_token_ids": sorted(generator.stop_ids),
            "ignore_eos": True,  # stop_token_ids has every end token
        }
        self._running: dict[Any, tuple[int, list[Row]]] = {}
        self._loads = [0] * engines.count
        self._counted = time.monotonic()
        self._awake = engines.awake()

    def __enter__(self) -> Self:
        self._awake.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self._running:
                self._abort()
                self._running.clear()
        finally:
            self._awake.__exit__(*error)

    @property
    def running(self) -> int:
        return max(sum(self._loads), len(self._running))

    def submit(self, key: int, request: Request) -> None:
        generator = self._generator
        ids, rows = self._results.add(key, request, self._params.max_tokens, generator.context)
        if not rows:
            return
        engine = min(range(self._engines.count), key=lambda i: (self._loads[i], i))
        samples: list[SampleRequest] = [
            (
                [*ids, *row.token_ids],
                fresh_seed(row) if generator.seeded else None,
                row.budget - len(row.token_ids),
            )
            for row in rows
        ]
        self._running[self._engines.sample(engine, samples, self._options)] = engine, rows
        self._loads[engine] += len(rows)

    def take(self, wait: float | None = None) -> list[Ended]:
        if self._running:
            at_most = COUNT_SECONDS if wait is None else min(wait, COUNT_SECONDS)
            for future in self._engines.done(list(self._running), at_most):
                self._results.ended(self._finish(future, may_stop=False))
        if time.monotonic() - self._counted >= COUNT_SECONDS:
            counts = [self._engines.sampling(engine) for engine in range(self._engines.count)]
            self._loads = [int(self._engines.result(future)) for future in counts]
            self._counted = time.monotonic()
        return self._results.whole()

    def stop(self) -> list[Ended]:
        self._abort()
        for future in list(self._running):
            self._results.ended(self._finish(future, may_stop=True))
        return self._results.paused()

    def _abort(self) -> None:
        busy = sorted({engine for engine, _ in self._running.values()})
        for future in [self._engines.stop(engine) for engine in busy]:
            self._engines.result(future)

    def _finish(self, future: Any, may_stop: bool) -> list[Row]:
        engine, rows = self._running.pop(future)
        unfinished = sum(len(rows) for number, rows in self._running.values() if number == engine)
        self._loads[engine] = min(self._loads[engine], unfinished)
        ended = []
        for row, (tokens, logprobs, finish) in zip(rows, self._engines.result(future), strict=True):
            if finish not in ("stop", "length") and not (may_stop and finish == "abort"):
                raise ServiceError(f"vLLM stopped a sample early: finish reason {finish}")
            row.token_ids += tokens
            row.logprobs += logprobs if self._params.top_p >= 1.0 else [math.nan] * len(tokens)
            row.stopped = finish == "stop"
            if finish != "abort":
                ended.append(row)
        return ended
