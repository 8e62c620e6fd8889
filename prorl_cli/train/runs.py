"""``prorl train presets|status|export``: what can be run, what was run, and its model as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prorl_cli import console
from prorl_cli.options import Json, folder_to_write
from prorl_common import UserError, format_seconds


def presets(as_json: Json = False) -> None:
    """List the packaged presets."""
    from rich.table import Table

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
    table = Table(box=None, pad_edge=False)
    table.add_column("preset", no_wrap=True)
    table.add_column("steps", justify="right")
    table.add_column("what it is")
    for name, c in configs.items():
        table.add_row(name, str(c.steps), preset_description(name))
    console.stdout_console().print(table, markup=False)


def status(as_json: Json = False) -> None:
    """List the runs under runs/, newest last.

    How far, how good, and whether anyone works on them.
    """
    from prorl_training.run.folder import list_runs
    from prorl_training.run.status import run_status

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
    out: Annotated[
        Path,
        typer.Argument(help="Folder to write the Hugging Face model to.", callback=folder_to_write),
    ],
    run: Annotated[str | None, typer.Option(help="Name of a run (default: newest).")] = None,
    best: Annotated[bool, typer.Option("--best", help="The one with the best validation.")] = False,
    step: Annotated[int | None, typer.Option(help="The checkpoint of this step.")] = None,
    fall_back: Annotated[
        bool, typer.Option("--fall-back", help="Where the newest is damaged, take an older one.")
    ] = False,
) -> None:
    """Copy a checkpoint's policy as a Hugging Face model folder.

    The newest one's, where none is named.
    """
    from prorl_training.run.exporting import choose_checkpoint, export_policy
    from prorl_training.run.folder import find_run

    if out.exists():
        raise UserError(f"{out} exists: choose another folder")
    if best and step is not None:
        raise UserError("--best and --step name two checkpoints: give one of them")
    found = find_run(run)
    chosen = choose_checkpoint(found, step, best, fall_back)
    for trouble in chosen.passed_over:
        console.warn(f"passed over: {trouble}")
    export_policy(found, chosen, out)
    console.say(f"wrote the policy of {found.name} after step {chosen.step} to {out}")
