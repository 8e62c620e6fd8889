"""Fixtures shared by every room's tests."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hub_server import FakeHub, serving

from prorl_common import ServiceError, UserError
from prorl_sandbox import ToolSandbox, no_isolation, open_sandbox


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real test data, from PRORL_TEST_DATA; skips without it, fails without it in CI.

    ``PRORL_TEST_DATA=none`` says that there is none, in CI too: its tests skip.
    """
    value = os.environ.get("PRORL_TEST_DATA")
    if value == "none":
        pytest.skip("PRORL_TEST_DATA=none: the real data is not here")
    if not value:
        reason = "PRORL_TEST_DATA is not set: it names the folder of real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(value)


@pytest.fixture(autouse=True)
def _no_child_loads_the_plug_ins_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--plugin`` in this process tells all files loaded so far to children through the environment: it is put back."""
    monkeypatch.setenv("PRORL_PLUGINS", "[]")


@dataclass
class ServiceProcess:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    url: str

    def kill(self) -> None:
        """End it as a machine that loses power does."""
        self.process.kill()
        self.process.wait(30)


Serve = Callable[..., ServiceProcess]


def _unavailable(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def serve_sandbox() -> Iterator[Serve]:
    """Return a function that starts ``prorl sandbox serve`` on a port of the loopback and waits until it is ready.

    It takes further options of the command; ``token`` is that of the service.
    """
    if (reason := no_isolation()) is not None:
        _unavailable(reason)
    if importlib.util.find_spec("uvicorn") is None:
        _unavailable("the extra 'server' is not installed")
    started: list[ServiceProcess] = []
    home = {name: value for name, value in os.environ.items() if name != "PRORL_BACKEND"}

    def serve(*options: str, port: int = 0, token: str = "") -> ServiceProcess:
        command = [sys.executable, "-m", "prorl_cli", "sandbox", "serve", "--port", str(port)]
        environment = {**home, "PRORL_TOKEN": token}
        process = subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, text=True, env=environment
        )
        assert process.stdout is not None
        found = ServiceProcess(process, process.stdout.readline().strip())
        started.append(found)
        assert found.url.startswith("http://")
        return found

    yield serve
    for one in started:
        one.process.terminate()
    for one in started:
        one.process.wait(30)
        assert one.process.stdout is not None
        one.process.stdout.close()


ELSEWHERE = [pytest.param(backend, marks=pytest.mark.slow) for backend in ("docker", "remote")]


@pytest.fixture(scope="session", params=["local", *ELSEWHERE])
def anywhere(request: pytest.FixtureRequest) -> Iterator[ToolSandbox]:
    """A sandbox of each backend, remote over a service of this machine. Skips where there is none; in CI
    local and remote must be there, and docker where PRORL_DOCKER_TESTS=1. The whole of these suites again
    takes minutes, so but for the local backend it is make test-slow's, with docker make integration's."""
    backend = request.param
    if backend == "remote":
        backend = f"remote:{request.getfixturevalue('serve_sandbox')().url}"
    try:
        found = open_sandbox(backend)
    except (UserError, ServiceError) as error:
        reason = f"no {request.param} sandbox here: {error}"
        must = request.param != "docker" or os.environ.get("PRORL_DOCKER_TESTS") == "1"
        if os.environ.get("CI") == "true" and must:
            pytest.fail(reason)
        pytest.skip(reason)
    yield found
    found.close()


@pytest.fixture(scope="session")
def tester(anywhere: ToolSandbox) -> ToolSandbox:
    """A sandbox with the environment ``scientific``, which has pytest, built if need be."""
    from prorl_sandbox.docker_backend import DockerSandbox, layers
    from prorl_sandbox.environments import build, store

    wanted = store.requirements_of("scientific")
    assert wanted is not None
    try:
        if isinstance(anywhere, DockerSandbox):
            layers.build(wanted)
        else:
            build.build(wanted)
    except ServiceError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    return anywhere


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub on this machine, named by HF_ENDPOINT, with an empty cache; no token is set."""
    with serving() as served:
        for name in ("HF_HUB_OFFLINE", "HF_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield served
