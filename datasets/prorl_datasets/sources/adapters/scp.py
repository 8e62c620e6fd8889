"""SCP-116K in both published shapes: a worked solution as reference, and model responses beside it.

The gold response is the shipped model response, DeepSeek-R1's where there is one; so the builder's gold
check is the rule that stands in for ProRL's judge: keep a row where our STEM verifier accepts the shipped
response for the answer taken out of the worked solution. The columns of the 274k version are partly
unknown, hence the candidates; names are tried in order. Leaves out: judging prose answers (dropped).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from prorl_datasets.rows.row import Row
from prorl_datasets.sources.adapters.fields import (
    Raw,
    Unusable,
    column,
    finished,
    is_missing,
    missing_column,
    text_of,
)  # fmt: skip
from prorl_datasets.sources.adapters.worked import NO_TRUTH, short_answer
from prorl_datasets.spec import AdapterSpec

PROBLEM = ("problem",)
REFERENCE = ("extract_solution", "matched_solution", "extracted_solution", "solution")
RESPONSES = (
    "r1_response", "r1_solution", "deepseek_r1_solution", "deepseek_r1_response", "r1_answer",
    "r1_generation", "r1_output", "r1",
)  # fmt: skip
OLD_RESPONSES = ("qwq_solution", "o1_solution")
_R1 = re.compile(r"(?:^|_)r1(?:_|$)|deepseek", re.IGNORECASE)
_NOT_A_RESPONSE = re.compile(
    r"^is_|same|reason|think|thought|token|length|model|prompt", re.IGNORECASE
)


def response_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that hold a model's response, R1's first, best candidate first."""
    found = list(columns)
    known = [name for name in RESPONSES if name in found]
    like = [n for n in found if n not in known and _R1.search(n) and not _NOT_A_RESPONSE.search(n)]
    return [*known, *like, *(name for name in OLD_RESPONSES if name in found)]


def scp116k(raw: Raw, where: str, index: int) -> Row:
    """EricLu/SCP-116K, 116k and 274k versions.

    Raises DatasetError naming all columns where none can be a model's response: what the 274k version
    calls it is not known, and without one no row could be kept.
    """
    problem = text_of(column(raw, PROBLEM, where, "scp116k"), "problem")
    reference = column(raw, REFERENCE, where, "scp116k")
    candidates = response_columns(raw)
    if not candidates:
        raise missing_column("scp116k", (*RESPONSES, *OLD_RESPONSES), list(raw), where)
    shipped = [
        name for name in candidates if isinstance(raw[name], str) and not is_missing(raw[name])
    ]
    if not shipped:
        raise Unusable("no model response", f"of {', '.join(candidates)}")
    if is_missing(reference):
        raise Unusable(NO_TRUTH, "the reference solution is empty")
    found = short_answer(problem, text_of(reference, "reference solution"))
    task: dict[str, Any] = {"answer": found.answer}
    if found.choices is not None:
        task["choices"] = list(found.choices)
    metadata: dict[str, Any] = {"gold_from": shipped[0], "answer_rule": found.rule}
    if not is_missing(raw.get("domain")):
        metadata["field"] = str(raw["domain"]).strip()
    metadata |= {
        name: raw[name]
        for name in raw
        if name.startswith("is_") and "same" in name and isinstance(raw[name], bool)
    }
    return finished(
        index, problem, "stem", task, gold=raw[shipped[0]], answer=found.answer, metadata=metadata,
        independent=f"a response by another ({shipped[0]})",
    )  # fmt: skip


SCP116K = AdapterSpec(
    "scp116k",
    scp116k,
    "stem",
    (PROBLEM, REFERENCE),
    summary="EricLu/SCP-116K, both versions; gold: the shipped model response, in any of its columns",
)
