from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from prorl_common import MissingExtraError, ServiceError, UserError
from prorl_common.serving.options import is_loopback, read_token
from prorl_verifiers import Task, TaskError, Verdict
from prorl_verifiers.adapters import ScorerOptions
from prorl_verifiers.pool.stats import PoolStats
from prorl_verifiers.remote_pool import RemotePool, read_verdict, scoring_parts
from prorl_verifiers.serve.options import ServeOptions, check_options

for _module in ("starlette", "uvicorn", "prometheus_client"):
    pytest.importorskip(_module, reason="the extra 'server' is not installed")

from prorl_common.serving.server import make_server
from prorl_verifiers.serve.service import CODE_PROBE, PROBE, Service
from prorl_verifiers.serve.wire import read_verify

FOUR = Task("math", {"answer": "4"})
ROW = {"task": {"verifier": "math", "reference": {"answer": "4"}}, "response": "4"}
UNKNOWN_PART = {"verifier": "mth", "reference": {}}
JSON = {"Content-Type": "application/json"}
Reply = tuple[int, dict[str, str], Any]


class FakePool:
    """Accept responses equal to the answer. 'hold' waits for ``release``; 'broken' has no verdict."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.scored: list[str] = []
        self.stats = PoolStats(workers=1, worker_kills=3)

    async def score_async(self, items: Sequence[tuple[str, Task]]) -> list[Verdict]:
        return [await asyncio.to_thread(self._one, item) for item in items]

    def _one(self, item: tuple[str, Task]) -> Verdict:
        text, task = item
        if item in (PROBE, CODE_PROBE):
            return Verdict(1.0, "scored", "probe")
        if text.startswith("hold"):
            assert self.release.wait(60)
        self.scored.append(text)
        if text == "broken":
            return Verdict(None, "infra_error", "the worker died")
        if text == "bug":
            raise RuntimeError("a bug")
        if text == "refused":
            raise UserError("code cannot be isolated here")
        right = float(text.endswith(str(task.reference["answer"])))
        return Verdict(right, "scored", "fake", text, "fake", {}, 0.01)


class Running:
    """A service with its event loop in a thread."""

    def __init__(self, pool: FakePool, options: ServeOptions) -> None:
        self.pool = pool
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
        self.service = Service(self.pool, self._options, self.lines.append)
        await self.service.start()
        app, say = self.service.app(), self.lines.append
        self.server = make_server(app, self._options, self._up.set, say)
        await self.server.serve(sockets=[self._sock])

    def signal(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def stop(self) -> None:
        self.pool.release.set()
        if self.server.ending is None:
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
        is_json = found.get("content-type") == "application/json"
        return response.status, found, json.loads(raw) if is_json else raw.decode()

    def wait_until(self, what: Any) -> None:
        limit = time.monotonic() + 30
        while not what():
            assert time.monotonic() < limit
            time.sleep(0.01)


@contextlib.contextmanager
def running(**options: Any) -> Iterator[Running]:
    found = Running(FakePool(), ServeOptions(**{"workers": 1, **options}))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    with running(max_body_mb=0.25, queue=5000) as found:
        yield found


def test_a_batch_is_answered_in_order_with_its_ids(shared: Running) -> None:
    rows = [ROW | {"id": n, "response": f"{n} {n % 2 + 4}"} for n in range(60)]
    status, _, found = shared.ask("/verify", {"items": rows})
    assert status == 200
    assert [row["id"] for row in found["verdicts"]] == list(range(60))
    assert [row["reward"] for row in found["verdicts"]] == [float(n % 2 == 0) for n in range(60)]
    keys = {"id", "reward", "status", "reason", "extracted", "metrics", "seconds"}
    assert set(found["verdicts"][0]) == {*keys, "isolation"}


def test_one_item_and_no_item_are_batches_too(shared: Running) -> None:
    status, _, found = shared.ask("/verify", ROW)
    assert status == 200 and [row["reward"] for row in found["verdicts"]] == [1.0]
    assert "id" not in found["verdicts"][0]
    assert shared.ask("/verify", {"items": []})[::2] == (200, {"verdicts": []})


def test_no_verdict_is_null_in_verify_and_503_for_openrlhf(shared: Running) -> None:
    broken = ROW | {"response": "broken"}
    status, _, found = shared.ask("/verify", {"items": [broken, ROW]})
    assert status == 200
    assert [row["reward"] for row in found["verdicts"]] == [None, 1.0]
    assert found["verdicts"][0]["status"] == "infra_error"
    label = json.dumps(ROW["task"])
    body = {"query": ["Q broken", "Q 4"], "prompts": ["Q ", "Q "], "labels": [label, label]}
    status, headers, found = shared.ask("/openrlhf", body)
    assert status == 503 and int(headers["retry-after"]) >= 1
    assert "item 0" in found["error"] and "rewards" not in found


def test_openrlhf_gets_lists_of_floats(shared: Running) -> None:
    label = json.dumps(ROW["task"])
    body = {
        "query": ["Q: 4<|im_end|>", "Q: 5"],
        "prompts": ["Q:", "Q:"],
        "labels": [label, ROW["task"]],
    }
    status, _, found = shared.ask("/openrlhf", body)
    assert status == 200
    assert found["rewards"] == found["scores"] == [1.0, 0.0]
    assert {len(values) for values in found["extra_logs"].values()} == {2}


def gym_request(text: str, task: Any = ROW["task"]) -> dict[str, Any]:
    """A request of NeMo-Gym after a rollout that called a tool."""
    answer = [{"type": "output_text", "text": text, "annotations": []}]
    output = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "5"}]},
        {"type": "function_call", "call_id": "1", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "4"},
        {"type": "message", "role": "assistant", "content": answer},
    ]
    row = {"responses_create_params": {"input": "2+2?"}, "task": task, "level": 3}
    return row | {"response": {"id": "r", "output": output}}


def test_nemo_gym_gets_its_request_back_with_a_reward_for_the_last_message(shared: Running) -> None:
    assert shared.ask("/seed_session", {"task": ROW["task"]})[::2] == (200, {})
    session = {"resources_session_id": "s1", "task_data": {}}
    assert shared.ask("/seed_session", session)[2] == {"resources_session_id": "s1"}
    for text, reward in (("4", 1.0), ("5", 0.0)):
        status, _, found = shared.ask("/verify", gym_request(text))
        verdict = found.pop("verdict")
        assert status == 200 and found == gym_request(text) | {"reward": reward}
        assert (verdict["reward"], verdict["status"]) == (reward, "scored")
    row = gym_request("4", None) | {"verifier": "math", "reference": {"answer": "4"}}
    del row["task"]
    assert shared.ask("/verify", row)[2]["reward"] == 1.0
    status, headers, found = shared.ask("/verify", gym_request("broken"))
    assert status == 503 and int(headers["retry-after"]) >= 1 and "reward" not in found


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/verify", gym_request("4", {"verifier": "mth", "reference": {}}), 422, "did you mean"),
        ("/verify", gym_request("4") | {"response": {"output": 1}}, 422, "'output'"),
        ("/verify", b"{", 400, "not valid JSON"),
        ("/verify", b"[" * 100_000, 400, "not valid JSON"),
        ("/verify", b"\xff\xfe", 400, "not valid JSON"),
        ("/verify", b'{"items": NaN}', 400, "not valid JSON"),
        ("/verify", [ROW], 400, "object"),
        ("/verify", {"items": {}}, 422, "list"),
        ("/verify", {"items": [ROW, {"task": ROW["task"]}]}, 422, "item 1: 'response'"),
        (
            "/verify",
            {"items": [ROW, ROW | {"task": {"verifier": "math"}}]},
            422,
            "item 1: the task",
        ),
        ("/verify", ROW | {"task": {"verifier": "mth", "reference": {}}}, 422, "did you mean"),
        ("/verify", ROW | {"task": {"verifier": "code", "reference": {"tests": []}}}, 422, "code"),
        (
            "/verify",
            ROW | {"task": {"verifier": "composite", "reference": {"parts": [UNKNOWN_PART]}}},
            422,
            "part 'mth'",
        ),
        ("/verify", ROW | {"id": [1]}, 422, "'id'"),
        ("/verify", {"items": [7]}, 422, "item 0"),
        ("/openrlhf", {"query": ["a"]}, 422, "lists"),
        ("/openrlhf", {"query": ["a"], "prompts": [], "labels": []}, 422, "same length"),
        ("/openrlhf", {"query": ["a"], "prompts": ["a"], "labels": [""]}, 422, "label_key"),
        ("/openrlhf", {"query": ["a"], "prompts": ["b"], "labels": ["{}"]}, 422, "prompt"),
        ("/openrlhf", {"query": [1], "prompts": ["b"], "labels": ["{}"]}, 422, "strings"),
    ],
)
def test_what_is_malformed_is_refused_with_the_item_and_the_reason(
    shared: Running, path: str, body: Any, status: int, words: str
) -> None:
    found = shared.ask(path, body)
    assert found[0] == status and words in found[2]["error"]


def test_lone_surrogates_and_null_bytes_are_answered(shared: Running) -> None:
    body = b'{"task": {"verifier": "math", "reference": {"answer": "4"}}, "response": "\\ud800\\u0000 4"}'
    status, _, found = shared.ask("/verify", body)
    assert status == 200 and found["verdicts"][0]["reward"] == 1.0


def test_only_json_is_read(shared: Running) -> None:
    assert shared.ask("/verify", b"{}", {"Content-Type": "text/plain"})[0] == 415
    assert shared.ask("/verify", b"{}", JSON | {"Content-Encoding": "gzip"})[0] == 415
    status, _, found = shared.ask("/nowhere")
    assert status == 404 and "/verify" in found["error"]
    assert shared.ask("/verify", method="PUT")[0] == 405


def chunked(port: int, chunks: int, size: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        sock.sendall(
            b"POST /verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        for _ in range(chunks):
            sock.sendall(f"{size:x}\r\n".encode() + b" " * size + b"\r\n")
        sock.sendall(b"0\r\n\r\n")
        return sock.recv(4096)


def test_a_body_that_is_too_large_is_413_declared_or_streamed(shared: Running) -> None:
    assert shared.ask("/verify", b" " * 300_000)[0] == 413
    assert chunked(shared.port, 30, 10_000).startswith(b"HTTP/1.1 413")
    assert shared.ask("/verify", ROW)[0] == 200
    shared.wait_until(lambda: shared.service.bodies.held == 0)


def test_a_refusal_of_the_pool_is_501_with_its_cure(shared: Running) -> None:
    status, _, found = shared.ask("/verify", ROW | {"response": "refused"})
    assert status == 501 and "isolated" in found["error"]
    assert shared.ask("/verify", ROW)[0] == 200


def test_metrics_count_items_and_answers_in_prometheus_text(shared: Running) -> None:
    shared.ask("/verify", ROW)
    status, headers, text = shared.ask("/metrics")
    assert status == 200 and headers["content-type"].startswith("text/plain")
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(lines['prorl_verify_items_total{status="scored",verifier="math"}']) >= 1
    assert float(lines['prorl_verify_requests_total{code="200",endpoint="verify"}']) >= 1
    assert float(lines["prorl_verify_worker_kills"]) == 3
    assert float(lines["prorl_verify_queue_items"]) == 0
    assert 'prorl_verify_reward_bucket{le="1.0",verifier="math"}' in lines


def test_a_token_guards_all_but_healthz() -> None:
    token = "s" * 20
    with running(token=token) as served:
        assert served.ask("/healthz")[::2] == (200, {"status": "ready"})
        for headers in (
            JSON,
            JSON | {"Authorization": "Bearer nope"},
            JSON | {"Authorization": ""},
        ):
            assert served.ask("/verify", ROW, headers)[0] == 401
        assert served.ask("/metrics")[0] == 401
        assert served.ask("/verify", ROW, JSON | {"Authorization": f"Bearer {token}"})[0] == 200
        with RemotePool([served.url], token) as remote:
            assert remote.score([("4", FOUR)])[0].reward == 1.0
        with (
            RemotePool([served.url], "wrong") as remote,
            pytest.raises(UserError, match="PRORL_TOKEN"),
        ):
            remote.score([("4", FOUR)])


def test_a_full_queue_is_503_with_retry_after_and_takes_work_again() -> None:
    with running(queue=6) as served, ThreadPoolExecutor(2) as threads:
        held = threads.submit(served.ask, "/verify", {"items": [ROW | {"response": "hold 4"}] * 5})
        served.wait_until(lambda: served.service.unanswered == 5)
        status, headers, found = served.ask("/verify", {"items": [ROW] * 2})
        assert status == 503 and int(headers["retry-after"]) >= 1 and "full" in found["error"]
        assert served.ask("/verify", ROW)[0] == 200
        assert served.ask("/verify", {"items": [ROW] * 7})[0] == 413
        served.pool.release.set()
        assert held.result()[0] == 200
        assert served.ask("/verify", {"items": [ROW] * 6})[0] == 200


def test_what_has_not_begun_is_dropped_when_the_client_leaves() -> None:
    with running() as served:
        body = json.dumps({"items": [ROW | {"response": "hold 4"}] * 500}).encode()
        sock = socket.create_connection(("127.0.0.1", served.port))
        head = f"POST /verify HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        sock.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        served.wait_until(lambda: served.service.unanswered)
        sock.close()
        served.wait_until(lambda: served.service.unanswered == 0)
        served.pool.release.set()
        served.wait_until(lambda: served.service.unanswered == 0)
        assert len(served.pool.scored) < 20
        assert served.ask("/verify", ROW)[0] == 200


def test_a_slow_body_is_408() -> None:
    with running(read_seconds=0.2) as served:
        with socket.create_connection(("127.0.0.1", served.port), timeout=60) as sock:
            sock.sendall(
                b"POST /verify HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n"
                b"Content-Type: application/json\r\n\r\n{"
            )
            assert sock.recv(4096).startswith(b"HTTP/1.1 408")
        assert served.ask("/verify", ROW)[0] == 200


def test_a_service_that_ends_finishes_what_it_took_and_lets_nobody_in() -> None:
    with running() as served, ThreadPoolExecutor(1) as threads:
        held = threads.submit(served.ask, "/verify", {"items": [ROW | {"response": "hold 4"}] * 9})
        served.wait_until(lambda: served.service.unanswered)
        served.signal()
        served.wait_until(lambda: served.ask("/healthz")[0] == 503)
        status, headers, _ = served.ask("/verify", ROW)
        assert status == 503 and "retry-after" in headers
        served.pool.release.set()
        status, _, found = held.result()
        assert status == 200 and [row["reward"] for row in found["verdicts"]] == [1.0] * 9


def test_what_outlasts_the_time_to_end_is_answered_with_503() -> None:
    with running(drain_seconds=0.2) as served, ThreadPoolExecutor(1) as threads:
        held = threads.submit(served.ask, "/verify", {"items": [ROW | {"response": "hold 4"}] * 9})
        served.wait_until(lambda: served.service.unanswered)
        served.signal()
        status, headers, found = held.result()
        assert status == 503 and "retry-after" in headers and "shut down" in found["error"]
        served.wait_until(lambda: any("not everything" in line for line in served.lines))


def test_many_infra_errors_make_it_unready_until_a_probe_succeeds() -> None:
    with running() as served:
        served.ask("/verify", {"items": [ROW | {"response": "broken"}] * 10})
        assert any("not ready" in line for line in served.lines)
        served.wait_until(lambda: served.ask("/healthz")[0] == 200)


def test_the_remote_pool_keeps_the_order_and_reports_every_item(shared: Running) -> None:
    items = [(f"{n} {n % 2 + 4}", FOUR) for n in range(700)]
    done: list[int] = []
    with RemotePool([shared.url]) as remote:
        remote.require([FOUR])
        verdicts = remote.score(items, lambda index, _: done.append(index))
    assert [v.reward for v in verdicts] == [float(n % 2 == 0) for n in range(700)]
    assert verdicts[0] == Verdict(1.0, "scored", "fake", "0 4", "fake", {}, 0.01)
    assert sorted(done) == list(range(700))


def test_the_remote_pool_names_a_malformed_task_and_a_refused_request(shared: Running) -> None:
    with RemotePool([shared.url]) as remote:
        with pytest.raises(TaskError, match="did you mean"):
            remote.score([("4", Task("math", {"answers": "4"}))])
        with pytest.raises(UserError, match="larger"):
            remote.score([("4" * 300_000, FOUR)])
    with pytest.raises(UserError, match="http://HOST:8421"):
        RemotePool(["127.0.0.1:8421"])
    with pytest.raises(UserError, match="at least one"):
        RemotePool([])


def test_several_servers_share_the_load_and_a_dead_one_is_left_out(shared: Running) -> None:
    said: list[str] = []
    items = [(f"{n} 4", FOUR) for n in range(200)]
    with running() as second:
        before = len(shared.pool.scored)
        dead = "http://127.0.0.1:9"
        with RemotePool([shared.url, dead, second.url], say=said.append) as remote:
            remote.require([FOUR])
            assert {v.reward for v in remote.score(items)} == {1.0}
        assert len(shared.pool.scored) > before and second.pool.scored
    assert said[0].startswith(f"reward server {dead} does not answer (connection refused)")
    assert said[1].startswith(f"reward server {dead} is lost: the others take over")


def test_without_any_server_there_is_an_error_and_no_reward(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("prorl_verifiers.replicas.PATIENCE", 0.5)
    with RemotePool(["http://127.0.0.1:9"]) as remote:
        with pytest.raises(ServiceError, match="start it with prorl verify serve"):
            remote.require([FOUR])
        with pytest.raises(ServiceError, match="no verdict for"):
            remote.score([("4", FOUR)])


def test_a_server_that_is_full_is_waited_for_as_long_as_it_asks() -> None:
    with running(queue=1) as served, RemotePool([served.url]) as remote:
        held = threading.Thread(target=served.ask, args=("/verify", ROW | {"response": "hold 4"}))
        held.start()
        served.wait_until(lambda: served.service.unanswered)
        threading.Timer(0.5, served.pool.release.set).start()
        assert remote.score([("4", FOUR)])[0].reward == 1.0
        held.join()


def test_a_request_has_the_clients_modes_and_whether_the_thinking_is_open(shared: Running) -> None:
    body = {"items": [ROW], "modes": {"math": "either"}, "think_open": True}
    batch = read_verify(json.dumps(body).encode(), {"math": "strict"})
    ((text, task),) = batch.items
    assert text.startswith("<think>") and task.reference["mode"] == "either"
    bare = read_verify(json.dumps({"items": [ROW], "modes": {}}).encode(), {"math": "either"})
    assert "mode" not in bare.items[0][1].reference
    refused: tuple[dict[str, Any], ...] = (
        {"modes": {"math": "no"}},
        {"modes": []},
        {"think_open": 1},
        {"parts": [{}]},
    )
    for wrong in refused:
        assert shared.ask("/verify", {"items": [ROW]} | wrong)[0] == 422


def test_other_versions_of_prorl_or_of_a_plugin_are_refused_in_one_line(
    shared: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = scoring_parts([FOUR])
    assert shared.ask("/verify", {"items": [ROW], "parts": parts})[0] == 200
    plugin = {
        "group": "prorl.verifiers",
        "name": "poem",
        "source": "poem.py",
        "version": "sha256:1",
    }
    status, _, found = shared.ask("/verify", {"items": [ROW], "parts": [*parts, plugin]})
    assert status == 412 and "'poem' is not the same here" in found["error"]
    other = [parts[0] | {"version": "9.9"}]
    monkeypatch.setattr("prorl_verifiers.remote_pool.scoring_parts", lambda tasks: other)
    with (
        RemotePool([shared.url]) as remote,
        pytest.raises(UserError, match=r"prorl 9\.9") as caught,
    ):
        remote.score([("4", FOUR)])
    assert "\n" not in str(caught.value)


def test_another_address_than_loopback_needs_a_token() -> None:
    with pytest.raises(UserError, match="token"):
        check_options(ServeOptions(host="0.0.0.0"))
    check_options(ServeOptions(host="0.0.0.0", token="x" * 32))
    check_options(ServeOptions(uds=Path("/tmp/x")))
    with pytest.raises(UserError, match="16"):
        check_options(ServeOptions(token="short"))
    assert is_loopback("127.0.0.1") and is_loopback("::1") and is_loopback("localhost")
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org")))


def test_a_token_file_is_read_when_only_its_owner_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text("secret-of-twenty-chars\n")
    file.chmod(0o644)
    with pytest.raises(UserError, match="chmod 600"):
        read_token(file)
    file.chmod(0o600)
    assert read_token(file) == "secret-of-twenty-chars"
    file.write_text("\n")
    with pytest.raises(UserError, match="empty"):
        read_token(file)
    with pytest.raises(UserError, match="cannot read"):
        read_token(tmp_path / "none")
    monkeypatch.setenv("PRORL_TOKEN", "from-the-environment")
    assert read_token(None) == "from-the-environment"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from prorl_verifiers.serve import run

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"prorl\[server\]"):
        run.serve(ServeOptions())


def test_the_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    from prorl_cli.verify.app import serve

    seen: list[ServeOptions] = []
    monkeypatch.setattr("prorl_verifiers.serve.run.serve", seen.append)
    app = typer.Typer()
    app.command()(serve)
    arguments = ["--port", "0", "--workers", "3", "--mode", "math=either", "--queue", "9"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert (seen[0].port, seen[0].workers, seen[0].queue) == (0, 3, 9)
    assert seen[0].modes == {"math": "either"} and seen[0].host == "127.0.0.1"
    wrong = CliRunner().invoke(app, ["--mode", "math=lax"])
    assert isinstance(wrong.exception, UserError) and not seen[1:]


START = """
import sys
from pathlib import Path
from prorl_verifiers.serve.options import ServeOptions
from prorl_verifiers.serve.run import serve
kind, where, ready = sys.argv[1:]
place = {"uds": Path(where)} if kind == "uds" else {"port": int(where)}
serve(ServeOptions(workers=2, timeout=30, ready_file=Path(ready), **place))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["port", "uds"])
def test_the_whole_service_scores_with_the_real_pool_and_ends_on_sigterm(
    tmp_path: Path, kind: str
) -> None:
    ready, where = tmp_path / "ready", "0" if kind == "port" else str(tmp_path / "s")
    command = [sys.executable, "-c", START, kind, where, str(ready)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        limit = time.monotonic() + 90
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < limit
            time.sleep(0.05)
        remote = RemotePool([ready.read_text().strip()])
        program = "```python\nprint(int(input()) + 1)\n```"
        tests = Task("code", {"tests": [{"stdin": "3", "stdout": "4"}]})
        items = [(r"\boxed{4}", FOUR), (r"\boxed{5}", FOUR), ("nothing", FOUR), (program, tests)]
        verdicts = remote.score(items)
        remote.close()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=90)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    assert [v.reward for v in verdicts[:3]] == [1.0, 0.0, 0.0]
    assert verdicts[3].reward == 1.0 or "isol" in err
    assert process.returncode == 0 and "stopped" in err and "Traceback" not in err
    assert out.strip() == (f"unix:{where}" if kind == "uds" else ready_line(err))
    assert kind == "port" or not os.path.exists(where)


