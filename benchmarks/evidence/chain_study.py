"""The study of docs/evidence/boundary-study.md: items, base, arms and sizes, as frozen before the first run.

A test holds this and the document together. Leaves out: the tasks (``chain_tasks``), carrying it out
(``small_run``), chance (``chain_guess``) and power (``chain_power``).
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from chain_tasks import CHAINS, FAMILIES, RUNGS
from small_arms import common_settings
from small_data import Keys, keys, training_samples
from small_model import Response, Shown, StartPlan
from small_study import EVIDENCE, Arm, Ends, Sampling, Start, Study
from small_tasks import Item, boxed, items

from prorl_datasets import Sample

BASE_SEED, DATA_SEED, EVAL_SEED, AGAIN_SEED = 2024, 21, 22, 23
"""Seeds of the base, of training items, of held-out items and their samples, of the base's second sampling."""
PRIMARY_SEEDS, OTHER_SEEDS = (1, 2, 3, 4, 5), (1, 2, 3)
PILOT_SEED = 900

BASE_SHA256 = "8e40c247d2b8a67bd66e20d923f28faaa5f720acf541334aa47fe0889b7f0bdb"
"""Of the base's weights file, which is kept with the results."""
HIDDEN = 80
START_STEPS, START_BATCH, START_LR = 500, 64, 2.0e-3
TAUGHT = {1: 0.4, 2: 0.4, 3: 0.1}
"""Share of each rung among the demonstrations that are taught whole."""
FORM_RUNGS = (4, 5, 6, 7, 8)
"""Rungs of the remaining demonstrations, which teach the form alone: their states are random and not learnt."""

TRAIN_ITEMS, VALIDATION_ITEMS = 800, 32
"""Items of each family in the training and validation splits, an eighth of each rung."""
EVAL_ITEMS = 16
"""Held-out items of each family and rung."""
OUTSIDE_SAMPLES, EVAL_SAMPLES, K = 1024, 256, 128
MAX_TOKENS = 56
PROMPTS, SAMPLES, ROUNDS = 8, 8, 3
BROAD_PROMPTS, BROAD_SAMPLES = 4, 64
LR = 3.0e-4
BROAD_LR = 6.0e-4
"""Times the square root of how many times more responses a step has, as in BroRL: four times."""
TOKEN_BUDGET, MOST_STEPS = 8_000_000, 6000


def held_out(seed: int = EVAL_SEED, count: int = EVAL_ITEMS) -> dict[str, list[Item]]:
    """Return the held-out items, ``count`` of each family's rung: ``family/rung`` -> items."""
    found = {}
    for name, family in FAMILIES.items():
        for rung in RUNGS:
            stream = items(family, (rung,), "evaluation", seed)
            found[f"{name}/{rung}"] = [next(stream) for _ in range(count)]
    return found


@cache
def _held_out_keys() -> Keys:
    return keys(held_out())


def training(counts: tuple[int, int] = (TRAIN_ITEMS, VALIDATION_ITEMS)) -> list[Sample]:
    """Return the train and validation samples of all rungs; nothing held out is among them."""
    return training_samples(FAMILIES, counts, DATA_SEED, _held_out_keys())


def draw_demonstrations(rng: random.Random) -> list[Shown]:
    """Return a batch of the supervised start; no held-out problem is shown."""
    made = [_demonstration(rng) for _ in range(START_BATCH)]
    return [shown for shown in made if shown[0].key not in _held_out_keys()]


def _demonstration(rng: random.Random) -> Shown:
    """Return a problem with its work and box, or on an upper rung with the form of them alone."""
    chain = rng.choice(list(CHAINS.values()))
    rungs, shares = list(TAUGHT), list(TAUGHT.values())
    rung = rng.choices([*rungs, 0], weights=[*shares, 1 - sum(shares)])[0]
    if rung:
        item = chain.make(rng, (rung,))
        return item, [(item.work + boxed(item.answer), True)]
    item = chain.make(rng, (rng.choice(FORM_RUNGS),))
    response: list[tuple[str, bool]] = []
    for name in item.prompt.split()[1]:
        response += [(name, True), (chain.start(rng), False)]
    before, after = boxed("?").split("?")
    shown: Response = [*response, (before, True), (chain.start(rng), False), (after, True)]
    return item, shown


