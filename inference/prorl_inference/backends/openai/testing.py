"""A fake OpenAI-compatible server on 127.0.0.1 for tests."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from prorl_common import Closing

Answerer = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Fault:
    """What the fake server does instead of answering a request.

    ``torn`` sends half an answer, ``cut`` breaks the connection, ``hang`` sends nothing.
    """

    status: int = 500
    body: str = "broken"
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "status"


Script = Callable[[int, Mapping[str, Any]], Fault | None]


def yes_by_seed(body: Mapping[str, Any]) -> str:
    """Return "yes" for 40 % of the seeds, else "no", followed by the seed."""
    seed = int(body.get("seed", 0))
    return f"{'yes' if seed % 100 < 40 else 'no'} {seed}"


class FakeServer(Closing):
    """A fake server with one model. ``script(number, body)`` may return a Fault for the request ``number``, from 1."""

    def __init__(
        self,
        model: str = "tiny",
        answer: Answerer = yes_by_seed,
        script: Script | None = None,
        card: Mapping[str, Any] | None = None,
    ) -> None:
        self.model, self.answer, self.script = model, answer, script or (lambda *_: None)
        self.card = dict(card or {})
        self.usage = True
        self.listed = True
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.listings = 0
        self.lock = threading.Lock()
        self.hung = threading.Event()
        self._port = 0
        self._server: _Server | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", self._port), _Handler)
        self._server.fake = self
        self._port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.break_connections()

    def is_served_by(self, server: object) -> bool:
        return self._server is server

    def close(self) -> None:
        self.hung.set()
        self.stop()

    def respond(self, body: Mapping[str, Any]) -> dict[str, Any]:
        text = self.answer(body)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice |= {"message": {"content": text}} if "messages" in body else {"text": text}
        answer: dict[str, Any] = {"id": "x", "choices": [choice]}
        if self.usage:
            answer["usage"] = {"prompt_tokens": 10, "completion_tokens": len(text)}
        return answer


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    fake: FakeServer

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def break_connections(self) -> None:
        for held in list(self.open):
            with contextlib.suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        fake = self.server.fake
        fake.listings += 1
        card = {"id": fake.model, "created": fake.listings, **fake.card}
        cards = [card] if fake.listed else []
        self._send(200, json.dumps({"object": "list", "data": cards}).encode(), {})

    def do_POST(self) -> None:
        fake = self.server.fake
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with fake.lock:
            fake.bodies.append(body)
            fake.keys.append(self.headers.get("Authorization"))
            number = len(fake.bodies)
        fault = fake.script(number, body)
        data = json.dumps(fake.respond(body)).encode()
        if fault is None:
            self._send(200, data, {})
        elif fault.kind == "torn":
            self._send(200, data[: len(data) // 2], {})
        elif fault.kind == "cut":
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
        elif fault.kind == "hang":
            fake.hung.wait(60)
            self.close_connection = True
        else:
            self._send(fault.status, fault.body.encode(), fault.headers)

    def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        if not self.server.fake.is_served_by(self.server):
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
