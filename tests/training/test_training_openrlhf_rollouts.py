from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from prorl_common import DiskFullError, NullProgress, ServiceError, UserError
from prorl_inference import Request, SamplingParams
from prorl_inference.testing import byte_tokenizer
from prorl_training.config.sampling import RolloutConfig
from prorl_training.engine.openrlhf import events
from prorl_training.engine.openrlhf.driver.rollouts import ClusterGenerator
from prorl_training.engine.openrlhf.driver.run import fault_of, line_of, only_writer
from prorl_training.engine.openrlhf.spec import Spec, current_spec, read_spec

TOKENIZER: Any = byte_tokenizer()
END = 257
LETTERS = TOKENIZER("abc", add_special_tokens=False)["input_ids"]


class FakeEngines:
    """Engines whose futures are closures; the newest finishes first. Stopped requests have their first token."""

    count = 2

    def __init__(self) -> None:
        self.asked: list[tuple[int, list[Any], dict[str, Any]]] = []
        self.stopped: list[int] = []
        self.open = False

    def sample(self, engine: int, samples: Sequence[Any], options: Mapping[str, Any]) -> Any:
        assert self.open
        self.asked.append((engine, list(samples), dict(options)))

        def answers() -> list[tuple[list[int], list[float], str]]:
            if engine in self.stopped:
                return [([LETTERS[0]], [-0.75], "abort") for _ in samples]
            return [([LETTERS[seed % 3], END], [-0.5, -0.25], "stop") for _, seed, _ in samples]

        return answers

    def stop(self, engine: int) -> Any:
        self.stopped.append(engine)
        return lambda: None

    def sampling(self, engine: int) -> Any:
        return lambda: 0

    def done(self, futures: Sequence[Any], wait: float | None) -> list[Any]:
        return [futures[-1]]

    def result(self, future: Any) -> Any:
        return future()

    @contextlib.contextmanager
    def awake(self) -> Iterator[None]:
        self.open = True
        yield
        self.open = False


def generator(engines: FakeEngines, synced: list[int] | None = None) -> ClusterGenerator:
    told = synced if synced is not None else []
    return ClusterGenerator(engines, TOKENIZER, frozenset({END}), 64, lambda: told.append(1))


def ask(text: str, *seeds: int) -> Request:
    return Request([{"role": "user", "content": text}], seeds)


def test_completions_come_in_order_with_text_log_probs_and_ends() -> None:
    engines, order = FakeEngines(), []
    found = generator(engines).generate(
        [ask("x", 0, 1), ask("y", 2)],
        SamplingParams(0.7, 1.0, 8),
        on_result=lambda i, _: order.append(i),
    )
    assert [[c.text for c in row] for row in found] == [["a", "b"], ["c"]]
    assert found[0][0].token_ids == (LETTERS[0], END)
    assert (found[0][0].logprobs, found[0][0].finish_reason) == ((-0.5, -0.25), "stop")
    assert order == [1, 0]
    assert [engine for engine, _, _ in engines.asked] == [0, 1]
    samples, options = engines.asked[0][1:]
    assert [(seed, budget) for _, seed, budget in samples] == [(0, 8), (1, 8)]
    assert (options["temperature"], options["stop_token_ids"]) == (0.7, [END])


def test_what_is_stopped_comes_back_with_its_tokens_and_is_gone_on_with_from_them() -> None:
    engines = FakeEngines()
    with generator(engines).stream(SamplingParams(1.0, 1.0, 8)) as stream:
        stream.submit(4, ask("x", 1, 2))
        stream.submit(7, ask("y", 1))
        assert [key for key, _ in stream.take()] == [7]
        ((key, begun),) = stream.stop()
    assert (key, engines.stopped) == (4, [0])
    assert [(c.token_ids, c.logprobs, c.finish_reason) for c in begun] == [
        ((LETTERS[0],), (-0.75,), "paused")
    ] * 2
    again = FakeEngines()
    request = Request([{"role": "user", "content": "x"}], (1, 2), tuple(begun))
    with generator(again).stream(SamplingParams(1.0, 1.0, 8)) as stream:
        stream.submit(0, request)
        ((_, whole),) = stream.take()
    (tokens, seed, budget), _ = again.asked[0][1]
    assert (tokens[-1], budget) == (LETTERS[0], 7) and seed not in (0, 1)
    assert [c.token_ids[0] for c in whole] == [LETTERS[0]] * 2
    assert whole[0].logprobs == (-0.75, -0.5, -0.25)


def test_a_group_goes_to_the_engine_with_the_fewest_samples() -> None:
    engines = FakeEngines()
    with generator(engines).stream(SamplingParams(1.0, 1.0, 8)) as stream:
        for key, seeds in enumerate([(1, 2, 3), (1,), (1,), (1,)]):
            stream.submit(key, ask("x", *seeds))
        assert stream.running == 6
    assert [engine for engine, _, _ in engines.asked] == [0, 1, 1, 1]
    assert engines.stopped == [0, 1], "leaving a stream gives up what runs"


def test_log_probs_of_a_cut_distribution_are_nan() -> None:
    ((completion,),) = generator(FakeEngines()).generate([ask("x", 0)], SamplingParams(1.0, 0.9, 8))
    assert all(math.isnan(value) for value in completion.logprobs)


def test_an_engine_that_gives_a_sample_up_is_a_service_error() -> None:
    class Aborting(FakeEngines):
        def sample(self, *args: Any) -> Any:
            return lambda: [([1], [-1.0], "abort")]

    with pytest.raises(ServiceError, match="stopped a sample early: finish reason abort"):
        generator(Aborting()).generate([ask("x", 0)], SamplingParams(1.0, 1.0, 8))


