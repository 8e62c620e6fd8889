"""``reward_func`` for OpenRLHF's ``--reward.remote_url FILE.py`` (checked against 0.11.2).

    --reward.remote_url "$(python -m prorl_verifiers.adapters.openrlhf)" --data.label_key task

The label column holds the task as JSON. OpenRLHF calls with one query at a time, from threads. Options come
from the environment (ScorerOptions). A response without a verdict raises after retries; OpenRLHF logs
that and goes on with reward None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prorl_verifiers.adapters.common import (
    ScorerOptions,
    locally,
    rewards_or_raise,
    score_with_retries,
    shared_scorer,
)
from prorl_verifiers.adapters.rollout_text import response_after_prompt
from prorl_verifiers.tasks import task_of
from prorl_verifiers.types import Task, TaskError, Verdict


def rollout_item(query: str, prompt: str, label: Any) -> tuple[str, Task]:
    """Return (response, task) of one rollout. Raises TaskError when either cannot be had."""
    if not label:
        raise TaskError(
            "there is no label: --data.label_key must name a column with the task as JSON"
        )
    response = response_after_prompt(query, prompt)
    if response is None:
        raise TaskError("the query does not hold its prompt, so the response cannot be told apart")
    return response, task_of(label)


def extra_logs(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    """Return what OpenRLHF logs beside the reward: the same keys always, one number a response."""
    return {
        "verify_timeout": [float(verdict.status == "timeout") for verdict in verdicts],
        "verify_judged": [float(verdict.status == "judged") for verdict in verdicts],
        "verify_unparsable": [float(verdict.status == "unparsable") for verdict in verdicts],
        "verify_seconds": [round(verdict.seconds, 6) for verdict in verdicts],
    }


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """Return {"rewards", "scores": float tensors of shape (n,), "extra_logs": {name: such a tensor}}.

    ``queries`` are prompt and response as decoded with special tokens, ``labels`` the tasks as JSON text.
    Raises TaskError and RewardUnavailableError.
    """
    import torch

    options = ScorerOptions.from_environment()
    items = [
        rollout_item(query, prompt, label)
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    verdicts = score_with_retries(shared_scorer(locally(options)), items, options.retries)
    rewards = torch.tensor(rewards_or_raise(verdicts), dtype=torch.float32)
    logs = {name: torch.tensor(values) for name, values in extra_logs(verdicts).items()}
    return {"rewards": rewards, "scores": rewards.clone(), "extra_logs": logs}


if __name__ == "__main__":
    print(__file__)
