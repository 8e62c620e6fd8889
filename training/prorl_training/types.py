"""What passes between the parts of a training step: completions in groups, batch, update, validation, decisions.

Plain records; importing this needs no torch. Filtering looks at the raw reward only, never at a shaped one. A response
whose verdict is an infra error is masked out of its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, assert_never

from prorl_common import UserError
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.config import DynamicSamplingConfig
from prorl_verifiers import Task, Verdict

if TYPE_CHECKING:
    from torch import Tensor

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


@dataclass(frozen=True, slots=True)
class UpdateStats:
    """Means over one step's mini-batches (``loss``, ``policy_loss``, ``grad_norm``) or its tokens.

    Quantities of tokens are taken in the pass that made the gradient, before its optimiser step.
    """

    loss: float
    """Policy loss plus KL coefficient times KL, as aggregated for the gradient."""
    policy_loss: float
    kl: float | None
    """Mean of the configured estimate of KL(policy || reference); None without a reference pass."""
    entropy: float
    """Of the policy at the sampling temperature, in nats."""
    clipped_fraction: float
    masked_fraction: float
    """Share that the mismatch correction held at a bound (``tis``) or left out of the loss."""
    grad_norm: float
    """Before clipping; mini-batches that were skipped count when their norm is finite, nan without any."""
    mismatch_kl: float | None
    """KL(sampler || trainer before the update) in nats a token, over tokens that are not stale; None without any."""
    mismatch_ess: float | None
    """Effective sample size of the ratios trainer / sampler over the same tokens, as a share of them
    (``algorithm.objective``)."""
    lr: float
    """Of the last mini-batch."""
    skipped: int
    """Mini-batches whose gradient was not applied."""
    kl_gradient_share: float | None
    """|beta grad KL| / (|grad policy loss| + |beta grad KL|) in the first mini-batch, 2-norms over all
    trained parameters before clipping; None where it was not measured."""
    trainer_logprobs: Mapping[int, Tensor] = field(default_factory=dict, compare=False, repr=False)
    """By trajectory: the trainer's log-probs (tokens,) from before the update, float32 on the CPU, where something
    needed them. For the rollouts, no metric."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What a step trained on: shaped ``groups``, and by trajectory what the update used (empty: there was no update).

    Trajectories are numbered as in ``UpdateBatch``: the scored ones of all groups, in order. Log-probs (tokens,).
    """

    groups: Sequence[Group] = ()
    advantages: Sequence[float] = ()
    trainer_logprobs: Mapping[int, Tensor] = field(default_factory=dict)


Rewards = tuple[float | None, ...]
"""Mean reward of each watched problem, in the same order every time; None without a verdict."""


class ValidationResult(NamedTuple):
    """One validation: mean raw reward over the problems that have a verdict, its standard error between
    problems (for the eye: no test uses it), and each problem's own mean."""

    mean: float
    standard_error: float
    rewards: Rewards

    @property
    def problems(self) -> int:
        """How many problems have a verdict."""
        return sum(reward is not None for reward in self.rewards)


@dataclass(frozen=True, slots=True)
class Validation:
    """What one validation measured.

    ``result`` is None where so many responses had no verdict that nothing is measured. ``domains`` holds mean reward
    and pass rate of each domain that has a verdict.
    """

    result: ValidationResult | None
    pass_rate: float
    domains: Mapping[str, tuple[float, float]]
    responses: int
    infra_errors: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did and measured; ``run.metrics.metrics_row`` makes its line of ``metrics.jsonl``."""

    step: int
    phase: int
    batch: Batch
    learned: Learned
    update: UpdateStats | None
    """None where there was nothing to learn from."""
    penalty_is_on: bool
    """Whether the length penalty was part of the shaped rewards."""
    prompts_too_long: int
    tokens_total: int
    """Response tokens sampled in the run so far."""
    levels: tuple[int, int] | None
    """Levels of generated items that are open and closed after this step; None unless ``data.levels=ladder``."""
    coverage: Mapping[str, Mapping[str, int]]
    """Items solved so far by domain; those of all domains under the empty name."""
    validation: Validation | None
    """None in a step without one."""
    update_seconds: float
    seconds: float
    rollouts_seconds: float = 0.0


DecisionKind = Literal[
    "warm_start",
    "phase_started",
    "penalty_window_opened",
    "penalty_window_closed",
    "reference_reset",
    "samples_raised",
    "difficulty_raised",
    "items_rerated",
    "run_ended",
    "levels_changed",
    "update_skipped",
    "learning_rate_backed_off",
    "learning_rate_restored",
    "step_skipped",
    "refill_gave_up",
    "short_batch",
    "prompts_dropped",
    "entropy_low",
    "outage",
    "validation_outage",
    "best_checkpoint_lost",
    "run_stopped",
    "checkpoint_fallback",
    "config_changed",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """What changed at which step (1-based; 0: before step 1), why, and on which evidence (JSON values)."""

    step: int
    kind: DecisionKind
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object, one line of ``decisions.jsonl``."""
        return asdict(self)


class Finding(NamedTuple):
    """A test that says something: which rule, in words, and what it saw."""

    rule: str
    reason: str
    evidence: dict[str, Any]


class CheckpointError(UserError):
    """A checkpoint is missing, incomplete, damaged, or does not fit the run."""
