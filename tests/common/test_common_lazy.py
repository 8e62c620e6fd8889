from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

LAZY = (
    "prorl",
    "prorl_verifiers",
    "prorl_datasets",
    "prorl_inference",
    "prorl_sandbox",
    "prorl_training",
)


@pytest.mark.parametrize("package", LAZY)
def test_every_name_that_a_room_offers_can_be_loaded(package: str) -> None:
    room = import_module(package)
    assert set(room.__all__) <= set(dir(room))
    for name in room.__all__:
        assert getattr(room, name) is not room
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = room.nothing


@pytest.mark.parametrize("package", LAZY)
def test_a_room_loads_no_module_of_ours_before_a_name_is_used(package: str) -> None:
    program = (
        f"import sys, {package}; print(*(n for n in sys.modules if n.startswith('{package}')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name.split(".")[0] == package}
    assert loaded == {package}
