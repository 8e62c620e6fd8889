from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from prorl_sandbox import Sandbox, open_sandbox, probe
from prorl_sandbox.attacks.catalogue import Attack, Report, load_cases


def require_local() -> None:
    """Skip the test, or fail it in CI, if this machine cannot isolate programs."""
    found = probe()
    if not found.strong:
        if os.environ.get("CI") == "true":
            pytest.fail(found.complaint())
        pytest.skip(found.complaint())


@pytest.fixture(scope="session")
def attacks() -> list[Attack]:
    """Return every attack program with every way to deliver it."""
    return [attack for case in load_cases() for attack in case.attacks]


@pytest.fixture(scope="session")
def open_local() -> Callable[[], Sandbox]:
    require_local()
    return lambda: open_sandbox("local")


@pytest.fixture(scope="module")
def local(open_local: Callable[[], Sandbox]) -> Iterator[Sandbox]:
    sandbox = open_local()
    yield sandbox
    sandbox.close()


@pytest.fixture(scope="session")
def troubles() -> Callable[[Report, str], list[str]]:
    """Return one line for each expectation that a case of a report did not meet."""

    def found(report: Report, case: str) -> list[str]:
        return [
            f"{r.attack.title}: {r.finding} ({r.grade}, {r.status}) {r.detail} {' '.join(r.broken)}"
            for r in report.results
            if r.attack.case == case and (r.finding != "held" or r.broken)
        ]

    return found
