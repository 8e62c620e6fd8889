"""The parent's side of a row-making child process.

Leaves out: what the child does (``row_process``, ``row_maker``).
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from prorl_common import Closing, ServiceError
from prorl_datasets.recipe import Recipe
from prorl_datasets.types import DatasetError


@dataclass(frozen=True, slots=True)
class Setting:
    """What every child of a build knows: recipe, seed, benchmark index and keys (files or None)."""

    recipe: Recipe
    seed: int
    index: Path | None = None
    taken: Path | None = None


class RowClient(Closing):
    """One child process, started on first use; not for two threads at once."""

    def __init__(self) -> None:
        self._setting: Setting | None = None
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[str] | None = None

    def set_up(self, setting: Setting) -> None:
        """Say what is built; needed before ``generate`` and ``convert``."""
        self._setting = setting
        if self._process is not None:
            self._tell()

    def check(self, wanted: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Return the mistakes in (reasoning-gym task, configuration) pairs."""
        found: list[str] = self._ask({"check": list(wanted)})
        return found

    def entries(
        self, task: str, config: Mapping[str, Any], seeds: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Return {"entry": ...} or {"error": text} of a reasoning-gym task for each seed."""
        found: list[dict[str, Any]] = self._ask({"entries": [task, config, list(seeds)]})
        return found

    def generate(self, entry: str, split: str, start: int, stop: int) -> list[dict[str, Any]]:
        """Return candidates of a generated entry; see RowMaker.generate."""
        return self._candidates({"generate": [entry, split, start, stop]})

    def convert(self, entry: str, start: int, rows: Sequence[Any]) -> list[dict[str, Any]]:
        """Return candidates of raw rows; see RowMaker.convert. Raises DatasetError as it does."""
        return self._candidates({"rows": [entry, start, list(rows)]})

    def close(self) -> None:
        """End the child; safe to call twice and from another thread."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout, self._log):
                if stream is not None:
                    stream.close()
            self._process = None

    def _candidates(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        reply = self._ask(request)
        if "user_error" in reply:
            raise DatasetError(reply["user_error"])
        found: list[dict[str, Any]] = reply["candidates"]
        return found

    def _ask(self, request: dict[str, Any]) -> Any:
        if self._process is None:
            self._start()
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request, default=str) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError) as error:
            raise ServiceError(f"the row-making process died: {self._last_words()}") from error
        if not line.endswith("\n"):
            raise ServiceError(f"the row-making process died: {self._last_words()}")
        return json.loads(line)

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (``close`` ends it)
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "prorl_datasets.row_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )
        if self._setting is not None:
            self._tell()

    def _tell(self) -> None:
        known = self._setting
        assert known is not None
        self._ask(
            {
                "recipe": known.recipe.resolved(),
                "seed": known.seed,
                "index": None if known.index is None else str(known.index),
                "taken": None if known.taken is None else str(known.taken),
            }
        )

    def _last_words(self) -> str:
        if self._log is None or self._log.closed:
            return "it was ended"
        self._log.seek(0)
        lines = self._log.read().strip().splitlines()
        return lines[-1] if lines else "no message"


class Children(Closing):
    """As many row-making children as workers, lent to one thread at a time; each starts on first use.

    A context manager: leaving it ends the processes.
    """

    def __init__(self, workers: int) -> None:
        self._all = [RowClient() for _ in range(workers)]
        self._free: queue.LifoQueue[RowClient] = queue.LifoQueue()  # the last used is warm
        for child in self._all:
            self._free.put(child)

    def set_up(self, setting: Setting) -> None:
        """Say to all children what is built."""
        for child in self._all:
            child.set_up(setting)

    @contextmanager
    def lend(self) -> Iterator[RowClient]:
        """Yield a free child, waiting for one if need be."""
        child = self._free.get()
        try:
            yield child
        finally:
            self._free.put(child)

    def __len__(self) -> int:
        return len(self._all)

    def close(self) -> None:
        """End the processes; safe to call twice."""
        for child in self._all:
            child.close()
