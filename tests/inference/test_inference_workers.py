from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from doubles import Clock

from prorl_common import ServiceError, UserError
from prorl_inference import (
    Completion,
    DeviceGenerator,
    DeviceModel,
    Request,
    SampleRefusedError,
    SamplingParams,
    SamplingPool,
    ServerOptions,
    Worker,
    device_list,
    open_servers,
    sample_batches,
)
from prorl_inference.backends.openai.generator import SPEC
from prorl_inference.backends.openai.testing import FakeServer, Fault
from prorl_inference.workers.device import visible_gpu
from prorl_inference.workers.work import SharedWork

PARAMS = SamplingParams(1.0, 1.0, 8)
REQUESTS = [Request(({"role": "user", "content": f"q{i}"},), (i,)) for i in range(40)]
CHAT = ServerOptions(concurrency=4, patience=5.0)


class Local:
    """A generator in this process; call number ``fail`` raises, and a call takes ``seconds``."""

    def __init__(
        self, seconds: float = 0.0, fail: int = 0, error: Exception | None = None, name: str = "m"
    ) -> None:
        self.model_id, self.model_digest = name, "d"
        self.seconds, self.fail, self.calls = seconds, fail, 0
        self.error = error or ServiceError("the process died")
        self.batches: list[tuple[int, ...]] = []
        self.together: threading.Barrier | None = (
            None  # all workers get a batch before the first one is done
        )

    def generate(
        self,
        requests: Sequence[Request],
        params: SamplingParams,
        on_done: Callable[[int], None] | None = None,
        on_result: Callable[[int, list[Completion]], None] | None = None,
    ) -> list[list[Completion]]:
        self.calls += 1
        if self.calls == self.fail:
            raise self.error
        time.sleep(self.seconds)
        if self.calls == 1 and self.together is not None:
            self.together.wait(60)
        batch = tuple(seed for r in requests for seed in r.seeds)
        self.batches.append(batch)
        answers = [
            [Completion(f"{s} of {batch}", (1,), (0.0,), "stop") for s in r.seeds] for r in requests
        ]
        for index, answer in enumerate(answers):
            if on_done is not None:
                on_done(len(answer))
            if on_result is not None:
                on_result(index, answer)
        return answers

    def sync_weights(self, model: Any) -> None:
        """Nothing to take over."""

    def close(self) -> None:
        """Nothing to free."""


def pool_of(*generators: Local, said: list[str] | None = None) -> SamplingPool:
    def opener(generator: Local) -> Callable[[], Local]:
        return lambda: generator

    workers = [Worker(f"w{n}", opener(g)) for n, g in enumerate(generators)]
    return SamplingPool(workers, "m", "d", (said if said is not None else []).append)


def texts(pool: SamplingPool | Local, width: int = 4) -> dict[tuple[int, int], str]:
    """Return the text of each request of ``REQUESTS`` in batches of ``width``, each reported once."""
    found: dict[tuple[int, int], str] = {}

    def take(batch: int, index: int, completions: list[Completion]) -> None:
        assert (batch, index) not in found
        found[batch, index] = completions[0].text

    batches = [REQUESTS[i : i + width] for i in range(0, len(REQUESTS), width)]
    sample_batches(pool, iter(batches), PARAMS, lambda *_: None, take)
    return found


def test_whoever_is_free_takes_the_next_unit_and_all_is_ended_once() -> None:
    work = SharedWork([[r] for r in REQUESTS[:3]], Clock())
    first, second = work.take(0), work.take(1)
    assert first is not None and second is not None
    assert [first.number, second.number] == [0, 1]
    for worker, unit in ((0, first), (1, second)):
        work.ended(worker, unit)
    third = work.take(1)
    assert third is not None and third.number == 2 and work.take(0) is None and not work.finished
    work.ended(1, third)
    assert work.finished


def test_what_a_lost_worker_had_is_taken_first_by_others_and_it_gets_one_unit_to_prove_itself() -> (
    None
):
    work = SharedWork([[r] for r in REQUESTS[:6]], Clock())
    held = [work.take(0) for _ in range(3)]
    assert work.give_back(0) == 3
    other = work.take(1)
    assert other is held[0]
    trial = work.take(0)
    assert trial is held[1] and work.take(0) is None
    assert trial is not None
    work.ended(0, trial)
    assert work.take(0) is held[2] and work.take(0) is not None


def test_a_unit_held_far_too_long_is_begun_by_a_free_worker_too_and_only_then() -> None:
    clock = Clock()
    work = SharedWork([[r] for r in REQUESTS[:2]], clock)
    slow, quick = work.take(0), work.take(1)
    clock.now = 1.0
    assert quick is not None
    work.ended(1, quick)
    assert work.take(1) is None
    clock.now = 2.1
    assert work.take(1) is slow and work.take(2) is None


