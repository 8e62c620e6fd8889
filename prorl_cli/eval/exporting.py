"""``prorl eval export``: results in the JSON of other harnesses. Leaves out: making it (``prorl_evaluation.exchange``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, assert_never, get_args

import typer

from prorl_cli.console import say
from prorl_cli.options import folder_to_write
from prorl_common import UserError, atomic_write_bytes, nearest

if TYPE_CHECKING:
    from prorl_evaluation.exchange.exported import Exported

Format = Literal["lm-eval", "lighteval"]
FORMATS: tuple[Format, ...] = get_args(Format)


def export_command(
    folders: Annotated[
        list[Path], typer.Argument(help="Result folders; those of one model go into one file.")
    ],
    form: Annotated[str, typer.Option("--format", help="lm-eval or lighteval.")] = "lm-eval",
    out: Annotated[
        Path, typer.Option(help="Folder for what is written.", callback=folder_to_write)
    ] = Path("exports"),
) -> None:
    """Write results as other harnesses do.

    lm-eval: results_*.json and samples_*.jsonl of lm-evaluation-harness; lighteval: results_*.json. What we do not know
    is left out; the intervals stay with the result folder.
    """
    if form not in FORMATS:
        raise UserError(f"--format is '{form}'{nearest(form, FORMATS)}: use {', '.join(FORMATS)}")
    from prorl_evaluation.exchange.exported import exported

    models: dict[tuple[str, str], list[Exported]] = {}
    for folder in folders:
        one = exported(folder)
        own = models.setdefault((one.result.model_id, one.result.model_digest), [])
        if any(one.task == other.task for other in own):
            raise UserError(
                f"{folder} is a second result of {one.result.label} on '{one.task}': export it alone"
            )
        own.append(one)
    files: dict[Path, bytes] = {}
    for own in models.values():  # all are made before one is written
        made = _files(form, own, out)
        if twice := next((file for file in made if file in files), None):
            raise UserError(f"two models would be {twice}: export each with an --out of its own")
        files |= made
    for file, data in files.items():
        atomic_write_bytes(file, data)
        print(file)
    say(f"{len(folders)} results written for {form}")


def _files(form: Format, found: list[Exported], out: Path) -> dict[Path, bytes]:
    match form:
        case "lm-eval":
            from prorl_evaluation.exchange.harness_results import harness_files

            return harness_files(found, out)
        case "lighteval":
            from prorl_evaluation.exchange.lighteval_results import lighteval_files

            return lighteval_files(found, out)
        case _:
            assert_never(form)
