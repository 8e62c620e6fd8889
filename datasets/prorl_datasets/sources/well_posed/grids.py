"""Rules for matrices, grids and counts of pieces: operations that change nothing, empty boards."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule, unchanged


def _life(entry: Mapping[str, Any]) -> Flaw | None:
    """game_of_life: boards that die at once, or never change."""
    answer = re.sub(r"\s", "", str(entry["answer"]))
    if "1" not in answer:
        return Flaw("trivial", "the board is empty in the end")
    if answer in re.sub(r"\s", "", str(entry["question"])):
        return Flaw("trivial", "the board does not change")
    return None


def _islands(entry: Mapping[str, Any]) -> Flaw | None:
    if not any(1 in row for row in entry["metadata"]["grid"]):
        return Flaw("trivial", "there is no island")
    return None


def _oranges(entry: Mapping[str, Any]) -> Flaw | None:
    if not any(1 in row for row in entry["metadata"]["matrix"]):
        return Flaw("trivial", "no orange is fresh")
    return None


def _pieces(entry: Mapping[str, Any]) -> Flaw | None:
    """string_splitting, string_synthesis: no rule applies to the first counts."""
    if len(entry["metadata"]["states"]) < 2:
        return Flaw("trivial", "no rule applies")
    return None


RULES: Mapping[str, Rule] = {
    "binary_matrix": unchanged("matrix", "solution"),
    "game_of_life": _life,
    "largest_island": _islands,
    "manipulate_matrix": unchanged("matrix", "solution"),
    "pool_matrix": unchanged("matrix", "solution"),
    "rotate_matrix": unchanged("matrix", "solution"),
    "rotten_oranges": _oranges,
    "string_splitting": _pieces,
    "string_synthesis": _pieces,
}
