from __future__ import annotations

import http.client
import math
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from prorl_common import ServiceError, UserError
from prorl_common.http import (
    Connection,
    Reply,
    RetryPolicy,
    ServerWatch,
    StoppedError,
    TransientError,
    parse_address,
)

WHERE = ("the address", "http://HOST:PORT")


def test_waits_double_up_to_a_bound_and_heed_what_the_server_asks() -> None:
    assert [
        0.5 <= RetryPolicy().wait(1, None) <= 0.625,
        30 <= RetryPolicy().wait(40, None) <= 37.5,
    ] == [True, True]
    assert 7.0 <= RetryPolicy().wait(1, 7.0) <= 8.75
    assert retry_after({"retry-after": "12"}) == 12.0
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"Retry-After": "soon"}) is None and retry_after({}) is None


def retry_after(headers: dict[str, str]) -> float | None:
    return Reply(429, headers, b"").retry_after()


def test_what_the_server_asks_never_shortens_a_wait() -> None:
    assert RetryPolicy().wait(3, 0.0) >= 2.0 and RetryPolicy().wait(2, 0.1) >= 1.0
    assert 86400 <= RetryPolicy().wait(1, math.inf) <= 1.25 * 86400


def test_a_server_that_says_it_is_busy_never_runs_out_of_patience() -> None:
    now, said = [100.0], list[str]()
    watch = ServerWatch(
        "the server x", RetryPolicy(patience=10.0), said.append, clock=lambda: now[0]
    )
    watch.start()
    for _ in range(20):
        watch.failed(TransientError("HTTP 429: slow down", 30.0, False, alive=True))
        now[0] += 30.0
    watch.failed(TransientError("connection refused"))
    now[0] += 11.0
    with pytest.raises(ServiceError, match="for 11s"):
        watch.failed(TransientError("connection refused"))
    (line,) = said
    assert "accepts no requests for now (HTTP 429: slow down)" in line


def test_requests_that_were_lost_before_the_server_answered_again_do_not_make_it_gone_anew() -> (
    None
):
    now, said = [100.0], list[str]()
    watch = ServerWatch("the server x", RetryPolicy(), said.append, clock=lambda: now[0])
    watch.answered()
    for _ in range(5):
        watch.failed(TransientError("the connection broke"), began=99.0)
    assert said == []
    for _ in range(3):
        watch.failed(TransientError("the connection broke"), began=100.0)
    (line,) = said
    assert "does not answer" in line


def test_what_breaks_after_the_end_is_no_news_of_the_server() -> None:
    said: list[str] = []
    watch = ServerWatch("the server x", RetryPolicy(patience=10.0), said.append)
    watch.start()
    watch.stop()
    for _ in range(5):
        with pytest.raises(StoppedError):
            watch.failed(TransientError("the connection broke (cut)"))
    assert said == []


def test_a_request_is_given_up_after_so_many_tries_or_at_the_first_other_error() -> None:
    watch = ServerWatch("the server x", RetryPolicy(first=0.001, tries=3))
    asked: list[int] = []

    def ask() -> str:
        asked.append(1)
        raise TransientError("torn")

    with pytest.raises(ServiceError, match=r"the server x failed 3 times \(torn\)"):
        watch.until_answered(ask)
    assert (len(asked), watch.retries) == (3, 2)
    answers = iter([TransientError("torn"), UserError("no")])

    def refuse() -> str:
        raise next(answers)

    with pytest.raises(UserError, match="no"):
        watch.until_answered(refuse)


@pytest.mark.parametrize(
    ("status", "blames", "alive"),
    [(500, True, False), (503, False, False), (429, False, True), (408, True, False)],
)
def test_an_error_of_the_server_may_pass_and_another_may_not(
    status: int, blames: bool, alive: bool
) -> None:
    trouble = Reply(status, {}, b'{"error": {"message": "why"}}').trouble()
    assert trouble is not None and str(trouble) == f"HTTP {status}: why"
    assert (trouble.blames_request, trouble.alive) == (blames, alive)
    for passed in (200, 301, 400, 401, 404, 413, 422):
        assert Reply(passed, {}, b"").trouble() is None


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[tuple[str, list[bytes]]]:
    """Start a server on a Unix socket whose answers repeat the request; return its address and the requests."""
    path, heard = str(tmp_path / "s"), list[bytes]()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def serve() -> None:
            for _ in range(2):  # each connection is closed silently after one answer
                held, _ = server.accept()
                with held:
                    with held.makefile("rb") as stream:
                        lines = list(iter(stream.readline, b"\r\n"))
                        sizes = [int(x[16:]) for x in lines if x.startswith(b"Content-Length: ")]
                        heard.append(b"".join(lines) + stream.read(sum(sizes)))
                    body = b'{"said": "key s3cret/1"}'
                    head = f"HTTP/1.1 400 x\r\nContent-Length: {len(body)}\r\n\r\n"
                    held.sendall(head.encode() + body)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"unix:{path}", heard
        thread.join()


def test_a_connection_that_was_closed_meanwhile_is_opened_anew_and_the_key_is_never_shown(
    answering: tuple[str, list[bytes]],
) -> None:
    url, heard = answering
    with Connection(parse_address(url, *WHERE), "s3cret/1", 10.0) as connection:
        first, second = connection.get("/a"), connection.post("/b", {"x": 1})
    assert [request.split(b" HTTP")[0] for request in heard] == [b"GET /a", b"POST /b"]
    assert b"Authorization: Bearer s3cret/1" in heard[0]
    assert heard[1].endswith(b'{"x": 1}')
    for reply in (first, second):
        assert (reply.status, reply.message()) == (400, '{"said": "key ***"}')


def test_nobody_there_is_transient_and_blames_no_request(tmp_path: Path) -> None:
    for url in (f"unix:{tmp_path}/none", "http://127.0.0.1:9"):
        with (
            pytest.raises(TransientError, match="connection") as caught,
            Connection(parse_address(url, *WHERE), None, 5.0) as connection,
        ):
            connection.get("/")
        assert not caught.value.blames_request


class _CutWhileItConnects(Connection):
    """Cut by another thread before the socket exists."""

    def _new_connection(self, timeout: float) -> http.client.HTTPConnection:
        made = super()._new_connection(timeout)
        self.cut()
        return made


def test_a_connection_that_is_cut_while_it_connects_waits_for_no_answer(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "s"))
        silent.listen()
        address = parse_address(f"unix:{tmp_path}/s", *WHERE)
        with (
            pytest.raises(TransientError, match="closed on our side"),
            _CutWhileItConnects(address, None, 5.0) as connection,
        ):
            connection.get("/")
