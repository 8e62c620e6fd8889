"""Rewards under the load of a step: answers of five domains, some hostile, each with a verdict in the end.

Where Ray is installed they go through the reward tier, replicas that are Ray actors, as in a run of the cluster engine;
else through the local engine's pool.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prorl_cli.doctor import is_installed
from prorl_cli.prove.stage import Finding, Place, Stage
from prorl_cli.prove.stages.needs import isolation

if TYPE_CHECKING:
    from prorl_training.rollout.types import Scorer
    from prorl_verifiers import Task

HOSTILE = 20
"""Every so many answers one is hostile."""
LOOP = "```python\nwhile True:\n    pass\n```"
HUGE = "\\boxed{" + "9" * 20_000 + "}"


def run(place: Place) -> Finding:
    """Score a step's answers."""
    from prorl_training.engine.openrlhf.testing import problems
    from prorl_verifiers import Task

    tasks = [(domain, Task(verifier, reference)) for domain, _, verifier, reference in problems()]
    count = 96 if place.tiny else 4096
    items = []
    for i in range(count):
        domain, task = tasks[i % len(tasks)]
        text = "an answer without a comma"
        if i % HOSTILE == 0:
            text = LOOP if domain == "code" else HUGE
        items.append((text, task))
    with _scorer([task for _, task in tasks]) as (scorer, what):
        started = time.monotonic()
        verdicts = scorer.score(items)
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
        "scorer": what,
        "answers_per_second": count / seconds,
        "seconds": seconds,
    }
    said = (
        f"{len(verdicts)} of {count} answers have a verdict, {broken} infra errors, {fooled} of {len(hostile)} hostile ones "
        f"rewarded; {count / seconds:,.0f} answers/s by {what}"
    )
    return Finding(len(verdicts) == count and not broken and not fooled, said, figures)


@contextlib.contextmanager
def _scorer(tasks: list[Task]) -> Iterator[tuple[Scorer, str]]:
    """Give what checks answers to such tasks in a run on this machine, and its name."""
    if not is_installed("ray"):
        from prorl_verifiers import VerifierPool

        workers = max(2, (os.cpu_count() or 2) - 1)
        with VerifierPool(workers=workers) as pool:
            pool.require(tasks)
            yield pool, f"{workers} workers"
        return
    from prorl_training.config import TrainConfig
    from prorl_training.engine.openrlhf.rewards.opening import reward_tier

    ray: Any = importlib.import_module("ray")
    ray.init(address="local", include_dashboard=False, log_to_driver=False)
    said: list[str] = []
    try:
        with reward_tier(TrainConfig(), "cpu", tasks, said.append) as tier:
            yield tier, said[0].removeprefix("starting ") if said else "the reward tier"
    finally:
        ray.shutdown()


STAGE = Stage("rewards", "rewards of a step", run, isolation, minutes=1)
