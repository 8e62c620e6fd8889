"""What a run's files hold, in memory: metrics as columns, decisions, and what each task got in its rollouts."""

from __future__ import annotations

import contextlib
import json
import math
import re
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import UserError
from prorl_common.rollout_files import read_rollouts, rollout_files
from prorl_evaluation.types import FULL_MARKS
from prorl_training.run.loggers import scalars

TAIL = 256
"""Bytes before the place reached that must still be there for the file to be the one that was read."""
FAR = 1 << 53
"""No step: a browser counts no further."""


class Tail:
    """Follows one journal: whole lines that were added, or all of them where the file is another one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._place = 0
        self._seen = b""

    def size(self) -> int:
        """Return the journal's size in bytes now; 0 where there is none."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def read(self) -> tuple[bool, list[dict[str, Any]]]:
        """Return (whether the file begins anew, its rows since the last call)."""
        try:
            if not self.path.is_file():  # a pipe would be waited for
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
        return anew, list(_rows(whole))


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int) and abs(row["step"]) < FAR:
            yield row


class Metrics:
    """The numbers of every step in columns, by keys like ``kl`` and ``domains/math/reward_mean``.

    A place in a column belongs to the same place in ``steps``, which rise; NaN where a step has no such number.
    """

    def __init__(self, path: Path) -> None:
        self.tail = Tail(path)
        self.steps: list[int] = []
        self.columns: dict[str, array[float]] = {}
        self.rewritten = 0
        """How often the journal was read anew: it has other rows at the same size, perhaps."""

    def refresh(self) -> None:
        """Read what is new."""
        anew, rows = self.tail.read()
        if anew:
            self.steps, self.columns, self.rewritten = [], {}, self.rewritten + 1
        for row in rows:
            with contextlib.suppress(OverflowError, RecursionError):  # no line of a run
                self._add(int(row["step"]), list(scalars(row)))

    def _add(self, step: int, numbers: list[tuple[str, float]]) -> None:
        if self.steps and step <= self.steps[-1]:  # done again: the newest line counts
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
        del self.steps[place:]
        for column in self.columns.values():
            del column[place:]

    def column(self, key: str) -> Sequence[float]:
        """Return a key's column; nothing but NaN for one that no step has."""
        found = self.columns.get(key)
        return found if found is not None else array("d", [math.nan]) * len(self.steps)

    def parts(self, breakdown: str) -> list[str]:
        """Return the parts of a breakdown that any step has: the names in ``domains/NAME/key``, sorted."""
        prefix = f"{breakdown}/"
        keys = (key.removeprefix(prefix) for key in self.columns if key.startswith(prefix))
        return sorted({key.rpartition("/")[0] for key in keys if "/" in key})

    def keys_of_parts(self, breakdown: str) -> set[str]:
        """Return the keys that the parts of a breakdown have."""
        return {key.rpartition("/")[2] for key in self.columns if key.startswith(f"{breakdown}/")}

    def window(self, key: str, first: int, last: int) -> list[float]:
        """Return a key's finite values in the steps ``first`` to ``last``, both included."""
        start, stop = bisect_left(self.steps, first), bisect_left(self.steps, last + 1)
        return [v for v in self.column(key)[start:stop] if math.isfinite(v)]

    def newest(self, key: str) -> tuple[int, float] | None:
        """Return (step, value) of a key's last finite value, None where it was never measured."""
        column = self.column(key)
        for place in range(len(column) - 1, -1, -1):
            if math.isfinite(column[place]):
                return self.steps[place], column[place]
        return None


class Decisions:
    """The rows of ``decisions.jsonl``, in the order in which they were written."""

    def __init__(self, path: Path) -> None:
        self.tail = Tail(path)
        self.rows: list[dict[str, Any]] = []

    def refresh(self) -> None:
        """Read what is new."""
        anew, rows = self.tail.read()
        self.rows = rows if anew else [*self.rows, *rows]


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
