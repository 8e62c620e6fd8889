"""Python process with loaded modules, from which sandboxed processes are forked.

Usage: ``template.py CONTROL``, where CONTROL is the file descriptor of the socket to the host.
"""

from __future__ import annotations

import gc
import marshal
import os
import socket
import sys

_CHANNEL = 3


def main() -> None:
    """Load all modules and serve the host. In a process forked for a program, run the program."""
    # Make ``prorl_sandbox.box`` importable without running the host's package.
    package = type(sys)("prorl_sandbox")
    package.__path__ = [os.path.abspath(f"{__file__}/../../..")]
    sys.modules["prorl_sandbox"] = package
    from prorl_sandbox.box.namespaces.image import move_in, move_out, read_note, settle_rights

    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    if len(sys.argv) == 2:
        data, notes, _, _ = socket.recv_fds(control, 65536, 1)
        settings = marshal.loads(data)
        try:
            settle_rights(settings)
            if "mount" in settings["walls"]:
                move_in(control.fileno(), settings, read_note(notes[0]))
        except OSError as error:
            control.send(marshal.dumps({"event": "error", "message": f"{error}"}, 2))
            os._exit(1)
    else:
        settings = read_note(int(sys.argv[2]))
    # Import all modules now: after isolation the package's files are not visible.
    from prorl_sandbox.box import harness, preload
    from prorl_sandbox.box.namespaces.supervisor import Supervisor

    preload.preload()
    packages, *modules = settings["packages"] or ("",)
    if packages:
        preload.load_packages(packages, modules)
    image = move_out(settings, int(sys.argv[3])) if len(sys.argv) > 2 else None
    if packages:
        preload.settle_packages(modules)
    supervisor = Supervisor(control, settings, image)
    held = harness.settle("/scratch")  # kept, because freeing our modules would slow every box
    gc.collect()
    gc.freeze()  # so that forks' garbage collectors leave shared pages alone
    job = supervisor.serve()
    supervisor.forget()
    # Keep references: freeing these would take time or close descriptors.
    references = [held, supervisor, image, control, package]
    del settings, packages, modules, supervisor, image, control
    harness.run(job, _CHANNEL)
    del references


if __name__ == "__main__":
    main()
