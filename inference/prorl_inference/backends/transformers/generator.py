"""Batched sampling from a Transformers model, on CPU or CUDA.

Groups requests of similar length into batches of at most ``batch_size`` rows, samples them with
:mod:`.decoding` or :mod:`.refill`, returns completions in request order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast, get_args

from prorl_common import UserError
from prorl_inference.backends.transformers.decoding import decode_batch
from prorl_inference.backends.transformers.refill import can_refill, decode_refilled
from prorl_inference.models.loading import (
    load_model,
    model_digest,
    pick_device,
    pick_dtype,
    require_local_extra,
)
from prorl_inference.models.store import resolve_model
from prorl_inference.tokens import (
    PromptRows,
    Results,
    Row,
    encode_prompt,
    prompt_budget,
    stop_token_ids,
)
from prorl_inference.types import (
    DEFAULT_BATCH_SIZE,
    Batching,
    Completion,
    OnResult,
    Request,
    SamplingParams,
)

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


_WORTH_PACKING = 256
"""Tokens that a call may sample at least for weights to be packed."""


class TransformersGenerator:
    """Samples from a model that is already loaded; implements ``Generator``.

    The model may be one that is being trained: it is put in eval mode while sampling, left in the mode
    it was in, and no gradient is recorded. On the CPU the attention of tested model families is replaced
    for single-token steps (see :mod:`.attention`). ``generate`` may be called inside
    ``torch.autocast``. ``model_digest`` is the caller's to set, and to change when the weights change.
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
        """Take a loaded model; move it to ``device`` unless that is None. ``batch_size`` is in rows."""
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}: it must be at least 1")
        if batching not in get_args(Batching):
            raise UserError(f"batching is '{batching}': it must be fixed or refill")
        self._model = cast(Any, model)  # Transformers types `to` as taking no device
        if device is not None:
            self._model.to(device)
        if self._model.device.type == "cpu":
            # Decodes faster; forward passes over more than one token stay ``sdpa``, bit for bit.
            from prorl_inference.backends.transformers import attention

            if self._model.config.model_type in attention.FAMILIES:
                self._model.set_attn_implementation(attention.register())
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.batching = batching
        self.model_id = model_id
        self.model_digest = model_digest
        self.stop_ids = stop_token_ids(getattr(model, "generation_config", None), tokenizer)

    @property
    def context_tokens(self) -> int | None:
        """The longest sequence the model takes, prompt and answer together; None when not declared."""
        value = getattr(self._model.config, "max_position_embeddings", None)
        return int(value) if value else None

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return, for each request, one completion a seed, in order; see ``Generator.generate``.

        Raises UserError for a prompt that fills the model's context, or parameters out of range. An
        answer that reaches the end of the context ends there with ``length``.
        """
        import torch

        params.check()
        by_prompt: dict[tuple[int, ...], PromptRows] = {}  # the same tokens share one prefill
        for i, request in enumerate(requests):
            ids = tuple(encode_prompt(self.tokenizer, request.prompt))
            budget = prompt_budget(ids, request, params.max_tokens, self.context_tokens)
            rows = by_prompt.setdefault(ids, PromptRows(ids, [])).rows
            rows.extend(Row(i, j, seed, budget) for j, seed in enumerate(request.seeds))
        work = [prompt for prompt in by_prompt.values() if prompt.rows]
        results = Results(self.tokenizer, requests, on_done, on_result)
        model, stops, ended = self._model, self.stop_ids, results.ended
        was_training = model.training
        model.eval()
        try:
            with torch.no_grad(), self._fast_layers(work, params.max_tokens):
                if work and self.batching == "refill" and can_refill(model):
                    decode_refilled(model, work, params, stops, ended, self.batch_size)
                else:
                    for batch in pack(work, self.batch_size):
                        decode_batch(model, batch, params, stops, ended)
        finally:
            model.train(was_training)
        return results.all()

    def _fast_layers(
        self, work: Sequence[PromptRows], max_tokens: int
    ) -> contextlib.AbstractContextManager[None]:
        """Return a block in which products are fast on a CPU, where the answers are worth the preparation."""
        tokens = sum(len(prompt.rows) for prompt in work) * max_tokens
        if self._model.device.type != "cpu" or tokens < _WORTH_PACKING:
            return contextlib.nullcontext()
        from prorl_inference.backends.transformers.packed_weights import packed_weights

        return packed_weights(self._model, self.batch_size)

    def sync_weights(self, model: Any) -> None:
        """Do nothing when ``model`` is the one sampled from; else copy its parameters and buffers."""
        if model is not self._model:
            self._model.load_state_dict(model.state_dict())

    def close(self) -> None:
        """Free the model; the generator cannot be used afterwards."""
        self._model = None


def load_generator(
    name_or_path: str,
    device: str = "auto",
    dtype: str = "auto",
    batch_size: int = DEFAULT_BATCH_SIZE,
) -> TransformersGenerator:
    """Return a generator for a local path, a fetched alias or a hub id; see ``resolve_model``."""
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
    )


def pack(work: Sequence[PromptRows], batch_size: int) -> Iterator[list[PromptRows]]:
    """Yield batches of at most ``batch_size`` rows, prompts of similar length together.

    Longest first, so that running out of memory shows at once. A prompt with more samples than fit is
    split. The batches are a function of the prompts, their rows and ``batch_size``.
    """
    batch: list[PromptRows] = []
    room = batch_size
    for prompt in sorted(work, key=lambda p: (-len(p.token_ids), p.token_ids)):
        rest = prompt.rows
        while rest:
            batch.append(PromptRows(prompt.token_ids, rest[:room]))
            rest, room = rest[room:], room - len(rest[:room])
            if room == 0:
                yield batch
                batch, room = [], batch_size
    if batch:
        yield batch
