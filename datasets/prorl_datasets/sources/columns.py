"""Filters raw rows by ``where`` and converts them by their columns."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from prorl_common import UserError, nearest, what_failed
from prorl_datasets.candidate import OWN_PROGRAM, OWN_RESPONSE, BadRow, Row
from prorl_datasets.recipe.parts import Entry
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.readers.decode import (
    MAX_DEPTH,
    is_nan,
    is_too_deep,
    odd_value,
    one_line,
    some_names,
)
from prorl_datasets.spec import FUNCTIONS, RawRow, RowSettings
from prorl_verifiers import VERIFIERS, load_task
from prorl_verifiers.environment import opening_of

ID_FIELD = "id"
"""Name of the column that identifies a row; repeated ids are errors."""
GOLD_FIELD = "gold_response"
NO_CONDITION = "where has no value"
"""Drop reason if ``where`` cannot be evaluated for a row."""
METADATA = "metadata."


def check_columns_of(entry: Entry, settings: RowSettings) -> list[str]:
    """Return a line for each unknown field in ``columns``."""
    spec = VERIFIERS.get(entry.scored_by)
    fields = (ID_FIELD, "prompt", *spec.data.columns, *spec.data.optional_columns, GOLD_FIELD)
    return [
        f"entry '{entry.name}': columns: '{name}' is not a field of {entry.scored_by}"
        f"{nearest(name, fields)}; fields: {', '.join(fields)}, or metadata.NAME"
        for name in settings.columns
        if name not in fields and not name.startswith(METADATA)
    ]


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """Return a column, or a nested value by dotted path (``messages.0.content``). Raises LookupError."""
    if column in row or "." not in column:
        return row[column]
    value: Any = row
    for part in column.split("."):
        if isinstance(value, list) and part.isdigit():
            value = value[int(part)]
        elif isinstance(value, Mapping):
            value = value[part]
        else:
            raise KeyError(part)
    return value


def columns_needed(verifier: str, settings: RowSettings) -> list[str]:
    """Return the raw columns that the recipe's settings require."""
    spec = VERIFIERS.get(verifier)
    own = () if spec.is_environment and "prompt" not in settings.columns else ("prompt",)
    named = [settings.columns.get(name, name) for name in (*own, *spec.data.columns)]
    conditions = settings.where if isinstance(settings.where, dict) else {}
    return list(
        dict.fromkeys([*named, *settings.columns.values(), *conditions, *(settings.keep or ())])
    )


def named_once(rows: Iterable[RawRow], settings: RowSettings) -> Iterator[RawRow]:
    """Yield the rows; to a row that repeats an earlier id, add an error message (see ``RawRow``)."""
    column = settings.columns.get(ID_FIELD, ID_FIELD)
    names: dict[int, str] = {}  # keys are 8-byte hashes: there may be millions
    for where, row, *broken in rows:
        value = None
        with suppress(LookupError):
            value = value_at(row, column)
        if broken or value is None:
            yield (where, row, *broken)  # type: ignore[misc]
            continue
        name = str(value)
        data = name.encode("utf-8", "surrogatepass")
        short = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
        if short in names:
            problem = (
                f"'{column}' is '{one_line(name, 60)}', as in line {names[short]}; ids of rows must differ: "
                "drop one row, or name another column with columns: {id: ...}"
            )
            yield where, row, problem
            continue
        names[short] = where.rpartition(":")[2]
        yield where, row


def is_wanted(settings: RowSettings, raw: Mapping[str, Any], where: str) -> bool:
    """Return True if a row meets the source's ``where``. Raises BadRow."""
    if settings.where is None:
        return True
    if isinstance(settings.where, str):
        return _call_function(settings.where, raw, where)
    return all(_holds(column, values, raw, where) for column, values in settings.where.items())


