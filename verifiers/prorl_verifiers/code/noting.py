"""What is noted of one test of a code task: what went in, what was expected, what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never

from prorl_verifiers.code.compare import first_difference
from prorl_verifiers.code.tests import CallTest, CheckTest, CodeTest, StdioTest
from prorl_verifiers.findings import note, written

if TYPE_CHECKING:
    from prorl_sandbox import Outcome


def note_test(
    number: int, passed: bool, test: CodeTest, outcome: Outcome, judge: str | None
) -> None:
    """Note test ``number``; ``judge``: the installed judge that compares outputs."""
    seconds = (
        f"{outcome.wall_seconds:.3f} s by the clock, {outcome.cpu_seconds:.3f} s of processor time"
    )
    ran: dict[str, object] = {
        "status": outcome.status,
        "why": outcome.limit or outcome.hint or None,
        "budget": "the budget of all tests is used up" if outcome.over_budget else None,
        "time": seconds,
        "standard error": outcome.stderr or None,
    }
    note(f"test {number}", passed, {**_asked(test, outcome, judge), **ran})


def _asked(test: CodeTest, outcome: Outcome, judge: str | None) -> Mapping[str, object]:
    """Return input, what was expected, what came out and how the two were compared."""
    ended = outcome.status == "ok"
    match test:
        case StdioTest(stdin=stdin, stdout=stdout):
            rule = "line by line, without white space at their ends"
            return {
                "input": stdin,
                "expected": stdout,
                "came out": outcome.stdout,
                "compared": rule if judge is None else f"by the judge {judge}",
                "differs first in": None if judge else first_difference(stdout, outcome.stdout),
            }
        case CallTest(call=call, args=args, expected=expected, from_json=from_json):
            return {
                "input": f"{call}({', '.join(written(arg, repr) for arg in args)})",
                "expected": written(expected, repr),
                "came out": written(outcome.value, repr) if ended else None,
                "printed": outcome.stdout or None,
                "compared": "as JSON values, by type" if from_json else "with Python's ==",
            }
        case CheckTest(source=source):
            return {"check": source, "printed": outcome.stdout or None}
    assert_never(test)
