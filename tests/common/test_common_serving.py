from __future__ import annotations

import asyncio
import contextlib
import http.client
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

for _module in ("starlette", "uvicorn", "prometheus_client"):
    pytest.importorskip(_module, reason="the extra 'server' is not installed")

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from prorl_common.serving.connections import _peer
from prorl_common.serving.options import ConnectionLimits, ListenOptions
from prorl_common.serving.server import make_server

SHORT = ConnectionLimits(most=100, idle=0.5, header=0.5, body=0.5, answer=0.5, leftover=0.5)
HEAD = b"POST /take HTTP/1.1\r\nHost: localhost\r\n"
LARGE = 32 * 1024 * 1024


async def _healthz(_: Request) -> Response:
    return PlainTextResponse("ready")


async def _take(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def _large(_: Request) -> Response:
    return Response(b"x" * LARGE)


class Running:
    """A service with three routes in its own thread."""

    def __init__(self, options: ListenOptions) -> None:
        self._options = options
        self._up = threading.Event()
        self._sock = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._sock.getsockname()[1]
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self._thread.start()
        assert self._up.wait(30)

    async def _main(self) -> None:
        routes = [Route("/healthz", _healthz), Route("/large", _large)]
        app = Starlette(routes=[*routes, Route("/take", _take, methods=["POST"])])
        self.server = make_server(app, self._options, self._up.set, print)
        await self.server.serve(sockets=[self._sock])

    def stop(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)
        self._thread.join(30)
        assert not self._thread.is_alive()

    def connect(self, data: bytes = b"") -> socket.socket:
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        sock.sendall(data)
        return sock

    def healthz(self, **headers: str) -> tuple[int, str]:
        return healthz(self.port, **headers)


def healthz(port: int, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/healthz", headers=headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


@contextlib.contextmanager
def running(limits: ConnectionLimits = SHORT, **options: Any) -> Iterator[Running]:
    found = Running(ListenOptions(port=0, queue=1, connections=limits, **options))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def short() -> Iterator[Running]:
    with running() as found:
        yield found


def until_closed(sock: socket.socket, drip: bytes = b"") -> bytes:
    """Return the bytes the service sends until it closes, sending ``drip`` byte by byte meanwhile."""
    sock.settimeout(0.05)
    received = bytearray()
    limit = time.monotonic() + 20
    with sock:
        for at in range(10**9):
            assert time.monotonic() < limit, "the connection is still open"
            with contextlib.suppress(TimeoutError):
                try:
                    if drip:
                        sock.sendall(drip[at % len(drip) :][:1])
                    part = sock.recv(1 << 16)
                except (ConnectionResetError, BrokenPipeError):
                    break
                if not part:
                    break
                received += part
    return bytes(received)


def count_received(sock: socket.socket, pause: float = 0.0) -> int:
    """Return the number of bytes the service sends until it closes the connection."""
    count = 0
    with contextlib.suppress(ConnectionResetError):
        while part := sock.recv(1 << 20):
            count += len(part)
            time.sleep(pause)
    return count


@pytest.mark.parametrize(
    ("sent", "drip"),
    [
        (b"", b""),
        (b"GET /hea", b""),
        (b"GET /healthz HTTP/1.1\r\n", b"X-A: b\r\n"),
        (HEAD + b"Content-Length: 100000\r\n\r\n{", b""),
        (HEAD + b"Content-Length: 100000\r\n\r\n{", b" "),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b""),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /healthz HTTP/1.1\r\nX: a\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n", b" "),
    ],
    ids=[
        "no byte",
        "a part of a header",
        "a header byte by byte",
        "a part of a body",
        "a body byte by byte",
        "chunks without an end",
        "nothing after an answer",
        "a second header byte by byte",
        "a body that nobody waits for",
    ],
)
def test_a_connection_that_makes_the_service_wait_is_closed(
    short: Running, sent: bytes, drip: bytes
) -> None:
    until_closed(short.connect(sent), drip)
    assert short.healthz() == (200, "ready")


def test_an_answer_that_is_not_read_is_dropped_and_one_that_is_read_slowly_arrives() -> None:
    with running(ConnectionLimits(answer=1.5)) as served:
        request = b"GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        stuck, slow = served.connect(request), served.connect(request)
        started = time.monotonic()
        with stuck, slow:
            assert count_received(slow, pause=0.06) > LARGE
            assert time.monotonic() - started > 1.5
            time.sleep(max(0.0, started + 4 - time.monotonic()))
            assert count_received(stuck) < LARGE


def test_a_header_without_end_and_rubbish_are_refused_at_once(short: Running) -> None:
    assert until_closed(short.connect(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000)).startswith(
        b"HTTP/1.1 400"
    )
    assert until_closed(short.connect(b"\x16\x03\x01rubbish\r\n\r\n")).startswith(b"HTTP/1.1 400")
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    until_closed(short.connect(chunked))
    assert short.healthz() == (200, "ready")


def test_requests_sent_before_an_answer_came_are_not_read(short: Running) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert until_closed(short.connect(request * 5000)).count(b"HTTP/1.1 200") <= 1


def test_requests_one_after_the_other_share_a_connection() -> None:
    with running(ConnectionLimits()) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        connection.connect()
        sock = connection.sock
        for size in (1, 100_000, 0, 3):
            connection.request("POST", "/take", b" " * size)
            assert connection.getresponse().read() == str(size).encode()
        assert connection.sock is sock
        connection.close()


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", HEAD + b"Content-Length: 9\r\n\r\n"], ids=["none", "header", "body"]
)
def test_healthz_is_answered_however_many_connections_stay_half_open(sent: bytes) -> None:
    patient = ConnectionLimits(most=100, header=60.0, body=60.0, leftover=60.0)
    with running(patient) as served, contextlib.ExitStack() as stack:
        for _ in range(300):
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                stack.enter_context(served.connect(sent))
        assert served.healthz() == (200, "ready")


