"""Processes of a run that outlive it: vLLM's engine when the actor that started it was killed, Ray's agents.

Ray ends its own workers, not what they started. Such a process is found by the session of the launch, or by
the variable that names it, which all processes of a run inherit. Leaves out other machines (``sweep`` calls this on
each) and the workers of a Ray that was there before the run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from prorl_training.engine.openrlhf.spec import VARIABLE

PATIENCE = 5.0
"""Seconds in which processes may end by themselves, and then as many in which they are killed."""
POLL = 0.2


def end_orphan_processes(spec: Path, session: int, patience: float = PATIENCE) -> int:
    """Wait until no process of the launch of ``spec`` is left on this machine; kill those that stay.

    ``session`` is the id of the launch's session, which is its pid.

    Returns how many were killed. Workers of a Ray that lives on and processes of other users are left alone.
    """
    by_themselves = time.monotonic() + patience
    killed: set[int] = set()
    while (
        found := orphan_processes(spec, session)
    ) and time.monotonic() < by_themselves + PATIENCE:
        if time.monotonic() >= by_themselves:
            killed |= _kill(found, spec, session)
        time.sleep(POLL)
    return len(killed)


def orphan_processes(spec: Path, session: int) -> list[int]:
    """Return the pids of the launch's processes, workers of a living Ray and this process apart."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [pid for pid in pids if pid != os.getpid() and _belongs(pid, spec, session)]


def _belongs(pid: int, spec: Path, session: int) -> bool:
    mark = f"{VARIABLE}={spec}".encode()
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        if not words:  # a zombie
            return False
        if os.getsid(pid) == session:  # a process that has a title may have lost its environment
            return True
        marked = mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has just ended, or is another user's
        return False
    return marked and not (words.startswith(b"ray::") and _has_raylet(pid))


def _has_raylet(pid: int) -> bool:
    """Return whether the process's parent is the process that looks after Ray's workers."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        parent = status.partition("\nPPid:\t")[2].partition("\n")[0]
        return b"raylet" in Path(f"/proc/{parent}/cmdline").read_bytes()
    except OSError:
        return False


def _kill(pids: list[int], spec: Path, session: int) -> set[int]:
    """Kill the processes that are still the ones that were found, and return them.

    All at once, the raylet last: a process of Ray's that calls this ends by itself as soon as its raylet is gone.
    """
    killed: set[int] = set()
    with contextlib.ExitStack() as stack:
        handles: list[tuple[int, int]] = []
        for pid in sorted(pids, key=_killing_order):
            with contextlib.suppress(ProcessLookupError):
                handles.append((pid, os.pidfd_open(pid)))
                stack.callback(os.close, handles[-1][1])
        ours = [(pid, handle) for pid, handle in handles if _belongs(pid, spec, session)]
        for pid, handle in ours:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
                killed.add(pid)
    return killed


def _killing_order(pid: int) -> tuple[bool, int]:
    """Return what sorts processes for ``_kill``: newest first by when they started (pids are reused), a raylet last."""
    try:
        raylet = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0].endswith(b"/raylet")
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:  # it has just ended
        return False, 0
    return raylet, -int(fields[19])
