"""An adapter for a dataset of sums, used as a recipe's source and as a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_datasets import AdapterSpec, Drop


def sums(raw: Mapping[str, Any], where: str, index: int) -> dict[str, Any] | Drop:
    """Return prompt and answer of a row {"sum": "1 + 2", "is": 3}; rows without ``is`` are dropped."""
    if raw["is"] is None:
        return Drop(index, "no sum", where)
    return {"prompt": f"What is {raw['sum']}?", "answer": str(raw["is"]), "id": raw["key"]}


SPEC = AdapterSpec(
    name="sums", convert=sums, domain="math", columns=(("sum",), ("is",), ("", "key"))
)
