"""The sandboxes under test: the real local backend, and the same machine's behind ``prorl sandbox serve``; skipped
(failed in CI) where walls cannot be put up."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from prorl_sandbox import Capabilities, Limits, LocalSandbox, Outcome, Program, Sandbox, probe
from prorl_sandbox.remote.sandbox import RemoteSandbox

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)


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


@pytest.fixture(scope="session")
def capabilities() -> Capabilities:
    """What this machine can do."""
    return probe()


def _unavailable(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def sandbox(capabilities: Capabilities) -> Iterator[LocalSandbox]:
    """A strong local sandbox."""
    if not capabilities.strong:
        _unavailable(capabilities.complaint())
    box = LocalSandbox(capabilities.walls, capabilities.isolation)
    yield box
    box.close()


@pytest.fixture(scope="session")
def serve_sandbox(capabilities: Capabilities) -> Iterator[Serve]:
    """Return a function that starts ``prorl sandbox serve`` on a port of the loopback and waits until it is ready.

    It takes further options of the command; ``token`` is that of the service.
    """
    if not capabilities.strong:
        _unavailable(capabilities.complaint())
    if importlib.util.find_spec("uvicorn") is None:
        _unavailable("the extra 'server' is not installed")
    started: list[ServiceProcess] = []

    def serve(*options: str, port: int = 0, token: str = "") -> ServiceProcess:
        command = [sys.executable, "-m", "prorl_cli", "sandbox", "serve", "--port", str(port)]
        environment = {**os.environ, "PRORL_TOKEN": token}
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


@pytest.fixture(scope="session")
def remote_sandbox(serve_sandbox: Serve) -> Iterator[RemoteSandbox]:
    """This machine's sandbox behind a service."""
    with RemoteSandbox([serve_sandbox().url]) as remote:
        yield remote


@pytest.fixture(params=["local", "remote"])
def anywhere(request: pytest.FixtureRequest) -> Sandbox:
    """Each backend of this machine that takes any program."""
    name = "sandbox" if request.param == "local" else "remote_sandbox"
    found: Sandbox = request.getfixturevalue(name)
    return found


@pytest.fixture
def main(anywhere: Sandbox) -> Callable[..., Outcome]:
    """Run a source as ``__main__``."""

    def run(source: str, stdin: str = "", limits: Limits = FAST) -> Outcome:
        return anywhere.run(Program(source, stdin=stdin), limits)

    return run


@pytest.fixture
def call(anywhere: Sandbox) -> Callable[..., Outcome]:
    """Call the function ``f`` (or another) of a source."""

    def run(source: str, *args: object, name: str = "f", limits: Limits = FAST) -> Outcome:
        return anywhere.run(Program(source, call=name, args=args), limits)

    return run
