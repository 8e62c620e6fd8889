"""The box's own side of its making: wait behind the walls for a job, set its limits, run it.

Runs in the program's process, which is the first of its pid namespace: when it ends, the kernel
ends whatever it has started. Nothing of an earlier job is in its memory (see ``slot``).
"""

from __future__ import annotations

import _socket
import gc
import os
import struct
import time

from prorl_sandbox.box import limits, wire
from prorl_sandbox.box.namespaces import isolate
from prorl_sandbox.box.namespaces.image import PROGRAM_FOLDER, STDIN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHANNEL = 3
STREAMS = 3
"""Descriptors of a job: standard output and error, channel. A fourth one is a pipe, for standard
input that is too long for a file."""
STARTED, FAULT = b"s", b"x"
WHEN = struct.Struct("=dd")
"""The body of STARTED: when the program starts, by ``time.monotonic``, and the processor seconds
that its box has cost until then."""
_RIGHTS = _socket.CMSG_SPACE(4 * (STREAMS + 1))
_LONGEST_FAULT = 1000


def receive_job(
    settings: dict[str, Any], doors: isolate.Doors, way: _socket.socket, summed: bool
) -> dict[str, Any]:
    """Shut this box's doors, then wait for its job; return the job, ready to run.

    All that does not depend on the job is done before it comes, for then nobody waits. ``summed``:
    a control group holds the memory of the whole box. On ``way`` it says what went wrong, or that
    the program starts.
    """
    gc.disable()  # until the program starts: there is nothing to collect
    try:
        files = doors.shut()
        warm_up()
        fds = _take_streams(way)
        job: dict[str, Any] = wire.read_frame(fds[2])
        job["program"], stdin = f"{PROGRAM_FOLDER}/{job['file']}", STDIN_FILE
        if not files:  # without a root of its own: in the folder that the host has made
            scratch = job["scratch"]
            os.chdir(scratch)
            os.environ.update(HOME=scratch, TMPDIR=scratch)
            job["program"], stdin = f"{scratch}/.{job['file']}", f"{scratch}/.stdin"
            flags = os.O_CREAT | os.O_WRONLY
            files = [os.open(job["program"], flags, 0o700), os.open(stdin, flags, 0o600)]
        wire.write_all(files[0], job["artifact"] or job["source"].encode("utf-8", "replace"))
        if job["stdin"] is not None:
            wire.write_all(files[1], job["stdin"])
            fds.append(os.open(stdin, os.O_RDONLY))
        # Input, output and error become 0 to 2, the channel 3, the way 4; the rest is closed.
        for number, fd in enumerate((fds[3], fds[0], fds[1], fds[2], way.fileno())):
            os.dup2(fd, number, inheritable=number < CHANNEL)
        way.detach()
        way = _socket.socket(fileno=CHANNEL + 1)
        os.closerange(CHANNEL + 2, 4096)
        limits.set_limits(job, settings["others"], summed)
    except Exception as error:  # noqa: BLE001 - ours, whatever it is: the program has not begun
        way.send(FAULT + f"{type(error).__name__}: {error}".encode()[:_LONGEST_FAULT])
        os._exit(1)
    way.send(STARTED + WHEN.pack(time.monotonic(), time.process_time()))
    way.close()
    return job


def hold_low_numbers() -> None:
    """Have no descriptor of this process, or of what it forks, get one of a box's own numbers."""
    while (fd := os.dup(0)) <= CHANNEL + 1:
        continue
    os.close(fd)


def _take_streams(way: _socket.socket) -> list[int]:
    """Wait for the job's descriptors. Ends with the slot."""
    _, rights, _, _ = way.recvmsg(64, _RIGHTS)
    if not rights:
        os._exit(0)
    data = rights[0][2]
    return list(struct.unpack(f"={len(data) // 4}i", data))


def warm_up() -> None:
    """Touch, before anybody waits, the memory that a run will touch: after a fork each first write
    to a page costs a copy."""
    exec(compile("x = [1, 2]\nfor i in x: str(i)", "", "exec"), {})  # noqa: S102 - our own line
