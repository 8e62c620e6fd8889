from __future__ import annotations

import copy
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from prorl_common import ServiceError
from prorl_common.rollout_files import read_rollouts, rollout_file, rollout_files
from prorl_datasets import Sample
from prorl_inference import Completion, TransformersGenerator, load_model
from prorl_inference.testing import byte_tokenizer
from prorl_training.algorithm.advantages import advantages_of
from prorl_training.algorithm.shaping import shape_rewards
from prorl_training.config import TrainConfig
from prorl_training.engine.loop import TrainingLoop
from prorl_training.policy.update import Policy, build_update
from prorl_training.rollout import collector, staleness
from prorl_training.rollout.staleness import SampleAhead, SamplerStopped
from prorl_training.run.checkpoint import checkpoint_path, load_buffer
from prorl_training.run.watchdog import Watchdog
from prorl_training.testing import ByLength, untimed_metrics
from prorl_training.types import Batch, Group, SampledBatch, Trajectory
from prorl_verifiers import Verdict

STEPS = 6
HALF = -1
"""Stands for weights that are loaded in part."""


class Trainer:
    """Fake weights and sampler: a batch records which weights the sampler had and when it was sampled."""

    def __init__(
        self, config: TrainConfig, staleness: int, last_step: int = 20, hand_over: float = 0.0
    ) -> None:
        self.config = config
        self.weights = self.loaded = 0
        self.before_batch: Callable[[int], None] = lambda step: None
        self.while_loading: Callable[[], None] = lambda: None
        self.sampled: list[tuple[int, int]] = []
        parts = (self.draw, self.collect, self.load)
        self.ahead = SampleAhead(staleness, last_step, 0, *parts, hand_over=hand_over)

    def draw(self, step: int) -> tuple[Iterator[Sample], TrainConfig]:
        return iter(()), self.config

    def collect(
        self, prompts: Iterator[Sample], step: int, settings: TrainConfig, policy: int
    ) -> Batch:
        assert policy == self.loaded
        self.before_batch(step)
        self.sampled.append((step, policy))
        return Batch(drawn=step)

    def load(self) -> None:
        self.loaded = HALF
        self.while_loading()
        self.loaded = self.weights

    def train(self, step: int, update: Callable[[], None] = lambda: None) -> int:
        sampled = self.ahead.take(step)
        assert sampled.batch.drawn == step
        self.ahead.begin_update()
        update()
        self.weights = step
        return sampled.policy


@pytest.fixture
def trainer(make_config: Callable[..., TrainConfig]) -> Iterator[Callable[..., Trainer]]:
    made: list[Trainer] = []

    def build(staleness: int, last_step: int = 20, hand_over: float = 0.0) -> Trainer:
        made.append(Trainer(make_config(), staleness, last_step, hand_over))
        return made[-1]

    yield build
    for one in made:
        one.ahead.close()


def test_the_next_batch_is_sampled_while_the_policy_is_updated(
    trainer: Callable[..., Trainer],
) -> None:
    one = trainer(1)
    begun = threading.Event()
    one.before_batch = lambda step: begun.set() if step == 2 else None
    one.train(1, lambda: assert_set(begun))


def assert_set(event: threading.Event) -> None:
    assert event.wait(10)


def test_with_a_staleness_of_1_each_batch_is_sampled_by_the_policy_before_the_last(
    trainer: Callable[..., Trainer],
) -> None:
    one = trainer(1)
    one.before_batch = lambda step: time.sleep(0.004 * (step % 3))
    policies = [one.train(step, lambda: time.sleep(0.003)) for step in range(1, 21)]
    assert policies == [0, *range(19)]


@pytest.mark.parametrize("staleness", [2, 4])
@pytest.mark.parametrize("slow", ["sampler", "trainer"])
def test_no_batch_is_older_than_the_staleness(
    trainer: Callable[..., Trainer], staleness: int, slow: str
) -> None:
    one = trainer(staleness)
    one.before_batch = lambda step: time.sleep(0.005 * (slow == "sampler"))
    ages = []
    for step in range(1, 21):
        policy = one.train(step, lambda: time.sleep(0.005 * (slow == "trainer")))
        ages.append(step - 1 - policy)
    assert min(ages) >= 0 and max(ages) <= staleness
    assert [step for step, _ in one.sampled] == list(range(1, 21))


