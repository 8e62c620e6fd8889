"""The columns of a run's rollout files, as a table."""

from __future__ import annotations

from prorl_common.rollout_files import COLUMNS
from reference.markdown import table


def rollout_columns() -> str:
    """Return the columns with type and meaning; a star marks columns that all versions write."""
    rows = [
        (f"`{name}`" + ("\\*" if c.first else ""), c.kind.removesuffix("_"), c.meaning)
        for name, c in COLUMNS.items()
    ]
    return table(("column", "type", "what it holds"), rows)
