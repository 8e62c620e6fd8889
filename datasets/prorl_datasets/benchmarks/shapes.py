"""Converts the rows of benchmarks to items; defines the adapters for mathematics, GPQA and IFEval."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from random import Random
from typing import Any

from prorl_common import derive_seed
from prorl_datasets.benchmarks.catalogue import (
    BenchmarkItem,
    BenchmarkSpec,
    Converted,
    LeftOut,
    field_of,
    row_id,
    text_of,
)
from prorl_datasets.candidate import Drop
from prorl_datasets.sources.adapters.fields import (
    Unusable,
    check_columns,
    decoded,
    without_nulls,
)
from prorl_datasets.sources.adapters.instruction_sets import ifeval
from prorl_datasets.sources.adapters.math_sets import hendrycks_math
from prorl_datasets.sources.columns import map_row
from prorl_datasets.sources.row_files import adapted
from prorl_datasets.spec import ADAPTERS, AdapterSpec
from prorl_datasets.types import DatasetError
from prorl_verifiers.extract import last_boxed


def convert(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> Converted | None:
    """Convert a row to an item, or return None if the row belongs to another benchmark. Raises DatasetError."""
    if spec.adapter is None:
        fields = {name: field_of(spec, raw, name, where) for name in spec.columns}
        fields["prompt"] = text_of(spec, raw, "question", where)
        try:
            row = map_row(spec.verifier, None, fields, where, 0)
        except DatasetError as error:
            return LeftOut(where, str(error).removeprefix(f"{where}: "))
        return BenchmarkItem(row.question, row.task.reference, row_id(spec, raw, where), row.gold)
    adapter = ADAPTERS.get(spec.adapter)
    if adapter.item is not None:
        try:
            item: BenchmarkItem | None = adapter.item(spec, raw, where)
        except Unusable as unusable:
            return LeftOut(where, unusable.text)
        return item
    check_columns(adapter, raw, where)
    try:
        converted = adapted(adapter, spec.verifier, raw, where, 0)
    except DatasetError as error:
        return LeftOut(where, str(error).removeprefix(f"{where}: "))
    if isinstance(converted, Drop):
        return LeftOut(where, converted.reason)
    key = converted.metadata.get("source_id")
    return BenchmarkItem(
        converted.question,
        converted.task.reference,
        key=None if key is None else str(key).strip(),
        gold=converted.gold,
        verifier=converted.task.verifier,
        metadata=converted.metadata,
    )


def question_of(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[str | None, str] | None:
    """Return (id or None, question), or None if the row belongs to another benchmark."""
    if spec.adapter is not None:
        adapter = ADAPTERS.get(spec.adapter)
        if adapter.question is not None:
            return adapter.question(spec, raw, where)
        if adapter.item is None:
            item = convert(spec, raw, where)
            return (item.key, item.question) if isinstance(item, BenchmarkItem) else None
    return row_id(spec, raw, where), text_of(spec, raw, "question", where)


_DEGREES = re.compile(r"(?:\^\s*(?:\\circ|\{\s*\\circ\s*\})|°)\s*$")
_NUMPY = re.compile(r"\bnp\.(arc(?:sin|cos|tan)|sinh|cosh|tanh|sin|cos|tan|log|exp|sqrt)\b")
_TIGHT_COMMA = re.compile(r"(?<![\\{]),(?=[^\s}])")


def convert_math(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a row with one short answer."""
    question = text_of(spec, raw, "question", where)
    value = field_of(spec, raw, "answer", where)
    values = value if isinstance(value, list) else [value]
    golds = [str(v).strip() for v in values if v is not None and str(v).strip()]
    if not golds and "solution" in spec.columns:
        solution = field_of(spec, raw, "solution", where)
        box = last_boxed(solution) if isinstance(solution, str) else None
        golds = [box] if box else []
    if not golds:
        raise Unusable("no answer column, and no boxed answer in the solution")
    gold, *alternatives = dict.fromkeys(golds)  # this copy has alternative spellings
    if spec.options.get("integer"):
        # write the answer in plain digits: 336^\circ is 336, 025 is 25, 142.0 is 142
        try:
            number = float(_DEGREES.sub("", gold.strip().strip("$").strip()).strip())
        except ValueError:
            number = math.nan
        low, high = float(spec.options.get("low", -1e9)), float(spec.options.get("high", 1e9))
        if not (number.is_integer() and low <= number <= high):
            raise Unusable(
                f"the answer {gold!r:.60} is not a whole number from {low:g} to {high:g}"
            )
        gold = str(int(number))
    else:
        gold = plain_gold(gold)
    metadata = {"alternatives": [plain_gold(o) for o in alternatives]} if alternatives else {}
    return BenchmarkItem(
        question,
        {"answer": gold},
        key=row_id(spec, raw, where),
        gold=f"\\boxed{{{gold}}}",
        metadata=metadata,
    )


