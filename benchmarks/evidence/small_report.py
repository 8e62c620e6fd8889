"""Write the results into docs/evidence/three-thousand-steps.md from the runs' data files, with plots.

    python benchmarks/evidence/small_report.py

Replaces what stands between the two result markers; the protocol above them is left alone. Works with
the seeds and arms that are there and says which are missing. Leaves out: the runs (``small_run``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from small_arms import ARMS, SEEDS, K
from small_figures import draw
from small_stats import Groups, arm_interval, compare_arms, holm, pooled_variance
from small_study import BEGIN, END, Study
from small_tasks import FAMILIES
from small_three_thousand import STUDY

from prorl_common import UserError, atomic_write_text

TASKS = tuple(FAMILIES)
CONTRASTS = (
    ("v2", "no-reset"),
    ("v2", "no-length"),
    ("v2", "justrl"),
    ("v2-kl", "no-reset-kl"),
)
"""The confirmatory comparisons of arms."""
KS = (1, K)
"""Every table has pass@k for these."""
UNITS = (
    "At equal tokens, in % and percentage points; in square brackets the 95 % interval over items, "
    "in round ones p after Holm."
)
Runs = Mapping[str, Sequence[Mapping[str, Any]]]


def main() -> int:
    """Write tables and plots; return 0. Raises UserError when there is nothing to report."""
    base, runs = read_results(STUDY)
    if base is None or not any(runs.values()):
        raise UserError("no results yet: run benchmarks/evidence/small_run.py first")
    images = draw(base, runs, STUDY.document.parent / "images")
    text = "\n\n".join(sections(base, runs, images))
    write_between(STUDY.document, text)
    return 0


def read_results(study: Study) -> tuple[Groups | None, dict[str, list[dict[str, Any]]]]:
    """Return the base's evaluation (None: missing) and each arm's finished runs, by seed."""
    path = study.result_path("base")
    base = json.loads(path.read_text())["groups"] if path.exists() else None
    runs: dict[str, list[dict[str, Any]]] = {}
    for name, arm in study.arms.items():
        files = [study.result_path(f"{name}-seed{seed}") for seed in arm.seeds]
        runs[name] = [json.loads(file.read_text()) for file in files if file.exists()]
    return base, runs


def write_between(document: Path, text: str) -> None:
    """Put ``text`` between the document's markers. Raises UserError when they are not there."""
    old = document.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise UserError(f"{document} lacks the markers {BEGIN} and {END}")
    head, tail = old.split(BEGIN)[0], old.split(END)[1]
    atomic_write_text(document, f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}")


def sections(base: Groups, runs: Runs, images: Sequence[str]) -> list[str]:
    """Return the results as Markdown, a part each; no test while a run is missing."""
    ladders = [name for name in base if "/" in name]
    done, wanted = sum(len(found) for found in runs.values()), len(ARMS) * len(SEEDS)
    parts = [f"{done} of {wanted} runs are there.", UNITS]
    parts += remarks(STUDY, runs)
    if done == wanted:
        parts += ["### Arms against arms", arms_table(runs, TASKS)]
        parts += ["### v2 against the base", base_table(base, runs, ladders)]
        parts += ["### Arms on the ladders (secondary)", arms_table(runs, ladders)]
    else:
        parts.insert(0, partial_note(STUDY, runs))
    for k in KS:
        parts += [f"### Levels: pass@{k}, mean over seeds", levels_table(base, runs, ladders, k)]
    parts += ["### Accounts", accounts_table(runs), penalty_line(runs)]
    parts += ["Thick lines: running median of the seeds' median; faint lines: each run."]
    return [*parts, *(f"![{Path(name).stem}](images/{name})" for name in images)]


def partial_note(study: Study, runs: Runs) -> str:
    """Return the warning that stands above a report in which runs are missing."""
    there = {f"{arm}-seed{run['seed']}" for arm, found in runs.items() for run in found}
    missing = [name.replace("-seed", " ") for name in study.run_names() if name not in there]
    return (
        "**Partial.** These runs are missing: "
        + ", ".join(missing)
        + ". What follows is what is there; nothing is tested and nothing follows from it until all are."
    )


def remarks(study: Study, runs: Runs) -> list[str]:
    """Return a line for each run that stopped itself, and one when runs followed another protocol."""
    every = [run for found in runs.values() for run in found]
    stopped = [
        f"{run['arm']} {run['seed']} stopped itself after step {run['steps']}: {run['stopped']}."
        for run in every
        if run["stopped"] is not None
    ]
    other = [
        f"{run['arm']} {run['seed']}" for run in every if run["protocol"] != study.protocol_digest()
    ]
    if other:
        stopped.append(f"Run under another text of the protocol: {', '.join(other)}.")
    return stopped


