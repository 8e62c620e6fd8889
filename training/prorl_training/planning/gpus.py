"""How the OpenRLHF engine places its processes on GPUs."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

from prorl_training.config import TrainConfig

Device = Literal["cpu", "cuda"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Number of GPUs of policy and vLLM engines. The reference, and vLLM if ``colocated``, use the policy's GPUs."""

    nodes: int
    gpus_per_node: int
    engines: int
    tensor_parallel: int
    colocated: bool

    @property
    def policy_ranks(self) -> int:
        return self.nodes * self.gpus_per_node


def device_of(config: TrainConfig) -> Device:
    """Return the config's kind of device; ``auto`` means cuda."""
    return "cpu" if config.model.device == "cpu" else "cuda"


def layout_of(config: TrainConfig, device: Device) -> Layout:
    """Return the config's layout, even if its sizes do not divide evenly (``launch.understood`` refuses this)."""
    o = config.openrlhf
    if device == "cpu":
        return Layout(1, o.cpu_ranks, o.cpu_ranks, 1, True)
    gpus, width = o.nodes * o.gpus_per_node, o.vllm_tensor_parallel
    if o.colocate:
        return Layout(o.nodes, o.gpus_per_node, o.vllm_engines or gpus // width, width, True)
    engines = o.vllm_engines or max(gpus // 2 // width, 1)
    left = max(gpus - engines * width, 0)
    return Layout(o.nodes, left // o.nodes, engines, width, False)


def samples_per_update(config: TrainConfig) -> int:
    return config.rollout.prompts // config.loss.mini_batches * config.rollout.samples


def visible_gpus() -> tuple[int, ...]:
    """Return the memory in bytes of each CUDA device; () without torch."""
    if importlib.util.find_spec("torch") is None:
        return ()
    import torch

    if not torch.cuda.is_available():
        return ()
    count = torch.cuda.device_count()
    return tuple(torch.cuda.get_device_properties(i).total_memory for i in range(count))
