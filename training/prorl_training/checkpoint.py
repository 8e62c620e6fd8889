"""A checkpoint holds everything a run needs to go on as if it had never stopped.

    step_000012/policy/        a Hugging Face model folder (safetensors, float32) with its tokenizer
                reference.safetensors   optimizer.safetensors   state.json   manifest.json

safetensors and JSON only; a checkpoint with a wrong hash is refused. Every random number of a run is
derived from (seed, step, item), so there is no generator state to save, and the place in the data is
the step. Leaves out: when to save (``local_engine``).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from prorl_common import (
    ServiceError,
    UserError,
    atomic_directory,
    atomic_write_text,
    sha256_file,
)
from prorl_inference import quiet_transformers
from prorl_training.policy import Policy


class CheckpointError(UserError):
    """A checkpoint is missing, incomplete or damaged."""


def checkpoint_path(root: Path, step: int) -> Path:
    """Return the folder of a step's checkpoint."""
    return root / f"step_{step:06d}"


def save_checkpoint(
    root: Path, step: int, policy: Policy, tokenizer: Any, state: Mapping[str, Any]
) -> Path:
    """Write a checkpoint atomically and make it the latest. ``state`` is the JSON of the controller."""
    from safetensors.torch import save_file

    target = checkpoint_path(root, step)
    with atomic_directory(target) as work, quiet_transformers():
        policy.model.save_pretrained(work / "policy")
        tokenizer.save_pretrained(work / "policy")
        if policy.reference is not None:
            weights = {n: p.detach().contiguous() for n, p in policy.reference.named_parameters()}
            save_file(weights, work / "reference.safetensors")
        save_file(optimizer_tensors(policy), work / "optimizer.safetensors")
        full = {"step": step, "updates": policy.updates, **state}
        atomic_write_text(work / "state.json", json.dumps(full, indent=1))
        files = sorted(p for p in work.rglob("*") if p.is_file())
        for file in files:
            file.chmod(0o644)  # safetensors writes files that only their owner can read
        hashes = {str(p.relative_to(work)): sha256_file(p) for p in files}
        atomic_write_text(work / "manifest.json", json.dumps(hashes, indent=1))
    atomic_write_text(root / "latest", target.name + "\n")
    return target


def optimizer_tensors(policy: Policy) -> dict[str, Tensor]:
    """Return the optimiser's moments and step counts by parameter name."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in policy.model.named_parameters():
        for key, value in policy.optimizer.state.get(parameter, {}).items():
            tensors[f"{name}|{key}"] = value.detach().contiguous()
    return tensors


def prune_checkpoints(root: Path, keep: int) -> None:
    """Delete all but the newest ``keep`` checkpoints; step 0 (before RL) always stays."""
    steps = sorted(p for p in root.glob("step_??????") if p.name != "step_000000")
    for path in steps[:-keep]:
        shutil.rmtree(path)


def latest_checkpoint(root: Path) -> Path:
    """Return the newest whole checkpoint's folder. Raises CheckpointError when there is none."""
    marker = root / "latest"
    if not marker.is_file():
        raise CheckpointError(
            f"{root.parent} has no checkpoint yet: start it again under another name"
        )
    path = root / marker.read_text().strip()
    if not (path / "manifest.json").is_file():
        raise CheckpointError(
            f"{path} is missing or incomplete: write the name of an older step_* folder into {marker}"
        )
    return path


def verify_checkpoint(path: Path) -> dict[str, Any]:
    """Check every file against the manifest and return ``state.json``.

    Raises CheckpointError naming the first file that is missing or whose hash differs.
    """
    try:
        hashes = json.loads((path / "manifest.json").read_text())
        for name, expected in hashes.items():
            if sha256_file(path / name) != expected:
                raise CheckpointError(
                    f"checkpoint file {path / name} is damaged (hash differs): "
                    f"use an older checkpoint by writing its name into {path.parent / 'latest'}"
                )
        state: dict[str, Any] = json.loads((path / "state.json").read_text())
    except (FileNotFoundError, ValueError) as error:
        raise CheckpointError(f"checkpoint {path} is incomplete: {error}") from error
    return state


def restore_checkpoint(path: Path, policy: Policy, state: Mapping[str, Any]) -> None:
    """Load reference and optimiser into a policy whose weights already come from ``path``/policy."""
    import torch
    from safetensors.torch import load_file

    if policy.reference is not None:
        weights = load_file(path / "reference.safetensors")
        with torch.no_grad():
            for name, parameter in policy.reference.named_parameters():
                if name not in weights:
                    raise ServiceError(f"{path}: reference lacks the tensor {name}")
                parameter.copy_(weights[name])
    by_name = dict(policy.model.named_parameters())
    for key, value in load_file(path / "optimizer.safetensors").items():
        name, _, field = key.rpartition("|")
        target = policy.optimizer.state[by_name[name]]
        target[field] = value if field == "step" else value.to(by_name[name].device)
    policy.updates = int(state["updates"])
