"""Batched sampling from a Transformers model."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast, get_args

from prorl_common import UserError
from prorl_inference.backends.transformers.decoding import check_decoding, decode_batch
from prorl_inference.backends.transformers.refill import Queue, can_refill, decode_refilled
from prorl_inference.models.loading import (
    load_model,
    model_digest,
    pick_device,
    pick_dtype,
    require_local_extra,
)
from prorl_inference.models.store import resolve_model
from prorl_inference.streams import Streaming
from prorl_inference.tokens import (
    PromptRows,
    Results,
    Row,
    stop_token_ids,
)
from prorl_inference.types import (
    DEFAULT_BATCH_SIZE,
    Batching,
    Ended,
    OnDone,
    Request,
    SamplingParams,
)

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


_WORTH_PACKING = 256
"""Minimum number of tokens to sample for which :func:`packed_weights` saves time."""


class TransformersGenerator(Streaming):
    """Samples from a loaded model; implements ``Generator``.

    The model is in eval mode while sampling. The caller must update ``model_digest`` when it changes the weights.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        device: str | torch.device | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        model_id: str = "",
        model_digest: str = "",
        batching: Batching = "fixed",
    ) -> None:
        """Use a loaded model, moved to ``device`` if given. Raises ModelError if sampling would be wrong."""
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}: it must be at least 1")
        if batching not in get_args(Batching):
            raise UserError(f"batching is '{batching}': it must be fixed or refill")
        self._model = cast(Any, model)  # the stubs of Transformers' `to` take no device
        if device is not None:
            self._model.to(device)
        if self._model.device.type == "cpu":
            # Forward passes over more than one token give exactly the results of ``sdpa``.
            from prorl_inference.backends.transformers import attention

            if self._model.config.model_type in attention.FAMILIES:
                self._model.set_attn_implementation(attention.register())
        if not can_refill(self._model):
            check_decoding(self._model)
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.batching = batching
        self.model_id = model_id
        self.model_digest = model_digest
        self.stop_ids = stop_token_ids(getattr(model, "generation_config", None), tokenizer)
        self.loads = 0
        """Number of times that other weights were loaded."""

    @property
    def context_tokens(self) -> int | None:
        value = getattr(self._model.config, "max_position_embeddings", None)
        return int(value) if value else None

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> TransformersStream:
        """Return a stream over the model. Only one may be open."""
        params.check()
        return TransformersStream(self, self._model, params, on_done)

    def sync_weights(self, model: Any) -> None:
        """Copy the weights of ``model``, unless it is this generator's own model."""
        if model is not self._model:
            self.loads += 1
            self._model.load_state_dict(model.state_dict())

    def close(self) -> None:
        self._model = None


