"""IFEval rows: instruction ids and their arguments, as lists or as JSON texts, nulls dropped.

Leaves out: the instructions themselves (the instruction verifier).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import BenchmarkItem, field_of, row_id
from prorl_datasets.sources.adapters.instruction_sets import ifeval
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError


def convert_ifeval(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of an IFEval row. Raises DatasetError where the two lists do not fit."""
    prompt = field_of(spec, raw, "question", where)
    if not isinstance(prompt, str) or not prompt.strip():
        raise DatasetError(f"{where}: the prompt must be text")
    ids = _read(field_of(spec, raw, "ids", where), "instruction_id_list", where)
    kwargs = _read(field_of(spec, raw, "kwargs", where), "kwargs", where)
    if len(ids) != len(kwargs):
        raise DatasetError(f"{where}: {len(ids)} instructions and {len(kwargs)} kwargs")
    cleaned = []
    for values in kwargs:  # a 0 is set, a null (Parquet fills them in) is not
        if isinstance(values, str):
            try:
                values = json.loads(values) if values.strip() else {}
            except (ValueError, RecursionError) as error:
                raise DatasetError(f"{where}: kwargs are not valid JSON ({error})") from error
        if not isinstance(values, Mapping | None):
            raise DatasetError(
                f"{where}: each kwargs must be an object, got {type(values).__name__}"
            )
        cleaned.append({str(k): v for k, v in (values or {}).items() if v is not None})
    return BenchmarkItem(
        prompt, {"instruction_id_list": ids, "kwargs": cleaned}, key=row_id(spec, raw, where)
    )


def _read(value: Any, name: str, where: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{where}: {name} is not valid JSON ({error})") from error
    if not isinstance(value, list) or not value:
        raise DatasetError(f"{where}: {name} must be a list with an entry an instruction")
    return value


IFEVAL = AdapterSpec(
    name="ifeval",
    convert=ifeval,
    domain="instruction",
    columns=(("prompt",), ("instruction_id_list",), ("kwargs",)),
    item=convert_ifeval,
    summary="google/IFEval's shape; no gold response",
)
