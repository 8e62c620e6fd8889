"""The processes that score a model's text.

``main`` runs in the template process, from which workers are forked. It loads the verifiers and never sees a model's
text.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_common import ServiceError, UserError, what_failed
from prorl_common.forks import serve_forks
from prorl_common.frames import FrameError, Reader, encode, send, write
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.findings import bounded, noting
from prorl_verifiers.libraries import load_with
from prorl_verifiers.pool.canary import first_wrong
from prorl_verifiers.pool.confine import confine, limit_cpu, needed_folders, show
from prorl_verifiers.pool.protocol import UNCLOSED, result_frame
from prorl_verifiers.spec import VERIFIERS, Canary, Result, VerifierSpec, runs_in_worker

if TYPE_CHECKING:
    from prorl_verifiers.pool.sandbox_calls import Exchange

RECURSION_LIMIT = 1500
_HINT = "; a worker reads only Python's folders, those of plug-ins, and what every user may read"
SPECS: dict[str, VerifierSpec] = {}
"""Verifiers by name. ``load_specs`` fills it before the first fork."""


def load_specs() -> None:
    for spec in VERIFIERS.all():
        if runs_in_worker(spec):
            SPECS.setdefault(spec.name, spec)


def answer(request: Mapping[str, Any], exchange: Exchange | None = None) -> dict[str, Any]:
    """Score the item in a request and return the reply. ``exchange`` calls the pool's sandbox."""
    try:
        name = request["verifier"]
        spec = SPECS.get(name) or VERIFIERS.get(name)
        text = request["response"]
        if spec.strip_thinking:
            text = after_thinking(text)
            if text is None:
                return result_frame(UNCLOSED)
        if not request.get("explain"):
            return result_frame(_score(spec, text, request, exchange))
        with noting() as findings:
            frame = result_frame(_score(spec, text, request, exchange))
        offset = len(request["response"]) - len(text)
        return frame | {"findings": [one.to_json() for one in bounded(findings, offset)]}
    except MemoryError:
        return {"limit": "memory limit"}
    except RecursionError:
        return {"limit": "nesting limit"}
    except UserError as error:  # a missing compiler, a task's broken test: a retry would not help
        return {"user": str(error)[:500]}
    except ServiceError as error:
        return {"bug": what_failed(error), "outage": True}
    except Exception as error:  # noqa: BLE001 - the pool finds out whether the answer is to blame
        hint = _HINT if isinstance(error, PermissionError | FileNotFoundError) else ""
        return {"bug": what_failed(error) + hint}


def _score(
    spec: VerifierSpec, text: str, request: Mapping[str, Any], exchange: Exchange | None
) -> Result:
    if spec.score is not None:
        return spec.score(text, request["reference"])
    assert spec.score_in_sandbox is not None and exchange is not None
    from prorl_verifiers.pool.sandbox_calls import WorkerSandbox

    sandbox = WorkerSandbox(exchange, request["isolation"])
    return spec.score_in_sandbox(text, request["reference"], sandbox)


def serve(source: int, sink: int, isolation: str) -> None:
    def loading(module: str) -> None:
        if module not in sys.modules:
            send(sink, {"event": "loading", "module": module})
            importlib.import_module(module)
            send(sink, {"event": "working"})

    def exchange(call: dict[str, Any]) -> dict[str, Any]:
        send(sink, call)
        return reader.receive()

    load_with(loading)
    reader = Reader(source)
    send(sink, {"event": "ready", "isolation": isolation})
    while True:
        try:
            request = reader.receive()
        except FrameError:
            return
        except MemoryError:  # the rest of the request cannot be read, so this is the last answer
            send(sink, {"limit": "memory limit"})
            return
        limit_cpu(float(request["cpu_seconds"]))
        started = time.process_time()
        reply = answer(request, exchange)
        reply = {**reply, "cpu_seconds": time.process_time() - started}
        try:
            data = encode(reply)
        except (TypeError, ValueError) as error:
            data = encode({"bug": f"the score is not JSON: {error}"})
        write(sink, data)


def run_worker(order: dict[str, Any], requests: int, replies: int) -> None:
    for name in ("HOME", "TMPDIR", "MPLCONFIGDIR"):
        os.environ[name] = order["folder"]
    sys.setrecursionlimit(RECURSION_LIMIT)
    serve(requests, replies, confine(order["memory_mb"], order["folder"]))


def warm(verifiers: Iterable[str]) -> dict[str, str]:
    """Import the verifiers' libraries, and check the test questions that need them. Return {verifier: fault}."""

    def canaries(spec: VerifierSpec) -> Sequence[Canary]:
        for module in spec.libraries:
            if importlib.util.find_spec(module) is not None:
                importlib.import_module(module)
        return spec.deep_canaries()

    return _faults(verifiers, canaries)


def self_check(verifiers: Iterable[str]) -> dict[str, str]:
    """Check the quick test questions of ``verifiers`` and of prorl's own verifiers. Return {verifier: fault}."""
    ours = [name for name in SPECS if VERIFIERS.origin(name).is_ours]
    draw = random.Random()
    return _faults([*ours, *verifiers], lambda spec: spec.quick_canaries(draw))


def _faults(
    verifiers: Iterable[str], canaries: Callable[[VerifierSpec], Sequence[Canary]]
) -> dict[str, str]:
    faults = {}
    for spec in [SPECS[name] for name in dict.fromkeys(verifiers) if name in SPECS]:
        try:
            wrong = first_wrong(spec, canaries(spec), answer)
        except Exception as error:  # noqa: BLE001 - must not affect the other verifiers
            wrong = f"{type(error).__name__}: {error}"[:500]
        if wrong is not None:
            faults[spec.name] = wrong
    return faults


def load() -> dict[str, Any]:
    """Load the verifiers in the template process.

    The command-line argument is JSON: "verifiers" (whose libraries to load) and "path" (import folders).
    """
    arguments = json.loads(sys.argv[1])
    os.environ["MPLCONFIGDIR"] = os.environ["TMPDIR"]  # reasoning-gym imports matplotlib
    # These come after our own folders and the standard library, so that no user's module shadows those.
    sys.path += [folder for folder in arguments["path"] if folder not in sys.path]
    load_specs()
    hello = {"broken": self_check(arguments["verifiers"]), "failed": warm(arguments["verifiers"])}
    if os.getuid() == 0:
        # If this is not allowed, the pool has already checked that it is not needed.
        with contextlib.suppress(OSError):
            show((*needed_folders(), Path(os.environ["TMPDIR"])))
    return hello


def main() -> None:
    serve_forks(load, run_worker)
