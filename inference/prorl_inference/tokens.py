"""Turn chat messages into prompt tokens, and sampled tokens into completions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import UserError
from prorl_inference.types import Completion, Ended, Messages, ModelError, OnDone, Request

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_MARK = "prorl_vocabulary"
_PROBE = "prorl probe"
_TOOL = "<tool_response>\n{content}\n</tool_response>"
OPENED = "<think>\n"
"""First text of a completion if the prompt ends with a think tag."""


def render_prompt(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> str:
    """Return the prompt's text, rendered by the chat template and ending where the assistant's turn begins.

    Without a template, messages become lines ``Role: content``.
    """
    if tokenizer.chat_template is None:
        turns = [f"{m['role'].capitalize()}: {m['content']}\n" for m in messages]
        return "".join(turns) + "Assistant:"
    return str(
        tokenizer.apply_chat_template(
            [dict(message) for message in messages], tokenize=False, add_generation_prompt=True
        )
    )


def continuation(
    tokenizer: PreTrainedTokenizerBase, messages: Messages, answer: Messages, last_token: int
) -> list[int]:
    """Return the tokens of ``answer``, the messages that follow a model's response to ``messages``.

    They end where the next response starts. ``last_token``, the last token of the response, is not repeated. Tool
    messages become user messages if the template does not support them. Raises UserError if the template cannot render
    the conversation.
    """
    if tokenizer.chat_template is None:
        between = "\n" + render_prompt(tokenizer, answer)
    else:
        turn = [*messages, {"role": "assistant", "content": _PROBE}]
        try:
            between = _rendered_after(tokenizer, turn, answer)
        except ValueError:
            plain = [
                {
                    "role": "user",
                    "content": _TOOL.format(**m) if m["role"] == "tool" else m["content"],
                }
                for m in answer
            ]
            try:
                between = _rendered_after(tokenizer, turn, plain)
            except ValueError as error:
                raise UserError(
                    f"the model's chat template cannot render this conversation: {error}"
                ) from error
    end = str(tokenizer.decode([last_token], skip_special_tokens=False))
    texts = between if between.startswith(end) else end + between, between
    whole, rest = (tokenizer.encode(text, add_special_tokens=False) for text in texts)
    # after the end token, so that a tokenizer that marks the start of a text marks none here
    return [int(token) for token in (whole[1:] if whole[:1] == [last_token] else rest)]


def _rendered_after(tokenizer: PreTrainedTokenizerBase, turn: Messages, answer: Messages) -> str:
    import jinja2

    try:
        _, found, after = render_prompt(tokenizer, [*turn, *answer]).rpartition(_PROBE)
    except jinja2.TemplateError as error:
        raise ValueError(str(error)) from error
    for message in answer:
        if not found or message["content"].strip() not in after:
            raise ValueError(f"it drops messages of the role {message['role']}")
    return after


def rewritten_history(tokenizer: PreTrainedTokenizerBase) -> str | None:
    """Return how the chat template changes earlier turns of a conversation, or None if it does not."""
    if tokenizer.chat_template is None:
        return None
    for kind, content in (("thinking", "<think>\nabc\n</think>\n\ndef"), ("text", "def")):
        messages: list[Mapping[str, str]] = []
        expected = ""
        for turn in range(3):
            messages.append({"role": "user", "content": f"question {turn}"})
            try:
                now = render_prompt(tokenizer, messages)
            except Exception as error:  # noqa: BLE001 - a template raises what it likes
                return f"it cannot render several turns: {error}"
            if not now.startswith(expected):
                return f"it drops or changes the {kind} of earlier turns"
            opened = opened_think(tokenizer, messages)
            if opened and kind == "text":
                break  # a response without thinking cannot be sampled
            messages.append({"role": "assistant", "content": content})
            sampled = content.removeprefix(opened) if opened else content
            expected = now + sampled
    return None


def set_template_options(tokenizer: Any, options: Mapping[str, bool | int | float | str]) -> None:
    """Set variables of the chat template, such as enable_thinking, in the text of the template.

    Raises UserError if the template does not use a variable.
    """
    template = tokenizer.chat_template
    for name in options:
        if not isinstance(template, str) or not re.search(rf"\b{re.escape(name)}\b", template):
            raise UserError(f"the model's chat template does not read '{name}': remove this option")
    start = "".join(f"{{%- set {n} = {json.dumps(value)} %}}" for n, value in options.items())
    if options and not template.startswith(start):
        tokenizer.chat_template = start + template


def opened_think(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> str:
    """Return the think tag with which the prompt ends, or ""."""
    return OPENED if render_prompt(tokenizer, messages).rstrip().endswith("<think>") else ""


def encode_prompt(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> list[int]:
    """Return the token ids of :func:`render_prompt`. Special tokens are added only without a chat template."""
    text = render_prompt(tokenizer, messages)
    ids = tokenizer.encode(text, add_special_tokens=tokenizer.chat_template is None)
    return [int(token) for token in ids]


def prompt_budget(
    ids: Sequence[int], request: Request, max_tokens: int, context: int | None
) -> int:
    """Return the maximum number of tokens of a completion of the prompt ``ids``, at most ``max_tokens``.

    It is 0 if a prompt that ``follows`` fills the ``context``. Raises UserError if another one does, or if it is empty.
    """
    start = request.prompt_start
    if not ids:
        raise UserError(f"a prompt has no tokens ('{start}'): give it at least one message")
    if context is None:
        return max_tokens
    room = context - len(ids)
    if room < 1 and not request.follows:
        raise UserError(
            f"the prompt starting '{start}' has {len(ids)} tokens, but the model's context holds "
            f"{context}: shorten it or choose a model with a longer context"
        )
    return max(min(max_tokens, room), 0)


def vocabulary(model: Any) -> int | None:
    """Return the number of tokens that :func:`mark_padding` recorded, or None."""
    return getattr(model, _MARK, None)


def mark_padding(model: Any, tokenizer: Any) -> None:
    """Record the tokenizer's size on a model with a larger vocabulary, so that unused ids are never sampled."""
    tokens = max(tokenizer.get_vocab().values()) + 1
    if tokens < model.get_output_embeddings().weight.shape[0]:
        setattr(model, _MARK, tokens)