def of(runs: Iterable[Mapping[str, Any]], when: str = "budget") -> list[Groups]:
    """Return the evaluations of runs at the token budget or at the end."""
    return [run["evaluations"][when]["groups"] for run in runs]


def arms_table(runs: Runs, names: Sequence[str]) -> str:
    """Return the confirmatory comparisons over the groups ``names`` as a table."""
    pairs = {f"{a} - {b}": (of(runs[a]), of(runs[b]), names) for a, b in CONTRASTS}
    return _test_table("comparison", runs, pairs)


def base_table(base: Groups, runs: Runs, ladders: Sequence[str]) -> str:
    """Return v2 against the base for each task and each ladder as a table."""
    of_ladder = {
        name.split("/")[0]: [n for n in ladders if n.startswith(name.split("/")[0])]
        for name in ladders
    }
    families = {task: [task] for task in TASKS} | {f"{t} ladder": n for t, n in of_ladder.items()}
    pairs = {label: (of(runs["v2"]), [base], names) for label, names in families.items()}
    return _test_table("task", runs, pairs)


def _test_table(
    head: str,
    runs: Runs,
    pairs: Mapping[str, tuple[Sequence[Groups], Sequence[Groups], Sequence[str]]],
) -> str:
    """Return a table of two families of tests, one for each k: each row's difference and p values."""
    arms = [of(found) for found in runs.values()]
    degrees = sum(len(found) - 1 for found in runs.values())
    cells: dict[str, list[str]] = {label: [] for label in pairs}
    for k in KS:
        tests = [
            compare_arms(a, b, names, k, (pooled_variance(arms, names, k), degrees))
            for a, b, names in pairs.values()
        ]
        for row, test, p in zip(cells.values(), tests, holm([t.p for t in tests]), strict=True):
            i = test.interval
            row += [
                f"{100 * test.difference:+.1f} [{100 * i.low:+.1f}, {100 * i.high:+.1f}]",
                f"{test.p:.3g} ({p:.3g})",
            ]
    lines = [f"| {head} | " + " | ".join(f"pass@{k} | p" for k in KS) + " |"]
    lines += ["|---" * (1 + 2 * len(KS)) + "|"]
    return "\n".join([*lines, *(f"| {n} | {' | '.join(row)} |" for n, row in cells.items())])


def levels_table(base: Groups, runs: Runs, ladders: Sequence[str], k: int) -> str:
    """Return pass@k, in %, of the base and of every arm: the totals with their interval, and each task."""
    arms = {"base": [base]} | {arm: of(found) for arm, found in runs.items() if found}
    lines = ["| | " + " | ".join(arms) + " |", "|---" * (1 + len(arms)) + "|"]
    for label, names in {"six tasks": TASKS, "ladders": tuple(ladders)}.items():
        found = [arm_interval(seeds, names, k) for seeds in arms.values()]
        cells = [f"{100 * i.value:.1f} [{100 * i.low:.1f}, {100 * i.high:.1f}]" for i in found]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    for name in TASKS:
        cells = [f"{100 * arm_interval(seeds, [name], k).value:.1f}" for seeds in arms.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def accounts_table(runs: Runs) -> str:
    """Return the table that says where each arm's runs were compared, seed by seed."""
    lines = [
        "| arm, by seed | compared at step | tokens there | last reset | KL's share of the gradient, %: median (range) |",
        "|---" * 5 + "|",
    ]
    for arm, found in runs.items():
        places = [run["evaluations"]["budget"] for run in found]
        columns = (
            [str(at["step"]) for at in places],
            [f"{at['tokens']:,}" for at in places],
            [str(at["last_reset"] or "none") for at in places],
            [_share(run) for run in found],
        )
        lines.append(f"| {arm} | " + " | ".join("; ".join(cells) for cells in columns) + " |")
    return "\n".join(lines)


def penalty_line(runs: Runs) -> str:
    """Return the sentence that names the runs compared inside of a penalty window."""
    inside = [
        f"{arm} {run['seed']}"
        for arm, found in runs.items()
        for run in found
        if run["evaluations"]["budget"]["length_penalty_active"]
    ]
    return f"Compared inside a penalty window: {', '.join(inside) or 'none'}."


def _share(run: Mapping[str, Any]) -> str:
    """Return KL's share of the gradient in per cent, as median and range."""
    shares = [100 * share for _, share in run["curves"]["kl_gradient_share"]]
    if not shares:
        return "no KL"
    return f"{median(shares):.3g} ({min(shares):.2g}-{max(shares):.2g})"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
