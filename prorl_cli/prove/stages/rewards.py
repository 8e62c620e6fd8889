"""The reward pool under the load of a step: answers of five domains, some hostile, each with a verdict in the end."""

from __future__ import annotations

import os
import time

from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.needs import isolation

HOSTILE = 20
"""Every so many answers one is hostile."""
LOOP = "```python\nwhile True:\n    pass\n```"
HUGE = "\\boxed{" + "9" * 20_000 + "}"


def run(place: Place) -> Finding:
    """Score a step's answers."""
    from prorl_training.engine.openrlhf.testing import problems
    from prorl_verifiers import Task, VerifierPool

    tasks = [(domain, Task(verifier, reference)) for domain, _, verifier, reference in problems()]
    count = 96 if place.tiny else 4096
    items = []
    for i in range(count):
        domain, task = tasks[i % len(tasks)]
        text = "an answer without a comma"
        if i % HOSTILE == 0:
            text = LOOP if domain == "code" else HUGE
        items.append((text, task))
    workers = max(2, (os.cpu_count() or 2) - 1)
    with VerifierPool(workers=workers) as pool:
        pool.require(task for _, task in tasks)
        started = time.monotonic()
        verdicts = pool.score(items)
        seconds = time.monotonic() - started
    broken = sum(v.is_infra_error for v in verdicts)
    hostile = [v for i, v in enumerate(verdicts) if i % HOSTILE == 0]
    fooled = sum(
        (v.reward or 0) > 0
        for v, (_, task) in zip(hostile, items[::HOSTILE], strict=True)
        if task.verifier != "instruction"
    )
    figures = {
        "answers": count,
        "verdicts": len(verdicts),
        "infra_errors": broken,
        "hostile": len(hostile),
        "hostile_rewarded": fooled,
        "workers": workers,
        "answers_per_second": count / seconds,
        "seconds": seconds,
    }
    said = (
        f"{len(verdicts)} of {count} answers have a verdict, {broken} infra errors, {fooled} of {len(hostile)} hostile ones "
        f"rewarded; {count / seconds:,.0f} answers/s with {workers} workers"
    )
    return Finding(len(verdicts) == count and not broken and not fooled, said, figures)


STAGE = Stage("rewards", "rewards of a step", run, isolation, minutes=1)
