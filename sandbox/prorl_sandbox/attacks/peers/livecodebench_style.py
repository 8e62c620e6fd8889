"""A grader as LiveCodeBench's test runner is documented: all tests in one forked, guarded process.

Function and program tests; SIGALRM for each test; standard input mocked; comparison in the process
(``==`` with a top-level tuple made a list; lines stripped, else token by token as Decimal).
Outcomes go to the parent by a shared list; no outcomes at all are -1 each, and an empty list
passes.
"""

from __future__ import annotations

import io
import sys
from decimal import Decimal, InvalidOperation
from typing import Any

from prorl_sandbox.attacks.peers.common import (
    TEST_SECONDS,
    Board,
    OutOfTime,
    alarm,
    candidate,
    guard,
    run_as_program,
    supervise,
)

BOARD = Board()


def same_lines(got: str, expected: str) -> bool:
    """Compare output line by line, then token by token as exact decimals."""
    left, right = (text.strip().split("\n") for text in (got, expected))
    if len(left) != len(right):
        return False
    for a, b in zip(left, right, strict=True):
        if a.strip() == b.strip():
            continue
        try:
            if [Decimal(x) for x in a.split()] != [Decimal(x) for x in b.split()]:
                return False
        except InvalidOperation:
            return False
    return True


def run_call(source: str, call: str, test: dict[str, Any], expected: Any) -> bool:
    """Call the function and compare in the same process."""
    prediction = candidate(source, call)(*test["args"])
    if isinstance(prediction, tuple):
        prediction = list(prediction)
    return bool(prediction == expected)


def run_stdio(source: str, test: dict[str, Any], expected: str) -> bool:
    """Run the program with mocked streams and compare in the same process."""
    sys.stdin = io.StringIO(test["stdin"])
    sys.stdout = captured = io.StringIO()
    try:
        run_as_program(source)
    finally:
        sys.stdout = sys.__stdout__
    return same_lines(captured.getvalue(), expected)


def grade(request: dict[str, Any], result: Board = BOARD) -> None:
    """Grade every test and publish the outcomes; the candidate is somewhere below this frame."""
    guard()
    outcomes: list[Any] = []
    for test in request["tests"]:
        expected = test["expected"]
        alarm(TEST_SECONDS)
        try:
            if request["call"]:
                outcomes.append(run_call(request["source"], request["call"], test, expected))
            else:
                outcomes.append(run_stdio(request["source"], test, expected))
        except OutOfTime:
            outcomes.append(-3)
        except Exception:  # noqa: BLE001 - as the graders do
            outcomes.append(-4)
        finally:
            alarm(0)
    result.append(outcomes)


def verdict(request: dict[str, Any], late: bool) -> bool:
    """Read the shared list in the parent."""
    outcomes = BOARD.read()
    if outcomes is None:
        return False
    return all(outcome is True or outcome > 0 for outcome in outcomes)


if __name__ == "__main__":
    supervise(grade, verdict, spare_seconds=0.5)
