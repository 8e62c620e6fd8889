"""The settings of how a run is carried out: model, validation, checkpoints, rewards, records, the OpenRLHF engine."""

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

    The reference is the base with the adapters as they were at the start of RL (after a warm start, if there
    is one) or at the last reset; adapters that were never trained add nothing to the base."""

    rank: int = Field(default=0, ge=0)
    """0 trains all weights."""
    alpha: float = Field(default=32.0, gt=0)
    """Scale of the adapters; they count alpha / rank."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout before the adapters."""
    targets: str = "all-linear"
    """Module names, comma-separated, or ``all-linear``."""


class ModelConfig(Section):
    """Which policy is trained, and where."""

    path: str = "smollm2-135m"
    """A cached name, a local folder, or a hub id."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda`` or ``cuda:N``."""
    dtype: Literal["auto", "fp32", "bf16"] = "auto"
    """Compute type; master weights are always float32."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more time in the update."""
    liger: bool = False
    """Log-probs by Liger's fused kernel (liger-kernel and a CUDA GPU); otherwise a block of logits at a time."""
    gpu_gb: float = Field(default=80.0, gt=0)
    """Memory in GB (10^9 bytes) of the GPU that the settings are chosen for: what ``prorl train fit`` reckons with where
    none is found."""
    check_fit: bool = True
    """Refuse to start a run that is reckoned to need more memory than there is."""
    lora: LoraConfig = LoraConfig()


class ValidationConfig(Section):
    """Watching the validation split; never the test split."""

    every: int = Field(default=20, ge=0)
    """Steps between validations; 0 switches them off."""
    problems: int = Field(default=250, ge=1)
    """How many problems are watched, the same ones every time, spread evenly over the domains."""
    samples: int = Field(default=1, ge=1)
    """Responses a problem."""
    temperature: float = Field(default=0.6, ge=0, le=MOST_TEMPERATURE)
    """Sampling temperature."""
    top_p: float = Field(default=0.95, gt=0, le=1)
    """Nucleus."""


class CheckpointConfig(Section):
    """What is kept on disk."""

    every: int = Field(default=50, ge=1)
    """Steps between checkpoints."""
    keep: int = Field(default=2, ge=1)
    """The newest so many; step 0 (before RL) and those that a stage began from always stay."""
    best: bool = True
    """Keep the one with the best validation too, saved when it is measured."""


class LoggingConfig(Section):
    """Who else is told, beside ``metrics.jsonl``."""

    tensorboard: bool = True
    """Where it is installed."""
    wandb: Literal["off", "online", "offline"] = "off"
    """Weights & Biases."""
    wandb_project: str = "prorl"
    """Its project."""
    trackio: str = ""
    """The trackio project that is told; empty: none. It lies on this machine unless TRACKIO_SPACE_ID names a Space."""
    solved_steps: int = Field(default=100, ge=1)
    """``items_solved_recently`` counts the items that were solved in so many steps."""
    rollouts_every: int = Field(default=1, ge=0)
    """Every so many steps all responses with their verdicts are written to ``rollouts/``; 0: never."""
    forecast: int = Field(default=0, ge=0)
    """Every so many validations the run says where its validation is heading (``prorl train forecast``); 0: never."""
    rollouts: Literal["full", "texts"] = "full"
    """``texts`` leaves out what has a value a token (ids, log-probs of sampler and trainer): 9 bytes a token."""


class WarmStartConfig(Section):
    """Supervised steps on gold-format answers before step 1; recorded as a decision."""

    examples: int = Field(default=0, ge=0)
    """Training samples shown in one epoch; 0 switches the warm start off."""
    epochs: int = Field(default=1, ge=1)
    """Times that each example is shown."""
    batch: int = Field(default=8, ge=1)
    """Examples in one update."""
    lr: float = Field(default=5e-5, gt=0)
    """Learning rate of the warm start."""


FAITHFUL_MODES = {"math": "either", "logic": "reference"}
"""What the paper says of its graders (arXiv 2505.24864, appendix D)."""


def _default_backend() -> str:
    from prorl_verifiers import default_backend

    return default_backend()


class RewardConfig(Section):
    """Who checks the answers."""

    servers: tuple[str, ...] = ()
    """Addresses of running reward servers (``prorl verify serve``), like ``http://host:8421``: they score for either
    engine. Their own options hold in place of ``workers``, ``timeout_seconds``, ``backend`` and ``allow_weak``."""
    workers: int = Field(default=0, ge=0)
    """Processes that score, of each replica on a cluster; 0: as many as a step's answers ask for and the cores
    allow, at least 2."""
    timeout_seconds: float = Field(default=10.0, gt=0)
    """Wall time for one response."""
    backend: str = Field(default_factory=_default_backend, pattern=r"^(local|docker(:\w[\w.-]*)?)$")
    """``local``, ``docker``, or ``docker:RUNTIME`` for one of the engine's runtimes, like ``runsc``. The environment's
    PRORL_BACKEND is the default."""
    allow_weak: bool = False
    """Run code without full isolation; recorded in every verdict."""
    faithful: bool = False
    """Reward as ProRL did where ours differs: math by either of two graders, logic by the upstream scorers."""
    overlap: bool = True
    """Score finished groups while others are still being sampled."""
    modes: dict[str, str] = Field(default_factory=dict)
    """Verifier -> its mode, for those that are not to work in their default one; goes before ``faithful``."""

    @field_validator("backend", mode="before")
    @classmethod
    def _not_remote(cls, backend: Any) -> Any:
        if isinstance(backend, str) and backend.startswith("remote:"):
            raise ValueError("remote: was removed: name reward servers in reward.servers")
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
        """Return the mode of each verifier that does not work in its default one."""
        return (FAITHFUL_MODES if self.faithful else {}) | self.modes


_RAY_ADDRESS = re.compile(r"auto|(ray://)?[\w.-]+:\d+")
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
    reward_replicas: int = Field(default=0, ge=0)
    """Ray actors that score, in all, where ``reward.servers`` names none; 0: by the nodes' free cores and the answers of
    a step."""
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
    def _removed(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and (gone := {"reward", "reward_urls"} & set(values)):
            raise ValueError(
                f"{min(gone)} was removed: name running reward servers in reward.servers, of either engine; without any "
                "the run starts its own"
            )
        return values

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
