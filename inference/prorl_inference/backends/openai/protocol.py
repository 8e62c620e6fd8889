"""What is sent for one sample and what comes back: bodies, answers, token counts, price.

Leaves out: sending (``client``, ``request_pool``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import UserError
from prorl_inference.backends.openai.client import Refused, Transient, one_line, whole_characters
from prorl_inference.backends.openai.options import ServerOptions
from prorl_inference.types import Completion, FinishReason, Messages, SamplingParams

SEED_BITS = 53
"""Seeds are sent modulo 2**53: larger whole numbers do not survive every JSON reader."""
VLLM_NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Sent to a server that says it is vLLM: it would else take these from the model's generation_config."""
STOPPED = ("stop", "eos", "eos_token", "stop_sequence")
CUT = ("length", "max_tokens")
UNKNOWN_TOKEN = -1


@dataclass(frozen=True, slots=True)
class Job:
    """One sample to ask for. ``opened`` is what the prompt itself wrote of the answer (``<think>``),
    ``prompt_tokens`` may be an estimate; ``refused`` says why it need not be asked at all."""

    request: int
    sample: int
    body: Mapping[str, Any]
    opened: str
    prompt_tokens: int
    start: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a job. Token counts are the server's; None where it gives none."""

    text: str
    finish: FinishReason
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refusal: str = ""


@dataclass(slots=True)
class Usage:
    """What a server was asked for so far and, where its price is known, what that cost."""

    price: tuple[float, float] | None = None
    answers: int = 0
    refused: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def cost(self) -> float | None:
        """Price of all tokens of finished answers; None where no price is known."""
        if self.price is None:
            return None
        tokens = (self.prompt_tokens, self.completion_tokens)
        return sum(t * p for t, p in zip(tokens, self.price, strict=True)) / 1e6


def request_body(
    options: ServerOptions, model: str, params: SamplingParams, seed: int, neutral: bool
) -> dict[str, Any]:
    """Return all fields but the prompt; ``neutral`` adds ``VLLM_NEUTRAL``, which ``extra`` may override."""
    body: dict[str, Any] = {
        "model": model,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "max_tokens": params.max_tokens,
        "seed": seed % 2**SEED_BITS,
        "n": 1,
        "stream": False,
        **(VLLM_NEUTRAL if neutral else {}),
        **options.extra,
    }
    return {
        name: value
        for name, value in body.items()
        if value is not None or name not in options.extra
    }


def chat_messages(prompt: Messages) -> list[dict[str, str]]:
    """Return the messages as plain JSON."""
    return [{"role": m["role"], "content": m["content"]} for m in prompt]


def read_answer(row: Mapping[str, Any], chat: bool) -> Answer:
    """Return the one answer in a response. Raises Transient for another shape, Refused for a filtered one."""
    try:
        choice = row["choices"][0]
        reason = choice["finish_reason"]
        text = _chat_text(choice["message"]) if chat else choice["text"]
        usage = row.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    except (LookupError, TypeError, AttributeError) as error:
        raise Transient(f"an answer of another shape ({type(error).__name__}: {error})") from error
    if reason == "content_filter":
        raise Refused("finish_reason content_filter")
    if not isinstance(text, str) or not all(c is None or _is_count(c) for c in counts):
        raise Transient("an answer of another shape (text or usage)")
    if reason not in (*STOPPED, *CUT):
        raise Transient(f"an answer that ended with '{one_line(str(reason))[:40]}'")
    return Answer(
        whole_characters(text), "length" if reason in CUT else "stop", counts[0], counts[1]
    )


def _chat_text(message: Mapping[str, Any]) -> str:
    """Return the text of a chat answer; reasoning that the server split off is put back in think tags."""
    content = message.get("content") or ""
    thought = message.get("reasoning_content") or message.get("reasoning")
    if not thought:
        return str(content)
    return f"<think>\n{str(thought).strip()}\n</think>\n\n{content}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def completion(job: Job, answer: Answer, tokenizer: Any) -> Completion:
    """Return the answer as a Completion: ids ``UNKNOWN_TOKEN`` and log-probs NaN, as many as tokens.

    Tokens are the server's count, else the tokenizer's of the text. Raises UserError where neither is
    there.
    """
    if answer.refusal:
        return Completion("", (), (), "refused", answer.refusal)
    text = answer.text
    count = answer.completion_tokens
    if count is None:
        if tokenizer is None:
            raise UserError(
                "the server does not say how many tokens an answer has: name the model's tokenizer"
            )
        count = len(tokenizer.encode(text, add_special_tokens=False))
    if job.opened and not text.lstrip().startswith("<think>"):
        text = job.opened + text
    return Completion(text, (UNKNOWN_TOKEN,) * count, (math.nan,) * count, answer.finish)


def first_words(prompt: Messages) -> str:
    """Return the start of a prompt, for messages."""
    return " ".join(str(prompt[-1]["content"]).split())[:60] if prompt else ""


def stable_facts(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a /models entry says that does not change from call to call."""
    return {
        name: card[name]
        for name in ("id", "root", "parent", "owned_by", "max_model_len")
        if card.get(name) is not None
    }


def cards(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the models in an answer of /models; none for another shape."""
    data = row.get("data")
    found = data if isinstance(data, list) else []
    return [card for card in found if isinstance(card, dict) and isinstance(card.get("id"), str)]
