from __future__ import annotations

import functools
import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub_server import TOKEN, FakeHub, serving

from prorl_common import ServiceError, UserError
from prorl_inference.backends.openai.testing import FakeServer
from prorl_sandbox import ToolSandbox, open_sandbox

# Before torch is imported: on a busy machine, thread barriers slow tiny models down.
os.environ["OMP_NUM_THREADS"] = "1"

gc.disable()  # until the tests are collected: nothing of what is loaded meanwhile becomes free


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Start garbage collection, which passes over everything that has been loaded so far."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder named by PRORL_TEST_DATA. Without it tests skip, but fail in CI; ``none`` skips them in CI too."""
    value = os.environ.get("PRORL_TEST_DATA")
    if value == "none":
        pytest.skip("PRORL_TEST_DATA=none: the real data is not on this machine")
    if not value:
        reason = "PRORL_TEST_DATA is not set: it names the folder of real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(value)


@pytest.fixture(autouse=True, scope="session")
def _one_tree_of_commands() -> Iterator[None]:
    """Let Typer build its commands once per process, not at each call."""
    import typer

    build = functools.cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.main.get_command", build)
        patch.setattr("typer.testing._get_command", build)
        yield


@pytest.fixture(autouse=True)
def _no_child_loads_the_plug_ins_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore the environment variable through which ``--plugin`` passes loaded files to child processes."""
    monkeypatch.setenv("PRORL_PLUGINS", "[]")


@pytest.fixture(scope="session", params=["local", pytest.param("docker", marks=pytest.mark.slow)])
def anywhere(request: pytest.FixtureRequest) -> Iterator[ToolSandbox]:
    """A sandbox of each backend, skipped if missing; CI needs local, and docker if PRORL_DOCKER_TESTS=1."""
    try:
        found = open_sandbox(request.param)
    except (UserError, ServiceError) as error:
        reason = f"no {request.param} sandbox here: {error}"
        must = request.param != "docker" or os.environ.get("PRORL_DOCKER_TESTS") == "1"
        if os.environ.get("CI") == "true" and must:
            pytest.fail(reason)
        pytest.skip(reason)
    yield found
    found.close()


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A local hub named by HF_ENDPOINT, with an empty cache and no token."""
    with serving() as served:
        for name in ("HF_HUB_OFFLINE", "HF_TOKEN", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)  # read at import
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield served


@pytest.fixture
def writer(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    """A hub that the token may write to, over the storage protocol that needs no other service."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    return hub


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[FakeServer]]:
    """Three fake inference servers; their clients retry almost at once."""
    monkeypatch.setattr("prorl_inference.backends.openai.generator.FIRST_WAIT", 0.002)
    monkeypatch.setattr("prorl_inference.workers.servers.AWAY_SECONDS", 0.2)
    monkeypatch.setattr("prorl_inference.workers.call.AGAIN_SECONDS", 0.1)
    with FakeServer() as one, FakeServer() as two, FakeServer() as three:
        yield [one, two, three]


@pytest.fixture
def server(servers: list[FakeServer]) -> FakeServer:
    return servers[0]


@pytest.fixture(scope="session")
def openrlhf_stack() -> None:
    """Skip without the packages of ``make openrlhf-cpu-venv``, or fail with PRORL_OPENRLHF_TESTS=1."""
    from prorl_training.engine.openrlhf.versions import require_stack

    try:
        require_stack()
    except UserError as error:
        if os.environ.get("PRORL_OPENRLHF_TESTS") == "1":
            pytest.fail(str(error))
        pytest.skip(f"{error} (make integration-openrlhf)")
