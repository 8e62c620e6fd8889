"""LiveCodeBench rows: public and private tests, functional ones by name, problems by contest date.

Also reads SandboxFusion's copy (content, test, labels). Nothing is unpickled (``packed``). Leaves
out: the problems that the benchmark's ERRATA.md lists (many right outputs, wrong tests).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import (
    BenchmarkItem,
    field_of,
    row_id,
    text_of,
)
from prorl_datasets.benchmarks.packed import PackedError, unpack_text
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError
from prorl_verifiers.code.shapes import livecodebench_reference
from prorl_verifiers.types import TaskError

_WITH_STARTER = "Use this starter code:\n```python\n{starter}\n```"
_WITH_STDIN = "Read the input from standard input and write the answer to standard output."


def convert_livecodebench(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a LiveCodeBench row, its tests unpacked. Raises Unusable."""
    if "labels" in raw and "question_content" not in raw:
        return _sandboxfusion(spec, raw, where)
    question = text_of(spec, raw, "question", where)
    try:
        tests = _tests(field_of(spec, raw, "public", where))
        tests += _tests(field_of(spec, raw, "private", where))
        function = _object(field_of(spec, raw, "metadata", where)).get("func_name")
        reference = livecodebench_reference(tests, function)
    except (PackedError, TaskError, ValueError, RecursionError) as error:
        raise Unusable(f"tests: {error}") from error
    starter = field_of(spec, raw, "starter", where) or ""
    if not isinstance(starter, str):
        raise DatasetError(f"{where}: starter_code must be text, got {type(starter).__name__}")
    added = _WITH_STARTER.format(starter=starter.rstrip()) if starter.strip() else _WITH_STDIN
    platform = field_of(spec, raw, "platform", where)
    day = contest_day(spec, raw, where)
    return BenchmarkItem(
        question,
        reference,
        key=f"{platform or 'problem'}-{text_of(spec, raw, 'id', where)}",
        shown=f"{question}\n\n{added}",
        metadata={
            "contest_date": None if day is None else day.isoformat(),
            "platform": platform,
            "difficulty": field_of(spec, raw, "difficulty", where),
        },
    )


def contest_day(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> date | None:
    """Return the day of the contest, or None where the copy has no dates."""
    value = field_of(spec, raw, "date", where)
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError as error:
        raise DatasetError(f"{where}: contest date {value!r} is no date (YYYY-MM-DD)") from error


def _tests(value: Any) -> list[Any]:
    """Return a list of tests from a list, its JSON text, or the packed form of that text."""
    if value is None:
        return []
    if isinstance(value, str):
        text = value.strip()
        value = json.loads(text if text[:1] in ("[", "{", "") else unpack_text(text))
    if not isinstance(value, list):
        raise TaskError(f"expected a list of tests, got {type(value).__name__}")
    return list(value)


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        value = json.loads(value) if value.strip() else {}
    return value if isinstance(value, Mapping) else {}


def _sandboxfusion(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of SandboxFusion's copy: its own prompt, all tests in one packed text."""
    try:
        body = _object(unpack_text(str(raw["test"])))
        function = body.get("fn_name")
        kind = "functional" if function else "stdin"
        pairs = zip(body["inputs"], body["outputs"], strict=True)
        tests = [{"input": a, "output": b, "testtype": kind} for a, b in pairs]
        reference = livecodebench_reference(tests, function)
        labels = _object(raw["labels"])
        content = str(raw["content"])
    except (PackedError, TaskError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise Unusable(f"tests: {error}") from error
    question = content.split("### Question:\n", 1)[-1].split("### Format:", 1)[0].strip()
    key = str(labels.get("task_id") or raw.get("id"))
    metadata = {"platform": labels.get("category"), "difficulty": labels.get("difficulty")}
    return BenchmarkItem(question, reference, key=key, shown=content.strip(), metadata=metadata)


def question_of(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> tuple[str | None, str]:
    """Return (id, question); SandboxFusion's copy has no id outside its labels."""
    question = text_of(spec, raw, "question", where)
    if "question_id" not in raw:
        return None, question
    platform = field_of(spec, raw, "platform", where) or "problem"
    return f"{platform}-{row_id(spec, raw, where)}", question


LIVECODEBENCH = AdapterSpec(
    "livecodebench", domain="code", item=convert_livecodebench, question=question_of
)
