"""A reward function for tasksets of the verifiers library (``verifiers.v1``), tested with 0.4.

Use it in a taskset's config:

    TaskConfig(rewards={"prorl": {"fn": "prorl_verifiers.adapters.verifiers:reward"}})
"""

from __future__ import annotations

import asyncio
from typing import Any

from prorl_common import UserError
from prorl_verifiers.adapters.common import (
    ScorerOptions,
    rewards_or_raise,
    score_with_retries,
    shared_scorer,
    with_open_think,
)
from prorl_verifiers.tasks import task_of


async def reward(task: Any, trace: Any) -> float:
    """Return the reward in [0, 1] of a trace's last reply.

    ``task`` is TaskData with the fields ``verifier`` and ``reference``, or ``task`` with both. Raises UserError,
    TaskError or RewardUnavailableError, which the library records in the trace.
    """
    return await asyncio.to_thread(score_reply, task, str(trace.last_reply))


def score_reply(data: Any, text: str) -> float:
    """Return the reward in [0, 1] of ``text`` as a reply to the task in ``data``."""
    value = getattr(data, "task", None)
    if value is None:
        value = {name: getattr(data, name, None) for name in ("verifier", "reference")}
        if None in value.values():
            raise UserError("the task data needs the fields 'verifier' and 'reference' (or 'task')")
    options = ScorerOptions.from_environment()
    items = [(with_open_think(text, options), task_of(value))]
    verdicts = score_with_retries(shared_scorer(options), items, options.retries)
    return rewards_or_raise(verdicts)[0]
