"""What each task got in each step, counted from the rollouts: ``metrics.jsonl`` knows domains only.

The rollouts name a problem's task; in those of older runs it is what the id begins with (``math-largest`` in
``math-largest-train-000130``). Only the small columns of a file are read, once, and sums are kept.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_evaluation.types import FULL_MARKS

COLUMNS = ("sample_id", "task", "domain", "tokens", "finish_reason", "reward", "status")
_NUMBERED = re.compile(r"-(?:train|validation|test)-\d+$|-?\d+$")


def task_of(sample_id: str) -> str:
    """Return the task that a problem's id names."""
    return _NUMBERED.sub("", sample_id) or sample_id


@dataclass(slots=True)
class Sums:
    """Counts over responses to the problems of a task; ``rewards`` is the sum of them."""

    domain: str = ""
    responses: int = 0
    scored: int = 0
    rewards: float = 0.0
    passed: int = 0
    unparsable: int = 0
    truncated: int = 0
    tokens: int = 0

    def add(self, other: Sums) -> None:
        """Add another step's counts."""
        self.domain = other.domain
        self.responses += other.responses
        self.scored += other.scored
        self.rewards += other.rewards
        self.passed += other.passed
        self.unparsable += other.unparsable
        self.truncated += other.truncated
        self.tokens += other.tokens

    def rates(self) -> dict[str, float]:
        """Return the numbers of a step's line that these are, by its keys; a mean over nothing is left out."""
        found: dict[str, float] = {"infra_errors": float(self.responses - self.scored)}
        if self.scored:
            found["reward_mean"] = self.rewards / self.scored
            found["pass_rate"] = self.passed / self.scored
            found["unparsable_rate"] = self.unparsable / self.scored
        if self.responses:
            found["truncated_rate"] = self.truncated / self.responses
            found["length_mean"] = self.tokens / self.responses
        return found


class TaskTable:
    """Sums by step and task, read from the run's rollouts as they are asked for."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._steps: dict[int, tuple[tuple[int, int], dict[str, Sums]]] = {}
        """Step -> (size and time of its file, sums by task)."""

    def read(
        self, steps: Container[int] | None = None, budget: float = 60.0
    ) -> tuple[dict[int, Mapping[str, Sums]], int]:
        """Return (step -> sums by task, files that are still to be read) for ``steps`` (None: all).

        After ``budget`` seconds it returns with what it has; the next call goes on from there.
        """
        files = rollout_files(self.run)
        asked = files if steps is None else {s: f for s, f in files.items() if s in steps}
        ends = time.monotonic() + budget
        found: dict[int, Mapping[str, Sums]] = {}
        left = 0
        with self._lock:
            for step, path in asked.items():
                try:
                    stat = path.stat()
                except FileNotFoundError:  # the run was cut back meanwhile
                    continue
                stamp = (stat.st_size, stat.st_mtime_ns)
                known = self._steps.get(step)
                if known is None or known[0] != stamp:
                    if time.monotonic() > ends:
                        left += 1
                        continue
                    known = self._steps[step] = (stamp, _sums_of(path))
                found[step] = known[1]
        return found, left


def _sums_of(path: Path) -> dict[str, Sums]:
    """Return the sums of a step, none of a file that cannot be read: the list of rollouts says which those are."""
    try:
        return _sums(path)
    except (UserError, ValueError, TypeError):
        return {}


def _sums(path: Path) -> dict[str, Sums]:
    columns = read_rollouts(path, COLUMNS).to_pydict()
    found: dict[str, Sums] = {}
    rows = zip(*(columns[name] for name in COLUMNS), strict=True)
    for sample_id, task, domain, tokens, finish, reward, status in rows:
        one = found.setdefault(task or task_of(sample_id), Sums(domain))
        one.responses += 1
        one.tokens += tokens
        one.truncated += finish == "length"
        if reward is not None:
            one.scored += 1
            one.rewards += reward
            one.passed += reward >= FULL_MARKS
            one.unparsable += status == "unparsable"
    return found


def totals(steps: Iterable[Mapping[str, Sums]]) -> dict[str, Sums]:
    """Return the sums over several steps, by task."""
    found: dict[str, Sums] = {}
    for one in steps:
        for task, sums in one.items():
            found.setdefault(task, Sums()).add(sums)
    return found
