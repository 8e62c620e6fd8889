"""``prorl train``: start or resume a run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_cli.groups import by_purpose
from prorl_cli.options import ConfigFile, Preset, Sets, whole
from prorl_cli.train.controller import explain, simulate
from prorl_cli.train.estimates import fit, forecast, openrlhf_gpus
from prorl_cli.train.runs import export, presets, status
from prorl_common import UserError, format_seconds, prorl_command
from prorl_common.interrupts import NOTHING_KEPT
from prorl_common.seeds import MOST_STEPS

if TYPE_CHECKING:
    from prorl_training.engine.local import TrainReport
    from prorl_training.engine.start import Start, Trainers

PURPOSES = {
    "Commands to prepare a run": "presets fit simulate",
    "Commands to look at a run": "status explain forecast export",
}
app = typer.Typer(cls=by_purpose(PURPOSES), no_args_is_help=False, rich_markup_mode=None)

for _command in (fit, simulate, forecast, explain, presets, status, export):
    app.command()(_command)


@app.callback(invoke_without_command=True)
def train(
    context: typer.Context,
    preset: Preset = None,
    steps: Annotated[
        int | None, whole(low=1, high=MOST_STEPS, help="Total number of steps.")
    ] = None,
    settings: Sets = None,
    config_file: ConfigFile = None,
    data: Annotated[
        Path | None, typer.Option(help="Dataset folder (default: newest under data/).")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Model: name, folder or hub id.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run under runs/.")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Continue this run: its name, or latest.")
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Engine: local or openrlhf (default: openrlhf if it is installed and there are several GPUs)."
        ),
    ] = None,
    device: Annotated[str | None, typer.Option(help="Device: auto, cpu, cuda or cuda:N.")] = None,
    gpus: Annotated[
        int | None,
        whole(
            low=1,
            help="Number of GPUs (with --device cpu: processes); --engine is then local by default.",
        ),
    ] = None,
    restarts: Annotated[
        int,
        whole(
            help="Restart at most this many times from the last checkpoint if a worker or node dies."
        ),
    ] = 0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the command with which the engine openrlhf would start, and exit.",
        ),
    ] = False,
) -> None:
    """Train with ProRL, or continue a run.

    Example: prorl train --preset prorl-v2 --data data/mine --steps 3000

    By default, uses the newest dataset under data/, the cached model (downloaded if missing) and a preset for this
    device. Ctrl-C finishes the step, saves a checkpoint and prints the command that continues the run.
    """
    if context.invoked_subcommand is not None:
        return
    named: dict[str, object] = {
        "data.path": data,
        "model.path": model,
        "engine": engine,
        "model.device": device,
    }
    if gpus is not None and engine == "openrlhf":
        named |= openrlhf_gpus(gpus)
    elif gpus is not None:
        named |= {"model.gpus": gpus, "engine": engine or (None if resume else "local")}
    over = [*(settings or []), *(f"{k}={v}" for k, v in named.items() if v is not None)]
    if resume is not None:
        if preset or config_file or name or dry_run:
            raise UserError(
                "--resume continues with the run's own config: only --steps and --set may be given with it"
            )
        from prorl_training.engine.start import resumed_run

        start = resumed_run(resume, over, steps)
        if isinstance(start, str):
            console.say(start)
            return
        start_run(start, restarts)
        return
    over += [] if steps is None else [f"steps={steps}"]
    if dry_run:
        from prorl_training.config.loading import load_config
        from prorl_training.engine.openrlhf.launch.arguments import dry_run as command_line
        from prorl_training.engine.openrlhf.launch.arguments import unsaid

        config = load_config(preset, config_file, over)
        print(command_line(config, name or "RUN"))
        console.say("what the command does not show:")
        for line in unsaid(config):
            console.say(f"  {line}")
        return
    from prorl_training.engine.start import new_run

    start_run(new_run(preset, config_file, over, name), restarts)


def start_run(start: Start, restarts: int = 0, trainers: Trainers | None = None) -> TrainReport:
    """Announce and run the training, then report how it ended. A run that gave up exits with 1."""
    from prorl_training.engine.local import scaling_notes
    from prorl_training.schedule.decisions import stage_lines

    config, folder = start.config, start.run.path
    dataset = start.check()
    memory = start.check_memory()
    r = config.in_phase(0).rollout
    console.say(f"run      {folder}")
    console.say(f"preset   {config.preset} · {config.steps} steps · engine {config.engine}")
    if config.model.gpus > 1:
        console.say(f"ranks    {config.model.gpus}, with logs in rank_N.log of the run")
    if start.chosen:
        console.say(f"engine   {start.chosen}")
    for line in stage_lines(config):
        console.say(f"stage    {line}")
    console.say(f"model    {config.model.path}")
    console.say(f"dataset  {dataset}")
    console.say(f"step     {r.prompts} prompts x {r.samples} samples, up to {r.max_tokens} tokens")
    if memory is not None:
        console.say(f"memory   {memory}")
    v = config.validation
    if v.every and v.samples > 1 and v.temperature == 0:
        console.warn(
            f"validation.samples={v.samples} at temperature 0 gives the same answer {v.samples} times: "
            "set validation.samples=1 or a temperature above 0"
        )
    for note in scaling_notes(config):
        console.say(f"scaled   {note}")
    console.say("the remaining time appears after some steps; Ctrl-C saves the run")

    resume_command = prorl_command("train", "--resume", folder.name)

    def how_to_go_on() -> str:
        if not start.run.config_path.exists():
            return NOTHING_KEPT
        return f"stopping; continue with {resume_command}"

    started, progress = time.monotonic(), console.make_progress()
    with console.stoppable(how_to_go_on, progress):
        report = start.train(progress, restarts, trainers)
    took = format_seconds(time.monotonic() - started)
    if report.stopped is not None:
        console.say(f"the run stopped after step {report.last_step}: {report.stopped}")
        explanation = prorl_command("train", "explain", folder.name, "--step", report.last_step)
        console.say(f"details: {explanation}")
        console.say(f"after fixing the cause: {resume_command}")
        raise typer.Exit(1)
    if report.interrupted:
        console.say(f"stopped after step {report.last_step} of {report.steps} ({took}); saved.")
        console.say(f"continue with: {resume_command}")
        return report
    stalled = [d for d in start.run.decisions() if d["kind"] == "run_ended"]
    if stalled and stalled[-1]["step"] == report.last_step:
        console.say(f"controller.on_stall ended the run: {stalled[-1]['reason']}")
    elif report.last_step < report.steps and config.token_budget:
        console.say(f"token_budget={config.token_budget} is spent before step {report.steps}")
    console.say(f"done: {report.last_step} steps in {took} · {folder}")
    console.say(f"next: {prorl_command('eval', 'pass-at-k', '--run', folder.name)}")
    return report