def test_a_unit_that_two_hold_too_long_is_begun_by_a_third() -> None:
    clock = Clock()
    work = SharedWork([[r] for r in REQUESTS[:3]], clock)
    hung, *quick = (work.take(n) for n in range(3))
    clock.now = 1.0
    for worker, unit in enumerate(quick, start=1):
        assert unit is not None
        work.ended(worker, unit)
    clock.now = 2.5
    assert work.take(1) is hung and work.take(2) is None
    clock.now = 5.0
    assert work.take(2) is hung


def test_a_server_that_has_ended_nothing_takes_one_unit_that_another_holds_very_long() -> None:
    clock = Clock()
    work = SharedWork([[r] for r in REQUESTS[:2]], clock, untried=15.0)
    devices = SharedWork([[REQUESTS[0]]], clock)
    hung = [work.take(0), work.take(0)]
    assert devices.take(0) is not None
    clock.now = 14.0
    assert work.take(1) is None
    clock.now = 16.0
    assert work.take(1) is hung[0] and work.take(1) is None
    assert devices.take(1) is None
    assert hung[0] is not None
    work.ended(1, hung[0])
    clock.now = 20.1
    assert work.take(1) is hung[1]


def test_results_are_the_same_with_one_two_and_three_workers() -> None:
    alone = texts(Local())
    assert len(alone) == len(REQUESTS)
    for count in (2, 3):
        generators = [Local(0.001) for _ in range(count)]
        barrier = threading.Barrier(count)
        for generator in generators:
            generator.together = barrier
        assert texts(pool_of(*generators)) == alone
        assert all(g.batches for g in generators)


def test_the_batches_of_a_worker_that_dies_go_to_the_others_and_a_line_says_so() -> None:
    said: list[str] = []
    dies = Local(0.005, fail=2)
    assert texts(pool_of(dies, Local(0.005), said=said)) == texts(Local())
    assert said[0].startswith("w0 stopped (the process died): the 4 samples go to")
    assert said[-1].startswith("samples: 4 by w0, 36 by w1")


def test_a_slow_worker_gets_fewer_batches_and_its_last_one_is_not_waited_for() -> None:
    slow, quick = Local(0.5), Local(0.002)
    began = time.monotonic()
    assert texts(pool_of(slow, quick)) == texts(Local())
    assert len(quick.batches) >= 9 and time.monotonic() - began < 5.0


def test_when_every_worker_is_gone_it_is_a_broken_service_that_names_each_reason() -> None:
    with pytest.raises(
        ServiceError, match=r"none of 2 workers is available \(w\d: .*run the same command"
    ):
        texts(pool_of(Local(fail=1), Local(fail=2)))


def test_a_bug_and_a_mistake_end_all_at_once_and_are_no_lost_worker() -> None:
    with pytest.raises(ZeroDivisionError):
        texts(pool_of(Local(fail=1, error=ZeroDivisionError()), Local()))
    with pytest.raises(UserError, match="too hot"):
        texts(pool_of(Local(0.01), Local(fail=1, error=UserError("too hot"))))


def test_an_interruption_reports_what_had_ended() -> None:
    heard: list[int] = []

    def take(batch: int, index: int, _: list[Completion]) -> None:
        heard.append(batch)
        if len(heard) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample_batches(
            pool_of(Local(0.1), Local(0.1)),
            iter([[r] for r in REQUESTS]),
            PARAMS,
            lambda *_: None,
            take,
        )
    assert 3 <= len(heard) < 20 and len(set(heard)) == len(heard)
    assert not [t for t in threading.enumerate() if t.name.startswith("prorl-sampling")]


def slowly(server: FakeServer, seconds: float) -> None:
    plain = server.answer

    def answer(body: Any) -> str:
        time.sleep(seconds)
        return plain(body)

    server.answer = answer


def asked(
    servers: Sequence[FakeServer], options: ServerOptions = CHAT, said: Any = None
) -> SamplingPool:
    return open_servers(SPEC, [s.url for s in servers], options, said or (lambda _: None))


def test_a_slow_server_gets_fewer_samples_and_no_sample_is_paid_twice_without_need(
    servers: list[FakeServer],
) -> None:
    slowly(servers[0], 0.1)
    slowly(servers[1], 0.01)
    with asked(servers[:2]) as pool:
        answers = pool.generate(REQUESTS, PARAMS)
        usage = pool.usage
    assert [a[0].text.split()[-1] for a in answers] == [str(i) for i in range(40)]
    slow, quick = (len(s.bodies) for s in servers[:2])
    assert slow < quick and slow + quick <= 44
    assert usage is not None and usage.answers >= 40


