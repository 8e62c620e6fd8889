"""Raw rows by their columns: left out by ``where``, computed by ``map``, onto prompt and task.

The verifier's spec names the fields. Leaves out: rows of published sets (``adapted``).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest
from prorl_datasets.expressions import ExpressionError, condition, parse, value_of
from prorl_datasets.golds import rules
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.rows.row import OWN_PROGRAM, OWN_RESPONSE, BadRow, Row
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.readers.plain import (
    MAX_DEPTH,
    is_nan,
    is_too_deep,
    odd_value,
    one_line,
    some_names,
)
from prorl_datasets.spec import RawRow, RowSettings
from prorl_verifiers import VERIFIERS, load_task

ID_FIELD = "id"
"""A column of this name (or the one mapped to it) names a row; two rows of one name are a mistake."""
GOLD_FIELD = "gold_response"
METADATA = "metadata."


def check_columns_of(entry: Entry, settings: RowSettings) -> list[str]:
    """Return a line for each mapped or computed name that is no field of the entry's verifier."""
    spec = VERIFIERS.get(entry.scored_by)
    fields = (ID_FIELD, "prompt", *spec.columns, *spec.optional_columns, GOLD_FIELD)
    return [
        f"entry '{entry.name}': {place}: '{name}' is not a field of {entry.scored_by}"
        f"{nearest(name, fields)}; fields: {', '.join(fields)}"
        + (", or metadata.NAME" if place == "map" else "")
        for place, names in (("columns", settings.columns), ("map", settings.map))
        for name in names
        if name not in fields and not (place == "map" and name.startswith(METADATA))
    ]


def columns_needed(verifier: str, settings: RowSettings) -> list[str]:
    """Return the raw columns that rows must have by what a recipe says, each once.

    They are for the verifier's fields, and what ``where``, ``map`` and ``keep`` name.
    """
    spec = VERIFIERS.get(verifier)
    fields = [name for name in ("prompt", *spec.columns) if name not in settings.map]
    named = [settings.columns.get(name, name) for name in (*fields, *settings.columns)]
    expressions = [*settings.map.values(), *([] if settings.where is None else [settings.where])]
    named += [name for text in expressions for name in parse(text).names()]
    return list(dict.fromkeys([*named, *(settings.keep or ())]))


def named_once(rows: Iterable[RawRow], settings: RowSettings) -> Iterator[RawRow]:
    """Yield the rows; one whose name was used before says so."""
    column = settings.columns.get(ID_FIELD, ID_FIELD)
    names: dict[int, str] = {}  # by 8 bytes of hash, and the line only: there may be millions
    for where, row, *known in rows:
        if known or row.get(column) is None or ID_FIELD in settings.map:
            yield (where, row, *known)  # type: ignore[misc]
            continue
        name = str(row[column])
        data = name.encode("utf-8", "surrogatepass")
        short = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
        if short in names:
            problem = (
                f"'{column}' is '{one_line(name, 60)}', as in line {names[short]}; names of rows must differ: "
                "drop one, or map another column with columns: {id: ...}"
            )
            yield where, row, problem
            continue
        names[short] = where.rpartition(":")[2]
        yield where, row


def is_wanted(settings: RowSettings, raw: Mapping[str, Any], where: str) -> bool:
    """Whether a raw row meets the source's ``where``. Raises BadRow for one it cannot be asked of."""
    if settings.where is None:
        return True
    try:
        return condition(parse(settings.where), raw)
    except ExpressionError as error:
        raise BadRow(where, f"where {error}", "where has no value") from error


def map_row(
    verifier: str, settings: RowSettings | None, raw: Mapping[str, Any], where: str, index: int
) -> Row:
    """Return the row of one raw row; without ``settings`` its columns have our names, and no others are kept.

    Integers of any length are read. Raises BadRow for a missing or empty column, an expression without a value, a
    gold that is no answer, or a task that its verifier does not take.
    """
    spec = VERIFIERS.get(verifier)
    with long_integers():
        fields = _Fields(settings, spec.json_columns, raw, where)
        question = question_of(fields.get("prompt", True), where)
        reference: dict[str, Any] = {name: fields.get(name, True) for name in spec.columns}
        for name in spec.optional_columns:
            value = fields.get(name, fields.asked(name))
            if value is not None:
                reference[name] = value
        gold = fields.get(GOLD_FIELD, fields.asked(GOLD_FIELD))
        path, _, line = where.rpartition(":")
        metadata: dict[str, Any] = {"file": Path(path).name, "line": int(line)}
        if (own := fields.get(ID_FIELD, fields.asked(ID_FIELD))) is not None:
            metadata["source_id"] = own
        metadata |= fields.extra()
        try:
            task = load_task(spec.name, spec.tidy(reference))
            answer = spec.answer(task.reference)
            given = gold is not None and str(gold).strip() != ""
            response = gold if given else spec.gold(task.reference)
        except UserError as error:
            raise BadRow(where, str(error), "the verifier does not take the reference") from error
        if (rule := rules.clear_of(verifier, answer)) is not None:
            problem = f"the gold is no answer ({rule}): '{one_line(answer or '', 80)}'"
            raise BadRow(where, problem, f"gold: {rule}")
        return Row(
            index,
            question,
            task,
            None if response is None else str(response),
            answer,
            metadata,
            independent="" if not given else OWN_PROGRAM if spec.may_run_programs else OWN_RESPONSE,
        )


