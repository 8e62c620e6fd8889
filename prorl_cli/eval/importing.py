"""``prorl eval import``: a task definition of another harness as a suite of ours.

Leaves out: reading and writing (``prorl_evaluation.exchange``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import print_json, say, warn
from prorl_cli.options import Json, folder_to_write
from prorl_common import UserError


def import_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .yaml of lm-evaluation-harness, or a .py of lighteval (read, never run)."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for the suite and its problems.", callback=folder_to_write)
    ] = Path("suites"),
    data: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPLIT=FILE",
            help="The rows of a split (.jsonl, .json, .csv, .parquet); repeatable.",
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Which task of a .py that defines several.")
    ] = None,
    filter_name: Annotated[
        str | None,
        typer.Option("--filter", help="Which of the task's filters (default: the first)."),
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(help="math, code, stem, logic or instruction (default: the verifier's name)."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The first rows only.")] = None,
    json_out: Json = False,
) -> None:
    """Make a suite of another harness's task.

    What is programmatic is taken: sampled text, filters, exact match. What is not is refused with the reasons. The
    suite runs with prorl eval run --suite FILE.
    """
    from prorl_evaluation.exchange.reading import read_foreign
    from prorl_evaluation.exchange.suite_files import write_suite

    files = {}
    for one in data or ():
        split, equals, name = one.partition("=")
        if not equals or not split or not name:
            raise UserError(f"--data is '{one}': write SPLIT=FILE, for example test=test.jsonl")
        files[split] = Path(name)
    found = read_foreign(file, files, task=task, pipeline=filter_name, limit=limit)
    written = write_suite(found, out, domain)
    for note in found.notes:
        (say if note == found.notes[0] else warn)(note)
    say(f"{len(found.problems)} problems; run them: prorl eval run --suite {written}")
    if json_out:
        row = {"suite": str(written), "task": found.name, "problems": len(found.problems)}
        print_json({**row, "sampling": dict(found.sampling), "notes": list(found.notes)})
        return
    print(written)
