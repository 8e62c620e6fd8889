"""The result of a check by ``prorl doctor``."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check of this machine; ``cure`` is empty if the check passed."""

    name: str
    state: State
    detail: str
    cure: str = ""


def is_installed(module: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None
