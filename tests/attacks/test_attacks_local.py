from __future__ import annotations

from collections.abc import Callable

import pytest

from prorl_sandbox import Sandbox
from prorl_sandbox.attacks.catalogue import Attack, Report, load_cases
from prorl_sandbox.attacks.suite import run_suite

CASES = [case.id for case in load_cases() if case.attacks]


@pytest.fixture(scope="module")
def report(attacks: list[Attack], open_local: Callable[[], Sandbox]) -> Report:
    return run_suite(open_local, attacks)


@pytest.mark.parametrize("case", CASES)
def test_local_backend_holds(
    report: Report, troubles: Callable[[Report, str], list[str]], case: str
) -> None:
    assert troubles(report, case) == []


def test_local_backend_leaves_nothing_behind(report: Report) -> None:
    assert report.broken == ()
    assert report.held
