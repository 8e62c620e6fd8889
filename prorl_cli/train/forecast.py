"""``prorl train forecast``: extrapolate a run's validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from prorl_cli import console
from prorl_cli.options import Json, RunArgument, real, run_or_newest, whole

if TYPE_CHECKING:
    from prorl_training.schedule.forecast import Forecast


def forecast(
    run: RunArgument = None,
    to_step: Annotated[
        int | None,
        whole(
            low=1,
            help="The step asked for (default: the run's last; half as many again where that is done).",
        ),
    ] = None,
    widest: Annotated[
        float, real(low=0.001, high=1, help="A wider interval counts as no answer.")
    ] = 0.1,
    as_json: Json = False,
) -> None:
    """Say where a run's validation is heading.

    Example: prorl train forecast mine

    Or why that is unknown. Fits ScaleRL's sigmoid and three rivals to the validation reward over the tokens sampled;
    the 95 % intervals cover every curve that fits.
    """
    from prorl_training.schedule.forecast import forecast as foretell
    from prorl_training.schedule.forecast import step_to_ask_for

    folder = run_or_newest(run)
    rows = folder.metrics()
    if to_step is None:
        last = max((int(r["step"]) for r in rows), default=0)
        to_step = step_to_ask_for(last, folder.config().steps)
    result = foretell(rows, to_step, widest=widest)
    if as_json:
        console.print_json(result.to_json())
        return
    print_forecast(folder.name, result)


def print_forecast(name: str, result: Forecast) -> None:
    """Print the forecast, its intervals and its obstacles."""
    print(
        f"{name}: {result.validations} validations to step {result.last_step}, over {result.unit}"
    )
    if result.ceiling and result.value and result.gain:
        rows = []
        for label, i in (
            (f"validation at step {result.to_step}", result.value),
            ("climb from here to there", result.gain),
            ("ceiling", result.ceiling),
        ):
            sure = "" if i.identified else "not identified"
            rounded = (round(x, 3) + 0.0 for x in (i.value, i.low, i.high))  # no -0.000
            rows.append((label, *(f"{x:.3f}" for x in rounded), sure))
        console.print_table("", ("", "value", "95 % from", "to", ""), rows)
        print()
    print(f"{'identified' if result.identified else 'not identified'}: {result.why}")
