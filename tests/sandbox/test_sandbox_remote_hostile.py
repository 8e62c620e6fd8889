"""A client of the sandbox service whose server lies: it neither hangs nor crashes, and makes no reward of it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox import Limits, Outcome, Program, SandboxError
from prorl_sandbox.remote import exchange, sandbox, servers
from prorl_sandbox.remote.codec import pack_outcome
from prorl_sandbox.remote.protocol import PROTOCOL, Hello
from prorl_sandbox.remote.sandbox import RemoteSandbox

HELLO = Hello(PROTOCOL, "0", "ready", "namespaces+seccomp", 2, 2, 0, 100)
LIMITS = Limits(wall_seconds=1.0, output_kb=4)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
Answer = Callable[[socket.socket, bool], None]


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def line(value: Any) -> bytes:
    return chunk((value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n")


def greeting(hello: Any = None) -> bytes:
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + line(hello or asdict(HELLO))


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Answer each request as told; the second argument says whether it holds a job."""

    def talk(near: socket.socket) -> None:
        with near:
            near.settimeout(20)
            try:
                while True:
                    data = b""
                    while b"\r\n\r\n" not in data:
                        part = near.recv(1 << 16)
                        if not part:
                            return
                        data += part
                    head, _, body = data.partition(b"\r\n\r\n")
                    sizes = [
                        h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length")
                    ]
                    size = int(sizes[0].split(b":")[1])
                    while len(body) < size:
                        body += near.recv(1 << 16)
                    answer(near, b'"program"' in body)
            except OSError:
                return

    def listen() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(near,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(autouse=True)
def in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "OPEN_SECONDS", 1.5)
    monkeypatch.setattr(servers, "SILENCE_SECONDS", 1.0)


def drip(near: socket.socket, with_job: bool) -> None:
    near.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(100):
        near.sendall(chunk(b" "))
        time.sleep(0.1)


STRANGERS: dict[str, Any] = {
    "another protocol": greeting(asdict(HELLO) | {"protocol": PROTOCOL + 1}) + b"0\r\n\r\n",
    "no state": HEAD + b"Content-Length: 0\r\n\r\n",
    "a page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 14\r\n\r\n<html></html>\n",
    "garbage": b"\x00\x01\x02 nonsense\r\n\r\n",
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n",
    "not found": b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    "a fault": b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
    "a state of wrong types": greeting(asdict(HELLO) | {"slots": "many"}) + b"0\r\n\r\n",
    "a state with more": greeting(asdict(HELLO) | {"more": 1}) + b"0\r\n\r\n",
    "a list": greeting([1, 2]) + b"0\r\n\r\n",
    "an endless line": HEAD + b"Content-Length: 999999\r\n\r\n" + b" " * 70_000,
    "silence": b"",
    "one blank after another": drip,
}


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_no_service_is_told_at_once(name: str) -> None:
    said = STRANGERS[name]
    answer = said if callable(said) else lambda near, _: near.sendall(said)
    began = time.monotonic()
    with serving(answer) as url, pytest.raises(UserError, match="service") as found:
        RemoteSandbox([url]).run(Program("print(1)"), LIMITS)
    assert time.monotonic() - began < 10
    assert "\n" not in str(found.value) and len(str(found.value)) < 600


OK = pack_outcome(Outcome("ok", stdout="1\n"))
LIES: dict[str, bytes] = {
    "no answer": b"0\r\n\r\n",
    "a torn answer": b"ff\r\n{",
    "an endless line": b"ffffff\r\n" + b" " * 6_000_000,
    "no JSON": line(b"{nonsense"),
    "a bare constant": line(b'{"job": 0, "outcome": NaN}'),
    "nested without end": line(b"[" * 50_000),
    "a list": line([]),
    "an answer to another job": line({"job": 1, "outcome": OK}),
    "a job that is no number": line({"job": True, "outcome": OK}),
    "an outcome of wrong types": line({"job": 0, "outcome": OK | {"wall_seconds": "1"}}),
    "an outcome with an unknown status": line({"job": 0, "outcome": OK | {"status": "great"}}),
    "an outcome with more": line({"job": 0, "outcome": OK | {"reward": 1}}),
    "neither outcome nor error": line({"job": 0, "verdict": 1}),
    "an error of an unknown kind": line({"job": 0, "error": "x", "kind": "os"}),
    "an error that is no text": line({"job": 0, "error": [1], "kind": "user"}),
    "an answer longer than the job allows": line(
        {"job": 0, "outcome": OK | {"stdout": "x" * 10**7}}
    ),
    "the sandbox failed": line({"job": 0, "error": "no box", "kind": "sandbox"}) + b"0\r\n\r\n",
}


