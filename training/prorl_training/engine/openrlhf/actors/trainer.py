"""OpenRLHF's trainer process, running prorl's loop."""

from __future__ import annotations

from typing import Any

from openrlhf.trainer import ppo_trainer

from prorl_training.engine.openrlhf.actors import raw_class
from prorl_training.engine.openrlhf.driver.run import run_driver
from prorl_training.engine.openrlhf.spec import current_spec

_Base: Any = raw_class(ppo_trainer.PPOTrainer)


class Trainer(_Base):  # type: ignore[misc]
    """OpenRLHF's trainer without its data loader."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._spec = current_spec()
        updates = self._spec.config().planned_updates
        ppo_trainer.prepare_datasets = lambda strategy, tokenizer: (None, None, updates)
        super().__init__(*args, **options)

    def fit(self, global_step: int = 0) -> None:
        del global_step
        run_driver(self, self._spec)