def stop_token_ids(generation: Any, tokenizer: Any) -> frozenset[int]:
    """Return all end tokens of a tokenizer and, if given, a generation config.

    Includes ``<|im_end|>`` if it exists. Raises ModelError if a configured end token is not a number.
    """
    configured = getattr(generation, "eos_token_id", None)
    listed = configured if isinstance(configured, list | tuple) else [configured]
    if not all(token is None or type(token) is int for token in listed):
        raise ModelError(
            f"eos_token_id is {configured!r} in the model's generation_config.json: it must be a number, a list of "
            "numbers or null"
        )
    ids = {token for token in listed if token is not None}
    if tokenizer.eos_token_id is not None:
        ids.add(int(tokenizer.eos_token_id))
    turn_end = tokenizer.get_vocab().get("<|im_end|>")
    if turn_end is not None:
        ids.add(int(turn_end))
    return frozenset(ids)


def folder_stop_ids(path: Path, tokenizer: Any) -> frozenset[int]:
    """Return all end tokens of the model in the folder ``path``, without loading its weights."""
    import transformers

    hf: Any = transformers
    has_config = (path / "generation_config.json").is_file()
    return stop_token_ids(
        hf.GenerationConfig.from_pretrained(path) if has_config else None, tokenizer
    )


@dataclass(slots=True)
class Row:
    """A sample in progress, with at most ``budget`` tokens. A resumed sample has its earlier ``token_ids``."""

    request: int
    sample: int
    seed: int
    budget: int
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    stopped: bool = False
    given: tuple[tuple[int, int], ...] = ()

    def take(self, sampled: Iterable[tuple[int, float]], stop_ids: frozenset[int]) -> bool:
        """Append (token, log-prob) pairs until the sample ends; return whether it has ended."""
        for token, logprob in sampled:
            self.token_ids.append(token)
            self.logprobs.append(logprob)
            self.stopped = token in stop_ids
            if self.stopped or len(self.token_ids) >= self.budget:
                return True
        return False


