"""``prorl train fit``: what a run takes of each GPU's memory, before one is rented."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_cli.options import Json, PluginOption
from prorl_cli.train.options import ConfigFile, Preset, Sets

if TYPE_CHECKING:
    from prorl_training.sizing.estimate import Fit, PhaseFit


def fit(
    preset: Preset = None,
    model: Annotated[str | None, typer.Option(help="Cached name, folder or hub id.")] = None,
    engine: Annotated[str | None, typer.Option(help="local (default) or openrlhf.")] = None,
    gpu_memory: Annotated[
        float | None,
        typer.Option(min=0.1, help="GB of a GPU (default: found here, else the preset's)."),
    ] = None,
    gpus: Annotated[int | None, typer.Option(min=1, help="GPUs of engine openrlhf.")] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu: reckon with this machine's main memory.")
    ] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    as_json: Json = False,
    plugin: PluginOption = None,
) -> None:
    """Reckon the memory that a run takes of each GPU.

    By item, stage and phase, from the model's config alone: no weights are read and nothing is fetched. Exit 2 where
    it does not fit.
    """
    from prorl_training.config.loading import load_config
    from prorl_training.sizing.fit import misfit
    from prorl_training.sizing.here import planned
    from prorl_training.sizing.known import model_shape

    del plugin  # loaded by now
    named = {"model.path": model, "engine": engine, "model.device": device, **_layout(gpus)}
    over = [*(settings or []), *(f"{k}={v}" for k, v in named.items() if v is not None)]
    config = load_config(preset, config_file, over)
    found = planned(config, None if gpu_memory is None else int(gpu_memory * 10**9))
    if as_json:
        console.print_json(found.to_json())
    else:
        print_fit(found)
    if not found.fits:
        console.say(misfit(found, model_shape(config.model.path)))
        raise typer.Exit(2)


def _layout(gpus: int | None) -> dict[str, int | None]:
    """Return the settings of so many GPUs: whole nodes of 8, or one node."""
    if gpus is None:
        return {}
    nodes = gpus // 8 if gpus % 8 == 0 else 1
    return {"openrlhf.nodes": nodes, "openrlhf.gpus_per_node": gpus // nodes}


def print_fit(fit: Fit) -> None:
    """Print a table of items by stage for each phase that differs from the one before."""
    from prorl_training.sizing.fit import gigabytes

    c = fit.config
    each = (
        "main memory"
        if fit.device == "cpu"
        else "GPU"
        if fit.gpus == 1
        else f"each of {fit.gpus} GPUs"
    )
    print(
        f"{c.preset} · engine {c.engine} · {c.model.path} ({fit.parameters / 1e9:.2f} B parameters)"
    )
    print(f"GB of {each}, at the worst moment of each stage; there are {gigabytes(fit.memory)}")
    for same in _alike(fit.phases):
        last = f" to {same[-1].name}" if len(same) > 1 else ""
        _print_phase(f"{same[0].name}{last}: " if len(fit.phases) > 1 else "", same[0])
    verdict = "fits" if fit.fits else "does not fit"
    print(f"\n{verdict}: {gigabytes(fit.needed)} of {gigabytes(fit.memory)}")


def _alike(phases: Sequence[PhaseFit]) -> list[list[PhaseFit]]:
    """Return the phases in order, those in one list that follow each other with the same figures."""
    found: list[list[PhaseFit]] = []
    for phase in phases:
        if found and (found[-1][0].stages, found[-1][0].sizes) == (phase.stages, phase.sizes):
            found[-1].append(phase)
        else:
            found.append([phase])
    return found


def _print_phase(title: str, phase: PhaseFit) -> None:
    from rich.table import Table

    from prorl_training.sizing.estimate import GB, ITEMS

    sizes = ", ".join(f"{value:,} {name}" for name, value in phase.sizes.items())
    print(f"\n{title}{sizes}")
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for stage in phase.stages:
        table.add_column(stage.name + (f" ({stage.where})" if stage.where else ""), justify="right")
    for item in ITEMS:
        row = [stage.items.get(item, 0) for stage in phase.stages]
        if any(row):
            table.add_row(item, *(f"{value / GB:.2f}" if value else "-" for value in row))
    table.add_row("total", *(f"{stage.total / GB:.2f}" for stage in phase.stages))
    console.stdout_console().print(table)
    for trouble in phase.troubles:
        print(trouble)