def test_a_peer_with_its_share_of_incomplete_requests_is_refused_and_those_are_finished() -> None:
    patient = ConnectionLimits(most=128, body=60.0, leftover=0.2)
    with running(patient) as served:
        bodies = [served.connect(HEAD + b"Content-Length: 2\r\n\r\n ") for _ in range(32)]
        served.healthz()
        answer = until_closed(served.connect(HEAD + b"Content-Length: 2\r\n\r\n "))
        assert answer.startswith(b"HTTP/1.1 503") and b"retry-after: 1" in answer.lower()
        for sock in bodies:
            with sock:
                sock.sendall(b" ")
                assert sock.recv(4096).startswith(b"HTTP/1.1 200")


def test_an_address_or_a_network_is_one_peer() -> None:
    assert _peer(("10.0.0.1", 1)) == _peer(("::ffff:10.0.0.1", 2)) != _peer(("10.0.0.2", 1))
    assert _peer(("2001:db8::1", 1)) == _peer(("2001:db8::2", 1)) != _peer(("2001:db8:0:1::1", 1))
    assert _peer(("fe80::1%eth0", 1)) and _peer(None) == ""


FEW_FILES = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[2])))
sys.path.insert(0, sys.argv[3])
from test_common_serving import Running
from prorl_common.serving.options import ListenOptions
served = Running(ListenOptions(port=0, queue=1))
print(served.port, resource.getrlimit(resource.RLIMIT_NOFILE)[0], flush=True)
sys.stdin.read()
served.stop()
"""


@pytest.mark.parametrize(("soft", "hard"), [(256, 256), (256, 8192)])
def test_2000_half_open_connections_leave_a_service_with_few_file_descriptors_well(
    soft: int, hard: int
) -> None:
    command = [sys.executable, "-c", FEW_FILES, str(soft), str(hard), str(Path(__file__).parent)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port, files = map(int, process.stdout.readline().split())
        assert files == min(hard, 4096 + 1024)
        with contextlib.ExitStack() as stack:
            for number in range(2000 if soft_limit() > 2100 else 600):
                with contextlib.suppress(ConnectionResetError):
                    stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
                if number % 100 == 99:
                    assert healthz(port) == (200, "ready")
            assert len(os.listdir(f"/proc/{process.pid}/fd")) < min(hard, 1400)
            assert healthz(port) == (200, "ready")
    finally:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and not errors


def soft_limit() -> int:
    """Return the limit of open files, raised if possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


@pytest.mark.parametrize(
    ("options", "headers", "status"),
    [
        ({}, {}, 200),
        ({}, {"Host": "localhost:9"}, 200),
        ({}, {"Host": "[::1]:9"}, 200),
        ({}, {"Host": "127.0.0.2"}, 200),
        ({}, {"Host": "evil.example"}, 421),
        ({}, {"Host": "evil.example:8421"}, 421),
        ({}, {"Host": "127.0.0.1.evil.example"}, 421),
        ({}, {"Host": "[::1"}, 421),
        ({}, {"Host": "10.0.0.1"}, 421),
        ({"hosts": ("Box.example",)}, {"Host": "box.example:80"}, 200),
        ({"token": "s" * 20}, {"Host": "box.example:80"}, 200),
        ({}, {"Host": "localhost:9", "Origin": "http://localhost:9"}, 200),
        ({}, {"Host": "localhost:9", "Origin": "http://localhost:10"}, 403),
        ({}, {"Origin": "http://evil.example"}, 403),
        ({}, {"Origin": "null"}, 403),
        ({}, {"Origin": "http://[::1"}, 403),
        ({"token": "s" * 20}, {"Origin": "http://evil.example"}, 403),
        ({"hosts": ("box.example",)}, {"Origin": "https://box.example"}, 200),
    ],
)
def test_only_own_hosts_and_pages_may_ask(
    options: dict[str, Any], headers: dict[str, str], status: int
) -> None:
    with running(**options) as served:
        found, text = served.healthz(**headers)
    assert found == status
    assert status == 200 or "--allow-host" in text