@dataclass(frozen=True, slots=True)
class PromptRows:
    token_ids: tuple[int, ...]
    rows: list[Row]


@dataclass(slots=True)
class _Open:
    opened: str
    answers: list[Completion | None]
    rows: list[Row]
    missing: int


class Results:
    """Assembles ended samples into completed requests. ``missing`` is the number of unfinished samples."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, on_done: OnDone = None) -> None:
        self._tokenizer = tokenizer
        self._on_done = on_done
        self.missing = 0
        self._open: dict[int, _Open] = {}
        self._whole: list[Ended] = []

    def add(
        self, key: int, request: Request, max_tokens: int, context: int | None
    ) -> tuple[list[int], list[Row]]:
        """Add a request; return its prompt's tokens and the rows to sample. Raises UserError."""
        ids = encode_prompt(self._tokenizer, request.prompt)
        budget = prompt_budget(ids, request, max_tokens, context)
        answers: list[Completion | None] = []
        rows = []
        for sample, seed in enumerate(request.seeds):
            begun = request.begun[sample] if request.begun else None
            row = Row(key, sample, seed, budget)
            if begun is not None:
                row.token_ids, row.logprobs = list(begun.token_ids), list(begun.logprobs)
                row.given = begun.given
            if not budget:
                begun = Completion("", (), (), "length")
            has_ended = begun is not None and begun.finish_reason != "paused"
            answers.append(begun if has_ended else None)
            if not has_ended:
                rows.append(row)
        self._open[key] = _Open(
            opened_think(self._tokenizer, request.prompt), answers, rows, len(rows)
        )
        self.missing += len(rows)
        if not rows:
            self._close(key)
        return ids, rows

    def ended(self, rows: Sequence[Row]) -> None:
        """Record that rows have ended. Call this once per row."""
        for row in rows:
            request = self._open[row.request]
            request.answers[row.sample] = self._completion(row, request.opened)
            request.missing -= 1
            self.missing -= 1
        if rows and self._on_done is not None:
            self._on_done(len(rows))
        for key in dict.fromkeys(row.request for row in rows):
            if self._open[key].missing == 0:
                self._close(key)

    def whole(self) -> list[Ended]:
        """Return the requests completed since the last call."""
        completed, self._whole = self._whole, []
        return completed

    def lengths(self, key: int) -> list[int]:
        """Return how many tokens each sample of a request in progress has."""
        request = self._open[key]
        tokens = {row.sample: len(row.token_ids) for row in request.rows}
        answers = enumerate(request.answers)
        return [tokens[i] if c is None else len(c.token_ids) for i, c in answers]

    def paused(self) -> list[Ended]:
        """End the stream. Returns all requests that ``whole`` has not returned; unfinished samples are ``paused``."""
        for request in self._open.values():
            for row in request.rows:
                if request.answers[row.sample] is None:
                    ids, logprobs = tuple(row.token_ids), tuple(row.logprobs)
                    request.answers[row.sample] = Completion(
                        "", ids, logprobs, "paused", given=row.given
                    )
        results = [
            *self.whole(),
            *((key, _completions_of(request)) for key, request in self._open.items()),
        ]
        self._open.clear()
        self.missing = 0
        return results

    def _close(self, key: int) -> None:
        self._whole.append((key, _completions_of(self._open.pop(key))))

    def _completion(self, row: Row, opened: str) -> Completion:
        start, stop = row.given[-1] if row.given else (0, 0)
        if row.given:
            before = str(self._tokenizer.decode(row.token_ids[start:stop]))
            opened = OPENED if before.rstrip().endswith("<think>") else ""
        text = self._tokenizer.decode(
            row.token_ids[stop:], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return Completion(
            text=opened + str(text),
            token_ids=tuple(row.token_ids),
            logprobs=tuple(row.logprobs),
            finish_reason="stop" if row.stopped else "length",
            given=row.given,
        )


def _completions_of(request: _Open) -> list[Completion]:
    return [answer for answer in request.answers if answer is not None]
