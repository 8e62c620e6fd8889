"""One step's batch: sample groups, score them while others are sampled, drop those without spread, draw others.

Finished groups are scored in a thread while the sampler works on the others; what a verdict says does not
depend on when it was asked for, so results are the same without the overlap. Nothing usable is lost: groups
beyond the batch wait in the rollout buffer. A reward service that fails is asked again and, when it stays away,
named: it never becomes a reward of 0.
"""

from __future__ import annotations

import itertools
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from prorl_common import ServiceError, derive_seed
from prorl_datasets import Sample
from prorl_inference import Completion, Generator, Request, SamplingParams
from prorl_training.config import TrainConfig
from prorl_training.rollout.types import Batch, Group, Scorer, Trajectory
from prorl_training.schedule.safety import Guard
from prorl_verifiers import Task, Verdict

RATE_STEP = 0.2
"""Weight of the newest step in ``Collector.usable_rate``."""
_Item = tuple[int, Sequence[Completion]]
"""A sample's number and its completions."""


class StepGivenUp(ServiceError):
    """A step could not be done; nothing of it was learned from, and the run stops before it."""


class RewardOutage(StepGivenUp):
    """The reward service gave no verdict for too many responses, and went on doing so."""


class TooFewGroups(StepGivenUp):
    """Dynamic sampling found too few usable groups and ``dynamic_sampling.exhausted`` is ``stop``."""


