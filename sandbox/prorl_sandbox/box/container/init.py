"""First process of a container. It runs programs until the host disconnects or a program leaves files behind."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import _socket
import gc
import marshal
import os
import sys

from prorl_sandbox.box import harness, limits, preload, syscalls
from prorl_sandbox.box.container import cleaning, frames, template
from prorl_sandbox.box.container.frames import Link
from prorl_sandbox.box.container.run import Meter, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_FIRST_UID = 1_000_000_000
_UIDS_OF_A_CONTAINER = 65_536
_FIRST_SMALL_UID = 10_000
_SMALL_UIDS = 1_000
_STREAM_FD = 200


def main(config: dict[str, Any]) -> None:
    """Run the programs that the host sends. Returns only in a process forked for a program, after the program's end.

    ``config["slot"]`` (0 to 16383) selects the user ids of this container's programs. ``config["packages"]`` is empty,
    or a folder of packages followed by the modules to import.
    """
    preload.preload()
    if config["packages"]:
        folder, *modules = config["packages"]
        preload.load_packages(folder, modules)
        preload.settle_packages(modules)
    import fcntl

    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Move the host's streams away from the numbers of a program's standard streams.
    incoming, outgoing = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _STREAM_FD) for fd in (0, 1))
    nowhere = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for fd in (0, 1):
        os.dup2(nowhere, fd)
    scratch = f"{frames.FOLDERS[0]}/{template.SCRATCH_NAME}"
    held = harness.settle(scratch)  # kept, because freeing our modules would slow every program
    gc.collect()
    gc.freeze()  # so that forks' garbage collectors leave shared pages alone
    init_end, template_end = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid:
        template_end.close()
        _serve(config, Link(incoming, outgoing), init_end, pid)
    init_end.close()
    os.close(incoming)
    os.close(outgoing)
    job = template.Template(template_end).serve()
    harness.run(job, template.CHANNEL)
    del held


def _serve(config: dict[str, Any], link: Link, control: _socket.socket, pid: int) -> NoReturn:
    meter = Meter()
    mine = (os.getpid(), pid)
    # Each container has at least a thousand user ids of its own. If the engine maps only a small range of users
    # (rootless, remapped), they are taken from that range.
    with open("/proc/self/uid_map", encoding="ascii") as file:
        largest = max(int(start) + int(count) for start, _, count in map(str.split, file))
    first = _FIRST_SMALL_UID + config["slot"] % 40 * _SMALL_UIDS
    if largest > _FIRST_UID + 16_384 * _UIDS_OF_A_CONTAINER:
        first = _FIRST_UID + config["slot"] * _UIDS_OF_A_CONTAINER
    link.send_json(
        frames.HELLO,
        python=sys.version.split()[0],
        landlock=syscalls.landlock_abi(),
        counts=meter.sees_memory,
        loaded_mb=limits.base_mb(),
    )
    uid, idle = first, config["idle_seconds"]
    while True:
        while (received := link.wait(idle))[0] != frames.ORDER:
            continue  # the frame was for a run that has ended
        order = marshal.loads(received[1])
        for name in os.listdir(frames.PROGRAM_FOLDER):
            os.unlink(f"{frames.PROGRAM_FOLDER}/{name}")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        fd = os.open(f"{frames.PROGRAM_FOLDER}/{order['name']}", flags, 0o755)
        for _ in range(order["chunks"]):
            view = memoryview(link.wait(idle)[1])
            while view:
                view = view[os.write(fd, view) :]
        os.close(fd)
        uid += 1
        clean = Run(link, control, meter, order).go(uid, first, mine)
        left = cleaning.files_left(frames.FOLDERS)
        link.send_json(frames.CLEAN, clean=clean and not left, why=", ".join(left[:3])[:300])
        link.flush_all()
        if left or not clean:
            os._exit(1)
