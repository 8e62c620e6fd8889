"""The sandbox under test: the real local backend, skipped (failed in CI) where walls cannot be put
up."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from prorl_sandbox import Capabilities, Limits, LocalSandbox, Outcome, Program, probe

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)


@pytest.fixture(scope="session")
def capabilities() -> Capabilities:
    """What this machine can do."""
    return probe()


@pytest.fixture(scope="session")
def sandbox(capabilities: Capabilities) -> Iterator[LocalSandbox]:
    """A strong local sandbox."""
    if not capabilities.strong:
        if os.environ.get("CI") == "true":
            pytest.fail(capabilities.complaint())
        pytest.skip(capabilities.complaint())
    box = LocalSandbox(capabilities.walls, capabilities.isolation)
    yield box
    box.close()


@pytest.fixture(scope="session")
def scientific(sandbox: LocalSandbox) -> LocalSandbox:
    """The sandbox with the environment ``scientific``, built (once, in the user's cache) if need be."""
    from prorl_sandbox.environments import build, store

    wanted = store.requirements_of("scientific")
    assert wanted is not None
    try:
        build.build(wanted)
    except build.BuildError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    return sandbox


@pytest.fixture
def main(sandbox: LocalSandbox) -> Callable[..., Outcome]:
    """Run a source as ``__main__``."""

    def run(source: str, stdin: str = "", limits: Limits = FAST) -> Outcome:
        return sandbox.run(Program(source, stdin=stdin), limits)

    return run


@pytest.fixture
def call(sandbox: LocalSandbox) -> Callable[..., Outcome]:
    """Call the function ``f`` (or another) of a source."""

    def run(source: str, *args: object, name: str = "f", limits: Limits = FAST) -> Outcome:
        return sandbox.run(Program(source, call=name, args=args), limits)

    return run
