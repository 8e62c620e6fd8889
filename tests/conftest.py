"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
