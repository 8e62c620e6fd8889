"""Decide which carried groups can be used, and when a late group must be finished."""

from __future__ import annotations

import json
from collections.abc import Sequence

from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.types import Carried, Group


def still_fitting(
    carried: Carried, before: TrainConfig, now: TrainConfig
) -> tuple[Carried, Carried]:
    """Divide ``carried`` into the groups that a step with config ``now`` can use, and the others.

    Groups sampled with other settings, as in the last step's config ``before``, cannot be used: the settings determine
    their log-probs and size.
    """
    weights = now.data.domain_weights
    r, old = now.rollout, before.rollout
    now_sampled = (r.samples, r.temperature, r.top_p, r.max_tokens)
    same = now_sampled == (old.samples, old.temperature, old.top_p, old.max_tokens)

    def fits(sample: Sample) -> bool:
        return same and (not weights or weights.get(sample.domain, 0.0) > 0)

    usable, lost = (
        Carried(
            [g for g in carried.groups if fits(g.sample) == fitting],
            [g for g in carried.late if fits(g.sample) == fitting],
        )
        for fitting in (True, False)
    )
    return usable, lost


def sampling_key(config: TrainConfig) -> str:
    """Return the settings that decide which prompts a batch has and from which distribution it is sampled, as JSON."""
    rollout = {"prompts", "samples", "temperature", "top_p", "max_tokens"}
    values = (
        config.rollout.model_dump(include=rollout),
        config.data.model_dump(exclude={"path"}),
        config.dynamic_sampling.model_dump(),
    )
    return json.dumps(values, sort_keys=True)


def is_stale(group: Group, step: int) -> bool:
    """Return whether an earlier policy than that before ``step`` began a response of the group.

    The sampler's log-probs are then its old log-probs.
    """
    return any(t.policies[0] != step - 1 for t in group.scored)


def must_end(begun: int, step: int, late_steps: int) -> bool:
    """Return whether a late group that was begun in step ``begun`` must be finished in ``step``."""
    return begun <= step - late_steps


def policy_ages(groups: Sequence[Group], step: int) -> list[int]:
    """Return for each response how many steps old the policy was that began it."""
    return [step - 1 - t.policies[0] for g in groups for t in g.scored]
