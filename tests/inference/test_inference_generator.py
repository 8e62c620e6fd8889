from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers.processors import TemplateProcessing

from prorl_common import UserError
from prorl_inference import (
    Completion,
    Request,
    SamplingParams,
    TransformersGenerator,
    encode_prompt,
    load_tokenizer,
    render_prompt,
    stop_token_ids,
)
from prorl_inference.backends.transformers.generator import pack
from prorl_inference.testing import BYTE_VOCAB, CHAT_TEMPLATE, byte_tokenizer, tiny_model
from prorl_inference.tokens import PromptRows, Row, set_template_options

TOKENIZER: Any = byte_tokenizer()
MODEL: Any = tiny_model(seed=1, spread=0.3)


def ask(text: str, *seeds: int) -> Request:
    return Request([{"role": "user", "content": text}], seeds)


REQUESTS = [ask("a" * (3 * i + 1) + "é", 10 * i, 10 * i + 1, 10 * i + 2) for i in range(5)]


def generator(batch_size: int = 64, model: Any = MODEL) -> TransformersGenerator:
    return TransformersGenerator(model, TOKENIZER, batch_size=batch_size)


def sample(
    requests: Sequence[Request], batch_size: int = 64, **params: float
) -> list[list[Completion]]:
    chosen = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 40, **params}
    return generator(batch_size).generate(
        requests, SamplingParams(chosen["temperature"], chosen["top_p"], int(chosen["max_tokens"]))
    )


