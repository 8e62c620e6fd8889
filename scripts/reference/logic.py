"""A table of how the logic verifier's scores differ from reasoning-gym's, by dataset."""

from __future__ import annotations

from prorl_verifiers.logic.rules import RULES
from reference.markdown import table


def rules() -> str:
    """Return the datasets grouped by rule for partial credit and by change, largest group first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name in sorted(RULES):
        groups.setdefault((RULES[name].partial, RULES[name].change), []).append(name)
    (first, others), *rest = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1]))
    rows = [(f"{len(others)} not named below", *first)]
    rows += [(", ".join(names), *texts) for texts, names in rest]
    return table(("datasets", "partial credit", "changed, and why"), rows)
