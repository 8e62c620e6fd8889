"""Prompts of rollouts: from the rollout file, else from the dataset that the run was trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_viewer.messages import message
from prorl_viewer.rollouts.settings import setting
from prorl_viewer.subject import Json

SPLITS = ("train", "validation")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Chat messages as (role, content), where they are from, or why there are none."""

    messages: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    missing: str = ""

    def to_json(self) -> Json:
        """Return it as an answer holds it."""
        messages = [message(role, text) for role, text in self.messages]
        return {"messages": messages, "from": self.origin, "missing": self.missing}


def messages_of(value: Any) -> tuple[tuple[str, str], ...]:
    """Return the chat messages that JSON (or its text) holds; a text of another form is one message of a user."""
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return (("user", value),)
    else:
        found, value = value, str(value)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        return (("user", value),)
    return tuple((str(one.get("role")), _content(one.get("content"))) for one in found)


def plain(value: str) -> str:
    """Return the words of a prompt, as they are searched."""
    return "\n".join(content for _, content in messages_of(value))


def find_prompt(run: Path, row: Mapping[str, Any]) -> Prompt:
    """Return the prompt of a rollout, a row of its file."""
    if row.get("prompt"):
        return Prompt(messages_of(row["prompt"]), "the rollout file")
    where = setting(run, "data", "path")
    if not isinstance(where, str):
        return Prompt(missing="the rollout file holds no prompt, and config.yaml names no dataset")
    folder = Path(where).expanduser()
    if not folder.exists():
        why = f"the rollout file holds no prompt, and its dataset {folder} is not here"
        return Prompt(missing=why)
    try:
        found = _dataset_row(folder, row["sample_id"])
    except Exception as error:  # noqa: BLE001 - whatever is wrong with a file of others is said on the page
        line = (str(error).splitlines() or [type(error).__name__])[0]
        return Prompt(
            missing=f"the rollout file holds no prompt, and {folder} cannot be read ({line})"
        )
    if found is None:
        return Prompt(missing=f"the rollout file holds no prompt, and {folder} has no such row")
    if not _same_check(found, row):
        return Prompt(
            missing=f"the rollout file holds no prompt, and the row of {folder} is checked otherwise now"
        )
    return Prompt(messages_of(found["prompt"]), f"the dataset {folder.name}")


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


def _same_check(found: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Return whether both rows ask the same; the run may have written a verifier's mode into its own."""
    try:
        references = [json.loads(one["reference"]) for one in (found, row)]
    except (ValueError, TypeError, RecursionError):
        return False
    for reference in references:
        if isinstance(reference, dict):
            reference.pop("mode", None)
            reference.pop("modes", None)
    return bool(found["verifier"] == row["verifier"] and references[0] == references[1])


def _content(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
