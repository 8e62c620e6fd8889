"""``prorl train``: start or resume a run; ``simulate``, ``explain``, ``presets``, ``status``, ``export``.

Parses, calls ``prorl_training`` and shows. Leaves out: every decision about training.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli import console
from prorl_common import UserError, format_seconds

if TYPE_CHECKING:
    from prorl_training.config import TrainConfig

app = typer.Typer(no_args_is_help=False, rich_markup_mode=None)

Preset = Annotated[str | None, typer.Option(help="A packaged preset; see prorl train presets.")]
Sets = Annotated[
    list[str] | None,
    typer.Option("--set", help="Override a setting: section.key=value. Repeatable."),
]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="A YAML file of settings.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]


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
) -> None:
    """Train with ProRL: REINFORCE++-baseline, scheduled length penalty, reference resets.

    Bare, it takes the newest dataset under data/, the cached (else fetched) model and a preset by
    device. Ctrl-C finishes the step, saves, and says how to go on.
    """
    if context.invoked_subcommand is not None:
        return
    from prorl_training.run_folder import find_run
    from prorl_training.session import default_preset, resume_config

    if resume is not None:
        _refuse_with_resume(preset, settings, config_file, data, model, name, engine)
        run = find_run(resume)
        config, folder = resume_config(run, steps), run.path
    else:
        over = _overrides(settings, steps, data, model, engine)
        if preset is None and config_file is None:
            preset = default_preset()
        config = _load(preset, config_file, over)
        folder = Path("runs") / (name or f"{config.preset}-{time.strftime('%Y%m%d-%H%M%S')}")
    _run(config, folder, resume is not None)


def _run(config: TrainConfig, folder: Path, resume: bool) -> None:
    """Announce, train, and say how it ended."""
    from prorl_training.session import train

    if config.engine != "local":
        raise UserError("engine openrlhf is not part of this version: use --engine local")
    _announce(config, folder)
    started = time.monotonic()
    report = train(config, folder, console.make_progress(), resume)
    took = format_seconds(time.monotonic() - started)
    if report.interrupted:
        console.say(f"stopped after step {report.last_step} of {report.steps} ({took}); saved.")
        console.say(f"go on with: prorl train --resume {folder.name}")
        return
    console.say(f"done: {report.last_step} steps in {took} · {folder}")
    console.say(f"next: prorl eval pass-at-k --run {folder.name}")


def _refuse_with_resume(*options: object) -> None:
    if any(option is not None for option in options):
        raise UserError(
            "--resume goes on with the run's own config: of the other options it takes only --steps"
        )


def _overrides(
    settings: list[str] | None,
    steps: int | None,
    data: Path | None,
    model: str | None,
    engine: str | None,
) -> list[str]:
    named = {"steps": steps, "data.path": data, "model.path": model, "engine": engine}
    return [*(settings or []), *(f"{k}={v}" for k, v in named.items() if v is not None)]


def _load(preset: str | None, file: Path | None, overrides: list[str]) -> TrainConfig:
    from prorl_training.config_loading import load_config

    return load_config(preset, file, overrides)


def _announce(config: TrainConfig, folder: Path) -> None:
    from prorl_training.session import find_dataset, scaling_notes

    dataset = find_dataset(config)
    r = config.rollout
    console.say(f"run      {folder}")
    console.say(f"preset   {config.preset} · {config.steps} steps · engine {config.engine}")
    console.say(f"model    {config.model.path}")
    console.say(f"dataset  {dataset}")
    console.say(f"step     {r.prompts} prompts x {r.samples} samples, up to {r.max_tokens} tokens")
    for note in scaling_notes(config):
        console.say(f"scaled   {note}")
    console.say("the ETA appears after the first step; Ctrl-C saves and says how to go on")


@app.command()
def simulate(
    preset: Preset = None,
    steps: Annotated[int | None, typer.Option(help="Steps to simulate.")] = None,
    settings: Sets = None,
    metrics: Annotated[
        Path | None, typer.Option("--from", help="A recorded metrics.jsonl to decide on.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what the controller would decide, without training.

    Without --from every step counts as calm, so only the schedule speaks.
    """
    from prorl_common import read_jsonl
    from prorl_training.controller import Controller
    from prorl_training.controller import simulate as run_simulation

    config = _load(preset, None, _overrides(settings, steps, None, None, None))
    rows = {int(row["step"]): row for _, row in read_jsonl(metrics)} if metrics else {}
    controller = Controller(config.controller, config.length_penalty)
    decisions = run_simulation(controller, config.steps, rows)
    if as_json:
        console.print_json([d.to_json() for d in decisions])
        return
    for d in decisions:
        print(f"step {d.step:>6}  {d.kind.replace('_', ' '):<22} {d.reason}")