@pytest.mark.slow
def test_a_service_that_is_not_ready_yet_ends_cleanly_on_sigterm(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START, "uds", str(tmp_path / "s"), str(tmp_path / "ready")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and "starting" in process.stderr.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 0 and "stopped" in errors and "Traceback" not in errors
    assert not list(tmp_path.iterdir())


def ready_line(err: str) -> str:
    return err.split("listening on ", 1)[1].split("\n", 1)[0]


def test_a_port_in_use_is_one_line_with_the_cure() -> None:
    from prorl_verifiers.serve.run import serve

    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UserError, match="--port"):
        serve(ServeOptions(port=taken.getsockname()[1]))


def test_who_is_refused_before_the_body_is_read_gets_to_read_why() -> None:
    large = [("a" * 8_000_000, FOUR)]
    headers = JSON | {"Authorization": f"Bearer {'s' * 20}"}
    with running(token="s" * 20) as served, ThreadPoolExecutor(1) as threads:
        with (
            RemotePool([served.url], "wrong") as remote,
            pytest.raises(UserError, match="PRORL_TOKEN"),
        ):
            remote.score(large)
        threads.submit(served.ask, "/verify", ROW | {"response": "hold 4"}, headers)
        served.wait_until(lambda: served.service.unanswered)
        served.signal()
        served.wait_until(lambda: served.ask("/healthz")[0] == 503)
        body = ROW | {"response": "a" * 8_000_000}
        status, _, found = served.ask("/verify", body, headers)
        assert status == 503 and "shutting down" in found["error"]
        served.pool.release.set()