def test_weights_are_taken_when_told_to() -> None:
    synced: list[int] = []
    generator(FakeEngines(), synced).sync_weights(None)
    assert synced == [1]


def test_without_request_seeds_as_many_samples_are_asked_for_and_no_seed() -> None:
    class Unseeded(FakeEngines):
        def sample(self, engine: int, samples: Sequence[Any], options: Any) -> Any:
            self.asked.append((engine, list(samples), options))
            return lambda: [([LETTERS[0], END], [-0.5, -0.25], "stop") for _ in samples]

    engines = Unseeded()
    sampler = ClusterGenerator(engines, TOKENIZER, frozenset({END}), 64, lambda: None, False)
    (found,) = sampler.generate([ask("x", 7, 8)], SamplingParams(1.0, 1.0, 8))
    assert len(found) == 2 and [seed for _, seed, _ in engines.asked[0][1]] == [None, None]


@pytest.mark.parametrize(
    ("setting", "cpu", "gpu"),
    [("auto", True, False), ("always", True, True), ("never", False, False)],
)
def test_requests_have_seeds_on_a_cpu_and_on_gpus_only_where_asked_for(
    setting: Any, cpu: bool, gpu: bool
) -> None:
    rollout = RolloutConfig(request_seeds=setting)
    assert (rollout.seeds_on("cpu"), rollout.seeds_on("cuda:1")) == (cpu, gpu)


def test_events_are_replayed_once_and_a_half_written_line_waits(tmp_path: Path) -> None:
    path = tmp_path / events.EVENTS
    progress = events.EventProgress(path)
    progress.start("train", 3)
    progress.advance(1, reward="0.5")
    reader = events.EventReader(path)
    assert [event["kind"] for event in reader.new()] == ["start", "advance"]
    assert list(reader.new()) == []
    with path.open("a") as file:
        file.write(json.dumps({"kind": "message", "text": "hello"})[:10])
    assert list(reader.new()) == []
    for event in [{"kind": "finish"}, {"kind": "message", "text": "x"}]:
        events.replay(event, NullProgress())
    progress.close()


def test_the_first_failure_is_the_one_that_is_told(tmp_path: Path) -> None:
    spec = Spec(str(tmp_path), False, "cpu", ())
    spec.folder.mkdir()
    assert events.read_outcome(spec) is None
    events.report_failure(spec, "a vLLM engine", ValueError("too\nlong"))
    events.report_failure(spec, "the policy", ValueError("waited"))
    outcome = events.read_outcome(spec)
    assert outcome is not None
    assert outcome.error == "a vLLM engine could not start: ValueError: too long"
    assert outcome.fault == "service"
    events.request_stop(spec.folder)
    assert events.stop_is_requested(spec.folder)
    events.clear(spec.folder)
    assert events.read_outcome(spec) is None
    assert not events.stop_is_requested(spec.folder)


def test_a_dying_launch_does_not_speak_for_the_next_one(tmp_path: Path) -> None:
    first, second = (Spec(str(tmp_path), False, "cpu", ()) for _ in range(2))
    first.folder.mkdir()
    events.report_failure(first, "the policy", ValueError("killed"))
    assert events.read_outcome(second) is None


class RayTaskError(Exception):
    """Stub of Ray's error for an exception in one of its processes."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"ray::RolloutActor.score() (pid=7)\n{cause}")
        self.cause = cause


class RayActorError(Exception):
    """Stub of Ray's base class for a dead process."""


class ActorUnavailableError(RayActorError):
    """Stub of Ray's error for a process that cannot be reached."""


@pytest.mark.parametrize(
    ("error", "fault", "line"),
    [
        (RayTaskError(UserError("set PRORL_TOKEN")), "user", "set PRORL_TOKEN"),
        (RayTaskError(ServiceError("no sandbox")), "service", "no sandbox"),
        (ActorUnavailableError("gone"), "service", "ActorUnavailableError: gone"),
        (
            ActorUnavailableError(
                "It died.\n\tclass_name: Policy\n\tnamespace: x\n\tpid: 7\nLong."
            ),
            "service",
            "ActorUnavailableError: It died. (class_name: Policy, pid: 7)",
        ),
        (RayTaskError(DiskFullError("no room")), "disk", "no room"),
        (RayTaskError(OSError(28, "x")), "disk", "[Errno 28] x"),
        (ValueError("x"), "bug", "ValueError('x')"),
    ],
)
def test_an_error_in_another_process_keeps_its_message_and_its_fault(
    error: Exception, fault: str, line: str
) -> None:
    assert (fault_of(error), line_of(error)) == (fault, line)


def test_a_second_trainer_process_waits_and_then_says_who_is_in_its_way(tmp_path: Path) -> None:
    with (
        only_writer(tmp_path),
        pytest.raises(ServiceError, match="another trainer process"),
        only_writer(tmp_path, patience=0.0),
    ):
        pass
    with only_writer(tmp_path, patience=0.0):
        pass


def test_a_spec_comes_back_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Spec(str(tmp_path), True, "cpu", ("--a", "1"), ({"step": 1},))
    path = spec.write()
    assert read_spec(path) == spec
    monkeypatch.setenv("PRORL_OPENRLHF_SPEC", str(path))
    assert current_spec() == spec
    monkeypatch.delenv("PRORL_OPENRLHF_SPEC")
    with pytest.raises(RuntimeError, match="belongs to no cluster run"):
        current_spec()
