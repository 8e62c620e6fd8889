"""The settings of how a run is carried out: model, validation, checkpoints, rewards, records."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from prorl_common import UserError
from prorl_common.config import Section


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
    temperature: float = Field(default=0.6, ge=0)
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

    workers: int = Field(default=0, ge=0)
    """Processes that score, of each replica on a cluster; 0: as many as a step's answers ask for and the cores
    allow, at least 2."""
    timeout_seconds: float = Field(default=10.0, gt=0)
    """Wall time for one response."""
    backend: str = Field(
        default_factory=_default_backend, pattern=r"^(local|docker(:\w[\w.-]*)?|remote:\S+)$"
    )
    """``local``, ``docker``, ``docker:RUNTIME`` for one of the engine's runtimes, like ``runsc``, or
    ``remote:URL[,URL]`` for services of ``prorl sandbox serve``. The environment's PRORL_BACKEND is the default."""
    allow_weak: bool = False
    """Run code without full isolation; recorded in every verdict."""
    faithful: bool = False
    """Reward as ProRL did where ours differs: math by either of two graders, logic by the upstream scorers."""
    overlap: bool = True
    """Score finished groups while others are still being sampled."""
    judge: str | None = None
    """Name of the model that may give rewards, where tasks ask for a verdict of one; it must be the one that the
    environment names (PRORL_JUDGE_MODEL). Without it such a dataset is refused."""
    modes: dict[str, str] = Field(default_factory=dict)
    """Verifier -> its mode, for those that are not to work in their default one; goes before ``faithful``."""

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
