"""A grader as PRIME's code scorer in verl is documented: an APPS-style runner in a forked child.

``open`` is mocked; a returned value must survive ``json.dumps`` and is compared with ``==`` in the
process; printed numbers that are not all digits are compared with a relative tolerance of 1e-5.
Outcomes go to the parent by a shared list, and an empty list passes.
"""

from __future__ import annotations

import builtins
import io
import json
import sys
from typing import Any

from prorl_sandbox.attacks.peers.common import (
    TEST_SECONDS,
    Board,
    OutOfTime,
    alarm,
    all_close,
    candidate,
    guard,
    run_as_program,
    supervise,
)

BOARD = Board()


def same_text(got: str, expected: str) -> bool:
    """Compare stripped lines, else as numbers unless all tokens are digits."""
    left, right = ([line.strip() for line in text.strip().split("\n")] for text in (got, expected))
    if left == right:
        return True
    tokens = [" ".join(lines).split() for lines in (left, right)]
    if all(token.isdigit() for token in tokens[0]):
        return tokens[0] == tokens[1]
    try:
        numbers = [[float(token) for token in part] for part in tokens]
    except ValueError:
        return False
    return all_close(numbers[0], numbers[1], 1e-5, 1e-8)


def run_call(source: str, call: str, test: dict[str, Any], expected: Any) -> bool:
    """Call the function, see that JSON can hold the value, and compare in the process."""
    output = candidate(source, call)(*test["args"])
    if isinstance(output, tuple):
        output = list(output)
    json.dumps(output)
    return bool(output == expected)


def run_stdio(source: str, test: dict[str, Any], expected: str) -> bool:
    """Run the program with mocked streams and ``open``, and compare in the process."""
    real_open = builtins.open
    sys.stdin = io.StringIO(test["stdin"])
    sys.stdout = captured = io.StringIO()
    builtins.open = lambda *a, **k: io.StringIO(test["stdin"])  # type: ignore[assignment]
    try:
        run_as_program(source)
    finally:
        sys.stdout = sys.__stdout__
        builtins.open = real_open
    return same_text(captured.getvalue(), expected)


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
        except (OutOfTime, Exception):  # noqa: BLE001 - as the graders do
            outcomes.append(-1)
        finally:
            alarm(0)
    result.append(outcomes)


def verdict(request: dict[str, Any], late: bool) -> bool:
    """Read the shared list in the parent."""
    outcomes = BOARD.read()
    return outcomes is not None and all(outcome is True for outcome in outcomes)


if __name__ == "__main__":
    supervise(grade, verdict, spare_seconds=0.5)
