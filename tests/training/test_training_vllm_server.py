from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from prorl_common import ServiceError, UserError
from prorl_inference import BackendOptions, Completion, Request, SamplingParams, pick_backend
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.tokens import encode_prompt
from prorl_training.engine.loop import TrainingLoop

ASK = Request(({"role": "user", "content": "2?"},), (1, 2, 3))


class FakeVllm:  # a vLLM server with a real tiny model; paths in ``broken`` answer with that status
    def __init__(self) -> None:
        self.model: Any = tiny_model(seed=9)
        self.asked: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.broken: dict[str, int] = {}
        self.version, self.raw, self.paused, self.ids = "default", False, False, True
        fake, lock = self, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size) or b"{}")
                with lock:
                    status = fake.broken.get(path := self.path.partition("?")[0], 200)
                    value = fake.answer(path, body) if status == 200 else {}
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST
            protocol_version = "HTTP/1.1"

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def answer(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(path)
        match path:
            case "/v1/models":
                return {"data": [{"id": "tiny", "max_model_len": 512}]}
            case "/weight_info":
                return {"weight_version": self.version}
            case "/pause" | "/resume":
                self.paused = path == "/pause"
            case "/collective_rpc":
                folder = Path(body["kwargs"]["weights_path"])
                self.model.load_state_dict(load_file(folder / "model.safetensors"))
            case "/update_weight_version":
                self.version = body["new_version"]
            case "/v1/completions":
                self.bodies.append(dict(body))
                return {"choices": [self.sample(body)]}
        return {"success": True}

    @torch.no_grad()
    def sample(self, body: Mapping[str, Any]) -> dict[str, Any]:
        assert not self.paused
        ids, reason = list(body["prompt"]), "length"
        new, logprobs = list[int](), list[float]()
        while len(new) < body["max_tokens"] and reason == "length":
            raw = self.model(torch.tensor([ids + new])).logits[0, -1]
            processed = raw / body["temperature"]
            for token, bias in body["logit_bias"].items():
                processed[int(token)] += bias
            new.append(int(torch.multinomial(processed.softmax(-1), 1)))
            logprobs.append(float((raw if self.raw else processed).log_softmax(-1)[new[-1]]))
            reason = "stop" if new[-1] in body.get("stop_token_ids", ()) else "length"
        kept = {"token_ids": new if self.ids else None, "logprobs": {"token_logprobs": logprobs}}
        return {"finish_reason": reason, **kept}


@pytest.fixture
def fake() -> Iterator[FakeVllm]:
    made = FakeVllm()
    with made.server:
        yield made
        made.server.shutdown()


@pytest.fixture
def opened(fake: FakeVllm, tmp_path: Path) -> Callable[[], Any]:
    url = f"http://127.0.0.1:{fake.server.server_address[1]}"
    own: Any = {"policy": tiny_model(), "tokenizer": byte_tokenizer(), "servers": (url,)}
    options = BackendOptions(tmp_path, "cpu", "float32", 4, weights_folder=tmp_path / "w", **own)
    return lambda: pick_backend("vllm-server", training=True).open(options)


@pytest.mark.parametrize("staleness", [0, 1])
def test_a_run_trains_on_samples_of_its_newest_weights(
    fake: FakeVllm, opened: Any, make_engine: Any, make_config: Any, tmp_path: Path, staleness: int
) -> None:
    quick: Any = {"dynamic_sampling": {"enabled": False}, "validation": {"problems": 1}}
    quick["loss"] = {"mismatch": {"correction": "tis"}}
    config = make_config(steps=3, rollout={"staleness": staleness}, **quick)
    parts = make_engine(config, tmp_path / "run").parts
    engine = TrainingLoop(config, replace(parts, generator=opened()))
    engine.parts.generator.sync_weights(engine.parts.policy.model)
    assert engine.run() == 3
    gaps = [row.get("mismatch_kl", 0.0) for row in engine.parts.folder.metrics()]
    assert gaps[0] < 1e-8 and (staleness or max(gaps) < 1e-8), gaps
    order = "/pause /collective_rpc /reset_prefix_cache /update_weight_version /resume"
    assert " ".join(fake.asked[2:7]) == order


def test_begun_samples_continue_after_given_tokens(fake: FakeVllm, opened: Any) -> None:
    generator, prompt = opened(), encode_prompt(byte_tokenizer(), ASK.prompt)
    generator.sync_weights(tiny_model(seed=1))
    begun = Completion("", (65, 66), (-1.0, -2.0), "paused").answered([67, 68])
    request = replace(ASK, seeds=(1,), begun=(begun,))
    ((one,),) = generator.generate([request], SamplingParams(max_tokens=9))
    assert fake.bodies[-1]["prompt"] == [*prompt, 65, 66, 67, 68]
    assert one.token_ids[:4] == (65, 66, 67, 68) and one.given == ((2, 4),)
    assert one.logprobs[:4] == (-1.0, -2.0, 0.0, 0.0) and len(one.token_ids) <= 9


def test_a_server_that_cannot_sample_for_training_is_refused(fake: FakeVllm, opened: Any) -> None:
    for name, message in (("raw", "does not sample from"), ("ids", "returns no token ids")):
        setattr(fake, name, not getattr(fake, name))
        with pytest.raises(UserError, match=message):
            opened().sync_weights(tiny_model(seed=1))
    fake.broken["/is_paused"] = 404
    with pytest.raises(UserError, match="VLLM_SERVER_DEV_MODE=1"):
        opened()


def test_nothing_is_sampled_after_a_failed_reload_or_a_restart(fake: FakeVllm, opened: Any) -> None:
    generator = opened()
    generator.sync_weights(tiny_model(seed=1))
    count, fake.broken["/collective_rpc"] = len(fake.bodies), 500
    with pytest.raises(ServiceError, match=r"/collective_rpc failed .*--resume"):
        generator.sync_weights(tiny_model(seed=2))
    fake.version, failed = "default", fake.paused
    with pytest.raises(ServiceError, match="weights 'default' instead of"):
        generator.generate([ASK], SamplingParams(max_tokens=4))
    assert failed and len(fake.bodies) == count
