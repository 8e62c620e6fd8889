"""The file source without an adapter: rows mapped by column onto prompt and task.

Leaves out: reading files (``readers``), published data sets (``adapters``), which split a row goes
to (``choose``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest
from prorl_datasets.recipe.parts import Entry, FileSource
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.row import Row
from prorl_datasets.types import DatasetError, Domain
from prorl_verifiers import Task

REQUIRED: dict[Domain, tuple[str, ...]] = {
    "math": ("answer",),
    "stem": ("answer",),
    "code": ("tests",),
    "logic": ("dataset", "entry"),
    "instruction": ("instruction_id_list", "kwargs"),
}
OPTIONAL: dict[Domain, tuple[str, ...]] = {
    "math": (),
    "stem": ("choices", "unit", "tolerance"),
    "code": ("entry_point", "language", "limits", "judge"),
    "logic": (),
    "instruction": (),
}
JSON_FIELDS = ("tests", "entry", "kwargs", "choices", "instruction_id_list", "limits")
SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz", ".csv", ".csv.gz", ".parquet")
ID_FIELD = "id"
"""A column of this name (or the one mapped to it) names a row; two rows of one name are a mistake."""


def source_path(recipe: Recipe, source: FileSource) -> Path:
    """Return the file's path; a relative one starts at the recipe's folder."""
    path = Path(source.path).expanduser()
    return path if path.is_absolute() or recipe.base is None else recipe.base / path


def check(recipe: Recipe, entry: Entry) -> list[str]:
    """Return what is wrong with a file entry before reading rows: the file, its kind, the field
    names.
    """
    source = entry.source
    assert isinstance(source, FileSource)
    fields = (ID_FIELD, "prompt", *REQUIRED[entry.domain], *OPTIONAL[entry.domain], "gold_response")
    wrong = [
        f"entry '{entry.name}': columns: '{name}' is not a field of {entry.domain}"
        f"{nearest(name, fields)}; fields: {', '.join(fields)}"
        for name in source.columns
        if name not in fields
    ]
    path = source_path(recipe, source)
    if not path.name.endswith(SUFFIXES):
        wrong.append(f"entry '{entry.name}': {path}: expected {', '.join(SUFFIXES)}")
    elif not path.is_file():
        wrong.append(f"entry '{entry.name}': no such file: {path}")
    return wrong


def map_row(
    domain: Domain, columns: Mapping[str, str], raw: Mapping[str, Any], where: str, index: int
) -> Row:
    """Return the row of one raw row of a file; ``columns`` maps our field names onto its columns.

    Raises DatasetError, beginning with ``where``, for a missing column or a malformed task.
    """
    fields = _Fields(columns, raw, where)
    question = question_of(fields.get("prompt", True), where)
    reference: dict[str, Any] = {name: fields.get(name, True) for name in REQUIRED[domain]}
    for name in OPTIONAL[domain]:
        value = fields.get(name, name in columns)
        if value is not None:
            reference[name] = value
    if domain == "math" or (domain == "stem" and not isinstance(reference["answer"], list)):
        reference["answer"] = str(reference["answer"])
    if domain == "instruction":
        reference["kwargs"] = _without_nulls(reference["kwargs"], where)
    gold = fields.get("gold_response", "gold_response" in columns)
    path, _, line = where.rpartition(":")
    metadata: dict[str, Any] = {"file": Path(path).name, "line": int(line)}
    if (own := fields.get(ID_FIELD, ID_FIELD in columns)) is not None:
        metadata["source_id"] = own
    task, answer, gold = _task(domain, reference, gold, where)
    return Row(index, question, task, None if gold is None else str(gold), answer, metadata)


def _task(
    domain: Domain, reference: dict[str, Any], gold: Any, where: str
) -> tuple[Task, str | None, Any]:
    """Return the task, the bare answer, and the gold response (made from the answer if need be)."""
    from prorl_verifiers import load_task

    try:
        task = load_task(domain, reference)
    except UserError as error:
        raise DatasetError(f"{where}: {error}") from error
    answer: str | None = None
    if domain in ("math", "stem"):
        parts = reference["answer"]
        parts = parts if isinstance(parts, list) else [parts]
        answer = "; ".join(map(str, parts))
        gold = gold or " ".join(f"\\boxed{{{part}}}" for part in parts)
    elif domain == "logic" and reference["entry"].get("answer") is not None:
        answer = str(reference["entry"]["answer"])
        gold = gold or f"<answer>{answer}</answer>"
    return task, answer, gold


class _Fields:
    """The fields of one raw row, by our names."""

    def __init__(self, columns: Mapping[str, str], raw: Mapping[str, Any], where: str) -> None:
        self._columns, self._raw, self._where = columns, raw, where

    def get(self, name: str, needed: bool) -> Any:
        """Return a field's value, None where it is absent and not needed."""
        column = self._columns.get(name, name)
        if column not in self._raw:
            if not needed:
                return None
            raise DatasetError(
                f"{self._where}: no column '{column}'{nearest(column, self._raw)}; "
                f"columns here: {', '.join(self._raw)}; map it with columns: {{{name}: ...}}"
            )
        value = self._raw[column]
        if needed and (value is None or value == ""):
            raise DatasetError(f"{self._where}: column '{column}' is empty")
        if name in JSON_FIELDS and isinstance(value, str):
            try:
                return json.loads(value)
            except ValueError as error:
                raise DatasetError(
                    f"{self._where}: column '{column}' is not valid JSON ({error})"
                ) from error
        return value


def question_of(value: Any, where: str) -> str:
    """Return the prompt's text; a chat list must hold exactly one user message."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        users = [m["content"] for m in value if isinstance(m, dict) and m.get("role") == "user"]
        if len(users) == 1 and isinstance(users[0], str):
            return users[0].strip()
    raise DatasetError(f"{where}: the prompt must be text or a chat list with one user message")


def _without_nulls(value: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(k is None or isinstance(k, dict) for k in value):
        raise DatasetError(f"{where}: kwargs must be a list of objects")
    return [{k: v for k, v in (kwargs or {}).items() if v is not None} for kwargs in value]
