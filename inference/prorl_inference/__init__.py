"""Prompts in, completions with log-probs out; fetch a model."""

from prorl_inference.types import (
    Completion,
    FinishReason,
    Generator,
    Messages,
    ModelError,
    Request,
    SamplingParams,
)

__all__ = [
    "Completion",
    "FinishReason",
    "Generator",
    "Messages",
    "ModelError",
    "Request",
    "SamplingParams",
]
