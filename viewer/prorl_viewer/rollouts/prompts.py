"""Finds the prompts of rollouts, in the rollout file or the run's dataset."""

from __future__ import annotations

import functools
import importlib.util
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError, pip_install
from prorl_common.config import read_config_file
from prorl_viewer.answering import message
from prorl_viewer.subject import Hidden, Json, Private, first_line


def setting(run: Path, section: str, key: str) -> Any:
    try:
        part = read_config_file(run / "config.yaml").get(section)
    except UserError:
        return None
    return part.get(key) if isinstance(part, dict) else None


SPLITS = ("train", "validation")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as (role, content) messages and where it comes from, or why it is ``missing``."""

    messages: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    missing: str = ""

    def to_json(self) -> Json:
        messages = [message(role, text) for role, text in self.messages]
        return {"messages": messages, "from": self.origin, "missing": self.missing}


def messages_of(value: Any) -> tuple[tuple[str, str], ...]:
    """Return chat messages from JSON; any other string becomes one user message."""
    if isinstance(value, str):
        try:
            messages = json.loads(value)
        except (ValueError, RecursionError):
            return (("user", value),)
    else:
        messages, value = value, str(value)
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return (("user", value),)
    pairs = []
    for one in messages:
        content = one.get("content")
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        pairs.append((str(one.get("role")), text))
    return tuple(pairs)


def plain(value: str) -> str:
    return "\n".join(content for _, content in messages_of(value))


def find_prompt(run: Path, row: Mapping[str, Any]) -> Prompt:
    if row.get("prompt"):
        return Prompt(messages_of(row["prompt"]), "the rollout file")
    where = setting(run, "data", "path")
    if not isinstance(where, str):
        return Prompt(missing="the rollout file has no prompt, and config.yaml has no data.path")
    folder = Path(where).expanduser()
    if not folder.exists():
        why = f"the rollout file has no prompt, and its dataset {folder} is not on this machine"
        return Prompt(missing=why)
    try:
        stored = _dataset_row(folder, row["sample_id"])
    except Exception as error:  # noqa: BLE001 - errors of untrusted files are shown on the page
        why = f"{folder} cannot be read ({first_line(error)})"
        return Prompt(missing=f"the rollout file has no prompt, and {why}")
    if stored is None:
        return Prompt(missing=f"the rollout file has no prompt, and {folder} has no such row")
    if not _same_check(stored, row):
        return Prompt(
            missing=f"the rollout file has no prompt, and the row of {folder} now has another reference"
        )
    return Prompt(messages_of(stored["prompt"]), f"the dataset {folder.name}")


def _dataset_row(folder: Path, sample_id: str) -> dict[str, Any] | None:
    from pyarrow import parquet

    files = [folder] if folder.is_file() else [folder / f"{name}.parquet" for name in SPLITS]
    columns = ["prompt", "verifier", "reference"]
    for file in files:
        if file.is_file():
            rows = parquet.read_table(file, columns=columns, filters=[("id", "=", sample_id)])
            for row in rows.slice(0, 1).to_pylist():
                return dict(row)
    return None


def _same_check(stored: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Return whether both rows have the same task, ignoring the verifier's mode."""
    try:
        references = [json.loads(one["reference"]) for one in (stored, row)]
    except (ValueError, TypeError, RecursionError):
        return False
    for reference in references:
        if isinstance(reference, dict):
            reference.pop("mode", None)
            reference.pop("modes", None)
    return bool(stored["verifier"] == row["verifier"] and references[0] == references[1])


MOST_TOKENS = 200_000


def tokens_of(run: Path, row: Mapping[str, Any]) -> Json:
    """Return a rollout's tokens with their log-probabilities, or "why" there are none.

    "sampler" and "trainer" are log-probabilities in nats, "gap" is sampler minus trainer. "advantage" is one number for
    all tokens. "given" are the indices of an environment's tokens, which have no log-probabilities. "ends" are the
    tokens' end offsets in "text" (null: in the response), in UTF-16 units.
    """
    ids = row.get("token_ids")
    if not ids:
        return {
            "why": "the rollout file has no token ids (the setting logging.rollouts=full writes them)"
        }
    if len(ids) > MOST_TOKENS:
        return {"why": f"{len(ids):,} tokens are more than this page shows ({MOST_TOKENS:,})"}
    bounds = row.get("given") or []
    ranges = zip(bounds[::2], bounds[1::2], strict=False)
    given = [i for start, stop in ranges for i in range(max(0, start), min(stop, len(ids)))]
    sampler, trainer = (
        _numbers(row.get(name), len(ids), given)
        for name in ("sampler_logprobs", "trainer_logprobs")
    )
    gap = None
    if sampler and trainer:
        pairs = zip(sampler, trainer, strict=True)
        gap = [None if s is None or t is None else round(s - t, 6) for s, t in pairs]
    numbers = {
        "sampler": sampler,
        "trainer": trainer,
        "gap": gap,
        "given": Hidden(given),
        "advantage": row.get("advantage"),
    }
    try:
        pieces = _pieces(_tokenizer(run), ids)
    except UserError as error:
        return {"why": f"the tokens' texts are unknown: {error}", "count": len(ids), **numbers}
    text, response = "".join(pieces), row.get("response") or ""
    ends, at = [], 0
    for piece in pieces:
        at += len(piece) if piece.isascii() else len(piece.encode("utf-16-le")) // 2
        ends.append(at)
    differing = None if text == response else Private(text)
    return {"why": "", "count": len(ids), "ends": Hidden(ends), "text": differing, **numbers}


def _numbers(
    values: Sequence[float | None] | None, count: int, given: Sequence[int]
) -> list[float | None] | None:
    if values is None or len(values) != count:
        return None
    numbers = [None if v is None or not math.isfinite(v) else round(v, 6) for v in values]
    for index in given:
        numbers[index] = None
    return numbers


def _pieces(tokenizer: Any, ids: Sequence[int]) -> list[str]:
    """Return each token's text; a character that spans several tokens belongs to the last."""
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(skip_special_tokens=True)
    try:
        return [stream.step(tokenizer, token) or "" for token in ids]
    except Exception as error:
        raise UserError(
            f"the tokenizer does not know these token ids ({first_line(error)})"
        ) from error


def _tokenizer(run: Path) -> Any:
    from prorl_inference.models.store import KNOWN_MODELS, alias_dir, is_cached

    model = setting(run, "model", "path")
    if not isinstance(model, str):
        raise UserError("config.yaml has no model.path")
    folder = Path(model).expanduser()
    if model in KNOWN_MODELS and is_cached(model):
        folder = alias_dir(model)
    file = folder / "tokenizer.json"
    if not file.is_file():
        raise UserError(f"the tokenizer of the run's model {model} is not on this machine")
    if importlib.util.find_spec("tokenizers") is None:
        raise UserError(f"tokenizers is not installed: {pip_install('prorl[local]')}")
    return _load(file, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=2)
def _load(file: Path, _modified: int) -> Any:
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_file(str(file))
    except Exception as error:
        raise UserError(f"{file} is not a tokenizer ({first_line(error)})") from error
