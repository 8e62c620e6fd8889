"""Requests, sampling parameters, completions, and the interfaces of generators and streams."""

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
"""``fixed`` batches are bitwise repeatable. ``refill`` fills free rows at once and is repeatable up to rounding."""
DEFAULT_BATCH_SIZE = 128
"""Default number of samples that run at once."""


class ModelError(UserError):
    """Raised if a model is missing, corrupt or unsupported."""


class SampleRefusedError(ServiceError):
    """Raised if all available servers refuse a sample."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """Parameters of sampling. Temperature 0 is greedy. ``max_tokens`` includes the end token."""

    temperature: float = 1.0
    top_p: float = 1.0
    max_tokens: int = 256

    def check(self) -> None:
        """Raise UserError if a parameter is out of range."""
        if not 0.0 <= self.temperature < float("inf"):
            raise UserError(f"temperature is {self.temperature}: it must be 0 (greedy) or more")
        if not 0.0 < self.top_p <= 1.0:
            raise UserError(f"top_p is {self.top_p}: it must be above 0 and at most 1")
        if self.max_tokens < 1:
            raise UserError(f"max_tokens is {self.max_tokens}: it must be at least 1")


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled completion.

    - ``text``: text without special tokens. Includes ``<think>`` if the chat template put this tag into the prompt.
    - ``token_ids``, ``logprobs``: a value per token, including the end token (-1 and NaN from a server). Log-probs are
      natural logs after temperature, before top-p.
    - ``given``: ranges (start, stop) of tokens that an environment wrote. ``text`` begins after the last range.
    - ``turns``: the messages after the prompt, if a caller has played a conversation. The last one is ``text``.
    - ``finish_reason``: ``stop`` (end token), ``length`` (``max_tokens``), ``refused`` (by a server; see ``note``) or
      ``paused``. Refused and paused completions have an empty ``text``.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    note: str = ""
    turns: Messages = ()
    given: tuple[tuple[int, int], ...] = ()

    @property
    def sampled_tokens(self) -> int:
        """Number of sampled tokens, without those that an environment wrote."""
        return len(self.token_ids) - sum(stop - start for start, stop in self.given)

    def sampled(self, values: Sequence[T]) -> Sequence[T]:
        """Return those of ``values``, one per token, that belong to sampled tokens."""
        if not self.given:
            return values
        return [values[i] for i in sampled_at(len(values), self.given)]

    def answered(self, token_ids: Sequence[int]) -> Completion:
        """Append the tokens of an environment's answer. Returns a ``paused`` completion, which can be continued."""
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
    """Return the indices below ``count`` outside the ranges (start, stop) in ``given``."""
    if not given:
        return range(count)
    inside = {i for start, stop in given for i in range(start, stop)}
    return [i for i in range(count) if i not in inside]


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt, and a seed for each of its samples.

    ``begun`` is empty or has one completion per seed. Paused ones are continued, others are returned unchanged.
    """

    prompt: Messages
    seeds: tuple[int, ...]
    begun: tuple[Completion, ...] = ()
    about: Any = None
    """Data for the caller's own generator; ignored by others."""
    follows: bool = False
    """Whether the prompt goes on after an earlier response. If it then fills the context, completions are empty."""

    @property
    def prompt_start(self) -> str:
        """Start of the last message, to identify the prompt in messages."""
        return " ".join(str(self.prompt[-1]["content"]).split())[:60] if self.prompt else ""

    @property
    def missing(self) -> int:
        """The number of samples that have not ended."""
        ended = sum(completion.finish_reason != "paused" for completion in self.begun)
        return len(self.seeds) - ended

    def check_fresh(self) -> None:
        """Raise UserError if a sample has begun, for generators that cannot continue samples."""
        if any(c.token_ids or c.finish_reason != "paused" for c in self.begun):
            raise UserError(
                "this backend cannot continue samples that have begun: leave Request.begun empty"
            )


OnDone = Callable[[int], None] | None
"""Called with the number of samples that have ended."""
OnResult = Callable[[int, list[Completion]], None]
"""Called with a request's index and its completions when they are complete."""


Ended = tuple[int, list[Completion]]
"""A request's key and its completions, one per seed."""


class Stream(Protocol):
    """Samples requests that can be added at any time. Use it in a ``with`` block.

    ``rows`` is how many samples run at once, ``running`` how many are unfinished. If ``repeatable``, results do not
    depend on timing.
    """

    rows: int
    repeatable: bool

    @property
    def running(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, key: int, request: Request) -> None:
        """Add a request under a ``key`` that is unique in the stream."""

    def take(self, wait: float | None = None) -> list[Ended]:
        """Return the requests completed since the last call. Waits for samples to end, for about ``wait`` seconds."""

    def stop(self) -> list[Ended]:
        """Stop sampling. Returns all requests that ``take`` has not returned; unfinished samples are ``paused``."""


@runtime_checkable
class ContinuingStream(Protocol):
    """A stream whose samples continue when ``sync_weights`` is called between two calls of ``take``."""

    def lengths(self, key: int) -> list[int]:
        """Return how many tokens each sample of a request in progress has."""


class Generator(Protocol):
    """Interface of a backend that samples completions. It may also have a method ``stream(params, on_done) -> Stream``.

    A sample depends on its seed, not on other requests, up to rounding.
    """

    model_id: str
    """Name or path of the model."""
    model_digest: str
    """Hash of the current weights. It is part of the keys of evaluation journals."""

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return the completions of each request, one per seed, in order.

        ``on_done(count)`` is called when ``count`` samples have ended, ``on_result(index, completions)`` when a request
        is complete. Both are called in the caller's thread.
        """

    def sync_weights(self, model: Any) -> None:
        """Sample from the current weights of ``model``, a Transformers or peft model."""

    def close(self) -> None:
        """Free the model."""


@runtime_checkable
class SleepingGenerator(Protocol):
    """A generator that can free its GPU memory during an update of the weights."""

    def sleep(self) -> None:
        """Free GPU memory until ``sync_weights`` is called. No samples may be in progress."""
