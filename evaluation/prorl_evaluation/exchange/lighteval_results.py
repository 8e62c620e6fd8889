"""Our results in the JSON of lighteval: ``results/<model>/results_*.json``.

Shape: logging/evaluation_tracker.py of huggingface/lighteval (0.13). Only what we know is written; its per-sample
details are Parquet files of its own documents, which we do not have. What is ours alone stands under ``prorl``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prorl_evaluation.exchange.exported import Exported, as_line, folder_name, stamp


def lighteval_files(found: Sequence[Exported], out: Path) -> dict[Path, bytes]:
    """Return the one file for the results of one model."""
    parts = found[0].result.model_id.strip("/").split("/")
    folder = out.joinpath("results", *map(folder_name, parts[-2:]))
    file = folder / f"results_{stamp(found)}.json"
    return {file: as_line(lighteval_results(found), indent=2)}


def lighteval_results(found: Sequence[Exported]) -> dict[str, Any]:
    """Return the object for results of one model. A task's key has no number of shots: it is not known."""
    return {
        "config_general": {
            "model_name": found[0].result.model_id,
            "model_config": {"generation_parameters": _generation(found[0])},
        },
        "results": {f.task: _metrics(f) for f in found},
        "versions": {},
        "config_tasks": {
            f.task: {"name": f.task, "effective_num_docs": len(f.result.problems)} for f in found
        },
        "prorl": {f.task: f.about for f in found},
    }


def _generation(found: Exported) -> dict[str, Any]:
    s = found.result.settings
    return {
        "temperature": s.temperature,
        "top_p": s.top_p,
        "max_new_tokens": s.max_tokens,
        "seed": s.seed,
    }


def _metrics(found: Exported) -> dict[str, float]:
    row = {}
    for name, (value, error) in found.metrics.items():
        if math.isnan(value):
            continue
        row[name] = value
        if not math.isnan(error):
            row[f"{name}_stderr"] = error
    return row
