"""Decides whether groups sampled by earlier policies are used, and samples batches ahead of the trainer."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from prorl_common import UserError
from prorl_datasets import Sample
from prorl_training.config import TrainConfig
from prorl_training.types import Batch, Carried, Group, SampledBatch

if TYPE_CHECKING:
    from prorl_inference import BackendSpec


def still_fitting(
    carried: Carried, before: TrainConfig, now: TrainConfig
) -> tuple[Carried, Carried]:
    """Divide ``carried`` groups (of config ``before``) into (usable, unusable) for a step with config ``now``.

    Groups are unusable if sampling settings changed, or if their domain is no longer drawn.
    """
    weights = now.data.domain_weights
    r, old = now.rollout, before.rollout
    now_sampled = (r.samples, r.temperature, r.top_p, r.max_tokens, r.turns)
    same = now_sampled == (old.samples, old.temperature, old.top_p, old.max_tokens, old.turns)

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
    """Return as JSON the settings that determine a batch's prompts and how they are sampled."""
    rollout = {"prompts", "samples", "temperature", "top_p", "max_tokens", "turns"}
    values = (
        config.rollout.model_dump(include=rollout),
        config.data.model_dump(exclude={"path"}),
        config.dynamic_sampling.model_dump(),
    )
    return json.dumps(values, sort_keys=True)


def is_stale(group: Group, step: int) -> bool:
    """Return whether tokens of the group were sampled by a policy older than version ``step`` - 1."""
    return any(t.first_policy != step - 1 for t in group.scored)


def must_end(begun: int, step: int, late_steps: int) -> bool:
    """Return whether a late group that began in step ``begun`` must be finished in ``step``."""
    return begun <= step - late_steps


def policy_ages(groups: Sequence[Group], step: int) -> list[int]:
    """Return how many versions each response's oldest policy is behind the newest, ``step`` - 1."""
    return [step - 1 - t.first_policy for g in groups for t in g.scored]


def refuse_lost_logprobs(config: TrainConfig, sampler: BackendSpec) -> None:
    """Raise UserError with a fix if ``sampler`` does not return log-probs that a phase needs."""
    for number, settings in enumerate(config.phase_configs):
        reason = lost_logprobs(settings, sampler)
        if reason:
            where = f"phase {config.phases[number].name}: " if config.phases else ""
            raise UserError(where + reason)


def lost_logprobs(config: TrainConfig, sampler: BackendSpec | None = None) -> str | None:
    """Return a message with a fix if ``sampler`` (default: vLLM) lacks log-probs that ``config`` needs, else None."""
    from prorl_inference import BACKENDS

    sampler = sampler or BACKENDS.get("vllm")
    sampling, loss = config.dynamic_sampling, config.loss
    correction = loss.mismatch.correction
    surplus = sampling.refill == "expected" or sampling.oversample > 1
    late = sampling.enabled and sampling.late == "carry"
    carries = sampling.enabled and sampling.surplus == "carry" and (surplus or late)
    # OpenRLHF has no on_policy_ratio: its carried groups always use the sampler's log-probs
    own = loss.on_policy_ratio or loss.old_logprobs == "trainer"
    without = own and correction == "none" and config.engine == "local"
    users = []  # (setting, replacement)
    if late and not without:
        users.append(("dynamic_sampling.late=carry", "dynamic_sampling.late=wait"))
    if carries and not without:
        users.append(("dynamic_sampling.surplus=carry", "dynamic_sampling.surplus=drop"))
    if config.rollout.staleness and not without:
        users.append((f"rollout.staleness={config.rollout.staleness}", "rollout.staleness=0"))
    if loss.old_logprobs == "sampler":
        users.append(("loss.old_logprobs=sampler", "loss.old_logprobs=trainer"))
    if correction != "none":
        users.append((f"loss.mismatch.correction={correction}", "loss.mismatch.correction=none"))
    if sampler.keeps_logprobs(config.rollout.top_p) or not users:
        return None
    named = " and ".join(setting for setting, _ in users)
    cure = " and ".join(instead for _, instead in users)
    wider = "set rollout.top_p=1, or " if sampler.logprobs else ""
    return (
        f"rollout.top_p={config.rollout.top_p} with {sampler.title or sampler.name} as sampler "
        f"leaves no log-probs of the whole distribution, which {named} needs: {wider}{cure}, or "
        "use engine=local with rollout.backend=transformers"
    )


Draw = Callable[[int], tuple[Iterator[Sample], TrainConfig]]
"""Returns the prompts of a step and the settings to sample them with."""
Collect = Callable[[Iterator[Sample], int, TrainConfig, int], Batch]
"""Samples a batch from (prompts, step, settings, policy version)."""


HAND_OVER_SECONDS = 1.0
"""Maximum time that an update waits for the sampler to load the newest weights."""

STOP_SECONDS = 60.0


class SamplerStopped(Exception):
    """Raised in the sampler's thread to end a batch that is no longer needed."""


