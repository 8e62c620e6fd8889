"""Recorded pass rates: the optional filter that drops what is too easy or too hard for a model.

Leaves out: measuring them (``prorl data rate``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prorl_common import read_jsonl
from prorl_datasets.recipe.parts import Difficulty
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.rows.row import prompt_key
from prorl_datasets.types import DatasetError


@dataclass(frozen=True, slots=True)
class PassRates:
    """Pass rates and what a recipe wants of them.

    A rate is known by its row's prompt (``prompt_key``) where its line has one, else by its id: a row that has the id
    and another prompt by now is unrated.
    """

    wanted: Difficulty
    by_prompt: dict[str, float] = field(default_factory=dict)
    by_id: dict[str, float] = field(default_factory=dict)
    too_few: set[str] = field(default_factory=set)
    """Ids and prompt keys that were rated by fewer than ``min_n`` samples."""

    def of(self, identity: str, key: str) -> float | None:
        """Return the rate of a row by its id and prompt key, None for an unrated one."""
        return self.by_prompt.get(key, self.by_id.get(identity))

    def reason(self, identity: str, key: str) -> str | None:
        """Return why a row is dropped, None where it stays."""
        rate = self.of(identity, key)
        if rate is None:
            few = not self.too_few.isdisjoint((identity, key))
            why = "rated by too few samples" if few else "unrated"
            return why if self.wanted.unrated == "drop" else None
        if rate < self.wanted.band[0]:
            return "too hard"
        return "too easy" if rate > self.wanted.band[1] else None


def read_pass_rates(recipe: Recipe) -> PassRates | None:
    """Return the recorded pass rates; None where the recipe names none.

    Raises DatasetError (line without id or prompt, rate outside [0, 1], no ``n`` where ``min_n`` asks), UserError (file).
    """
    path = recipe.difficulty_file()
    if path is None or recipe.difficulty is None:
        return None
    rates = PassRates(recipe.difficulty)
    for line, row in read_jsonl(path):
        rate, n, place = row.get("pass_rate"), row.get("n"), f"{path}:{line}"
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1:
            raise DatasetError(f"{place}: 'pass_rate' must be a number from 0 to 1")
        if recipe.difficulty.min_n > 1 and (isinstance(n, bool) or not isinstance(n, int)):
            raise DatasetError(
                f"{place}: 'n' must be the number of samples, because difficulty.min_n asks for it"
            )
        names, name = _known_by(rates, row, place)
        if isinstance(n, int) and n < recipe.difficulty.min_n:
            rates.too_few.add(name)
            names.pop(name, None)
        else:
            rates.too_few.discard(name)
            names[name] = float(rate)
    return rates


def _known_by(
    rates: PassRates, row: Mapping[str, Any], place: str | Path
) -> tuple[dict[str, float], str]:
    """Return the table that a line belongs in and the row's name there."""
    if isinstance(row.get("prompt_key"), str):
        return rates.by_prompt, row["prompt_key"]
    if isinstance(row.get("id"), str):
        return rates.by_id, row["id"]
    if isinstance(row.get("prompt"), str):
        return rates.by_prompt, prompt_key([{"content": row["prompt"]}])
    raise DatasetError(f"{place}: expected 'id' or 'prompt' beside 'pass_rate'")