def test_the_sampler_is_idle_while_paused_and_goes_on_with_the_weights_of_then(
    trainer: Callable[..., Trainer],
) -> None:
    one = trainer(1, last_step=5)
    one.train(1)
    with one.ahead.paused(1) as queue:
        assert [sampled.step for sampled in queue] == [2] and one.loaded == 1
        count = len(one.sampled)
        time.sleep(0.02)
        assert len(one.sampled) == count
    assert [one.train(step) for step in range(2, 6)] == [0, 1, 2, 3]


def test_batches_that_no_longer_fit_are_sampled_again(trainer: Callable[..., Trainer]) -> None:
    one = trainer(2)
    one.train(1)
    one.ahead.take(2)
    with one.ahead.paused(1):
        one.ahead.sample_again(2)
    again = one.ahead.take(2)
    assert again.step == 2 and again.policy == 1


def test_an_error_of_the_sampler_ends_the_step_that_needs_its_batch(
    trainer: Callable[..., Trainer],
) -> None:
    one = trainer(1)

    def fail(step: int) -> None:
        if step == 3:
            raise ServiceError("the sampler broke")

    one.before_batch = fail
    one.train(1)
    one.train(2)
    with pytest.raises(ServiceError, match="the sampler broke"):
        one.train(3)
    with one.ahead.paused(2) as queue:
        assert not queue


def test_closing_ends_a_batch_in_progress(trainer: Callable[..., Trainer]) -> None:
    one = trainer(1)

    def hang(step: int) -> None:
        while step == 2 and not one.ahead.ended:
            time.sleep(0.001)
        if one.ahead.ended:
            raise SamplerStopped

    one.before_batch = hang
    one.train(1)
    one.ahead.close()
    assert one.sampled == [(1, 0)]


def until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 20.0
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_a_stuck_rollout_is_reported_and_its_batch_is_used_if_it_continues(
    trainer: Callable[..., Trainer], tmp_path: Path
) -> None:
    one, said = trainer(1), list[str]()
    one.before_batch = lambda step: until(lambda: step != 2 or bool(said))
    with Watchdog(0.1, tmp_path / "stacks.txt", said.append):
        assert [one.train(1), one.train(2)] == [0, 0]
    assert "in until" in (tmp_path / "stacks.txt").read_text()


