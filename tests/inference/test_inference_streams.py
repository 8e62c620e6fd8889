from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from prorl_common import PluginError
from prorl_inference import (
    Batching,
    Completion,
    ContinuingStream,
    Generator,
    OnResult,
    Request,
    SamplingParams,
    Stream,
    TransformersGenerator,
    encode_prompt,
    open_stream,
    sample_all,
)
from prorl_inference.backends import vllm
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.workers.pool import sample_batches

TOKENIZER: Any = byte_tokenizer()
MODEL: Any = tiny_model(seed=1, spread=0.2)
STOPS = frozenset(range(0, 260, 26))
PARAMS = SamplingParams(max_tokens=60)


def ask(text: str, *seeds: int, begun: Sequence[Completion] = ()) -> Request:
    return Request([{"role": "user", "content": text}], seeds, tuple(begun))


REQUESTS = [ask("ab" * (i % 5) + "é" * i, *range(10 * i, 10 * i + 3 + i % 3)) for i in range(9)]


def generator_of(batching: str, rows: int) -> TransformersGenerator:
    found = TransformersGenerator(
        MODEL, TOKENIZER, batch_size=rows, batching=cast(Batching, batching)
    )
    found.stop_ids = STOPS
    return found


def tokens(found: Sequence[Sequence[Completion]]) -> list[list[tuple[int, ...]]]:
    return [[c.token_ids for c in row] for row in found]


WANTED = generator_of("fixed", 64).generate(REQUESTS, PARAMS)
BACKENDS = pytest.mark.parametrize(
    ("batching", "rows"), [("fixed", 64), ("fixed", 7), ("refill", 4), ("refill", 16)]
)


def test_the_samples_end_at_many_lengths() -> None:
    assert len({len(c.token_ids) for row in WANTED for c in row}) > 8


@BACKENDS
def test_requests_that_come_while_others_run_get_the_same_tokens(batching: str, rows: int) -> None:
    found: dict[int, list[Completion]] = {}
    with generator_of(batching, rows).stream(PARAMS) as stream:
        waiting = list(enumerate(REQUESTS))
        for _ in range(3):
            stream.submit(*waiting.pop())
        while (ended := stream.take()) or stream.running:
            found.update(ended)
            if waiting:
                stream.submit(*waiting.pop())
        assert stream.take() == [] and stream.stop() == []
    assert tokens([found[i] for i in range(len(REQUESTS))]) == tokens(WANTED)


@BACKENDS
def test_a_sample_that_was_stopped_goes_on_as_if_it_had_not_been(batching: str, rows: int) -> None:
    generator = generator_of(batching, rows)
    found: dict[int, list[Completion]] = {}
    requests, stops = dict(enumerate(REQUESTS)), 0
    while requests:
        with generator.stream(PARAMS) as stream:
            for key, request in requests.items():
                stream.submit(key, request)
            for _ in range(5):
                found.update(stream.take())
            stopped = dict(stream.stop())
            assert stream.running == 0
        stops += any(c.token_ids for cs in stopped.values() for c in cs)
        requests = {
            key: ask(REQUESTS[key].prompt[0]["content"], *REQUESTS[key].seeds, begun=cs)
            for key, cs in stopped.items()
        }
    assert stops > 2
    for key, row in found.items():
        assert [c.token_ids for c in row] == [c.token_ids for c in WANTED[key]]
        assert [c.text for c in row] == [c.text for c in WANTED[key]]
        for ours, whole in zip(row, WANTED[key], strict=True):
            assert ours.logprobs == pytest.approx(whole.logprobs, abs=1e-5)


def test_equal_calls_sample_bit_for_bit_the_same() -> None:
    def taken() -> list[Any]:
        calls: list[Any] = []
        with generator_of("refill", 6).stream(PARAMS) as stream:
            assert stream.repeatable
            for key, request in enumerate(REQUESTS[:5]):
                stream.submit(key, request)
            for key, request in enumerate(REQUESTS[5:], 5):
                calls.append((stream.take(), stream.running))
                stream.submit(key, request)
            return [*calls, stream.stop()]

    assert taken() == taken()


