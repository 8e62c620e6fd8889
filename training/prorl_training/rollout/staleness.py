"""Which carried groups may be used, and when a late one must be finished."""

from __future__ import annotations

from collections.abc import Sequence

from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.types import Carried, Group


def still_fitting(
    carried: Carried, before: TrainConfig, now: TrainConfig
) -> tuple[Carried, Carried]:
    """Return the usable and the lost parts of ``carried`` for a step under ``now``.

    ``before`` is the last step's config. Groups sampled with other settings are lost, because the settings determine
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


def is_stale(group: Group, step: int) -> bool:
    """Return whether an earlier policy began the group. Its old log-probs are then the sampler's."""
    return group.step != step


def must_end(begun: int, step: int, late_steps: int) -> bool:
    """Return whether a late group is too old to carry beyond ``step``."""
    return begun <= step - late_steps


def policy_ages(groups: Sequence[Group], step: int) -> list[int]:
    """Return the age in steps of the policy that began each response."""
    return [step - 1 - t.policies[0] for g in groups for t in g.scored]
