"""Services for integration tests. Missing ones skip, or fail in CI (OpenRLHF: with PRORL_OPENRLHF_TESTS)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.images import DEFAULT_TAG
from prorl_sandbox.docker_backend.sandbox import DockerSandbox, open_docker


def _unavailable(error: Exception) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(str(error))
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        found = Engine.connect()
    except UserError as error:
        _unavailable(error)
    yield found
    found.close()


@pytest.fixture(scope="session")
def image(engine: Engine) -> str:
    """The name of the image, which ``make integration`` builds."""
    from prorl_sandbox.docker_backend.images import check

    try:
        check(engine, DEFAULT_TAG)
    except UserError as error:
        _unavailable(error)
    return DEFAULT_TAG


@pytest.fixture(scope="session")
def docker_sandbox(image: str) -> Iterator[DockerSandbox]:
    """Two warm containers for the whole session."""
    sandbox = open_docker(image, containers=2)
    yield sandbox
    sandbox.close()


@pytest.fixture
def mine(engine: Engine) -> Any:
    """Return a function that lists the ids of this process's containers."""
    from prorl_sandbox.docker_backend.engine import LABEL, owner_name

    def ids() -> set[str]:
        filters = {"label": f"{LABEL}={owner_name()}"}
        with engine.calls("listing containers") as api:
            return {found["Id"] for found in api.containers(all=True, filters=filters)}

    return ids


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model, a dataset of five domains and the config of a cluster run."""
    from cluster_runs import write_place

    return write_place(tmp_path_factory.mktemp("cluster"))
