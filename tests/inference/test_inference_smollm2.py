"""The default model, if the cache has it; CI covers it by the quickstart."""

from __future__ import annotations

import pytest

from prorl_inference import Request, SamplingParams, is_cached, load_generator, render_prompt

pytestmark = pytest.mark.skipif(
    not is_cached("smollm2-135m"),
    reason="the model is not cached (prorl model fetch); the quickstart covers it",
)


def test_the_default_model_answers_a_plain_question_and_stops() -> None:
    generator = load_generator("smollm2-135m", device="cpu", dtype="fp32")
    question = [{"role": "user", "content": "What is the capital of France?"}]
    done = generator.generate(
        [Request(question, (0,))], SamplingParams(temperature=0.0, max_tokens=24)
    )[0][0]
    assert "Paris" in done.text
    assert done.finish_reason == "stop"
    prompt = render_prompt(generator.tokenizer, question)
    assert prompt.endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert generator.tokenizer.eos_token == generator.tokenizer.pad_token == "<|im_end|>"
    assert generator.tokenizer.tokenize("= 1205") == ["=", "Ġ", "1", "2", "0", "5"]
