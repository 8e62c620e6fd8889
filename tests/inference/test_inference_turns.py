from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_vllm
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from prorl_common import UserError
from prorl_inference import Completion, Request, SamplingParams, TransformersGenerator
from prorl_inference.backends.vllm import VllmGenerator
from prorl_inference.testing import byte_tokenizer, tiny_model
from prorl_inference.tokens import continuation, encode_prompt, rewritten_history
from prorl_inference.types import sampled_at

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = (
    "<|begin|>{% for m in messages %}{% set role = 'ipython' if m.role == 'tool' else m.role %}"
    "<|start|>{{ role }}<|end|>\n\n{{ m.content | trim }}<|eot|>{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant<|end|>\n\n{% endif %}"
)
GEMMA = (
    "<bos>{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "<turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}</turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>model\n{% endif %}"
)
QWEN = (
    "{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}"
    "{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}{% set text = m.content %}"
    "{% if m.role == 'assistant' and '</think>' in text and loop.index0 < ns.last %}"
    "{% set text = text.split('</think>')[-1].lstrip('\n') %}{% endif %}"
    "{% if m.role == 'tool' %}<|im_start|>user\n<tool_response>\n{{ text }}\n</tool_response><|im_end|>\n"
    "{% else %}<|im_start|>{{ m.role }}\n{{ text }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
OPENING = QWEN.replace(
    "<|im_start|>assistant\n{% endif %}", "<|im_start|>assistant\n<think>\n{% endif %}"
)
SPECIAL = ["<|im_start|>", "<|im_end|>", "<|begin|>", "<|start|>", "<|end|>", "<|eot|>"]
SPECIAL += ["<bos>", "<turn>", "</turn>"]
END = {CHATML: "<|im_end|>", LLAMA: "<|eot|>", GEMMA: "</turn>", QWEN: "<|im_end|>"}
TEXTS = st.text("ab é\n{}.1", min_size=1, max_size=12).map(str.strip).filter(bool)


def tokenizer_of(template: str | None) -> Any:
    tokenizer: Any = byte_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": SPECIAL})
    tokenizer.chat_template = template
    return tokenizer


TOKENIZERS = {template: tokenizer_of(template) for template in END}


@pytest.mark.parametrize("template", list(END), ids=["chatml", "llama", "gemma", "qwen"])
@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), tool=st.booleans())
def test_tokens_added_turn_by_turn_are_those_of_the_rendered_conversation(
    template: str, texts: list[tuple[str, str]], tool: bool
) -> None:
    tokenizer = TOKENIZERS[template]
    role = "tool" if tool and template != GEMMA else "user"
    end = tokenizer.convert_tokens_to_ids(END[template])
    messages = [{"role": "user", "content": "question"}]
    ids = encode_prompt(tokenizer, messages)
    for response, content in texts:
        answer = [{"role": role, "content": content}]
        ids += [*tokenizer.encode(response, add_special_tokens=False), end]
        ids += continuation(tokenizer, messages, answer, end)
        messages += [{"role": "assistant", "content": response}, *answer]
    assert ids == encode_prompt(tokenizer, messages)


def test_a_tools_message_comes_from_the_user_where_the_template_knows_no_tools() -> None:
    tokenizer = TOKENIZERS[GEMMA]
    end = tokenizer.convert_tokens_to_ids("</turn>")
    question = [{"role": "user", "content": "q"}]
    ids = continuation(tokenizer, question, [{"role": "tool", "content": "4"}], end)
    assert tokenizer.decode(ids) == (
        "\n<turn>user\n<tool_response>\n4\n</tool_response></turn>\n<turn>model\n"
    )
    with pytest.raises(UserError, match="cannot render this conversation: roles must alternate"):
        continuation(tokenizer, question, [{"role": "user", "content": "x"}] * 2, end)


def test_without_a_template_turns_are_lines() -> None:
    tokenizer = tokenizer_of(None)
    ids = continuation(tokenizer, [], [{"role": "tool", "content": "4"}], 257)
    assert tokenizer.decode(ids) == "\nTool: 4\nAssistant:"
    assert rewritten_history(tokenizer) is None


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (CHATML, None),
        (LLAMA, None),
        (GEMMA, None),
        (QWEN, "drops or changes the thinking"),
        (OPENING, "drops or changes the thinking"),
        ("{{ raise_exception('one turn only') if messages | length > 1 }}", "one turn only"),
    ],
)
def test_templates_that_rewrite_earlier_turns_are_found(template: str, words: str | None) -> None:
    found = rewritten_history(tokenizer_of(template))
    assert found is None if words is None else words in str(found)


@pytest.mark.parametrize(
    ("sampler", "rows"), [("fixed", 8), ("fixed", 2), ("refill", 3), ("vllm", 8)]
)
def test_a_sampled_token_of_a_conversation_has_the_log_prob_of_a_plain_forward_pass(
    sampler: Any, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = tiny_model(seed=1, spread=0.2), byte_tokenizer()
    generator: Any
    if sampler == "vllm":
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        fake_vllm.install(monkeypatch)
        generator = VllmGenerator(tmp_path, tokenizer, batch_size=rows)
    else:
        generator = TransformersGenerator(model, tokenizer, batch_size=rows, batching=sampler)
    generator.stop_ids = frozenset(range(0, 260, 9))
    messages = [{"role": "user", "content": "ab"}]
    prompt = encode_prompt(tokenizer, messages)
    begun: tuple[Completion, ...] = ()
    texts: list[str] = []
    for turn in range(3):
        request = Request(messages, (1, 2, 3, 4, 5), begun)
        (completions,) = generator.generate([request], SamplingParams(max_tokens=90))
        texts = [c.text for c in completions]
        if sampler == "vllm" and turn:  # a turn is asked for with exactly the tokens so far
            sent = [tuple(ids[len(prompt) :]) for ids in fake_vllm.LLM.prompts[-5:]]
            assert sent == [c.token_ids for c in begun]
        if turn < 2:
            answer = [{"role": "user", "content": "é"}]
            begun = tuple(
                c.answered(continuation(tokenizer, messages, answer, c.token_ids[-1]))
                for c in completions
            )
    assert len({c.token_ids for c in completions}) == 5
    for completion, text in zip(completions, texts, strict=True):
        assert len(completion.given) == 2 and completion.finish_reason == "stop"
        ids = [*prompt, *completion.token_ids]
        with torch.no_grad():
            logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        plain = [float(logprobs[i - 1, ids[i]]) for i in range(len(prompt), len(ids))]
        sampled = sampled_at(len(completion.token_ids), completion.given)
        assert completion.sampled_tokens == len(sampled)
        assert completion.sampled(completion.logprobs) == pytest.approx(
            [plain[i] for i in sampled], abs=1e-4
        )
        for start, stop in completion.given:
            assert completion.logprobs[start:stop] == (0.0,) * (stop - start)
            assert (
                tokenizer.decode(list(completion.token_ids[start:stop]))
                == "<eos><user>é<assistant>"
            )
        last = completion.token_ids[completion.given[-1][1] :]
        assert text == tokenizer.decode(list(last), skip_special_tokens=True)
