"""Whether the gold answers of another harness's task are right as they stand, judged where an expression may not end.

Leaves out: reading tasks (``harness_task``, ``lighteval_problems``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from prorl_evaluation.exchange.suite_files import ForeignProblem
from prorl_verifiers.exact_match.spec import SPEC, first_answer

SECONDS = 2.0
"""A gold answer is short: an expression that takes longer on it will not end on a model's."""
CHUNK = 4
"""Gold answers judged first; if all of them end, the others follow in larger parts."""


def gold_notes(problems: Sequence[ForeignProblem]) -> list[str]:
    """Return lines on gold answers that exact match does not take as they stand, and on expressions that do not end."""
    import prorl_verifiers

    tasks = [p.task for p in problems if p.task.verifier == "exact_match"]
    unsure = [
        (first_answer(task.reference), task) for task in tasks if SPEC.gold(task.reference) is None
    ]
    if not unsure:
        return []
    passing, left = len(tasks) - len(unsure), iter(unsure)
    with prorl_verifiers.VerifierPool(timeout_seconds=SECONDS) as pool:
        size = CHUNK
        while chunk := list(islice(left, size)):
            verdicts = pool.score(chunk)
            if late := next((v for v in verdicts if v.status == "timeout"), None):
                return [
                    f"an expression of the task does not end on a gold answer ({late.reason}): such answers are timeouts"
                ]
            passing += sum(v.reward == 1.0 for v in verdicts)
            size = 1024
    if passing == len(tasks):
        return []
    return [
        f"{passing} of {len(tasks)} gold answers are right as they stand once they are filtered"
    ]
