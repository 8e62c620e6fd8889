"""Puts prorl's classes into OpenRLHF's places, in the process that starts its script.

Four names are replaced before ``openrlhf.cli.train_ppo_ray`` runs, no installed file is edited, and only
the release that was read (0.11.2) is accepted. Leaves out: the classes (``actors``).
"""

from __future__ import annotations

import importlib
from typing import Any

from prorl_training.engine.openrlhf.versions import require_stack

PLACES = (
    (
        "openrlhf.trainer.ray.launcher",
        "ReferenceModelActor",
        "reference",
        "ReferenceActor",
        1,
    ),
    ("openrlhf.trainer.ray.ppo_actor", "PolicyModelActor", "policy", "PolicyActor", 1),
    ("openrlhf.trainer.ppo_trainer", "PPOTrainer", "trainer", "Trainer", 0),
    ("openrlhf.trainer.ray.vllm_engine", "RolloutRayActor", "rollout", "RolloutActor", 0),
)
"""(module, name) that OpenRLHF's script reads, (module, class) of ``actors``, GPUs of the Ray actor."""


def install() -> None:
    """Replace the four classes. Raises UserError for a release of OpenRLHF that was not read."""
    require_stack()
    ray: Any = importlib.import_module("ray")
    for module, name, ours, cls, gpus in PLACES:
        place = importlib.import_module(module)
        replacement = getattr(
            importlib.import_module(f"prorl_training.engine.openrlhf.actors.{ours}"), cls
        )
        wrap = ray.remote(num_gpus=gpus) if gpus else ray.remote
        setattr(place, name, wrap(replacement))
