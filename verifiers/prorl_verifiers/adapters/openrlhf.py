"""The reward function for OpenRLHF, which passes prompt and response as one string with special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prorl_verifiers.adapters.common import (
    ScorerOptions,
    rewards_or_raise,
    score_with_retries,
    shared_scorer,
)
from prorl_verifiers.extract import OPEN_THINK
from prorl_verifiers.tasks import task_of
from prorl_verifiers.types import Item, TaskError, Verdict

END_TOKENS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|end|>",
    "<|return|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<turn|>",
    "<｜end▁of▁sentence｜>",
    "<pad>",
    "<|pad|>",
)
"""Tokens that end a turn in common chat templates."""
SLACK = 8
"""Maximum characters that may precede a truncated prompt in a query, such as a begin token or half a character."""
ANCHOR = 64
"""A truncated query must contain at least this many of the prompt's last characters."""


def response_after_prompt(query: str, prompt: str) -> str | None:
    """Return the response in ``query``, or None if ``query`` does not contain the prompt.

    The prompt may be truncated on the left. End tokens are removed. If the prompt ends with ``<think>``, it is
    prepended to the response.
    """
    end = len(prompt) if query.startswith(prompt) else _end_of_cut_prompt(query, prompt)
    if end is None:
        return None
    response = without_end_tokens(query[end:])
    return OPEN_THINK + response if prompt.rstrip().endswith(OPEN_THINK) else response


def _end_of_cut_prompt(query: str, prompt: str) -> int | None:
    anchor = prompt[-ANCHOR:]
    end = len(prompt) + SLACK
    while anchor:
        start = query.rfind(anchor, 0, end)
        if start < 0:
            return None
        end = start + len(anchor)
        if any(prompt.endswith(query[skip:end]) for skip in range(min(SLACK, start) + 1)):
            return end
        end -= 1
    return None


def without_end_tokens(text: str) -> str:
    cut = text
    while True:
        bare = cut.rstrip()
        token = next((token for token in END_TOKENS if bare.endswith(token)), None)
        if token is None:
            return cut
        cut = bare[: -len(token)]


def rollout_item(query: str, prompt: str, label: Any) -> Item:
    """Return the response and the task of one rollout. Raises TaskError."""
    if not label:
        raise TaskError(
            "there is no label: --data.label_key must name a column with the task as JSON"
        )
    response = response_after_prompt(query, prompt)
    if response is None:
        raise TaskError(
            "the query does not contain its prompt, so the response cannot be separated from it"
        )
    return response, task_of(label)


def extra_logs(verdicts: Sequence[Verdict]) -> dict[str, list[float]]:
    return {
        "verify_timeout": [float(verdict.status == "timeout") for verdict in verdicts],
        "verify_unparsable": [float(verdict.status == "unparsable") for verdict in verdicts],
        "verify_seconds": [round(verdict.seconds, 6) for verdict in verdicts],
    }


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """Return {"rewards", "scores", "extra_logs": {name: tensor}}. Every tensor has one value per response.

    ``labels`` are tasks as JSON strings. Raises TaskError or RewardUnavailableError.
    """
    import torch

    options = ScorerOptions.from_environment()
    items = [
        rollout_item(query, prompt, label)
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]
    verdicts = score_with_retries(shared_scorer(options), items, options.retries)
    rewards = torch.tensor(rewards_or_raise(verdicts), dtype=torch.float32)
    logs = {name: torch.tensor(values) for name, values in extra_logs(verdicts).items()}
    return {"rewards": rewards, "scores": rewards.clone(), "extra_logs": logs}


if __name__ == "__main__":
    print(__file__)
