"""Settings of how a run is executed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from prorl_common import UserError
from prorl_common.config import Section
from prorl_common.http import parse_address
from prorl_common.seeds import MOST_TEMPERATURE


class LoraConfig(Section):
    """Train low-rank adapters instead of all weights (needs peft).

    The reference is the base model with a copy of the adapters, taken at the start of RL and at each reset.
    """

    rank: int = Field(default=0, ge=0)
    """Rank of the adapters; 0 trains all weights."""
    alpha: float = Field(default=32.0, gt=0)
    """The adapters are scaled by alpha / rank."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout before the adapters."""
    targets: str = "all-linear"
    """Comma-separated module names, or ``all-linear``."""


class ModelConfig(Section):
    """The model to train and its device."""

    path: str = "smollm2-135m"
    """A cached name, a local folder, or a hub id."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    """Compute type; master weights are always float32."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more time per update."""
    liger: bool = False
    """Compute log-probs with Liger's fused kernel (needs liger-kernel and a CUDA GPU)."""
    gpu_gb: float = Field(default=80.0, gt=0)
    """Memory in GB (10^9 bytes) of the GPU that the settings are chosen for. ``prorl train fit`` uses it on a machine
    without a GPU."""
    gpus: int = Field(default=1, ge=1)
    """Number of GPUs that the local engine uses, with one process (rank) each. On a CPU: number of processes."""
    sharding: Literal["none", "fsdp"] = "none"
    """``none``: each GPU holds all weights. ``fsdp``: each holds a part of policy, reference and optimiser."""
    check_fit: bool = True
    """Refuse to start a run whose estimated memory exceeds what is available."""
    lora: LoraConfig = LoraConfig()

    @model_validator(mode="after")
    def _adapters_are_not_sharded(self) -> ModelConfig:
        if self.sharding == "fsdp" and self.lora.rank:
            raise ValueError(
                "model.sharding=fsdp does not support LoRA: set model.sharding=none or model.lora.rank=0"
            )
        return self


class ValidationConfig(Section):
    """Validation on the validation split, never on the test split."""

    every: int = Field(default=20, ge=0)
    """Steps between validations; 0 switches validation off."""
    problems: int = Field(default=250, ge=1)
    """Number of problems, spread evenly over the domains. Every validation uses the same problems."""
    samples: int = Field(default=1, ge=1)
    """Responses per problem."""
    temperature: float = Field(default=0.6, ge=0, le=MOST_TEMPERATURE)
    """Sampling temperature."""
    top_p: float = Field(default=0.95, gt=0, le=1)
    """Nucleus sampling threshold."""


class CheckpointConfig(Section):
    """Which checkpoints are written and kept."""

    every: int = Field(default=50, ge=1)
    """Steps between checkpoints."""
    keep: int = Field(default=2, ge=1)
    """Number of newest checkpoints to keep. Checkpoint 0 (before RL) and the starts of stages are always kept."""
    best: bool = True
    """Save a checkpoint at each new best validation reward, and keep the best one."""


class LoggingConfig(Section):
    """What is recorded, and where metrics go besides ``metrics.jsonl``."""

    tensorboard: bool = True
    """Log to TensorBoard if ``prorl[tensorboard]`` is installed."""
    wandb: Literal["off", "online", "offline"] = "off"
    """Weights & Biases mode."""
    wandb_project: str = "prorl"
    """Weights & Biases project."""
    trackio: str = ""
    """Trackio project; empty: off. It is stored on this machine unless TRACKIO_SPACE_ID names a Space."""
    solved_steps: int = Field(default=100, ge=1)
    """``items_solved_recently`` counts the items solved within this many steps."""
    rollouts_every: int = Field(default=1, ge=0)
    """Every N steps, write all responses with their verdicts to ``rollouts/``; 0: never."""
    forecast: int = Field(default=0, ge=0)
    """Every N validations, forecast where validation is heading (``prorl train forecast``); 0: never."""
    rollouts: Literal["full", "texts"] = "full"
    """``texts`` leaves out token ids and the sampler's and trainer's log-probs, which take 9 bytes per token."""


