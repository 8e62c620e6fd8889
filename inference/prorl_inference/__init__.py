"""Prompts in, completions with log-probs out; fetch a model."""

from prorl_inference.fetch import fetch_model, fetch_or_resolve
from prorl_inference.generator import (
    DEFAULT_BATCH_SIZE,
    Batching,
    TransformersGenerator,
    stop_token_ids,
)
from prorl_inference.loading import (
    SamplerOptions,
    cpu_has_fast_bf16,
    load_generator,
    load_model,
    model_digest,
    open_training_generator,
    pick_device,
    pick_dtype,
    quiet_transformers,
    samples_with_vllm,
)
from prorl_inference.openai_generator import OpenAIGenerator, load_tokenizer
from prorl_inference.openai_options import ServerOptions
from prorl_inference.openai_requests import Usage
from prorl_inference.prompts import encode_prompt, render_prompt
from prorl_inference.store import (
    DEFAULT_MODEL,
    KNOWN_MODELS,
    ModelEntry,
    cache_root,
    is_cached,
    known_aliases,
    list_models,
    resolve_model,
    verify_model_dir,
)
from prorl_inference.types import (
    Completion,
    FinishReason,
    Generator,
    Messages,
    ModelError,
    OnResult,
    Request,
    SamplingParams,
)
from prorl_inference.vllm_generator import VllmGenerator

__all__ = [
    "DEFAULT_BATCH_SIZE",
    "DEFAULT_MODEL",
    "KNOWN_MODELS",
    "Batching",
    "Completion",
    "FinishReason",
    "Generator",
    "Messages",
    "ModelEntry",
    "ModelError",
    "OnResult",
    "OpenAIGenerator",
    "Request",
    "SamplerOptions",
    "SamplingParams",
    "ServerOptions",
    "TransformersGenerator",
    "Usage",
    "VllmGenerator",
    "cache_root",
    "cpu_has_fast_bf16",
    "encode_prompt",
    "fetch_model",
    "fetch_or_resolve",
    "is_cached",
    "known_aliases",
    "list_models",
    "load_generator",
    "load_model",
    "load_tokenizer",
    "model_digest",
    "open_training_generator",
    "pick_device",
    "pick_dtype",
    "quiet_transformers",
    "render_prompt",
    "resolve_model",
    "samples_with_vllm",
    "stop_token_ids",
    "verify_model_dir",
]
