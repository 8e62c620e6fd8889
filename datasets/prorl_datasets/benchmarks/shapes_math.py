r"""Rows of mathematics benchmarks: AIME, AMC, MATH-500, Minerva, OlympiadBench.

Knows the traps of their copies: golds as floats (AMC), with zeros in front or a unit (AIME), only
inside the solution's box (math-ai/aime24), as Python source (Minerva), as lists with dollar signs
(OlympiadBench). Leaves out: judging an answer (the verifiers).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import (
    BenchmarkItem,
    field_of,
    row_id,
    text_of,
)
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.sources.adapters.math_sets import hendrycks_math
from prorl_datasets.spec import AdapterSpec
from prorl_verifiers.extract import last_boxed

_DEGREES = re.compile(r"(?:\^\s*(?:\\circ|\{\s*\\circ\s*\})|°)\s*$")
_NUMPY = re.compile(r"\bnp\.(arc(?:sin|cos|tan)|sinh|cosh|tanh|sin|cos|tan|log|exp|sqrt)\b")
_TIGHT_COMMA = re.compile(r"(?<![\\{]),(?=[^\s}])")


def convert_math(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a row with a question and one short answer. Raises Unusable."""
    question = text_of(spec, raw, "question", where)
    value = field_of(spec, raw, "answer", where)
    values = value if isinstance(value, list) else [value]
    golds = [str(v).strip() for v in values if v is not None and str(v).strip()]
    if not golds and "solution" in spec.columns:
        solution = field_of(spec, raw, "solution", where)
        box = last_boxed(solution) if isinstance(solution, str) else None
        golds = [box] if box else []
    if not golds:
        raise Unusable("no answer, neither in a column nor in the solution's box")
    gold, *others = dict.fromkeys(golds)  # the others are spellings that the copy offers
    if spec.options.get("integer"):
        # as plain digits: 336^\circ is 336, 025 is 25, 142.0 is 142
        try:
            number = float(_DEGREES.sub("", gold.strip().strip("$").strip()).strip())
        except ValueError:
            number = math.nan
        low, high = float(spec.options.get("low", -1e9)), float(spec.options.get("high", 1e9))
        if not (number.is_integer() and low <= number <= high):
            raise Unusable(f"the answer {gold!r:.60} is not a whole number in range")
        gold = str(int(number))
    else:
        gold = plain_gold(gold)
    metadata = {"alternatives": [plain_gold(o) for o in others]} if others else {}
    return BenchmarkItem(
        question,
        {"answer": gold},
        key=row_id(spec, raw, where),
        gold=f"\\boxed{{{gold}}}",
        metadata=metadata,
    )


def convert_olympiad(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of an OlympiadBench row: context, lists, several answers, unit, tolerance.

    Raises Unusable.
    """
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
    verifier: str | None = None  # the benchmark's own
    reference: dict[str, Any] = {"answer": gold}
    try:
        tolerance = 0.0 if error is None else float(error)
    except ValueError:
        tolerance = 0.0
    if tolerance > 0:  # which stem alone knows
        verifier, reference["tolerance"] = "stem", {"abs": tolerance}
        if unit:
            reference["unit"] = unit
    elif unit == "%":
        reference["percent"] = True
    shown = question
    if several:
        shown += "\nIf there are several answers, put all of them, separated by commas."
    if unit:
        shown += f"\nGive the answer in units of {unit}, and leave the unit out of the box."
    return BenchmarkItem(
        question,
        reference,
        key=key,
        gold=f"\\boxed{{{gold}}}",
        verifier=verifier,
        shown=shown,
        metadata={k: v for k, v in metadata.items() if v is not None},
    )


def olympiad_question(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[str | None, str]:
    """Return (the row's id, the question after its context where it has one)."""
    question = text_of(spec, raw, "question", where)
    context = _text(field_of(spec, raw, "context", where))
    shown = question if context is None else f"{context}\n\n{question}"
    return row_id(spec, raw, where), shown


def olympiad_gold(answers: list[str], several: bool) -> str:
    """Return one text of OlympiadBench's list of answers, without dollar signs.

    A comma without a blank gets one where several answers are asked for, so that ``27,54,108`` is
    no number with separators.
    """
    parts = [a.strip().rstrip(".").replace("\\$", "\x00").replace("$", "").strip() for a in answers]
    text = ", ".join(parts).replace("\x00", "\\$")
    return _TIGHT_COMMA.sub(", ", text) if several else text


def plain_gold(text: str) -> str:
    r"""Return a gold without enclosing dollar signs, with numpy's functions written as LaTeX's.

    ``np.arcsin(10/13)`` becomes ``\arcsin(10/13)``; ``4.5e33`` stays, the verifiers read it.
    """
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
