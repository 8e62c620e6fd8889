"""Sample with several workers as if they were one generator."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, Protocol

from prorl_common import Closing, ServiceError, UserError
from prorl_inference.backends.openai.protocol import Usage
from prorl_inference.streams import generate_all
from prorl_inference.types import Completion, Generator, OnResult, Request, SamplingParams
from prorl_inference.workers.call import Call, OnBatchDone, OnBatchResult, Worker
from prorl_inference.workers.work import UNTRIED_SECONDS, SharedWork


class BatchSampler(Protocol):
    """A generator that can sample many batches at once."""

    def sample_batches(
        self,
        batches: Iterable[Sequence[Request]],
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
    ) -> None:
        """Sample every batch. Callbacks run in the caller's thread."""

    def unit(self, samples: int) -> int | None:
        """Return the number of samples that a worker takes at a time, or None if it takes a whole batch."""


def sample_batches(
    generator: Generator,
    batches: Iterable[Sequence[Request]],
    params: SamplingParams,
    on_done: OnBatchDone,
    on_result: OnBatchResult,
) -> None:
    """Sample all batches, at once if ``generator`` is a ``BatchSampler``, else one after another."""
    sample_all = getattr(generator, "sample_batches", None)
    if sample_all is not None:
        sample_all(batches, params, on_done, on_result)
        return
    for number, requests in enumerate(batches):
        done, record = partial(on_done, number), partial(on_result, number)
        generate_all(generator, requests, params, done, record)


class SamplingPool(Closing):
    """Samples with several workers; implements ``Generator`` and ``BatchSampler``.

    A call fails if no worker is available for ``patience`` seconds. ``whole_batches``: a worker takes a whole batch at
    a time. ``stop_at_refusal``: a sample that every server refuses ends the call.
    """

    def __init__(
        self,
        workers: Sequence[Worker],
        model_id: str,
        model_digest: str,
        tell: Callable[[str], None] = lambda _: None,
        patience: float = 600.0,
        whole_batches: bool = False,
        stop_at_refusal: bool = False,
    ) -> None:
        self.workers = tuple(workers)
        self.model_id, self.model_digest = model_id, model_digest
        self._tell, self._patience, self._whole_batches = tell, patience, whole_batches
        self._stop_at_refusal = stop_at_refusal

    @property
    def usage(self) -> Usage | None:
        """Total usage of all servers, or None if there are no servers."""
        reported = [getattr(worker.generator, "usage", None) for worker in self.workers]
        usages = [usage for usage in reported if isinstance(usage, Usage)]
        if not usages:
            return None
        names = [f.name for f in fields(Usage) if f.name != "price"]
        return Usage(
            usages[0].price,
            **{name: sum(getattr(usage, name) for usage in usages) for name in names},
        )

    def unit(self, samples: int) -> int | None:
        if self._whole_batches:
            return None
        if all(worker.returns for worker in self.workers):
            return 1
        return max(1, max(w.rows for w in self.workers), samples // (4 * len(self.workers)))

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        results: dict[int, list[Completion]] = {}

        def done(_: int | None, count: int) -> None:
            if on_done is not None:
                on_done(count)

        def result(number: int, _: int, completions: list[Completion]) -> None:
            results[number] = completions
            if on_result is not None:
                on_result(number, completions)

        self.sample_batches([[request] for request in requests], params, done, result)
        return [results[number] for number in range(len(requests))]

    def prepare(self) -> None:
        """Load the models of all workers in parallel. Raises the first error, but a ServiceError only when it samples."""
        outcomes: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

        def load(worker: Worker) -> None:
            try:
                worker.generator = worker.generator or worker.open()
                prepare = getattr(worker.generator, "prepare", None)
                if prepare is not None:
                    prepare()
            except ServiceError:  # reported, and tried again, when it samples
                outcomes.put(None)
            except BaseException as error:  # noqa: BLE001 - raised again below
                outcomes.put(error)
            else:
                outcomes.put(None)

        loadable = [w for w in self.workers if w.generator is not None or not w.returns]
        for worker in loadable:
            threading.Thread(target=load, args=(worker,), daemon=True).start()
        for _ in loadable:
            if (error := outcomes.get()) is not None:
                raise error

    def sample_batches(
        self,
        batches: Iterable[Sequence[Request]],
        params: SamplingParams,
        on_done: OnBatchDone,
        on_result: OnBatchResult,
    ) -> None:
        """Sample all batches. Results that arrived before an error are still reported.

        Raises ServiceError if no worker is available, SampleRefusedError, or another error of a worker.
        """
        params.check()
        servers = all(worker.returns for worker in self.workers)
        work = SharedWork(batches, untried=UNTRIED_SECONDS if servers else math.inf)
        callbacks = (on_done, on_result, self._tell)
        Call(self.workers, work, params, *callbacks, self._patience, self._stop_at_refusal).run()

    def sync_weights(self, model: Any) -> None:
        raise UserError("workers cannot load new weights: sample with one device")

    def close(self) -> None:
        for worker in self.workers:
            if worker.generator is not None:
                worker.generator.close()
                worker.generator = None