class SampleAhead:
    """Samples the batches after ``version`` in a thread, at most ``staleness`` policy versions ahead of the trainer.

    Version v is the policy after step v. One version samples a whole batch, unless ``collect`` calls ``refresh``. With
    ``staleness`` 1 the versions do not depend on timing.

    - load_weights: copies the policy's weights to the sampler.
    - queue: batches from a checkpoint.
    - hand_over: maximum seconds that an update waits for ``refresh``.
    """

    def __init__(
        self,
        staleness: int,
        last_step: int,
        version: int,
        draw: Draw,
        collect: Collect,
        load_weights: Callable[[], None],
        queue: Sequence[SampledBatch] = (),
        hand_over: float = 0.0,
    ) -> None:
        self._staleness, self._last_step, self._hand_over = staleness, last_step, hand_over
        self._draw, self._collect, self._load_weights = draw, collect, load_weights
        self._queue = deque(queue)
        self._next = version + len(self._queue) + 1
        self._begun = self._next - 1
        self._version = self._loaded = version
        self._keep_weights = True  # the next batch is sampled with the weights that are loaded
        self._sampling = self._loading = self._updating = self._paused = False
        self.ended = False
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="prorl-sampling", daemon=True)

    def take(self, step: int) -> SampledBatch:
        """Wait for the batch of ``step``, and allow the sampler to load version ``step`` - 1.

        Raises the error that sampling raised.
        """
        following = min(step + 1, self._last_step)
        with self._changed:
            self._version, self._updating = step - 1, False
            if self._thread.ident is None:
                self._sampling = True
                self._thread.start()
            self._changed.notify_all()
            self._changed.wait_for(
                lambda: self._error is not None or (self._queue and self._begun >= following)
            )
            if not self._queue and self._error is not None:
                raise self._error
            sampled = self._queue.popleft()
        assert sampled.step == step, (sampled.step, step)
        return sampled

    def begin_update(self) -> None:
        """Prevent the sampler from loading weights until the next ``take``."""
        with self._changed:
            self._changed.wait_for(
                lambda: not self._sampling or self._loaded == self._version, self._hand_over
            )
            self._changed.wait_for(lambda: not self._loading)
            self._updating = True

    def newer_weights(self) -> bool:
        """Return whether ``refresh`` would load newer weights. For use in ``collect``."""
        with self._changed:
            return self._version > self._loaded and not self._updating

    def refresh(self) -> int:
        """Load newer weights, unless an update is changing them; return the loaded version. For use in ``collect``."""
        with self._changed:
            if self._version == self._loaded or self._updating:
                return self._loaded
            self._loading, version = True, self._version
        self._load(version)
        return version

    @contextmanager
    def paused(self, version: int) -> Iterator[Sequence[SampledBatch]]:
        """Wait for the batch in progress, load the weights of ``version`` and yield the batches in the queue.

        The sampler is idle inside the block.
        """
        with self._changed:
            self._paused = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._sampling)
            queue = tuple(self._queue)
        self._load_weights()
        self._loaded, self._keep_weights = version, True
        try:
            yield queue
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()

    def sample_again(self, step: int) -> list[Batch]:
        """Remove and return the batches in the queue; sample again from ``step``. Call only inside ``paused``."""
        dropped = [sampled.batch for sampled in self._queue]
        self._queue.clear()
        self._next, self._begun = step, step - 1
        return dropped

    def close(self) -> None:
        """Stop the sampler and wait for its thread, at most ``STOP_SECONDS``."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join(STOP_SECONDS)

    def _work(self) -> None:
        try:
            while self._begin_batch():
                step, policy = self._next, self._loaded
                prompts, settings = self._draw(step)
                with self._changed:
                    self._begun = step
                    self._changed.notify_all()
                batch = self._collect(prompts, step, settings, policy)
                with self._changed:
                    self._queue.append(SampledBatch(step, policy, sampling_key(settings), batch))
                    self._next += 1
                    self._changed.notify_all()
        except SamplerStopped:
            pass
        except BaseException as error:  # noqa: BLE001 - raised by take()
            self._error = error
        with self._changed:
            self._sampling = False
            self._changed.notify_all()

    def _begin_batch(self) -> bool:
        """Wait until the next batch may begin, and load newer weights, if any. Returns False if the run has ended."""
        with self._changed:
            while not self.ended and not self._may_begin():
                self._sampling = False
                self._changed.notify_all()
                self._changed.wait()
            self._sampling = True
            needed = self._next - 1 - self._staleness
            if self.ended or (self._keep_weights and self._loaded >= needed):
                self._keep_weights = False
                return not self.ended
            if self._loaded < needed:
                self._changed.wait_for(lambda: not self._updating or self.ended)
            if self.ended or self._updating or self._loaded == self._version:
                return not self.ended
            self._loading, version = True, self._version
        self._load(version)
        return True

    def _load(self, version: int) -> None:
        try:
            self._load_weights()
            self._loaded = version
        finally:
            with self._changed:
                self._loading = False
                self._changed.notify_all()

    def _may_begin(self) -> bool:
        recent = self._version >= self._next - 1 - self._staleness
        return recent and not self._paused and self._next <= self._last_step
