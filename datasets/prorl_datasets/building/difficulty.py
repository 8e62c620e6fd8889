"""Recorded pass rates: the optional filter that drops what is too easy or too hard for a model.

Leaves out: measuring them (``prorl eval`` and the rollouts of a run do).
"""

from __future__ import annotations

from prorl_common import read_jsonl
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.row import digest, normalised
from prorl_datasets.types import DatasetError


def read_pass_rates(recipe: Recipe) -> dict[str, float]:
    """Return the recorded pass rates by row id or prompt key; empty where the recipe names no file.

    Raises DatasetError (line without id or prompt, rate outside [0, 1]), UserError (file).
    """
    path = recipe.difficulty_file()
    if path is None:
        return {}
    rates: dict[str, float] = {}
    for line, row in read_jsonl(path):
        rate = row.get("pass_rate")
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise DatasetError(f"{path}:{line}: 'pass_rate' must be a number from 0 to 1")
        if isinstance(row.get("id"), str):
            rates[row["id"]] = float(rate)
        elif isinstance(row.get("prompt"), str):
            rates[digest(normalised(row["prompt"]))] = float(rate)
        else:
            raise DatasetError(f"{path}:{line}: expected 'id' or 'prompt' beside 'pass_rate'")
    return rates
