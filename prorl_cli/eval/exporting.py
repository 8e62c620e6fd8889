"""``prorl eval export``: results in the JSON of other harnesses. Leaves out: making it (``prorl_evaluation.exchange``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never, cast

import typer

from prorl_cli.console import say
from prorl_cli.options import folder_to_write
from prorl_common import UserError, nearest

if TYPE_CHECKING:
    from typing import Literal

    from prorl_evaluation.exchange.exported import Exported

    Format = Literal["lm-eval", "lighteval"]

FORMATS = ("lm-eval", "lighteval")


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
    for own in models.values():
        for file in _write(cast("Format", form), own, out):
            print(file)
    say(f"{len(folders)} results written for {form}")


def _write(form: Format, found: list[Exported], out: Path) -> list[Path]:
    match form:
        case "lm-eval":
            from prorl_evaluation.exchange.harness_results import write_harness_results

            return write_harness_results(found, out)
        case "lighteval":
            from prorl_evaluation.exchange.lighteval_results import write_lighteval_results

            return write_lighteval_results(found, out)
        case _:
            assert_never(form)