def settings(model: Path, data: Path, seed: int) -> list[str]:
    """Return the settings that every arm shares: those of the 3,000 steps, with this study's sizes on top."""
    return [
        *common_settings(model, data, seed),
        f"steps={MOST_STEPS}",
        f"rollout.prompts={PROMPTS}",
        f"rollout.samples={SAMPLES}",
        f"rollout.max_tokens={MAX_TOKENS}",
        f"dynamic_sampling.max_batches={ROUNDS}",
        "loss.pack_tokens=4096",
        f"optimizer.lr={LR}",
        f"validation.problems={len(FAMILIES) * VALIDATION_ITEMS}",
    ]


ARMS = {
    "v2": Arm("prorl-v2", (), PRIMARY_SEEDS),
    "v2-adaptive": Arm("prorl-v2", ("data.sampling=posterior",), PRIMARY_SEEDS),
    "pass-at-k": Arm("prorl-v2", ("advantage.estimator=pass_at_k", "advantage.k=4"), OTHER_SEEDS),
    "broad": Arm(
        "prorl-v2",
        (
            f"rollout.prompts={BROAD_PROMPTS}",
            f"rollout.samples={BROAD_SAMPLES}",
            f"optimizer.lr={BROAD_LR}",
        ),
        OTHER_SEEDS,
    ),
    "no-reset": Arm("no-reset", (), OTHER_SEEDS),
    "grpo": Arm("justrl", (), OTHER_SEEDS),
}
PRIMARY = ("v2", "v2-adaptive")
"""The arms of the primary question."""
SAMPLING = Sampling(EVAL_SEED, EVAL_SAMPLES, 1.0, MAX_TOKENS)
STUDY = Study(
    name="boundary-study",
    arms=ARMS,
    settings=settings,
    ends=Ends(TOKEN_BUDGET, 0, MOST_STEPS),
    start=Start(
        HIDDEN,
        StartPlan(START_STEPS, START_LR, BASE_SEED),
        draw_demonstrations,
        EVIDENCE / "data" / "boundary-study" / "base.safetensors",
        BASE_SHA256,
    ),
    sampling=SAMPLING,
    base_samplings={
        "base": Sampling(EVAL_SEED, OUTSIDE_SAMPLES, 1.0, MAX_TOKENS),
        "base-again": Sampling(AGAIN_SEED, EVAL_SAMPLES, 1.0, MAX_TOKENS),
    },
    held_out=held_out,
    training=training,
)


def protocol_phrases() -> list[str]:
    """Return what the protocol's document must say, word for word, of the constants above."""
    return [
        f"{START_STEPS} steps of {START_BATCH}, learning rate {START_LR}, seed {BASE_SEED}",
        f"SHA-256 {BASE_SHA256}",
        f"{TRAIN_ITEMS} items a family, validation {VALIDATION_ITEMS} (data seed {DATA_SEED})",
        f"{EVAL_ITEMS} of each family and rung (seed {EVAL_SEED})",
        f"0 of {OUTSIDE_SAMPLES:,}",
        f"{EVAL_SAMPLES} samples an item",
        f"pass@{K}",
        f"{PROMPTS} prompts of {SAMPLES} samples, at most {MAX_TOKENS} tokens",
        f"at most {ROUNDS} whole batches of prompts drawn in a step",
        f"learning rate is {LR}",
        f"{BROAD_PROMPTS} prompts of {BROAD_SAMPLES} samples, learning rate {BROAD_LR}",
        f"after {TOKEN_BUDGET:,} sampled response tokens",
        f"at most at step {MOST_STEPS:,}",
        *(
            f"| {name} | `{arm.preset}` | {', '.join(f'`{o}`' for o in arm.over)} | {len(arm.seeds)} |"
            for name, arm in ARMS.items()
        ),
    ]
