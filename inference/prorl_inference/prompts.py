"""Chat messages to prompt tokens, in one place so that sampling and training see the same ids.

Uses the tokenizer's own chat template. Leaves out: think tags and few-shot examples, which are part of
the messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from prorl_inference.types import Messages

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