def test_a_stuck_rollout_does_not_keep_a_run_from_ending(
    trainer: Callable[..., Trainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, end = trainer(1), threading.Event()
    one.before_batch = lambda step: assert_set(end) if step == 2 else None
    one.train(1)
    monkeypatch.setattr(staleness, "STOP_SECONDS", 0.05)
    began = time.monotonic()
    one.ahead.close()
    assert time.monotonic() < began + 5.0 and one.sampled == [(1, 0)]
    end.set()


def test_the_sampler_waits_while_its_queue_is_full(trainer: Callable[..., Trainer]) -> None:
    one = trainer(2)
    one.train(1)
    until(lambda: len(one.sampled) == 3)
    time.sleep(0.05)
    assert one.sampled == [(1, 0), (2, 0), (3, 0)]
    assert [one.train(step) for step in range(2, 6)][:2] == [0, 0]


def test_a_version_that_the_sampler_missed_is_neither_named_nor_needed(
    trainer: Callable[..., Trainer],
) -> None:
    one, updating, versions = trainer(2), threading.Event(), list[int]()

    def look(step: int) -> None:
        if step == 3:
            assert_set(updating)
            versions.append(one.ahead.refresh())
            until(one.ahead.newer_weights)
            versions.append(one.ahead.refresh())

    one.before_batch = look
    one.train(1)

    def update() -> None:
        updating.set()
        until(lambda: bool(versions))

    one.train(2, update)
    assert one.train(3) == 0
    assert versions == [0, 2] and one.sampled[2] == (3, 0)


@pytest.mark.parametrize("in_flight", [False, True])
def test_nothing_is_sampled_with_weights_that_are_loaded_in_part(
    trainer: Callable[..., Trainer], in_flight: bool
) -> None:
    one = trainer(1)

    def break_off() -> None:
        if one.weights == 2:
            raise RuntimeError("out of memory")

    def look(step: int) -> None:
        if in_flight and step == 3:
            until(one.ahead.newer_weights)
            one.ahead.refresh()

    one.while_loading, one.before_batch = break_off, look
    with pytest.raises(RuntimeError, match="out of memory"):
        for step in range(1, 5):
            one.train(step)
    assert one.sampled == [(1, 0), (2, 0), (3, 1)][: 2 if in_flight else 3]
    one.while_loading = lambda: None
    with one.ahead.paused(one.weights):
        assert one.loaded == one.weights  # a checkpoint and a validation use whole weights


def test_a_batch_beyond_the_staleness_is_sampled_again(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
) -> None:
    config = make_config(steps=2, rollout={"staleness": 1}, validation={"every": 0})
    engine = with_copy(make_engine(config, tmp_path / "run", ByLength()))
    engine.queue = [SampledBatch(1, -2, staleness.sampling_key(config), Batch(target=4))]
    assert engine.run() == 2
    rows = engine.parts.folder.metrics()
    assert [row["groups_kept"] > 0 and row["staleness_max"] <= 1 for row in rows] == [True, True]


def test_a_hanging_verifier_does_not_hold_up_the_update(trainer: Callable[..., Trainer]) -> None:
    one, end = trainer(2, hand_over=0.05), threading.Event()
    one.before_batch = lambda step: assert_set(end) if step == 3 else None
    one.train(1, lambda: until(lambda: one.ahead._begun == 3))
    assert one.train(2) == 0  # version 1 is newer than the one of the batch in progress
    end.set()
    assert one.train(3) == 0


def sampler(model: Any, tokenizer: Any) -> TransformersGenerator:
    made = TransformersGenerator(copy.deepcopy(model), tokenizer, batch_size=10)
    made.stop_ids = frozenset(range(0, 260, 13))  # responses of all lengths
    return made


def run_ahead(
    make_engine: Callable[..., TrainingLoop], config: TrainConfig, folder: Path
) -> TrainingLoop:
    engine = with_copy(make_engine(config, folder, ByLength()))
    assert engine.run() == STEPS
    return engine


def with_copy(engine: TrainingLoop) -> TrainingLoop:
    """Let the engine sample from a copy of its policy."""
    generator = sampler(engine.parts.policy.model, byte_tokenizer())
    engine.parts = replace(engine.parts, generator=generator)
    engine.collector.generator = generator
    return engine


@pytest.mark.parametrize("late", ["carry", pytest.param("wait", marks=pytest.mark.slow)])
def test_a_resumed_run_with_a_staleness_of_1_is_the_unbroken_one_bit_for_bit(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    go_on: Callable[..., TrainingLoop],
    late: str,
) -> None:
    config = make_config(
        steps=STEPS,
        dynamic_sampling={"late": late},
        rollout={"max_tokens": 24, "staleness": 1},
        warm_start={"examples": 0},
        validation={"every": 2},
        checkpoint={"every": 1, "keep": STEPS},
    )
    whole = run_ahead(make_engine, config, tmp_path / "run")
    lines = untimed_metrics(whole.parts.folder)
    assert [row["staleness_max"] >= 1 for row in lines] == [False] + [True] * (STEPS - 1)
    weights = [p.detach().clone() for p in whole.parts.policy.model.parameters()]
    samples = {s.id: s for s in whole.parts.prompts.samples}
    path = checkpoint_path(tmp_path / "run" / "checkpoints", 3)
    assert [sampled.step for sampled in load_buffer(path, samples)[1]] == [4]
    again = go_on(whole, 3, sampler)
    assert untimed_metrics(again.parts.folder) == lines
    now = again.parts.policy.model.parameters()
    assert all(torch.equal(a, b) for a, b in zip(weights, now, strict=True))


@pytest.mark.parametrize("new_weights", ["batch", "request", "token"])
def test_a_resumed_run_with_a_staleness_of_3_trains_on_each_prompt_of_each_step_once(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    go_on: Callable[..., TrainingLoop],
    new_weights: str,
) -> None:
    config = make_config(
        steps=STEPS,
        dynamic_sampling={"enabled": False},
        rollout={"max_tokens": 8, "staleness": 3, "new_weights": new_weights},
        warm_start={"examples": 0},
        validation={"every": 0},
        checkpoint={"every": 1, "keep": STEPS},
    )
    whole = run_ahead(make_engine, config, tmp_path / "run")
    drawn = [
        {
            s.id
            for s in itertools.islice(whole.parts.prompts.draw(n, config), config.rollout.prompts)
        }
        for n in range(1, STEPS + 1)
    ]
    assert trained_on(whole) == drawn
    again = go_on(whole, 2, sampler)
    assert trained_on(again) == drawn
    assert max(row["staleness_max"] for row in again.parts.folder.metrics()) <= 3


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch after the first wait until it can take newer weights, once it has begun."""
    looks: Counter[int] = Counter()

    def waiting(method: Callable[[SampleAhead], Any]) -> Callable[[SampleAhead], Any]:
        def wrapped(ahead: SampleAhead) -> Any:
            step = ahead._next
            looks[step] += 1
            if step > 1 and looks[step] == 4:
                until(lambda: newer(ahead))
            return method(ahead)

        return wrapped

    newer = SampleAhead.newer_weights
    monkeypatch.setattr(collector, "LOOK_SECONDS", 0.0)
    for name in ("newer_weights", "refresh"):
        monkeypatch.setattr(SampleAhead, name, waiting(getattr(SampleAhead, name)))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("new_weights", "late"),
    [pytest.param("request", "wait", marks=pytest.mark.slow), ("token", "carry")],
)
def test_a_run_that_takes_weights_in_flight_is_replayed_from_its_rollouts(
    tmp_path: Path,
    make_engine: Callable[..., TrainingLoop],
    make_config: Callable[..., TrainConfig],
    new_weights: str,
    late: str,
) -> None:
    config = make_config(
        steps=STEPS,
        dynamic_sampling={"late": late, "oversample": 2},
        rollout={"prompts": 6, "max_tokens": 24, "staleness": 1, "new_weights": new_weights},
        warm_start={"examples": 0},
        controller={"reset_interval": 100},
        validation={"every": 0},
        checkpoint={"every": 100},
    )
    engine = run_ahead(make_engine, config, run := tmp_path / "run")
    own: Any = engine.parts.policy.model
    again, _ = load_model(checkpoint_path(run / "checkpoints", 0) / "policy", "cpu", torch.float32)
    policy = Policy(again, config, torch.float32)
    policy.reset_reference(clear_optimizer=True)
    encode, samples = engine.parts.prompts.encode, engine.parts.prompts.samples
    prompts = {s.id: encode(s) for s in samples}
    policies = {0: copy.deepcopy(again)}
    switched = mixed = 0
    for step, metrics in enumerate(engine.parts.folder.metrics(), 1):
        rows = read_rollouts(rollout_file(run, step), carried=True).to_pylist()
        for row in rows:
            first = row["token_policies"].count(row["policy_first"])
            mixed += first < row["tokens"]
            before = policies[row["policy_first"]]
            ids = torch.tensor([[*prompts[row["sample_id"]], *row["token_ids"][:first]]])
            with torch.no_grad():
                logprobs = before(ids).logits[0, -first - 1 : -1].log_softmax(-1)
            chosen = logprobs.gather(-1, ids[0, -first:, None])[:, 0].tolist()
            assert row["sampler_logprobs"][:first] == pytest.approx(chosen, abs=1e-4)
        switched += len({row["policy_last"] for row in rows if not row["carried"]}) > 1
        groups = shape_rewards(
            groups_of(rows, samples), config, bool(metrics["length_penalty_active"])
        )
        advantages = advantages_of(groups, config.advantage)
        batch = build_update(groups, advantages, step, config, encode)
        assert batch is not None
        policy.update(batch)
        policies[step] = copy.deepcopy(again)
    assert switched and bool(mixed) == (new_weights == "token")
    pairs = zip(own.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def groups_of(rows: Sequence[dict[str, Any]], samples: Sequence[Sample]) -> list[Group]:
    """Return the groups that a step trained on, in the order of its update, from the rows of its rollouts."""
    trajectories: dict[str, list[Trajectory]] = {}
    for r in sorted((r for r in rows if r["place"] is not None), key=lambda r: r["place"]):
        answer = Completion(
            r["response"], r["token_ids"], r["sampler_logprobs"], r["finish_reason"]
        )
        verdict = Verdict(r["reward"], r["status"], r["reason"])
        policies = ((0, r["policy_first"]),)
        one = Trajectory(r["sample_index"], answer, verdict, 0.0, policies=policies)
        trajectories.setdefault(r["sample_id"], []).append(one)
    by_id = {s.id: s for s in samples}
    return [Group(by_id[name], tuple(answers)) for name, answers in trajectories.items()]


def trained_on(engine: TrainingLoop) -> list[set[str]]:
    files = rollout_files(engine.parts.folder.path).values()
    return [{row["sample_id"] for row in read_rollouts(file).to_pylist()} for file in files]
