"""Generates instruction items under IFEval's 25 constraints, with a response that meets them."""

from __future__ import annotations

from prorl_datasets.procedural.instruction.conflicts import conflicts
from prorl_datasets.procedural.instruction.witness import compose, satisfiable

__all__ = ["compose", "conflicts", "satisfiable"]
