"""The template: an interpreter with the common modules loaded, from which all slots are forked.

Started by path in a fresh interpreter, ``template.py CONTROL [FOLDER MODULE ...]``: CONTROL is a
descriptor, FOLDER has an environment's packages, the modules are loaded as well. A sandbox has one
for each of these that its programs need.
"""

from __future__ import annotations

import gc
import os
import socket
import sys

_CHANNEL = 3


def main() -> None:
    """Load everything, hide our own modules, serve; run the job when this has become a box."""
    # ``prorl_sandbox.box`` is to be found without running the host's package.
    package = type(sys)("prorl_sandbox")
    package.__path__ = [os.path.abspath(f"{__file__}/../../..")]
    sys.modules["prorl_sandbox"] = package
    # All of it now: behind the walls the package's files are out of sight.
    from prorl_sandbox.box import harness, preload
    from prorl_sandbox.box.namespaces.supervisor import Supervisor

    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    preload.preload()
    if len(sys.argv) > 2:
        preload.load_packages(sys.argv[2], tuple(sys.argv[3:]))
    supervisor = Supervisor(control)
    held = harness.settle("/scratch")  # kept, for to free our modules would cost every box
    gc.collect()
    gc.freeze()  # the collector of a forked child then leaves the shared pages alone
    job = supervisor.serve()
    harness.run(job, _CHANNEL)
    del held


if __name__ == "__main__":
    main()
