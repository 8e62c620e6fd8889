"""What ``prorl train fit`` reckons for an update of the local engine, beside what it really holds at its peak.

On a GPU that is the allocator's own count; on a CPU every storage that torch makes and still holds is counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.policies import PROMPT, config_of, load_policy, random_batch, sizes

if TYPE_CHECKING:
    from prorl_training.policy.update import Policy, UpdateBatch

MOST_ERROR = 0.1
"""Relative, of the peak; the tiny model's batch does not quite fill its packs."""


def run(place: Place) -> Finding:
    """Reckon, update, compare."""
    from prorl_training.sizing.fit import changed, reckon
    from prorl_training.sizing.shape import ModelShape

    base = config_of(place)
    longest = sizes(place)[2]
    config = changed(
        base,
        [
            ("rollout.backend", "transformers"),
            ("rollout.max_tokens", longest),
            ("rollout.max_prompt_tokens", PROMPT),
            ("model.dtype", "bf16"),
        ],
    )
    policy, _ = load_policy(place, "bf16", config)
    shape = ModelShape.from_config(policy.model.config.to_dict())
    device = "cuda" if place.on_gpu else "cpu"
    fit = reckon(config, shape, device, 10**12)
    update = next(stage for stage in fit.phases[0].stages if stage.name == "update")
    reckoned = update.total - update.items["reserve"]
    batch = random_batch(place, config, policy.model.config.vocab_size)
    policy.update(batch)  # makes the optimiser's state
    peak = _gpu_peak(policy, batch) if place.on_gpu else _counted_peak(policy, batch)
    error = reckoned / peak - 1
    figures = {
        "reckoned_bytes": reckoned,
        "peak_bytes": peak,
        "error": error,
        "items": dict(update.items),
    }
    said = f"reckoned {reckoned / 1e6:,.1f} MB for an update, really {peak / 1e6:,.1f} MB: {error:+.1%} (at most {MOST_ERROR:.0%})"
    return Finding(abs(error) <= MOST_ERROR, said, figures)


def _gpu_peak(policy: Policy, batch: UpdateBatch) -> int:
    import torch

    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    policy.update(batch)
    torch.cuda.synchronize()
    return int(torch.cuda.max_memory_allocated())


def _counted_peak(policy: Policy, batch: UpdateBatch) -> int:
    from prorl_training.sizing.measured import LiveBytes, storage_bytes

    held: list[Any] = [*policy.model.parameters()]
    if policy.reference is not None:
        held += policy.reference.parameters()
    for state in policy.optimizer.state.values():
        held += [value for value in state.values() if hasattr(value, "untyped_storage")]
    with LiveBytes() as live:
        policy.update(batch)
    return int(storage_bytes(held) + live.peak)


STAGE = Stage("memory", "prorl train fit against a real peak", run, minutes=1)
