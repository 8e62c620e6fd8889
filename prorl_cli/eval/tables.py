"""How the ``prorl eval`` verbs draw a table, and say what stands in the way of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prorl_cli.console import stdout_console, warn

if TYPE_CHECKING:
    from prorl_evaluation import Comparison
    from prorl_evaluation.tables import TextTable


def warn_of(comparison: Comparison) -> None:
    """Say on stderr what stands in the way of comparing."""
    from prorl_evaluation.tables import unpaired_lines

    for line in [*comparison.warnings, *unpaired_lines(comparison)]:
        warn(line)


def print_table(table: TextTable) -> None:
    """Draw ``table`` on stdout."""
    from rich.table import Table
    from rich.text import Text

    console = stdout_console()
    drawn = Table(title=Text(table.title), title_justify="left")
    for place, name in enumerate(table.head):
        drawn.add_column(Text(name), justify="left" if place == 0 else "right")
    for row in table.rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console.print(drawn)
