"""The real local sandbox; skipped, or failed in CI, if this machine cannot isolate programs."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from prorl_sandbox import (
    LANGUAGES,
    Capabilities,
    Limits,
    LocalSandbox,
    Outcome,
    Program,
    Sandbox,
    probe,
)
from prorl_sandbox.box import foreign
from prorl_sandbox.capabilities import WALLS

FAST = Limits(wall_seconds=20.0, cpu_seconds=8.0, memory_mb=256, output_kb=64)


@pytest.fixture(scope="session")
def capabilities() -> Capabilities:
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
def ungrouped(sandbox: LocalSandbox) -> Iterator[LocalSandbox]:
    """A strong local sandbox that counts time without control groups."""
    with LocalSandbox((*WALLS, "landlock"), "test") as box:
        yield box


@pytest.fixture(params=["sandbox", "ungrouped"], ids=["cgroup", "rlimits"])
def either(request: pytest.FixtureRequest) -> LocalSandbox:
    """A sandbox with control groups, and one without."""
    box: LocalSandbox = request.getfixturevalue(request.param)
    return box


@pytest.fixture(scope="session")
def scientific(sandbox: LocalSandbox) -> LocalSandbox:
    """The sandbox with the environment ``scientific``, built once in the user's cache if needed."""
    from prorl_sandbox.environments import build, store

    wanted = store.requirements_of("scientific")
    assert wanted is not None
    try:
        build.build(wanted)
    except build.BuildError as error:
        _unavailable(str(error))
    return sandbox


def _write_wheel(folder: Path, name: str, version: str, files: dict[str, str]) -> str:
    """Write ``NAME-VERSION-py3-none-any.whl`` into ``folder`` and return its SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    path, info = folder / f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{member},,\n" for member in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(member, text)
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="session")
def write_wheel() -> Callable[..., str]:
    """Write a small wheel by hand: (folder, name, version, files) -> its SHA-256."""
    return _write_wheel


@pytest.fixture
def main(sandbox: Sandbox) -> Callable[..., Outcome]:
    """Run a source as ``__main__``."""

    def run(source: str, stdin: str = "", limits: Limits = FAST) -> Outcome:
        return sandbox.run(Program(source, stdin=stdin), limits)

    return run


@pytest.fixture
def call(sandbox: Sandbox) -> Callable[..., Outcome]:
    """Call the function ``f`` (or another) of a source."""

    def run(source: str, *args: object, name: str = "f", limits: Limits = FAST) -> Outcome:
        return sandbox.run(Program(source, call=name, args=args), limits)

    return run


@pytest.fixture(scope="session")
def need() -> Callable[[str], None]:
    """Skip if a language's tools are not installed; fail in CI, which installs all."""

    def check(language: str) -> None:
        tools = LANGUAGES.get(language).tools
        missing = [names[0] for names in tools if foreign.find(names) is None]
        if missing and os.environ.get("CI") == "true":
            pytest.fail(f"{language} needs {', '.join(missing)}")
        if missing:
            pytest.skip(f"{language} needs {', '.join(missing)}")

    return check