@pytest.mark.parametrize("name", LIES)
def test_an_answer_that_is_none_is_an_outage(name: str) -> None:
    def answer(near: socket.socket, with_job: bool) -> None:
        near.sendall(greeting() + (LIES[name] if with_job else b"0\r\n\r\n"))
        if with_job:
            near.shutdown(socket.SHUT_WR)

    with (
        serving(answer) as url,
        RemoteSandbox([url], patience=0.2) as remote,
        pytest.raises(SandboxError),
    ):
        remote.run(Program("print(1)"), LIMITS)


def test_a_second_answer_to_a_job_changes_nothing() -> None:
    def answer(near: socket.socket, with_job: bool) -> None:
        second = line({"job": 0, "outcome": OK | {"stdout": "2\n"}})
        lines = line({"job": 0, "outcome": OK}) + second if with_job else b""
        near.sendall(greeting() + lines + b"0\r\n\r\n")

    with serving(answer) as url, RemoteSandbox([url], patience=5.0) as remote:
        assert [remote.run(Program("1"), LIMITS).stdout for _ in range(3)] == ["1\n"] * 3


def test_a_value_that_breaks_the_rules_is_the_programs_own() -> None:
    def answer(near: socket.socket, with_job: bool) -> None:
        deep: Any = 1
        for _ in range(200):
            deep = [deep]
        lines = line({"job": 0, "outcome": OK | {"value": deep}}) if with_job else b""
        near.sendall(greeting() + lines + b"0\r\n\r\n")

    with serving(answer) as url, RemoteSandbox([url]) as remote:
        outcome = remote.run(Program("1"), LIMITS)
    assert (outcome.status, outcome.value) == ("protocol-error", None)


def test_a_service_that_goes_silent_or_only_shows_life_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def answer(near: socket.socket, with_job: bool) -> None:
        near.sendall(greeting() + (b"" if with_job else b"0\r\n\r\n"))
        while with_job and lively:
            near.sendall(line(b""))
            time.sleep(0.05)

    for lively in (False, True):
        with serving(answer) as url, RemoteSandbox([url], patience=0.2) as remote:
            if lively:
                monkeypatch.setattr(exchange, "WAIT_SECONDS", -1000.0)
            with pytest.raises(SandboxError):
                remote.run(Program("print(1)"), LIMITS)


def test_a_program_under_which_services_die_is_given_up() -> None:
    deaths = []

    def answer(near: socket.socket, with_job: bool) -> None:
        near.sendall(greeting() + (b"" if with_job else b"0\r\n\r\n"))
        if with_job:
            deaths.append(1)
            near.shutdown(socket.SHUT_RDWR)

    with (
        serving(answer) as one,
        serving(answer) as two,
        RemoteSandbox([one, two]) as remote,
        pytest.raises(SandboxError, match="3 sandbox services failed under it"),
    ):
        remote.run(Program("print(1)"), LIMITS)
    assert len(deaths) == 3


def test_the_token_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(near: socket.socket, _: bool) -> None:
        body = b'{"error": "who is topsecret-topsecret?"}'
        near.sendall(b"HTTP/1.1 403 No\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    monkeypatch.setenv("PRORL_TOKEN", "topsecret-topsecret")
    with serving(answer) as url, pytest.raises(UserError) as found:
        RemoteSandbox([url])
    assert "topsecret" not in str(found.value) and "403" in str(found.value)
