"""The study of SmolLM2-135M with and without the plateau loop, in constants. Fixed before the run.

docs/evidence/smollm2-loop.md states them, and a test holds the two together. Leaves out: carrying it out
(``smollm_run``), what is kept (``smollm_loop_record``), luck (``smollm_luck``), power (``smollm_loop_power``), numbers (``smollm_loop_report``).
"""

from __future__ import annotations

from smollm_loop_record import record
from smollm_study import MODEL, Evaluated, Scale, Study, TaskSpec

STEPS = 250
TRAIN_SEED = 1
MAX_TOKENS = 32
EVAL_SEED = 20261126
K = 128
"""Of the claims; half the answers to an item."""
ALPHA, MARGIN = 0.025, 0.05
"""Of the claims of one arm (both together 5 %), and the change of pass@K that counts as none."""
SHOWN_KS = (1, 8, 32, 128)

SCALE = Scale(20261126, 60, 4, 60, 16, 256)
REHEARSAL = Scale(
    *(777004, 6, 2, 12, 2, 4),
    (
        *("steps=2", "seed=777", "rollout.prompts=2", "rollout.samples=2", "rollout.max_tokens=12"),
        *("warm_start.examples=4", "dynamic_sampling.max_batches=1", "kl.measure_share_every=0"),
        *("validation.every=2", "validation.problems=2", "checkpoint.every=1"),
    ),
)


def _words(level: int, count: int) -> TaskSpec:
    config = (("min_words", count), ("max_words", count))
    return TaskSpec(f"words-{level}", "word_sequence_reversal", config, level)


def _sums(level: int, digits: tuple[int, int]) -> TaskSpec:
    config = (
        *(("min_terms", 2), ("max_terms", 2)),
        *(("min_digits", digits[0]), ("max_digits", digits[1])),
    )
    return TaskSpec(f"sums-{level}", "chain_sum", config, level)


TASKS = (
    *(_words(level, level + 2) for level in (1, 2, 3, 4, 5)),
    *(_sums(1, (1, 2)), _sums(2, (2, 2)), _sums(3, (2, 3)), _sums(4, (3, 3)), _sums(5, (3, 4))),
)
"""Two ladders, from what the base does at times to what it never did in the pilots."""
UPPER = 4
"""From this level on luck solves hardly any item in K tries; the claims are of these levels."""

OVERRIDES = (
    f"steps={STEPS}",
    f"seed={TRAIN_SEED}",
    f"model.path={MODEL}",
    "model.dtype=bf16",
    "rollout.prompts=8",
    "rollout.samples=8",
    f"rollout.max_tokens={MAX_TOKENS}",
    "rollout.temperature=1.0",
    "rollout.batch_rows=128",
    "dynamic_sampling.max_batches=2",
    "loss.mini_batches=1",
    "loss.pack_tokens=1024",
    "kl.coefficient=1e-3",
    "kl.measure_share_every=50",
    "length_penalty.weight=0",
    "controller.reset_interval=100",
    "controller.stall_validations=0",
    "controller.kl_zscore=0",
    "optimizer.lr=1e-5",
    "optimizer.warmup_updates=5",
    "optimizer.schedule=linear",
    "optimizer.min_ratio=0.1",
    "warm_start.examples=160",
    "warm_start.lr=5e-5",
    "validation.every=10",
    "validation.problems=40",
    "validation.samples=2",
    "validation.temperature=1.0",
    "validation.top_p=1.0",
    "checkpoint.every=10",
    "checkpoint.keep=1",
    "checkpoint.best=false",
    "logging.tensorboard=false",
)
LOOP = (
    "data.sampling=posterior",
    "controller.stall_validations=2",
    "controller.stall_gain=0.5",
    "controller.on_stall=[rerate, reset]",
)
"""What the arm with the loop has on top."""

STUDY = Study(
    name="smollm2-loop",
    description="Two ladders of short reasoning-gym tasks.",
    tasks=TASKS,
    scale=SCALE,
    rehearsal=REHEARSAL,
    overrides=OVERRIDES,
    arms={"without": (), "with": LOOP},
    evaluated=(
        Evaluated("without", "without", -1),
        Evaluated("with", "with", -1),
        Evaluated("step-0", "without", 0),
    ),
    eval_seed=EVAL_SEED,
    samplings=("sampled",),
    shown_k=K,
    rows=256,
    record=record,
)


def protocol_phrases() -> list[str]:
    """Return what the document must say, word for word, of the constants above."""
    s = SCALE
    return [
        *(f"    {line}" for line in (*OVERRIDES, *LOOP)),
        *(f"| {t.name} | {t.task} | {', '.join(f'{k} {v}' for k, v in t.config)} |" for t in TASKS),
        f"{s.train_items} training items of each level, {s.validation_items} for validation (data seed {s.data_seed})",
        f"{s.held_out} of each level, {s.held_out * len(TASKS)} in all",
        f"{s.samples} answers an item",
        f"at most {MAX_TOKENS} tokens, seed {EVAL_SEED}",
        f"K = {K}",
        f"margin {MARGIN}, {ALPHA:.1%} for each arm",
        f"step {STEPS} against step 0",
        f"levels {UPPER} and 5",
    ]
