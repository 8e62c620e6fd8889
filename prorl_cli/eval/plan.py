"""``prorl eval plan``: what an evaluation will see of a gain, and what a gain takes, before anything is sampled."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import print_json
from prorl_cli.options import Json


def plan_command(
    problems: Annotated[int, typer.Option(min=2, help="Problems.")] = 100,
    n: Annotated[int, typer.Option("--n", min=1, help="Samples a problem, before and after.")] = 16,
    gain: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="A true gain in pass@1.")
    ] = None,
    rate: Annotated[float, typer.Option(help="pass@1 before.")] = 0.4,
    base: Annotated[
        Path | None,
        typer.Option("--from", help="Take the problems' rates from this result folder instead."),
    ] = None,
    wanted: Annotated[
        float, typer.Option("--power", min=0.01, max=0.999, help="Chance of seeing the gain.")
    ] = 0.9,
    json_out: Json = False,
) -> None:
    """Say the smallest gain in pass@1 that an evaluation sees.

    With --gain also the chance of seeing that one, and how many problems, or samples a problem, see it with --power.
    By simulation of the test that prorl eval compare makes: the 95% interval of the paired difference excludes 0.
    """
    from prorl_evaluation.stats.power import (
        MOST_PROBLEMS,
        MOST_SAMPLES,
        Rates,
        fit_rates,
        needed_problems,
        needed_samples,
        power,
        smallest_gain,
    )
    from prorl_evaluation.types import load_result

    rates = fit_rates(load_result(base).problems) if base is not None else Rates(rate)
    chance = None if gain is None else power(problems, n, gain, rates)
    more = needed_problems(n, gain, rates, wanted=wanted) if gain else None
    samples = needed_samples(problems, gain, rates, wanted=wanted) if gain else None
    smallest = smallest_gain(problems, n, rates, wanted=wanted)
    if json_out:
        row = {"problems": problems, "n": n, "gain": gain, "power": chance}
        least = None if math.isnan(smallest) else round(smallest, 3)
        needed = {"needed_problems": more, "needed_n": samples}
        spread = {"rate": rates.mean, "concentration": rates.concentration}
        print_json({**row, **spread, "wanted_power": wanted, "smallest_gain": least, **needed})
        return
    print(f"{problems} problems, {n} samples each, pass@1 {rates.mean:.3f} before")
    if chance is not None:
        print(f"a true gain of {gain:g} is seen in {100 * chance:.0f}% of evaluations")
    if gain:
        if more is None:
            print(
                f"not even {MOST_PROBLEMS:,} problems with {n} samples each see it in {100 * wanted:g}%"
            )
        else:
            print(f"{100 * wanted:g}% takes {more} problems with {n} samples each")
        if samples is None:
            print(f"of these {problems} problems not even {MOST_SAMPLES:,} samples each are enough")
        else:
            print(f"or {samples} samples each of these {problems} problems")
    if math.isnan(smallest):
        print(f"no gain is seen in {100 * wanted:g}% of evaluations: take more problems")
    else:
        print(f"smallest gain that is seen in {100 * wanted:g}%: {smallest:.3f}")
