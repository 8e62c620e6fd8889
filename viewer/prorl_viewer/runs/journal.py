"""Keeps a run's metrics, decisions and rollout sums in memory."""

from __future__ import annotations

import contextlib
import json
import math
import re
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_evaluation.types import FULL_MARKS
from prorl_training.run.loggers import scalars

TAIL = 256
"""Number of bytes before the current offset that are compared to detect a replaced file."""
FAR = 1 << 53
"""Upper limit of steps (exclusive): the largest integer that browsers represent exactly."""


class Tail:
    """Follows one JSON-lines file, even if the file is replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = 0
        self._seen = b""

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def read(self) -> tuple[bool, list[dict[str, Any]]]:
        """Return whether the file was replaced, and the rows added since the last call."""
        try:
            if not self.path.is_file():  # opening a pipe would block
                raise FileNotFoundError(self.path)
            with self.path.open("rb") as file:
                file.seek(self._place - len(self._seen))
                anew = file.read(len(self._seen)) != self._seen
                if anew:
                    self._place = 0
                    file.seek(0)
                data = file.read()
        except FileNotFoundError:
            anew, data = self._place > 0, b""
            self._place = 0
        whole = data[: data.rfind(b"\n") + 1]
        self._place += len(whole)
        self._seen = (whole if anew else self._seen + whole)[-TAIL:]
        rows = []
        for line in whole.splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            step = row.get("step") if isinstance(row, dict) else None
            if isinstance(step, int) and abs(step) < FAR:
                rows.append(row)
        return anew, rows


class Metrics:
    """Metrics as columns, with keys like ``kl`` and ``domains/math/reward_mean``.

    Columns align with ``steps``, which ascend; missing numbers are NaN.
    """

    def __init__(self, path: Path) -> None:
        self.tail = Tail(path)
        self.steps: list[int] = []
        self.columns: dict[str, array[float]] = {}
        self.problems: dict[int, list[Any]] = {}
        """Maps the step of a validation to its rewards by problem, as recorded."""
        self.rewritten = 0
        """How often the file was read from the start; its rows may then differ even if its size does not."""

    def refresh(self) -> None:
        anew, rows = self.tail.read()
        if anew:
            self.steps, self.columns, self.problems = [], {}, {}
            self.rewritten += 1
        for row in rows:
            with contextlib.suppress(OverflowError, RecursionError):  # not a line that a run writes
                self._add(int(row["step"]), list(scalars(row)))
                if isinstance(rewards := row.get("validation_rewards"), list):
                    self.problems[int(row["step"])] = rewards

    def _add(self, step: int, numbers: list[tuple[str, float]]) -> None:
        if self.steps and step <= self.steps[-1]:  # repeated step: the newest line counts
            self._cut(bisect_left(self.steps, step))
        place = len(self.steps)
        self.steps.append(step)
        for key, value in numbers:
            column = self.columns.get(key)
            if column is None:
                column = self.columns[key] = array("d", [math.nan]) * place
            column.append(value)
        for column in self.columns.values():
            if len(column) == place:
                column.append(math.nan)

    def _cut(self, place: int) -> None:
        for step in self.steps[place:]:
            self.problems.pop(step, None)
        del self.steps[place:]
        for column in self.columns.values():
            del column[place:]

    def column(self, key: str) -> Sequence[float]:
        """Return a key's values, all NaN if unknown."""
        column = self.columns.get(key)
        return column if column is not None else array("d", [math.nan]) * len(self.steps)

    def parts(self, breakdown: str) -> list[str]:
        """Return the sorted names of the domains or tasks (``breakdown``) in the metrics."""
        prefix = f"{breakdown}/"
        keys = (key.removeprefix(prefix) for key in self.columns if key.startswith(prefix))
        return sorted({key.rpartition("/")[0] for key in keys if "/" in key})

    def keys_of_parts(self, breakdown: str) -> set[str]:
        return {key.rpartition("/")[2] for key in self.columns if key.startswith(f"{breakdown}/")}

    def window(self, key: str, first: int, last: int) -> list[float]:
        start, stop = bisect_left(self.steps, first), bisect_left(self.steps, last + 1)
        return [v for v in self.column(key)[start:stop] if math.isfinite(v)]

    def newest(self, key: str) -> tuple[int, float] | None:
        """Return (step, value) of the last finite value, or None."""
        column = self.column(key)
        for place in range(len(column) - 1, -1, -1):
            if math.isfinite(column[place]):
                return self.steps[place], column[place]
        return None


