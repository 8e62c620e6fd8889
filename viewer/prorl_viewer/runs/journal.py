"""A run's journals in memory: the numbers of ``metrics.jsonl`` as columns, and the rows of ``decisions.jsonl``.

Only what was appended since the last look is read. A torn last line is left where it is until its writer has ended
it; a journal that was cut back (``--resume`` does) is read anew.
"""

from __future__ import annotations

import contextlib
import json
import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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
