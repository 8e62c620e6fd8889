"""The page of ``trainer.py``: one table a report, from measured numbers alone.

The page's prose is in the page; this writes only what stands between the two marker lines of the report's
machine, and adds them at the end where they are missing. Leaves out: measuring.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HEAD = (
    "| KL coefficient | contender | s a step | CPU s a step | of it sampling | of it the rest | tokens/s | peak memory, GB |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def best_of(results: list[dict[str, Any]], beta: float, prefix: str) -> dict[str, Any]:
    """Return the fastest result of the contenders whose name starts with ``prefix``."""
    own = [r for r in results if r["beta"] == beta and r["contender"].startswith(prefix)]
    return min(own, key=lambda r: float(r["step_seconds"]))


def key_of(report: dict[str, Any]) -> str:
    """Return the name of the report's place in the page: device and compute type."""
    return f"{'gpu' if report['machine']['gpu'] else 'cpu'}-{report['dtype']}"


def machine_line(report: dict[str, Any]) -> str:
    """Return the machine in words."""
    m = report["machine"]
    place = m["gpu"] or f"{m['threads']} cores, {m['cpu']}"
    return (
        f"{place}, {report['dtype']}; {report['model']}, torch {m['torch']}; {report['prompts']} prompts x "
        f"{report['samples']} completions of exactly {report['tokens']} tokens; medians of "
        f"{report['results'][0]['steps']} steps in {report['rounds']} alternating rounds; load average before "
        f"the run {m['load_average_before']}."
    )


def table(report: dict[str, Any]) -> str:
    """Return the report as Markdown: machine, table, ratios."""
    lines = []
    for r in report["results"]:
        name = f"{r['contender']} ({r['version']})" if r["version"] else r["contender"]
        low, high = r["step_seconds_range"]
        memory = (r["peak_gpu_mb"] or r["peak_memory_mb"]) / 1024
        lines.append(
            f"| {r['beta']:g} | {name} | {r['step_seconds']:.2f} ({low:.2f}-{high:.2f}) | "
            f"{r['cpu_seconds']:.2f} | "
            f"{r['generate_seconds']:.2f} | {r['rest_seconds']:.2f} | {r['tokens_per_second']:.0f} | {memory:.2f} |"
        )
    ratios = [
        f"- KL coefficient {x['beta']:g}, against {x['against']}: step {x['step']:.2f}x (CPU time {x['cpu']:.2f}x), sampling "
        f"{x['generate']:.2f}x, the rest {x['rest']:.2f}x, peak memory {x['memory']:.2f}x."
        for x in report["ratios"]
    ]
    return "\n".join([machine_line(report), "", HEAD + "\n".join(lines), "", *ratios])


def write_document(path: Path, report: dict[str, Any]) -> None:
    """Put the report's table into the page, replacing the one of the same device and compute type."""
    start, end = f"<!-- {key_of(report)} -->", f"<!-- end {key_of(report)} -->"
    text = path.read_text("utf-8") if path.exists() else "# A training step beside TRL's\n"
    block = f"{start}\n{table(report)}\n{end}"
    if start in text and end in text:
        before, rest = text.split(start, 1)
        text = before + block + rest.split(end, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{block}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
