"""A run's policy as a Hugging Face model: which checkpoint, and the files that are the model.

Both engines write ``policy/`` as Transformers reads it, adapters merged.
"""

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
from prorl_training.types import CheckpointError


@dataclass(frozen=True, slots=True)
class Chosen:
    """A whole checkpoint: the folder of its policy, its ``state.json``, and why newer ones were passed over."""

    policy: Path
    state: dict[str, Any]
    passed_over: tuple[CheckpointError, ...] = ()

    @property
    def step(self) -> int:
        """The step that it was written after."""
        return int(self.state["step"])


def choose_checkpoint(
    run: RunFolder, step: int | None = None, best: bool = False, fall_back: bool = False
) -> Chosen:
    """Return the checkpoint of a step, the best one, or the newest where neither is asked for.

    Every file is checked against the checkpoint's manifest. Raises UserError where there is no such checkpoint, where it
    is damaged, and, without ``fall_back``, where the newest is.
    """
    if best:
        step = best_step(run.checkpoints)
        if step is None:
            raise UserError(
                f"run {run.name} has no best checkpoint: nothing was validated yet, or checkpoint.best is off"
            )
    if step is not None:
        steps = checkpoint_steps(run.checkpoints)
        if step not in steps:
            kept = ", ".join(map(str, steps)) or "none"
            raise UserError(f"run {run.name} has no checkpoint of step {step}; it has: {kept}")
        source = checkpoint_path(run.checkpoints, step)
        return Chosen(source / "policy", verify_checkpoint(source))
    source, state, troubles = newest_whole(run.checkpoints)
    if troubles and not fall_back:
        raise UserError(
            f"{troubles[0]}; the newest whole one is of step {state['step']}: give --fall-back "
            "to take it, or name the step of another"
        )
    return Chosen(source / "policy", state, tuple(troubles))


def export_policy(run: RunFolder, chosen: Chosen, out: Path) -> None:
    """Copy the checkpoint's model to ``out``, with its lineage; the folder appears whole."""
    with atomic_directory(out) as work:
        shutil.copytree(chosen.policy, work, dirs_exist_ok=True)
        write_lineage(work, run.name, chosen.state)