def test_bodies_count_until_they_are_answered() -> None:
    with running() as served, ThreadPoolExecutor(1) as threads:
        body = json.dumps(ROW | {"response": "hold 4"}).encode()
        held = threads.submit(served.ask, "/verify", body)
        served.wait_until(lambda: served.service.unanswered)
        assert served.service.bodies.held == len(body)
        served.service.bodies.held += 1 << 30
        status, headers, found = served.ask("/verify", ROW)
        assert status == 503 and int(headers["retry-after"]) >= 1 and "large" in found["error"]
        served.service.bodies.held -= 1 << 30
        served.pool.release.set()
        assert held.result()[0] == 200
        served.wait_until(lambda: served.service.bodies.held == 0)


def test_what_is_too_large_at_once_is_sent_in_halves(shared: Running) -> None:
    items = [(" " * 40_000 + str(number), FOUR) for number in range(40)]
    with RemotePool([shared.url]) as remote:
        assert [v.reward for v in remote.score(items)] == [
            float(number % 10 == 4) for number in range(40)
        ]
        with pytest.raises(UserError, match="larger"):
            remote.score([("a" * 300_000, FOUR)])


def test_a_bug_is_counted_as_500(shared: Running) -> None:
    assert shared.ask("/verify", ROW | {"response": "bug"})[0] == 500
    text = shared.ask("/metrics")[2]
    assert 'prorl_verify_requests_total{code="500",endpoint="verify"} 1.0' in text
    assert "prorl_verify_doubtful 0.0" in text


