"""The local backend: batched sampling from a Transformers model, on CPU or CUDA.

Does: groups requests of similar length into batches of at most ``batch_size`` rows, samples them with
:mod:`prorl_inference.decoding` or :mod:`prorl_inference.refill`, returns completions in request order.
Leaves out: vLLM and servers; loading (see :mod:`prorl_inference.loading`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from prorl_common import UserError
from prorl_inference.decoding import PromptRows, Row, decode_batch
from prorl_inference.prompts import encode_prompt
from prorl_inference.refill import can_refill, decode_refilled
from prorl_inference.results import Results
from prorl_inference.types import Completion, OnResult, Request, SamplingParams

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DEFAULT_BATCH_SIZE = 64
Batching = Literal["fixed", "refill"]


class TransformersGenerator:
    """Samples from a model that is already loaded; implements ``Generator``.

    The model may be one that is being trained: it is put in eval mode while sampling, left in the mode
    it was in, and no gradient is recorded. On the CPU the attention of tested model families is replaced
    for single-token steps (see :mod:`prorl_inference.grouped_attention`). ``generate`` may be called
    inside ``torch.autocast``. ``model_digest`` is the caller's to set, and to change when
    the weights change.
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
        """Take a loaded model; move it to ``device`` unless that is None. ``batch_size`` is in rows.

        ``batching``: ``fixed`` decodes batch after batch, bitwise repeatable; ``refill`` gives the place
        of a row that ended to a waiting sample, equal up to float rounding.
        """
        if batch_size < 1:
            raise UserError(f"batch_size is {batch_size}: it must be at least 1")
        if batching not in ("fixed", "refill"):
            raise UserError(f"batching is '{batching}': it must be fixed or refill")
        self._model = cast(Any, model)  # Transformers types `to` as taking no device
        if device is not None:
            self._model.to(device)
        self._use_grouped_attention()
        self.tokenizer = tokenizer
        self.batch_size = batch_size
        self.batching = batching
        self.model_id = model_id
        self.model_digest = model_digest
        self.stop_ids = stop_token_ids(model, tokenizer)

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

        check_params(params)
        work = self._rows(requests, params)
        results = Results(self.tokenizer, requests, on_done, on_result)
        was_training = self._model.training
        self._model.eval()
        try:
            with torch.no_grad():
                self._decode(work, params, results)
        finally:
            self._model.train(was_training)
        return results.all()

    def sync_weights(self, model: Any) -> None:
        """Do nothing when ``model`` is the one sampled from; else copy its parameters and buffers."""
        if model is not self._model:
            self._model.load_state_dict(model.state_dict())

    def close(self) -> None:
        """Free the model; the generator cannot be used afterwards."""
        self._model = None

    def _use_grouped_attention(self) -> None:
        """Decode faster on the CPU; forward passes over more than one token stay ``sdpa``, bit for bit."""
        if self._model.device.type != "cpu":
            return
        from prorl_inference import grouped_attention

        if self._model.config.model_type in grouped_attention.FAMILIES:
            self._model.set_attn_implementation(grouped_attention.register())

    def _decode(self, work: Sequence[PromptRows], params: SamplingParams, results: Results) -> None:
        if not work:
            return
        if self.batching == "refill" and can_refill(self._model):
            rows = self.batch_size
            decode_refilled(self._model, work, params, self.stop_ids, results.ended, rows)
            return
        for batch in pack(work, self.batch_size):
            decode_batch(self._model, batch, params, self.stop_ids, results.ended)

    def _rows(self, requests: Sequence[Request], params: SamplingParams) -> list[PromptRows]:
        """Encode every prompt; requests with the same tokens share one prefill."""
        by_prompt: dict[tuple[int, ...], PromptRows] = {}
        for i, request in enumerate(requests):
            ids = tuple(encode_prompt(self.tokenizer, request.prompt))
            budget = prompt_budget(ids, request, params.max_tokens, self.context_tokens)
            rows = by_prompt.setdefault(ids, PromptRows(ids, [])).rows
            rows.extend(Row(i, j, seed, budget) for j, seed in enumerate(request.seeds))
        return [prompt for prompt in by_prompt.values() if prompt.rows]


def prompt_budget(
    ids: Sequence[int], request: Request, max_tokens: int, context: int | None
) -> int:
    """Return how many tokens an answer to the prompt ``ids`` may have, ``max_tokens`` at most.

    Raises UserError for a prompt without tokens, or one that fills the model's ``context``.
    """
    start = " ".join(str(request.prompt[-1]["content"]).split())[:60] if request.prompt else ""
    if not ids:
        raise UserError(f"a prompt has no tokens ('{start}'): give it at least one message")
    if context is None:
        return max_tokens
    room = context - len(ids)
    if room < 1:
        raise UserError(
            f"the prompt starting '{start}' has {len(ids)} tokens, but the model's context holds "
            f"{context}: shorten it or choose a model with a longer context"
        )
    return min(max_tokens, room)


def check_params(params: SamplingParams) -> None:
    """Raise UserError naming the first sampling parameter that is out of range."""
    if not 0.0 <= params.temperature < float("inf"):
        raise UserError(f"temperature is {params.temperature}: it must be 0 (greedy) or more")
    if not 0.0 < params.top_p <= 1.0:
        raise UserError(f"top_p is {params.top_p}: it must be above 0 and at most 1")
    if params.max_tokens < 1:
        raise UserError(f"max_tokens is {params.max_tokens}: it must be at least 1")


def stop_token_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer.

    The generation config's end tokens, the tokenizer's, and ``<|im_end|>`` where the vocabulary has it
    (chat models whose configuration names only the pretraining end token).
    """
    return _stop_ids(getattr(model, "generation_config", None), tokenizer)


def folder_stop_ids(path: Path, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer of the model in the folder ``path``, without loading it."""
    import transformers

    hf: Any = transformers
    own = (path / "generation_config.json").is_file()
    return _stop_ids(hf.GenerationConfig.from_pretrained(path) if own else None, tokenizer)


def _stop_ids(generation: Any, tokenizer: Any) -> frozenset[int]:
    found: set[int] = set()
    configured = getattr(generation, "eos_token_id", None)
    if isinstance(configured, int):
        found.add(configured)
    elif configured is not None:
        found.update(int(token) for token in configured)
    if tokenizer.eos_token_id is not None:
        found.add(int(tokenizer.eos_token_id))
    turn_end = tokenizer.get_vocab().get("<|im_end|>")
    if turn_end is not None:
        found.add(int(turn_end))
    return frozenset(found)


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