class _Fields:
    """The fields of one raw row, by our names: computed, renamed, or as they are."""

    def __init__(
        self,
        settings: RowSettings | None,
        json_fields: tuple[str, ...],
        raw: Mapping[str, Any],
        where: str,
    ) -> None:
        self._settings, self._json, self._raw, self._where = settings, json_fields, raw, where
        self._columns = {} if settings is None else settings.columns
        self._map = {} if settings is None else settings.map
        self._used: set[str] = set()

    def asked(self, name: str) -> bool:
        """Whether the recipe says where a field comes from, so that it has to be there."""
        return name in self._columns or name in self._map

    def get(self, name: str, needed: bool) -> Any:
        """Return a field's value, None where it is absent and not needed."""
        if name in self._map:
            value, said = self._computed(name), f"map.{name}"
        else:
            column = self._columns.get(name, name)
            said = f"column '{column}'"
            if column not in self._raw:
                if not needed:
                    return None
                raise BadRow(
                    self._where,
                    f"no {said}{nearest(column, self._raw)}; columns here: "
                    f"{some_names([*self._raw])}; map it with columns: {{{name}: ...}}",
                    f"no {said}",
                )
            value = self._raw[column]
            self._used.add(column)
        if needed and (value is None or value == "" or is_nan(value)):
            what = "NaN" if is_nan(value) else "empty"
            raise BadRow(self._where, f"{said} is {what}", f"{said} is empty")
        if needed and is_too_deep(value):
            problem = f"holds values nested more than {MAX_DEPTH} deep"
            raise BadRow(self._where, f"{said} {problem}", f"{said} {problem}")
        if name in self._json and isinstance(value, str):
            try:
                return json.loads(value)
            except (ValueError, RecursionError) as error:
                words = one_line(str(error)) if isinstance(error, ValueError) else "nested too deep"
                raise BadRow(
                    self._where, f"{said} is not valid JSON ({words})", f"{said} is not valid JSON"
                ) from error
        return value

    def extra(self) -> dict[str, Any]:
        """Return what the recipe computes for the metadata, and under ``extra`` the columns that are kept."""
        if self._settings is None:
            return {}
        found = {
            name.removeprefix(METADATA): _carried(self._computed(name))
            for name in self._map
            if name.startswith(METADATA)
        }
        keep = self._settings.keep
        for name in keep or ():
            if name not in self._raw:
                raise BadRow(
                    self._where,
                    f"keep: no column '{name}'{nearest(name, self._raw)}; columns here: {some_names([*self._raw])}",
                    f"no column '{name}'",
                )
        kept = {
            name: _carried(value)
            for name, value in self._raw.items()
            if (name not in self._used if keep is None else name in keep)
        }
        return {**found, "extra": kept} if kept else found

    def _computed(self, name: str) -> Any:
        try:
            return value_of(parse(self._map[name]), self._raw)
        except ExpressionError as error:
            problem = f"map.{name} {error}"
            raise BadRow(self._where, problem, f"map.{name} has no value") from error


def _carried(value: Any) -> Any:
    """Return a value as metadata hold it: NaN and infinity are null, what cannot be written says so."""
    if (problem := odd_value(value)) is not None:
        return f"(left out: {problem})"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _carried(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_carried(member) for member in value]
    return value


def question_of(value: Any, where: str) -> str:
    """Return the prompt's text; a chat list must hold exactly one user message. Raises BadRow."""
    text = value if isinstance(value, str) else None
    if isinstance(value, list):
        users = [
            m["content"]
            for m in value
            if isinstance(m, dict) and m.get("role") == "user" and "content" in m
        ]
        text = users[0] if len(users) == 1 and isinstance(users[0], str) else None
    if text is None:
        problem = "the prompt must be text or a chat list with one user message"
        raise BadRow(where, problem, "the prompt is no text")
    if not text.strip():
        raise BadRow(where, "the prompt is empty", "the prompt is empty")
    return text.strip()
