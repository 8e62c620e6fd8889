from __future__ import annotations

import random
from typing import Any

import pytest

from prorl_datasets.sources.rg_entries import reply


@pytest.mark.parametrize("task", ["codeio", "list_functions", "gsm_symbolic", "modulo_grid"])
def test_an_entry_does_not_depend_on_the_entries_before_it(task: str) -> None:
    forwards, backwards = [], []
    made: dict[str, Any] = {}
    for seed in range(12):
        forwards.append(reply(made, task, {}, seed))
    made = {}
    for seed in reversed(range(12)):
        random.seed(seed + 99)  # the state that other code left in the global generator
        backwards.append(reply(made, task, {}, seed))
    assert forwards == backwards[::-1]
    assert len({str(found) for found in forwards}) > 1