@app.command()
def explain(
    run: Annotated[str | None, typer.Argument(help="Name of a run (default: newest).")] = None,
    step: Annotated[int | None, typer.Option(help="Only what was decided at this step.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read back what the controller decided, why, and on which evidence."""
    from prorl_training.run_folder import find_run

    rows = find_run(run).decisions()
    if step is not None:
        rows = [r for r in rows if r["step"] == step]
    if as_json:
        console.print_json(rows)
        return
    if not rows:
        console.say("nothing was decided" + (f" at step {step}" if step is not None else ""))
    for row in rows:
        print(f"step {row['step']}: {row['kind'].replace('_', ' ')} - {row['reason']}")
        for key, value in row["evidence"].items():
            shown = f"{len(value)} entries" if isinstance(value, list) else value
            print(f"    {key}: {shown}")


@app.command()
def presets(as_json: AsJson = False) -> None:
    """List the packaged presets."""
    from prorl_training.config_loading import load_config, preset_names

    configs = {name: load_config(name) for name in preset_names()}
    if as_json:
        console.print_json({name: c.model_dump(mode="json") for name, c in configs.items()})
        return
    for name, c in configs.items():
        r = c.rollout
        size = f"{r.prompts} x {r.samples}, {r.max_tokens} tokens"
        print(f"{name:<12} {c.steps:>5} steps · {size} · {c.model.path}")


@app.command()
def status(as_json: AsJson = False) -> None:
    """List the runs under runs/ with their last step and reward."""
    from prorl_training.run_folder import list_runs

    rows = []
    for run in list_runs():
        metrics = run.metrics()
        last = metrics[-1] if metrics else {}
        rows.append(
            {
                "run": run.name,
                "step": last.get("step", 0),
                "steps": run.config().steps,
                "reward_mean": last.get("reward_mean"),
            }
        )
    if as_json:
        console.print_json(rows)
        return
    if not rows:
        console.say("no runs yet: start one with prorl train")
    for row in rows:
        reward = "-" if row["reward_mean"] is None else f"{row['reward_mean']:.3f}"
        print(f"{row['run']:<40} step {row['step']}/{row['steps']}  reward {reward}")


@app.command()
def export(
    out: Annotated[Path, typer.Argument(help="Folder to write the Hugging Face model to.")],
    run: Annotated[str | None, typer.Option(help="Name of a run (default: newest).")] = None,
) -> None:
    """Copy the newest checkpoint's policy as a Hugging Face model folder."""
    import shutil

    from prorl_common import atomic_directory
    from prorl_training.checkpoint import latest_checkpoint, verify_checkpoint
    from prorl_training.run_folder import find_run

    source = latest_checkpoint(find_run(run).checkpoints)
    if out.exists():
        raise UserError(f"{out} exists: choose another folder")
    state = verify_checkpoint(source)
    with atomic_directory(out) as work:
        shutil.copytree(source / "policy", work, dirs_exist_ok=True)
    console.say(f"wrote the policy of step {state['step']} to {out}")
