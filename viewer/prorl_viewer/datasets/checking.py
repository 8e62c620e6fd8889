"""The gold check, asked for again: a row's verifier run on its gold response, now and here, and what it found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_common import UserError
from prorl_datasets.building.gold import FULL_MARKS
from prorl_verifiers import load_task
from prorl_viewer.checking import Checker
from prorl_viewer.datasets.row import gold_response
from prorl_viewer.subject import Json


def checked_gold(
    checker: Checker,
    row: Mapping[str, Any],
    reference: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> Json:
    """Return the verdict on a row's gold. Raises UserError where it has none, or nothing can be run here."""
    gold = gold_response(row["verifier"], reference, metadata)
    if gold is None:
        raise UserError(
            f"{row['id']} has no gold response, and its verifier makes none of the reference"
        )
    verdict = checker.explained(gold, load_task(row["verifier"], reference))
    reward = verdict["reward"]
    return {**verdict, "accepted": None if reward is None else reward >= FULL_MARKS}
