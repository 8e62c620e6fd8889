"""Sample completions and their log-probs from language models; fetch models."""

from typing import TYPE_CHECKING

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
    from prorl_inference.backends.openai.generator import OpenAIGenerator
    from prorl_inference.backends.openai.options import ServerOptions
    from prorl_inference.backends.openai.protocol import Usage
    from prorl_inference.backends.transformers.generator import (
        TransformersGenerator,
        load_generator,
    )
    from prorl_inference.models.fetch import fetch_or_resolve
    from prorl_inference.models.loading import (
        cpu_has_fast_bf16,
        load_model,
        load_tokenizer,
        model_digest,
        pick_device,
        pick_dtype,
        quiet_transformers,
    )
    from prorl_inference.models.store import (
        DEFAULT_MODEL,
        KNOWN_MODELS,
        ModelEntry,
        is_cached,
        list_models,
        resolve_model,
        verify_model_dir,
    )
    from prorl_inference.spec import BACKENDS, BackendOptions, BackendSpec, pick_backend
    from prorl_inference.streams import open_stream, sample_all
    from prorl_inference.tokens import encode_prompt, render_prompt, stop_token_ids
    from prorl_inference.types import (
        DEFAULT_BATCH_SIZE,
        Batching,
        Completion,
        ContinuingStream,
        Ended,
        FinishReason,
        Generator,
        Messages,
        ModelError,
        OnResult,
        Request,
        SampleRefusedError,
        SamplingParams,
        SleepingGenerator,
        Stream,
    )
    from prorl_inference.workers.call import Worker
    from prorl_inference.workers.device import (
        DeviceGenerator,
        DeviceModel,
        device_list,
        open_devices,
    )
    from prorl_inference.workers.pool import SamplingPool, sample_batches
    from prorl_inference.workers.servers import open_servers
else:
    __getattr__, __dir__ = load_on_use(__name__, __file__)

__all__ = [
    "BACKENDS",
    "DEFAULT_BATCH_SIZE",
    "DEFAULT_MODEL",
    "KNOWN_MODELS",
    "BackendOptions",
    "BackendSpec",
    "Batching",
    "Completion",
    "ContinuingStream",
    "DeviceGenerator",
    "DeviceModel",
    "Ended",
    "FinishReason",
    "Generator",
    "Messages",
    "ModelEntry",
    "ModelError",
    "OnResult",
    "OpenAIGenerator",
    "Request",
    "SampleRefusedError",
    "SamplingParams",
    "SamplingPool",
    "ServerOptions",
    "SleepingGenerator",
    "Stream",
    "TransformersGenerator",
    "Usage",
    "Worker",
    "cpu_has_fast_bf16",
    "device_list",
    "encode_prompt",
    "fetch_or_resolve",
    "is_cached",
    "list_models",
    "load_generator",
    "load_model",
    "load_tokenizer",
    "model_digest",
    "open_devices",
    "open_servers",
    "open_stream",
    "pick_backend",
    "pick_device",
    "pick_dtype",
    "quiet_transformers",
    "render_prompt",
    "resolve_model",
    "sample_all",
    "sample_batches",
    "stop_token_ids",
    "verify_model_dir",
]
