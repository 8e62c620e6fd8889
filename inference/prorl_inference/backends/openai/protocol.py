"""Build requests and read answers of the OpenAI protocol.

Errors: TransientError if a retry may succeed, RefusedError if the server refuses the sample, UserError for a wrong key,
address or chat template, ServiceError if the server cannot be used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import ServiceError, UserError
from prorl_common.http import Reply, TransientError, one_line, whole_characters
from prorl_inference.backends.openai.options import ServerOptions
from prorl_inference.types import Completion, FinishReason, SamplingParams

SEED_BITS = 53
"""Seeds are sent modulo 2**53, because some JSON readers lose larger integers."""
VLLM_NEUTRAL = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Parameters for vLLM servers that override the model's generation_config."""
STOPPED = ("stop", "eos", "eos_token", "stop_sequence")
CUT = ("length", "max_tokens")
UNKNOWN_TOKEN = -1
PROBE = -1
"""Request index of a test request, whose answer is discarded."""


class RefusedError(ServiceError):
    """Raised if the server refuses a sample because it is too long or was filtered."""


@dataclass(frozen=True, slots=True)
class Job:
    """Request for one sample.

    ``opened`` is the think tag at the end of the prompt. ``refused`` is the reason if the request must not be sent.
    """

    request: int
    sample: int
    body: Mapping[str, Any]
    opened: str
    prompt_tokens: int
    start: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a :class:`Job`. Token counts are None if the server does not report them."""

    text: str
    finish: FinishReason
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refusal: str = ""


@dataclass(slots=True)
class Usage:
    """Requests, tokens and cost of a server so far."""

    price: tuple[float, float] | None = None
    answers: int = 0
    refused: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def cost(self) -> float | None:
        if self.price is None:
            return None
        tokens = (self.prompt_tokens, self.completion_tokens)
        return sum(t * p for t, p in zip(tokens, self.price, strict=True)) / 1e6


def request_body(
    options: ServerOptions, model: str, params: SamplingParams, seed: int, is_vllm: bool
) -> dict[str, Any]:
    """Return all fields of a request except the prompt. For vLLM servers, they include ``VLLM_NEUTRAL``."""
    body: dict[str, Any] = {
        "model": model,
        "temperature": params.temperature,
        "top_p": params.top_p,
        "max_tokens": params.max_tokens,
        "seed": seed % 2**SEED_BITS,
        "n": 1,
        "stream": False,
        **(VLLM_NEUTRAL if is_vllm else {}),
        **options.extra,
    }
    return {
        name: value
        for name, value in body.items()
        if value is not None or name not in options.extra
    }


def read_object(reply: Reply) -> dict[str, Any]:
    """Return the JSON object in a response. Raises one of the module's errors unless the status is 200."""
    if reply.status == 200:
        return reply.object()
    status, message, line = reply.status, reply.message(), reply.line()
    if status == 402 or "insufficient_quota" in message or b'"insufficient_quota"' in reply.body:
        raise ServiceError(f"the server's quota is used up ({line})")
    if status in (401, 403):
        raise UserError(
            f"the server rejects the key ({line}): set server.key_env to the variable with the right key"
        )
    if 300 <= status < 400:
        place = one_line(reply.hide(reply.header("Location") or ""))[:300]
        raise UserError(
            f"the server redirects to another address ({line}): give its address {place}".rstrip()
        )
    if (trouble := reply.trouble()) is not None:
        raise trouble
    if status in (404, 405):
        raise ServiceError(f"the server does not know this model or address ({line})")
    if "chat template" in message.lower() or "chat_template" in message:
        raise UserError(
            f"the server cannot render chat messages ({line}): give it a chat template, or name "
            "the model's tokenizer and use the completions api"
        )
    raise RefusedError(line)


def read_answer(row: Mapping[str, Any], chat: bool) -> Answer:
    """Return the answer in a response. Separate reasoning is put in front of the text, in think tags.

    Raises TransientError if the response is malformed, RefusedError if it is empty or was filtered.
    """
    try:
        choice = row["choices"][0]
        reason = choice["finish_reason"]
        text = choice["message"].get("content") if chat else choice["text"]
        thought = chat and (
            choice["message"].get("reasoning_content") or choice["message"].get("reasoning")
        )
        usage = row.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    except (LookupError, TypeError, AttributeError) as error:
        raise TransientError(
            f"the answer has an unexpected shape ({type(error).__name__}: {error})"
        ) from error
    if reason == "content_filter":
        raise RefusedError("the server's content filter removed the answer")
    valid = (c is None or (type(c) is int and c >= 0) for c in counts)
    empty = text is None or (isinstance(text, str) and not text.strip())
    if (not isinstance(text, str) and not (chat and empty)) or not all(valid):
        raise TransientError("the answer has an unexpected shape (text or usage)")
    if reason not in (*STOPPED, *CUT):
        raise TransientError(
            f"the answer has the unknown finish reason '{one_line(str(reason))[:40]}'"
        )
    if thought and empty and reason in CUT:  # cut off while reasoning
        return Answer(whole_characters(f"<think>\n{thought}"), "length", counts[0], counts[1])
    if text is None or (thought and empty):
        raise RefusedError(
            "the answer has no text, only reasoning or a tool call: allow more tokens, or start the server without "
            "reasoning and tool parsers"
        )
    if thought:
        text = f"<think>\n{str(thought).strip()}\n</think>\n\n{text}"
    return Answer(
        whole_characters(text), "length" if reason in CUT else "stop", counts[0], counts[1]
    )


def completion(job: Job, answer: Answer, tokenizer: Any) -> Completion:
    """Return ``answer`` as a Completion without token ids and log-probs.

    Tokens are counted by ``tokenizer`` if the server does not count them. Raises UserError if neither does.
    """
    if answer.refusal:
        return Completion("", (), (), "refused", answer.refusal)
    text = answer.text
    count = answer.completion_tokens
    if count is None:
        if tokenizer is None:
            raise UserError(
                "the server does not count an answer's tokens: set server.tokenizer to the model's tokenizer"
            )
        count = len(tokenizer.encode(text, add_special_tokens=False))
    if job.opened and not text.lstrip().startswith("<think>"):
        text = job.opened + text
    return Completion(text, (UNKNOWN_TOKEN,) * count, (math.nan,) * count, answer.finish)


def stable_facts(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a model's description that identify the model."""
    return {
        name: card[name]
        for name in ("id", "root", "parent", "owned_by", "max_model_len")
        if card.get(name) is not None
    }


def cards(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    data = row.get("data")
    listed = data if isinstance(data, list) else []
    return [card for card in listed if isinstance(card, dict) and isinstance(card.get("id"), str)]