def test_a_group_whose_samples_are_all_there_is_returned_as_it_is() -> None:
    done = Completion("x", (1,), (-0.5,), "stop")
    with generator_of("fixed", 4).stream(PARAMS) as stream:
        stream.submit(3, ask("x", 1, 2, begun=[done, done]))
        assert (stream.running, stream.take()) == (0, [(3, [done, done])])


def test_the_model_is_in_its_own_mode_again_after_a_stream_that_broke() -> None:
    model = tiny_model()
    model.train()
    with (
        pytest.raises(RuntimeError, match="broke"),
        TransformersGenerator(model, TOKENIZER).stream(PARAMS) as stream,
    ):
        stream.submit(0, ask("x", 1))
        raise RuntimeError("broke")
    assert model.training


@pytest.mark.parametrize("batching", ["fixed", "refill"])
@pytest.mark.parametrize("autocast", [False, True])
def test_samples_in_progress_take_new_weights_and_keep_their_cache(
    batching: Batching, autocast: bool
) -> None:
    old, new = (tiny_model(seed=seed, spread=0.2) for seed in (1, 2))
    generator = TransformersGenerator(
        copy.deepcopy(old), TOKENIZER, batch_size=3, batching=batching
    )
    generator.stop_ids = frozenset()
    params = SamplingParams(max_tokens=40)  # more than 256 tokens in all, so weights are packed
    found: dict[int, list[Completion]] = {}
    with (
        torch.autocast("cpu", torch.bfloat16, enabled=autocast),
        generator.stream(params) as stream,
    ):
        assert isinstance(stream, ContinuingStream)
        for key in range(4):
            stream.submit(key, ask("ab", 2 * key, 2 * key + 1))
        for _ in range(5):
            assert stream.take(0.0) == []
        lengths = [stream.lengths(key) for key in range(4)]
        assert lengths == [[5, 5], [5, 0], [0, 0], [0, 0]]
        generator.sync_weights(new)
        while stream.running:
            found.update(stream.take())
        prompt = list(encode_prompt(TOKENIZER, ask("ab").prompt))
        for key, completions in found.items():
            for completion, known in zip(completions, lengths[key], strict=True):
                ids = torch.tensor([[*prompt, *completion.token_ids]])
                seen = len(prompt) + known - 1 if known else 0
                with torch.no_grad():
                    cache = old(ids[:, :seen]).past_key_values if known else None
                    logits = new(ids[:, seen:], past_key_values=cache).logits[0].float()
                chosen = logits.log_softmax(-1)[:-1].gather(-1, ids[0, seen + 1 :, None])[:, 0]
                expected = chosen[-len(completion.token_ids) + known :].tolist()
                assert completion.logprobs[known:] == pytest.approx(
                    expected, abs=0.05 if autocast else 1e-4
                )


class ListsOnly:
    """A backend that accepts whole lists only."""

    model_id = model_digest = ""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: OnResult | None = None,
    ) -> list[list[Completion]]:
        self.calls.append(len(requests))
        found = [[Completion(str(seed), (), (), "stop") for seed in r.seeds] for r in requests]
        for i, completions in enumerate(found):
            if on_result is not None:
                on_result(i, completions)
        return found

    def sync_weights(self, model: Any) -> None: ...

    def close(self) -> None: ...


def test_a_backend_that_takes_lists_only_is_a_stream_too() -> None:
    backend: Generator = ListsOnly()
    stream: Stream = open_stream(backend, PARAMS)
    with stream:
        stream.submit(5, ask("a", 1, 2))
        stream.submit(6, ask("b", 3))
        assert stream.running == 3
        assert [(key, [c.text for c in cs]) for key, cs in stream.take()] == [
            (5, ["1", "2"]),
            (6, ["3"]),
        ]
        stream.submit(7, ask("c", 4))
        assert [(k, [c.finish_reason for c in cs]) for k, cs in stream.stop()] == [(7, ["paused"])]
        assert stream.take() == []
    assert sample_all(open_stream(backend, PARAMS), [ask("d", 8)])[0][0].text == "8"


