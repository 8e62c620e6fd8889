"""``prorl train forecast``: where a run's validation is heading, or why that cannot be said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_cli.options import Json

if TYPE_CHECKING:
    from prorl_training.schedule.forecast.forecasting import Forecast


def forecast(
    run: Annotated[
        str | None, typer.Argument(help="Name or folder of a run (default: newest).")
    ] = None,
    to_step: Annotated[
        int | None,
        typer.Option(
            help="The step asked for (default: the run's last; half as many again where that is done)."
        ),
    ] = None,
    steps: Annotated[
        bool, typer.Option("--steps", help="Compute is steps, where it would be tokens.")
    ] = False,
    widest: Annotated[
        float, typer.Option(min=0.001, max=1, help="A wider interval counts as no answer.")
    ] = 0.1,
    as_json: Json = False,
) -> None:
    """Say where a run's validation is heading.

    Or why that cannot be said. Fits ScaleRL's sigmoid and three rivals to the validation reward over
    the tokens sampled; the 95 % intervals hold what any of the curves that fit says.
    """
    from prorl_training.run.folder import find_run
    from prorl_training.schedule.forecast.forecasting import forecast as foretell
    from prorl_training.schedule.forecast.forecasting import step_to_ask_for

    folder = find_run(run)
    rows = folder.metrics()
    if to_step is None:
        last = max((int(r["step"]) for r in rows), default=0)
        to_step = step_to_ask_for(last, folder.config().steps)
    found = foretell(rows, to_step, unit="steps" if steps else "tokens", widest=widest)
    if as_json:
        console.print_json(found.to_json())
        return
    print_forecast(folder.name, found)


def print_forecast(name: str, found: Forecast) -> None:
    """Print the statement, the curves it rests on, and what stands in the way."""
    from rich.table import Table

    print(f"{name}: {found.validations} validations to step {found.last_step}, over {found.unit}")
    if found.ceiling and found.value and found.gain and found.measured:
        table = Table(box=None, pad_edge=False)
        for column in ("", "value", "95 % from", "to", ""):
            table.add_column(column, justify="left" if not column else "right")
        for what, i in (
            (f"validation at step {found.to_step}", found.value),
            ("climb from here to there", found.gain),
            ("what one would measure there", found.measured),
            ("ceiling", found.ceiling),
        ):
            sure = "" if i.identified else "not identified"
            table.add_row(what, *(_shown(x) for x in (i.value, i.low, i.high)), sure)
        console.stdout_console().print(table)
        rivals = Table(box=None, pad_edge=False)
        for column in ("curve", "ceiling", f"step {found.to_step}", "error on prefixes", ""):
            rivals.add_column(column, justify="left" if column in ("curve", "") else "right")
        for r in found.rivals:
            error = "-" if r.prefix_error is None else f"{r.prefix_error:.3f}"
            said = "refused by the data" if r.refused else ""
            said = "the values above" if r.family == found.family else said
            rivals.add_row(r.family, f"{r.ceiling:.3f}", f"{r.value:.3f}", error, said)
        print()
        console.stdout_console().print(rivals)
        print()
    print(f"{'identified' if found.identified else 'not identified'}: {found.why}")


def _shown(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"  # no -0.000
