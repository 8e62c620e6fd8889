"""The process that scoring workers are forked from: ``python -m prorl_verifiers.pool.worker_template``.

It loads the verifiers, plug-ins among them, imports the libraries they need and asks them questions whose
verdict is known, so that a worker is ready milliseconds after it is wanted. It never sees model text: requests go to the workers, which
confine themselves after the fork. It ends when the pool's socket is closed or the pool's process is gone;
its workers die with it.

Arguments: the control socket, the pool's process id, JSON {"verifiers": those to warm up for, "path": folders
to import from}. Datagrams of JSON on the socket. In: {"fork": {"memory_mb", "scratch"}} with three
descriptors (requests, replies, errors), {"end": pid}. Out: {"failed": {}, "broken": {}} once, then
{"pid"} and {"status": exit code, negative for a signal}. A worker's process id stays its own until the
pool has asked for its end.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import os
import random
import select
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from prorl_verifiers.pool import canary, worker
from prorl_verifiers.spec import VERIFIERS, Canary, VerifierSpec

_DATAGRAM = 1 << 16
_LOOK_SECONDS = 1.0
"""How often the template looks whether the pool's process still lives."""


def warm(verifiers: Sequence[str]) -> dict[str, str]:
    """Import the verifiers' libraries and let each answer its deep canaries; return what went wrong."""
    failed = {}
    for spec in _served(verifiers):
        try:
            for module in spec.libraries:
                if importlib.util.find_spec(module) is not None:
                    importlib.import_module(module)
            wrong = _misjudged(spec, spec.deep_canaries())
        except Exception as error:  # noqa: BLE001 - of this verifier, which the others need not suffer for
            wrong = f"{type(error).__name__}: {error}"[:500]
        if wrong is not None:
            failed[spec.name] = wrong
    return failed


def self_check(verifiers: Sequence[str]) -> dict[str, str]:
    """Let our verifiers and those asked for answer quick canaries; return what went wrong by name."""
    draw = random.Random()
    broken = {}
    ours = [name for name in worker.SPECS if VERIFIERS.origin(name).is_ours]
    for spec in _served(dict.fromkeys([*ours, *verifiers])):
        try:
            wrong = _misjudged(spec, spec.quick_canaries(draw))
        except Exception as error:  # noqa: BLE001 - see ``warm``
            wrong = f"{type(error).__name__}: {error}"[:500]
        if wrong is not None:
            broken[spec.name] = wrong
    return broken


def _served(verifiers: Iterable[str]) -> list[VerifierSpec]:
    return [worker.SPECS[name] for name in verifiers if name in worker.SPECS]


def _misjudged(spec: VerifierSpec, canaries: Sequence[Canary]) -> str | None:
    """Return what came of the first canary that is judged wrong; none is asked of who runs programs."""
    for one in canaries if spec.score is not None else ():
        reply = worker.answer(canary.request(spec.name, one))
        if reply.get("result", {}).get("reward") != one.reward:
            asked = f"{one.response!r} for {dict(one.reference)!r}"
            return f"{asked} must score {one.reward:g} and came to {reply}"
    return None


def main() -> None:
    """Warm up and serve the pool."""
    handle, parent, words = sys.argv[1:]
    order = json.loads(words)
    verifiers = order["verifiers"]
    control = socket.socket(fileno=int(handle))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    workers: dict[int, str] = {}
    try:
        # Behind our own folders and the standard library, so that nothing of a user's shadows them.
        sys.path += [folder for folder in order["path"] if folder not in sys.path]
        worker.load_specs()
        hello = {"broken": self_check(verifiers), "failed": warm(verifiers)}
        gc.collect()
        gc.freeze()  # what is here now is never looked at again: forks go on sharing its pages
        control.send(json.dumps(hello).encode())
        poller = select.poll()
        poller.register(control, select.POLLIN)
        while os.getppid() == int(parent):
            if not poller.poll(_LOOK_SECONDS * 1000):
                continue
            data, handles, _, _ = socket.recv_fds(control, _DATAGRAM, 3)
            if not data:
                return
            control.send(json.dumps(_obey(control, json.loads(data), handles, workers)).encode())
    except BrokenPipeError:  # the pool has ended meanwhile
        return
    finally:
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for folder in (*workers.values(), os.environ["TMPDIR"]):
            shutil.rmtree(folder, ignore_errors=True)


def _obey(
    control: socket.socket, order: dict[str, Any], handles: list[int], workers: dict[int, str]
) -> dict[str, Any]:
    """Carry out one order and return the answer; ``workers``: process id -> scratch folder."""
    if "end" in order:
        del workers[order["end"]]
        os.kill(order["end"], signal.SIGKILL)
        _, status = os.waitpid(order["end"], 0)
        return {"status": os.waitstatus_to_exitcode(status)}
    try:
        pid = os.fork()
    except OSError as error:
        return {"error": f"fork failed: {error}"}
    if pid == 0:
        _become_worker(control, order["fork"], handles)
    for handle in handles:
        os.close(handle)
    workers[pid] = order["fork"]["scratch"]
    return {"pid": pid}


def _become_worker(control: socket.socket, order: dict[str, Any], handles: list[int]) -> None:
    """Serve as a worker and end this process."""
    template = os.getppid()
    code = 1
    try:
        control.close()
        source, sink, errors = handles
        os.dup2(0, 1)  # nowhere: a verifier that prints disturbs nobody
        os.dup2(errors, 2)
        os.close(errors)
        for name in ("HOME", "TMPDIR", "MPLCONFIGDIR"):
            os.environ[name] = order["scratch"]
        if os.getppid() == template:
            worker.run(source, sink, order["memory_mb"], order["scratch"])
        code = 0
    except BaseException:  # noqa: BLE001 - the last line of it is the worker's last word
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