class WarmStartConfig(Section):
    """Supervised steps on reference responses before step 1, recorded as a decision."""

    examples: int = Field(default=0, ge=0)
    """Training samples per epoch; 0 switches the warm start off."""
    epochs: int = Field(default=1, ge=1)
    """Number of epochs."""
    batch: int = Field(default=8, ge=1)
    """Examples per update."""
    lr: float = Field(default=5e-5, gt=0)
    """Learning rate of the warm start."""


FAITHFUL_MODES = {"math": "either", "logic": "reference"}
"""Modes of the graders that the ProRL paper describes (arXiv 2505.24864, appendix D)."""


def _default_backend() -> str:
    from prorl_verifiers import default_backend

    return default_backend()


class RewardConfig(Section):
    """How responses are scored."""

    servers: tuple[str, ...] = ()
    """Addresses of running reward servers (``prorl verify serve``), like ``http://host:8421``, for either engine.
    ``workers``, ``timeout_seconds``, ``backend`` and ``allow_weak`` are then ignored: the servers' own options
    apply."""
    workers: int = Field(default=0, ge=0)
    """Number of scoring processes (on a cluster: per replica). 0: chosen from a step's responses and the cores, at
    least 2."""
    timeout_seconds: float = Field(default=10.0, gt=0)
    """Wall-clock limit for scoring one response."""
    backend: str = Field(default_factory=_default_backend, pattern=r"^(local|docker(:\w[\w.-]*)?)$")
    """Sandbox: ``local``, ``docker``, or ``docker:RUNTIME`` with a runtime of the Docker engine, such as ``runsc``.
    The environment variable PRORL_BACKEND sets the default."""
    allow_weak: bool = False
    """Run code without full isolation; recorded in every verdict."""
    faithful: bool = False
    """Score as in the ProRL paper: a math answer is right if either of two graders accepts it, and logic uses the
    upstream scorers."""
    overlap: bool = True
    """Score finished groups while others are still being sampled."""
    modes: dict[str, str] = Field(default_factory=dict)
    """Verifier -> mode to use instead of its default mode. Takes precedence over ``faithful``."""

    @field_validator("backend", mode="before")
    @classmethod
    def _not_remote(cls, backend: Any) -> Any:
        if isinstance(backend, str) and backend.startswith("remote:"):
            raise ValueError("remote:... was removed: name reward servers in reward.servers")
        return backend

    @field_validator("servers", mode="before")
    @classmethod
    def _apart(cls, servers: Any) -> Any:
        return servers.split(",") if isinstance(servers, str) else servers

    @field_validator("servers")
    @classmethod
    def _are_addresses(cls, servers: tuple[str, ...]) -> tuple[str, ...]:
        try:
            for server in servers:
                parse_address(server, "a reward server's address", "http://HOST:8421")
        except UserError as error:
            raise ValueError(str(error)) from error
        return servers

    @field_validator("modes")
    @classmethod
    def _modes_exist(cls, modes: dict[str, str]) -> dict[str, str]:
        from prorl_verifiers import check_modes

        try:
            check_modes(modes)
        except UserError as error:
            raise ValueError(str(error)) from error
        return modes

    def verifier_modes(self) -> dict[str, str]:
        """Return the mode of each verifier that does not use its default mode."""
        return (FAITHFUL_MODES if self.faithful else {}) | self.modes


_RAY_ADDRESS = re.compile(r"auto|(ray://)?[\w.-]+:\d+")
RING_ATTENTION = frozenset({"ring_attn_size", "ring_attn_head_stride", "ring_attention"})
"""Settings for splitting a sequence over GPUs, which are refused."""