def _call_function(name: str, raw: Mapping[str, Any], where: str) -> bool:
    function = FUNCTIONS.get(name)
    try:
        answer: Any = function.call(dict(raw))
    except UserError:
        raise
    except Exception as error:  # a plug-in raised it: the row is bad
        problem = f"where: {name} raised {one_line(what_failed(error))}"
        raise BadRow(where, problem, NO_CONDITION) from error
    if not isinstance(answer, bool):
        problem = f"where: {name} returns {type(answer).__name__}, not True or False"
        raise BadRow(where, problem, NO_CONDITION)
    return answer


def _holds(column: str, expected: Any, raw: Mapping[str, Any], where: str) -> bool:
    """Return True if a column has one of the expected values. Raises BadRow if it is missing or has another type."""
    try:
        value = value_at(raw, column)
    except LookupError as error:
        problem = (
            f"where: no column '{column}'{nearest(column, raw)}; columns here: {some_names([*raw])}"
        )
        raise BadRow(where, problem, NO_CONDITION) from error
    values = expected if isinstance(expected, list) else [expected]
    kinds = {_kind(one) for one in values}
    if value is not None and _kind(value) not in kinds and kinds != {"null"}:
        kinds_text = " or ".join(sorted(kinds))
        problem = (
            f"where: column '{column}' holds {_kind(value)}, but the recipe expects {kinds_text}"
        )
        raise BadRow(where, problem, NO_CONDITION)
    return any(_kind(one) == _kind(value) and one == value for one in values)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case _:
            return "a list or an object"


def map_row(
    verifier: str, settings: RowSettings | None, raw: Mapping[str, Any], where: str, index: int
) -> Row:
    """Convert a raw row. Without ``settings``, the columns must have the names of prorl's fields.

    Raises BadRow for a missing column, an impossible gold answer, or a rejected task.
    """
    spec = VERIFIERS.get(verifier)
    with long_integers():
        fields = _Fields(settings, spec.data.json_columns, raw, where)
        prompt = fields.get("prompt", not spec.is_environment)
        question = "" if prompt is None else question_of(prompt, where)
        reference: dict[str, Any] = {name: fields.get(name, True) for name in spec.data.columns}
        for name in spec.data.optional_columns:
            value = fields.get(name, fields.is_mapped(name))
            if value is not None:
                reference[name] = value
        gold = fields.get(GOLD_FIELD, fields.is_mapped(GOLD_FIELD))
        path, _, line = where.rpartition(":")
        metadata: dict[str, Any] = {"file": Path(path).name, "line": int(line)}
        if (source_id := fields.get(ID_FIELD, fields.is_mapped(ID_FIELD))) is not None:
            metadata["source_id"] = source_id
        metadata |= fields.extra()
        try:
            task = load_task(spec.name, spec.data.tidy(reference))
            answer = spec.data.answer(task.reference)
            has_gold = gold is not None and str(gold).strip() != ""
            response = gold if has_gold else spec.data.gold(task.reference)
        except UserError as error:
            raise BadRow(where, str(error), "the verifier rejects the reference") from error
        question = question or question_of(opening_of(task), where)
        if (rule := rule_against(verifier, answer)) is not None:
            problem = f"the gold text is not an answer ({rule}): '{one_line(answer or '', 80)}'"
            raise BadRow(where, problem, f"gold: {rule}")
        return Row(
            index,
            question,
            task,
            None if response is None else str(response),
            answer,
            metadata,
            independent=""
            if not has_gold
            else OWN_PROGRAM
            if spec.may_run_programs
            else OWN_RESPONSE,
        )


