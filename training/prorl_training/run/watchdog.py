"""Write the stack of every thread to a file if a run makes no progress, without stopping the run."""

from __future__ import annotations

import faulthandler
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self


class Watchdog:
    """Context manager that writes all threads' stacks to ``file`` if ``beat`` is not called for ``seconds`` (0: never).

    Each time it also calls ``say`` with one line.
    """

    def __init__(
        self,
        seconds: float,
        file: Path,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.file = file
        self._say = say
        self._clock = clock
        self._last = clock()
        self._reported = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="prorl-watchdog", daemon=True)

    def __enter__(self) -> Self:
        if self.seconds:
            self._last = self._clock()
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    def beat(self) -> None:
        self._last = self._clock()
        self._reported = False

    def _watch(self) -> None:
        while not self._end.wait(min(max(self.seconds / 4, 0.01), 30.0)):
            idle = self._clock() - self._last
            if idle >= self.seconds and not self._reported:
                self._reported = True
                self._dump(idle)

    def _dump(self, idle: float) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as out:
            out.write(f"no progress for {idle:.0f} s ({time.strftime('%Y-%m-%d %H:%M:%S')})\n")
            out.flush()
            faulthandler.dump_traceback(out, all_threads=True)
        self._say(f"no progress for {idle:.0f} s: the stacks of all threads are in {self.file}")
