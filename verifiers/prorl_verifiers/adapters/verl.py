"""Reward functions for verl: ``compute_score`` for one response and ``compute_score_batch`` for the batch manager.

    reward.custom_reward_function.path=pkg://prorl_verifiers.adapters.verl
    reward.custom_reward_function.name=compute_score

Do not use verl's ``prime`` and ``rate_limited`` managers, because they turn every exception into reward 0.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_verifiers.adapters.common import (
    ScorerOptions,
    rewards_or_raise,
    score_with_retries,
    shared_scorer,
    with_open_think,
)
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Item, Task, TaskError

SOURCE_PREFIX = "prorl/"
MAX_PRED = 256
"""Maximum characters of "pred", the answer that verl counts for majority voting."""
IGNORED_OPTIONS = (
    "reward_router_address",
    "reward_model_tokenizer",
    "sandbox_fusion_url",
    "concurrent_semaphore",
    "memory_limit_mb",
)
"""Arguments of verl that are ignored."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Return {"score", "acc", "pred", "status", "timeout", "unparsable"}, where "score" is the reward in [0, 1].

    ``options`` are fields of ScorerOptions; missing ones are read from the environment. Thread-safe. Raises TaskError
    or RewardUnavailableError.
    """
    task = verl_task(data_source, ground_truth, extra_info)
    return _score([(solution_str, task)], options)[0]


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the result of ``compute_score`` for each row."""
    tasks = [
        verl_task(source, truth, info)
        for source, truth, info in zip(data_sources, ground_truths, extra_infos, strict=True)
    ]
    return _score(list(zip(solution_strs, tasks, strict=True)), options)


def verl_task(
    data_source: str, ground_truth: Any, extra_info: Mapping[str, Any] | None = None
) -> Task:
    """Return the task of one dataset row. Raises TaskError.

    ``ground_truth`` is a task, a reference or a plain answer. If it is not a task, ``extra_info["verifier"]`` or a
    ``data_source`` such as ``prorl/math`` must name the verifier.
    """
    reference = ground_truth if isinstance(ground_truth, Mapping) else None
    if isinstance(ground_truth, str) and ground_truth.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):  # a gold answer such as {1, 2, 3}
            parsed = json.loads(ground_truth)
            reference = parsed if isinstance(parsed, dict) else None
    verifier = (extra_info or {}).get("verifier")
    if verifier is None and reference is not None and {"verifier", "reference"} <= set(reference):
        inner = reference["reference"]
        return load_task(
            str(reference["verifier"]), inner if isinstance(inner, Mapping) else str(inner)
        )
    if verifier is None and str(data_source).startswith(SOURCE_PREFIX):
        verifier = str(data_source).split("/")[1]
    if verifier is None:
        raise TaskError(
            f"no verifier for data source {data_source!r}: put it into extra_info['verifier'], "
            "or name the data source prorl/VERIFIER"
        )
    is_installed = verifier in VERIFIERS.names()
    if reference is None and is_installed and VERIFIERS.get(verifier).data.columns == ("answer",):
        reference = {"answer": str(ground_truth)}
    return load_task(str(verifier), str(ground_truth) if reference is None else reference)


def _score(items: list[Item], options: Mapping[str, Any]) -> list[dict[str, Any]]:
    reward_options = {name: value for name, value in options.items() if name not in IGNORED_OPTIONS}
    scorer_options = ScorerOptions.from_environment(**reward_options)
    pairs = [(with_open_think(text, scorer_options), task) for text, task in items]
    verdicts = score_with_retries(shared_scorer(scorer_options), pairs, scorer_options.retries)
    rewards = rewards_or_raise(verdicts)
    return [  # every row has the same keys: verl makes a column of each
        {
            "score": reward,
            "acc": reward,
            "pred": (verdict.extracted or "")[:MAX_PRED],
            "status": verdict.status,
            "timeout": float(verdict.status == "timeout"),
            "unparsable": float(verdict.status == "unparsable"),
        }
        for reward, verdict in zip(rewards, verdicts, strict=True)
    ]
