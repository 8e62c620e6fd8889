"""Staleness: which carried groups a step may still use, how old their policy is, and when one is waited for."""

from __future__ import annotations

from collections.abc import Sequence

from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.types import Carried, Group


def still_fitting(
    carried: Carried, before: TrainConfig, now: TrainConfig
) -> tuple[Carried, Carried]:
    """Return what of ``carried`` a step under ``now`` may use, and what it may not; ``before``: the last step's.

    A phase that samples otherwise (number, temperature, top-p, limit) starts with none: their log-probs
    and their size belong to the old settings. A domain that the phase leaves out goes too.
    """
    weights = now.data.domain_weights
    r, old = now.rollout, before.rollout
    now_sampled = (r.samples, r.temperature, r.top_p, r.max_tokens)
    same = now_sampled == (old.samples, old.temperature, old.top_p, old.max_tokens)

    def fits(sample: Sample) -> bool:
        return same and (not weights or weights.get(sample.domain, 0.0) > 0)

    kept, lost = (
        Carried(
            [g for g in carried.groups if fits(g.sample) == wanted],
            [g for g in carried.late if fits(g.sample) == wanted],
        )
        for wanted in (True, False)
    )
    return kept, lost


def is_stale(group: Group, step: int) -> bool:
    """Return whether an earlier policy than that of ``step`` began the group: its old log-probs are its sampler's."""
    return group.step != step


def must_end(begun: int, step: int, late_steps: int) -> bool:
    """Return whether a late group that step ``begun`` began is too old to be carried beyond ``step``."""
    return begun <= step - late_steps


def policy_ages(groups: Sequence[Group], step: int) -> list[int]:
    """Return for each scored response how many steps before ``step`` the policy that began it was updated last."""
    return [step - 1 - t.policies[0] for g in groups for t in g.scored]
