"""A study's runs as processes of their own, some at a time. Ctrl-C or SIGTERM lets each save what it has."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import FrameType

STOPPED = 75
"""The status of a run that was asked to stop and has saved, and of all of them (EX_TEMPFAIL: call again)."""


def run_side_by_side(commands: Mapping[str, Sequence[str]], jobs: int) -> int:
    """Run the commands in their order, ``jobs`` at a time, and say how each ended; 0, 75 when stopped, 1 when one
    failed (the others go on).

    Each has a session of its own, so that a signal reaches it once, through us.
    """
    waiting = list(commands)
    running: dict[str, subprocess.Popen[bytes]] = {}
    failed = False
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                name = waiting.pop(0)
                running[name] = subprocess.Popen(commands[name], start_new_session=True)
            time.sleep(0.5)
            for name in [n for n, child in running.items() if child.poll() is not None]:
                code = running.pop(name).returncode
                print(f"{name}: {'done' if code == 0 else f'ended with {code}'}", flush=True)
                failed = failed or code != 0
    except KeyboardInterrupt:
        for child in running.values():
            child.terminate()
        for child in running.values():
            child.wait()
        return STOPPED
    return 1 if failed else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise KeyboardInterrupt
