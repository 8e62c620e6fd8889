"""Tables of the instruction ids by catalogue, with deviations from the published checkers."""

from __future__ import annotations

from prorl_verifiers.instruction.registry import RANDOM_UPSTREAM, catalogue
from reference.markdown import code_list, table


def ifeval() -> str:
    """Return IFEval's ids."""
    return _ids("ifeval")


def ifevalg() -> str:
    """Return the ids that only IFEvalG has."""
    return _ids("ifevalg")


def ifbench() -> str:
    """Return IFBench's ids."""
    return _ids("ifbench")


def _ids(name: str) -> str:
    heads = (
        "id",
        "kwargs",
        "`fixed`: followed when",
        "deviation from the published checker, and why",
    )
    rows = [
        (f"`{id_}`", code_list(entry.kwargs) or "-", entry.meaning, entry.deviation)
        for id_, entry in catalogue(name).items()
    ]
    return table(heads, rows)


def random_upstream() -> str:
    """Return the ids for which a published checker decides at random."""
    rows = [(f"`{name}`", what) for name, what in RANDOM_UPSTREAM.items()]
    return table(("id", "what is random upstream, and here"), rows)