def test_tokens_are_stripped_and_never_shown() -> None:
    with running(token="s" * 20) as served, RemotePool([served.url], "s" * 20 + "\n") as remote:
        assert remote.score([("4", FOUR)])[0].reward == 1.0
    with pytest.raises(UserError) as caught:
        RemotePool(["http://127.0.0.1:9"], "secret\nsecret")
    assert "secret" not in str(caught.value)
    assert "secret" not in repr(ServeOptions(token="secret"))
    assert "secret" not in repr(ScorerOptions(token="secret"))


def test_an_address_that_is_none_is_refused_at_once() -> None:
    for url in ("http://host:port", "http://[::1", "host:80", ""):
        with pytest.raises(UserError, match="HOST:8421"):
            RemotePool([url])


@pytest.mark.parametrize(
    "change",
    [
        {"reward": None},
        {"reward": 2.0},
        {"reward": True},
        {"reward": "1"},
        {"reward": float("nan")},
        {"status": "judged"},
        {"status": "infra_error"},
        {"metrics": None},
        {"seconds": float("inf")},
    ],
)
def test_a_row_that_is_no_verdict_is_refused(change: dict[str, Any]) -> None:
    row: dict[str, Any] = {"status": "scored", "reason": "", "extracted": None, "isolation": ""}
    row |= {"reward": 1.0, "metrics": {}, "seconds": 0.1}
    assert read_verdict(row).reward == 1.0
    with pytest.raises((KeyError, TypeError, ValueError)):
        read_verdict(row | change)


def test_the_modes_of_the_service_are_written_into_tasks_when_they_are_read() -> None:
    body = json.dumps(ROW).encode()
    assert read_verify(body, {"math": "either"}).items[0][1].reference["mode"] == "either"


def test_sizes_that_are_no_numbers_are_refused() -> None:
    for options in (ServeOptions(max_body_mb=float("nan")), ServeOptions(max_body_mb=float("inf"))):
        with pytest.raises(UserError, match="max-body-mb"):
            check_options(options)


@pytest.mark.slow
def test_a_ready_file_that_cannot_be_written_ends_the_service(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-c", START, "port", "0", str(tmp_path / "file" / "ready")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1 and "UserError: cannot write" in run.stderr
