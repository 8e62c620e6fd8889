"""Draws prompts, samples and scores responses concurrently until a batch has enough usable groups.

With a repeatable sampler (Transformers) the batch depends only on seed, step and carried groups.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol

from prorl_common import ServiceError, derive_seed
from prorl_datasets import Sample
from prorl_inference import (
    Completion,
    ContinuingStream,
    Generator,
    Messages,
    Request,
    SamplingParams,
    Stream,
    open_stream,
)
from prorl_training.config import TrainConfig
from prorl_training.rollout.scoring import Judged, Scoring, score_or_infra
from prorl_training.rollout.staleness import SampleAhead, must_end
from prorl_training.types import (
    Batch,
    Carried,
    Conversation,
    Ended,
    Group,
    LateGroup,
    Outcome,
    Policies,
    Scorer,
    Trajectory,
    sampled_from,
)
from prorl_verifiers import VERIFIERS, Task, Verdict, next_task

if TYPE_CHECKING:
    from prorl_training.rollout.item_records import ItemRecords


class Occupancy:
    """Measures which share of the sampler's ``places`` (rows) is idle on average."""

    def __init__(self, places: int, clock: Callable[[], float]) -> None:
        self._places, self._clock = places, clock
        self._running = self._most = 0
        self._area = 0.0
        self._began = self._at = clock()

    def record(self, running: int) -> None:
        """Record that ``running`` samples are in progress from now on."""
        now = self._clock()
        self._area += self._running * (now - self._at)
        self._at = now
        self._running = min(running, self._places)
        self._most = max(self._most, self._running)

    @property
    def idle_share(self) -> float:
        """Mean fraction of idle sampler rows, not counting rows that were never used."""
        whole = self._most * (self._at - self._began)
        return max(0.0, 1.0 - self._area / whole) if whole > 0 else 0.0


RATE_STEP = 0.2
"""Weight of the newest step in ``Collector.usable_rate``."""
AHEAD = 2
"""Number of samples in progress per sampler row if late groups are not carried, so that a free row is refilled."""
LOOK_SECONDS = 0.05
"""Seconds to wait for the sampler between checks for verdicts."""
EncodeAnswer = Callable[[Messages, Messages, int], Sequence[int]]
"""Returns the tokens between two responses, as ``prorl_inference.tokens.continuation`` does with a tokenizer."""


class RoundGuard(Protocol):
    """Interface of ``schedule.safety.Guard`` for missing verdicts."""

    def check_round(
        self, responses: int, without_verdict: int, attempt: int
    ) -> Literal["ok", "retry", "stop"]:
        """Return whether to continue, to score missing verdicts again, or to stop."""

    def outage_wait(self, attempt: int) -> float: ...


class StepGivenUp(ServiceError):
    """A step failed before the policy was updated."""


class RewardOutage(StepGivenUp):
    """Too many responses got no verdict, even after retries."""


class TooFewGroups(StepGivenUp):
    """Too few groups were usable (``dynamic_sampling.exhausted: stop``)."""


@dataclass(slots=True)
class Collector:
    """Samples and scores a step's batch.

    ``guard`` decides about missing verdicts. ``beat`` is called on progress. ``usable_rate``, the recent share of
    usable groups, decides how many prompts are in progress. ``encode_answer`` is required for environments.
    """

    generator: Generator
    scorer: Scorer
    guard: RoundGuard
    beat: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.perf_counter
    usable_rate: float = 1.0
    encode_answer: EncodeAnswer | None = None
    records: ItemRecords | None = None
    """Required for ``dynamic_sampling.rule=boundary``."""

    def collect(
        self,
        prompts: Iterator[Sample],
        step: int,
        config: TrainConfig,
        carried: Carried | None = None,
        on_progress: Callable[[Batch], None] | None = None,
        policy: int | None = None,
        ahead: SampleAhead | None = None,
    ) -> Batch:
        """Sample until ``rollout.prompts`` groups are usable or no prompts are left. Raises StepGivenUp.

        The ``carried`` groups come first, then ``prompts`` in order. ``policy`` is the version of the sampler's weights
        (default: ``step`` - 1). Unless ``rollout.new_weights`` is ``batch``, ``ahead`` provides newer weights.
        """
        policy = step - 1 if policy is None else policy
        collection = _Collection(self, prompts, step, config, carried or Carried(), policy, ahead)
        r = config.rollout
        params = SamplingParams(r.temperature, r.top_p, r.max_tokens)
        with (
            open_stream(self.generator, params, lambda _: self.beat()) as stream,
            Scoring(self.scorer, config.reward.overlap) as scoring,
        ):
            batch = collection.run(stream, scoring, on_progress)
        if batch.outcomes:
            now = sum(o == "usable" for o in batch.outcomes) / len(batch.outcomes)
            self.usable_rate = max(self.usable_rate + RATE_STEP * (now - self.usable_rate), 0.01)
        sampling = config.dynamic_sampling
        if batch.gave_up and sampling.enabled and sampling.exhausted == "stop":
            raise TooFewGroups(
                f"only {len(batch.kept)} of {r.prompts} groups were usable after {batch.drawn} draws: "
                "raise dynamic_sampling.max_batches, or set dynamic_sampling.exhausted=continue"
            )
        return batch