class FakeVllm:
    """An engine that gives each request two tokens per step: ``length`` tokens of its seed, then the end."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Any]] = {}
        self.aborted: list[str] = []

    def add_request(self, name: str, prompt: dict[str, Any], params: Any) -> None:
        self.requests[name] = [prompt["prompt_token_ids"], params, 0]

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names
        for name in names:
            del self.requests[name]

    def step(self) -> list[Any]:
        outputs = []
        for name, (_, params, made) in list(self.requests.items()):
            fresh = [65] * min(2, params.max_tokens - made)
            self.requests[name][2] = made + len(fresh)
            finished = made + len(fresh) == params.max_tokens
            if finished:
                del self.requests[name]
            answer = SimpleNamespace(
                token_ids=fresh,
                logprobs=[{65: SimpleNamespace(logprob=-0.5)} for _ in fresh],
                finish_reason="length" if finished else None,
            )
            outputs.append(SimpleNamespace(request_id=name, outputs=[answer], finished=finished))
        return outputs


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeVllm:
    class Kinds:
        DELTA = "delta"

    fake = SimpleNamespace(
        SamplingParams=lambda **options: SimpleNamespace(**options),
        sampling_params=SimpleNamespace(RequestOutputKind=Kinds),
    )
    monkeypatch.setattr(vllm, "_vllm", lambda: fake)
    return FakeVllm()


def vllm_stream(engine: FakeVllm, params: SamplingParams) -> vllm.VllmStream:
    own: Any = SimpleNamespace(
        tokenizer=TOKENIZER,
        batch_size=8,
        context_tokens=64,
        bias=None,
        stop_ids=STOPS,
        seeded=True,
        handed_over=1,
    )
    return vllm.VllmStream(own, engine, params, None)


def test_vllm_samples_are_stopped_with_what_they_have_and_gone_on_with(engine: FakeVllm) -> None:
    params = SamplingParams(max_tokens=6)
    with vllm_stream(engine, params) as stream:
        stream.submit(0, ask("x", 3, 4))
        stream.take(0.0)
        assert stream.running == 2
        ((_, begun),) = stream.stop()
    assert engine.aborted == ["0-0", "0-1"] and not engine.requests
    count = len(begun[0].token_ids)
    assert 0 < count < 6
    assert [c.finish_reason for c in begun] == ["paused"] * 2
    with vllm_stream(engine, params) as stream:
        stream.submit(1, ask("x", 3, 4, begun=begun))
        prompt, options, _ = engine.requests["1-0"]
        assert prompt[-count:] == [65] * count and options.max_tokens == 6 - count
        assert options.seed != 3, "vLLM's random numbers begin anew with a request"
        found: list[Any] = []
        while stream.running:
            found += stream.take()
    ((_, whole),) = found
    assert [len(c.token_ids) for c in whole] == [6, 6]
    assert whole[0].logprobs == (-0.5,) * 6


def test_vllm_log_probs_of_a_cut_distribution_are_nan(engine: FakeVllm) -> None:
    stream = vllm_stream(engine, SamplingParams(1.0, 0.9, 2))
    ((completion,),) = sample_all(stream, [ask("x", 1)])
    assert all(math.isnan(x) for x in completion.logprobs) and len(completion.logprobs) == 2


@pytest.mark.parametrize(
    ("tells", "gives", "line"),
    [
        (False, 2, r"called on_result\(index, completions\) 0 times for 1 requests"),
        (True, 1, "returned 1 completions for 2 seeds"),
    ],
)
def test_a_backend_that_leaves_samples_out_is_one_line(tells: bool, gives: int, line: str) -> None:
    def generate(requests: Any, params: Any, on_done: Any, on_result: Any) -> Any:
        found = [[Completion("x", (1,), (0.0,), "stop")] * gives for _ in requests]
        for index, completions in enumerate(found if tells else ()):
            on_result(index, completions)
        return found

    canned = cast(Generator, SimpleNamespace(generate=generate))
    with open_stream(canned, PARAMS) as stream:
        stream.submit(0, ask("a", 1, 2))
        with pytest.raises(PluginError, match=line):
            stream.take()
    with pytest.raises(PluginError, match=line):
        sample_batches(canned, [[ask("a", 1, 2)]], PARAMS, print, print)
