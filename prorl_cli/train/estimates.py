"""``prorl train fit|forecast``: estimate memory and GPU hours, and extrapolate validation."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_cli.options import (
    ConfigFile,
    Json,
    Preset,
    RunArgument,
    Sets,
    real,
    run_or_newest,
    whole,
)

if TYPE_CHECKING:
    from prorl_training.planning.memory import Fit
    from prorl_training.schedule.forecast import Forecast


def fit(
    preset: Preset = None,
    model: Annotated[str | None, typer.Option(help="Model: name, folder or hub id.")] = None,
    gpu_memory: Annotated[
        float | None,
        real(
            low=0.1,
            help="Memory per GPU in GB (default: the memory of this machine's GPU, or the preset's value if there is none).",
        ),
    ] = None,
    gpus: Annotated[
        int | None, whole(low=1, help="Number of GPUs (default: the config's).")
    ] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    as_json: Json = False,
) -> None:
    """Estimate a run's memory on each GPU, and its GPU hours.

    Example: prorl train fit --preset prorl-v2 --gpu-memory 80

    Estimates memory by item, stage and phase from the model's config; no weights are read or downloaded. Exits with
    2 if the run does not fit. GPU hours are rough: they assume an H100 and the utilisation of two published runs.
    """
    from prorl_training.config.loading import load_config
    from prorl_training.planning.fit import H100_TFLOPS, gpu_hours, misfit, planned
    from prorl_training.planning.model_shape import model_shape

    named: dict[str, object] = {"model.path": model}
    if gpus is not None:
        named |= {"model.gpus": gpus, **openrlhf_gpus(gpus)}
    over = [*(settings or []), *(f"{k}={v}" for k, v in named.items() if v is not None)]
    config = load_config(preset, config_file, over)
    estimate = planned(config, None if gpu_memory is None else int(gpu_memory * 10**9))
    shape = model_shape(config.model.path)
    paths = [] if estimate.device == "cpu" else gpu_hours(config, shape)
    if as_json:
        console.print_json({**estimate.to_json(), "gpu_hours": [asdict(path) for path in paths]})
    else:
        print_fit(estimate)
        if paths:
            print(
                f"\nroughly, for {config.steps:,} steps at the utilisation of ProRL v1 and DeepScaleR "
                f"(peak {H100_TFLOPS:g} TFLOP/s):"
            )
            rows = [
                (
                    path.engine,
                    str(path.gpus),
                    f"{path.low:,.0f} to {path.high:,.0f}",
                    f"{path.low / path.gpus / 24:,.0f} to {path.high / path.gpus / 24:,.0f}",
                )
                for path in paths
            ]
            console.print_table("", ("engine", "GPUs", "GPU hours", "days"), rows)
    if not estimate.fits:
        console.say(misfit(estimate, shape))
        raise typer.Exit(2)


def openrlhf_gpus(gpus: int) -> dict[str, object]:
    """Return the settings for ``gpus`` GPUs: nodes of 8 if the number is a multiple of 8, else one node."""
    nodes = gpus // 8 if gpus % 8 == 0 else 1
    return {"openrlhf.nodes": nodes, "openrlhf.gpus_per_node": gpus // nodes}


def print_fit(fit: Fit) -> None:
    from prorl_training.planning.fit import gigabytes
    from prorl_training.planning.memory import GB, ITEMS

    c = fit.config
    each = "GPU" if fit.gpus == 1 else f"each of {fit.gpus} GPUs"
    if fit.device == "cpu":
        each = "main memory"
    print(
        f"{c.preset} · engine {c.engine} · {c.model.path} ({fit.parameters / 1e9:.2f} B parameters)"
    )
    print(f"GB of {each}, at the peak of each stage; available: {gigabytes(fit.memory)}")
    for _, phases in itertools.groupby(fit.phases, key=lambda phase: (phase.stages, phase.sizes)):
        phase, *others = phases
        last = f" to {others[-1].name}" if others else ""
        title = f"{phase.name}{last}: " if len(fit.phases) > 1 else ""
        sizes = ", ".join(f"{value:,} {name}" for name, value in phase.sizes.items())
        print(f"\n{title}{sizes}")
        stages = phase.stages
        rows = []
        for item in ITEMS:
            row = [stage.items.get(item, 0) for stage in stages]
            if any(row):
                rows.append((item, *(f"{value / GB:.2f}" if value else "-" for value in row)))
        rows.append(("total", *(f"{stage.total / GB:.2f}" for stage in stages)))
        names = [stage.name + (f" ({stage.where})" if stage.where else "") for stage in stages]
        console.print_table("", ("", *names), rows)
        for trouble in phase.troubles:
            print(trouble)
    verdict = "fits" if fit.fits else "does not fit"
    print(f"\n{verdict}: {gigabytes(fit.needed)} of {gigabytes(fit.memory)}")


def forecast(
    run: RunArgument = None,
    to_step: Annotated[
        int | None,
        whole(
            low=1,
            help="Step to forecast (default: the run's last step, or 1.5 times it if the run is finished).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Forecast a run's validation reward.

    Example: prorl train forecast mine

    Fits ScaleRL's sigmoid and three other curves to the validation reward as a function of the number of sampled
    tokens. The 95 % intervals cover every curve that fits. If no forecast is possible, it prints the reason.
    """
    from prorl_training.schedule.forecast import forecast as foretell
    from prorl_training.schedule.forecast import step_to_ask_for

    folder = run_or_newest(run)
    rows = folder.metrics()
    if to_step is None:
        last = max((int(r["step"]) for r in rows), default=0)
        to_step = step_to_ask_for(last, folder.config().steps)
    result = foretell(rows, to_step)
    if as_json:
        console.print_json(result.to_json())
        return
    print_forecast(folder.name, result)


def print_forecast(name: str, result: Forecast) -> None:
    print(
        f"{name}: {result.validations} validations to step {result.last_step}, over {result.unit}"
    )
    if result.ceiling and result.value and result.gain:
        rows = []
        for label, i in (
            (f"validation at step {result.to_step}", result.value),
            ("gain from here to that step", result.gain),
            ("ceiling", result.ceiling),
        ):
            sure = "" if i.identified else "not identified"
            rounded = (round(x, 3) + 0.0 for x in (i.value, i.low, i.high))  # no -0.000
            rows.append((label, *(f"{x:.3f}" for x in rounded), sure))
        console.print_table("", ("", "value", "95 % from", "to", ""), rows)
        print()
    print(f"{'identified' if result.identified else 'not identified'}: {result.why}")
