"""The backend ``transformers``: samples from a model in this process, which may be in training."""

from __future__ import annotations

from prorl_inference.backends.transformers.generator import TransformersGenerator, load_generator
from prorl_inference.spec import AUTO, BackendOptions, BackendSpec


def _open(options: BackendOptions) -> TransformersGenerator:
    if options.policy is None:
        return load_generator(
            str(options.folder()),
            options.device,
            options.dtype,
            options.batch_rows,
            options.batching,
        )
    return TransformersGenerator(
        options.policy,
        options.tokenizer,
        None if options.device == AUTO else options.device,
        batch_size=options.batch_rows,
        model_id=str(options.path),
        batching=options.batching,
    )


SPEC = BackendSpec(
    "transformers",
    _open,
    logprobs=True,
    nucleus_logprobs=True,
    trains=True,
    fixed_batches=True,
    auto_rank=1,
)
