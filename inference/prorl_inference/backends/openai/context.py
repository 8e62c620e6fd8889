"""Lower ``max_tokens`` to fit a server's context length, if there is no tokenizer to count a prompt's tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from prorl_inference.backends.openai.protocol import Answer, RefusedError

EXCEEDED = re.compile(
    r"context[ _](?:length|size|window)|maximum context|max_model_len|requested token count exceeds",
    re.IGNORECASE,
)
CONTEXT = re.compile(
    r"maximum context length (?:is|of) (\d+)|context (?:size|window)[^\d]{0,12}(\d+)", re.IGNORECASE
)
PROMPT = re.compile(
    r"(?<!at least )\b(\d+) (?:in the (?:messages|prompt)|tokens from the input|input tokens)",
    re.IGNORECASE,
)
"""Matches the prompt's size in messages of vLLM, SGLang and hosted servers, unless it is only a lower bound."""
CURE = "set server.tokenizer to the model's tokenizer, or request fewer tokens"


class ContextLimits:
    """Remembers for each prompt how many tokens its completion may have on a server. Thread-safe."""

    def __init__(self, context: int | None, tell: Callable[[str], None]) -> None:
        self._context, self._tell = context, tell
        self._rooms: dict[str, int] = {}

    def fitted(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the request ``body``, with ``max_tokens`` lowered to what is known to fit after its prompt."""
        requested, room = body.get("max_tokens"), self._rooms.get(_prompt(body))
        return (
            body
            if requested is None or room is None or room >= requested
            else {**body, "max_tokens": room}
        )

    def learn(
        self,
        body: Mapping[str, Any],
        refusal: RefusedError,
        measure: Callable[[Mapping[str, Any]], Answer],
    ) -> Mapping[str, Any]:
        """Return ``body`` with a smaller ``max_tokens``, after the server refused it because of its length.

        The prompt's size is read from the server's message ``refusal`` or, if that fails, found with a request that
        ``measure`` sends. Raises RefusedError if the size is unknown or the prompt fills the context.
        """
        message, requested = str(refusal), body.get("max_tokens")
        if requested is None or not EXCEEDED.search(message):
            raise refusal
        if (smaller_body := self.fitted(body)) is not body:  # another sample has set the limit
            return smaller_body
        context = _number(CONTEXT, message) or self._context
        size = None if _prompt(body) in self._rooms else _number(PROMPT, message)
        if size is None and requested > 1 and context is not None:
            size = measure({**body, "max_tokens": 1}).prompt_tokens
        if context is None or size is None:
            raise RefusedError(f"{message}: {CURE}")
        if not 1 <= (room := context - size) < requested:
            raise RefusedError(
                f"{message}: the prompt has {size} tokens, but the server's context holds {context}"
            )
        self._rooms[_prompt(body)] = room
        self._tell(
            f"the server's context holds {context} tokens, prompt and answer together: long prompts "
            "leave fewer tokens for their answers than were requested"
        )
        return {**body, "max_tokens": room}


def _prompt(body: Mapping[str, Any]) -> str:
    return json.dumps(body.get("messages"))


def _number(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return None if match is None else int(next(g for g in match.groups() if g is not None))
