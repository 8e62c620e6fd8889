"""A grader as evalplus is documented: function tests, inputs and expected values in one guarded
process.

``==``, else all-close where the expected value is a float; the state, the number of tests done and
one flag a test are shared memory that the child writes.
"""

from __future__ import annotations

import io
import mmap
import sys
from typing import Any

from prorl_sandbox.attacks.peers.common import (
    TEST_SECONDS,
    OutOfTime,
    alarm,
    all_close,
    candidate,
    guard,
    supervise,
)

STAT = mmap.mmap(-1, 1)
DETAILS = mmap.mmap(-1, 64)
PROGRESS = mmap.mmap(-1, 1)
PASSED, FAILED = 1, 2


def is_floats(value: Any) -> bool:
    """Whether the value is a float or a list of floats."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def as_list(value: Any) -> list[float]:
    """Return one number or many as a list."""
    return list(value) if isinstance(value, list | tuple) else [value]


def run_tests(request: dict[str, Any], stat: Any, details: Any, progress: Any) -> None:
    """Run all tests; the first that fails ends the run."""
    function = candidate(request["source"], request["call"])
    for index, test in enumerate(request["tests"]):
        expected = test["expected"]
        alarm(TEST_SECONDS)
        output = function(*test["args"])
        alarm(0)
        exact = output == expected
        if not exact and is_floats(expected):
            assert type(output) is type(expected)
            assert all_close(as_list(output), as_list(expected), 1e-7, 1e-6)
        else:
            assert exact
        details[index] = 1
        progress[0] = index + 1
    stat[0] = PASSED


def grade(request: dict[str, Any]) -> None:
    """Run in the child with its output swallowed."""
    guard()
    sys.stdout = sys.stderr = io.StringIO()
    try:
        run_tests(request, STAT, DETAILS, PROGRESS)
    except (Exception, SystemExit, OutOfTime):  # noqa: BLE001 - as the graders do
        STAT[0] = FAILED


def verdict(request: dict[str, Any], late: bool) -> bool:
    """Read the shared memory in the parent; no state means a time-out."""
    if STAT[0] != PASSED:
        return False
    return all(DETAILS[index] for index in range(len(request["tests"])))


if __name__ == "__main__":
    supervise(grade, verdict, spare_seconds=0.5)