class _Fields:
    def __init__(
        self,
        settings: RowSettings | None,
        json_fields: tuple[str, ...],
        raw: Mapping[str, Any],
        where: str,
    ) -> None:
        self._settings, self._json, self._raw, self._where = settings, json_fields, raw, where
        self._columns = {} if settings is None else settings.columns
        self._used: set[str] = set()

    def is_mapped(self, name: str) -> bool:
        return name in self._columns

    def get(self, name: str, needed: bool) -> Any:
        column = self._columns.get(name, name)
        label = f"column '{column}'"
        try:
            value = value_at(self._raw, column)
        except LookupError as error:
            if not needed:
                return None
            raise BadRow(
                self._where,
                f"no {label}{nearest(column, self._raw)}; columns here: "
                f"{some_names([*self._raw])}; name the right one with columns: {{{name}: ...}}",
                f"no {label}",
            ) from error
        self._used.add(column if column in self._raw else column.partition(".")[0])
        if needed and (value is None or value == "" or is_nan(value)):
            state = "NaN" if is_nan(value) else "empty"
            raise BadRow(self._where, f"{label} is {state}", f"{label} is empty")
        if needed and is_too_deep(value):
            problem = f"holds values nested more than {MAX_DEPTH} deep"
            raise BadRow(self._where, f"{label} {problem}", f"{label} {problem}")
        if name in self._json and isinstance(value, str):
            try:
                return json.loads(value)
            except (ValueError, RecursionError) as error:
                words = one_line(str(error)) if isinstance(error, ValueError) else "nested too deep"
                raise BadRow(
                    self._where,
                    f"{label} is not valid JSON ({words})",
                    f"{label} is not valid JSON",
                ) from error
        return value

    def extra(self) -> dict[str, Any]:
        if self._settings is None:
            return {}
        named = {
            name.removeprefix(METADATA): _for_metadata(self.get(name, True))
            for name in self._columns
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
            name: _for_metadata(value)
            for name, value in self._raw.items()
            if (name not in self._used if keep is None else name in keep)
        }
        return {**named, "extra": kept} if kept else named


def _for_metadata(value: Any) -> Any:
    """Make a value storable in the metadata: NaN and infinity become null."""
    if (problem := odd_value(value)) is not None:
        return f"(left out: {problem})"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _for_metadata(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_for_metadata(member) for member in value]
    return value


def question_of(value: Any, where: str) -> str:
    """Return the text of a prompt, a string or messages with one user message. Raises BadRow."""
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
        raise BadRow(where, problem, "the prompt is not text")
    if not text.strip():
        raise BadRow(where, "the prompt is empty", "the prompt is empty")
    return text.strip()


_NULL_WORDS = frozenset(
    (
        "nan", "null", "n/a", "#n/a", "<na>", "nil", "no answer", "no answer found", "no answer detected",
        "not available", "not applicable", "no solution detected",
    )
)  # fmt: skip
_ELSEWHERE = re.compile(
    r"(?:please )?(?:see|refer to|cf\.?|look at|check)\b[^$\\=\d]{0,60}"
    r"\b(?:above|below|proof|solution|explanation|text|figure|diagram|image|answer|work|attached|appendix)\b.{0,40}"
    r"|(?:the )?(?:above|proof|solution|answer|explanation)(?: is)? (?:above|below|given above|shown above|omitted|"
    r"left to the reader|attached)\b.{0,40}"
    r"|(?:as )?(?:shown|proved|proven|stated|described|explained|given|seen) (?:above|below)\b.{0,40}",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 400


def rule_against(verifier: str, answer: str | None) -> str | None:
    """Return why a gold answer cannot be correct, or None. Answers for plug-in verifiers are not examined."""
    if answer is None or not VERIFIERS.origin(verifier).is_ours:
        return None
    return None if VERIFIERS.get(verifier).data.target_type is None else no_answer(answer)


def no_answer(answer: str) -> str | None:
    """Return a category such as "null word" if a string cannot be an answer, else None."""
    plain = " ".join(answer.split()).strip()
    small = plain.lower().strip("$ .")
    if not plain:
        return "empty"
    if plain == "None" or small in _NULL_WORDS:
        return "null word"
    if len(plain) <= _LONGEST and _ELSEWHERE.fullmatch(plain):
        return "points elsewhere"
    return None
