"""The sandbox service over real HTTP with a sandbox of our making: what it refuses, how it waits, whom it ends."""

from __future__ import annotations

import asyncio
import copy
import http.client
import json
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Self

import pytest

from prorl_common import MissingExtraError, UserError
from prorl_sandbox import (
    Budget,
    Call,
    Case,
    Check,
    IsolationError,
    Limits,
    Outcome,
    Program,
    SandboxError,
    Stdin,
)
from prorl_sandbox.remote.asking import AskingSandbox, Submission, pack_asked
from prorl_sandbox.remote.protocol import PROTOCOL
from prorl_sandbox.remote.sandbox import RemoteSandbox
from prorl_sandbox.run.cancelling import CancelledError, cancellable
from prorl_sandbox.serve.options import ServeOptions, check_options
from prorl_sandbox.types import Project, ProjectOutcome, SessionEndedError, TestResult

for _module in ("starlette", "uvicorn", "prometheus_client"):
    pytest.importorskip(_module, reason="the extra 'server' is not installed")

from prorl_common.serving.server import make_server
from prorl_sandbox.serve.app import build_app
from prorl_sandbox.serve.service import Service

JSON = {"Content-Type": "application/json"}
Reply = tuple[int, dict[str, str], Any]


class FakeBox:
    """Runs until it is killed."""

    def __init__(self) -> None:
        self.killed = threading.Event()

    def kill(self, reason: str) -> None:
        self.killed.set()


class FakeSession:
    """Answers with what it is told; 'end' ends it."""

    ended: str | None = None

    def run(self, source: str, limits: Limits | None = None) -> Outcome:
        if self.ended is not None:
            raise SessionEndedError(f"the session is over: {self.ended}")
        if source == "end":
            self.ended = "message 1 ended it"
        return Outcome("ok", stdout=source, value={1: (2,)}, isolation="fake+seccomp")

    def fork(self) -> FakeSession:
        return FakeSession()

    def close(self) -> None:
        self.ended = self.ended or "it was closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FakeSandbox(AskingSandbox):
    """Echoes the source; 'hold' waits for ``release``, 'broken' is a sandbox that fails, 'bug' one of ours."""

    def __init__(self, isolation: str = "fake+seccomp") -> None:
        self.isolation = isolation
        self.release = threading.Event()
        self.healthy = True
        self.ran: list[str] = []
        self.killed = 0
        self.opened: list[FakeSession] = []

    def close(self) -> None:
        self.release.set()

    def _ask(self, submission: Submission) -> Generator[Outcome, None, None]:
        source = submission.program.source
        for _ in submission.cases:
            if source == "print(6 * 7)" and self.healthy:
                yield Outcome("ok", stdout="42\n")
                continue
            if source.startswith("hold"):
                self._hold()
            self.ran.append(source)
            if source == "broken" or not self.healthy:
                raise SandboxError("no box")
            if source == "bug":
                raise RuntimeError("a bug of ours")
            text = "x" * int(source.split()[1]) if source.startswith("long") else source
            yield Outcome("ok", stdout=text, isolation=self.isolation)

    def check_environment(self, name: str) -> None:
        if name != "stdlib":
            raise UserError(f"no environment {name}: build it")

    def open_session(
        self,
        limits: Limits = Limits(),  # noqa: B008
        environment: str = "stdlib",
        *,
        idle_seconds: float = 600.0,
        total_seconds: float = 3600.0,
    ) -> FakeSession:
        self.check_environment(environment)
        self.opened.append(FakeSession())
        return self.opened[-1]

    def run_project(self, project: Project, limits: Limits = Limits()) -> ProjectOutcome:  # noqa: B008
        return ProjectOutcome(
            Outcome("ok", stdout=" ".join(project.build), isolation=self.isolation),
            None,
            tuple(TestResult(name, "passed") for name in project.tests),
        )

    def _hold(self) -> None:
        box = FakeBox()
        try:
            with cancellable([box]):
                while not self.release.wait(0.01) and not box.killed.is_set():
                    pass
        except CancelledError:
            self.killed += 1
            raise


