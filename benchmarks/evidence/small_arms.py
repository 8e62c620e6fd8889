"""The frozen protocol of the 3,000 steps: seeds, sizes, arms and the settings that prorl trains them with.

Everything here is printed in docs/evidence/three-thousand-steps.md, and a test holds the two together.
Leaves out: the items and the demonstrations (``small_three_thousand``) and the statistics (``small_report``).
"""

from __future__ import annotations

from pathlib import Path

SEEDS = (1, 2, 3)
STEPS = 3000
BASE_SEED = 2024
"""Seed of the initial weights and of the supervised start; one base for all arms and seeds."""
BASE_SHA256 = "4e969d490a32eb08289f86c0ee3297ad4fbf3a6ec90b81630c3123b4b2556830"
"""Of the base's weights file, which is kept with the results."""
DATA_SEED = 11
EVAL_SEED = 12
PILOT_SEEDS = (900, 901)

TRAIN_ITEMS, VALIDATION_ITEMS = 1000, 16
"""Items of each task in the training and validation splits."""
EVAL_ITEMS, LADDER_ITEMS = 32, 16
"""Held-out items of each task, and of each level of a ladder."""
EVAL_SAMPLES, K = 256, 128
EVAL_TEMPERATURE = 1.0

PROMPTS, SAMPLES, ROUNDS = 8, 8, 3
"""A step's prompts, responses to each, and ``dynamic_sampling.max_batches``."""
MAX_TOKENS = 24
LR = 3.0e-4
LARGE_BETA = 0.05
TOKEN_BUDGET = 3_000_000
"""Response tokens sampled, kept or not, at which arms are compared."""
MOST_STEPS = 7000
"""A run that has not sampled the budget by step STEPS goes on, to this step at most."""
CHECKPOINT_EVERY = 50

SHARES = {
    "sum": 2.5,
    "twice": 0.8,
    "backward": 0.6,
    "cipher": 1.8,
    "speed": 1.6,
    "neutrons": 1.6,
}
"""Relative number of demonstrations of each task in the supervised start."""
LADDER_SHARE = 0.2
"""Share of the demonstrations of a task with a ladder that come from it, its hardest level left out."""
START_STEPS, START_BATCH, START_LR = 800, 64, 3.0e-3

NO_RESET = (
    "controller.reset_interval=0",
    "controller.kl_threshold=0",
    "controller.kl_zscore=0",
    "controller.stall_validations=0",
)
ARMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "v2": ("prorl-v2", ()),
    "no-reset": ("no-reset", ()),
    "no-length": ("no-length", ()),
    "justrl": ("justrl", ()),
    "v2-kl": ("prorl-v2", (f"kl.coefficient={LARGE_BETA}",)),
    "no-reset-kl": ("no-reset", (f"kl.coefficient={LARGE_BETA}",)),
}
"""Arm -> (packaged preset, what is set on top of it beside the common settings)."""


def common_settings(model: Path, data: Path, seed: int) -> list[str]:
    """Return the settings that every arm shares: where things are, and everything scaled down."""
    return [
        f"seed={seed}",
        f"steps={STEPS}",
        f"model.path={model}",
        "model.device=cpu",
        "model.dtype=fp32",
        "model.gradient_checkpointing=false",
        f"data.path={data}",
        f"rollout.prompts={PROMPTS}",
        f"rollout.samples={SAMPLES}",
        "rollout.temperature=1.0",
        f"rollout.max_tokens={MAX_TOKENS}",
        "rollout.max_prompt_tokens=0",
        "rollout.batch_rows=512",
        "rollout.backend=transformers",
        f"dynamic_sampling.max_batches={ROUNDS}",
        "loss.mini_batches=4",
        "loss.pack_tokens=1024",
        f"optimizer.lr={LR}",
        "validation.every=50",
        "validation.problems=96",
        "validation.samples=1",
        "validation.temperature=0.6",
        "validation.top_p=0.95",
        f"checkpoint.every={CHECKPOINT_EVERY}",
        "checkpoint.keep=2",
        "checkpoint.best=false",
        "logging.tensorboard=false",
        "logging.rollouts_every=0",
        "reward.workers=1",
    ]


def protocol_phrases() -> list[str]:
    """Return what the protocol's document must say, word for word, of the constants above."""
    return [
        f"{START_STEPS} steps of {START_BATCH}, learning rate {START_LR}, seed {BASE_SEED}",
        f"{LADDER_SHARE} of the demonstrations",
        f"Training has {TRAIN_ITEMS} items a task, validation {VALIDATION_ITEMS} (data seed {DATA_SEED})",
        f"{EVAL_ITEMS} items of each task and {LADDER_ITEMS} of each level of a ladder (seed {EVAL_SEED})",
        f"`kl.coefficient={LARGE_BETA}`",
        f"Seeds {SEEDS}",
        f"{PROMPTS} prompts of {SAMPLES} samples, at most {MAX_TOKENS} tokens",
        f"at most {ROUNDS} whole batches of prompts drawn in a step",
        f"SHA-256 {BASE_SHA256}",
        f"The learning rate is {LR}",
        f"after {TOKEN_BUDGET:,} sampled response tokens",
        f"to step {STEPS}",
        f"at most to step {MOST_STEPS}",
        f"{EVAL_SAMPLES} samples an item at temperature {EVAL_TEMPERATURE}",
        f"pass@1 and pass@{K}",
        *(f"`{preset}`" for preset, _ in ARMS.values()),
    ]
