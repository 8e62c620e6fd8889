"""Instruction items under IFEval's 25 constraints: drawing, contradictions, witnesses, families.

``families`` generates, ``conflicts`` says which constraints cannot hold together, ``witness``
composes a response that meets them all. Checking is the instruction verifier's.
"""

from __future__ import annotations

from prorl_datasets.procedural.instruction.conflicts import conflicts
from prorl_datasets.procedural.instruction.witness import compose, satisfiable

__all__ = ["compose", "conflicts", "satisfiable"]
