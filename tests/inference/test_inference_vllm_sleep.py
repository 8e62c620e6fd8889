"""The vLLM sampler of a training run sleeps during the update and wakes with the new weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_vllm
import pytest
import torch

from prorl_inference import BackendOptions, Request, SamplingParams, pick_backend
from prorl_inference.testing import byte_tokenizer, tiny_model

REQUESTS = [Request([{"role": "user", "content": "ab"}], (1, 2))]
PARAMS = SamplingParams(max_tokens=8)
WOKEN = [
    ("sleep", 2),
    "empty_cache",
    ("wake_up", ["weights"]),
    "reload_weights",
    "empty_cache",
    ("wake_up", ["kv_cache"]),
    "reset_prefix_cache",
]


@pytest.mark.parametrize("trains", [True, False])
def test_a_trained_policys_sampler_sleeps_at_level_2_and_wakes_with_the_new_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trains: bool
) -> None:
    model: Any = tiny_model(spread=0.1)
    tokenizer = byte_tokenizer()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    fake_vllm.install(monkeypatch)
    assert pick_backend("auto", "cuda", training=True).name == "vllm"
    options = BackendOptions(tmp_path, policy=model if trains else None, tokenizer=tokenizer)
    generator: Any = pick_backend("vllm", "cuda", training=trains).open(options)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1.5)
    generator.sleep()
    generator.sleep()
    generator.sync_weights(model)
    assert fake_vllm.LLM.calls == (WOKEN if trains else ["reload_weights", "reset_prefix_cache"])
    (row,) = generator.generate(REQUESTS, PARAMS)
    prompt = [258, 64, 65, 259]
    for completion in row:
        ids = torch.tensor([[*prompt, *completion.token_ids]])
        with torch.no_grad():
            logprobs = model(ids).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
        expected = logprobs.gather(-1, ids[0, len(prompt) :, None])[:, 0]
        assert completion.logprobs == pytest.approx(expected.tolist(), abs=1e-5)


def test_samples_in_progress_continue_with_new_weights_and_a_cache_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = tiny_model(spread=0.1)
    model.save_pretrained(tmp_path)
    tokenizer = byte_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    fake_vllm.install(monkeypatch)
    options = BackendOptions(tmp_path, policy=model, tokenizer=tokenizer, in_flight=True)
    generator: Any = pick_backend("vllm", "cuda", training=True).open(options)
    with generator.stream(PARAMS) as stream:
        stream.submit(0, REQUESTS[0])
        assert {o.stream_interval for _, o in generator._engine.requests.values()} == {1}
        assert stream.take(0.0) == [] and min(stream.lengths(0)) == 0
        generator.sync_weights(model)
        ((_, completions),) = stream.take()
    assert [c.finish_reason in ("stop", "length") for c in completions] == [True, True]
    assert fake_vllm.LLM.calls == ["reload_weights", "reset_prefix_cache of all requests"]
