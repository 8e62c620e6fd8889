"""The tokens of a response over its text: where each ends, its log-probs, and the gap between sampler and trainer.

Leaves out: fetching a tokenizer; what is not on this machine is said to be missing.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import UserError, pip_install
from prorl_viewer.rollouts.settings import setting
from prorl_viewer.subject import Hidden, Json, Private

MOST_TOKENS = 200_000


def tokens_of(run: Path, row: Mapping[str, Any]) -> Json:
    """Return the tokens of a rollout, a row of its file.

    "ends": where each token ends, in UTF-16 units of "text" (null: of the response), as a browser counts; "sampler" and
    "trainer": log-probs in nats, "gap": sampler minus trainer, a number a token or null; "advantage": one number, as all
    tokens of a response have the same. "why" is empty, or says why there is nothing to show.
    """
    ids = row.get("token_ids")
    if not ids:
        return {
            "why": "the rollout file holds no token ids (with logging.rollouts=full runs write them)"
        }
    if len(ids) > MOST_TOKENS:
        return {"why": f"{len(ids):,} tokens are more than this page shows ({MOST_TOKENS:,})"}
    sampler, trainer = (
        _numbers(row.get(name), len(ids)) for name in ("sampler_logprobs", "trainer_logprobs")
    )
    gap = None
    if sampler and trainer:
        pairs = zip(sampler, trainer, strict=True)
        gap = [None if s is None or t is None else round(s - t, 6) for s, t in pairs]
    numbers = {
        "sampler": sampler,
        "trainer": trainer,
        "gap": gap,
        "advantage": row.get("advantage"),
    }
    try:
        pieces = _pieces(_tokenizer(run), ids)
    except UserError as error:
        return {"why": f"the tokens' texts are not known: {error}", "count": len(ids), **numbers}
    text, response = "".join(pieces), row.get("response") or ""
    ends, at = [], 0
    for piece in pieces:
        at += len(piece) if piece.isascii() else len(piece.encode("utf-16-le")) // 2
        ends.append(at)
    own = None if text == response else Private(text)
    return {"why": "", "count": len(ids), "ends": Hidden(ends), "text": own, **numbers}


def _numbers(values: Sequence[float | None] | None, count: int) -> list[float | None] | None:
    if values is None or len(values) != count:
        return None
    return [None if v is None or not math.isfinite(v) else round(v, 6) for v in values]


def _pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return the text that each token adds; one that ends within a character adds nothing, its last one all of it."""
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(skip_special_tokens=True)
    try:
        return [stream.step(tokenizer, token) or "" for token in ids]
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"the tokenizer does not know them ({line})") from error


def _tokenizer(run: Path) -> Any:
    model = setting(run, "model", "path")
    if not isinstance(model, str):
        raise UserError("config.yaml names no model")
    file = _tokenizer_file(model)
    if file is None:
        raise UserError(f"the tokenizer of the run's model {model} is not on this machine")
    if importlib.util.find_spec("tokenizers") is None:
        raise UserError(f"tokenizers is not installed: {pip_install('prorl[local]')}")
    return _load(file, file.stat().st_mtime_ns)


def _tokenizer_file(model: str) -> Path | None:
    from prorl_inference.models.store import KNOWN_MODELS, alias_dir, is_cached

    folder = Path(model).expanduser()
    if model in KNOWN_MODELS and is_cached(model):
        folder = alias_dir(model)
    file = folder / "tokenizer.json"
    return file if file.is_file() else None


@functools.lru_cache(maxsize=2)
def _load(file: Path, _modified: int) -> Any:
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{file} is not a tokenizer ({line})") from error
