"""Checks of a machine, as ``prorl doctor`` shows them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """Outcome of one check; ``cure`` is empty if the check passed."""

    name: str
    state: State
    detail: str
    cure: str = ""


def is_installed(module: str) -> bool:
    """Return whether a package can be imported, without importing it. Folders without ``__init__.py`` do not count."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None
