"""Detects ill-posed reasoning-gym items, which have no answer, several answers, or a wrong one.

The modules of this folder define ``RULES`` (task name -> rule) and are found automatically.
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
    """Return why an entry of ``task`` is ill-posed, or None."""
    for rule in rules().get(task, ()):
        if (flaw := rule(entry)) is not None:
            return flaw
    return None


@cache
def rules() -> Mapping[str, tuple[Rule, ...]]:
    by_task: dict[str, tuple[Rule, ...]] = {}
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        for task, rule in getattr(import_module(module.name), "RULES", {}).items():
            by_task[task] = (*by_task.get(task, ()), rule)
    return by_task
