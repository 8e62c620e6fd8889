"""The policy as the engine takes it: updated on a batch, written to a checkpoint, set back to one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prorl_training.policy.batch import UpdateBatch
from prorl_training.policy.files import policy_tensors, write_policy
from prorl_training.policy.model import PolicyModel
from prorl_training.policy.update import AcceptAll, PolicyUpdate, UpdateJudge, UpdateStats


class Policy(PolicyModel):
    """A causal language model in training, its frozen reference and its optimiser."""

    def update(
        self, batch: UpdateBatch, judge: UpdateJudge | None = None, lr_scale: float = 1.0
    ) -> UpdateStats:
        """Do one gradient update a mini-batch; ``judge`` may refuse each (default: none is refused).

        Losses are aggregated over the mini-batch: with ``token_mean`` every token of a mini-batch weighs
        the same, whatever pack and response it is in. A loss or gradient that is not finite is never
        applied. ``lr_scale`` multiplies the learning rate.
        """
        return PolicyUpdate(self, batch, judge or AcceptAll(), lr_scale).run()

    def load_checkpoint_policy(self, path: Path) -> None:
        """Take over the trained weights of the checkpoint in the folder ``path``."""
        self.load_policy_weights(policy_tensors(path))

    def write_checkpoint(self, work: Path, tokenizer: Any) -> dict[str, Any]:
        """Write model, tokenizer, reference and optimiser into ``work``; return entries for state.json."""
        return write_policy(work, self, tokenizer)
