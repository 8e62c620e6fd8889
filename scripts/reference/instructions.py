"""Tables of the instruction ids by catalogue, with deviations from the published checkers."""

from __future__ import annotations

from collections.abc import Mapping

from prorl_verifiers.instruction.ifbench.catalog import IFBENCH
from prorl_verifiers.instruction.ifeval.catalog import IFEVAL
from prorl_verifiers.instruction.ifevalg.catalog import IFEVALG
from prorl_verifiers.instruction.registry import RANDOM_UPSTREAM
from prorl_verifiers.instruction.types import Instruction
from reference.markdown import code_list, table


def ifeval() -> str:
    """Return IFEval's ids."""
    return _ids(IFEVAL)


def ifevalg() -> str:
    """Return the ids that only IFEvalG has."""
    return _ids(IFEVALG)


def ifbench() -> str:
    """Return IFBench's ids."""
    return _ids(IFBENCH)


def _ids(catalogue: Mapping[str, Instruction]) -> str:
    heads = (
        "id",
        "kwargs",
        "`fixed`: followed when",
        "deviation from the published checker, and why",
    )
    rows = [
        (f"`{name}`", code_list(entry.kwargs) or "-", entry.meaning, entry.deviation)
        for name, entry in catalogue.items()
    ]
    return table(heads, rows)


def random_upstream() -> str:
    """Return the ids for which a published checker decides at random."""
    rows = [(f"`{name}`", what) for name, what in RANDOM_UPSTREAM.items()]
    return table(("id", "what is random upstream, and here"), rows)
