"""What a step samples: trajectories, groups, and the rules by which a group is worth training on.

Filtering looks at the raw reward only, never at a shaped one (decision 4 of the design). A response
whose verdict is an infra error is masked out of its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, assert_never

from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.algorithm.shaping import in_loss, shaped_reward
from prorl_training.config import DynamicSamplingConfig, TrainConfig
from prorl_verifiers import Task, Verdict

FULL_MARKS = 1 - 1e-9

Outcome = Literal["usable", "all_right", "all_wrong", "flat", "infra"]
"""Why a group is or is not trained on: ``flat`` is partial rewards only, ``infra`` fewer than two verdicts."""


class Scorer(Protocol):
    """What checks answers; ``prorl_verifiers.VerifierPool`` is one."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict an item, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One response with its verdict. ``reward`` is raw, ``shaped`` is what the advantage uses.

    ``trains`` is False for a response that has no part in the loss though it counts in the baseline.
    ``policies``: the first and the last policy that sampled its tokens, each by the step after which it was (0: the
    start).
    """

    sample_index: int
    completion: Completion
    verdict: Verdict
    shaped: float
    trains: bool = True
    policies: tuple[int, int] = (0, 0)

    @property
    def scored(self) -> bool:
        """Whether there are a reward and at least one token."""
        return not self.verdict.is_infra_error and bool(self.completion.token_ids)

    @property
    def reward(self) -> float:
        """The raw reward; 0 for an infra error, which never reaches the advantage."""
        return self.verdict.reward or 0.0

    @property
    def truncated(self) -> bool:
        """Whether the token limit cut the response."""
        return self.completion.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class Group:
    """All responses to one prompt, sampled in step ``step``."""

    sample: Sample
    trajectories: tuple[Trajectory, ...]
    step: int = 0

    @property
    def scored(self) -> tuple[Trajectory, ...]:
        """The trajectories that have a reward and at least one token."""
        return tuple(t for t in self.trajectories if t.scored)

    @property
    def tokens(self) -> int:
        """Response tokens of all trajectories."""
        return sum(len(t.completion.token_ids) for t in self.trajectories)

    def outcome(self, rule: DynamicSamplingConfig) -> Outcome:
        """Return what dynamic sampling makes of the group's raw rewards.

        DAPO (arXiv 2503.14476, eq. 11) keeps 0 < number right < n; ``spread`` is the same for 0/1 rewards
        and extends it to continuous ones. With ``enabled`` False every group with two verdicts is usable.
        """
        rewards = [t.reward for t in self.scored]
        if len(rewards) < 2:
            return "infra"
        match rule.rule:
            case "spread":
                teaches = max(rewards) - min(rewards) > rule.tolerance
            case "open_interval":
                teaches = 0 < sum(rewards) / len(rewards) < FULL_MARKS
            case "correct_count":
                teaches = 0 < sum(r >= FULL_MARKS for r in rewards) < len(rewards)
            case _:
                assert_never(rule.rule)
        if teaches or not rule.enabled:
            return "usable"
        if min(rewards) >= FULL_MARKS:
            return "all_right"
        return "all_wrong" if max(rewards) <= rule.tolerance else "flat"

    def shaped_for(self, config: TrainConfig, penalty_active: bool) -> Group:
        """Return the group with its shaped rewards as ``config`` and the penalty window say."""
        shaped = []
        for t in self.trajectories:
            tokens = len(t.completion.token_ids)
            reward = shaped_reward(config, t.reward, tokens, t.truncated, penalty_active)
            shaped.append(replace(t, shaped=reward, trains=in_loss(config, t.truncated)))
        return replace(self, trajectories=tuple(shaped))


@dataclass(frozen=True, slots=True)
class LateGroup:
    """A group that was not whole when its step's sampling ended: what there is of its responses.

    Those that had not ended are ``paused``: the next step goes on with them, and every token keeps the log-prob
    of the policy that sampled it. ``step``: in which sampling began; ``policies`` as ``Trajectory``'s, one a
    completion.
    """

    sample: Sample
    completions: tuple[Completion, ...]
    step: int
    policies: tuple[tuple[int, int], ...]

    @property
    def tokens(self) -> int:
        """Response tokens sampled so far."""
        return sum(len(c.token_ids) for c in self.completions)


@dataclass(frozen=True, slots=True)
class Carried:
    """What one step leaves for the next: usable ``groups`` beyond its batch, and ``late`` ones."""

    groups: Sequence[Group] = ()
    late: Sequence[LateGroup] = ()

    def __bool__(self) -> bool:
        return bool(self.groups or self.late)


def still_fitting(
    carried: Carried, before: TrainConfig, now: TrainConfig
) -> tuple[Carried, Carried]:
    """Return what of ``carried`` a step under ``now`` may use, and what it may not; ``before``: the last step's.

    A phase that samples otherwise (number, temperature, top-p, limit) starts with none: their log-probs
    and their size belong to the old settings. A domain that the phase leaves out goes too.
    """
    weights, same = now.data.domain_weights, _sampling(before) == _sampling(now)

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


def _sampling(config: TrainConfig) -> tuple[float, ...]:
    r = config.rollout
    return (r.samples, r.temperature, r.top_p, r.max_tokens)


@dataclass
class Batch:
    """What a step sampled and what it trains on.

    ``sampled`` are the groups that became whole in this step, in the order of their draws, late ones of the step
    before (``late_in``) first; ``outcomes`` has a word for each. ``kept`` are those it trains on, carried ones
    first; ``surplus`` usable groups left over for the next step, ``late`` what it goes on with. Thrown away:
    ``discarded``, usable groups, and ``cancelled``, which were not whole. ``drawn`` counts the prompts drawn for
    the ``wanted`` groups.
    """

    sampled: list[Group] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    kept: list[Group] = field(default_factory=list)
    surplus: list[Group] = field(default_factory=list)
    late_in: Sequence[LateGroup] = ()
    late: list[LateGroup] = field(default_factory=list)
    discarded: list[Group] = field(default_factory=list)
    cancelled: list[LateGroup] = field(default_factory=list)
    carried_in: int = 0
    wanted: int = 0
    drawn: int = 0
    gave_up: bool = False
    sample_seconds: float = 0.0
    score_seconds: float = 0.0
    idle_share: float = 0.0

    def discard(self, waiting: Carried, keep_surplus: bool) -> None:
        """Throw away what waited for this step in vain and, unless it is kept, the surplus."""
        self.discarded = [*waiting.groups, *([] if keep_surplus else self.surplus)]
        self.cancelled = [*waiting.late, *self.cancelled]
        if not keep_surplus:
            self.surplus = []

    @property
    def carried(self) -> Carried:
        """What the next step begins with."""
        return Carried(self.surplus, self.late)

    @property
    def tokens(self) -> int:
        """Response tokens sampled in this step, kept or not."""
        here: list[Group | LateGroup] = [*self.sampled, *self.late, *self.cancelled]
        return sum(g.tokens for g in here) - sum(g.tokens for g in self.late_in)
