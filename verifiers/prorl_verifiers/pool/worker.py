"""What happens inside the process that scores model text, from its fork to its end.

Reads frames {"verifier", "reference", "response", "cpu_seconds"} and answers each, in order, with one
result frame; before a heavy import it sends {"event": "loading"} and after it {"event": "working"}. It
confines itself before the first request.

A request with "explain" has the result's "findings" (``prorl_verifiers.findings``) in its frame.
Result frames: {"result": {...}} (a Score), {"limit": text} (the answer exhausted memory or nesting),
{"bug": text} (the verifier raised, or returned no reward), {"user": text} (it raised UserError); each with the
item's "cpu_seconds". A verifier of others that runs programs asks the
pool's process for each (``pool.worker_sandbox``).
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prorl_common import UserError, what_failed
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.findings import bounded, noting
from prorl_verifiers.libraries import load_with
from prorl_verifiers.pool import frames
from prorl_verifiers.pool.confine import confine, limit_cpu
from prorl_verifiers.pool.replies import UNCLOSED, result_frame
from prorl_verifiers.spec import VERIFIERS, Result, VerifierSpec, runs_in_worker

if TYPE_CHECKING:
    from prorl_verifiers.pool.worker_sandbox import Exchange

RECURSION_LIMIT = 1500
SPECS: dict[str, VerifierSpec] = {}
"""The verifiers that workers serve, by name; ``load_specs`` fills it before the first fork."""


def load_specs() -> None:
    """Load every verifier that workers serve, plug-ins too. Raises PluginError."""
    for spec in VERIFIERS.all():
        if runs_in_worker(spec):
            SPECS.setdefault(spec.name, spec)


def answer(request: Mapping[str, Any], exchange: Exchange | None = None) -> dict[str, Any]:
    """Return the result frame of one request. Only a fault of the verifier becomes ``bug``.

    ``exchange`` reaches the pool's sandbox, for a verifier that runs programs.
    """
    try:
        spec = SPECS[request["verifier"]]
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
    except (
        UserError
    ) as error:  # a missing compiler, a task's broken test: another try would not help
        return {"user": str(error)[:500]}
    except Exception as error:  # noqa: BLE001 - whatever a verifier raises is infra_error
        return {"bug": what_failed(error)}


def _score(
    spec: VerifierSpec, text: str, request: Mapping[str, Any], exchange: Exchange | None
) -> Result:
    if spec.score is not None:
        return spec.score(text, request["reference"])
    assert spec.score_in_sandbox is not None and exchange is not None
    from prorl_verifiers.pool.worker_sandbox import WorkerSandbox

    sandbox = WorkerSandbox(exchange, request["isolation"])
    return spec.score_in_sandbox(text, request["reference"], sandbox)


def serve(source: int, sink: int, isolation: str) -> None:
    """Answer requests from ``source`` on ``sink`` (file descriptors) until the pipe is closed."""

    def loading(module: str) -> None:
        if module not in sys.modules:
            frames.send(sink, {"event": "loading", "module": module})
            importlib.import_module(module)
            frames.send(sink, {"event": "working"})

    def exchange(call: dict[str, Any]) -> dict[str, Any]:
        frames.send(sink, call)
        return reader.receive()

    load_with(loading)
    reader = frames.Reader(source)
    frames.send(sink, {"event": "ready", "isolation": isolation})
    while True:
        try:
            request = reader.receive()
        except frames.FrameError:
            return
        except MemoryError:  # what is left of the request cannot be read: the last answer
            frames.send(sink, {"limit": "memory limit"})
            return
        limit_cpu(float(request["cpu_seconds"]))
        started = time.process_time()
        reply = answer(request, exchange)
        reply = {**reply, "cpu_seconds": time.process_time() - started}
        try:
            data = frames.encode(reply)
        except (TypeError, ValueError) as error:
            data = frames.encode({"bug": f"the score is not JSON: {error}"})
        frames.write(sink, data)


def run(source: int, sink: int, memory_mb: int, scratch: str) -> None:
    """Confine this process (a fresh fork) and serve until the pipe is closed."""
    sys.setrecursionlimit(RECURSION_LIMIT)
    serve(source, sink, confine(memory_mb, scratch))
