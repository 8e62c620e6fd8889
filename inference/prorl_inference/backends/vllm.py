"""The vLLM backend: an engine inside this process, token ids in, token ids out.

Does: our chat encoding, one seed a sample, log-probs of the sampled tokens under the temperature, weights
taken over from a model in training without a restart. One GPU. No nucleus log-probs: vLLM reports those
of the cut distribution, which ``Completion`` does not mean, so with ``top_p`` below 1 they are NaN and no
loss can use them unseen.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import ServiceError
from prorl_inference.models.loading import load_tokenizer
from prorl_inference.spec import BackendSpec
from prorl_inference.tokens import Results, Row, encode_prompt, folder_stop_ids, prompt_budget
from prorl_inference.types import Completion, OnResult, Request, SamplingParams

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase


_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def _vllm() -> Any:
    """Return the module ``vllm``, which is imported when it is first needed."""
    return importlib.import_module("vllm")


class VllmGenerator:
    """Samples with vLLM; implements ``Generator``.

    A seed's tokens may change with what shares its batch: vLLM schedules freely and rounds by batch.
    """

    def __init__(
        self,
        path: Path,
        tokenizer: PreTrainedTokenizerBase,
        dtype: str = "auto",
        batch_size: int = 64,
        max_model_len: int | None = None,
        memory_share: float = 0.3,
        request_seeds: bool = True,
    ) -> None:
        """Load the model folder ``path``; ``memory_share`` of the device is for weights and cache.

        ``max_model_len`` is in tokens, prompt and answer together; None takes the model's own. Without
        ``request_seeds`` seeds are left out, which vLLM's sampler is slow with on a GPU. Raises MissingExtraError
        without vLLM.
        """
        SPEC.check_installed()
        # In one process the weights of the trainer are handed over without a copy to another.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        import torch

        vllm = _vllm()
        self._engine: Any = vllm.LLM(
            model=str(path),
            skip_tokenizer_init=True,
            dtype=_DTYPES.get(dtype, dtype),
            max_model_len=max_model_len,
            max_num_seqs=batch_size,
            gpu_memory_utilization=memory_share,
            enforce_eager=not torch.cuda.is_available(),  # on a CPU compiling outlasts a run
            logprobs_mode="processed_logprobs",
            trust_remote_code=False,
            disable_log_stats=True,
        )
        self.tokenizer = tokenizer
        self._seeded = request_seeds
        self.model_id, self.model_digest = str(path), ""
        self.stop_ids = folder_stop_ids(path, tokenizer)

    @property
    def context_tokens(self) -> int:
        """The longest sequence the engine takes, prompt and answer together."""
        return int(self._engine.model_config.max_model_len)

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        """Return, for each request, one completion a seed, in order; see ``Generator.generate``."""
        params.check()
        prompts = [encode_prompt(self.tokenizer, request.prompt) for request in requests]
        budgets = [
            prompt_budget(ids, request, params.max_tokens, self.context_tokens)
            for ids, request in zip(prompts, requests, strict=True)
        ]
        results = Results(self.tokenizer, requests, on_done, on_result)
        waiting: dict[str, Row] = {}
        engine = self._engine.llm_engine
        try:
            for i, request in enumerate(requests):
                for j, seed in enumerate(request.seeds):
                    row = Row(i, j, seed, budgets[i])
                    waiting[f"{i}-{j}"] = row
                    engine.add_request(
                        f"{i}-{j}", {"prompt_token_ids": prompts[i]}, self._params(row, params)
                    )
            while waiting:
                done = [output for output in engine.step() if output.finished]
                rows = [self._ended(waiting.pop(out.request_id), out) for out in done]
                if params.top_p < 1.0:
                    for row in rows:
                        row.logprobs = [math.nan] * len(row.token_ids)
                results.ended(rows)
        finally:
            if waiting:
                engine.abort_request(list(waiting))
        return results.all()

    def sync_weights(self, model: Any) -> None:
        """Sample from the weights ``model`` has now; the engine goes on, its prefix cache is emptied.

        The adapters of a peft model are merged into a copy of one weight at a time.
        """
        self._engine.collective_rpc(
            "reload_weights", kwargs={"weights_iterator": named_weights(model)}
        )
        self._engine.apply_model(_repack_tied_head)
        self._engine.reset_prefix_cache()

    def close(self) -> None:
        """Free the engine; the generator cannot be used afterwards."""
        if self._engine is not None:
            self._engine.llm_engine.engine_core.shutdown()
            self._engine = None

    def _params(self, row: Row, params: SamplingParams) -> Any:
        vllm = _vllm()
        return vllm.SamplingParams(
            temperature=params.temperature,
            top_p=params.top_p,
            seed=row.seed % 2**63 if self._seeded else None,
            max_tokens=row.budget,
            stop_token_ids=sorted(self.stop_ids),
            ignore_eos=True,  # the engine's own end token is in stop_token_ids, if it is one
            logprobs=0,
            detokenize=False,
            output_kind=vllm.sampling_params.RequestOutputKind.FINAL_ONLY,
        )

    def _ended(self, row: Row, output: Any) -> Row:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            raise ServiceError(f"vLLM ended a sample with '{answer.finish_reason}'")
        row.token_ids = [int(token) for token in answer.token_ids]
        found = zip(row.token_ids, answer.logprobs, strict=True)
        row.logprobs = [float(logprobs[token].logprob) for token, logprobs in found]
        row.stopped = answer.finish_reason == "stop"
        return row


def _repack_tied_head(model: Any) -> None:
    """Pack a head that shares the embedding's weights anew: vLLM 0.29's reload leaves its CPU copy old."""
    head: Any = getattr(model, "lm_head", None)
    if hasattr(head, "cpu_linear"):
        head.quant_method.process_weights_after_loading(head)


def named_weights(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights of a Transformers model under its checkpoint's names, adapters merged.

    For a peft model, W + scale * B A of every adapted layer (LoRA, arXiv 2106.09685, section 4.1), one
    layer at a time; the model stays as it is.
    """
    import torch

    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    with torch.no_grad():
        for name, weight in base.named_parameters():
            if ".lora_" in name or ".modules_to_save." in name:
                continue
            merged = weight.detach()
            place, adapted, rest = name.partition(".base_layer.")
            if adapted:
                name, layer = f"{place}.{rest}", base.get_submodule(place)
                for adapter in layer.active_adapters if rest == "weight" else ():
                    merged = merged + layer.get_delta_weight(adapter).to(merged.dtype)
            yield name, merged


SPEC = BackendSpec(
    "vllm",
    open=lambda o: VllmGenerator(
        o.folder(),
        o.tokenizer or load_tokenizer(str(o.path)),
        o.dtype,
        o.batch_rows,
        o.max_model_len,
        o.memory_share,
        o.request_seeds,
    ),
    title="vLLM",
    requires="vllm",
    extra="vllm",
    logprobs=True,
    trains=True,
    rows=256,
    auto_rank=2,
    auto_on_gpu=True,
)
"""The backend ``vllm``."""
