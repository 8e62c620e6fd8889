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
    import shutil

    from prorl_common import atomic_directory
    from prorl_training.run.checkpoint_store import (
        best_step,
        checkpoint_path,
        checkpoint_steps,
        newest_whole,
        verify_checkpoint,
    )
    from prorl_training.run.folder import find_run
    from prorl_training.run.lineage import write_lineage

    if out.exists():
        raise UserError(f"{out} exists: choose another folder")
    if best and step is not None:
        raise UserError("--best and --step name two checkpoints: give one of them")
    found = find_run(run)
    if best:
        step = best_step(found.checkpoints)
        if step is None:
            raise UserError(
                f"run {found.name} has no best checkpoint: nothing was validated yet, or checkpoint.best is off"
            )
    if step is None:
        source, state, troubles = newest_whole(found.checkpoints)
        if troubles and not fall_back:
            raise UserError(
                f"{troubles[0]}; the newest whole one is of step {state['step']}: give --fall-back "
                f"to export it, or --step for another"
            )
        for trouble in troubles:
            console.warn(f"passed over: {trouble}")
    else:
        steps = checkpoint_steps(found.checkpoints)
        if step not in steps:
            kept = ", ".join(map(str, steps)) or "none"
            raise UserError(f"run {found.name} has no checkpoint of step {step}; it has: {kept}")
        source = checkpoint_path(found.checkpoints, step)
        state = verify_checkpoint(source)
    with atomic_directory(out) as work:
        shutil.copytree(source / "policy", work, dirs_exist_ok=True)
        write_lineage(work, found.name, state)
    console.say(f"wrote the policy of {found.name} after step {state['step']} to {out}")