class Collector:
    """Samples and scores a step's batch with one generator and one scorer.

    ``guard`` judges rounds without verdicts; ``beat`` is called whenever something moved; ``sleep`` waits
    between tries of a reward service that is away. ``usable_rate`` is the share of groups that taught
    something in the last steps; it decides how many prompts are drawn and belongs in a checkpoint.
    """

    def __init__(
        self,
        generator: Generator,
        scorer: Scorer,
        guard: Guard,
        beat: Callable[[], None] = lambda: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.generator = generator
        self.scorer = scorer
        self.guard = guard
        self.usable_rate = 1.0
        self.beat = beat
        self.sleep = sleep

    def collect(
        self,
        prompts: Iterator[Sample],
        step: int,
        config: TrainConfig,
        carried: Sequence[Group] = (),
        on_round: Callable[[Batch], None] | None = None,
    ) -> Batch:
        """Sample until ``rollout.prompts`` groups are usable, or the rounds or prompts are used up.

        ``carried`` groups come first. ``prompts`` yields the step's prompts in order. Raises StepGivenUp.
        """
        sampling = config.dynamic_sampling
        wanted = config.rollout.prompts
        batch = Batch(kept=list(carried[:wanted]), surplus=list(carried[wanted:]))
        batch.carried_in = len(batch.kept)
        rounds = sampling.max_rounds if sampling.enabled else 1
        while len(batch.kept) < wanted and batch.rounds < rounds:
            chosen = list(itertools.islice(prompts, self._next_draw(batch, config)))
            if not chosen:
                break
            batch.rounds += 1
            groups = self._groups(chosen, step, config, batch)
            outcomes = [g.outcome(sampling) for g in groups]
            batch.sampled += groups
            batch.outcomes += outcomes
            batch.kept += [g for g, o in zip(groups, outcomes, strict=True) if o == "usable"]
            if on_round is not None:
                on_round(batch)
        self._learn_rate(batch)
        batch.gave_up = len(batch.kept) < wanted
        if batch.gave_up and sampling.enabled and sampling.exhausted == "stop":
            raise TooFewGroups(
                f"{len(batch.kept)} of {wanted} groups were usable after {batch.rounds} rounds"
            )
        batch.surplus = batch.kept[wanted:] + batch.surplus
        del batch.kept[wanted:]
        return batch

    def _next_draw(self, batch: Batch, config: TrainConfig) -> int:
        """Return how many prompts the next round draws.

        With ``refill: expected`` those missing divided by the rate of usable groups, of the last steps
        and of this one, so that one round is mostly enough; in all at most what ``max_rounds`` whole
        batches come to, so that a step's cost stays bounded.
        """
        sampling, wanted = config.dynamic_sampling, config.rollout.prompts
        missing = wanted - len(batch.kept)
        if not sampling.enabled:
            return missing
        first = not batch.outcomes
        draw = missing * (sampling.oversample if first else 1.0)
        if sampling.refill == "expected":
            usable = sum(o == "usable" for o in batch.outcomes)
            rate = (usable + 2 * self.usable_rate) / (len(batch.outcomes) + 2)
            draw = max(draw, missing / rate)
        left = sampling.max_rounds * max(wanted, round(wanted * sampling.oversample))
        return min(math.ceil(draw), left - len(batch.outcomes))

    def _learn_rate(self, batch: Batch) -> None:
        """Move the rate of usable groups towards this step's."""
        if batch.outcomes:
            now = sum(o == "usable" for o in batch.outcomes) / len(batch.outcomes)
            self.usable_rate = max(self.usable_rate + RATE_STEP * (now - self.usable_rate), 0.01)

    def _groups(
        self, chosen: Sequence[Sample], step: int, config: TrainConfig, batch: Batch
    ) -> list[Group]:
        r = config.rollout
        requests = [
            Request(
                s.prompt,
                tuple(derive_seed(config.seed, "rollout", step, s.id, i) for i in range(r.samples)),
            )
            for s in chosen
        ]
        params = SamplingParams(r.temperature, r.top_p, r.max_tokens)
        started = time.perf_counter()
        with OverlappedScoring(self.scorer, chosen, config.reward.overlap) as scoring:
            completions = self.generator.generate(
                requests, params, lambda _: self.beat(), scoring.add
            )
            sampled = time.perf_counter()
            verdicts = scoring.verdicts()
        self._wait_for_verdicts(chosen, completions, verdicts)
        batch.sample_seconds += sampled - started
        batch.score_seconds += time.perf_counter() - sampled
        groups = []
        for sample, cs, vs in zip(chosen, completions, verdicts, strict=True):
            pairs = enumerate(zip(cs, vs, strict=True))
            trajectories = tuple(Trajectory(i, c, v, v.reward or 0.0) for i, (c, v) in pairs)
            groups.append(Group(sample, trajectories, step))
        return groups

    def _wait_for_verdicts(
        self,
        chosen: Sequence[Sample],
        completions: Sequence[Sequence[Completion]],
        verdicts: list[list[Verdict]],
    ) -> None:
        """Score infra errors again, in place, as long as the guard says so."""
        total = sum(len(v) for v in verdicts)
        for attempt in itertools.count():
            failed = [
                (i, j)
                for i, vs in enumerate(verdicts)
                for j, v in enumerate(vs)
                if v.is_infra_error
            ]
            judged = self.guard.judge_round(total, len(failed), attempt)
            if judged == "ok":
                return
            if judged == "stop":
                reason = verdicts[failed[0][0]][failed[0][1]].reason
                raise RewardOutage(
                    f"the reward service gave no verdict for {len(failed)} of {total} responses after "
                    f"{attempt} more tries (first reason: {reason})"
                )
            self.sleep(self.guard.outage_wait(attempt))
            self.beat()
            items = [(completions[i][j].text, chosen[i].task) for i, j in failed]
            for (i, j), verdict in zip(failed, score_or_infra(self.scorer, items), strict=True):
                verdicts[i][j] = verdict


class OverlappedScoring:
    """Takes groups by ``add`` as they finish; ``verdicts`` waits and returns all, in prompt order.

    A ServiceError of the scorer becomes infra-error verdicts for the groups it was asked about; any
    other error is raised by ``verdicts``. With ``overlap`` False everything is scored by ``verdicts``.
    """

    def __init__(self, scorer: Scorer, samples: Sequence[Sample], overlap: bool) -> None:
        self.scorer = scorer
        self.samples = samples
        self._overlap = overlap
        self._waiting: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._done: dict[int, list[Verdict]] = {}
        self._error: BaseException | None = None
        self._given_up = False
        self._thread = threading.Thread(target=self._work, name="prorl-scoring", daemon=True)

    def __enter__(self) -> Self:
        if self._overlap:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._overlap and self._thread.is_alive():
            self._given_up = kind is not None  # what waits is of no use any more
            self._waiting.put(None)
            self._thread.join()

    def add(self, index: int, completions: Sequence[Completion]) -> None:
        """Take the finished group of sample number ``index``."""
        self._waiting.put((index, completions))

    def verdicts(self) -> list[list[Verdict]]:
        """Return the verdicts of every group, once all are there."""
        self._waiting.put(None)
        if self._overlap:
            self._thread.join()
        else:
            self._work()
        if self._error is not None:
            raise self._error
        return [self._done[i] for i in range(len(self.samples))]

    def _work(self) -> None:
        try:
            open_ = True
            while open_:
                items = [self._waiting.get()]
                while not self._waiting.empty():
                    items.append(self._waiting.get())
                open_ = None not in items
                self._score([item for item in items if item is not None])
        except BaseException as error:  # noqa: BLE001 - raised by verdicts()
            self._error = error

    def _score(self, items: Sequence[_Item]) -> None:
        asked = [(c.text, self.samples[i].task) for i, cs in items for c in cs]
        if not asked or self._given_up:
            return
        found = iter(score_or_infra(self.scorer, asked))
        for i, completions in items:
            self._done[i] = [next(found) for _ in completions]


def score_or_infra(scorer: Scorer, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
    """Return the scorer's verdicts; where the service itself failed, an infra error for each item."""
    try:
        return scorer.score(items)
    except ServiceError as error:
        return [Verdict(None, "infra_error", str(error))] * len(items)
