"""What a GPU holds in each stage of a step, item by item, for every phase of a run.

``local`` and ``cluster`` fill it in; here is what they fill in, and whether it fits. Bytes are bytes, GB are 10^9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from prorl_training.config import TrainConfig

ITEMS = (
    "weights",
    "gradients",
    "optimiser",
    "reference",
    "sampler weights",
    "KV cache",
    "logits",
    "activations",
    "reserve",
)
"""What memory goes to. ``reserve`` is assumed, not reckoned: contexts of the device and what its allocator wastes."""
GB = 10**9
PROMPT_ROOM = 2048
"""Tokens of prompt that are reckoned with where a config does not limit them, but at most ``PROMPT_SHARE`` responses."""
PROMPT_SHARE = 4
CONTEXT_BYTES = 750_000_000
"""Assumed for each process on a GPU: the CUDA context, the libraries' workspaces, NCCL's buffers."""
WASTE = 0.05
"""Assumed part of a pass's memory that the allocator loses to pieces that do not fit together."""
TORCH_BYTES = 700_000_000
"""Assumed for a process without a GPU: torch and Transformers, loaded."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a step on one kind of GPU (``where``: the policy's, the sampler's, or empty where all are alike)."""

    name: str
    items: Mapping[str, int]
    where: str = ""

    @property
    def total(self) -> int:
        """Return the bytes of all items."""
        return sum(self.items.values())


@dataclass(frozen=True, slots=True)
class PhaseFit:
    """The stages of a step in one phase; ``sizes`` says what sizes were reckoned with."""

    name: str
    sizes: Mapping[str, int]
    stages: tuple[Stage, ...]
    troubles: tuple[str, ...] = ()
    """What does not work whatever the total is."""

    @property
    def worst(self) -> Stage:
        """Return the stage that takes most."""
        return max(self.stages, key=lambda stage: stage.total)


@dataclass(frozen=True, slots=True)
class Fit:
    """A run's phases beside ``memory`` bytes of one ``device``, of ``gpus`` in all."""

    config: TrainConfig
    device: str
    memory: int
    gpus: int
    parameters: int
    phases: tuple[PhaseFit, ...]

    @property
    def worst(self) -> PhaseFit:
        """Return the phase that takes most; one that has troubles goes before."""
        return max(self.phases, key=lambda phase: (bool(phase.troubles), phase.worst.total))

    @property
    def needed(self) -> int:
        """Return the bytes of the worst stage."""
        return max(phase.worst.total for phase in self.phases)

    @property
    def fits(self) -> bool:
        """Return whether every stage of every phase fits."""
        return self.needed <= self.memory and not any(phase.troubles for phase in self.phases)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "preset": self.config.preset,
            "engine": self.config.engine,
            "model": self.config.model.path,
            "parameters": self.parameters,
            "device": self.device,
            "gpus": self.gpus,
            "memory": self.memory,
            "needed": self.needed,
            "fits": self.fits,
            "phases": [
                {
                    "phase": phase.name,
                    "sizes": dict(phase.sizes),
                    "stages": [
                        {
                            "stage": s.name,
                            "where": s.where,
                            "total": s.total,
                            "bytes": dict(s.items),
                        }
                        for s in phase.stages
                    ],
                    "troubles": list(phase.troubles),
                }
                for phase in self.phases
            ],
        }


def longest_prompt(config: TrainConfig, context: int) -> int:
    """Return the tokens of prompt to reckon with in a phase's ``config``, for a model of ``context`` tokens."""
    r = config.rollout
    limit = r.vllm_context or context
    room = max(limit - r.max_tokens, 1) if limit else PROMPT_ROOM
    return min(r.max_prompt_tokens or min(PROMPT_ROOM, PROMPT_SHARE * r.max_tokens), room)


def reserve(processes: int, pass_bytes: int) -> int:
    """Return what is assumed for ``processes`` on a GPU of which one makes passes of ``pass_bytes``."""
    return processes * CONTEXT_BYTES + int(WASTE * pass_bytes)


def named(config: TrainConfig) -> tuple[tuple[str, TrainConfig], ...]:
    """Return each phase's name and config; a run without phases has one, called as the preset."""
    if not config.phases:
        return ((config.preset, config),)
    return tuple((phase.name, config.in_phase(n)) for n, phase in enumerate(config.phases))
