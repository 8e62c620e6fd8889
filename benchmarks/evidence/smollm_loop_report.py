"""The results of docs/evidence/smollm2-loop.md and its figure, from the files in docs/evidence/data/smollm2-loop.

    python benchmarks/evidence/smollm_loop_report.py [--evidence DIR] [--document FILE] [--figures DIR]

While a run or a model is missing the page says which, shows what is there, and claims nothing. Leaves out: making
the files (``smollm_run``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smollm_loop import ALPHA, LOOP, MARGIN, SHOWN_KS, STUDY, UPPER, K
from smollm_loop_figure import FIGURE, draw
from smollm_loop_record import BEGIN, END, protocol_digest
from smollm_study import ROOT, Results, TaskSpec

from prorl_evaluation import (
    BoundaryOptions,
    BoundaryReport,
    EvalResult,
    Interval,
    ProblemResult,
    boundary_report,
    load_result,
    pass_at_k,
)

BASE, ARMS = "step-0", tuple(STUDY.arms)
MODELS = (BASE, *ARMS)
Runs = Mapping[str, Mapping[str, Any]]


def read(evidence: Path) -> tuple[Results, Runs, dict[str, Any]]:
    """Return the models' results, the runs' records and the items' facts that are there."""
    results = {
        m: load_result(evidence / f"{m}.json") for m in MODELS if (evidence / f"{m}.json").exists()
    }
    runs = {
        a: _json(evidence / f"{a}-run.json") for a in ARMS if (evidence / f"{a}-run.json").exists()
    }
    items = evidence / "items.json"
    return results, runs, _json(items) if items.exists() else {}


def results_block(results: Results, runs: Runs, items: Mapping[str, Any]) -> str:
    """Return what the document says under Results."""
    missing = [m for m in MODELS if m not in results]
    if not results:
        return "No run has begun. Nothing is claimed."
    # fewer in a rehearsal
    ks = [k for k in SHOWN_KS if k <= min(r.settings.n for r in results.values())]
    parts = []
    if missing:
        parts.append(f"**Partial.** Not there yet: {', '.join(missing)}. Nothing is claimed.")
    else:
        parts += [_conditions(runs), _claims(results, items, ks[-1])]
    parts.append(_pass_table(results, ks))
    if not missing:
        parts.append(_difference(results, ks))
    parts += [_levels(results, items, ks[-1]), _runs(runs), *_loop(runs)]
    parts.append(f"![validation, reward and entropy of the runs](../images/{FIGURE})")
    return "\n\n".join(part for part in parts if part)


def _conditions(runs: Runs) -> str:
    """Say whether the arms were alike where they should be."""
    without, with_ = (runs[arm] for arm in ARMS)
    said = []
    same = without["start"] == with_["start"]
    said.append(
        f"Both arms began from {'the same weights, bit for bit' if same else '**different weights**'}."
    )
    more = with_["tokens"] / without["tokens"] - 1
    said.append(
        f"The arm with the loop sampled {abs(more):.1%} {'more' if more > 0 else 'fewer'} tokens in training."
    )
    if more > 0:
        said.append("**So the arms are not at equal tokens.**")
    if {r["protocol"] for r in runs.values()} != {protocol_digest(STUDY)}:
        said.append("**The protocol was changed after a run ended.**")
    return " ".join(said)


def _claims(results: Results, items: Mapping[str, Any], most: int) -> str:
    """Return the primary claims, and whether pass@K is more than luck's."""
    of_luck = [items["luck"][str(K)][t.name] for t in STUDY.tasks if (t.level or 0) >= UPPER]
    lucky = sum(of_luck) / len(of_luck)
    lines = [
        f"| arm against step 0, levels from {UPPER} | pass@1 | pass@{most} | claim (corrected p) | pass@{most} above luck's {lucky:.3f} |",
        "|---|---|---|---|---|",
    ]
    for arm in ARMS:
        group = _compare(results, BASE, arm, lowest=UPPER, k=most).groups[0]
        first, last = (_change(group.changes[0], k) for k in (1, most))
        claim, reached = group.claims[0], group.curves[1].points[most]
        lines.append(
            f"| {arm} | {first} | {last} | **{claim.regime}** ({claim.p_corrected:.2g}): {claim.reason} | "
            f"{'yes' if reached.low > lucky else 'not shown'}: {_interval(reached)} |"
        )
    return "\n".join(["**Primary.**", "", *lines])


def _pass_table(results: Results, ks: Sequence[int]) -> str:
    lines = [
        f"| model | {' | '.join(f'pass@{k}' for k in ks)} | tokens an answer | no answer in the tag |",
        "|---" * (len(ks) + 3) + "|",
    ]
    for name, result in results.items():
        o = result.overall
        cells = " | ".join(_interval(o.pass_at_k[k]) for k in ks)
        lines.append(f"| {name} | {cells} | {o.length.value:.1f} | {o.unparsable_rate:.1%} |")
    return "\n".join(lines)


