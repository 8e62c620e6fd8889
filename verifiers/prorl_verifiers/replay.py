"""Scores the recorded rollouts of a run again, and compares the rewards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_verifiers.pool.pool import VerifierPool
from prorl_verifiers.remote_pool import RemotePool
from prorl_verifiers.spec import VERIFIERS
from prorl_verifiers.tasks import load_task
from prorl_verifiers.types import Item, State, Task, TaskError, Verdict, next_task

COLUMNS = (
    "step",
    "sample_id",
    "sample_index",
    "verifier",
    "reference",
    "response",
    "reward",
    "status",
    "turns",
)
BATCH = 2000
"""Number of rollouts scored at once."""


@dataclass(slots=True)
class Replay:
    """The result of a replay. ``masked``: number of rollouts without a recorded reward.

    The recorded responses of a conversation are sent to its environment again. ``answers``: number of recorded messages
    of environments; ``changed``: how many of them differ now.
    """

    rows: int = 0
    agree: int = 0
    masked: int = 0
    answers: int = 0
    changed: int = 0
    differences: list[dict[str, Any]] = field(default_factory=list)

    @property
    def all_agree(self) -> bool:
        return self.agree + self.masked == self.rows


def responses_of(turns: Sequence[Mapping[str, str]], last: str) -> list[str]:
    """Return the responses in a conversation's ``turns``, or only the ``last`` if there are no turns."""
    return [turn["content"] for turn in turns if turn["role"] == "assistant"] or [last]


def score_conversations(
    score: Callable[[Sequence[Item]], list[Verdict]],
    conversations: Sequence[tuple[Sequence[str], Task]],
) -> list[tuple[Verdict, list[Mapping[str, str]]]]:
    """Return the verdict of each conversation, and the environment's messages in it.

    A conversation is (responses, task). It has several responses only if the task is an environment's.
    """
    verdicts: dict[int, Verdict] = {}
    states: dict[int, State] = {}
    answers: list[list[Mapping[str, str]]] = [[] for _ in conversations]
    waiting, turn = list(range(len(conversations))), 0
    while waiting:
        items = []
        for index in waiting:
            responses, task = conversations[index]
            is_last = turn + 1 == len(responses)
            is_last = is_last and VERIFIERS.get(task.verifier).is_environment
            items.append((responses[turn], next_task(task, states.get(index), is_last)))
        verdicts.update(zip(waiting, score(items), strict=True))
        waiting, turn = [i for i in waiting if verdicts[i].turn is not None], turn + 1
        for index in waiting:
            if (answer := verdicts[index].turn) is not None:
                states[index] = answer.state
                answers[index] += answer.messages
    return [(verdicts[index], answers[index]) for index in range(len(conversations))]


def replay_run(
    run: Path, pool: VerifierPool | RemotePool, on_done: Callable[[], None] | None = None
) -> Replay:
    """Score every rollout of ``run`` again. ``on_done`` is called after each rollout.

    Raises UserError for missing or invalid rollouts.
    """
    files = rollout_files(run)
    if not files:
        raise UserError(
            f"no rollouts to replay: {run / 'rollouts'} has no files step_*.parquet "
            "(logging.rollouts_every in its config selects the steps that are recorded)"
        )
    result = Replay()
    for path in files.values():
        for batch in read_rollouts(path, COLUMNS).to_batches(BATCH):
            rows = batch.to_pylist()
            items: list[tuple[Sequence[str], Task]] = []
            recorded: list[list[Mapping[str, str]]] = []
            for row in rows:
                where = f"step {row['step']} {row['sample_id']}#{row['sample_index']}"
                if not isinstance(row["response"], str):
                    raise UserError(f"{where}: the rollout has no response text")
                talk = json.loads(row["turns"]) if row["turns"] else []
                recorded.append([m for m in talk if m["role"] != "assistant"])
                try:
                    task = load_task(row["verifier"], row["reference"])
                    items.append((responses_of(talk, row["response"]), task))
                except TaskError as error:
                    raise TaskError(f"{where}: {error}") from error
            played = score_conversations(pool.score, items)
            for row, before, (verdict, now) in zip(rows, recorded, played, strict=True):
                if on_done is not None:
                    on_done()
                result.rows += 1
                result.answers += len(before)
                result.changed += sum(a != b for a, b in zip_longest(before, now))
                if row["status"] == "infra_error" or row["reward"] is None:
                    result.masked += 1
                elif agrees(row, verdict.reward):
                    result.agree += 1
                else:
                    place = ("step", "sample_id", "sample_index", "verifier", "reward")
                    result.differences.append(
                        {key: row[key] for key in place}
                        | {
                            "now": verdict.reward,
                            "status": verdict.status,
                            "reason": verdict.reason,
                        }
                    )
    return result


def agrees(row: Mapping[str, Any], reward: float | None) -> bool | None:
    """Return whether ``reward`` equals the recorded reward, or None if one of the two is missing."""
    if reward is None or row["reward"] is None or row["status"] == "infra_error":
        return None
    return abs(reward - float(row["reward"])) <= 1e-9