def tokens(results: list[list[Completion]]) -> list[list[tuple[int, ...]]]:
    return [[completion.token_ids for completion in row] for row in results]


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_logprobs_equal_a_fresh_forward_pass(temperature: float) -> None:
    model: Any = tiny_model(seed=1, spread=0.15)
    results = generator(model=model).generate(REQUESTS, SamplingParams(temperature, 0.9, 40))
    for request, row in zip(REQUESTS, results, strict=True):
        prompt = encode_prompt(TOKENIZER, request.prompt)
        for completion in row:
            ids = torch.tensor([prompt + list(completion.token_ids)])
            with torch.no_grad():
                logits = model(ids).logits[0, len(prompt) - 1 : -1].float() / temperature
            fresh = torch.log_softmax(logits, -1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
            assert fresh.tolist() == pytest.approx(completion.logprobs, abs=1e-5)


def test_a_seed_gives_the_same_tokens_alone_and_in_a_batch() -> None:
    together = sample(REQUESTS)
    for i, request in enumerate(REQUESTS):
        assert tokens(sample([request])) == [tokens(together)[i]]
        for j, seed in enumerate(request.seeds):
            alone = sample([Request(request.prompt, (seed,))])
            assert alone[0][0].token_ids == together[i][j].token_ids


def test_different_seeds_give_different_tokens() -> None:
    row = tokens(sample([REQUESTS[0]]))[0]
    assert len(set(row)) == 3


def test_the_order_and_the_batch_size_of_requests_do_not_matter() -> None:
    expected = tokens(sample(REQUESTS))
    assert tokens(sample(REQUESTS[::-1]))[::-1] == expected
    assert tokens(sample(REQUESTS, batch_size=4)) == expected
    assert tokens(sample(REQUESTS, batch_size=1)) == expected


def test_a_prompt_asked_twice_keeps_its_two_places() -> None:
    first, second = ask("same", 1, 2), ask("same", 3)
    results = tokens(sample([first, REQUESTS[0], second]))
    assert results == [tokens(sample([r]))[0] for r in (first, REQUESTS[0], second)]


def test_an_end_token_stops_its_row_and_the_others_go_on_undisturbed() -> None:
    results = sample(REQUESTS, max_tokens=200)
    lengths = [len(c.token_ids) for row in results for c in row]
    ends = [c for row in results for c in row if c.finish_reason == "stop"]
    assert len(set(lengths)) > 5, "rows must end at different steps for this test to say anything"
    assert len(ends) > 5
    for completion in ends:
        assert completion.token_ids[-1] == TOKENIZER.eos_token_id
        assert TOKENIZER.eos_token_id not in completion.token_ids[:-1]
        assert "<eos>" not in completion.text
    for row in results:
        for completion in row:
            assert len(completion.logprobs) == len(completion.token_ids)


def test_max_tokens_cuts_with_finish_reason_length() -> None:
    uncut = sample(REQUESTS, max_tokens=40)
    for row, full in zip(sample(REQUESTS, max_tokens=3), uncut, strict=True):
        for completion, whole in zip(row, full, strict=True):
            assert completion.token_ids == whole.token_ids[:3]
            if len(whole.token_ids) > 3:
                assert completion.finish_reason == "length"


def test_a_tiny_top_p_equals_greedy_and_greedy_ignores_the_seed() -> None:
    greedy = sample(REQUESTS, temperature=0.0)
    assert tokens(sample(REQUESTS, top_p=1e-9)) == tokens(greedy)
    assert all(len(set(row)) == 1 for row in tokens(greedy))


def test_done_samples_are_counted_once_each() -> None:
    seen: list[int] = []
    generator(4).generate(REQUESTS, SamplingParams(max_tokens=30), on_done=seen.append)
    assert sum(seen) == 15


def test_requests_without_seeds_and_no_requests_give_empty_lists() -> None:
    assert sample([]) == []
    assert [len(row) for row in sample([ask("x"), ask("y", 1)])] == [0, 1]


def test_a_prompt_longer_than_the_context_is_named_and_ends_a_conversation() -> None:
    small, long = generator(model=tiny_model(context=32)), ask("long " * 20, 1)
    with pytest.raises(UserError, match=r"prompt starting 'long long .*32") as caught:
        small.generate([long], SamplingParams())
    assert "\n" not in str(caught.value)
    ((empty,),) = small.generate([replace(long, follows=True)], SamplingParams())
    assert (empty.text, empty.token_ids, empty.finish_reason) == ("", (), "length")


def test_an_answer_ends_at_the_end_of_the_context() -> None:
    small = tiny_model(context=32)
    row = generator(model=small).generate([ask("x" * 20, 1)], SamplingParams(max_tokens=500))[0]
    assert len(row[0].token_ids) == 32 - 22  # the template adds two tokens to the 20
    assert row[0].finish_reason == "length"


@pytest.mark.parametrize(
    ("params", "named"),
    [
        (SamplingParams(temperature=-0.1), "temperature"),
        (SamplingParams(temperature=float("nan")), "temperature"),
        (SamplingParams(top_p=0.0), "top_p"),
        (SamplingParams(top_p=1.5), "top_p"),
        (SamplingParams(max_tokens=0), "max_tokens"),
    ],
)
def test_parameters_out_of_range_are_refused(params: SamplingParams, named: str) -> None:
    with pytest.raises(UserError, match=named):
        generator().generate([REQUESTS[0]], params)


def test_a_model_in_training_keeps_its_mode_and_gets_no_gradient() -> None:
    model: Any = tiny_model(seed=3)
    model.train()
    generator(model=model).generate([ask("x", 1)], SamplingParams(max_tokens=4))
    assert model.training
    model(torch.tensor([[1, 2, 3]]), labels=torch.tensor([[1, 2, 3]])).loss.backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_new_weights_are_seen_at_once() -> None:
    model: Any = tiny_model(seed=4, spread=0.3)
    live = generator(model=model)
    before = live.generate([ask("x", 1)], SamplingParams(max_tokens=20))[0][0].token_ids
    model.load_state_dict(tiny_model(seed=5, spread=0.3).state_dict())
    after = live.generate([ask("x", 1)], SamplingParams(max_tokens=20))[0][0].token_ids
    assert before != after


def test_bf16_samples_and_reports_the_logprobs_of_its_own_model() -> None:
    model: Any = tiny_model(seed=1, spread=0.3).bfloat16()
    completion = generator(model=model).generate([ask("x", 1)], SamplingParams(max_tokens=20))[0][0]
    prompt = encode_prompt(TOKENIZER, [{"role": "user", "content": "x"}])
    ids = torch.tensor([prompt + list(completion.token_ids)])
    with torch.no_grad():
        logits = model(ids).logits[0, len(prompt) - 1 : -1].float()
    fresh = torch.log_softmax(logits, -1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
    assert fresh.tolist() == pytest.approx(completion.logprobs, abs=0.15)


def test_the_chat_template_opens_the_answer() -> None:
    assert render_prompt(TOKENIZER, [{"role": "user", "content": "hi"}]) == "<user>hi<assistant>"
    ids = encode_prompt(TOKENIZER, [{"role": "user", "content": "hi"}])
    assert ids[0] == TOKENIZER.convert_tokens_to_ids("<user>")
    assert len(ids) == 4


def test_options_of_the_chat_template_are_saved_with_it_and_set_once(tmp_path: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = f"{CHAT_TEMPLATE}{{% if thinking %}}<think>{{% else %}}{{{{ mood }}}}"
    tokenizer.chat_template += "{% endif %}"
    messages = [{"role": "user", "content": "hi"}]
    for _ in range(2):
        set_template_options(tokenizer, {"thinking": False, "mood": 'so "%}'})
    assert tokenizer.chat_template.count("set mood") == 1
    tokenizer.save_pretrained(tmp_path)
    for one in (tokenizer, load_tokenizer(str(tmp_path))):
        assert render_prompt(one, messages) == '<user>hi<assistant>so "%}'
    with pytest.raises(UserError, match="does not read 'thought': remove"):
        set_template_options(tokenizer, {"thought": True})


def test_a_beginning_token_of_template_and_tokenizer_is_there_once() -> None:
    both = byte_tokenizer()
    (first,) = both.encode("<user>", add_special_tokens=False)
    both.backend_tokenizer.post_processor = TemplateProcessing(
        single="<user> $A", special_tokens=[("<user>", first)]
    )
    assert both.encode("hi")[0] == first
    assert encode_prompt(both, [{"role": "user", "content": "hi"}]).count(first) == 1
    both.chat_template = None
    assert encode_prompt(both, [{"role": "user", "content": "hi"}]).count(first) == 1


def test_a_tokenizer_without_a_template_gets_the_plain_form() -> None:
    plain = byte_tokenizer()
    plain.chat_template = None
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert render_prompt(plain, messages) == "System: Be brief.\nUser: hi\nAssistant:"


def test_every_configured_end_token_stops() -> None:
    model: Any = tiny_model()
    model.generation_config.eos_token_id = [5, 6]
    assert stop_token_ids(model.generation_config, TOKENIZER) == {5, 6, TOKENIZER.eos_token_id}


def test_batches_hold_at_most_batch_size_rows_and_every_row_once() -> None:
    work = [PromptRows((0,) * n, [Row(n, j, 0, 1) for j in range(5)]) for n in (1, 2, 3)]
    batches = list(pack(work, 4))
    assert [sum(len(p.rows) for p in batch) for batch in batches] == [4, 4, 4, 3]
    rows = [(row.request, row.sample) for batch in batches for p in batch for row in p.rows]
    assert sorted(rows) == sorted((n, j) for n in (1, 2, 3) for j in range(5))


def test_the_byte_tokenizer_returns_any_text_unchanged() -> None:
    text = "x² + 漢字 🙂\n\ttab  two  spaces , and punctuation !"
    ids = TOKENIZER.encode(text, add_special_tokens=False)
    assert len(ids) == len(text.encode())
    assert TOKENIZER.decode(ids) == text
    assert len(TOKENIZER) == BYTE_VOCAB


@pytest.mark.parametrize("family", ["Llama", "Mistral", "Qwen2", "Qwen3"])
def test_grouped_attention_equals_sdpa_in_every_family_it_is_used_for(family: str) -> None:
    config = getattr(transformers, f"{family}Config")(
        vocab_size=BYTE_VOCAB,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        initializer_range=0.3,
        sliding_window=None,
        eos_token_id=257,
        pad_token_id=256,
        bos_token_id=None,
    )
    torch.manual_seed(0)
    model: Any = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    params = SamplingParams(max_tokens=30)
    ours = generator(model=model)
    found = ours.generate(REQUESTS, params)
    model.set_attn_implementation("sdpa")
    expected = ours.generate(REQUESTS, params)
    assert tokens(found) == tokens(expected)
    for ours_row, row in zip(found, expected, strict=True):
        for a, b in zip(ours_row, row, strict=True):
            assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


def test_a_sliding_window_keeps_the_cache_of_transformers() -> None:
    from prorl_inference.backends.transformers.attention import GrowingLayer, make_cache

    plain = make_cache(MODEL.config)
    assert all(isinstance(layer, GrowingLayer) for layer in plain.layers)
    hf: Any = transformers
    sliding = make_cache(hf.MistralConfig(num_hidden_layers=2, sliding_window=16))
    assert not any(isinstance(layer, GrowingLayer) for layer in sliding.layers)


def test_answers_longer_than_the_caches_spare_room_equal_a_fresh_forward_pass() -> None:
    model: Any = tiny_model(seed=2, spread=0.1)
    request = ask("long", *range(6))
    row = generator(model=model).generate([request], SamplingParams(max_tokens=300))[0]
    assert max(len(c.token_ids) for c in row) > 200
    for completion in row:
        prompt = encode_prompt(TOKENIZER, request.prompt)
        ids = torch.tensor([prompt + list(completion.token_ids)])
        with torch.no_grad():
            logits = model(ids).logits[0, len(prompt) - 1 : -1].float()
        fresh = torch.log_softmax(logits, -1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
        assert fresh.tolist() == pytest.approx(completion.logprobs, abs=1e-5)


def test_a_forward_pass_over_many_tokens_is_sdpas_bit_for_bit() -> None:
    plain, used = tiny_model(seed=6), tiny_model(seed=6)
    generator(model=used)
    ids = torch.arange(3, 40)[None]
    mask = torch.ones_like(ids)
    mask[0, :4] = 0
    with torch.no_grad():
        assert torch.equal(
            used(ids, attention_mask=mask).logits, plain(ids, attention_mask=mask).logits
        )


def test_think_tag_opened_by_the_template_is_put_back_into_the_text() -> None:
    tokenizer: Any = byte_tokenizer()
    tokenizer.chat_template = tokenizer.chat_template.replace(
        "<assistant>{% endif %}", "<assistant><think>\n{% endif %}"
    )
    params = SamplingParams(max_tokens=5)
    (plain,) = generator().generate([ask("hi", 1)], params)[0]
    (thinking,) = TransformersGenerator(MODEL, tokenizer).generate([ask("hi", 1)], params)[0]
    assert not plain.text.startswith("<think>")
    assert thinking.text.startswith("<think>\n")
    assert len(thinking.token_ids) <= 5
