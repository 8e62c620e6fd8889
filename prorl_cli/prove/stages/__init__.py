"""The stages of ``prorl prove gpu``, in the order they run: what the others build on first."""

from __future__ import annotations

from prorl_cli.prove.stage import Stage
from prorl_cli.prove.stages import (
    environment,
    evaluation,
    local_step,
    memory,
    rewards,
    runs,
    samplers,
)

STAGES: tuple[Stage, ...] = (
    environment.STAGE,
    memory.STAGE,
    local_step.STAGE,
    samplers.LOCAL,
    samplers.VLLM,
    rewards.STAGE,
    runs.LOCAL,
    evaluation.LOCAL,
    evaluation.VLLM,
    runs.OPENRLHF,
)
