"""A vLLM engine's process, which samples by token ids.

OpenRLHF's executor (utils/agent.py) is not used, because it turns a failed reward into None.
"""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from openrlhf.trainer.ray.vllm_engine import RolloutRayActor
from vllm import SamplingParams
from vllm.inputs import TokensPrompt
from vllm.sampling_params import RequestOutputKind

from prorl_training.engine.openrlhf.actors import raw_class
from prorl_training.engine.openrlhf.cpu import float32
from prorl_training.engine.openrlhf.events import report_failures
from prorl_training.engine.openrlhf.spec import current_spec
from prorl_training.engine.openrlhf.step import Checksum, checksum

_Base: Any = raw_class(RolloutRayActor)
Sampled = tuple[list[int], list[float], str]
"""Token ids, their log-probs and the finish reason, which is ``abort`` if sampling was stopped."""
ABORT_SECONDS = 0.02
"""Seconds between attempts to abort samples, because vLLM may not have received all samples at the first attempt."""


class RolloutActor(_Base):  # type: ignore[misc]
    async def __init__(self, *args: Any, **options: Any) -> None:  # type: ignore[misc]  # Ray awaits it
        options["logprobs_mode"] = "processed_logprobs"
        options["max_logprobs"] = 1
        options["trust_remote_code"] = False
        options["remote_rm_url"] = None  # the trainer requests rewards
        if current_spec().device == "cpu":
            # vLLM 0.29.0 (gpu_model_runner.py, _bookkeeping_sync) cannot rewind a seeded request's
            # generator on a CPU, as chunked prefill requires.
            options["enable_chunked_prefill"] = False
            options["max_num_batched_tokens"] = max(options["max_model_len"], 2048)
        if float32.enabled():
            options["dtype"] = "float32"
        with report_failures("a vLLM engine"):
            await super().__init__(*args, **options)
        self._names = itertools.count()
        self._running: set[str] = set()

    async def sample(
        self, samples: list[tuple[list[int], int | None, int]], options: dict[str, Any]
    ) -> list[Sampled]:
        """Sample a continuation of each of ``samples``, which are (token ids, seed, token budget).

        ``options`` are vLLM's other sampling parameters.
        """
        names = [f"prorl-{next(self._names)}" for _ in samples]
        self._running.update(names)  # before the first await, for ``stop_sampling``
        named = zip(names, samples, strict=True)
        return list(
            await asyncio.gather(*(self._one(name, *sample, options) for name, sample in named))
        )

    async def sampling(self) -> int:
        return len(self._running)

    async def stop_sampling(self) -> None:
        """Abort all samples. ``sample`` returns their tokens."""
        while self._running:
            await self.llm.abort(list(self._running))
            await asyncio.sleep(ABORT_SECONDS)

    async def weights_checksum(self) -> Checksum:
        first: Checksum = (await self.llm.collective_rpc(worker_checksum))[0]
        return first

    async def _one(
        self, name: str, tokens: list[int], seed: int | None, budget: int, options: dict[str, Any]
    ) -> Sampled:
        params = SamplingParams(
            **options,
            max_tokens=budget,
            seed=None if seed is None else seed % 2**63,
            logprobs=0,
            detokenize=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        try:
            async for output in self.llm.generate(
                TokensPrompt(prompt_token_ids=tokens), params, request_id=name
            ):
                answer = output.outputs[0]
        finally:
            self._running.discard(name)
        ids = [int(token) for token in answer.token_ids]
        rows = zip(ids, answer.logprobs or [], strict=True)
        return ids, [float(row[token].logprob) for token, row in rows], answer.finish_reason


def worker_checksum(worker: Any) -> Checksum:
    return checksum(worker.model_runner.model.parameters())
