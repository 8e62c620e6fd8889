"""The box's own side of its making: wait behind the walls for a job, shut the last doors, run it.

Runs in the program's process, which is the first of its pid namespace: when it ends, the kernel
ends whatever it has started. Nothing of an earlier job is in its memory (see ``slot``).
"""

from __future__ import annotations

import fcntl
import marshal
import os
import socket
import time

from prorl_sandbox.box import limits, syscalls, wire
from prorl_sandbox.box.namespaces import isolate
from prorl_sandbox.box.namespaces.image import PROGRAM_FOLDER, STDIN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHANNEL = 3
_SIGKILL = 9


def receive_job(settings: dict[str, Any], way: socket.socket, summed: bool) -> dict[str, Any]:
    """Shut this box's doors, then wait for its job; return the job, ready to run.

    All that does not depend on the job is done before it comes, for then nobody waits. ``summed``:
    a control group holds the memory of the whole box.
    """
    walls = settings["walls"]
    try:
        offer_for_memory(settings["proc"])
        isolate.separate_box(walls)
        os.setsid()
        files = []  # the empty ones of the program and its input, made while that is allowed
        if "mount" in walls:
            files = isolate.mount_box(settings["scratch_mb"], settings["files"])
        isolate.become_user(walls)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _SIGKILL)
        isolate.give_up_rights(settings)
    except OSError as error:
        way.send(f"{error}".encode())
        os._exit(1)
    warm_up()
    _, fds, _, _ = socket.recv_fds(way, 64, 8)
    if len(fds) != 6:
        os._exit(0)
    report = fds[-1]
    try:
        job: dict[str, Any] = wire.read_frame(fds[0])
        job["program"], stdin = f"{PROGRAM_FOLDER}/{job['file']}", STDIN_FILE
        if not files:  # without a root of its own: in the folder that the host has made
            scratch = job["scratch"]
            os.chdir(scratch)
            os.environ.update(HOME=scratch, TMPDIR=scratch)
            job["program"], stdin = f"{scratch}/.{job['file']}", f"{scratch}/.stdin"
            flags = os.O_CREAT | os.O_WRONLY
            files = [os.open(job["program"], flags, 0o700), os.open(stdin, flags, 0o600)]
        wire.write_all(files[0], job["artifact"] or job["source"].encode("utf-8", "replace"))
        if job["stdin"] is not None:  # its file takes the place of the pipe
            wire.write_all(files[1], job["stdin"])
            os.close(fds[1])
            fds[1] = os.open(stdin, os.O_RDONLY)
        for file in files:
            os.close(file)
        # The first three streams become 0 to 2, the channel 3, the report pipe 4; the rest is closed.
        kept = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 64) for fd in fds[1:]]
        for number, fd in enumerate(kept):
            os.dup2(fd, number, inheritable=number < CHANNEL)
        os.closerange(len(kept), 4096)
        report = CHANNEL + 1
        limits.set_limits(job, settings["others"], summed)
    except Exception as error:  # noqa: BLE001 - ours, whatever it is: the program has not begun
        text = f"{type(error).__name__}: {error}"[:1000]
        os.write(report, (wire.to_json({"event": "error", "message": text}) + "\n").encode())
        os._exit(1)
    event = {"event": "started", "cpu": time.process_time(), "at": time.monotonic()}
    os.write(report, (wire.to_json(event) + "\n").encode())
    os.close(report)
    return job


def warm_up() -> None:
    """Touch, before anybody waits, the memory that a run will touch: after a fork each first write
    to a page costs a copy."""
    exec(compile("x = [1, 2]\nfor i in x: str(i)", "", "exec"), {})  # noqa: S102 - our own line
    wire.to_json(wire.encode([1, "a", 2.5, {"b": None}]))
    marshal.loads(marshal.dumps({"k": [1, "a"]}, 2))


def offer_for_memory(proc: int) -> None:
    """Offer this process first when memory runs out: a courtesy to the machine, not a wall."""
    try:
        fd = os.open("self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return
    os.write(fd, b"1000")
    os.close(fd)
