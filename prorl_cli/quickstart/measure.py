"""Measure the speed of sampling and training on this machine with the run's model and prompts."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prorl_cli.quickstart.plan import SAMPLES, Rates

if TYPE_CHECKING:
    from prorl_common import Progress
    from prorl_datasets import Sample
    from prorl_training.config import TrainConfig

BATCH = 8
"""Problems that are sampled and trained on."""
TOKENS = 8
"""Tokens sampled per answer."""


def measure(config: TrainConfig, samples: Sequence[Sample], progress: Progress) -> Rates:
    """Load the model, sample and train one batch, and free the model; takes some seconds."""
    from prorl_inference import Request, SamplingParams
    from prorl_training.engine.local import LocalEngine
    from prorl_training.policy.warm_start import choose_examples, gold_group, warm_start
    from prorl_training.run.folder import RunFolder

    config = config.model_copy(
        update={
            "kl": config.kl.model_copy(update={"coefficient": 0.0}),  # no reference is needed
            "rollout": config.rollout.model_copy(update={"backend": "transformers"}),
            "warm_start": config.warm_start.model_copy(update={"examples": BATCH, "epochs": 1}),
        }
    )
    started = time.perf_counter()
    machinery = LocalEngine(config, RunFolder(Path()), (samples, ()), None, progress).load(None)
    policy, tokenizer = machinery.policy, machinery.tokenizer
    generator = machinery.open_generator()
    loaded = time.perf_counter()
    batch = choose_examples(samples, config)
    requests = [Request(sample.prompt, tuple(range(SAMPLES))) for sample in batch]
    with policy.compute():
        answers = generator.generate(requests, SamplingParams(max_tokens=TOKENS))
    sampled = time.perf_counter()
    warm_start(policy, batch, lambda sample: gold_group(sample, tokenizer), lambda *_: None)
    trained = time.perf_counter()
    generator.close()
    golds = [gold_group(sample, tokenizer) for sample in batch]
    prompt = statistics.fmean(len(gold.prompt) for gold in golds)
    answer = statistics.fmean(len(gold.responses[0]) for gold in golds)
    return Rates(
        sampled=sum(len(c.token_ids) for cs in answers for c in cs) / (sampled - loaded),
        trained=len(batch) * (prompt + answer) / (trained - sampled),
        load_seconds=loaded - started,
        prompt_tokens=prompt,
        answer_tokens=answer,
    )
