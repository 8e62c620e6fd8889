"""What the training loop is made of. ``engine.builder`` puts it together."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from prorl_common import Progress
from prorl_datasets import Sample
from prorl_inference import Generator
from prorl_training.rollout.prompts import PromptSource
from prorl_training.rollout.types import Scorer
from prorl_training.run.folder import RunFolder

if TYPE_CHECKING:
    from prorl_training.policy.update import UpdateBatch, UpdateJudge, UpdateStats


class TrainedPolicy(Protocol):
    """A policy in training with its reference and optimiser, wherever they live.

    ``model`` is what the generator is told to take its weights from.
    """

    @property
    def model(self) -> Any:
        """The model to sample from."""
        ...

    def compute(self) -> AbstractContextManager[None]:
        """Return the context in which the policy samples."""
        ...

    def update(
        self, batch: UpdateBatch, judge: UpdateJudge | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        """Do one gradient update a mini-batch."""
        ...

    def reset_reference(self, clear_optimizer: bool) -> None:
        """Make the reference the policy as it is now."""
        ...

    def load_checkpoint_policy(self, path: Path) -> None:
        """Take over the weights of the checkpoint in the folder ``path``."""
        ...

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write model, tokenizer, reference and optimiser into ``work``; return entries for state.json."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What the loop works with: prompts, model, sampler, checker, folder and progress.

    ``beat`` tells a watchdog that something moved; ``sleep`` waits for a reward service that is away.
    """

    prompts: PromptSource
    validation: Sequence[Sample]
    policy: TrainedPolicy
    tokenizer: Any
    generator: Generator
    scorer: Scorer
    folder: RunFolder
    progress: Progress
    beat: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep
