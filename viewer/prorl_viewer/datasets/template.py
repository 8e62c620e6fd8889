"""A question as the text that a model reads: its messages through the model's chat template."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec

from prorl_common import UserError
from prorl_viewer.subject import Json, Private


def templates_at_hand() -> list[str]:
    """Return the models whose chat template can be shown: those fetched already, where Transformers is installed."""
    if find_spec("transformers") is None:
        return []
    from prorl_inference.models.store import list_models

    return [model.name for model in list_models() if model.path is not None]


def rendered(messages: Sequence[Mapping[str, str]], model: str) -> Json:
    """Return ``messages`` as the text that ``model`` reads, and its length in tokens.

    A process of its own renders it: Transformers would stay in this one, with hundreds of megabytes. Raises UserError
    for a model that is not among those at hand.
    """
    known = templates_at_hand()
    if model not in known:
        there = ", ".join(known) or "none; get one with prorl model fetch"
        raise UserError(f"no template of '{model}' is at hand ({there})")
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as child:
        text, tokens = child.submit(_render, list(messages), model).result()
    return {"model": model, "text": Private(text), "tokens": tokens}


def _render(messages: list[Mapping[str, str]], model: str) -> tuple[str, int]:
    from transformers import AutoTokenizer

    from prorl_inference.models.store import resolve_model
    from prorl_inference.tokens import encode_prompt, render_prompt

    tokenizer = AutoTokenizer.from_pretrained(resolve_model(model), local_files_only=True)
    return render_prompt(tokenizer, messages), len(encode_prompt(tokenizer, messages))
