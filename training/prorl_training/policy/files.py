"""Write and read the local policy's files in a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from prorl_inference import load_model
from prorl_training.policy.model import PolicyModel
from prorl_training.types import CheckpointError

POLICY, ADAPTERS = "policy", "adapters.safetensors"
REFERENCE, OPTIMIZER = "reference.safetensors", "optimizer.safetensors"


def write_policy(work: Path, policy: PolicyModel, tokenizer: Any) -> dict[str, Any]:
    """Write a policy into ``work`` and return its entries for state.json. A reference equal to the policy is omitted."""
    weights = policy.weights()
    policy.save_model(work / POLICY, weights)
    save_tokenizer(tokenizer, work / POLICY)
    if policy.config.model.lora.rank:
        _save(policy.policy_tensors(), work / ADAPTERS)
    reference, kind = policy.reference_tensors(), "none"
    if reference:
        same = all(n in weights and _equal_bits(t, weights[n]) for n, t in reference.items())
        kind = "policy" if same else "own"
    if kind == "own":
        _save(reference, work / REFERENCE)
    _save(policy.optimizer_tensors(), work / OPTIMIZER)
    return {"updates": policy.updates, "reference": kind, "environment": environment(policy)}


def save_tokenizer(tokenizer: Any, folder: Path) -> None:
    """Write the tokenizer without the keys that Transformers adds for local folders."""
    tokenizer.save_pretrained(folder)
    file = folder / "tokenizer_config.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    remaining = {k: v for k, v in values.items() if k not in ("is_local", "local_files_only")}
    file.write_text(json.dumps(remaining, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _equal_bits(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype or one.device != other.device:
        return False
    pair = [t.contiguous().reshape(-1).view(torch.uint8) for t in (one, other)]
    return torch.equal(pair[0], pair[1])


def _save(tensors: Mapping[str, Tensor], path: Path) -> None:
    save_file({name: t.detach().contiguous() for name, t in tensors.items()}, path)


def policy_tensors(path: Path) -> dict[str, Tensor]:
    """Return a checkpoint's trained weights by parameter name, on the CPU. With LoRA these are the adapters."""
    if (path / ADAPTERS).is_file():
        return dict(load_file(path / ADAPTERS))
    # Transformers saves some families (mixtures of experts) under other names than their parameters have
    model, _ = load_model(path / POLICY, "cpu", torch.float32)
    return {name: p.detach() for name, p in model.named_parameters()}


def restore_weights(path: Path, policy: PolicyModel, state: Mapping[str, Any]) -> None:
    """Load the adapters, if any, and the update count, but neither reference nor optimiser.

    ``policy`` must have been loaded from ``path``/policy, or with LoRA from the base model.
    """
    if (path / ADAPTERS).is_file():
        policy.load_policy_weights(policy_tensors(path))
    policy.updates = int(state["updates"])


def restore_checkpoint(path: Path, policy: PolicyModel, state: Mapping[str, Any]) -> None:
    """Load adapters, reference, optimiser and update count. Raises CheckpointError if the reference is missing."""
    restore_weights(path, policy, state)
    kind = state["reference"]
    if kind == "own":
        policy.load_reference(load_file(path / REFERENCE))
    elif kind == "policy":
        policy.load_reference({n: p.detach() for n, p in policy.model.named_parameters()})
    elif policy.reference_tensors():
        raise CheckpointError(f"checkpoint {path} has no reference, but the config needs one")
    policy.load_optimizer(load_file(path / OPTIMIZER))


def environment(policy: PolicyModel) -> dict[str, Any]:
    """Return the versions and settings that must stay the same for bitwise equal results."""
    return {
        **{name: metadata.version(name) for name in ("torch", "transformers", "prorl")},
        "threads": torch.get_num_threads(),
        "device": policy.device.type,
        "dtype": str(policy.compute_dtype).removeprefix("torch."),
    }
