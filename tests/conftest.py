"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real test data, from PRORL_TEST_DATA; skips without it, fails without it in CI."""
    value = os.environ.get("PRORL_TEST_DATA")
    if not value:
        reason = "PRORL_TEST_DATA is not set: it names the folder of real data"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return Path(value)
