"""``prorl train``: start or resume a run; the commands beside it are in modules of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from prorl_cli import console
from prorl_cli.options import PluginOption
from prorl_cli.train.controller import explain, simulate
from prorl_cli.train.options import ConfigFile, Preset, Sets
from prorl_cli.train.runs import export, presets, status
from prorl_common import UserError, format_seconds
from prorl_common.interrupts import NOTHING_KEPT

if TYPE_CHECKING:
    from prorl_training.config import TrainConfig
    from prorl_training.engine.local import TrainReport
    from prorl_training.schedule.decisions import Decision

app = typer.Typer(no_args_is_help=False, rich_markup_mode=None)

for _command in (simulate, explain, presets, status, export):
    app.command()(_command)


@app.callback(invoke_without_command=True)
def train(
    context: typer.Context,
    preset: Preset = None,
    steps: Annotated[int | None, typer.Option(help="Steps to train in all.")] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    data: Annotated[Path | None, typer.Option(help="Dataset folder (default: newest).")] = None,
    model: Annotated[str | None, typer.Option(help="Cached name, folder or hub id.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run under runs/.")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Go on with this run (a name, or latest).")
    ] = None,
    engine: Annotated[str | None, typer.Option(help="local (default) or openrlhf.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or cuda:N.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the command of engine openrlhf; start nothing.")
    ] = False,
    plugin: PluginOption = None,
) -> None:
    """Train with ProRL: REINFORCE++-baseline, scheduled length penalty, reference resets.

    Bare, it takes the newest dataset under data/, the cached (else fetched) model and a preset by
    device. Ctrl-C finishes the step, saves, and says how to go on.
    """
    del plugin  # loaded by now
    if context.invoked_subcommand is not None:
        return
    named = {"data.path": data, "model.path": model, "engine": engine, "model.device": device}
    over = [*(settings or []), *(f"{k}={v}" for k, v in named.items() if v is not None)]
    if resume is not None:
        if preset or config_file or name or dry_run:
            raise UserError(
                "--resume goes on with the run's own config: beside it only --steps and --set are of use"
            )
        from prorl_training.run.folder import find_run
        from prorl_training.run.resume import nothing_left, resume_config

        run = find_run(resume)
        config, decisions = resume_config(run, over, steps)
        if not decisions and (why := nothing_left(run, config)) is not None:
            console.say(why)
            return
        if config.data.path is not None and not Path(config.data.path).exists():
            raise UserError(
                f"the dataset of {run.name} is no longer at {config.data.path}: say where with --data"
            )
        _run(config, run.path, resume=True, decisions=decisions)
        return
    from prorl_training.config.loading import load_config
    from prorl_training.run.folder import named_run

    over += [] if steps is None else [f"steps={steps}"]
    if dry_run:
        from prorl_training.engine.openrlhf.launch.dry_run import dry_run as command_line
        from prorl_training.engine.openrlhf.launch.dry_run import unsaid

        config = load_config(preset, config_file, over)
        print(command_line(config, name or "RUN"))
        console.say("what the command does not say:")
        for line in unsaid(config):
            console.say(f"  {line}")
        return
    if preset is None and config_file is None and engine != "openrlhf":
        from prorl_training.engine.local import default_preset, find_dataset

        # data first: the preset takes seconds, as loading torch does
        find_dataset(load_config(None, None, over))
        preset = default_preset()
    config = load_config(preset, config_file, over)
    run = named_run(name or f"{config.preset}-{time.strftime('%Y%m%d-%H%M%S')}")
    _run(config, run.path, resume=False, decisions=[])


def _run(config: TrainConfig, folder: Path, resume: bool, decisions: Sequence[Decision]) -> None:
    """Announce, train, and say how it ended; a run that gave up exits 1."""
    from prorl_training.engine.local import check_start, scaling_notes
    from prorl_training.run.folder import RunFolder

    dataset = check_start(config, None if resume else RunFolder(folder))
    r = config.rollout
    console.say(f"run      {folder}")
    console.say(f"preset   {config.preset} · {config.steps} steps · engine {config.engine}")
    console.say(f"model    {config.model.path}")
    console.say(f"dataset  {dataset}")
    console.say(f"step     {r.prompts} prompts x {r.samples} samples, up to {r.max_tokens} tokens")
    for note in scaling_notes(config):
        console.say(f"scaled   {note}")
    console.say("the ETA appears after the first step; Ctrl-C saves and says how to go on")
    trainer: Callable[..., TrainReport]
    match config.engine:
        case "openrlhf":
            from prorl_training.engine.openrlhf.launch.session import train_on_cluster as trainer
        case "local":
            from prorl_training.engine.local import train as trainer
        case _:
            assert_never(config.engine)

    def how_to_go_on() -> str:
        if not RunFolder(folder).config_path.exists():
            return NOTHING_KEPT
        return f"stopping; go on with prorl train --resume {folder.name}"

    started, progress = time.monotonic(), console.make_progress()
    with console.stoppable(how_to_go_on, progress):
        report = trainer(config, folder, progress, resume, decisions)
    took = format_seconds(time.monotonic() - started)
    if report.stopped is not None:
        console.say(f"the run stopped after step {report.last_step}: {report.stopped}")
        console.say(f"what it saw: prorl train explain {folder.name} --step {report.last_step}")
        console.say(f"once the cause is gone: prorl train --resume {folder.name}")
        raise typer.Exit(1)
    if report.interrupted:
        console.say(f"stopped after step {report.last_step} of {report.steps} ({took}); saved.")
        console.say(f"go on with: prorl train --resume {folder.name}")
        return
    if report.last_step < report.steps:
        console.say(f"token_budget={config.token_budget} is spent before step {report.steps}")
    console.say(f"done: {report.last_step} steps in {took} · {folder}")
    console.say(f"next: prorl eval pass-at-k --run {folder.name}")
