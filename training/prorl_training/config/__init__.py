"""The config tree of a training run as pydantic models."""

from prorl_common.config import Section
from prorl_training.config.algorithm import (
    AdvantageConfig,
    KLConfig,
    LossConfig,
    MismatchConfig,
    OptimizerConfig,
)
from prorl_training.config.runtime import (
    CheckpointConfig,
    LoggingConfig,
    LoraConfig,
    ModelConfig,
    OpenRLHFConfig,
    RewardConfig,
    ValidationConfig,
    WarmStartConfig,
)
from prorl_training.config.sampling import (
    DataConfig,
    DynamicSamplingConfig,
    LengthPenaltyConfig,
    OverlongConfig,
    RolloutConfig,
    StopProperlyConfig,
)
from prorl_training.config.schedule import (
    FIXED_IN_A_RUN,
    PHASE_SECTIONS,
    ControllerConfig,
    PhaseConfig,
    SafetyConfig,
    StageConfig,
)
from prorl_training.config.tree import TrainConfig

__all__ = [
    "FIXED_IN_A_RUN",
    "PHASE_SECTIONS",
    "AdvantageConfig",
    "CheckpointConfig",
    "ControllerConfig",
    "DataConfig",
    "DynamicSamplingConfig",
    "KLConfig",
    "LengthPenaltyConfig",
    "LoggingConfig",
    "LoraConfig",
    "LossConfig",
    "MismatchConfig",
    "ModelConfig",
    "OpenRLHFConfig",
    "OptimizerConfig",
    "OverlongConfig",
    "PhaseConfig",
    "RewardConfig",
    "RolloutConfig",
    "SafetyConfig",
    "Section",
    "StageConfig",
    "StopProperlyConfig",
    "TrainConfig",
    "ValidationConfig",
    "WarmStartConfig",
]
