"""Records that pass between the parts of a training step, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, assert_never

from prorl_common import UserError
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.config import DynamicSamplingConfig
from prorl_verifiers import Task, Verdict
from prorl_verifiers.types import State

if TYPE_CHECKING:
    from torch import Tensor

FULL_MARKS = 1 - 1e-9
BLOCK_BYTES = 1 << 28
"""Maximum bytes of a block of float32 logits in ``policy.logprobs``."""
CPU_CHUNK_BYTES = 1 << 22
"""Bytes of a block that ``policy.logprobs`` processes at a time on a CPU, so that they fit into the cache."""

Outcome = Literal["usable", "all_right", "all_wrong", "flat", "infra", "saturated"]
"""Whether a group is used, or why not. ``flat``: equal partial rewards. ``infra``: fewer than two verdicts.
``saturated``: the policy very likely solves the item (``dynamic_sampling.rule=boundary``)."""


Ended = Literal["", "answer", "turns", "tokens"]
"""What ended the rollout of an environment: the environment itself, or the limit on turns or tokens."""
ChatMessage = Mapping[str, str]

Policies = tuple[tuple[int, int], ...]
"""The policies that sampled a response: pairs (first token, step that produced the policy), in order. Step 0 is the
initial policy. ``((0, 3), (17, 4))``: policy 3 sampled 17 tokens, policy 4 the others."""


def sampled_from(policies: Policies, token: int, policy: int) -> Policies:
    """Return ``policies``, continued by ``policy``, which samples the response's tokens from ``token`` on."""
    before = tuple(pair for pair in policies if pair[0] < token)
    return before if before and before[-1][1] == policy else (*before, (token, policy))


class Scorer(Protocol):
    """Scores responses, like ``prorl_verifiers.VerifierPool``."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]: ...


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One response with its raw ``reward``, and the ``shaped`` reward from which advantages are computed.

    With ``trains=False`` the response counts in the baseline but not in the loss. For an environment, ``turns`` is the
    conversation after the prompt, and ``ended`` says what ended it.
    """

    sample_index: int
    completion: Completion
    verdict: Verdict
    shaped: float
    trains: bool = True
    policies: Policies = ((0, 0),)
    turns: Sequence[ChatMessage] = ()
    ended: Ended = ""

    @property
    def first_policy(self) -> int:
        """Step that produced the oldest policy of the response."""
        return self.policies[0][1]

    @property
    def scored(self) -> bool:
        """Whether the response has a reward and at least one token."""
        return not self.verdict.is_infra_error and bool(self.completion.token_ids)

    @property
    def reward(self) -> float:
        """The raw reward, or 0 after an infra error."""
        return self.verdict.reward or 0.0

    @property
    def truncated(self) -> bool:
        return self.completion.finish_reason == "length" or self.ended == "tokens"


@dataclass(frozen=True, slots=True)
class Group:
    sample: Sample
    trajectories: tuple[Trajectory, ...]
    step: int = 0

    @property
    def scored(self) -> tuple[Trajectory, ...]:
        return tuple(t for t in self.trajectories if t.scored)

    @property
    def tokens(self) -> int:
        return sum(t.completion.sampled_tokens for t in self.trajectories)

    def outcome(self, rule: DynamicSamplingConfig) -> Outcome:
        """Return whether dynamic sampling uses the group, or why not.

        DAPO (arXiv 2503.14476, eq. 11) uses groups with right and wrong responses; the rule ``spread`` suits continuous
        rewards.
        """
        rewards = [t.reward for t in self.scored]
        if len(rewards) < 2:
            return "infra"
        match rule.rule:
            case "spread" | "boundary":
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
class Conversation:
    """The rollout of an environment between turns.

    ``messages`` are the earlier responses and the environment's answers. ``state`` is None before the first answer.
    ``verdict`` is the final verdict, or None. ``ended`` says what ended the rollout.
    """

    messages: tuple[ChatMessage, ...] = ()
    state: State | None = None
    verdict: Verdict | None = None
    ended: Ended = ""


