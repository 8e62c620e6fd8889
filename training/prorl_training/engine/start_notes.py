"""What a run says of its prompts before step 1: some are too long, fewer than it draws, or none to validate on.

Leaves out: what is refused (``rollout.prompts``) and what each step passes over (its ``prompts_too_long``).
"""

from __future__ import annotations

from collections.abc import Iterator

from prorl_training.config import TrainConfig
from prorl_training.rollout.prompts import PromptSource

FIRST_LOOK = 256
"""Prompts that are encoded at the start to see whether they fit; spread evenly over the dataset."""


def start_notes(
    prompts: PromptSource, config: TrainConfig, has_validation: bool = True
) -> list[str]:
    """Return the lines to say at the start of a run, none where there is nothing to say."""
    notes = [*_too_long(prompts, config), *_rounds(prompts, config)]
    if config.validation.every and not has_validation:
        notes.append(
            "the dataset has no validation split: nothing is validated, nothing is called best, and "
            "no reset or phase can follow from validation"
        )
    return notes


def _too_long(prompts: PromptSource, config: TrainConfig) -> Iterator[str]:
    """Say how many of a first look do not fit, in the phase with the most of them."""
    worst, text = 0.0, ""
    for number in range(max(len(config.phases), 1)):
        settings = config.in_phase(number)
        every = prompts.eligible(settings)
        look = every[:: -(-len(every) // FIRST_LOOK) or 1]
        lost = sum(not prompts.fits(sample, settings) for sample in look)
        if lost and lost / len(look) > worst:
            worst = lost / len(look)
            where = f" in phase {config.phases[number].name}" if config.phases else ""
            text = (
                f"{lost} of {len(look)} prompts looked at have more than the {prompts.limit(settings):.0f} "
                f"tokens that fit{where}: such prompts are left out, prompts_too_long counts them"
            )
    if text:
        yield text


def _rounds(prompts: PromptSource, config: TrainConfig) -> Iterator[str]:
    """Say how often the data comes round where the run's steps draw more prompts than there are."""
    first = config.in_phase(0)
    count, batch = len(prompts.eligible(first)), first.rollout.prompts
    if config.steps * batch <= count:
        return
    every = "step" if count <= batch else f"{count / batch:.3g} steps"
    if prompts.by_weight(first):
        yield f"{count} prompts, drawn by weight: as many as there are every {every}"
    else:
        yield f"{count} prompts, gone through once every {every}"