def _difference(results: Results, ks: Sequence[int]) -> str:
    report = _compare(results, "without", "with", lowest=1, k=ks[-1])
    shown = ", ".join(f"pass@{k} {_change(report.groups[0].changes[0], k)}" for k in ks)
    solved = report.solvable[0]
    return (
        f"With the loop minus without (described, not tested; one run each): {shown}. Solved at least once by the arm "
        f"with the loop alone {len(solved.gained)} items, by the other alone {len(solved.lost)}, by both {solved.both}, "
        f"by neither {solved.neither}."
    )


def _levels(results: Results, items: Mapping[str, Any], most: int) -> str:
    """Return pass@1 and pass@K of every level beside luck's."""
    columns = [f"{model}, pass@{k}" for k in (1, most) for model in results]
    lines = [
        f"| task, level | luck, pass@1; pass@{K} | {' | '.join(columns)} |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for task in STUDY.tasks:
        lucky = "; ".join(f"{items['luck'][str(k)][task.name]:.3f}" for k in (1, K))
        means = [_level_mean(result, task, k) for k in (1, most) for result in results.values()]
        lines.append(f"| {task.name} | {lucky} | {' | '.join(f'{m:.3f}' for m in means)} |")
    return "\n".join(lines)


def _level_mean(result: EvalResult, task: TaskSpec, k: int) -> float:
    at = {"family": task.task, "level": task.level}
    values = [pass_at_k(p.n, p.c, k) for p in result.problems if at.items() <= p.labels.items()]
    return sum(values) / len(values)


def _runs(runs: Runs) -> str:
    keys = (
        "reward_mean",
        "filter_rate",
        "groups_kept",
        "entropy",
        "response_length_mean",
        "seconds",
    )
    lines = [
        f"| run | steps | tokens | items solved | {' | '.join(keys)} (first fifth; last fifth) |",
        "|---" * (len(keys) + 4) + "|",
    ]
    for arm, run in runs.items():
        cells = " | ".join(_ends(run["curves"][key]) for key in keys)
        lines.append(
            f"| {arm} | {run['steps']} | {run['tokens']:,} | {run['items_solved']} | {cells} |"
        )
    return "\n".join(lines) if runs else ""


def _ends(values: Sequence[float | None]) -> str:
    part = max(len(values) // 5, 1)
    means = []
    for some in (values[:part], values[-part:]):
        known = [v for v in some if v is not None]
        means.append(f"{sum(known) / len(known):.2f}" if known else "-")
    return "; ".join(means)


def _loop(runs: Runs) -> list[str]:
    """Return what the loop did: its decisions but for the schedule's."""
    if "with" not in runs:
        return []
    done = [
        f"step {d['step']} {d['kind']}: {d['reason']}"
        for d in runs["with"]["decisions"]
        if d["evidence"].get("rule") in ("stalled_validation", "degraded_validation")
    ]
    said = "; ".join(done) if done else "no stall and no degradation was found"
    return [f"The loop (`{LOOP[0]}` held throughout): {said}."]


def _compare(results: Results, a: str, b: str, *, lowest: int, k: int) -> BoundaryReport:
    """Return the boundary report of two models on the levels from ``lowest``; claims are of all these together."""
    pair = [
        replace(r, problems=tuple(replace(p, labels={}) for p in r.problems if _level(p) >= lowest))
        for r in (results[a], results[b])
    ]
    return boundary_report(pair, BoundaryOptions(k=k, alpha=ALPHA, margin=MARGIN))


def _level(problem: ProblemResult) -> int:
    return int(problem.labels["level"])


def _change(changes: Sequence[Any], k: int) -> str:
    found = next(c for c in changes if c.metric == f"pass@{k}")
    i = found.interval
    return f"{i.value:+.3f} [{i.low:+.3f}, {i.high:+.3f}]"


def _interval(i: Interval) -> str:
    return f"{i.value:.3f} [{i.low:.3f}, {i.high:.3f}]"


def _json(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def put(text: str, block: str) -> str:
    """Return the document with its results. Raises ValueError without the markers."""
    if BEGIN not in text or END not in text:
        raise ValueError(f"the document lacks {BEGIN} or {END}")
    return f"{text.split(BEGIN)[0]}{BEGIN}\n\n{block}\n\n{END}{text.split(END, 1)[1]}"


def main(words: Sequence[str] | None = None) -> None:
    """Write the document's results and the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--evidence", type=Path, default=STUDY.results)
    parser.add_argument("--document", type=Path, default=STUDY.document)
    parser.add_argument("--figures", type=Path, default=ROOT / "docs" / "images")
    args = parser.parse_args(words)
    results, runs, items = read(args.evidence)
    block = results_block(results, runs, items)
    args.document.write_text(put(args.document.read_text("utf-8"), block), "utf-8")
    if runs:
        draw(runs, args.figures / FIGURE)


if __name__ == "__main__":
    main()
