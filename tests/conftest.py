"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from prorl_common import ServiceError, UserError
from prorl_sandbox import ToolSandbox, open_sandbox


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


@pytest.fixture(scope="session", params=["local", "docker"])
def anywhere(request: pytest.FixtureRequest) -> Iterator[ToolSandbox]:
    """A sandbox of each backend. Skips where there is none; in CI local must be there, and docker
    where PRORL_DOCKER_TESTS=1."""
    try:
        found = open_sandbox(request.param)
    except (UserError, ServiceError) as error:
        reason = f"no {request.param} sandbox here: {error}"
        must = request.param == "local" or os.environ.get("PRORL_DOCKER_TESTS") == "1"
        if os.environ.get("CI") == "true" and must:
            pytest.fail(reason)
        pytest.skip(reason)
    yield found
    found.close()


@pytest.fixture(scope="session")
def tester(anywhere: ToolSandbox) -> ToolSandbox:
    """A sandbox whose environment ``scientific`` is built, with pytest in it."""
    try:
        anywhere.open_session(environment="scientific").close()
    except UserError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    return anywhere