@dataclass(slots=True)
class _Draw:
    """A group in progress, the step in which it began, and the policies that sampled its tokens."""

    sample: Sample
    step: int
    conversations: list[Conversation]
    completions: Sequence[Completion] = ()
    policies: Sequence[Policies] = ()

    def continue_with(self, policy: int, lengths: Sequence[int]) -> None:
        """Record that ``policy`` samples completion i from its token ``lengths[i]`` on."""
        policies = self.policies or [()] * len(lengths)
        pairs = zip(policies, lengths, strict=True)
        self.policies = [sampled_from(before, length, policy) for before, length in pairs]

    def stop(self, completions: Sequence[Completion]) -> None:
        """Store the paused ``completions``, and remove policies that sampled none of their tokens."""
        lengths = [len(c.token_ids) for c in completions]
        pairs = zip(self.policies, lengths, strict=True)
        self.policies = [
            tuple(pair for pair in policies if pair[0] < length) or policies[:1]
            for policies, length in pairs
        ]
        self.completions = completions

    def without_verdict(self) -> list[int]:
        return [i for i, c in enumerate(self.conversations) if c.verdict is None]

    def items(self) -> list[tuple[str, Task]]:
        talks = [(self.completions[i].text, self.conversations[i]) for i in self.without_verdict()]
        return [(text, next_task(self.sample.task, c.state, bool(c.ended))) for text, c in talks]


def spoken(completion: Completion) -> dict[str, str]:
    return {"role": "assistant", "content": completion.text}


