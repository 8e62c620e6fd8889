"""The settings of the OpenRLHF engine: machines, memory, who samples and who scores.

None of them enters the mathematics of a run. Leaves out: what OpenRLHF is told (``openrlhf.arguments``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common.config import Section

_RAY_ADDRESS = re.compile(r"auto|(ray://)?[\w.-]+:\d+")
_URL = re.compile(r"https?://[^\s,]+")
RING_ATTENTION = frozenset({"ring_attn_size", "ring_attn_head_stride", "ring_attention"})
"""OpenRLHF's options, and what one would try, for sequences cut over GPUs."""


class OpenRLHFConfig(Section):
    """How a run with ``engine: openrlhf`` is laid out over GPUs; without effect on the local engine."""

    nodes: int = Field(default=1, ge=1)
    """Machines in the Ray cluster that the run takes."""
    gpus_per_node: int = Field(default=8, ge=1)
    """GPUs that it takes on each of them."""
    colocate: bool = True
    """Policy, reference and vLLM share all GPUs and take turns; else vLLM has GPUs of its own, and the policy
    shares the others with the reference."""
    vllm_engines: int = Field(default=0, ge=0)
    """vLLM engines; 0: as many as fill the GPUs when colocated, else as many as fill half of them."""
    vllm_tensor_parallel: int = Field(default=1, ge=1)
    """GPUs of one vLLM engine."""
    vllm_memory: float = Field(default=0.5, gt=0, lt=1)
    """The part of a GPU's memory for vLLM's weights and cache."""
    vllm_sleep: bool = True
    """Colocated on GPUs: vLLM gives its memory back while the policy is trained."""
    vllm_eager: bool = False
    """vLLM without CUDA graphs: less memory, slower."""
    zero_stage: Literal[2, 3] = 2
    """DeepSpeed ZeRO: 2 shards optimiser and gradients, 3 the weights too."""
    adam_offload: bool = False
    """Keep the optimiser's state in the machines' main memory."""
    reference_offload: bool = False
    """Keep the reference's weights in main memory between its passes; needs ``zero_stage=3``."""
    train_tokens_per_gpu: int = Field(default=16384, ge=1)
    """Tokens in one forward and backward pass on a GPU; a longer sequence makes a pass of its own."""
    rollout_tokens_per_gpu: int = Field(default=32768, ge=1)
    """Tokens in one pass without gradient (old and reference log-probs) on a GPU."""
    attention: str = Field(default="flash_attention_2", min_length=1)
    """Attention implementation of the trained model on GPUs; it must be a ``flash_attention`` one, as sequences
    are packed. On CPU always ``sdpa``."""
    ray_address: str = ""
    """Empty: start Ray here and stop it at the end; else join: ``auto``, HOST:PORT or ``ray://HOST:PORT``."""
    reward: Literal["ray", "service"] = "ray"
    """Who scores: replicas that the run starts on all nodes as Ray actors, or running reward services
    (``prorl verify serve``) at ``reward_urls``."""
    reward_replicas: int = Field(default=0, ge=0)
    """Replicas of ``reward=ray`` in all; 0: by the nodes' free cores and the answers of a step."""
    reward_urls: tuple[str, ...] = ()
    """Addresses of the services of ``reward=service``, like ``http://host:8421``."""
    verify_sync: bool = False
    """Compare every vLLM engine's weights with the policy's, by checksum, after each update, and stop where they
    differ; costs a pass over the weights."""
    cpu_ranks: int = Field(default=1, ge=1)
    """Without a GPU: ranks of policy and reference, and vLLM engines; ``nodes``, ``gpus_per_node`` and what says how
    GPUs are shared say nothing then."""
    node_wait_seconds: float = Field(default=600.0, ge=0)
    """How long a start waits for ``nodes`` machines with ``gpus_per_node`` free GPUs in a cluster that is joined: after
    a restart, the one that takes a dead one's place."""
    object_store_gib: float = Field(default=0.0, ge=0)
    """Size of Ray's object store when Ray is started here; 0: Ray's own choice."""

    @model_validator(mode="before")
    @classmethod
    def _no_ring_attention(cls, values: Any) -> Any:
        asked = RING_ATTENTION.intersection(values) if isinstance(values, Mapping) else ()
        for name in sorted(asked):
            raise ValueError(
                f"{name}: there is no ring attention, a sequence stays on one GPU: leave it out; for long sequences "
                "set model.gradient_checkpointing=true, openrlhf.zero_stage=3 or a lower rollout.max_tokens"
            )
        return values

    @field_validator("ray_address")
    @classmethod
    def _address_can_be_joined(cls, address: str) -> str:
        if address and _RAY_ADDRESS.fullmatch(address) is None:
            raise ValueError("use auto, HOST:PORT or ray://HOST:PORT, or leave it empty")
        return address

    @field_validator("reward_urls")
    @classmethod
    def _urls_are_http(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            if _URL.fullmatch(url) is None:
                raise ValueError(f"{url!r} is not an address like http://host:8421")
        return urls

    @model_validator(mode="after")
    def _urls_are_used(self) -> OpenRLHFConfig:
        if self.reward_urls and self.reward == "ray":
            raise ValueError(
                "reward_urls are for services: set openrlhf.reward=service too, or leave them out"
            )
        return self
