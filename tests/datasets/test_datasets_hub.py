"""The bare build asks the hub once and says what it takes instead."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from prorl_datasets import choose_bare_recipe, load_recipe
from prorl_datasets.hub.reach import hub_problem


class _Hub(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(403 if self.path == "/closed" else 200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = HTTPServer(("127.0.0.1", 0), _Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_offline_switch_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://unused.invalid")
    assert hub_problem() == "HF_HUB_OFFLINE is set"


def test_a_reachable_hub_is_said_to_be_so(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub)
    name, why = choose_bare_recipe()
    assert load_recipe(name).name == "prorl-136k"
    assert "reachable" in why


def test_a_refusing_hub_and_no_hub_are_named(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"{hub}/closed")
    assert "HTTP 403" in (hub_problem() or "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        assert "not reachable" in (hub_problem() or "")
    monkeypatch.setenv("HF_ENDPOINT", "hub")
    assert "not reachable" in (hub_problem() or "")
