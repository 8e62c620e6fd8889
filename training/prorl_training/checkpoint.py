"""A checkpoint holds everything a run needs to go on as if it had never stopped.

    step_000012/policy/     a Hugging Face model folder (safetensors, float32) with its tokenizer
                reference.safetensors    absent where the reference is the policy itself, bit for bit
                adapters.safetensors     with LoRA only: ``policy`` has them merged into its weights
                optimizer.safetensors    buffer.json, buffer.safetensors    groups that wait
                state.json    step, updates, environment, and what the engine gave (controller, guard, ...)
                manifest.json

safetensors and JSON only. Every random number of a run is derived from (seed, step, item), so there is no
generator state to save, and the place in the data is the step. Leaves out: finding, checking and pruning
checkpoints (``checkpoint_files``, whose functions are offered here too) and when to save
(``local_engine``).
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, atomic_directory, atomic_write_text
from prorl_training.checkpoint_files import (
    STATE,
    CheckpointError,
    best_checkpoint,
    best_step,
    checkpoint_path,
    checkpoint_steps,
    has_checkpoint,
    mark_best,
    newest_step,
    newest_whole,
    open_checkpoint,
    prune_checkpoints,
    seal,
    sync_folder,
    verify_checkpoint,
)
from prorl_training.decisions import Decision
from prorl_training.rollout import Group
from prorl_training.rollout_buffer import load_buffer, save_buffer

if TYPE_CHECKING:
    from torch import Tensor

    from prorl_training.policy import Policy

__all__ = [
    "CheckpointError",
    "best_checkpoint",
    "best_step",
    "checkpoint_path",
    "checkpoint_steps",
    "environment",
    "environment_decisions",
    "has_checkpoint",
    "load_buffer",
    "mark_best",
    "newest_step",
    "newest_whole",
    "open_checkpoint",
    "policy_tensors",
    "prune_checkpoints",
    "restore_checkpoint",
    "save_checkpoint",
    "verify_checkpoint",
]

POLICY, ADAPTERS = "policy", "adapters.safetensors"
REFERENCE, OPTIMIZER = "reference.safetensors", "optimizer.safetensors"


def save_checkpoint(
    root: Path,
    step: int,
    policy: Policy,
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
        policy.save_model(work / POLICY)
        _save_tokenizer(tokenizer, work / POLICY)
        if policy.config.model.lora.rank:
            _save(policy.policy_tensors(), work / ADAPTERS)
        kind = _save_reference(work, policy)
        _save(policy.optimizer_tensors(), work / OPTIMIZER)
        save_buffer(work, buffer)
        full = {
            **state,
            "step": step,
            "updates": policy.updates,
            "reference": kind,
            "environment": environment(policy),
        }
        (work / STATE).write_text(json.dumps(full, indent=1), encoding="utf-8")
        seal(work)
    with _explained(root / "latest"):
        sync_folder(root)
        atomic_write_text(root / "latest", target.name + "\n")
    return target


def _save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write the tokenizer without what Transformers adds to one that it read from a local folder.

    So a resumed run writes the same files as an unbroken one, and an export says nothing of our disk.
    """
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    kept = {k: v for k, v in values.items() if k not in ("is_local", "local_files_only")}
    file.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _save_reference(work: Path, policy: Policy) -> str:
    """Write the reference's tensors unless the policy's say the same; return which it was."""
    tensors = policy.reference_tensors()
    if not tensors:
        return "none"
    if _same_bits(tensors, dict(policy.model.named_parameters())):
        return "policy"
    _save(tensors, work / REFERENCE)
    return "own"


def _same_bits(ones: Mapping[str, Tensor], others: Mapping[str, Tensor]) -> bool:
    return all(n in others and _equal_bits(t, others[n].detach()) for n, t in ones.items())


def _equal_bits(one: Tensor, other: Tensor) -> bool:
    import torch

    if one.shape != other.shape or one.dtype != other.dtype or one.device != other.device:
        return False
    pair = [t.contiguous().reshape(-1).view(torch.uint8) for t in (one, other)]
    return torch.equal(pair[0], pair[1])


def _save(tensors: Mapping[str, Tensor], path: Path) -> None:
    from safetensors.torch import save_file

    save_file({name: t.detach().contiguous() for name, t in tensors.items()}, path)


def policy_tensors(path: Path) -> dict[str, Tensor]:
    """Return what ``Policy.load_policy_weights`` takes from a checkpoint's folder, on the CPU.

    All weights by the model's own names (tied ones appear once), or with LoRA the adapters alone. The
    model is loaded for it: Transformers writes some families, mixtures of experts among them, under
    other names than their parameters have.
    """
    import torch
    from safetensors.torch import load_file

    from prorl_inference import load_model

    if (path / ADAPTERS).is_file():
        return dict(load_file(path / ADAPTERS))
    model, _ = load_model(path / POLICY, "cpu", torch.float32)
    return {name: p.detach() for name, p in model.named_parameters()}


def restore_checkpoint(path: Path, policy: Policy, state: Mapping[str, Any]) -> None:
    """Load adapters, reference, optimiser and update count into a policy made from ``path``/policy.

    With LoRA the policy is made from the run's base model instead, as ``policy`` has the adapters merged.
    Raises CheckpointError when the run has a reference and the checkpoint none.
    """
    from safetensors.torch import load_file

    if (path / ADAPTERS).is_file():
        policy.load_policy_weights(policy_tensors(path))
    kind = state["reference"]
    if kind == "own":
        policy.load_reference(load_file(path / REFERENCE))
    elif kind == "policy":
        policy.load_reference({n: p.detach() for n, p in policy.model.named_parameters()})
    elif policy.reference_tensors():
        raise CheckpointError(f"checkpoint {path} holds no reference, but the config asks for one")
    policy.load_optimizer(load_file(path / OPTIMIZER))
    policy.updates = int(state["updates"])


def environment(policy: Policy) -> dict[str, Any]:
    """Return what bitwise equality depends on beside config and data: versions, threads, device, type."""
    import torch

    return {
        **_versions(),
        "threads": torch.get_num_threads(),
        "device": policy.device.type,
        "dtype": str(policy.compute_dtype).removeprefix("torch."),
    }


@functools.cache
def _versions() -> dict[str, str]:
    from importlib import metadata

    return {name: metadata.version(name) for name in ("torch", "transformers", "prorl")}


def environment_decisions(state: Mapping[str, Any], policy: Policy) -> list[Decision]:
    """Return a decision when the machine or its software differs from the checkpoint's, else none.

    The run goes on; only bitwise equality with an unbroken run is no longer promised.
    """
    old, new = state["environment"], environment(policy)
    changed = {k: [old.get(k), new[k]] for k in new if old.get(k) != new[k]}
    if not changed:
        return []
    shown = ", ".join(f"{key} {a} -> {b}" for key, (a, b) in changed.items())
    reason = f"{shown}: the run goes on, but not bit for bit as it would have without the change"
    return [Decision(int(state["step"]), "config_changed", reason, {"environment": changed})]


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