class _Collection:
    def __init__(
        self,
        collector: Collector,
        prompts: Iterator[Sample],
        step: int,
        config: TrainConfig,
        carried: Carried,
        policy: int,
        ahead: SampleAhead | None,
    ) -> None:
        self._collector, self._prompts = collector, prompts
        self._ahead = ahead if config.rollout.new_weights != "batch" else None
        self._draining = False  # nothing begins until samples in progress have ended and newer weights are loaded
        self._held: list[int] = []  # conversations that continue then
        self._step, self._config, self._policy = step, config, policy
        sampling, self._target = config.dynamic_sampling, config.rollout.prompts
        self._late = sampling.late if sampling.enabled else "wait"
        most = self._target
        if sampling.enabled:
            most = sampling.max_batches * max(most, round(most * sampling.oversample))
        self._draw_limit = most
        self._carried = carried
        waiting: list[Group | LateGroup] = [*carried.groups, *carried.late]
        self._carried_ids = {g.sample.id for g in waiting}
        self._open: dict[int, _Draw] = {}
        self._running: set[int] = set()
        self._unscored: dict[int, list[Verdict]] = {}
        self._decided: dict[int, tuple[Group, Outcome]] = {}
        self._usable = len(carried.groups)
        self._responses = 0
        self._drawn = 0
        self._stopped = False

    def run(
        self, stream: Stream, scoring: Scoring, on_progress: Callable[[Batch], None] | None
    ) -> Batch:
        started = self._collector.clock()
        waited = 0.0
        occupancy = Occupancy(stream.rows, self._collector.clock)
        repeatable = stream.repeatable and self._ahead is None
        for late in self._carried.late:
            self._submit(stream, late.sample, late.step, late)
        self._fill(stream)
        while self._continues():
            occupancy.record(stream.running)
            before = scoring.pending
            full = repeatable and self._may_be_full(before)
            if self._running and not full:
                look = LOOK_SECONDS if self._ahead or (before and not repeatable) else None
                finished = stream.take(look)
                for key, completions in finished:
                    self._running.discard(key)
                    draw = self._open[key]
                    draw.stop(completions)
                    scoring.add(key, draw.items())
                due = before if finished else 0
                judged = scoring.take(due, due) if repeatable else scoring.take(0)
            else:
                since = self._collector.clock()
                judged = scoring.take(before if repeatable else min(before, 1))
                waited += self._collector.clock() - since
            last = not self._running and not scoring.pending
            self._record_verdicts(judged, last, stream, scoring)
            if self._ahead is not None:
                self._take_weights(stream, self._ahead)
            self._fill(stream)
            if judged and on_progress is not None:
                on_progress(self._batch())
        occupancy.record(0)
        stopped, self._stopped = dict(stream.stop()), True
        since = self._collector.clock()
        while scoring.pending or self._unscored:
            self._record_verdicts(scoring.take(scoring.pending), True, stream, scoring)
        ended = self._collector.clock()
        batch = self._batch(stopped)
        batch.score_seconds = waited + ended - since
        batch.sample_seconds = ended - started - batch.score_seconds
        batch.idle_share = occupancy.idle_share
        return batch

    def _take_weights(self, stream: Stream, ahead: SampleAhead) -> None:
        by_token = self._config.rollout.new_weights == "token"
        if self._running and not (by_token and isinstance(stream, ContinuingStream)):
            self._draining = ahead.newer_weights()
            return
        self._draining, policy = False, ahead.refresh()
        if policy != self._policy and isinstance(stream, ContinuingStream):
            for key in self._running:
                self._open[key].continue_with(policy, stream.lengths(key))
        self._policy = policy
        held, self._held = self._held, []
        for key in held:
            self._sample(key, stream)

    def _missing(self) -> int:
        return self._target - self._usable

    def _may_be_full(self, pending: int) -> bool:
        return self._late != "wait" and 0 < self._missing() <= pending

    def _continues(self) -> bool:
        if not self._open:
            return False
        if self._missing() > 0 or self._late == "wait":
            return True
        if self._late == "cancel":
            return False
        late_steps = self._config.dynamic_sampling.late_steps
        return any(must_end(draw.step, self._step, late_steps) for draw in self._open.values())

    def _fill(self, stream: Stream) -> None:
        sampling, samples = self._config.dynamic_sampling, self._config.rollout.samples
        missing = self._missing()
        if missing <= 0 or self._draining:
            return
        carry = self._late == "carry"
        aim = self._target if carry else missing
        groups = aim * sampling.oversample if sampling.enabled else float(aim)
        if sampling.enabled and sampling.refill == "expected":
            usable = self._usable - len(self._carried.groups)
            rate = (usable + 2 * self._collector.usable_rate) / (len(self._decided) + 2)
            groups = max(groups, aim / (self._collector.usable_rate if carry else rate))
        groups = math.ceil(groups)
        # if unfinished groups are carried, the limit is on samples, not groups: a whole batch or the sampler's rows
        # stay in progress until the step ends, so that no freed row is empty
        most = max(samples, stream.rows * (1 if carry else AHEAD))
        rows = min(groups * samples, most)
        while self._drawn < self._draw_limit and stream.running + samples <= rows:
            if not carry and len(self._open) >= groups:
                return
            sample = next(self._prompts, None)
            if sample is None:
                self._draw_limit = self._drawn
            elif sample.id not in self._carried_ids:
                self._drawn += 1
                self._submit(stream, sample, self._step)

    def _submit(
        self, stream: Stream, sample: Sample, step: int, late: LateGroup | None = None
    ) -> None:
        begun = late.completions if late is not None else ()
        policies = late.policies if late is not None else ()
        key = len(self._open) + len(self._decided)
        if not any(c.token_ids for c in begun):
            step = self._step  # no tokens yet, so nothing is stale
        talks = late.conversations if late is not None else ()
        conversations = list(talks) or [Conversation()] * self._config.rollout.samples
        self._open[key] = _Draw(sample, step, conversations, begun, policies)
        self._sample(key, stream)

    def _sample(self, key: int, stream: Stream) -> None:
        if self._draining:
            self._held.append(key)
            return
        draw, count, seed = self._open[key], self._config.rollout.samples, self._config.seed
        step, name = draw.step, draw.sample.id
        seeds = tuple(derive_seed(seed, "rollout", step, name, i) for i in range(count))
        lengths = [len(c.token_ids) for c in draw.completions] or [0] * count
        draw.continue_with(self._policy, lengths)
        self._running.add(key)
        stream.submit(key, Request(draw.sample.prompt, seeds, tuple(draw.completions)))

    def _record_verdicts(
        self, judged: Sequence[Judged], last: bool, stream: Stream, scoring: Scoring
    ) -> None:
        """Record the verdicts of groups. Groups with infra errors are kept and scored again later."""
        ready: list[Judged] = []
        for key, verdicts in judged:
            self._responses += len(verdicts)
            if any(v.is_infra_error for v in verdicts):
                self._unscored[key] = verdicts
            else:
                ready.append((key, verdicts))
        enough = self._target * self._config.rollout.samples
        if self._unscored and (last or self._responses >= enough):
            self._score_again()
            ready += [(key, self._unscored.pop(key)) for key in sorted(self._unscored)]
        for key, verdicts in ready:
            draw = self._open[key]
            for number, verdict in zip(draw.without_verdict(), verdicts, strict=True):
                self._record_verdict(draw, number, verdict)
            if not (unsettled := draw.without_verdict()):
                self._decide(key)
            elif all(draw.completions[i].finish_reason != "paused" for i in unsettled):
                scoring.add(key, draw.items())
            elif not self._stopped:
                self._sample(key, stream)

    def _record_verdict(self, draw: _Draw, number: int, verdict: Verdict) -> None:
        """Record a final verdict or an environment's answer. A limit may end the conversation instead."""
        talk, completion = draw.conversations[number], draw.completions[number]
        r, encode = self._config.rollout, self._collector.encode_answer
        ended: Ended = "tokens" if completion.finish_reason == "length" else ""
        if not ended and len(completion.given) + 1 >= r.turns:
            ended = "turns"
        if (turn := verdict.turn) is None:
            talk = replace(talk, verdict=verdict)
        elif not ended:
            assert encode is not None
            before = [*draw.sample.prompt, *talk.messages]
            tokens = encode(before, turn.messages, completion.token_ids[-1])
            if len(completion.token_ids) + len(tokens) < r.max_tokens:
                messages = (*talk.messages, spoken(completion), *turn.messages)
                talk = Conversation(messages, turn.state)
                draw.completions = [*draw.completions]
                draw.completions[number] = completion.answered(tokens)
            else:
                ended = "tokens"
        if turn is not None and ended:
            talk = replace(talk, ended=ended)
        draw.conversations[number] = talk

    def _decide(self, key: int) -> None:
        draw = self._open.pop(key)
        converses = VERIFIERS.get(draw.sample.task.verifier).is_environment
        rows = zip(draw.completions, draw.conversations, draw.policies, strict=True)
        trajectories = [
            Trajectory(
                number,
                completion,
                talk.verdict,
                talk.verdict.reward or 0.0,
                policies=policies,
                turns=(*talk.messages, spoken(completion)) if converses else (),
                ended=(talk.ended or "answer") if converses else "",
            )
            for number, (completion, talk, policies) in enumerate(rows)
            if talk.verdict is not None
        ]
        group = Group(draw.sample, tuple(trajectories), draw.step)
        sampling, records = self._config.dynamic_sampling, self._collector.records
        outcome = group.outcome(sampling)
        if sampling.enabled and sampling.rule == "boundary" and outcome == "usable":
            assert records is not None
            solvable = records.solvable(group, sampling.boundary_k)
            outcome = "saturated" if solvable >= sampling.boundary_probability else "usable"
        self._decided[key] = group, outcome
        self._usable += outcome == "usable"

    def _score_again(self) -> None:
        collector, guard = self._collector, self._collector.guard
        for attempt in itertools.count():
            failed = [
                (key, j)
                for key in sorted(self._unscored)
                for j, v in enumerate(self._unscored[key])
                if v.is_infra_error
            ]
            decision = guard.check_round(self._responses, len(failed), attempt)
            if decision == "ok":
                return
            if decision == "stop":
                reason = self._unscored[failed[0][0]][failed[0][1]].reason
                raise RewardOutage(
                    f"the reward service gave no verdict for {len(failed)} of {self._responses} responses "
                    f"after {attempt} more tries (first reason: {reason})"
                )
            collector.sleep(guard.outage_wait(attempt))
            collector.beat()
            items = [self._open[key].items()[j] for key, j in failed]
            verdicts = score_or_infra(collector.scorer, items)
            for (key, j), verdict in zip(failed, verdicts, strict=True):
                self._unscored[key][j] = verdict

    def _batch(self, stopped: Mapping[int, Sequence[Completion]] | None = None) -> Batch:
        decided = [self._decided[key] for key in sorted(self._decided)]
        usable = [group for group, outcome in decided if outcome == "usable"]
        every = [*self._carried.groups, *usable]
        late = []
        for key in sorted(self._open) if stopped is not None else ():
            draw = self._open[key]
            if stopped is not None and key in stopped:
                draw.stop(stopped[key])
            talks = tuple(draw.conversations)
            late.append(
                LateGroup(
                    draw.sample,
                    tuple(draw.completions),
                    draw.step,
                    tuple(draw.policies),
                    talks if any(talk != Conversation() for talk in talks) else (),
                )
            )
        batch = Batch(
            sampled=[group for group, _ in decided],
            outcomes=[outcome for _, outcome in decided],
            kept=every[: self._target],
            surplus=every[self._target :],
            carried_in=min(len(self._carried.groups), self._target),
            late_in=self._carried.late,
            drawn=self._drawn,
            target=self._target,
        )
        batch.gave_up = len(batch.kept) < self._target
        if self._late == "carry":
            batch.late = late
        else:
            batch.cancelled = late
        return batch