class Decisions:
    def __init__(self, path: Path) -> None:
        self.tail = Tail(path)
        self.rows: list[dict[str, Any]] = []

    def refresh(self) -> None:
        anew, rows = self.tail.read()
        self.rows = rows if anew else [*self.rows, *rows]


COLUMNS = ("sample_id", "task", "domain", "tokens", "finish_reason", "reward", "status")
_NUMBERED = re.compile(r"-(?:train|validation|test)-\d+$|-?\d+$")


def task_in_id(sample_id: str) -> str:
    return _NUMBERED.sub("", sample_id) or sample_id


@dataclass(slots=True)
class Sums:
    domain: str = ""
    responses: int = 0
    scored: int = 0
    rewards: float = 0.0
    passed: int = 0
    unparsable: int = 0
    truncated: int = 0
    tokens: int = 0

    def add(self, other: Sums) -> None:
        self.domain = other.domain
        self.responses += other.responses
        self.scored += other.scored
        self.rewards += other.rewards
        self.passed += other.passed
        self.unparsable += other.unparsable
        self.truncated += other.truncated
        self.tokens += other.tokens

    def rates(self) -> dict[str, float]:
        """Return {metrics key: rate or mean}, without undefined ones."""
        rates: dict[str, float] = {"infra_errors": float(self.responses - self.scored)}
        if self.scored:
            rates["reward_mean"] = self.rewards / self.scored
            rates["pass_rate"] = self.passed / self.scored
            rates["unparsable_rate"] = self.unparsable / self.scored
        if self.responses:
            rates["truncated_rate"] = self.truncated / self.responses
            rates["length_mean"] = self.tokens / self.responses
        return rates


class TaskTable:
    """Totals over the responses of each step and task, read from rollouts on demand."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._steps: dict[int, tuple[tuple[int, int], dict[str, Sums]]] = {}
        """Maps a step to (size and time of its file, sums by task)."""

    def read(
        self, steps: Container[int] | None = None, budget: float = 60.0
    ) -> tuple[dict[int, Mapping[str, Sums]], int]:
        """Return {step: {task: sums}}, and the number of files not read within ``budget`` seconds."""
        files = rollout_files(self.run)
        requested = files if steps is None else {s: f for s, f in files.items() if s in steps}
        ends = time.monotonic() + budget
        result: dict[int, Mapping[str, Sums]] = {}
        left = 0
        with self._lock:
            for step, path in requested.items():
                try:
                    stat = path.stat()
                except FileNotFoundError:  # the run was rolled back meanwhile
                    continue
                stamp = (stat.st_size, stat.st_mtime_ns)
                cached = self._steps.get(step)
                if cached is None or cached[0] != stamp:
                    if time.monotonic() > ends:
                        left += 1
                        continue
                    cached = self._steps[step] = (stamp, _sums(path))
                result[step] = cached[1]
        return result, left


def _sums(path: Path) -> dict[str, Sums]:
    by_task: dict[str, Sums] = {}
    try:
        columns = read_rollouts(path, COLUMNS).to_pydict()
        rows = zip(*(columns[name] for name in COLUMNS), strict=True)
        for sample_id, task, domain, tokens, finish, reward, status in rows:
            one = by_task.setdefault(task or task_in_id(sample_id), Sums(domain))
            one.responses += 1
            one.tokens += tokens
            one.truncated += finish == "length"
            if reward is not None:
                one.scored += 1
                one.rewards += reward
                one.passed += reward >= FULL_MARKS
                one.unparsable += status == "unparsable"
    except (UserError, ValueError, TypeError):
        return {}
    return by_task


def totals(steps: Iterable[Mapping[str, Sums]]) -> dict[str, Sums]:
    result: dict[str, Sums] = {}
    for one in steps:
        for task, sums in one.items():
            result.setdefault(task, Sums()).add(sums)
    return result
