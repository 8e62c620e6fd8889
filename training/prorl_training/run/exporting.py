"""Export a run's policy as a Hugging Face model."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError, atomic_directory
from prorl_training.run.checkpoint import (
    best_step,
    checkpoint_path,
    checkpoint_steps,
    newest_whole,
    verify_checkpoint,
)
from prorl_training.run.folder import RunFolder
from prorl_training.run.lineage import write_lineage


@dataclass(frozen=True, slots=True)
class Chosen:
    policy: Path
    state: dict[str, Any]

    @property
    def step(self) -> int:
        return int(self.state["step"])


def choose_checkpoint(run: RunFolder, name: str = "latest") -> Chosen:
    """Verify and return the checkpoint ``name``: ``latest``, ``best`` or a step.

    Raises UserError if it is missing or damaged.
    """
    if not name.isdecimal() and name not in ("latest", "best"):
        raise UserError(f"--checkpoint is '{name}': use latest, best or the number of a step")
    step = int(name) if name.isdecimal() else None
    if name == "best":
        step = best_step(run.checkpoints)
        if step is None:
            raise UserError(
                f"run {run.name} has no best checkpoint: nothing was validated yet, or checkpoint.best is off; use latest or a step"
            )
    if step is not None:
        steps = checkpoint_steps(run.checkpoints)
        if step not in steps:
            available = ", ".join(map(str, steps)) or "none"
            raise UserError(f"run {run.name} has no checkpoint of step {step}; it has: {available}")
        source = checkpoint_path(run.checkpoints, step)
        return Chosen(source / "policy", verify_checkpoint(source))
    source, state, troubles = newest_whole(run.checkpoints)
    if troubles:
        raise UserError(
            f"{troubles[0]}; the newest intact checkpoint is of step {state['step']}: name it with "
            f"--checkpoint {state['step']}"
        )
    return Chosen(source / "policy", state)


def export_policy(run: RunFolder, chosen: Chosen, out: Path) -> None:
    """Copy the checkpoint's model and its lineage to ``out``, atomically."""
    with atomic_directory(out) as work:
        shutil.copytree(chosen.policy, work, dirs_exist_ok=True)
        write_lineage(work, run.name, chosen.state)
