"""Tables, warnings and pages of ``prorl eval`` commands."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_cli import console

if TYPE_CHECKING:
    from prorl_evaluation import Comparison
    from prorl_evaluation.report.data import ReportOptions
    from prorl_evaluation.tables import TextTable


def warn_of(comparison: Comparison) -> None:
    from prorl_evaluation.tables import unpaired_lines

    for line in [*comparison.warnings, *unpaired_lines(comparison)]:
        console.warn(line)


def print_table(table: TextTable) -> None:
    console.print_table(table.title, table.head, table.rows, table.drop)


def write_page(
    folders: Sequence[Path], options: ReportOptions, file: Path, run: Path | None = None
) -> None:
    """Write the results in ``folders`` (baseline first) and their run as one HTML file.

    Raises EvaluationError if they cannot be compared.
    """
    from prorl_viewer import report_subjects, write_html

    subjects = report_subjects(folders, options, run)
    with contextlib.ExitStack() as stack:
        for subject in subjects:
            stack.callback(subject.close)
        write_html(subjects, file, opens_first=True)
