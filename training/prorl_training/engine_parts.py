"""What the local engine is made of. Leaves out: putting it together (``session``)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_inference import Generator
from prorl_training.policy import Policy
from prorl_training.prompt_source import PromptSource
from prorl_training.rollout import Scorer
from prorl_training.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Parts:
    """What the engine works with: prompts, model, sampler, checker, folder and progress.

    ``beat`` tells a watchdog that something moved; ``sleep`` waits for a reward service that is away.
    """

    prompts: PromptSource
    validation: Sequence[Sample]
    policy: Policy
    tokenizer: Any
    generator: Generator
    scorer: Scorer
    folder: RunFolder
    progress: Progress
    beat: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep
