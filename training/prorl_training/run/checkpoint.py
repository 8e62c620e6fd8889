"""A checkpoint holds everything a run needs to go on as if it had never stopped.

    step_000012/policy/     a Hugging Face model folder (safetensors, float32) with its tokenizer
                reference.safetensors    absent where the reference is the policy itself, bit for bit
                adapters.safetensors     with LoRA only: ``policy`` has them merged into its weights
                optimizer.safetensors    buffer.json, buffer.safetensors    groups that wait
                state.json    step, updates, environment, and what the engine gave (controller, guard, ...)
                manifest.json

safetensors and JSON only (the cluster engine's optimiser files apart). Every random number of a run is derived
from (seed, step, item), so there is no generator state to save, and the place in the data is the step.
Finding, checking and pruning checkpoints is ``checkpoint_store``'s, the policy's own files ``policy.files``'.
"""

from __future__ import annotations

import contextlib
import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from prorl_common import UserError, atomic_directory, atomic_write_text
from prorl_training.rollout.buffer import save_buffer
from prorl_training.rollout.types import Group
from prorl_training.run.checkpoint_store import (
    STATE,
    CheckpointError,
    checkpoint_path,
    seal,
    sync_folder,
)


class WritesCheckpoint(Protocol):
    """What a policy in training does for its checkpoint."""

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write model, tokenizer, reference and optimiser into ``work``; return entries for state.json."""
        ...


def save_checkpoint(
    root: Path,
    step: int,
    policy: WritesCheckpoint,
    tokenizer: Any,
    state: Mapping[str, Any],
    buffer: Sequence[Group] = (),
) -> Path:
    """Write a checkpoint atomically, make it the latest and return its folder.

    ``state`` is what the engine wants back from ``open_checkpoint`` (JSON values, numbers exact). Raises
    UserError where the disk is full or closed to us; older checkpoints are untouched then.
    """
    from prorl_inference import quiet_transformers

    target = checkpoint_path(root, step)
    with _explained(target), atomic_directory(target) as work, quiet_transformers():
        entries = policy.write_checkpoint(work, tokenizer)
        save_buffer(work, buffer)
        full = {**state, "step": step, **entries}
        (work / STATE).write_text(json.dumps(full, indent=1), encoding="utf-8")
        seal(work)
    with _explained(root / "latest"):
        sync_folder(root)
        atomic_write_text(root / "latest", target.name + "\n")
    return target


@contextlib.contextmanager
def _explained(target: Path) -> Iterator[None]:
    """Say in one line why a checkpoint could not be written, whichever library met the full disk."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError, UserError) as error:
        text = str(error)
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
        if full or any(
            w in text for w in ("No space left", "StorageFull", "disk is full", "quota")
        ):
            raise CheckpointError(
                f"cannot write the checkpoint {target}: the disk is full; make room (checkpoint.keep, "
                "old runs) and go on with --resume, the checkpoints before it are whole"
            ) from error
        raise