def test_a_server_killed_midway_loses_nothing_and_is_used_again_when_it_is_back(
    servers: list[FakeServer],
) -> None:
    said: list[str] = []
    for server in servers[:2]:
        slowly(server, 0.02)
    died, back = threading.Event(), threading.Event()

    def die(number: int, _: Any) -> Fault | None:
        if number == 5 and not died.is_set():
            died.set()
            threading.Thread(target=servers[0].stop, daemon=True).start()
        return None

    servers[0].script = die
    many = [Request(r.prompt, (1000 + i,)) for i in range(30) for r in REQUESTS[:5]]

    def revive(line: str) -> None:
        said.append(line)
        if "stopped" in line and not back.is_set():
            back.set()
            servers[0].start()

    with asked(servers[:2], said=revive) as pool:
        answers = pool.generate(many, PARAMS)
    assert [a[0].text.split()[-1] for a in answers] == [str(r.seeds[0]) for r in many]
    assert any("stopped" in line and "go to the other workers" in line for line in said)
    assert any(line.endswith("is back") for line in said)


def test_a_server_that_is_not_there_at_the_start_is_left_out(servers: list[FakeServer]) -> None:
    servers[2].stop()
    said: list[str] = []
    with asked(servers, said=said.append) as pool:
        assert len(pool.generate(REQUESTS, PARAMS)) == 40
    assert any("is left out until it answers (connection refused)" in line for line in said)
    assert not servers[2].bodies and all(s.bodies for s in servers[:2])


def test_all_servers_gone_is_a_broken_service_after_the_patience(servers: list[FakeServer]) -> None:
    for server in servers:
        server.script = lambda number, _: Fault(503) if number > 3 else None
    heard: Counter[int] = Counter()
    patient = ServerOptions(concurrency=2, patience=0.6)
    with asked(servers, patient) as pool, pytest.raises(ServiceError, match="none of 3 workers"):
        pool.generate(REQUESTS, PARAMS, None, lambda index, _: heard.update([index]))
    assert len(heard) == 9 and set(heard.values()) == {1}


def refuse_zero(_: int, body: Any) -> Fault | None:
    return Fault(400, "content policy") if body["seed"] == 0 else None


def refuse_all(_: int, body: Any) -> Fault:
    del body
    return Fault(400, "seed is not supported here")


def test_a_sample_that_every_server_refuses_ends_the_call_and_each_was_asked_once(
    servers: list[FakeServer],
) -> None:
    for server in servers:
        server.script = refuse_zero
    with asked(servers) as pool, pytest.raises(SampleRefusedError, match="content policy"):
        pool.generate(REQUESTS, PARAMS)
    assert [sum(body["seed"] == 0 for body in s.bodies) for s in servers] == [1, 1, 1]


@pytest.mark.parametrize("refusals", ["stop", "record"])
def test_what_one_server_refuses_the_others_answer(
    servers: list[FakeServer], refusals: Literal["stop", "record"]
) -> None:
    servers[0].script = refuse_all
    with asked(servers[:2], replace(CHAT, refusals=refusals)) as pool:
        found = pool.generate(REQUESTS, PARAMS)
    assert [c.finish_reason for group in found for c in group] == ["stop"] * len(REQUESTS)
    assert servers[0].bodies and {b["seed"] for b in servers[1].bodies} >= set(range(len(REQUESTS)))


def test_a_recorded_refusal_is_one_of_every_server_that_is_there(servers: list[FakeServer]) -> None:
    for server in servers[:2]:
        server.script = refuse_zero
    with asked(servers[:2], replace(CHAT, refusals="record")) as pool:
        found = pool.generate(REQUESTS, PARAMS)
    reasons = [group[0].finish_reason for group in found]
    assert reasons == ["refused"] + ["stop"] * (len(REQUESTS) - 1)
    assert found[0][0].note == "HTTP 400: content policy"


def test_a_refused_sample_does_not_wait_for_a_server_that_is_gone(
    servers: list[FakeServer],
) -> None:
    servers[0].script = refuse_zero
    slowly(servers[1], 0.3)
    with asked(servers[:2], replace(CHAT, refusals="record", patience=5.0)) as pool:
        servers[1].stop()
        found = pool.generate(REQUESTS, PARAMS)
    assert found[0][0].finish_reason == "refused"


def test_servers_that_refuse_everything_end_the_call_at_once(servers: list[FakeServer]) -> None:
    for server in servers[:2]:
        server.script = refuse_all
    options = replace(CHAT, refusals="record", patience=300.0)
    with asked(servers[:2], options) as pool, pytest.raises(SampleRefusedError, match="settings"):
        pool.generate(REQUESTS, PARAMS)


