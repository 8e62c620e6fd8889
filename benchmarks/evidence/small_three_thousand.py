"""The study of docs/evidence/three-thousand-steps.md: its items and demonstrations, and all that makes it one.

Leaves out: the protocol's numbers (``small_arms``) and the tasks (``small_tasks``).
"""

from __future__ import annotations

import random
from functools import cache

from small_arms import (
    ARMS,
    BASE_SEED,
    BASE_SHA256,
    DATA_SEED,
    EVAL_ITEMS,
    EVAL_SAMPLES,
    EVAL_SEED,
    EVAL_TEMPERATURE,
    LADDER_ITEMS,
    LADDER_SHARE,
    MAX_TOKENS,
    MOST_STEPS,
    SEEDS,
    SHARES,
    START_BATCH,
    START_LR,
    START_STEPS,
    STEPS,
    TOKEN_BUDGET,
    TRAIN_ITEMS,
    VALIDATION_ITEMS,
    common_settings,
)
from small_data import Keys, keys, training_samples
from small_model import HIDDEN, Shown, StartPlan
from small_study import EVIDENCE, Arm, Ends, Sampling, Start, Study
from small_tasks import FAMILIES, Family, Item, boxed, items, take

from prorl_datasets import Sample


def held_out(seed: int = EVAL_SEED) -> dict[str, list[Item]]:
    """Return the held-out items: a task's name -> its trained levels, ``task/level`` -> a ladder's level."""
    found = {
        name: take(family, EVAL_ITEMS, "evaluation", seed, set())
        for name, family in FAMILIES.items()
    }
    for name, family in FAMILIES.items():
        for sizes in family.ladder:
            stream = items(family, sizes, "ladder", seed)
            level = [next(stream) for _ in range(LADDER_ITEMS)]
            found[f"{name}/{level[0].level}"] = level
    return found


def training(counts: tuple[int, int] = (TRAIN_ITEMS, VALIDATION_ITEMS)) -> list[Sample]:
    """Return the train and validation samples; nothing held out is among them."""
    return training_samples(FAMILIES, counts, DATA_SEED, _held_out_keys())


@cache
def _held_out_keys() -> Keys:
    return keys(held_out())


def draw_demonstrations(rng: random.Random) -> list[Shown]:
    """Return a batch of the supervised start, tasks in their shares; no held-out problem is shown.

    The response is the box alone, the work once, or the work twice, a third each.
    """
    names = rng.choices(list(SHARES), weights=list(SHARES.values()), k=START_BATCH)
    made = [FAMILIES[n].make(rng, _sizes(FAMILIES[n], rng)) for n in names]
    return [(item, _response(item, rng)) for item in made if item.key not in _held_out_keys()]


def _sizes(family: Family, rng: random.Random) -> tuple[int, ...]:
    if family.ladder and rng.random() < LADDER_SHARE:
        return rng.choice(family.ladder[:-1])
    return rng.choice(family.levels)


def _response(item: Item, rng: random.Random) -> list[tuple[str, bool]]:
    return [(" ".join([item.work] * rng.randint(0, 2)) + boxed(item.answer), True)]


SAMPLING = Sampling(EVAL_SEED, EVAL_SAMPLES, EVAL_TEMPERATURE, MAX_TOKENS)
STUDY = Study(
    name="three-thousand-steps",
    arms={arm: Arm(preset, over, SEEDS) for arm, (preset, over) in ARMS.items()},
    settings=common_settings,
    ends=Ends(TOKEN_BUDGET, STEPS, MOST_STEPS),
    start=Start(
        HIDDEN,
        StartPlan(START_STEPS, START_LR, BASE_SEED),
        draw_demonstrations,
        EVIDENCE / "data" / "three-thousand-steps" / "base.safetensors",
        BASE_SHA256,
    ),
    sampling=SAMPLING,
    base_samplings={"base": SAMPLING},
    held_out=held_out,
    training=training,
)
