"""The process that scores model text: ``python -m prorl_verifiers.worker``.

Reads frames {"verifier", "reference", "response", "cpu_seconds"} from stdin and answers each with one
result frame; before a heavy import it sends {"event": "loading"} and after it
{"event": "working"}. It confines itself before the first request. Leaves out: time limits (the parent
kills it) and the code domain (the sandbox runs submissions).

Result frames: {"result": {...}} (a Score), {"limit": text} (the answer exhausted memory or nesting),
{"bug": text} (our scorer raised: last line of the traceback).
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Any

from prorl_verifiers import frames
from prorl_verifiers.confine import confine, limit_cpu
from prorl_verifiers.extract import after_thinking
from prorl_verifiers.score import Loading, Score, Scorer, unparsable

SCORERS = {
    "math": ("prorl_verifiers.math_scorer", "score_math"),
    "stem": ("prorl_verifiers.stem_scorer", "score_stem"),
    "logic": ("prorl_verifiers.logic_scorer", "score_logic"),
    "instruction": ("prorl_verifiers.instruction_scorer", "score_instruction"),
}
"""Verifier name -> (module, function); all but ``code``, which the sandbox serves."""


def score_text(request: Mapping[str, Any], loading: Loading) -> Score:
    """Score one request; raises whatever a broken scorer raises."""
    text = after_thinking(request["response"])
    if text is None:
        return unparsable("the thinking was opened and never closed")
    module, function = SCORERS[request["verifier"]]
    scorer: Scorer = getattr(importlib.import_module(module), function)
    return scorer(text, request["reference"], loading)


def answer(request: Mapping[str, Any], loading: Loading) -> dict[str, Any]:
    """Return the result frame of one request. Only a fault of ours becomes ``bug``."""
    try:
        return {"result": score_text(request, loading).to_json()}
    except MemoryError:
        return {"limit": "memory limit"}
    except RecursionError:
        return {"limit": "nesting limit"}
    except Exception:  # noqa: BLE001 - whatever our scorer raises is infra_error
        return {"bug": traceback.format_exc().strip().splitlines()[-1][:500]}


def serve(source: int, sink: int, isolation: str) -> None:
    """Answer requests from ``source`` on ``sink`` (file descriptors) until the pipe is closed."""
    loaded: set[str] = set()
    frames.send(sink, {"event": "ready", "isolation": isolation})
    while True:
        try:
            request = frames.receive(source)
        except frames.FrameError:
            return

        def loading(module: str) -> None:
            if module not in loaded:
                frames.send(sink, {"event": "loading", "module": module})
                importlib.import_module(module)
                loaded.add(module)
                frames.send(sink, {"event": "working"})

        limit_cpu(float(request["cpu_seconds"]))
        frames.send(sink, answer(request, loading))


def main() -> None:
    """Move the protocol off stdout, confine the process and serve."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.setrecursionlimit(1500)
    isolation = confine(int(sys.argv[1]), os.environ["TMPDIR"])
    serve(source, sink, isolation)


if __name__ == "__main__":
    main()