def test_servers_of_different_models_or_named_twice_are_a_mistake(
    servers: list[FakeServer],
) -> None:
    servers[1].card = {"max_model_len": 77}
    with pytest.raises(UserError, match="serves tiny, and describes it differently"):
        asked(servers[:2])
    with pytest.raises(UserError, match="listed twice"):
        asked([servers[0], servers[0]])


@pytest.mark.parametrize(
    ("text", "found"),
    [("auto", ["auto"]), ("cuda:0, cuda:3", ["cuda:0", "cuda:3"]), ("cpu,cpu", ["cpu", "cpu"])],
)
def test_devices_are_a_list_with_commas(text: str, found: list[str]) -> None:
    assert device_list(text) == found


@pytest.mark.parametrize(
    "text", ["cuda:0,cpu", "cuda,cuda:1", "cuda:1,cuda:1", "auto,cpu", "gpu,cpu", ""]
)
def test_devices_that_cannot_share_an_evaluation_are_a_mistake(text: str) -> None:
    with pytest.raises(UserError):
        device_list(text)


def test_a_worker_sees_the_gpu_that_this_process_numbers_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert visible_gpu(2) == "2"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,GPU-abc")
    assert [visible_gpu(0), visible_gpu(1)] == ["4", "GPU-abc"]


ECHO = """
import os
import signal
from prorl_common import UserError
from prorl_inference import BackendSpec, Completion


class Echo:
    model_id, model_digest = "echo", "d"

    def __init__(self, options):
        self.options = options
        if (options.path / "unreadable").exists():
            raise UserError("the model is unreadable: download it again")

    def generate(self, requests, params, on_done=None, on_result=None):
        print("libraries may print")
        answers = []
        for index, request in enumerate(requests):
            if "die" in request.prompt[0]["content"]:
                os.kill(os.getpid(), signal.SIGKILL)
            if "bug" in request.prompt[0]["content"]:
                raise ZeroDivisionError("a bug")
            answers.append([Completion(f"{s} é", (s,), (-0.1,), "stop") for s in request.seeds])
            on_done(len(request.seeds))
            on_result(index, answers[-1])
        return answers

    def close(self):
        pass


ECHO = BackendSpec("echo_device", Echo)
"""


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder, and a plug-in backend in a file that child processes load."""
    import hashlib

    file = tmp_path / "echo.py"
    file.write_text(ECHO)
    sha = hashlib.sha256(file.read_bytes()).hexdigest()
    monkeypatch.setenv("PRORL_PLUGINS", json.dumps([[str(file), sha]]))
    return tmp_path


def child_of(path: Path) -> DeviceGenerator:
    return DeviceGenerator(DeviceModel(path, "echo_device", "auto", 4), "cpu", "m", "d", 2)


def test_a_worker_process_samples_with_the_plug_ins_of_its_parent(echo: Path) -> None:
    counts: list[int] = []
    heard: list[int] = []
    with child_of(echo) as child:
        answers = child.generate(
            [Request(REQUESTS[0].prompt, (5, 6)), REQUESTS[1]],
            PARAMS,
            counts.append,
            lambda index, _: heard.append(index),
        )
        assert answers[0] == [Completion(f"{s} é", (s,), (-0.1,), "stop") for s in (5, 6)]
        assert (counts, heard) == ([2, 1], [0, 1])
        child.interrupt()  # and starts anew
        assert child.generate([REQUESTS[1]], PARAMS) == [answers[1]]


def test_a_worker_process_that_dies_says_how_and_stays_dead(echo: Path) -> None:
    with child_of(echo) as child:
        for _ in range(2):
            with pytest.raises(ServiceError, match="died \\(signal 9"):
                child.generate([Request(({"role": "user", "content": "die"},), (1,))], PARAMS)
    with (
        child_of(echo) as child,
        pytest.raises(ServiceError, match="ZeroDivisionError: a bug") as e,
    ):
        child.generate([Request(({"role": "user", "content": "bug"},), (1,))], PARAMS)
    assert "Traceback" in e.value.__notes__[0]


def test_a_users_mistake_in_a_worker_process_is_the_parents_mistake(echo: Path) -> None:
    (echo / "unreadable").touch()
    with child_of(echo) as child, pytest.raises(UserError, match="download it again"):
        child.prepare()
    begun = (Completion("", (7,), (-0.5,), "paused"),)
    with child_of(echo) as child, pytest.raises(UserError, match="cannot continue samples"):
        child.generate([replace(REQUESTS[0], begun=begun)], PARAMS)


def test_a_worker_process_ends_with_its_parents_pipe(echo: Path) -> None:
    with child_of(echo) as child:
        child.prepare()
        process = child._process
        assert process is not None and process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0
