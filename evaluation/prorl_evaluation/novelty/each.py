"""The novelty of each response as JSON lines, written and read: ``prorl eval novelty --each FILE``."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

from prorl_common import atomic_write_text, read_jsonl
from prorl_evaluation.novelty.coverage import Novelty
from prorl_evaluation.types import EvaluationError


def write_each(rows: Iterable[tuple[str, Novelty]], path: Path) -> None:
    """Write a line for each (model, response): ``{"model", "id", "group", "index", "words", "creativity", "uniqueness"}``."""
    lines = []
    for label, row in rows:
        known = not math.isnan(row.creativity)
        value = {
            "model": label,
            "id": row.problem,
            "group": row.group,
            "index": row.index,
            "words": row.words,
            "creativity": row.creativity if known else None,
            "uniqueness": list(row.uniqueness) if known else None,
        }
        lines.append(json.dumps(value, ensure_ascii=False) + "\n")
    atomic_write_text(path, "".join(lines))


def read_each(path: Path) -> tuple[dict[str, list[Novelty]], int]:
    """Return the responses by model, and how many lengths of n-grams were asked (the most that the index can be).

    What share of a response's n-grams was found is not in the file: NaN. Raises EvaluationError for another file.
    """
    found: dict[str, list[Novelty]] = {}
    rows = list(read_jsonl(path))
    try:
        width = max((len(row["uniqueness"] or ()) for _, row in rows), default=0)
        nothing = (math.nan,) * width
        for _, row in rows:
            own = tuple(float(v) for v in row["uniqueness"] or nothing)
            if len(own) != width:
                raise ValueError("two numbers of lengths")
            one = Novelty(row["id"], row["group"], row["index"], row["words"], own, nothing)
            found.setdefault(row["model"], []).append(one)
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluationError(
            f"{path} was not written by prorl eval novelty --each ({error}): write it anew"
        ) from error
    return found, width
