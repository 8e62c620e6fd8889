"""Converts rows of HumanEval, Eurus-2 and LiveCodeBench."""

from __future__ import annotations

import base64
import binascii
import json
import pickletools
import zlib
from collections.abc import Mapping
from datetime import date
from typing import Any

from prorl_datasets.benchmarks.asserts import UnreadableTests, as_tests
from prorl_datasets.benchmarks.catalogue import (
    BenchmarkItem,
    BenchmarkSpec,
    field_of,
    row_id,
    text_of,
)
from prorl_datasets.sources.adapters.code_sets import decoded_tests, without_wrapper
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.sources.readers.decode import one_line
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError
from prorl_verifiers.code.shapes import livecodebench_reference
from prorl_verifiers.types import TaskError

CODE_SOURCES = ("apps", "codecontests", "codeforces", "taco")
"""Values of ``data_source`` in PRIME's code rows; in mathematics rows they begin with numina."""


def convert_humaneval(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a HumanEval row; the gold response is the canonical solution."""
    head = field_of(spec, raw, "question", where)
    entry_point = text_of(spec, raw, "entry_point", where)
    source = text_of(spec, raw, "test", where)
    if not isinstance(head, str) or not head.strip():
        raise DatasetError(f"{where}: the prompt must be text")
    try:
        tests = as_tests(source, entry_point, head)
    except UnreadableTests as error:
        raise Unusable(f"tests: {error}") from error
    solution = field_of(spec, raw, "solution", where)
    gold = f"```python\n{head}{solution.rstrip()}\n```" if isinstance(solution, str) else None
    return BenchmarkItem(
        head.strip("\n"),
        {"tests": tests, "entry_point": entry_point},
        key=text_of(spec, raw, "id", where),
        gold=gold,
        metadata={"form": next(iter(tests[0])), "tests": len(tests)},
    )


def convert_eurus(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem | None:
    """Return the item of an Eurus-2 validation row, or None if the row belongs to another benchmark."""
    question = eurus_question(spec, raw, where)
    if question is None:
        return None
    model = field_of(spec, raw, "ground_truth", where)
    truth = model.get("ground_truth") if isinstance(model, Mapping) else model
    if not isinstance(truth, str):
        raise DatasetError(f"{where}: reward_model.ground_truth must be text")
    reference = decoded_tests(truth)
    form = "call" if "entry_point" in reference else "stdin"
    metadata = {"data_source": spec.options["data_source"], "form": form}
    return BenchmarkItem(question[1], reference, metadata=metadata)


def eurus_question(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[None, str] | None:
    """Return (no id, question), or None if the row belongs to another benchmark."""
    source = field_of(spec, raw, "source", where)
    if source != spec.options["data_source"]:
        if source not in CODE_SOURCES and raw.get("ability") == "code":
            raise DatasetError(
                f"{where}: data_source of a code row is {one_line(repr(source), 40)}, but must be one of "
                f"{', '.join(CODE_SOURCES)}"
            )
        return None
    prompt = field_of(spec, raw, "question", where)
    if isinstance(prompt, list):  # the last user message, without PRIME's system message
        users = [m for m in prompt if isinstance(m, Mapping) and m.get("role") == "user"]
        if users and isinstance(users[-1].get("content"), str):
            return None, without_wrapper(users[-1]["content"])
    if isinstance(prompt, str) and prompt.strip():
        return None, without_wrapper(prompt)
    raise DatasetError(f"{where}: the prompt must be text or messages with a user turn")


HUMANEVAL = AdapterSpec("humaneval", domain="code", item=convert_humaneval)
EURUS = AdapterSpec("eurus", domain="code", item=convert_eurus, question=eurus_question)


MAX_UNPACKED_BYTES = 256 * 1024 * 1024
"""Maximum unpacked size of one row's tests; stops decompression bombs."""

MAX_OPCODES = 32
"""Maximum number of opcodes in a pickle; a pickled string has about five."""

_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8")
_SILENT = ("PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT")
_PAIR = ("EMPTY_DICT", "text", "text", "SETITEM", "STOP")
_PAIR_KEY = "input_output"


class PackedError(ValueError):
    """Raised if packed test data is damaged, is too large, or contains a pickle that could run code."""


def unpack_text(packed: str, limit: int = MAX_UNPACKED_BYTES) -> str:
    """Return the string in a base64-encoded, compressed pickle of at most ``limit`` bytes. Raises PackedError."""
    try:
        squeezed = base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise PackedError(f"not base64 ({error})") from error
    machine = zlib.decompressobj()
    try:
        data = machine.decompress(squeezed, limit + 1)
    except zlib.error as error:
        raise PackedError(f"not a zlib stream ({error})") from error
    if len(data) > limit:
        raise PackedError(f"the data has more than {limit:,} bytes when unpacked")
    if not machine.eof or machine.unused_data:
        raise PackedError("the zlib stream is cut off or followed by other bytes")
    return pickled_text(data)


def pickled_text(data: bytes) -> str:
    """Return the string in a pickle without executing it. Raises PackedError."""
    opcodes: list[str] = []
    texts: list[str] = []
    last = 0
    try:
        for number, (opcode, argument, position) in enumerate(pickletools.genops(data)):
            last = position if position is not None else last
            if number >= MAX_OPCODES:
                raise PackedError(
                    f"the pickle has more than {MAX_OPCODES} opcodes, too many for a single string"
                )
            if opcode.name in _SILENT:
                continue
            if opcode.name in _TEXTS:
                texts.append(str(argument))
                opcodes.append("text")
            elif opcode.name == "STOP" or opcode.name in _PAIR:
                opcodes.append(opcode.name)
            else:
                raise PackedError(f"pickle opcode {opcode.name} is not allowed")
    except PackedError:
        raise
    except (ValueError, UnicodeDecodeError) as error:
        raise PackedError(f"not a valid pickle ({error})") from error
    if last != len(data) - 1:
        raise PackedError("the pickle is followed by other bytes")
    if opcodes == ["text", "STOP"]:
        return texts[0]
    if tuple(opcodes) == _PAIR and texts[0] == _PAIR_KEY:
        return texts[1]
    raise PackedError(f"the pickle does not hold a single string (opcodes {' '.join(opcodes[:8])})")


_WITH_STARTER = "Use this starter code:\n```python\n{starter}\n```"
_WITH_STDIN = "Read the input from standard input and write the answer to standard output."


def convert_livecodebench(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    if "labels" in raw and "question_content" not in raw:
        return _sandboxfusion(raw)
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
    value = field_of(spec, raw, "date", where)
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError as error:
        raise DatasetError(f"{where}: contest date {value!r} is not a date (YYYY-MM-DD)") from error


def _tests(value: Any) -> list[Any]:
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


def _sandboxfusion(raw: Mapping[str, Any]) -> BenchmarkItem:
    """Return the item of a row in SandboxFusion's copy, which has a different prompt."""
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
    """Return (id, question). The id is None in SandboxFusion's copy."""
    question = text_of(spec, raw, "question", where)
    if "question_id" not in raw:
        return None, question
    platform = field_of(spec, raw, "platform", where) or "problem"
    return f"{platform}-{row_id(spec, raw, where)}", question


LIVECODEBENCH = AdapterSpec(
    "livecodebench", domain="code", item=convert_livecodebench, question=question_of
)
