"""Shared by benchmarks: the machine, Markdown tables and their place in a page, and JSON files."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """Return a description of this machine and its current load."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "processors": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "load_average_before": round(os.getloadavg()[0], 2),
    }


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def put(page: Path, mark: str, text: str) -> None:
    """Write ``text`` between the marks ``<!-- mark -->`` and ``<!-- end mark -->`` of a page, or at its end."""
    start, end = f"<!-- {mark} -->", f"<!-- end {mark} -->"
    old = page.read_text("utf-8") if page.exists() else ""
    block = f"{start}\n{text}\n{end}"
    if start in old and end in old:
        before, rest = old.split(start, 1)
        new = before + block + rest.split(end, 1)[1]
    else:
        new = f"{old.rstrip()}\n\n{block}\n"
    page.write_text(new, "utf-8")


def save(path: Path | None, report: Mapping[str, Any]) -> None:
    """Write the report as JSON, unless ``path`` is None."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
