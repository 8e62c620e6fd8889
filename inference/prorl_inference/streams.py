"""Helpers for streams, and a stream for backends that do not provide one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from prorl_common import PluginError
from prorl_inference.types import (
    Completion,
    Ended,
    Generator,
    OnDone,
    OnResult,
    Request,
    SamplingParams,
    Stream,
)


def sample_all(
    stream: Stream, requests: Sequence[Request], on_result: OnResult | None = None
) -> list[list[Completion]]:
    """Sample all ``requests``; return the completions of each request, one per seed."""
    results: dict[int, list[Completion]] = {}
    with stream:
        for index, request in enumerate(requests):
            stream.submit(index, request)
        while (ended := stream.take()) or stream.running:
            for index, completions in ended:
                results[index] = completions
                if on_result is not None:
                    on_result(index, completions)
    return [results[index] for index in range(len(requests))]


class Streaming(ABC):
    """Base of generators that sample through a stream."""

    @abstractmethod
    def stream(self, params: SamplingParams, on_done: OnDone = None) -> Stream: ...

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: OnDone = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """See ``Generator.generate``. Raises UserError for prompts that fill the context or parameters out of range."""
        return sample_all(self.stream(params, on_done), requests, on_result)


def generate_all(
    generator: Generator,
    requests: Sequence[Request],
    params: SamplingParams,
    on_done: OnDone,
    on_result: OnResult,
) -> None:
    """Sample ``requests`` with ``generator``. Raises PluginError if some completions are missing."""
    reported = 0

    def record(index: int, completions: list[Completion]) -> None:
        nonlocal reported
        reported += 1
        if len(completions) != (seeds := len(requests[index].seeds)):
            raise PluginError(
                f"the backend returned {len(completions)} completions for {seeds} seeds: it must return one per seed"
            )
        on_result(index, completions)

    generator.generate(requests, params, on_done, record)
    if reported != len(requests):
        raise PluginError(
            f"the backend's generate called on_result(index, completions) {reported} times for "
            f"{len(requests)} requests: it must call it once per request"
        )


def open_stream(generator: Generator, params: SamplingParams, on_done: OnDone = None) -> Stream:
    """Return ``generator.stream(params, on_done)``, or a ``ListStream`` if there is no such method.

    ``on_done(count)`` is called inside ``take`` with the number of ended samples. Raises UserError for parameters out
    of range.
    """
    params.check()
    factory: Any = getattr(generator, "stream", None)
    if factory is None:
        return ListStream(generator, params, on_done)
    stream: Stream = factory(params, on_done)
    return stream


class ListStream:
    """A stream for generators without a ``stream`` method. ``take`` samples all waiting requests."""

    rows = 1 << 20
    repeatable = False

    def __init__(
        self, generator: Generator, params: SamplingParams, on_done: OnDone = None
    ) -> None:
        self._generator, self._params, self._on_done = generator, params, on_done
        self._waiting: dict[int, Request] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._waiting.clear()

    @property
    def running(self) -> int:
        return sum(len(request.seeds) for request in self._waiting.values())

    def submit(self, key: int, request: Request) -> None:
        """Add a request. Samples that have begun are not supported."""
        self._waiting[key] = request

    def take(self, wait: float | None = None) -> list[Ended]:
        """Sample all waiting requests completely. ``wait`` is ignored."""
        del wait
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return []
        keys, ended = list(waiting), list[Ended]()

        def record(index: int, completions: list[Completion]) -> None:
            ended.append((keys[index], completions))

        requests = list(waiting.values())
        generate_all(self._generator, requests, self._params, self._on_done, record)
        return ended

    def stop(self) -> list[Ended]:
        waiting, self._waiting = self._waiting, {}
        untouched = Completion("", (), (), "paused")
        return [(key, [untouched] * len(request.seeds)) for key, request in waiting.items()]
