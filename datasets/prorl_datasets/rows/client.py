"""Starts row-making processes and sends them requests."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import Closing, ServiceError
from prorl_common.forks import Child, Template
from prorl_common.frames import FrameError, Reader, frame, write
from prorl_datasets.candidate import Candidate, Drop, decode
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.sources.readers import long_integers
from prorl_datasets.sources.readers.decode import as_json
from prorl_datasets.types import DatasetError

_COMMAND = ("-P", "-W", "ignore", "-c", "from prorl_datasets.rows.maker import main; main()")
_STOPPED = "the build was stopped; finished parts are kept"


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings that all row-making processes share."""

    recipe: Recipe
    seed: int
    index: Path | None = None
    taken: Path | None = None

    def request(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe.resolved(),
            "seed": self.seed,
            "index": None if self.index is None else str(self.index),
            "taken": None if self.taken is None else str(self.taken),
        }


class RowTemplate(Closing):
    """Forks row-making processes from a template process with all imports. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._template: Template | None = None
        self.closed = False

    def fork(self) -> Child:
        """Fork a row-making process. Raises ServiceError."""
        with self._lock:
            if self.closed:
                raise ServiceError(_STOPPED)
            if self._template is not None and not self._template.alive:
                self._template.kill()
                self._template = None
            if self._template is None:
                environment = {**os.environ, "PYTHONHASHSEED": "0"}
                command = [sys.executable, *_COMMAND]
                self._template = Template(command, environment, "a row-making process")
                self._template.hello()
            return self._template.child({})

    def close(self) -> None:
        self.closed = True
        with self._lock:
            if self._template is not None:
                self._template.kill()


class RowClient(Closing):
    """One row-making process, forked on first use. Not thread-safe.

    If a signal kills the process, the request is sent once more to a new one.
    """

    def __init__(self, template: RowTemplate | None = None) -> None:
        self._template = RowTemplate() if template is None else template
        self._owns_template = template is None
        self._setting: Setting | None = None
        self._busy = threading.Lock()
        self._process: tuple[Child, Reader] | None = None

    def set_up(self, setting: Setting) -> None:
        """Set the build's settings, which ``generate`` and ``convert`` need."""
        self._setting = setting
        if self._process is not None:
            self._ask(setting.request())

    def check(self, pairs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
        """Return a line for each mistake in (reasoning-gym task, configuration) pairs."""
        mistakes: list[str] = self._ask({"check": list(pairs)})
        return mistakes

    def entries(
        self, task: str, config: Mapping[str, Any], seeds: Sequence[int]
    ) -> list[dict[str, Any]]:
        """Return {"entry": ...} or {"error": text} for each seed of a reasoning-gym task."""
        entries: list[dict[str, Any]] = self._ask({"entries": [task, config, list(seeds)]})
        return entries

    def generate(self, entry: str, split: str, start: int, stop: int) -> list[Candidate | Drop]:
        return self._candidates({"generate": [entry, split, start, stop]})

    def convert(self, entry: str, rows: Sequence[Any]) -> list[Candidate | Drop]:
        return self._candidates({"rows": [entry, list(rows)]})

    def close(self) -> None:
        """End the process. May be called twice, also by another thread after RowTemplate is closed."""
        if self._owns_template:
            self._template.close()
        with self._busy:
            self._end()

    def _candidates(self, request: dict[str, Any]) -> list[Candidate | Drop]:
        reply = self._ask(request)
        if "user_error" in reply:
            raise DatasetError(reply["user_error"])
        return [decode(values) for values in reply["candidates"]]

    def _ask(self, request: dict[str, Any]) -> Any:
        with long_integers():  # not ``frames.encode``: published code tests have long integers
            data = frame(json.dumps(request, default=as_json).encode())
        with self._busy:
            for is_last in (False, True):
                try:
                    return json.loads(self._exchange(data))
                except FrameError:
                    code, words = self._end()
                    if self._template.closed:
                        raise ServiceError(_STOPPED) from None
                    if is_last or (code is not None and code >= 0):
                        raise ServiceError(
                            f"a row-making process died ({words}); finished parts are kept, run "
                            "the same command to continue"
                        ) from None
        raise AssertionError("the second try returns or raises")

    def _exchange(self, data: bytes) -> bytes:
        if self._process is None:
            child = self._template.fork()
            self._process = child, Reader(child.source)
            if self._setting is not None:
                self._exchange(frame(json.dumps(self._setting.request()).encode()))
        child, reader = self._process
        write(child.to, data)
        return reader.receive_body()

    def _end(self) -> tuple[int | None, str]:
        """End the process; return its exit code (None if unknown), and its signal or last output."""
        if self._process is None:
            return None, ""
        (child, _), self._process = self._process, None
        lines = child.last_lines()
        code = child.kill()
        if code is None or code < 0:
            return code, "its template ended" if code is None else f"signal {-code}"
        if not lines:
            return code, "no message"
        files = [line.strip() for line in lines if line.lstrip().startswith('File "')]
        place = f" ({files[-1]})" if files else ""
        row = lines[-1].removeprefix("at ") if lines[-1].startswith("at ") else ""
        return code, (f"{row}: {lines[-2]}" if row and len(lines) > 1 else lines[-1]) + place


class Children(Closing):
    """Pool of row-making processes, each lent to one thread at a time."""

    def __init__(self, workers: int) -> None:
        self._template = RowTemplate()
        self._all = [RowClient(self._template) for _ in range(workers)]
        self._free: queue.LifoQueue[RowClient] = queue.LifoQueue()  # reuse the last used first
        for child in self._all:
            self._free.put(child)

    def set_up(self, setting: Setting) -> None:
        for child in self._all:
            child.set_up(setting)

    @contextmanager
    def lend(self) -> Iterator[RowClient]:
        child = self._free.get()
        try:
            yield child
        finally:
            self._free.put(child)

    def __len__(self) -> int:
        return len(self._all)

    def close(self) -> None:
        self._template.close()
        for child in self._all:
            child.close()
