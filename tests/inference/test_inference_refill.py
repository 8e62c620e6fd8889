"""Continuous refill gives the tokens of fixed batches and every row once, with a bounded cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import transformers

from prorl_common import MissingExtraError, UnknownNameError, UserError
from prorl_inference import (
    BackendOptions,
    Batching,
    Completion,
    Request,
    SamplingParams,
    TransformersGenerator,
    pick_backend,
)
from prorl_inference.backends.transformers import decoding, refill
from prorl_inference.backends.vllm import named_weights
from prorl_inference.testing import byte_tokenizer, tiny_model

TOKENIZER: Any = byte_tokenizer()
MODEL: Any = tiny_model(seed=1, spread=0.2)
STOPS = frozenset(range(0, 260, 26))
"""Enough end tokens for rows to end at all lengths."""
Results = list[list[Completion]]


def ask(text: str, *seeds: int) -> Request:
    return Request([{"role": "user", "content": text}], seeds)


REQUESTS = [ask("ab" * (i % 5) + "é" * i, *range(10 * i, 10 * i + 3 + i % 3)) for i in range(9)]


def run(
    batching: Batching,
    batch_size: int,
    requests: Sequence[Request] = REQUESTS,
    model: Any = MODEL,
    params: SamplingParams = SamplingParams(max_tokens=60),  # noqa: B008  (frozen)
) -> Results:
    generator = TransformersGenerator(model, TOKENIZER, batch_size=batch_size, batching=batching)
    generator.stop_ids = STOPS
    return generator.generate(requests, params)


def tokens(results: Results) -> list[list[tuple[int, ...]]]:
    return [[completion.token_ids for completion in row] for row in results]


def assert_same(found: Results, expected: Results, within: float = 1e-5) -> None:
    assert tokens(found) == tokens(expected)
    for ours, theirs in zip(found, expected, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert (a.text, a.finish_reason) == (b.text, b.finish_reason)
            assert a.logprobs == pytest.approx(b.logprobs, abs=within)


@pytest.mark.parametrize("batch_size", [1, 2, 5, 8, 16, 64])
def test_refilled_rows_get_the_tokens_of_fixed_batches(batch_size: int) -> None:
    expected = run("fixed", 64)
    lengths = {len(c.token_ids) for row in expected for c in row}
    assert len(lengths) > 8, "rows must end at different steps for this test to say anything"
    assert_same(run("refill", batch_size), expected)


@pytest.mark.parametrize(
    "params",
    [SamplingParams(0.0, 1.0, 30), SamplingParams(0.7, 0.9, 30), SamplingParams(1.0, 1.0, 1)],
)
def test_greedy_nucleus_and_single_tokens_are_equal_too(params: SamplingParams) -> None:
    assert_same(run("refill", 4, params=params), run("fixed", 64, params=params))


@pytest.mark.parametrize("batching", ["fixed", "refill"])
@pytest.mark.parametrize("together", [2, 100])
def test_tokens_past_an_end_are_cut_when_ends_are_looked_for_rarely(
    monkeypatch: pytest.MonkeyPatch, batching: Batching, together: int
) -> None:
    requests = [*REQUESTS, ask("m" * 470, 1, 2)]  # the last two fill the context
    expected = run(batching, 6, requests)
    for module in (decoding, refill):
        monkeypatch.setattr(module, "tokens_between_checks", lambda _: together)
    assert_same(run(batching, 6, requests), expected)


def test_a_prompt_run_beside_a_longer_one_enters_after_its_padding_was_dropped() -> None:
    requests = [ask("l" * 60, 1), ask("s", *range(2, 9))]
    first = TransformersGenerator(MODEL, TOKENIZER)
    first.stop_ids = frozenset()
    long, short = first.generate(requests, SamplingParams(max_tokens=8))
    stop = long[0].token_ids[0]
    assert all(c.token_ids[0] != stop for c in short[:2]), "the long row must end first"
    results = {}
    for batching, rows in (("fixed", 64), ("refill", 3)):
        generator = TransformersGenerator(
            MODEL, TOKENIZER, batch_size=rows, batching=cast(Batching, batching)
        )
        generator.stop_ids = frozenset({stop})
        results[batching] = generator.generate(requests, SamplingParams(max_tokens=8))
    assert_same(results["refill"], results["fixed"])


def test_the_order_of_requests_does_not_matter() -> None:
    turned = run("refill", 5, REQUESTS[::-1])[::-1]
    assert_same(turned, run("refill", 5))


def test_the_cache_stays_as_wide_as_the_longest_running_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widths: list[tuple[int, int]] = []
    original = refill.Batch.advance

    def watched(self: refill.Batch) -> None:
        longest = int(self.mask[torch.tensor(self.running)].sum(dim=1).max())
        widths.append((int(self.cache.get_seq_length()), longest))
        original(self)

    monkeypatch.setattr(refill.Batch, "advance", watched)
    run("refill", 4, REQUESTS * 3, params=SamplingParams(max_tokens=40))
    assert len(widths) > 100
    assert all(width == longest for width, longest in widths)


def test_every_distinct_prompt_is_run_once_and_the_batch_stays_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prefilled: list[int] = []
    sizes: list[int] = []
    original, advance = decoding.prefill, decoding.advance

    def count_prompts(model: Any, prompts: Sequence[Sequence[int]]) -> Any:
        prefilled.append(len(prompts))
        return original(model, prompts)

    def count_rows(model: Any, last: torch.Tensor, seen: torch.Tensor, cache: Any) -> Any:
        sizes.append(len(last))
        return advance(model, last, seen, cache)

    monkeypatch.setattr(refill, "prefill", count_prompts)
    monkeypatch.setattr(refill, "advance", count_rows)
    results = run("refill", 6)
    assert sum(prefilled) == len(REQUESTS)
    generated = sum(len(c.token_ids) for row in results for c in row)
    samples = sum(len(r.seeds) for r in REQUESTS)
    assert sizes == sorted(sizes, reverse=True), "full while samples wait, then only shrinking"
    assert sum(sizes) < 1.3 * (generated - samples)


def test_a_sliding_window_decodes_in_fixed_batches() -> None:
    hf: Any = transformers
    config = hf.MistralConfig(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=8,
        initializer_range=0.3,
        eos_token_id=257,
        pad_token_id=256,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = hf.MistralForCausalLM(config).eval()
    assert not refill.can_refill(model)
    assert_same(run("refill", 4, model=model), run("fixed", 4, model=model))


def test_a_model_with_learned_positions_may_end_at_its_context() -> None:
    hf: Any = transformers
    config = hf.GPT2Config(
        vocab_size=260, n_positions=48, n_embd=32, n_layer=2, n_head=4, eos_token_id=257
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = hf.GPT2LMHeadModel(config).eval()
    params = SamplingParams(max_tokens=500)
    requests = [ask("x" * (3 + 4 * i), i, i + 50) for i in range(8)]
    assert_same(
        run("refill", 4, requests, model, params), run("fixed", 64, requests, model, params)
    )


@pytest.mark.parametrize("batching", ["fixed", "refill"])
def test_each_request_is_reported_once_when_its_last_sample_ends(batching: Batching) -> None:
    requests = [*REQUESTS, ask("none")]
    generator = TransformersGenerator(MODEL, TOKENIZER, batch_size=6, batching=batching)
    generator.stop_ids = STOPS
    told: dict[int, list[Completion]] = {}
    done: list[int] = []
    before: list[int] = []

    def on_result(index: int, completions: list[Completion]) -> None:
        assert index not in told
        told[index] = completions
        before.append(sum(done))

    results = generator.generate(requests, SamplingParams(max_tokens=60), done.append, on_result)
    assert [told[i] for i in range(len(requests))] == results
    assert sum(done) == sum(len(r.seeds) for r in requests)
    assert len(set(before)) > 3, "results must come while others are still being sampled"


def test_what_on_result_raises_ends_the_call_and_leaves_the_model_as_it_was() -> None:
    model: Any = tiny_model(seed=3, spread=0.2)
    model.train()

    def stop(index: int, completions: list[Completion]) -> None:
        raise KeyboardInterrupt

    generator = TransformersGenerator(model, TOKENIZER, batching="refill")
    with pytest.raises(KeyboardInterrupt):
        generator.generate(REQUESTS, SamplingParams(max_tokens=20), None, stop)
    assert model.training


def test_unknown_batching_is_refused() -> None:
    wrong: Any = "dynamic"
    with pytest.raises(UserError, match="fixed or refill"):
        TransformersGenerator(MODEL, TOKENIZER, batching=wrong)


def test_a_prompt_longer_than_the_context_is_named_in_refill_too() -> None:
    with pytest.raises(UserError, match=r"prompt starting 'long long .*32"):
        run("refill", 4, [ask("x", 1), ask("long " * 20, 1)], tiny_model(context=32))


def test_weights_of_another_model_are_taken_over_and_of_the_same_left_alone() -> None:
    mine: Any = tiny_model(seed=4, spread=0.2)
    other: Any = tiny_model(seed=5, spread=0.2)
    generator = TransformersGenerator(mine, TOKENIZER)
    generator.stop_ids = STOPS
    generator.sync_weights(mine)
    params = SamplingParams(max_tokens=20)
    before = generator.generate(REQUESTS[:2], params)
    generator.sync_weights(other)
    after = generator.generate(REQUESTS[:2], params)
    assert tokens(before) != tokens(after)
    assert_same(after, run("fixed", 64, REQUESTS[:2], other, params))


def test_a_peft_model_is_sampled_with_its_adapters() -> None:
    peft: Any = pytest.importorskip("peft", reason="peft is not installed")
    base: Any = tiny_model(seed=6, spread=0.2)
    plain = tokens(run("refill", 4, model=base))
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    wrapped = peft.get_peft_model(base, config).eval()
    adapted = run("refill", 4, model=wrapped)
    assert tokens(adapted) != plain
    merged = dict(named_weights(wrapped))
    fresh: Any = tiny_model(seed=7)
    assert set(merged) == {name for name, _ in fresh.named_parameters()}
    fresh.load_state_dict(merged)
    # Merged weights round differently from a base product plus an adapter's: up to 1.03e-5 on other processors.
    assert_same(run("refill", 4, model=fresh), adapted, within=1e-4)


def test_vllm_that_is_not_installed_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"prorl\[vllm\]"):
        pick_backend("vllm", "cpu", training=True).check_installed()
    sampler = pick_backend("auto", "cpu", training=True)
    live = BackendOptions(Path("."), batching="refill", policy=MODEL, tokenizer=TOKENIZER)
    local = sampler.open(live)
    assert isinstance(local, TransformersGenerator) and local.batching == "refill"
    with pytest.raises(UnknownNameError, match="server, transformers, vllm"):
        pick_backend("sglang", "cpu", training=True)
    with pytest.raises(UserError, match="cannot load new weights during training"):
        pick_backend("server", "cpu", "http://localhost", training=True)
