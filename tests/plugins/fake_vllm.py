"""A module like vLLM 0.29 for the calls of ``VllmGenerator``: it samples from a Transformers model and records calls."""

from __future__ import annotations

import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch

from prorl_inference.models.loading import load_model


class LLM:
    """Level 2 of ``sleep`` loses the weights, as in vLLM (v1/worker/gpu_worker.py)."""

    calls: ClassVar[list[Any]] = []
    prompts: ClassVar[list[list[int]]] = []

    def __init__(self, model: str, **options: Any) -> None:
        self.options = options
        self.model: Any = load_model(Path(model), "cpu", torch.float32)[0]
        weight: Any = self.model.get_input_embeddings().weight
        size = len(weight)
        self.model_config = SimpleNamespace(
            max_model_len=options["max_model_len"] or 512, get_vocab_size=lambda: size
        )
        self.llm_engine = self
        self.engine_core = SimpleNamespace(shutdown=lambda: self.calls.append("shutdown"))
        self.asleep: set[str] = set()
        self.requests: dict[str, tuple[list[int], Any]] = {}

    def sleep(self, level: int = 1, mode: str = "abort") -> None:
        assert self.options["enable_sleep_mode"] and not self.requests
        self.calls.append(("sleep", level))
        self.asleep = {"weights", "kv_cache"}
        with torch.no_grad():
            for weight in self.model.parameters():
                weight.fill_(torch.nan)

    def wake_up(self, tags: list[str] | None = None) -> None:
        self.calls.append(("wake_up", tags))
        self.asleep -= set(tags or self.asleep)

    def collective_rpc(self, method: str, kwargs: dict[str, Any]) -> None:
        assert "weights" not in self.asleep, "the weights have no memory"
        self.calls.append(method)
        self.model.load_state_dict(dict(kwargs["weights_iterator"]), strict=False)

    def apply_model(self, function: Any) -> None:
        function(self.model)

    def has_unfinished_requests(self) -> bool:
        return bool(self.requests)

    def reset_prefix_cache(self, reset_running_requests: bool = False) -> None:
        assert not self.asleep, "the cache has no memory"
        self.calls.append("reset_prefix_cache" + reset_running_requests * " of all requests")

    def add_request(self, name: str, prompt: dict[str, list[int]], options: Any) -> None:
        self.requests[name] = (prompt["prompt_token_ids"], options)
        self.prompts.append(prompt["prompt_token_ids"])

    def abort_request(self, names: list[str]) -> None:
        for name in names:
            del self.requests[name]

    def step(self) -> list[Any]:
        assert not self.asleep, "a sleeping engine was asked to sample"
        (name, (ids, o)) = self.requests.popitem()
        chance, reason = torch.Generator().manual_seed(o.seed or 0), "length"
        tokens: list[int] = []
        logprobs: list[dict[int, Any]] = []
        while len(tokens) < o.max_tokens and reason == "length":
            with torch.no_grad():
                logits = self.model(torch.tensor([[*ids, *tokens]])).logits[0, -1].float()
            all_logprobs = (logits / (o.temperature or 1.0)).log_softmax(-1)
            token = int(torch.multinomial(all_logprobs.exp(), 1, generator=chance))
            tokens.append(token)
            logprobs.append({token: SimpleNamespace(logprob=float(all_logprobs[token]))})
            reason = "stop" if token in o.stop_token_ids else "length"
        answer = SimpleNamespace(token_ids=tokens, logprobs=logprobs, finish_reason=reason)
        return [SimpleNamespace(request_id=name, outputs=[answer], finished=True)]


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``import vllm`` give this fake, on a machine that seems to have a GPU."""
    module = ModuleType("vllm")
    module.__spec__ = importlib.machinery.ModuleSpec("vllm", None, origin="fake")
    kinds = SimpleNamespace(RequestOutputKind=SimpleNamespace(DELTA="delta"))
    parts = {"LLM": LLM, "SamplingParams": SimpleNamespace, "sampling_params": kinds}
    module.__dict__.update(parts)
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: LLM.calls.append("empty_cache"))
    monkeypatch.setattr(LLM, "calls", [])
    monkeypatch.setattr(LLM, "prompts", [])
