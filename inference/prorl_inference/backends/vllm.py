"""The backend ``vllm``: a vLLM engine in this process, on one GPU.

With ``top_p`` below 1, log-probs are NaN, because vLLM reports those of the truncated distribution.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from prorl_common import ServiceError, derive_seed
from prorl_inference.models.loading import load_tokenizer
from prorl_inference.spec import BackendSpec
from prorl_inference.streams import Streaming
from prorl_inference.tokens import Results, Row, folder_stop_ids
from prorl_inference.types import Ended, OnDone, Request, SamplingParams

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase


HANDED_OVER = 32
"""Number of tokens after which vLLM reports a sample's progress."""
_DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


def _vllm() -> Any:
    return importlib.import_module("vllm")


class VllmGenerator(Streaming):
    """Samples with vLLM; implements ``Generator``. A sample may depend on others in its batch."""

    def __init__(
        self,
        path: Path,
        tokenizer: PreTrainedTokenizerBase,
        dtype: str = "auto",
        batch_size: int = 64,
        max_model_len: int | None = None,
        memory_share: float = 0.3,
        request_seeds: bool = True,
        sleeps: bool = False,
        in_flight: bool = False,
    ) -> None:
        """Load the model folder ``path``; see ``BackendOptions``. Raises MissingExtraError without vLLM.

        ``sleeps`` allows calling :meth:`sleep`; only one engine in a process may set it.
        """
        SPEC.check_installed()
        # In one process, the trainer's weights need no copy.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        import torch

        vllm = _vllm()
        self._can_sleep = sleeps and torch.cuda.is_available()
        self._asleep = False
        in_group = torch.distributed.is_available() and torch.distributed.is_initialized()
        self._engine: Any = vllm.LLM(
            model=str(path),
            skip_tokenizer_init=True,
            dtype=_DTYPES.get(dtype, dtype),
            max_model_len=max_model_len,
            max_num_seqs=batch_size,
            gpu_memory_utilization=memory_share,
            enforce_eager=not torch.cuda.is_available(),  # compiling takes too long on a CPU
            logprobs_mode="processed_logprobs",
            trust_remote_code=False,
            disable_log_stats=True,
            enable_sleep_mode=self._can_sleep,
            # in a rank of a training run, vLLM joins the process group that exists
            distributed_executor_backend="external_launcher" if in_group else None,
        )
        self.tokenizer = tokenizer
        self.seeded = request_seeds
        self.handed_over = 1 if in_flight else HANDED_OVER
        self.batch_size = batch_size
        self.model_id, self.model_digest = str(path), ""
        self.stop_ids = folder_stop_ids(path, tokenizer)
        tokens = max(tokenizer.get_vocab().values()) + 1
        padding = range(tokens, int(self._engine.model_config.get_vocab_size()))
        self.bias = dict.fromkeys(padding, -100.0) or None
        """Logit bias that gives the vocabulary's padding ids a probability of 0."""

    @property
    def context_tokens(self) -> int:
        return int(self._engine.model_config.max_model_len)

    def stream(self, params: SamplingParams, on_done: OnDone = None) -> VllmStream:
        """Return a stream over the engine. Only one may be open."""
        params.check()
        return VllmStream(self, self._engine.llm_engine, params, on_done)

    def sleep(self) -> None:
        """Free the memory of weights and KV cache until :meth:`sync_weights`, if ``sleeps`` was set."""
        if self._can_sleep and not self._asleep:
            self._engine.sleep(level=2)
            self._asleep = True

    def sync_weights(self, model: Any) -> None:
        """Use the current weights of ``model``, with peft adapters merged. Samples in progress continue."""
        if self._asleep:
            self._wake("weights")
        self._engine.collective_rpc(
            "reload_weights", kwargs={"weights_iterator": named_weights(model)}
        )
        self._engine.apply_model(_repack_tied_head)
        if self._asleep:  # after the weights, whose loading needs room of its own
            self._wake("kv_cache")
            self._asleep = False
        # samples in progress compute their cache again, or later ones would share what old weights computed
        running = self._engine.llm_engine.has_unfinished_requests()
        self._engine.reset_prefix_cache(reset_running_requests=running)

    def _wake(self, part: str) -> None:
        import torch

        torch.cuda.empty_cache()  # vLLM's memory comes from the driver, not from torch's cache
        self._engine.wake_up(tags=[part])

    def close(self) -> None:
        if self._engine is not None:
            self._engine.llm_engine.engine_core.shutdown()
            self._engine = None