class OpenRLHFConfig(Section):
    """Layout of a run with ``engine: openrlhf`` over GPUs; the local engine ignores it."""

    nodes: int = Field(default=1, ge=1)
    """Machines of the Ray cluster to use."""
    gpus_per_node: int = Field(default=8, ge=1)
    """GPUs to use on each machine."""
    colocate: bool = True
    """True: policy, reference and vLLM share all GPUs and take turns. False: vLLM has its own GPUs, and policy and
    reference share the other GPUs."""
    vllm_engines: int = Field(default=0, ge=0)
    """Number of vLLM engines; 0: enough to fill all GPUs if colocated, else half of the GPUs."""
    vllm_tensor_parallel: int = Field(default=1, ge=1)
    """GPUs per vLLM engine."""
    vllm_memory: float = Field(default=0.5, gt=0, lt=1)
    """Fraction of a GPU's memory for vLLM's weights and cache."""
    vllm_sleep: bool = True
    """If colocated on GPUs, vLLM releases its memory while the policy is trained."""
    vllm_eager: bool = False
    """Run vLLM without CUDA graphs: less memory, slower."""
    zero_stage: Literal[2, 3] = 2
    """DeepSpeed ZeRO stage: 2 shards optimiser and gradients, 3 also the weights."""
    adam_offload: bool = False
    """Keep the optimiser state in main memory."""
    reference_offload: bool = False
    """Keep the reference's weights in main memory between passes; needs ``zero_stage=3``."""
    train_tokens_per_gpu: int = Field(default=16384, ge=1)
    """Tokens per forward and backward pass on a GPU; a longer sequence gets its own pass."""
    rollout_tokens_per_gpu: int = Field(default=32768, ge=1)
    """Tokens per pass without gradient (old and reference log-probs) on a GPU."""
    attention: str = Field(default="flash_attention_2", min_length=1)
    """Attention implementation of the trained model on GPUs with flash-attn; its name must contain
    ``flash_attention``. Without flash-attn ``sdpa`` is used."""
    ray_address: str = ""
    """Ray address to join (``auto``, HOST:PORT or ``ray://HOST:PORT``). If empty, start a local Ray and stop it when
    the run ends."""
    reward_replicas: int = Field(default=0, ge=0)
    """Total number of Ray actors that score if ``reward.servers`` is empty; 0: chosen from the nodes' free cores and a
    step's responses."""
    verify_sync: bool = False
    """After each update, compare the checksums of every vLLM engine's weights with the policy's and stop if they
    differ; costs a pass over the weights."""
    cpu_ranks: int = Field(default=1, ge=1)
    """Without a GPU: number of policy ranks, of reference ranks and of vLLM engines. ``nodes``, ``gpus_per_node``
    and the settings for sharing GPUs are then ignored."""
    node_wait_seconds: float = Field(default=600.0, ge=0)
    """Maximum wait, when joining a cluster, for ``nodes`` machines with ``gpus_per_node`` free GPUs, for example
    until a dead machine is replaced."""
    object_store_gib: float = Field(default=0.0, ge=0)
    """Size in GiB of the object store of a local Ray; 0: Ray's default."""

    @model_validator(mode="before")
    @classmethod
    def _removed(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and (removed := {"reward", "reward_urls"} & set(values)):
            raise ValueError(
                f"{min(removed)} was removed: name running reward servers in reward.servers (either engine), "
                "or leave it empty to score without servers"
            )
        return values

    @model_validator(mode="before")
    @classmethod
    def _no_ring_attention(cls, values: Any) -> Any:
        options = RING_ATTENTION.intersection(values) if isinstance(values, Mapping) else ()
        for name in sorted(options):
            raise ValueError(
                f"{name}: ring attention is not supported: remove this setting; for long sequences "
                "set model.gradient_checkpointing=true, openrlhf.zero_stage=3 or a lower rollout.max_tokens"
            )
        return values

    @field_validator("ray_address")
    @classmethod
    def _address_can_be_joined(cls, address: str) -> str:
        if address and _RAY_ADDRESS.fullmatch(address) is None:
            raise ValueError("use auto, HOST:PORT or ray://HOST:PORT, or leave it empty")
        return address
