"""Raw rows by their columns: onto prompt and task, as the verifier's spec names its fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import Row
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.spec import RawRow
from prorl_datasets.types import DatasetError
from prorl_verifiers import VERIFIERS, load_task

ID_FIELD = "id"
"""A column of this name (or the one mapped to it) names a row; two rows of one name are a mistake."""


def check_columns_of(entry: Entry, columns: Mapping[str, str]) -> list[str]:
    """Return a line for each mapped name that is no field of the entry's verifier."""
    spec = VERIFIERS.get(entry.scored_by)
    fields = (ID_FIELD, "prompt", *spec.columns, *spec.optional_columns, "gold_response")
    return [
        f"entry '{entry.name}': columns: '{name}' is not a field of {entry.scored_by}"
        f"{nearest(name, fields)}; fields: {', '.join(fields)}"
        for name in columns
        if name not in fields
    ]


def named_once(rows: Iterable[RawRow], columns: Mapping[str, str]) -> Iterator[RawRow]:
    """Yield the rows. Raises DatasetError, with both lines, for a row name used twice."""
    column = columns.get(ID_FIELD, ID_FIELD)
    names: dict[int, int] = {}  # by 8 bytes of hash, and the line only: there may be millions
    for where, row in rows:
        if row.get(column) is not None:
            name = str(row[column])
            data = name.encode("utf-8", "surrogatepass")
            short = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
            if short in names:
                raise DatasetError(
                    f"{where}: '{column}' is '{name}', as in line {names[short]}; names of rows "
                    f"must differ: drop one, or map another column with columns: {{id: ...}}"
                )
            names[short] = int(where.rpartition(":")[2])
        yield where, row


def map_row(
    verifier: str, columns: Mapping[str, str], raw: Mapping[str, Any], where: str, index: int
) -> Row:
    """Return the row of one raw row; ``columns`` maps the fields of ``verifier`` onto its columns.

    Integers of any length are read. Raises DatasetError, beginning with ``where``, for a missing column or
    a malformed task.
    """
    spec = VERIFIERS.get(verifier)
    with long_integers():
        fields = _Fields(columns, spec.json_columns, raw, where)
        question = question_of(fields.get("prompt", True), where)
        reference: dict[str, Any] = {name: fields.get(name, True) for name in spec.columns}
        for name in spec.optional_columns:
            value = fields.get(name, name in columns)
            if value is not None:
                reference[name] = value
        gold = fields.get("gold_response", "gold_response" in columns)
        path, _, line = where.rpartition(":")
        metadata: dict[str, Any] = {"file": Path(path).name, "line": int(line)}
        if (own := fields.get(ID_FIELD, ID_FIELD in columns)) is not None:
            metadata["source_id"] = own
        try:
            task = load_task(spec.name, spec.tidy(reference))
            answer = spec.answer(task.reference)
            gold = gold or spec.gold(task.reference)
        except UserError as error:
            raise DatasetError(f"{where}: {error}") from error
        return Row(index, question, task, None if gold is None else str(gold), answer, metadata)


class _Fields:
    """The fields of one raw row, by our names."""

    def __init__(
        self,
        columns: Mapping[str, str],
        json_fields: tuple[str, ...],
        raw: Mapping[str, Any],
        where: str,
    ) -> None:
        self._columns, self._json, self._raw, self._where = columns, json_fields, raw, where

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
        if name in self._json and isinstance(value, str):
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
