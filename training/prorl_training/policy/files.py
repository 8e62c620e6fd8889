"""The local policy's files in a checkpoint: model, adapters, reference, optimiser, and where it was made.

Leaves out: the checkpoint around them (``checkpoint``).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_training.run.checkpoint_store import CheckpointError
from prorl_training.schedule.decisions import Decision

if TYPE_CHECKING:
    from torch import Tensor

    from prorl_training.policy.policy import Policy

POLICY, ADAPTERS = "policy", "adapters.safetensors"
REFERENCE, OPTIMIZER = "reference.safetensors", "optimizer.safetensors"


def write_policy(work: Path, policy: Policy, tokenizer: Any) -> dict[str, Any]:
    """Write everything of a policy into the folder ``work``; return entries for state.json."""
    policy.save_model(work / POLICY)
    save_tokenizer(tokenizer, work / POLICY)
    if policy.config.model.lora.rank:
        _save(policy.policy_tensors(), work / ADAPTERS)
    kind = _save_reference(work, policy)
    _save(policy.optimizer_tensors(), work / OPTIMIZER)
    return {"updates": policy.updates, "reference": kind, "environment": environment(policy)}


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
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
