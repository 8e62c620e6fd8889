"""Requests, sampling parameters, completions, streams and generators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, TypeVar, runtime_checkable

from prorl_common import ServiceError, UserError

T = TypeVar("T")
Messages = Sequence[Mapping[str, str]]
"""Chat messages: each {"role": ..., "content": ...}."""

FinishReason = Literal["stop", "length", "refused", "paused"]
Batching = Literal["fixed", "refill"]
"""How Transformers decodes. ``fixed`` batches are bitwise repeatable. ``refill`` starts a waiting sample as soon as
another ends; its results are equal up to float rounding.
"""
DEFAULT_BATCH_SIZE = 128
"""Default number of samples run at once."""


class ModelError(UserError):
    """The model is missing, corrupt or of an unsupported kind."""


class SampleRefusedError(ServiceError):
    """Sampling stopped because a server, or every server, refused a sample."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Parameters of sampling. Temperature 0 is greedy. ``max_tokens`` includes the end token."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 256

    def check(self) -> None:
        """Raise UserError naming the first parameter that is out of range."""
        if not 0.0 <= self.temperature < float("inf"):
            raise UserError(f"temperature is {self.temperature}: it must be 0 (greedy) or more")
        if not 0.0 < self.top_p <= 1.0:
            raise UserError(f"top_p is {self.top_p}: it must be above 0 and at most 1")
        if self.max_tokens < 1:
            raise UserError(f"max_tokens is {self.max_tokens}: it must be at least 1")


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled completion.

    - ``text``: without special tokens; starts with ``<think>`` if the chat template put that tag into the prompt.
    - ``token_ids``, ``logprobs``: include the end token if it was sampled. A server gives -1 and NaN for each token.
      Log-probs are natural logs after temperature scaling, before top-p.
    - ``given``: ranges (start, stop) of tokens that an environment wrote. Their log-probs are 0 and mean nothing;
      ``text`` holds only what was sampled after these tokens.
    - ``finish_reason``: ``length`` at ``max_tokens``, ``refused`` if a server refused (see ``note``), ``paused`` if the
      stream was stopped. Refused and paused completions have an empty ``text``.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    note: str = ""
    given: tuple[tuple[int, int], ...] = ()

    @property
    def sampled_tokens(self) -> int:
        """The number of tokens that were sampled."""
        return len(self.token_ids) - sum(stop - start for start, stop in self.given)

    def sampled(self, values: Sequence[T]) -> Sequence[T]:
        """Return the ``values`` (one per token) of sampled tokens."""
        if not self.given:
            return values
        return [values[i] for i in sampled_at(len(values), self.given)]

    def answered(self, token_ids: Sequence[int]) -> Completion:
        """Return the completion with the tokens of an environment's answer, ``paused`` so that it can be resumed."""
        start, count = len(self.token_ids), len(token_ids)
        return replace(
            self,
            text="",
            token_ids=(*self.token_ids, *token_ids),
            logprobs=(*self.logprobs, *[0.0] * count),
            finish_reason="paused",
            given=(*self.given, (start, start + count)),
        )


def sampled_at(count: int, given: Sequence[tuple[int, int]]) -> Sequence[int]:
    """Return the indices below ``count`` that are in none of the ranges ``given``."""
    if not given:
        return range(count)
    inside = {i for start, stop in given for i in range(start, stop)}
    return [i for i in range(count) if i not in inside]


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and a seed for each sample.

    ``begun`` is empty, or has a completion per seed. Paused completions are resumed, others returned unchanged.
    """

    prompt: Messages
    seeds: tuple[int, ...]
    begun: tuple[Completion, ...] = ()
    about: Any = None
    """Data of the caller for its own generator; other generators ignore it."""

    @property
    def prompt_start(self) -> str:
        """The start of the last message, which identifies the prompt to the user."""
        return " ".join(str(self.prompt[-1]["content"]).split())[:60] if self.prompt else ""

    def check_fresh(self) -> None:
        """Raise UserError if a sample has begun. Called by generators that cannot resume samples."""
        if any(c.token_ids or c.finish_reason != "paused" for c in self.begun):
            raise UserError(
                "this backend cannot resume samples that have begun: leave Request.begun empty"
            )


OnResult = Callable[[int, list[Completion]], None]
"""Called with a request's index and its completions when all its samples have ended."""


Ended = tuple[int, list[Completion]]
"""A request's key and its completions, one per seed."""


class Stream(Protocol):
    """Samples requests that are added at any time, and returns each request when its samples have ended.

    Leaving the stream's ``with`` block drops unfinished samples. ``rows`` is the number of samples run at once,
    ``running`` the number of unfinished samples. If ``repeatable``, results depend on the calls made, not on timing.
    """

    rows: int
    repeatable: bool

    @property
    def running(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, key: int, request: Request) -> None:
        """Add a request. ``key`` must be unique in the stream."""

    def take(self, wait: float | None = None) -> list[Ended]:
        """Wait up to ``wait`` seconds for samples to end; return the requests completed since the last call.

        A backend that samples in the caller's thread may take longer.
        """

    def stop(self) -> list[Ended]:
        """Stop sampling; return all requests that ``take`` has not returned, with unfinished samples ``paused``."""


@runtime_checkable
class ContinuingStream(Protocol):
    """A stream whose samples continue when their generator's ``sync_weights`` is called between two calls of ``take``."""

    def lengths(self, key: int) -> list[int]:
        """Return how many tokens each sample of a request in progress has."""


class Generator(Protocol):
    """A backend that samples completions. It may offer ``stream(params, on_done) -> Stream``.

    Results depend on a request's seeds, not on the other requests (bitwise for equal batch shapes; see
    docs/concepts).
    """

    model_id: str
    """Name or path of the model."""
    model_digest: str
    """Hash of the weights in use, which is part of every evaluation journal key."""

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return one completion per seed for each request, in order.

        ``on_done(count)`` reports finished completions. ``on_result(index, completions)`` is called in the caller's
        thread for each complete request. An exception in ``on_result`` ends the call.
        """

    def sync_weights(self, model: Any) -> None:
        """Sample from the current weights of ``model``, a Transformers or peft model."""

    def close(self) -> None:
        """Free the model."""


@runtime_checkable
class SleepingGenerator(Protocol):
    """A generator that can free its device memory during an update."""

    def sleep(self) -> None:
        """Free memory until ``sync_weights``. No samples may be running."""
