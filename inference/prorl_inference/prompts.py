"""Chat messages to prompt tokens, and where an answer ends: one place for all who sample or train.

Uses the tokenizer's own chat template; think tags and few-shot examples are part of the messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import UserError
from prorl_inference.types import Messages, Request

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def render_prompt(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> str:
    """Return the prompt text up to and including the opening of the assistant's turn.

    A tokenizer without a chat template gets the plain form ``Role: content`` a line for each message,
    ended by ``Assistant:``.
    """
    if tokenizer.chat_template is None:
        turns = [f"{m['role'].capitalize()}: {m['content']}\n" for m in messages]
        return "".join(turns) + "Assistant:"
    return str(
        tokenizer.apply_chat_template(
            [dict(message) for message in messages], tokenize=False, add_generation_prompt=True
        )
    )


def opened_think(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> str:
    """Return the think tag that the template itself opens at the end of the prompt, else an empty string.

    Templates of reasoning models may end in ``<think>``; the answer's text then lacks the opening tag, and
    whoever reads it could not tell that thinking began.
    """
    return "<think>\n" if render_prompt(tokenizer, messages).rstrip().endswith("<think>") else ""


def encode_prompt(tokenizer: PreTrainedTokenizerBase, messages: Messages) -> list[int]:
    """Return the token ids of :func:`render_prompt`.

    A chat template writes its own special tokens; the plain form gets the tokenizer's usual ones.
    """
    text = render_prompt(tokenizer, messages)
    ids = tokenizer.encode(text, add_special_tokens=tokenizer.chat_template is None)
    return [int(token) for token in ids]


def prompt_budget(
    ids: Sequence[int], request: Request, max_tokens: int, context: int | None
) -> int:
    """Return how many tokens an answer to the prompt ``ids`` may have, ``max_tokens`` at most.

    Raises UserError for a prompt without tokens, or one that fills the model's ``context``.
    """
    start = " ".join(str(request.prompt[-1]["content"]).split())[:60] if request.prompt else ""
    if not ids:
        raise UserError(f"a prompt has no tokens ('{start}'): give it at least one message")
    if context is None:
        return max_tokens
    room = context - len(ids)
    if room < 1:
        raise UserError(
            f"the prompt starting '{start}' has {len(ids)} tokens, but the model's context holds "
            f"{context}: shorten it or choose a model with a longer context"
        )
    return min(max_tokens, room)


def stop_token_ids(generation: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer, by a model's generation config (None where it has none).

    The config's end tokens, the tokenizer's, and ``<|im_end|>`` where the vocabulary has it (chat models
    whose configuration names only the pretraining end token).
    """
    found: set[int] = set()
    configured = getattr(generation, "eos_token_id", None)
    if isinstance(configured, int):
        found.add(configured)
    elif configured is not None:
        found.update(int(token) for token in configured)
    if tokenizer.eos_token_id is not None:
        found.add(int(tokenizer.eos_token_id))
    turn_end = tokenizer.get_vocab().get("<|im_end|>")
    if turn_end is not None:
        found.add(int(turn_end))
    return frozenset(found)


def folder_stop_ids(path: Path, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer of the model in the folder ``path``, without loading it."""
    import transformers

    hf: Any = transformers
    own = (path / "generation_config.json").is_file()
    return stop_token_ids(hf.GenerationConfig.from_pretrained(path) if own else None, tokenizer)
