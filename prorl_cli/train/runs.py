"""``prorl train presets|status|export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli import console
from prorl_cli.options import CheckpointStep, Json, RunArgument, folder_to_write, run_or_newest
from prorl_common import UserError, format_seconds


def presets(as_json: Json = False) -> None:
    """List the packaged presets.

    Example: prorl train presets
    """
    from prorl_training.config.loading import load_config
    from prorl_training.config.presets import preset_description, preset_names

    configs = {name: load_config(name) for name in preset_names()}
    if as_json:
        console.print_json(
            {
                name: {"description": preset_description(name), "config": c.model_dump(mode="json")}
                for name, c in configs.items()
            }
        )
        return
    rows = [(name, str(c.steps), preset_description(name)) for name, c in configs.items()]
    console.print_table("", ("preset", "steps", "what it is"), rows)


def status(as_json: Json = False) -> None:
    """List the runs under runs/, newest last.

    Example: prorl train status

    Shows each run's progress, validation reward and state.
    """
    from prorl_training.run.folder import list_runs, run_status

    rows = [run_status(run) for run in list_runs()]
    if as_json:
        console.print_json([row.to_json() for row in rows])
        return
    if not rows:
        console.say("no runs yet: start one with prorl train")
        return
    width = max(len(row.run) for row in rows)
    for row in rows:
        validation = "-"
        if row.validation_reward is not None:
            validation = f"{row.validation_reward:.3f} (step {row.validation_step})"
        parts = [
            f"{row.run:<{width}}",
            f"{row.state:<8}",
            f"step {row.step}/{row.steps if row.steps is not None else '?'}",
            f"reward {'-' if row.reward_mean is None else f'{row.reward_mean:.3f}'}",
            f"validation {validation}",
            f"last reset {'none' if row.last_reset is None else f'step {row.last_reset}'}",
            f"{format_seconds(row.age_seconds)} ago",
            *([row.reason] if row.reason else []),
        ]
        print("  ".join(parts))


def export(
    run: RunArgument = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder to write (default: RUN/export/step_NNNNNN).", callback=folder_to_write
        ),
    ] = None,
    checkpoint: CheckpointStep = "latest",
) -> None:
    """Export a checkpoint's policy as a Hugging Face model folder.

    Example: prorl train export mine --out model

    The best checkpoint is the one with the highest validation reward. Prints the folder.
    """
    from prorl_training.run.exporting import choose_checkpoint, export_policy

    source = run_or_newest(run)
    chosen = choose_checkpoint(source, checkpoint)
    folder = out or source.path / "export" / f"step_{chosen.step:06d}"
    if folder.exists():
        raise UserError(f"{folder} exists: choose another folder with --out")
    export_policy(source, chosen, folder)
    console.say(f"wrote the policy of {source.name} after step {chosen.step}")
    print(folder)
