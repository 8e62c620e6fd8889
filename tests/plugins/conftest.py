from __future__ import annotations

import importlib.metadata
import os

import pytest


@pytest.fixture
def lab_parts() -> str:
    """The version of tests/plugins/lab_parts in this environment; skip without it, fail in CI."""
    try:
        return importlib.metadata.version("lab-parts")
    except importlib.metadata.PackageNotFoundError:
        reason = "lab-parts is not installed: pip install tests/plugins/lab_parts"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