class Running:
    """A service with its event loop in a thread."""

    def __init__(self, sandbox: FakeSandbox, options: ServeOptions) -> None:
        self.sandbox = sandbox
        self.lines: list[str] = []
        self._options = options
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._sock.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self._thread.start()
        assert self._up.wait(30)

    async def _main(self) -> None:
        self.service = Service(self.sandbox, self._options, self.lines.append)
        self.server = make_server(build_app(self.service), self.service.drain, self.lines.append)
        task = asyncio.create_task(self.server.serve(sockets=[self._sock]))
        await self.service.became_ready.wait()
        self._up.set()
        await task

    def signal(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def stop(self) -> None:
        self.sandbox.close()
        if not self.service.traffic.draining:
            self.signal()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def ask(
        self, path: str, body: Any = None, headers: dict[str, str] | None = None, method: str = ""
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        verb = method or ("GET" if body is None else "POST")
        connection.request(verb, path, data, JSON if headers is None else headers)
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        found = {name.lower(): value for name, value in response.getheaders()}
        kind = found.get("content-type", "")
        if kind.endswith("ndjson"):
            return response.status, found, [json.loads(row) for row in raw.split(b"\n") if row]
        return response.status, found, json.loads(raw) if kind.endswith("json") else raw.decode()

    def wait_until(self, what: Callable[[], Any], seconds: float = 30.0) -> None:
        limit = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < limit
            time.sleep(0.01)


@contextmanager
def running(isolation: str = "fake+seccomp", **options: Any) -> Iterator[Running]:
    found = Running(FakeSandbox(isolation), ServeOptions(**{"slots": 2, **options}))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    with running(max_body_mb=0.25, queue=100) as found:
        yield found


def job(source: str, cases: Sequence[Case] = (Stdin(),), **limits: Any) -> dict[str, Any]:
    return pack_asked(Submission(Program(source), tuple(cases), Limits(**limits)))


_names = iter(range(10**9))


def request(*jobs: Any, **other: Any) -> dict[str, Any]:
    return {"protocol": PROTOCOL, "id": f"r{next(_names)}", "jobs": [*jobs], **other}


def outcomes(found: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return sorted((row["job"], row["outcome"]["stdout"]) for row in found[1:])


def test_the_state_comes_first_and_then_each_answer(shared: Running) -> None:
    jobs = [job("a"), job("b", [Stdin("1"), Call("f", (2,)), Check("c", "f")]), job("c")]
    status, headers, found = shared.ask("/run", request(*jobs))
    assert status == 200 and headers["x-accel-buffering"] == "no"
    assert found[0]["protocol"] == PROTOCOL and found[0]["isolation"] == "fake+seccomp"
    assert outcomes(found) == [(0, "a"), (1, "b"), (1, "b"), (1, "b"), (2, "c")]
    assert shared.ask("/run", request())[2][0]["status"] == "ready"


def test_an_answer_comes_while_others_run() -> None:
    with running() as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        body = json.dumps(request(job("hold"), job("quick"))).encode()
        connection.request("POST", "/run", body, JSON)
        response = connection.getresponse()
        assert json.loads(response.readline())["status"] == "ready"
        assert json.loads(response.readline())["outcome"]["stdout"] == "quick"
        served.sandbox.release.set()
        assert json.loads(response.readline())["outcome"]["stdout"] == "hold"
        assert response.read() == b""
        connection.close()


def spoiled(place: str, value: Any) -> dict[str, Any]:
    """A good job with one part replaced, named like "program.source"."""
    found = copy.deepcopy(job("a", [Call("f", (1,))]))
    part: Any = found
    *way, last = place.split(".")
    for name in way:
        part = part[int(name)] if isinstance(part, list) else part[name]
    if value is KeyError:
        del part[last]
    else:
        part[last] = value
    return found


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not valid JSON"),
        (b"[" * 100_000, 400, "not valid JSON"),
        (b"\xff\xfe\x00", 400, "not valid JSON"),
        (b'{"protocol": NaN}', 400, "not valid JSON"),
        ([], 422, "JSON object of id, jobs, protocol"),
        ({"jobs": []}, 422, "JSON object of id, jobs, protocol"),
        (request(protocol=PROTOCOL + 1), 400, "same version of prorl"),
        (request(protocol={"a": 1}), 400, "same version"),
        (request(id=7), 422, "'id'"),
        (request(id="x" * 65), 422, "'id'"),
        (request(jobs={}), 422, "list"),
        (request(job("a"), 7), 422, "job 1"),
        (request(job("a"), {}), 422, "job 1"),
        (request(spoiled("program.source", 7)), 422, "source: must be str"),
        (request(spoiled("program.source", KeyError)), 422, "is no program"),
        (request(spoiled("program.more", 1)), 422, "is no program"),
        (request(spoiled("program.args", {"t": "tuple", "v": []})), 422, "list"),
        (request(spoiled("program.args", [{"t": "int", "v": "zz"}])), 422, "no value"),
        (request(spoiled("program.args", [{"t": "code", "v": []}])), 422, "no value"),
        (request(spoiled("cases", [])), 422, "at least one"),
        (request(spoiled("cases", [{"stdin": {"text": 1}}])), 422, "text: must be str"),
        (request(spoiled("cases", [{"pickle": {}}])), 422, "no case"),
        (request(spoiled("limits.wall_seconds", "1")), 422, "finite number"),
        (request(spoiled("limits.wall_seconds", 10**400)), 422, "finite number"),
        (request(spoiled("limits.memory_mb", 1.5)), 422, "must be int"),
        (request(spoiled("limits.memory_mb", True)), 422, "must be int"),
        (request(spoiled("limits.output_kb", 10**6)), 422, "at most"),
        (request(spoiled("budget", {"cpu_seconds": 1})), 422, "is no budget"),
        (request(*[job("a")] * 101), 413, "at most 100"),
    ],
)
def test_what_is_malformed_is_refused_in_a_line(
    shared: Running, body: Any, status: int, words: str
) -> None:
    found = shared.ask("/run", body)
    assert found[0] == status and words in found[2]["error"]
    assert "\n" not in found[2]["error"] and not shared.lines[2:]


def test_bodies_are_json_of_a_bounded_size(shared: Running) -> None:
    assert shared.ask("/run", b"{}", {"Content-Type": "text/plain"})[0] == 415
    assert shared.ask("/run", b"{}", JSON | {"Content-Encoding": "gzip"})[0] == 415
    assert shared.ask("/run", request(job("a" * 300_000)))[0] == 413
    assert shared.ask("/run", method="PUT")[0] == 405
    status, _, found = shared.ask("/nowhere")
    assert status == 404 and "POST /run" in found["error"]
    shared.wait_until(lambda: shared.service.traffic.held_bytes == 0)


def test_spoiled_requests_are_refused_or_run_and_never_a_fault(shared: Running) -> None:
    draw = random.Random(7)
    whole = json.dumps(request(job("a", [Call("f", ({1: (2.5, {3})}, b"x"))]))).encode()
    words = [
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"null",
        b"-1",
        b"1e999",
        b"\\u0000",
        b"\xff",
    ]
    seen = set()
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            data[at : at + draw.randint(0, 6)] = draw.choice(words)
        seen.add(shared.ask("/run", bytes(data))[0])
    assert seen <= {200, 400, 413, 422} and {200, 400, 422} <= seen
    assert not shared.lines[2:]


def test_values_of_any_kind_cross_to_the_service_and_back() -> None:
    seen: list[Submission] = []
    with running() as served:
        ask = served.sandbox._ask

        def keep(submission: Submission) -> Generator[Outcome, None, None]:
            if submission.program.source == "mine":
                seen.append(submission)
            return ask(submission)

        served.sandbox._ask = keep  # type: ignore[method-assign]
        args = (None, True, 2**200, 1.5, float("inf"), "é\ud800", [1, (2,)], {1: {2, 3}}, b"x", 2j)
        cases: list[Case] = [Stdin("\x00ü"), Call("f", args), Check("check", "f")]
        program, limits = Program("mine", "in"), Limits(wall_seconds=3, memory_mb=17)
        with RemoteSandbox([served.url]) as remote:
            list(remote.run_cases(program, cases, limits, Budget(2.0, 9.5)))
    assert seen == [Submission(program, tuple(cases), limits, Budget(2.0, 9.5))]


def test_a_token_guards_all_but_the_state() -> None:
    token = "s" * 20
    right = JSON | {"Authorization": f"Bearer {token}"}
    with running(token=token) as served:
        assert served.ask("/healthz")[2]["free"] == 2
        for headers in (
            JSON,
            JSON | {"Authorization": "Bearer nope"},
            JSON | {"Authorization": ""},
        ):
            for path in ("/run", "/cancel"):
                assert served.ask(path, request(), headers)[0] == 401
        assert served.ask("/metrics")[0] == 401
        assert served.ask("/run", request(job("a")), right)[0] == 200


def test_a_full_queue_is_429_and_the_client_waits_without_counting_an_outage() -> None:
    with running(queue=2) as served, ThreadPoolExecutor(3) as threads:
        held = [threads.submit(served.ask, "/run", request(job("hold"), job("hold")))]
        served.wait_until(lambda: served.service.hello().free == 0)
        held.append(threads.submit(served.ask, "/run", request(job("hold"), job("hold"))))
        served.wait_until(lambda: served.service.hello().queued == 2)
        status, headers, found = served.ask("/run", request(job("a")))
        assert status == 429 and int(headers["retry-after"]) >= 1 and "full" in found["error"]
        with RemoteSandbox([served.url], patience=0.0) as remote:  # not even a moment of outage
            work = threads.submit(remote.run, Program("mine"))
            time.sleep(1.5)
            assert not work.done()
            served.sandbox.release.set()
            assert work.result(30).stdout == "mine"
        assert [len(one.result()[2]) for one in held] == [3, 3]


def test_a_queue_that_stays_full_is_an_outage_after_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prorl_sandbox.remote.dispatch.WAIT_SECONDS", 1.0)
    with running(queue=2) as served, ThreadPoolExecutor(2) as threads:
        for _ in range(2):
            threads.submit(served.ask, "/run", request(job("hold"), job("hold")))
            served.wait_until(lambda: served.service.hello().free == 0)
        served.wait_until(lambda: served.service.hello().queued == 2)
        with (
            RemoteSandbox([served.url]) as remote,
            pytest.raises(SandboxError, match=r"had room for 1 s.*full"),
        ):
            remote.run(Program("mine"))
        served.sandbox.release.set()


def test_clients_take_turns() -> None:
    with running(queue=1000) as served, ThreadPoolExecutor(2) as threads:
        many = threads.submit(
            served.ask, "/run", request(*[job(f"hold {n}") for n in range(500)]), JSON
        )
        served.wait_until(lambda: served.service.hello().queued > 400)
        headers = JSON | {"X-Client-Id": "other"}
        small = threads.submit(served.ask, "/run", request(job("small")), headers)
        served.wait_until(lambda: served.service.hello().queued > 498)
        served.sandbox.release.set()
        assert small.result()[0] == many.result()[0] == 200
        assert served.sandbox.ran.index("small") < 20


def test_what_a_client_that_leaves_has_sent_is_killed_or_never_run() -> None:
    with running() as served:
        body = json.dumps(request(*[job("hold")] * 50)).encode()
        head = f"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        with socket.create_connection(("127.0.0.1", served.port)) as sock:
            sock.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
            served.wait_until(lambda: served.service.hello().free == 0)
        served.wait_until(lambda: served.service.hello().free == 2, seconds=1.0)
        assert served.sandbox.killed == 2 and served.sandbox.ran == []
        assert served.ask("/run", request(job("a")))[0] == 200


def test_one_job_of_a_request_can_be_cancelled() -> None:
    with running() as served, ThreadPoolExecutor(1) as threads:
        asked = request(job("hold 0"), job("hold 1"), job("hold 2"))
        work = threads.submit(served.ask, "/run", asked)
        served.wait_until(lambda: served.service.hello().free == 0)
        assert served.ask("/cancel", {"id": asked["id"], "jobs": [0, 2, 99, -1]})[0] == 200
        served.wait_until(lambda: served.sandbox.killed == 1)
        assert served.ask("/cancel", {"id": asked["id"], "jobs": "all"})[0] == 422
        assert served.ask("/cancel", {"id": "of nobody", "jobs": [0]})[0] == 200
        served.sandbox.release.set()
        assert outcomes(work.result()[2]) == [(1, "hold 1")]


def test_a_client_that_does_not_read_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prorl_sandbox.serve.stream._SEND_SECONDS", 0.3)
    with running() as served:
        body = json.dumps(request(*[job("long 3000000", output_kb=4096)] * 8)).encode()
        head = f"POST /run HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        with socket.create_connection(("127.0.0.1", served.port)) as sock:
            sock.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
            served.wait_until(lambda: served.service.traffic.in_flight == 1)
            served.wait_until(lambda: served.service.traffic.in_flight == 0)
        assert served.ask("/run", request(job("a")))[0] == 200


def test_answers_that_nobody_takes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prorl_sandbox.serve.service._MOST_UNSENT", 1_000_000)
    with running() as served:
        found = served.ask("/run", request(job("long 2000000", output_kb=4096)))
        assert found[0] == 200 and any("does not take" in line for line in served.lines)


def test_a_bug_of_ours_leaves_a_traceback_and_no_reward() -> None:
    with running() as served, RemoteSandbox([served.url]) as remote:
        with pytest.raises(SandboxError, match="RuntimeError: a bug of ours"):
            remote.run(Program("bug"))
        assert any("Traceback" in line for line in served.lines)
        assert remote.run(Program("a")).stdout == "a"


def test_a_sandbox_that_keeps_failing_makes_the_service_unready_until_it_works() -> None:
    with running() as served, RemoteSandbox([served.url]) as remote:
        served.sandbox.healthy = False
        for _ in range(10):
            with pytest.raises(SandboxError, match="no box"):
                remote.run(Program("a"))
        served.wait_until(lambda: served.ask("/healthz")[0] == 503)
        status, _, found = served.ask("/run", request(job("a")))
        assert status == 503 and "does not work" in found["error"]
        served.sandbox.healthy = True
        assert remote.run(Program("a")).stdout == "a"  # waits for it
        assert any("ready again" in line for line in served.lines)


def test_a_job_that_one_services_sandbox_fails_at_goes_to_another() -> None:
    with running() as broken, running() as sound:
        with RemoteSandbox([broken.url, sound.url]) as remote:
            broken.sandbox.healthy = False
            assert [remote.run(Program(f"{n}")).stdout for n in range(20)] == [
                f"{n}" for n in range(20)
            ]
        assert sound.sandbox.ran


def test_the_less_loaded_service_gets_more() -> None:
    with (
        running(slots=2) as small,
        running(slots=6) as large,
        ThreadPoolExecutor(64) as threads,
        RemoteSandbox([small.url, large.url]) as remote,
    ):
        work = [threads.submit(remote.run, Program("hold")) for _ in range(64)]
        both = (small, large)
        small.wait_until(lambda: sum(one.service.hello().queued for one in both) == 56)
        shares = [one.service.hello().queued for one in both]
        for one in both:
            one.sandbox.release.set()
        assert {one.result().stdout for one in work} == {"hold"}
    assert shares[1] > 1.5 * shares[0]


def test_draining_refuses_new_work_and_what_outlasts_it_is_not_answered() -> None:
    with running(drain_seconds=0.3) as served, ThreadPoolExecutor(1) as threads:
        held = threads.submit(served.ask, "/run", request(job("hold")))
        served.wait_until(lambda: served.service.hello().free == 1)
        served.signal()
        served.wait_until(lambda: served.service.traffic.draining)
        status, headers, _ = served.ask("/run", request(job("a")))
        assert status == 503 and "retry-after" in headers
        assert len(held.result()[2]) == 1  # the state alone
        served.wait_until(lambda: served.sandbox.killed == 1)


def test_weak_walls_are_refused_unless_they_are_allowed() -> None:
    with running("weak:seccomp+rlimits") as weak, running("namespaces+seccomp+cgroup") as strong:
        with pytest.raises(IsolationError, match="weak:seccomp"):
            RemoteSandbox([strong.url, weak.url])
        with RemoteSandbox([strong.url, weak.url], allow_weak=True) as remote:
            assert remote.isolation == "remote:weak:seccomp+rlimits"
        with RemoteSandbox([strong.url], patience=0.2) as remote:
            strong.sandbox.isolation = "weak:"
            with pytest.raises(SandboxError, match="its isolation is weak"):
                remote.run(Program("a"))


def test_sessions_and_their_forks_are_answered_and_end_with_their_client() -> None:
    with running() as served:
        with RemoteSandbox([served.url]) as remote:
            with remote.open_session() as session:
                outcome = session.run("hello")
                assert (outcome.stdout, outcome.value) == ("hello", {1: (2,)})
                assert outcome.isolation == "remote:fake+seccomp"
                fork = session.fork()
                assert fork.run("twin").stdout == "twin"
                assert served.service.sessions.count == 2
                fork.close()
                with pytest.raises(SessionEndedError, match="it was closed"):
                    fork.run("more")
                assert session.run("end").stdout == "end"
                assert session.ended == "message 1 ended it"
                with pytest.raises(SessionEndedError, match="message 1 ended it"):
                    session.run("more")
            left = remote.open_session()
            with pytest.raises(UserError, match="no environment lab"):
                remote.open_session(environment="lab")
        with pytest.raises(SessionEndedError, match="closed"):
            left.run("more")
        served.wait_until(lambda: served.service.sessions.count == 0)
        served.wait_until(lambda: all(one.ended for one in served.sandbox.opened))


def test_a_session_whose_service_is_gone_is_over() -> None:
    with running(drain_seconds=0.2) as served, RemoteSandbox([served.url]) as remote:
        session = remote.open_session()
        served.signal()
        served.wait_until(lambda: session.ended is not None)
        with pytest.raises(SessionEndedError):
            session.run("more")


def test_a_session_of_another_is_not_to_be_guessed(shared: Running) -> None:
    for path, more in (("run", {"source": "x", "limits": None}), ("fork", {}), ("close", {})):
        found = shared.ask(f"/session/{path}", {"session": "0" * 32, **more})
        assert found[0] == 404 and "no such session" in found[2]["error"]
    wrong = {"session": "x", "source": 7, "limits": None}
    assert shared.ask("/session/run", wrong)[0] == 422
    assert shared.ask("/session", {"protocol": PROTOCOL})[0] == 422
    opening = {"limits": {}, "environment": "stdlib", "idle_seconds": 1, "total_seconds": 1}
    assert shared.ask("/session", {"protocol": PROTOCOL, **opening})[0] == 422
    assert shared.ask("/environment", {"name": 7})[0] == 422


def test_projects_and_environments_are_asked_for_in_the_same_way(shared: Running) -> None:
    project = Project({"a.py": "x = 1"}, ("make", "it"), tests={"test_a.py": "..."})
    with RemoteSandbox([shared.url]) as remote:
        outcome = remote.run_project(project)
        remote.check_environment("stdlib")
        with pytest.raises(UserError, match=r"http.*no environment lab: build it"):
            remote.check_environment("lab")
    assert outcome.build is not None and outcome.run is None
    assert (outcome.build.stdout, outcome.build.isolation) == ("make it", "remote:fake+seccomp")
    assert outcome.tests == (TestResult("test_a.py", "passed"),)


def test_options_that_make_no_sense_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from prorl_sandbox.serve import run

    for options, words in (
        ({"host": "0.0.0.0"}, "token"),
        ({"token": "short"}, "16 ASCII"),
        ({"slots": 1}, "at least 2"),
        ({"queue": 0}, "--queue"),
        ({"backend": "remote:http://h"}, "local or docker"),
    ):
        with pytest.raises(UserError, match=words):
            check_options(ServeOptions(**options))
    assert "secret" not in str(
        asdict(ServeOptions()) | {"options": ServeOptions(token="secret" * 4)}
    )
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"prorl\[server\]"):
        run.serve(ServeOptions())
