"""Attacks that work today, each written down so that the day it is held is seen (docs/concepts/sandbox.md,
"What remains")."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_sandbox import Sandbox
from prorl_sandbox.attacks import Attack, load_cases, run_suite

OPEN = [a for case in load_cases(Path(__file__).with_name("open")) for a in case.attacks]


@pytest.mark.xfail(strict=True, reason="boxes map the system's own files, under their own paths")
@pytest.mark.parametrize("attack", OPEN, ids=lambda attack: attack.title)
def test_an_open_attack_is_held(attack: Attack, open_local: Callable[[], Sandbox]) -> None:
    assert run_suite(open_local, [attack]).held
