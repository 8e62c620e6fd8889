"""Whether an item of a reasoning-gym task can be asked: a rule a task, found by its name.

reasoning-gym's own scorer compares an answer with the stored one, so it cannot see that the question has no
answer, two, or another than the stored one. A module below this folder holds rules in ``RULES``, task name ->
function of an entry that returns a ``Flaw`` or None; nothing else lists them. A task without rules has none
to break.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from prorl_datasets.sources.well_posed.flaw import Flaw, Rule

__all__ = ["Flaw", "Rule", "flaw_of", "rules"]


def flaw_of(task: str, entry: Mapping[str, Any]) -> Flaw | None:
    """Return why an entry of ``task`` cannot be asked, None where nothing was found."""
    for rule in rules().get(task, ()):
        if (flaw := rule(entry)) is not None:
            return flaw
    return None


@cache
def rules() -> Mapping[str, tuple[Rule, ...]]:
    """Return the rules of every task that has some, in the order of the modules' names."""
    found: dict[str, tuple[Rule, ...]] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        for task, rule in getattr(import_module(module.name), "RULES", {}).items():
            found[task] = (*found.get(task, ()), rule)
    return found