class TransformersStream:
    """Samples in the caller's thread; implements ``Stream``.

    Samples in progress continue, with their cache, when the weights change.
    """

    repeatable = True

    def __init__(
        self, generator: TransformersGenerator, model: Any, params: SamplingParams, on_done: OnDone
    ) -> None:
        self.rows = generator.batch_size
        self._generator, self._model, self._params = generator, model, params
        self._results = Results(generator.tokenizer, on_done)
        self._waiting: dict[tuple[int, ...], PromptRows] = {}
        self._decoding: Iterator[list[Row]] | None = None
        self._refills = generator.batching == "refill" and can_refill(model)
        self._queue = Queue(model)
        self._scope = contextlib.ExitStack()
        self._packing = self._scope.enter_context(contextlib.ExitStack())
        self._packed = False
        self._loads = generator.loads

    def __enter__(self) -> Self:
        self._scope.callback(self._model.train, self._model.training)
        self._model.eval()
        return self

    def __exit__(self, *error: object) -> None:
        self._decoding = None
        self._scope.close()

    @property
    def running(self) -> int:
        return self._results.missing

    def submit(self, key: int, request: Request) -> None:
        context = self._generator.context_tokens
        ids, rows = self._results.add(key, request, self._params.max_tokens, context)
        for row in rows:
            so_far = (*ids, *row.token_ids)
            self._waiting.setdefault(so_far, PromptRows(so_far, [])).rows.append(row)

    def take(self, wait: float | None = None) -> list[Ended]:
        """Sample until at least one sample has ended, or ``wait`` seconds have passed."""
        import torch

        until = math.inf if wait is None else time.monotonic() + wait
        ended = self._results.whole()
        while not ended and self.running:
            if self._loads != self._generator.loads:
                self._use_new_weights()
            self._pack_weights()
            if self._refills:
                self._queue.add(list(self._waiting.values()))
                self._waiting.clear()
            if self._decoding is None:
                self._decoding = self._decode()
            with torch.no_grad():
                rows = next(self._decoding, None)
            if rows:
                self._results.ended(rows)
                return self._results.whole()
            if rows is None:
                self._decoding = None
            elif time.monotonic() > until:
                break
        return ended

    def lengths(self, key: int) -> list[int]:
        return self._results.lengths(key)

    def stop(self) -> list[Ended]:
        self._decoding = None
        self._waiting.clear()
        self._queue = Queue(self._model)
        return self._results.paused()

    def _decode(self) -> Iterator[list[Row]]:
        model, params, rows = self._model, self._params, self.rows
        stops = self._generator.stop_ids
        if self._refills:
            yield from decode_refilled(model, self._queue, params, stops, rows)
        else:
            yield from decode_batch(model, self._next_batch(), params, stops)

    def _next_batch(self) -> list[PromptRows]:
        batch = next(pack(list(self._waiting.values()), self.rows))
        for prompt in batch:
            remaining = self._waiting.pop(prompt.token_ids).rows[len(prompt.rows) :]
            if remaining:
                self._waiting[prompt.token_ids] = PromptRows(prompt.token_ids, remaining)
        return batch

    def _pack_weights(self) -> None:
        tokens = sum(len(p.rows) for p in self._waiting.values()) * self._params.max_tokens
        if not self._packed and self._model.device.type == "cpu" and tokens >= _WORTH_PACKING:
            self._packed = True
            self._pack()

    def _use_new_weights(self) -> None:
        import torch

        self._loads = self._generator.loads
        torch.clear_autocast_cache()
        self._queue.prefill_again()
        if self._packed:
            self._packing.close()
            self._pack()

    def _pack(self) -> None:
        from prorl_inference.backends.transformers.packed_weights import packed_weights

        self._packing.enter_context(packed_weights(self._model, self.rows))


def load_generator(
    name_or_path: str,
    device: str = "auto",
    dtype: str = "auto",
    batch_size: int = DEFAULT_BATCH_SIZE,
    batching: Batching = "fixed",
) -> TransformersGenerator:
    """Load a generator from a local folder, a fetched alias or a hub id."""
    require_local_extra()
    path = resolve_model(name_or_path)
    place = pick_device(device)
    model, tokenizer = load_model(path, place, pick_dtype(place, dtype))
    return TransformersGenerator(
        model,
        tokenizer,
        batch_size=batch_size,
        model_id=name_or_path,
        model_digest=model_digest(path),
        batching=batching,
    )


def pack(work: Sequence[PromptRows], batch_size: int) -> Iterator[list[PromptRows]]:
    """Yield batches of at most ``batch_size`` rows, those with the longest prompts first."""
    batch: list[PromptRows] = []
    room = batch_size
    for prompt in sorted(work, key=lambda p: (-len(p.token_ids), p.token_ids)):
        remaining = prompt.rows
        while remaining:
            batch.append(PromptRows(prompt.token_ids, remaining[:room]))
            remaining, room = remaining[room:], room - len(remaining[:room])
            if room == 0:
                yield batch
                batch, room = [], batch_size
    if batch:
        yield batch
