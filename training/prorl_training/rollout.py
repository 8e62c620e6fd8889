"""One step's batch: sample groups, score them, drop those without spread, draw others.

Filtering looks at the raw reward only, never at a shaped one (decision 4 of the design). A response
whose verdict is an infra error is masked out of its group. Leaves out: which prompts come in which
order (``prompt_order``) and the update (``policy``).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from prorl_common import derive_seed
from prorl_datasets import Sample
from prorl_inference import Completion, Generator, Request, SamplingParams
from prorl_training.config import TrainConfig
from prorl_training.length_reward import shaped_reward
from prorl_verifiers import Task, Verdict

FULL_MARKS = 1 - 1e-9


class Scorer(Protocol):
    """What checks answers; ``prorl_verifiers.VerifierPool`` is one."""

    def score(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        """Return one verdict an item, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One response with its verdict. ``reward`` is raw, ``shaped`` is what the advantage uses."""

    sample_index: int
    completion: Completion
    verdict: Verdict
    shaped: float

    @property
    def reward(self) -> float:
        """The raw reward; 0 for an infra error, which never reaches the advantage."""
        return self.verdict.reward or 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """All responses to one prompt."""

    sample: Sample
    trajectories: tuple[Trajectory, ...]

    @property
    def scored(self) -> tuple[Trajectory, ...]:
        """The trajectories that have a reward and at least one token."""
        return tuple(
            t for t in self.trajectories if not t.verdict.is_infra_error and t.completion.token_ids
        )

    def has_spread(self, tolerance: float) -> bool:
        """Return whether the raw rewards differ by more than ``tolerance``."""
        rewards = [t.reward for t in self.scored]
        return len(rewards) >= 2 and max(rewards) - min(rewards) > tolerance


@dataclass
class Batch:
    """What a step sampled: all groups, those kept for training, and what it took."""

    sampled: list[Group] = field(default_factory=list)
    kept: list[Group] = field(default_factory=list)
    rounds: int = 0
    gave_up: bool = False
    sample_seconds: float = 0.0
    score_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Response tokens sampled, kept or not."""
        return sum(len(t.completion.token_ids) for g in self.sampled for t in g.trajectories)


class Collector:
    """Samples and scores a step's batch with one generator and one scorer."""

    def __init__(self, config: TrainConfig, generator: Generator, scorer: Scorer) -> None:
        self.config = config
        self.generator = generator
        self.scorer = scorer

    def collect(
        self,
        prompts: Iterator[Sample],
        step: int,
        penalty_active: bool,
        on_round: Callable[[Batch], None] | None = None,
    ) -> Batch:
        """Sample until ``rollout.prompts`` groups have spread, or the rounds or prompts are used up.

        ``prompts`` yields the step's prompts in order; a round takes as many as are still missing.
        """
        batch = Batch()
        wanted = self.config.rollout.prompts
        sampling = self.config.dynamic_sampling
        rounds = sampling.max_rounds if sampling.enabled else 1
        while len(batch.kept) < wanted and batch.rounds < rounds:
            chosen = list(itertools.islice(prompts, wanted - len(batch.kept)))
            if not chosen:
                break
            batch.rounds += 1
            groups = self._groups(chosen, step, penalty_active, batch)
            batch.sampled += groups
            spread = [g for g in groups if not sampling.enabled or g.has_spread(sampling.tolerance)]
            batch.kept += [g for g in spread if g.scored]
            if on_round is not None:
                on_round(batch)
        batch.gave_up = len(batch.kept) < wanted
        return batch

    def _groups(
        self, chosen: Sequence[Sample], step: int, penalty: bool, batch: Batch
    ) -> list[Group]:
        r, seed = self.config.rollout, self.config.seed
        requests = [
            Request(
                s.prompt,
                tuple(derive_seed(seed, "rollout", step, s.id, i) for i in range(r.samples)),
            )
            for s in chosen
        ]
        started = time.perf_counter()
        params = SamplingParams(r.temperature, r.top_p, r.max_tokens)
        completions = self.generator.generate(requests, params)
        sampled = time.perf_counter()
        pairs = zip(chosen, completions, strict=True)
        verdicts = iter(self.scorer.score([(c.text, s.task) for s, cs in pairs for c in cs]))
        batch.sample_seconds += sampled - started
        batch.score_seconds += time.perf_counter() - sampled
        return [
            Group(s, tuple(self._judge(i, c, next(verdicts), penalty) for i, c in enumerate(cs)))
            for s, cs in zip(chosen, completions, strict=True)
        ]

    def _judge(
        self, index: int, completion: Completion, verdict: Verdict, penalty: bool
    ) -> Trajectory:
        shaped = raw = verdict.reward or 0.0
        if penalty:
            tokens = len(completion.token_ids)
            limit = self.config.rollout.max_tokens
            shaped = shaped_reward(self.config.length_penalty, raw, tokens, limit)
        return Trajectory(index, completion, verdict, shaped)
