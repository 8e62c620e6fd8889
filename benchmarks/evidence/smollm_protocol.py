"""The 120-step study of SmolLM2-135M, in constants: tasks, training, evaluation, the test. Fixed before the run.

What docs/evidence/smollm2.md states under "Protocol" is written from here (``smollm_report``), and a test
compares the two. Leaves out: carrying it out (``smollm_run``) and its numbers.
"""

from __future__ import annotations

from smollm_record import record
from smollm_study import MODEL, Evaluated, Scale, Study, TaskSpec

TRAIN_SEED = 1
STEPS = 120

PROTOCOL = Scale(20261122, 120, 10, 200, 50, 16)
REHEARSAL = Scale(
    *(777003, 12, 2, 12, 2, 2),
    (
        *("steps=2", "seed=777", "rollout.prompts=2", "rollout.samples=2", "rollout.max_tokens=12"),
        *("warm_start.examples=4", "dynamic_sampling.max_batches=1", "kl.measure_share_every=0"),
        *("validation.every=2", "validation.problems=2", "checkpoint.every=1"),
    ),
)

MAX_TOKENS = 24
EVAL_SEED = 20261123
LEVEL = 0.95
DRAWS = 10_000
FAMILY_ALPHA = 0.05
"""Family-wise level of the tests of the single tasks (Holm 1979)."""
SHOWN_K = 8


def _task(name: str, config: tuple[tuple[str, int], ...]) -> TaskSpec:
    return TaskSpec(name, name, config)


TASKS = (
    _task("needle_haystack", (("min_num_statements", 3), ("max_num_statements", 5))),
    _task("family_relationships", (("min_family_size", 4), ("max_family_size", 4))),
    _task("word_sequence_reversal", (("min_words", 3), ("max_words", 3))),
    _task("chain_sum", (("min_terms", 2), ("max_terms", 2), ("min_digits", 1), ("max_digits", 2))),
    _task(
        "leg_counting",
        (("min_animals", 1), ("max_animals", 2), ("min_instances", 1), ("max_instances", 4)),
    ),
    _task("lcm", (("min_value", 1), ("max_value", 20))),
)
"""Many possible answers each; yes-or-no tasks are left out."""

OVERRIDES = (
    f"steps={STEPS}",
    f"seed={TRAIN_SEED}",
    f"model.path={MODEL}",
    "rollout.prompts=8",
    "rollout.samples=8",
    f"rollout.max_tokens={MAX_TOKENS}",
    "rollout.temperature=1.0",
    "dynamic_sampling.max_batches=2",
    "loss.mini_batches=1",
    "loss.pack_tokens=1024",
    "kl.coefficient=1e-3",
    "kl.measure_share_every=20",
    "length_penalty.weight=0",
    "controller.reset_interval=60",
    "controller.stall_validations=0",
    "controller.kl_zscore=0",
    "optimizer.lr=1e-5",
    "optimizer.warmup_updates=5",
    "optimizer.schedule=linear",
    "optimizer.min_ratio=0.1",
    "warm_start.examples=96",
    "warm_start.lr=5e-5",
    "validation.every=20",
    "validation.problems=60",
    "validation.samples=2",
    "validation.temperature=1.0",
    "validation.top_p=1.0",
    "checkpoint.every=10",
    "checkpoint.keep=1",
    "checkpoint.best=false",
    "logging.tensorboard=false",
)
"""Laid over the preset ``cpu``."""
STUDY = Study(
    name="smollm2",
    description="Short reasoning-gym tasks with many possible answers.",
    tasks=TASKS,
    scale=PROTOCOL,
    rehearsal=REHEARSAL,
    overrides=OVERRIDES,
    arms={"run": ()},
    evaluated=(
        Evaluated("base", "run", None),
        Evaluated("step-0", "run", 0),
        Evaluated("trained", "run", -1),
    ),
    eval_seed=EVAL_SEED,
    samplings=("sampled", "greedy"),
    shown_k=SHOWN_K,
    rows=64,
    record=record,
)
