"""A reward function for TRL's trainers (GRPOTrainer, RLOOTrainer), tested with TRL 1.16.

TRL before 1.6 counts a missing reward as 0, so by default a response without a verdict then raises an error.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from prorl_common import UserError
from prorl_verifiers.adapters.common import (
    Scorer,
    ScorerOptions,
    completion_text,
    rewards_or_raise,
    score_with_retries,
    shared_scorer,
    with_open_think,
)
from prorl_verifiers.tasks import task_of
from prorl_verifiers.types import Task

OnInfraError = Literal["none", "raise"]
KEEPS_NONE = (1, 6)
"""First TRL version that excludes rows without a reward from the group's baseline."""


class TrlReward:
    """A reward function to pass as ``reward_funcs=[...]``. TRL logs its rewards under ``__name__``.

    The dataset needs the columns ``verifier`` and ``reference``, or one column ``task`` with both, preferably as JSON
    strings. Rows in which ``verifier`` or ``task`` is None get no reward.
    """

    def __init__(
        self,
        scorer: Scorer | None,
        options: ScorerOptions,
        name: str = "prorl_reward",
        on_infra_error: OnInfraError | None = None,
    ) -> None:
        on_infra_error = on_infra_error or default_on_infra_error()
        if on_infra_error not in ("none", "raise"):
            raise UserError(f"on_infra_error must be 'none' or 'raise', not {on_infra_error!r}")
        self.__name__ = name
        self._scorer = scorer
        self._options = options
        self._on_infra_error = on_infra_error

    def __call__(
        self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        """Return one reward in [0, 1] per completion, or None for a completion without a verdict.

        Raises UserError for missing columns, ServiceError if the service is down, TaskError or RewardUnavailableError.
        """
        tasks = _tasks(columns, len(completions))
        rows = [index for index, task in enumerate(tasks) if task is not None]
        items = [
            (with_open_think(completion_text(completions[index]), self._options), task)
            for index, task in enumerate(tasks)
            if task is not None
        ]
        scorer = self._scorer or shared_scorer(self._options)
        verdicts = score_with_retries(scorer, items, self._options.retries) if items else []
        log_metric = columns.get("log_metric")
        if callable(log_metric) and verdicts:
            for status in ("unparsable", "timeout", "infra_error"):
                share = sum(verdict.status == status for verdict in verdicts) / len(verdicts)
                log_metric(f"verify/{status}", share)
        if self._on_infra_error == "raise":
            rewards_or_raise(verdicts)
        rewards: list[float | None] = [None] * len(completions)
        for index, verdict in zip(rows, verdicts, strict=True):
            rewards[index] = verdict.reward
        return rewards


def make_trl_reward(
    scorer: Scorer | None = None,
    *,
    name: str = "prorl_reward",
    on_infra_error: OnInfraError | None = None,
    **options: Any,
) -> TrlReward:
    """Return a reward function for TRL.

    ``scorer``: a scorer that the caller closes. By default, a scorer is created from ``options`` and shared within the
    process.
    ``on_infra_error``: "none" returns None for a response without a verdict, "raise" raises RewardUnavailableError.
    """
    return TrlReward(scorer, ScorerOptions.from_environment(**options), name, on_infra_error)


def default_on_infra_error() -> OnInfraError:
    """Return "none" if the installed TRL accepts rewards of None, else "raise"."""
    try:
        parts = importlib.metadata.version("trl").split(".")[:2]
    except importlib.metadata.PackageNotFoundError:
        return "none"
    return "none" if tuple(int(part) for part in parts if part.isdigit()) >= KEEPS_NONE else "raise"


def _tasks(columns: Mapping[str, Any], count: int) -> list[Task | None]:
    if "task" in columns:
        values: list[Any] = list(columns["task"])
    elif "verifier" in columns and "reference" in columns:
        values = [
            None if verifier is None else {"verifier": verifier, "reference": reference}
            for verifier, reference in zip(columns["verifier"], columns["reference"], strict=True)
        ]
    else:
        raise UserError("the dataset needs the columns 'verifier' and 'reference' (or 'task')")
    if len(values) != count:
        raise UserError(f"{len(values)} tasks were given for {count} completions")
    # Each distinct task is loaded once: all completions of a group have the same task.
    distinct = {repr(value): value for value in values if value is not None}
    loaded = {key: task_of(value) for key, value in distinct.items()}
    return [None if value is None else loaded[repr(value)] for value in values]
