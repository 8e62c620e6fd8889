"""The parent's side of a row-making child process.

Leaves out: what the child does (``rows.process``, ``rows.maker``).
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from prorl_common import Closing, ServiceError
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.readers.plain import as_json
from prorl_datasets.types import DatasetError


@dataclass(frozen=True, slots=True)
class Setting:
    """What every child of a build knows: recipe, seed, benchmark index and keys (files or None)."""

    recipe: Recipe
    seed: int
    index: Path | None = None
    taken: Path | None = None


class RowClient(Closing):
    """One child process, started on first use; not for two threads at once.

    A child that a signal ended (out of memory, or by hand) is started again once for a request: what
    it answers depends on nothing else.
    """

    def __init__(self) -> None:
        self._closed = False
        self._setting: Setting | None = None
        self._process: subprocess.Popen[str] | None = None
        self._log: IO[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

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
        """End the child for good; safe to call twice and from another thread."""
        self._closed = True
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._log):
            if stream is not None:
                with suppress(OSError):  # unsent bytes of a request to a child that is gone
                    stream.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _candidates(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        reply = self._ask(request)
        if "user_error" in reply:
            raise DatasetError(reply["user_error"])
        found: list[dict[str, Any]] = reply["candidates"]
        return found

    def _ask(self, request: dict[str, Any]) -> Any:
        with long_integers():
            text = json.dumps(request, default=as_json) + "\n"
        line = self._exchange(text)
        if line is None and self._died_by_signal():
            self._end()
            line = self._exchange(text)
        if line is None:
            raise ServiceError(self._obituary())
        return json.loads(line)

    def _exchange(self, text: str) -> str | None:
        """Return the child's answer to one request, None where it died."""
        if self._closed:
            raise ServiceError("the build was stopped; finished parts are kept")
        if self._process is None:
            self._start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            process.stdin.write(text)
            process.stdin.flush()
            line = process.stdout.readline()
        except (BrokenPipeError, ValueError):  # ValueError: another thread closed it
            return None
        return line if line.endswith("\n") else None

    def _died_by_signal(self) -> bool:
        return not self._closed and self._process is not None and self._process.wait() < 0

    def _obituary(self) -> str:
        process = self._process
        status = None if process is None else process.wait()
        words = f"signal {-status}" if status is not None and status < 0 else self._last_words()
        return (
            f"a row-making process died ({words}); finished parts are kept, "
            "run the same command to go on"
        )

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="prorl-rows-")
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (``close`` ends it)
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "prorl_datasets.rows.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            encoding="utf-8",
            start_new_session=True,  # a Ctrl-C is for us to hand on
            cwd=self._folder.name,  # some reasoning-gym tasks run programs that write files
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
        if not lines:
            return "no message"
        files = [line.strip() for line in lines if line.lstrip().startswith('File "')]
        code = f" ({files[-1]})" if files else ""
        place = lines[-1].removeprefix("at ") if lines[-1].startswith("at ") else ""
        return (f"{place}: {lines[-2]}" if place and len(lines) > 1 else lines[-1]) + code


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