def convert_olympiad(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of an OlympiadBench row. Raises Unusable."""
    modality = field_of(spec, raw, "modality", where)
    if modality not in (None, "Text-only"):
        raise Unusable(f"needs an image (modality {modality})")
    key, question = olympiad_question(spec, raw, where)
    answers = field_of(spec, raw, "answer", where)
    answers = answers if isinstance(answers, list) else [answers]
    if not answers or not all(isinstance(a, str) and a.strip() for a in answers):
        raise Unusable("no final answer")
    several = bool(field_of(spec, raw, "several", where))
    gold = olympiad_gold(answers, several)
    unit, error = (_text(field_of(spec, raw, name, where)) for name in ("unit", "error"))
    metadata = {"is_multiple_answer": several, "unit": unit, "error": error}
    metadata["answer_type"] = _text(field_of(spec, raw, "answer_type", where))
    verifier: str | None = None  # the benchmark's verifier
    reference: dict[str, Any] = {"answer": gold}
    try:
        tolerance = 0.0 if error is None else float(error)
    except ValueError:
        tolerance = 0.0
    if tolerance > 0:  # only stem supports tolerances
        verifier, reference["tolerance"] = "stem", {"abs": tolerance}
        if unit:
            reference["unit"] = unit
    elif unit == "%":
        reference["percent"] = True
    prompt = question
    if several:
        prompt += "\nIf there are several answers, put all of them, separated by commas."
    if unit:
        prompt += f"\nGive the answer in units of {unit}, and leave the unit out of the box."
    return BenchmarkItem(
        question,
        reference,
        key=key,
        gold=f"\\boxed{{{gold}}}",
        verifier=verifier,
        shown=prompt,
        metadata={k: v for k, v in metadata.items() if v is not None},
    )


def olympiad_question(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[str | None, str]:
    """Return (id, question). The question begins with the problem's context."""
    question = text_of(spec, raw, "question", where)
    context = _text(field_of(spec, raw, "context", where))
    text = question if context is None else f"{context}\n\n{question}"
    return row_id(spec, raw, where), text


def olympiad_gold(answers: list[str], several: bool) -> str:
    """Return OlympiadBench's answers as one string without dollar signs.

    A space follows each comma, so that ``27,54,108`` is not read as a single number.
    """
    parts = [a.strip().rstrip(".").replace("\\$", "\x00").replace("$", "").strip() for a in answers]
    text = ", ".join(parts).replace("\x00", "\\$")
    return _TIGHT_COMMA.sub(", ", text) if several else text


def plain_gold(text: str) -> str:
    """Return a gold answer without dollar signs, and with LaTeX names instead of numpy's."""
    text = text.strip()
    if len(text) > 2 and text[0] == text[-1] == "$" and "$" not in text[1:-1]:
        text = text[1:-1].strip()
    return _NUMPY.sub(r"\\\1", text).replace("np.pi", "\\pi")


def _text(value: Any) -> str | None:
    return value.strip() if isinstance(value, str) and value.strip() else None


MATH = AdapterSpec(
    name="math",
    convert=hendrycks_math,
    domain="math",
    columns=(("problem", "question"), ("answer", "solution", "expected_answer")),
    item=convert_math,
    summary="MATH, MATH-500; gold: boxed answer",
)
OLYMPIAD = AdapterSpec("olympiad", domain="math", item=convert_olympiad, question=olympiad_question)


_LETTERS = "ABCD"
_WRONG = ("wrong_1", "wrong_2", "wrong_3")


def convert_gpqa(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a GPQA row with shuffled options. Raises DatasetError if the copy has no options."""
    if "correct_answer" in raw and not any(c in raw for c in spec.columns["wrong_1"]):
        raise DatasetError(
            f"{where}: this copy of GPQA has no options (columns {', '.join(raw)}); "
            "use gpqa_diamond.csv of Idavidrein/gpqa (gated: accept its terms on the hub)"
        )
    record = text_of(spec, raw, "id", where)
    question = text_of(spec, raw, "question", where)
    right = text_of(spec, raw, "answer", where)
    options = [right, *(text_of(spec, raw, name, where) for name in _WRONG)]
    if len({" ".join(option.split()) for option in options}) < len(options):
        raise Unusable("two options are the same text")
    seed = derive_seed(int(spec.options.get("seed", 0)), "benchmark", spec.name, record)
    order = list(range(4))
    Random(seed).shuffle(order)
    choices = [options[i] for i in order]
    letter = _LETTERS[order.index(0)]
    listed = "\n".join(f"{name}) {text}" for name, text in zip(_LETTERS, choices, strict=True))
    return BenchmarkItem(
        question,
        {"answer": letter, "choices": choices},
        key=record,
        gold=f"\\boxed{{{letter}}}",
        shown=f"{question}\n\n{listed}",
        metadata={"order": order, "seed": seed},
    )


GPQA = AdapterSpec("gpqa", domain="stem", item=convert_gpqa)


def convert_ifeval(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    prompt = field_of(spec, raw, "question", where)
    if not isinstance(prompt, str) or not prompt.strip():
        raise DatasetError(f"{where}: the prompt must be text")
    ids = decoded(field_of(spec, raw, "ids", where), list, "instruction_id_list")
    kwargs = decoded(field_of(spec, raw, "kwargs", where), list, "kwargs")
    if not ids or len(ids) != len(kwargs):
        raise Unusable(
            "the numbers of instructions and kwargs differ", f"{len(ids)} and {len(kwargs)}"
        )
    # keep a 0, drop a null, which Parquet fills in
    cleaned = [without_nulls(decoded(values or {}, dict, "kwargs")) for values in kwargs]
    return BenchmarkItem(
        prompt, {"instruction_id_list": ids, "kwargs": cleaned}, key=row_id(spec, raw, where)
    )


IFEVAL = AdapterSpec(
    name="ifeval",
    convert=ifeval,
    domain="instruction",
    columns=(("prompt",), ("instruction_id_list",), ("kwargs",)),
    item=convert_ifeval,
    summary="google/IFEval's shape; no gold response",
)
