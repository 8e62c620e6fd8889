from __future__ import annotations

import socket

import pytest
from hub_faults import Status
from hub_server import FakeHub

from prorl_common.http import RetryPolicy
from prorl_datasets import choose_bare_recipe, load_recipe
from prorl_datasets.hub import reach


def test_offline_switch_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://unused.invalid")
    assert reach.hub_problem() == "HF_HUB_OFFLINE is set"


def test_a_reachable_hub_is_said_to_be_so(hub: FakeHub) -> None:
    name, why = choose_bare_recipe()
    assert load_recipe(name).name == "prorl-136k"
    assert "reachable" in why


def test_a_hub_that_is_busy_for_a_moment_is_asked_again(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "_POLICY", RetryPolicy(first=0.01, tries=3))
    hub.plan.by_path["/"] = [Status(503), Status(429, "0")]
    assert reach.hub_problem() is None
    hub.plan.by_path["/"] = [Status(503)] * 3
    assert "failed 3 times (HTTP 503" in (reach.hub_problem() or "")


def test_a_refusing_hub_and_no_hub_are_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.plan.by_path["/"] = [Status(403)]
    assert "HTTP 403" in (reach.hub_problem() or "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        assert "not reachable" in (reach.hub_problem() or "")
    monkeypatch.setenv("HF_ENDPOINT", "hub")
    assert "not reachable" in (reach.hub_problem() or "")