@dataclass(frozen=True, slots=True)
class LateGroup:
    """A group that was not finished when its step ended.

    Its paused completions continue in the next step. For an environment, ``conversations`` has one per completion.
    """

    sample: Sample
    completions: tuple[Completion, ...]
    step: int
    policies: tuple[Policies, ...]
    conversations: tuple[Conversation, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(c.sampled_tokens for c in self.completions)


@dataclass(frozen=True, slots=True)
class Carried:
    """Groups for the next step: usable ``groups`` that were not needed, and unfinished ``late`` groups."""

    groups: Sequence[Group] = ()
    late: Sequence[LateGroup] = ()

    def __bool__(self) -> bool:
        return bool(self.groups or self.late)


@dataclass
class Batch:
    """The groups that a step sampled, kept and dropped.

    ``sampled`` are all finished groups in draw order, those carried from the previous step first. ``surplus`` (usable)
    and ``late`` (unfinished) groups go to the next step. ``discarded`` (usable) and ``cancelled`` (unfinished) groups
    are dropped.
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
    target: int = 0
    drawn: int = 0
    gave_up: bool = False
    sample_seconds: float = 0.0
    score_seconds: float = 0.0
    idle_share: float = 0.0
    prompts_too_long: int = 0

    def discard(self, waiting: Carried, keep_surplus: bool) -> None:
        """Drop the groups in ``waiting``, and also those in ``surplus`` unless ``keep_surplus``."""
        self.discarded = [*waiting.groups, *([] if keep_surplus else self.surplus)]
        self.cancelled = [*waiting.late, *self.cancelled]
        if not keep_surplus:
            self.surplus = []

    @property
    def carried(self) -> Carried:
        return Carried(self.surplus, self.late)

    @property
    def tokens(self) -> int:
        groups: list[Group | LateGroup] = [*self.sampled, *self.late, *self.cancelled]
        return sum(g.tokens for g in groups) - sum(g.tokens for g in self.late_in)


@dataclass(frozen=True, slots=True)
class SampledBatch:
    """The batch of a step, with the policy version and the ``sampling_key`` of the settings that sampled it."""

    step: int
    policy: int
    sampling: str
    batch: Batch


@dataclass(frozen=True, slots=True)
class UpdateStats:
    """Statistics of a step's update: ``loss``, ``policy_loss`` and ``grad_norm`` are means over mini-batches.

    Other means are over tokens, computed before each optimiser step.
    """

    loss: float
    """Policy loss plus KL coefficient times KL, as used for the gradient."""
    policy_loss: float
    kl: float | None
    """Mean of the configured estimate of KL(policy || reference); None without a reference pass."""
    entropy: float
    """Entropy of the policy at the sampling temperature, in nats."""
    clipped_fraction: float
    masked_fraction: float
    """Share of tokens that the mismatch correction truncated (``tis``) or removed from the loss."""
    grad_norm: float
    """Mean gradient norm before clipping, including skipped mini-batches with a finite norm. NaN if none is finite."""
    mismatch_kl: float | None
    """KL(sampler || trainer before the update) in nats per token, without stale tokens; None if all are stale."""
    mismatch_ess: float | None
    """Effective sample size of the probability ratios trainer / sampler, divided by their number
    (``algorithm.objective``)."""
    lr: float
    """Learning rate of the last mini-batch."""
    skipped: int
    """Number of mini-batches whose gradient was not applied."""
    kl_gradient_share: float | None
    """|beta grad KL| / (|grad policy loss| + |beta grad KL|) in the first mini-batch, with 2-norms over all trained
    parameters before clipping; None if not measured."""
    trainer_logprobs: Mapping[int, Tensor] = field(default_factory=dict, compare=False, repr=False)
    """Trajectory -> the trainer's log-probs (tokens,) before the update, float32 on the CPU, if they were computed."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The groups that a step trained on. Advantages and log-probs are empty without an update.

    ``trainer_logprobs`` (tokens,) are from before the update. Trajectories are numbered as in ``UpdateBatch``.
    """

    groups: Sequence[Group] = ()
    advantages: Sequence[float] = ()
    trainer_logprobs: Mapping[int, Tensor] = field(default_factory=dict)


Rewards = tuple[float | None, ...]
"""Mean reward of each validation problem (None without a verdict), always in the same order."""


class ValidationResult(NamedTuple):
    """Mean raw reward over problems with a verdict, the mean's standard error, and each problem's mean reward."""

    mean: float
    standard_error: float
    rewards: Rewards

    @property
    def problems(self) -> int:
        return sum(reward is not None for reward in self.rewards)


@dataclass(frozen=True, slots=True)
class Validation:
    """One validation. ``result`` is None if too many responses had no verdict.

    ``domains`` maps a domain to (mean reward, pass rate).
    """

    result: ValidationResult | None
    pass_rate: float
    domains: Mapping[str, tuple[float, float]]
    responses: int
    infra_errors: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StepReport:
    step: int
    phase: int
    batch: Batch
    learned: Learned
    update: UpdateStats | None
    """None if there was nothing to learn from."""
    penalty_is_on: bool
    """Whether the length penalty was part of the shaped rewards."""
    tokens_total: int
    """Number of response tokens sampled in the run so far."""
    levels: tuple[int, int] | None
    """Open and closed levels of generated items after this step; None unless ``data.levels=ladder``."""
    coverage: Mapping[str, Mapping[str, int]]
    """Domain -> numbers of items solved so far. Domain "" is the total."""
    validation: Validation | None
    """None in a step without validation."""
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
    "mismatch_high",
    "outage",
    "validation_outage",
    "best_checkpoint_lost",
    "run_stopped",
    "checkpoint_fallback",
    "config_changed",
]


@dataclass(frozen=True, slots=True)
class Decision:
    """A change that takes effect at a step (0: before step 1), with its reason and evidence (JSON values)."""

    step: int
    kind: DecisionKind
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Finding(NamedTuple):
    """A rule of the controller that fired, with reason and evidence."""

    rule: str
    reason: str
    evidence: dict[str, Any]


class CheckpointError(UserError):
    """A checkpoint is missing, damaged, or does not fit the run."""