class VllmStream:
    """Samples in the caller's thread; implements ``Stream``.

    Stopping a sample loses at most its last ``HANDED_OVER`` tokens, none with ``BackendOptions.in_flight``.
    """

    repeatable = False

    def __init__(
        self, generator: VllmGenerator, engine: Any, params: SamplingParams, on_done: OnDone
    ) -> None:
        self.rows = generator.batch_size
        self._generator, self._engine, self._params = generator, engine, params
        self._results = Results(generator.tokenizer, on_done)
        self._running: dict[str, Row] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._running:
            self._engine.abort_request(list(self._running))
            self._running.clear()

    @property
    def running(self) -> int:
        return self._results.missing

    def submit(self, key: int, request: Request) -> None:
        context = self._generator.context_tokens
        ids, rows = self._results.add(key, request, self._params.max_tokens, context)
        for row in rows:
            name = f"{key}-{row.sample}"
            self._running[name] = row
            prompt = {"prompt_token_ids": [*ids, *row.token_ids]}
            self._engine.add_request(name, prompt, self._options(row))

    def take(self, wait: float | None = None) -> list[Ended]:
        until = math.inf if wait is None else time.monotonic() + wait
        ended: list[Row] = []
        while self._running and not ended:
            ended = [row for output in self._engine.step() for row in self._record(output)]
            self._results.ended(ended)
            if time.monotonic() > until:
                break
        return self._results.whole()

    def lengths(self, key: int) -> list[int]:
        return self._results.lengths(key)

    def stop(self) -> list[Ended]:
        self.__exit__()
        return self._results.paused()

    def _record(self, output: Any) -> list[Row]:
        answer = output.outputs[0]
        row = self._running[output.request_id]
        tokens = [int(token) for token in answer.token_ids]
        row.token_ids += tokens
        if self._params.top_p < 1.0:
            row.logprobs += [math.nan] * len(tokens)
        else:
            pairs = zip(tokens, answer.logprobs or [], strict=True)
            row.logprobs += [float(logprobs[token].logprob) for token, logprobs in pairs]
        if not output.finished:
            return []
        if answer.finish_reason not in ("stop", "length"):
            raise ServiceError(f"vLLM stopped a sample early: finish reason {answer.finish_reason}")
        row.stopped = answer.finish_reason == "stop"
        del self._running[output.request_id]
        return [row]

    def _options(self, row: Row) -> Any:
        vllm = _vllm()
        return vllm.SamplingParams(
            temperature=self._params.temperature,
            top_p=self._params.top_p,
            seed=fresh_seed(row) % 2**63 if self._generator.seeded else None,
            max_tokens=row.budget - len(row.token_ids),
            stop_token_ids=sorted(self._generator.stop_ids),
            ignore_eos=True,  # stop_token_ids has every end token
            logprobs=0,
            logit_bias=self._generator.bias,
            detokenize=False,
            output_kind=vllm.sampling_params.RequestOutputKind.DELTA,
            stream_interval=self._generator.handed_over,
        )


def fresh_seed(row: Row) -> int:
    """Return the seed for the next tokens of ``row``. It depends on the number of tokens sampled so far."""
    return derive_seed(row.seed, "go on", len(row.token_ids)) if row.token_ids else row.seed


def _repack_tied_head(model: Any) -> None:
    head: Any = getattr(model, "lm_head", None)
    if hasattr(head, "cpu_linear"):
        head.quant_method.process_weights_after_loading(head)


def named_weights(model: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield (name, weight) of all weights of a Transformers model, with peft adapters merged into copies."""
    import torch

    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    with torch.no_grad():
        for name, weight in base.named_parameters():
            if ".lora_" in name or ".modules_to_save." in name:
                continue
            merged = weight.detach()
            place, adapted, suffix = name.partition(".base_layer.")
            if adapted:
                name, layer = f"{place}.{suffix}", base.get_submodule(place)
                for adapter in layer.active_adapters if suffix == "weight" else ():
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
        sleeps=o.policy is not None,
        in_flight=o.in_flight,
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
"""Spec of the backend ``vllm``."""
