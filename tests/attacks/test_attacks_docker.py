"""Every attack on the docker backend. Skipped without an engine unless CI=true and PRORL_DOCKER_TESTS=1."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from prorl_common import ServiceError, UserError
from prorl_sandbox import Sandbox, open_sandbox
from prorl_sandbox.attacks.catalogue import Attack, Report, load_cases
from prorl_sandbox.attacks.suite import run_suite

CASES = [case.id for case in load_cases() if case.attacks]


@pytest.fixture(scope="module")
def open_docker() -> Callable[[], Sandbox]:
    try:
        open_sandbox("docker").close()
    except (UserError, ServiceError) as error:
        reason = f"no docker sandbox here: {error}"
        if os.environ.get("CI") == "true" and os.environ.get("PRORL_DOCKER_TESTS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return lambda: open_sandbox("docker")


def test_docker_backend_holds_the_first_program_of_every_case(
    attacks: list[Attack],
    open_docker: Callable[[], Sandbox],
    troubles: Callable[[Report, str], list[str]],
) -> None:
    first = {attack.case: attack for attack in reversed(attacks)}
    report = run_suite(open_docker, [first[case] for case in CASES])
    assert [line for case in CASES for line in troubles(report, case)] == []
    assert report.broken == ()


@pytest.fixture(scope="module")
def report(attacks: list[Attack], open_docker: Callable[[], Sandbox]) -> Report:
    return run_suite(open_docker, attacks)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_docker_backend_holds(
    report: Report, troubles: Callable[[Report, str], list[str]], case: str
) -> None:
    assert troubles(report, case) == []


@pytest.mark.slow
def test_docker_backend_leaves_nothing_behind(report: Report) -> None:
    assert report.broken == ()
    assert report.held
