"""Defines Instruction, the checks of an instruction id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Kwargs = Mapping[str, Any]
Check = Callable[[str, Kwargs], bool]


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction's published check (``reference``) and our corrected one (``fixed``).

    ``meaning``: which texts ``fixed`` accepts.
    ``deviation``: how ``reference`` differs from ``fixed``.
    """

    kwargs: tuple[str, ...]
    fixed: Check
    reference: Check
    meaning: str
    deviation: str
    fixed_needs: tuple[str, ...] = ()
    reference_needs: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    """Arguments that the published checker reads as regular expressions."""
    downloads: tuple[str, ...] = ()
    """Weights that the published checker loads, as keys of ``official_text.DOWNLOADS``."""
