"""Fill Jinja templates that others wrote, in a process of their own that is bounded and can be killed.

Jinja's sandbox keeps a template from Python, not from looping for hours or filling the memory. So the process
(``template_process``) has limits of processor time and memory, and is killed when its time is up. Needs the extra
``report`` (jinja2).
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import MissingExtraError
from prorl_evaluation.types import EvaluationError

SECONDS = 60.0
PROCESS = Path(__file__).with_name("template_process.py")
"""Run as a file: it imports jinja2 and nothing of ours."""


def fill(jobs: Sequence[tuple[str, Mapping[str, Any]]], seconds: float = SECONDS) -> list[str]:
    """Return each (template, row) filled, in order.

    Raises EvaluationError for a template that does not compile, misses a value, writes too much, or does not end in
    ``seconds`` for all of them together; MissingExtraError without jinja2.
    """
    answer = _ask(_shared(jobs), seconds)
    for place, (text, error) in enumerate(answer):
        if error:
            template = jobs[place][0]
            said = " ".join(error.split())[:200]
            raise EvaluationError(f"template {_short(template)} of row {place}: {said}")
        assert text is not None
    return [str(text) for text, _ in answer]


def _shared(jobs: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the jobs with each template and row said once."""
    templates: dict[str, int] = {}
    rows: dict[int, int] = {}
    listed, pairs = [], []
    for template, row in jobs:
        if id(row) not in rows:
            rows[id(row)] = len(rows)
            listed.append(dict(row))
        pairs.append([templates.setdefault(template, len(templates)), rows[id(row)]])
    return {"templates": list(templates), "rows": listed, "pairs": pairs}


def _ask(question: Mapping[str, Any], seconds: float) -> list[tuple[str | None, str]]:
    if importlib.util.find_spec("jinja2") is None:
        raise MissingExtraError("report", "jinja2")
    try:  # dates and bytes of a Parquet file as a template would write them
        text = json.dumps({**question, "seconds": seconds}, ensure_ascii=True, default=str)
    except (ValueError, TypeError, RecursionError) as error:
        raise EvaluationError(f"a row cannot be handed to its templates: {error}") from error
    command = [sys.executable, "-I", str(PROCESS)]
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=seconds + 30, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EvaluationError(
            f"the task's templates did not end in {seconds:g} s: they are not filled"
        ) from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["killed"]
        raise EvaluationError(
            f"the task's templates could not be filled within their limits of time and memory ({last[0][:200]})"
        )
    return [(text, error) for text, error in json.loads(done.stdout)]


def _short(template: str) -> str:
    shown = " ".join(template.split())
    return repr(shown if len(shown) <= 60 else f"{shown[:60]}...")
