"""The words of inference: prompts and sampling parameters in, completions with log-probs out.

Holds no model. Backends implement ``Generator``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from prorl_common import ServiceError, UserError

Messages = Sequence[Mapping[str, str]]
"""Chat messages: each {"role": ..., "content": ...}."""

FinishReason = Literal["stop", "length", "refused", "paused"]
Batching = Literal["fixed", "refill"]
"""How Transformers decodes: batch after batch (bitwise repeatable), or giving the place of a row that
ended to a waiting sample (equal up to float rounding)."""
DEFAULT_BATCH_SIZE = 128
"""Samples that run at once."""


class ModelError(UserError):
    """The model is missing, corrupt or not of a kind that can be used."""


class SampleRefusedError(ServiceError):
    """A server turns a sample down: another server would, too."""


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How to sample. Temperature 0 is greedy. ``max_tokens`` counts generated tokens, end token included."""

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
    """One sampled answer.

    ``token_ids`` and ``logprobs`` have the same length and include the end token when one was sampled;
    log-probs are natural logs under the sampling temperature, before top-p. ``text`` leaves special
    tokens out, and begins with ``<think>`` where the chat template opened it in the prompt.
    ``finish_reason`` is ``length`` when ``max_tokens`` cut the answer, ``refused`` when a server would give
    none: ``text`` is empty then and ``note`` says why; ``paused`` when a stream was stopped before the
    answer's end: ``text`` is empty, and a ``Request`` may go on with it. A server gives no ids or
    log-probs: -1 and NaN.
    """

    text: str
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    note: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and one seed for each sample wanted of it.

    ``begun``: what there is of the samples already, one completion a seed (empty: nothing). ``paused``
    ones are gone on with, their tokens and log-probs kept as they are; the others are returned as given.
    """

    prompt: Messages
    seeds: tuple[int, ...]
    begun: tuple[Completion, ...] = ()


OnResult = Callable[[int, list[Completion]], None]
"""Called with a request's index and its completions once all of them are there."""


Ended = tuple[int, list[Completion]]
"""A request's key and its completions, one a seed."""


class Stream(Protocol):
    """Sampling under way: requests in at any time, completions out as requests become whole.

    A context manager; leaving it drops what still runs. ``rows`` is how many samples run at once, ``running`` how
    many were submitted and have not ended, as far as is known.
    ``repeatable``: what ``take`` returns next depends on the calls made so far and on nothing else, so that
    who decides after each ``take`` by what it returned samples the same again.
    """

    rows: int
    repeatable: bool

    @property
    def running(self) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def submit(self, key: int, request: Request) -> None:
        """Take a request, whose ``key`` no other one of the stream has."""
        ...

    def take(self, wait: float | None = None) -> list[Ended]:
        """Wait until samples end, at most ``wait`` seconds; return the requests that are whole by that, each once, in
        the order in which they became so. There may be none, and are none once nothing runs.

        A backend that samples in the caller's thread may take longer than ``wait``.
        """
        ...

    def stop(self) -> list[Ended]:
        """End sampling and return the requests that no ``take`` returned; samples that had not ended are
        ``paused``."""
        ...


class Generator(Protocol):
    """A backend that samples completions. The result depends on each request's seeds, not on its place
    in the list (bitwise where the batch shape is also the same; see docs/concepts).

    It may also offer ``stream(params, on_done) -> Stream``; see ``prorl_inference.open_stream``.
    """

    model_id: str
    """Name or path of the model."""
    model_digest: str
    """Hash of the weights in use; part of every evaluation journal key."""

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return, for each request, one completion a seed, in order.

        ``on_done(count)`` reports finished completions while working. ``on_result(index, completions)``
        is called in the caller's thread as soon as every sample of a request is there, once a request,
        in the order in which they become whole; what it raises ends the call.
        """
        ...

    def sync_weights(self, model: Any) -> None:
        """Sample from the weights that ``model`` (a Transformers model, peft or not) has now.

        Does nothing where the backend samples from that very model.
        """
        ...

    def close(self) -> None:
        """Free the model."""
        ...
